"""Seconds to spend, as a number of subsets: measured at the start, so that a run can be repeated by that number."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from fewer.contracts import Criterion, Objective, OnStep, Resources, Scorer, Search, SearchSpace, Stopped
from fewer.contracts.trace import Ending, Trace
from fewer.errors import InputError
from fewer.problem import Problem, mask_of
from fewer.selectors import AutoSelector
from fewer.validate import stratified_sample

# The share of the seconds that the plan spends; the rest is for what was not measured.
USABLE = 0.8
ROUNDS = 5
# Subsets that a measurement begins with, and the seconds that it must see.
FIRST_SUBSETS, MEASURED = 4, 0.1
# Rows of a race that is timed.
TIMED, TIMED_OF_A_CLASS = 100, 8
# A race takes longer by this power of its rows; what comes beside it (stand-ins, pictures) is this share of one.
GROWTH, BESIDE = 1.2, 0.5


@dataclass(frozen=True)
class Budget:
    """What a run may cost.

    Parameters
    ----------
    seconds : float
        By the clock, for the search on all rows and its repetitions on folds together; infinite where only subsets
        count.
    n_subsets : int or None
        Where each search ends, on all rows and on the rows of a fold. None where the method is laid out to fit.
    planned : int or None
        The subsets for which a search was laid out, where the clock ended it before.
    nominal : float
        What one fit of `auto` may take, in nominal seconds.
    spent : float
        Seconds that were used up by measuring.
    each : float
        Seconds that one of these searches is expected to take, where that was measured; the clock ends the one on all
        rows after twice as many.

    Examples
    --------
    >>> Budget(seconds=parse_budget("2 min")).seconds
    120.0
    """

    seconds: float = float("inf")
    n_subsets: int | None = None
    planned: int | None = None
    nominal: float = 0.0
    spent: float = 0.0
    each: float = 0.0

    @classmethod
    def of_subsets(cls, text: str) -> Budget:
        """Read "5000 subsets": where each search ends, whatever the clock says.

        Parameters
        ----------
        text : str
            A number of subsets, such as "5000 subsets"; "3000 of 5000 subsets" ends a search there that is laid out
            for more.

        Returns
        -------
        Budget
            Without a clock.

        Examples
        --------
        >>> Budget.of_subsets("5,000 subsets").n_subsets
        5000
        """
        match = re.fullmatch(r"\s*(\d+)(?:\s+of\s+(\d+))?\s*subsets?\s*", text.lower().replace(",", ""))
        if match is None or int(match[1]) < 1:
            raise InputError(f"budget={text!r} is not a number of subsets; for example, '5000 subsets'.")
        if match[2] and int(match[2]) < int(match[1]):
            raise InputError(f"budget={text!r}: write the smaller number first.")
        return cls(float("inf"), int(match[1]), planned=int(match[2]) if match[2] else None)

    @property
    def source(self) -> str:
        """The budget without its clock, as Python source."""
        if self.n_subsets is None:
            return f"Budget(nominal={self.nominal!r})"
        planned = "" if self.planned is None else f" of {self.planned}"
        return repr(f"{self.n_subsets}{planned} subsets")

    @property
    def patience(self) -> float:
        """Seconds after which the clock ends the search on all rows."""
        return 2 * self.each if self.each else float("inf")

    def cut(self, n_subsets: int) -> Budget:
        """Return the budget of a search that the clock ended, so that its repetitions end there too.

        Parameters
        ----------
        n_subsets : int
            What the search came to.

        Returns
        -------
        Budget
        """
        return replace(self, n_subsets=n_subsets, planned=self.planned or self.n_subsets)

    def laid_out(self, search: Search, n_searches: int, space: SearchSpace) -> Search:
        """Return a search that is over when the subsets are spent: one that can be shortened is, instead of cut off.

        Parameters
        ----------
        search : Search
            As it was asked for.
        n_searches : int
            How often a control runs it.
        space : SearchSpace
            Where it may go.

        Returns
        -------
        Search
            The same one where it fits, or cannot be shortened.
        """
        n_subsets = self.planned or self.n_subsets
        if n_subsets is None or not search.stochastic:
            return search
        share, shorter = 1.0, search
        for _ in range(ROUNDS):  # a share is rounded to whole generations or tries
            least = n_searches * (shorter.max_evaluations(space) or 0)
            if least <= n_subsets:
                break
            share *= n_subsets / least
            shorter = search.shortened(share)
        return shorter

    def limit(self, on_step: OnStep | None, deadline: float = float("inf")) -> OnStep:
        """Follow a search, and end it after its number of subsets, or when a moment of the monotonic clock has come.

        Parameters
        ----------
        on_step : callable, optional
            Called at each step first.
        deadline : float
            Only the search on all rows has one: its repetitions get the subsets that it came to.

        Returns
        -------
        callable
        """

        def follow(trace: Trace) -> None:
            if on_step is not None:
                on_step(trace)
            if not trace.steps:
                return
            if self.n_subsets is not None and trace.n_evaluations >= self.n_subsets:
                raise Stopped(f"The budget ended the search after {trace.n_evaluations:,} subsets.", Ending.BUDGET)
            if time.monotonic() > deadline:
                raise Stopped(f"Time ran out after {trace.n_evaluations:,} subsets.", Ending.CLOCK)

        return follow


def parse_budget(text: str | float) -> float:
    """Turn "90", "60s", "2min" or "1.5h" into seconds.

    Parameters
    ----------
    text : str or float
        Seconds, or a number with a unit: s, min, h.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> parse_budget("60s"), parse_budget("2 min"), parse_budget(5)
    (60.0, 120.0, 5.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|)\s*", str(text).lower())
    if match is None or float(match[1]) <= 0:
        other = "; 'N subsets' is for searches, not for auto" if "subset" in str(text) else ""
        raise InputError(f"budget={text!r} is not a duration; write for example '60s', '5min' or '1h'{other}.")
    return float(match[1]) * {"m": 60.0, "h": 3600.0}.get(match[2][:1], 1.0)


def seconds_of_auto(auto: AutoSelector, problem: Problem, seed: int = 0) -> tuple[int, float]:
    """Time a small race: the rows that it saw, and the seconds that it took.

    Parameters
    ----------
    auto : AutoSelector
        As it will be run on all rows.
    problem : Problem
        The rows.
    seed : int, default=0
        Draws the rows that are tried.

    Returns
    -------
    n_rows : int
    seconds : float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> n_rows, seconds = seconds_of_auto(AutoSelector(), problem)
    >>> n_rows
    100
    """
    n_rows = min(problem.n_samples, max(TIMED, TIMED_OF_A_CLASS * problem.n_classes))
    small = clone(auto).set_params(standins=False, random_state=seed, verbose=0)
    for size in (n_rows // 3, n_rows):  # the first time is for what must be compiled
        rows = problem.take(stratified_sample(problem, size, np.random.default_rng(seed)))
        began = time.perf_counter()
        small.fit_problem(rows)
        seconds = time.perf_counter() - began
    return n_rows, seconds


def seconds_for(criterion: Criterion, problem: Problem, n_jobs: int, seed: int = 0) -> tuple[float, float]:
    """Measure what one subset costs, as one of many that a search asks for at once.

    Parameters
    ----------
    criterion : Criterion
        What scores the subset.
    problem : Problem
        The rows.
    n_jobs : int
        Threads.
    seed : int, default=0
        Draws the columns that are tried.

    Returns
    -------
    alone, later : float
        Seconds for one feature alone, where many rows are as near as each other, and for a fourth one added to three.

    Examples
    --------
    >>> from fewer.criteria import Separability
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> max(seconds_for(Separability(), problem, n_jobs=1)) < 1
    True
    """
    rng = np.random.default_rng(seed)
    scorer = criterion.bind(problem, rng, Resources(n_jobs))
    order = rng.permutation(problem.n_features)
    costs = []
    for size in (0, min(3, problem.n_features - 1)):
        mask = mask_of(order[:size], problem.n_features)
        units = [np.array([column]) for column in order[size : size + 32]]
        scorer.flips(mask, units[:1], np.ones(1, dtype=bool))  # compiled, if need be, before the clock is looked at
        costs.append(_seconds_a_flip(scorer, mask, units))
    return costs[0], costs[1]


def _seconds_a_flip(scorer: Scorer, mask: NDArray[np.bool_], units: list[NDArray[np.int64]]) -> float:
    """Time batches, the first of few, until enough time has been seen."""
    began, n = time.perf_counter(), 0
    while n == 0 or time.perf_counter() - began < MEASURED:
        batch = units[:FIRST_SUBSETS] if n == 0 else units
        scorer.flips(mask, batch, np.ones(len(batch), dtype=bool))
        n += len(batch)
    return (time.perf_counter() - began) / n


def seconds_along(
    search: Search, criterion: Criterion, problem: Problem, space: SearchSpace, n_jobs: int, seed: int = 0
) -> tuple[float, float]:
    """Measure what one subset costs along the way of a search that can be shortened.

    Parameters
    ----------
    search : Search
        A stochastic one.
    criterion : Criterion
        What scores the subsets.
    problem : Problem
        The rows.
    space : SearchSpace
        Where it may go.
    n_jobs : int
        Threads.
    seed : int, default=0
        Draws where it goes.

    Returns
    -------
    start, each : float
        Seconds before the first subset, and for each of them.

    Examples
    --------
    >>> from fewer.criteria import Separability
    >>> from fewer.search import Annealing
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> start, each = seconds_along(Annealing(), Separability(), problem, SearchSpace.of(2), n_jobs=1)
    >>> start < 1 and each < 1
    True
    """
    space = space.without(problem.constant)
    scorer = Objective(criterion.bind(problem, np.random.default_rng(seed), Resources(n_jobs)), space, problem)

    def clocked(n: int) -> float:
        began = time.perf_counter()
        search.rehearse(scorer, space, np.random.default_rng(seed), n)
        return time.perf_counter() - began

    clocked(1)  # compiled, if need be, before the clock is looked at
    few, n = clocked(FIRST_SUBSETS), 2 * FIRST_SUBSETS
    while (longer := clocked(FIRST_SUBSETS + n) - few) < MEASURED and n < 1 << 14:
        n *= 4
    each = max(longer / n, 1e-9)
    return max(few - FIRST_SUBSETS * each, 0.0), each


__all__ = ["BESIDE", "GROWTH", "USABLE", "Budget", "parse_budget", "seconds_along", "seconds_for", "seconds_of_auto"]
