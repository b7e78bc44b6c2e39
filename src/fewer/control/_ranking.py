"""Controls over a ranker: what they are handed, and how a criterion and its search become a ranker."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import ROWS, Control, IncompatibleError, OnStep, Ranker, Ranking, Resources, Run, SearchSpace
from fewer.contracts.trace import Step, Trace
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, mask_of

Judge = Callable[[BoolArray], float]


@dataclass(frozen=True, eq=False)
class RankingRun:
    """Everything that one run of a control over a ranker needs.

    Attributes
    ----------
    ranker : Ranker
    problem : Problem
    space : SearchSpace
        Its units are what is kept or not; a unit ranks with its best column.
    rng : Generator
    resources : Resources
    trace : Trace
    follower : callable, optional
        Called with the trace after each step.
    judge : callable, optional
        Scores a mask, where there is a criterion.
    """

    ranker: Ranker
    problem: Problem
    space: SearchSpace
    rng: np.random.Generator
    resources: Resources = field(default_factory=Resources)
    trace: Trace = field(default_factory=Trace)
    follower: OnStep | None = None
    judge: Judge | None = None

    def scores(self, problem: Problem, rng: np.random.Generator) -> FloatArray:
        """Score the columns of a problem: by the ranker's numbers, or by their places where these depend on the order.

        Parameters
        ----------
        problem : Problem
            May hold more columns than that of the run, behind its own.
        rng : Generator
            Draws all that is random.

        Returns
        -------
        array of shape (n_features,)
        """
        ranking = self.ranker.rank(problem, rng, self.resources)
        if self.ranker.symmetric:
            return np.where(np.isnan(ranking.scores), -np.inf, ranking.scores)
        return problem.n_features - np.argsort(ranking.order).astype(np.float64)

    def shipped(self) -> RankingRun:
        """Return the run as it travels to whoever does a task of it: alone, followed and judged by nobody."""
        ranker = self.ranker
        if isinstance(ranker, SearchRanker):
            ranker = SearchRanker(ranker.method.shipped(), ranker.control)
        return replace(self, ranker=ranker, resources=self.resources.alone(), trace=Trace(), follower=None, judge=None)

    def by_feature(self, values: FloatArray) -> FloatArray:
        """Give every feature the value of its unit; 0 to those of none.

        Parameters
        ----------
        values : array of shape (n_units,)
            One for each unit.

        Returns
        -------
        array of shape (n_features,)
        """
        out, units = np.zeros(self.problem.n_features), self.space.units
        if (columns := self.space.single_columns) is not None:
            out[columns] = values
        else:
            out[np.concatenate(units)] = np.repeat(values, [len(unit) for unit in units])
        return out

    def record(self, kept: NDArray[Any]) -> None:
        """Record a step: what would be kept now, as a state of the space."""
        mask = self.space.expand(np.asarray(kept, dtype=bool)[None])[0]
        score = 0.0 if self.judge is None else self.judge(mask)
        self.trace.record(Step(mask, score, mask, score))
        if self.follower is not None:
            self.follower(self.trace)


class RankingControl(Control):
    """A control that works over a ranker, and over a criterion and its search taken as one.

    What it promises is a sentence in `trace.state["promise"]`.
    """

    over_searches: bool = True

    @abstractmethod
    def choose(self, run: RankingRun) -> Trace:
        """Rank again and again, and decide what to keep; what is found goes to `run.trace`, which is returned.

        Parameters
        ----------
        run : RankingRun
            The ranker, the rows, the space, the generator and the trace.

        Returns
        -------
        Trace
            `run.trace`, finished, with what is promised in its state.
        """

    def run(self, run: Run) -> Trace:
        """Take criterion and search as a ranker: features rank in the order in which the search takes them.

        Parameters
        ----------
        run : Run
            The run that asks.

        Returns
        -------
        Trace
        """
        if not self.over_searches:
            name = type(self).__name__
            raise IncompatibleError(
                f"{name} works over a ranker, not over a search: RankSelector(ranker, control={name}())."
            )
        if run.trace.done:
            return run.trace
        if run.space.weight_levels > 1:
            raise IncompatibleError(f"{type(self).__name__} keeps features or not; it does not work on weights.")
        space = run.space.without(run.problem.constant)
        scorer = run.scorer

        def judge(mask: BoolArray) -> float:
            return float(scorer.score(mask[None])[0])

        ranker = SearchRanker(run, self.control)
        over = RankingRun(ranker, run.problem, space, run.rng, run.resources, run.trace, run.follower, judge)
        return self.choose(over)


class SearchRanker(Ranker):
    """A criterion and its search as a ranker: features that the search takes first score highest, others nothing."""

    symmetric = False
    takes = ROWS  # its criterion refuses what that cannot use

    def __init__(self, method: Run, control: Control | None) -> None:
        self.method = method
        self.control = control

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        # Search these rows; columns that the run does not know are units of their own.
        space = extended(self.method.space, problem.n_features)
        run = replace(self.method, problem=problem, space=space, rng=rng, trace=Trace(), follower=None, _bound={})
        trace = run.under(self.control)
        self.method.trace.n_evaluations += trace.n_evaluations
        return Ranking.by_score(order_scores(trace, self.method.search.ordered))


def order_scores(trace: Trace, ordered: bool) -> FloatArray:
    """Score columns by when they came into a search's answer for good: the first highest, absent ones 0."""
    chosen = trace.best != 0
    if not ordered:
        return chosen.astype(np.float64)
    used = np.array([step.best != 0 for step in trace.steps])
    last_absent = np.where(used, 0, np.arange(1, len(used) + 1)[:, None]).max(axis=0)
    return np.where(chosen, 1.0 + len(used) - last_absent, 0.0)


def extended(space: SearchSpace, n_features: int) -> SearchSpace:
    """Return a space with more columns behind its own, each a unit."""
    more = n_features - space.n_features
    if not more:
        return space
    units = (*space.units, *(np.array([column]) for column in range(space.n_features, n_features)))
    return replace(
        space,
        n_features=n_features,
        units=units,
        base=np.append(space.base, np.zeros(more, dtype=bool)),
        max_units=min(space.max_units + more, len(units)),
        prices=np.append(space.prices, np.zeros(more)),
        start=None if space.start is None else np.append(space.start, np.zeros(more, dtype=space.start.dtype)),
    )


def unit_scores(scores: FloatArray, space: SearchSpace) -> FloatArray:
    """Score units by their best column."""
    if (columns := space.single_columns) is not None:
        return np.asarray(scores[columns])
    return np.array([scores[unit].max() for unit in space.units])


def frequent_units(shares: FloatArray, threshold: float, space: SearchSpace) -> IntArray:
    """Return the units whose share reaches a threshold, most frequent first, or as many as the sizes asked for say."""
    size = int(np.clip((shares >= threshold).sum(), space.min_units, space.max_units))
    return np.argsort(-shares, kind="stable")[:size]


def fit_size(kept: BoolArray, strength: FloatArray, space: SearchSpace) -> BoolArray:
    """Bring what is kept to a size that was asked for: the strongest fill up, the weakest give way.

    Nothing at all is allowed where no size was asked for.
    """
    size = int(kept.sum())
    if space.min_units <= 1 and size <= space.max_units:
        return kept
    wanted = int(np.clip(size, space.min_units, space.max_units))
    if wanted == size:
        return kept
    return mask_of(np.lexsort((np.arange(len(kept)), -strength, ~kept))[:wanted], len(kept))


def with_columns(problem: Problem, columns: FloatArray, sources: IntArray) -> Problem:
    """Return a problem with more columns behind its own, each of the kind of the column that it comes from."""
    first = problem.n_features
    levels = {first + i: problem.levels[s] for i, s in enumerate(sources.tolist()) if s in problem.levels}
    return replace(
        problem.as_dense(),
        X=np.ascontiguousarray(np.hstack([problem.X, columns])),
        names=(*problem.names, *(f"{problem.names[s]} (copy {i})" for i, s in enumerate(sources.tolist()))),
        kinds=(*problem.kinds, *(problem.kinds[s] for s in sources.tolist())),
        levels={**problem.levels, **levels},
        schema=None,
        sparse=None,
    )


def with_shuffled(problem: Problem, sources: IntArray, rng: np.random.Generator) -> Problem:
    """Return a problem with shuffled copies of some of its columns behind its own."""
    copies = np.column_stack([problem.X[shuffled_rows(problem, rng), column] for column in sources])
    return with_columns(problem, copies, sources)


def shuffled_rows(problem: Problem, rng: np.random.Generator) -> IntArray:
    """Draw an order of the rows; with row groups, whole groups change places with others of their size."""
    if problem.groups is None:
        return rng.permutation(problem.n_samples)
    order = np.arange(problem.n_samples)
    sizes = np.bincount(problem.groups)
    by_group = np.split(np.argsort(problem.groups, kind="stable"), np.cumsum(sizes)[:-1])
    for size in np.unique(sizes[sizes > 0]):
        alike = np.flatnonzero(sizes == size)
        for one, other in zip(alike, rng.permutation(alike), strict=True):
            order[by_group[one]] = by_group[other]
    return order
