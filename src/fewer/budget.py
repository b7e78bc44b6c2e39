"""Seconds to spend, as a number of subsets: measured at the start, so that a run can be repeated by that number."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import numpy as np

from fewer.contracts import Criterion, OnStep, Resources, Stopped
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.selectors._auto_rows import FEWEST_ROWS, seconds_a_subset
from fewer.trace import Trace
from fewer.validate import stratified_sample

MARGIN = 0.8
"""The share of the seconds that the plan spends; the rest is for what was not measured."""
UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


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
    speed : float
        How fast this machine is, as a multiple of the nominal one.
    nominal : float
        What one fit of `auto` may take, in nominal seconds.

    Examples
    --------
    >>> Budget(seconds=parse_budget("2 min")).seconds
    120.0
    """

    seconds: float
    n_subsets: int | None = None
    speed: float = 1.0
    nominal: float = 0.0

    @classmethod
    def of_subsets(cls, text: str) -> Budget:
        """Read "5000 subsets": where each search ends, whatever the clock says.

        Parameters
        ----------
        text : str
            A number of subsets, such as "5000 subsets".

        Returns
        -------
        Budget
            Without a clock.

        Examples
        --------
        >>> Budget.of_subsets("5,000 subsets").n_subsets
        5000
        """
        number = text.lower().replace("subsets", "").replace("subset", "").replace(",", "").strip()
        if not number.isdigit() or int(number) < 1:
            raise InputError(f"budget={text!r} is not a number of subsets; write for example '5000 subsets'.")
        return cls(float("inf"), int(number))

    def limit(self, on_step: OnStep | None, deadline: float = float("inf")) -> OnStep:
        """Follow a search, and end it after its number of subsets, or when a moment of the monotonic clock has come.

        Parameters
        ----------
        on_step : callable, optional
            Is told of each step first.
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
                raise Stopped(f"The budget ended the search after {trace.n_evaluations:,} subsets.")
            if time.monotonic() > deadline:
                raise Stopped(f"The clock ended the search after {trace.n_evaluations:,} subsets.")

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
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(text).lower())
    if match is None or match[2] not in UNITS or float(match[1]) <= 0:
        raise InputError(f"budget={text!r} is not an amount of time; write for example '60s', '5min' or '1h'.")
    return float(match[1]) * UNITS[match[2]]


def measure_speed(problem: Problem, n_jobs: int, seed: int = 0) -> float:
    """Return the speed of this machine as a multiple of the nominal one: nearest neighbors on a sample of the rows.

    Parameters
    ----------
    problem : Problem
        The rows.
    n_jobs : int
        Threads.
    seed : int, default=0
        Draws the sample.

    Returns
    -------
    float
        Above 1 on a faster machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> measure_speed(Problem.from_arrays(*load_iris(return_X_y=True)), n_jobs=1) > 0
    True
    """
    rows = problem.take(stratified_sample(problem, FEWEST_ROWS, np.random.default_rng(seed)))
    return seconds_a_subset(rows.n_samples) / seconds_for(KNN("auto"), rows, n_jobs, seed)


def seconds_for(criterion: Criterion, problem: Problem, n_jobs: int, seed: int = 0) -> float:
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
    float
        Seconds a subset.

    Examples
    --------
    >>> from fewer.criteria import Separability
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> seconds_for(Separability(), problem, n_jobs=1) < 1
    True
    """
    rng = np.random.default_rng(seed)
    scorer = criterion.bind(problem, rng, Resources(n_jobs))
    mask = np.zeros(problem.n_features, dtype=bool)
    mask[rng.permutation(problem.n_features)[: min(3, problem.n_features - 1)]] = True
    units = [np.array([column]) for column in rng.permutation(np.flatnonzero(~mask))[:32]]
    scorer.flips(mask, units[:1], np.ones(1, dtype=bool))  # compiled, if need be, before the clock is looked at
    began, rounds = time.perf_counter(), 0
    while rounds == 0 or time.perf_counter() - began < 0.1:
        scorer.flips(mask, units, np.ones(len(units), dtype=bool))
        rounds += 1
    return (time.perf_counter() - began) / (rounds * len(units))


__all__ = ["MARGIN", "Budget", "measure_speed", "parse_budget", "seconds_for"]
