"""Controls that leave columns out before the search: those that rank low, and those that are like others.

Where a sparse table is narrowed, its columns become dense for the criterion, there and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from fewer.contracts import Control, Criterion, Masks, PredictiveScorer, Ranker, Resources, Run, Scorer, SearchSpace
from fewer.contracts.declaring import Count, Whole, parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, fit_size, unit_scores
from fewer.io import SparseProblem
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.statistics import Associations, Measure
from fewer.text import NoteKind, listed


class NarrowCriterion(Criterion):
    """Another criterion on some columns of a sparse table; masks still stand for all columns.

    Parameters
    ----------
    criterion : Criterion
        The criterion on all columns.
    columns : int array
        Ascending; a mask may hold these only.
    """

    def __init__(self, criterion: Criterion, columns: IntArray) -> None:
        self.criterion = criterion
        self.columns = columns
        for name in ("monotone", "supports_weights", "predictive", "multi_output", "tasks", "takes"):
            setattr(self, name, getattr(criterion, name))

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        assert isinstance(problem, SparseProblem)
        return NarrowScorer(self.criterion.bind(problem.narrowed(self.columns), rng, resources), self.columns)


class NarrowScorer(PredictiveScorer):
    """A scorer of some columns that is asked about all."""

    def __init__(self, scorer: Any, columns: IntArray) -> None:
        self._scorer, self._columns = scorer, columns

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        return np.asarray(self._scorer.score(np.asarray(masks)[:, self._columns]))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score the masks that differ from one mask in one unit."""
        inner_units = [np.searchsorted(self._columns, unit) for unit in units]
        return np.asarray(self._scorer.flips(np.asarray(mask)[self._columns], inner_units, values))

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold."""
        return np.asarray(self._scorer.outputs(np.asarray(mask)[self._columns]))

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        return np.asarray(self._scorer.predict(np.asarray(mask)[self._columns], X[:, self._columns]))

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows in the criterion's own units."""
        return float(self._scorer.grade(outputs, rows))


@parameters
class Prefilter(Control):
    """Keep the best-ranked units only; with `start`, also begin the search from the very best.

    Read more in the guide: :doc:`/guide/wide`.

    Parameters
    ----------
    ranker : Ranker
        Ranks the columns, on the rows of the run.
    keep : int, default=200
        How many free units stay. A group of columns ranks with its best column.
    start : int, optional
        Number of best units from which the search starts, instead of its own start.
    control : Control, optional
        Runs inside, on what is left.

    See Also
    --------
    fewer.SubsetSelector : Its parameter `prefilter` puts one next to the search.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> control = fewer.control.Prefilter(fewer.rankers.Fisher(), keep=2)
    >>> selector = fewer.SubsetSelector(fewer.criteria.Separability(), fewer.search.Exhaustive(), control=control)
    >>> selector.fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    command_name = "prefilter"

    ranker: Ranker
    keep: Count = 200
    start: Whole | None = None
    control: Control | None = None

    def run(self, run: Run) -> Trace:
        # Rank on these rows, shrink the space, go on.
        problem, space, trace = run.problem, run.space.without(run.problem.constant), run.trace
        if self.keep < max(space.min_units, 1):
            raise InputError(
                f"The prefilter keeps {self.keep} features, but {space.min_units} are asked for; raise keep."
            )
        place = np.argsort(self.ranker.rank(problem, run.rng, run.resources).order)
        units = np.argsort([place[unit].min() for unit in space.units], kind="stable")
        dropped = np.zeros(problem.n_features, dtype=bool)
        for unit in units[self.keep :]:
            dropped[space.units[unit]] = True
        if self.start is not None:
            start = space.empty()
            start[units[: self.start]] = 1
            space = replace(space, start=start)
        if dropped.any():
            ranker = type(self.ranker).__name__
            trace.note(f"{ranker} kept {self.keep} of {len(units)} features for the search.", NoteKind.PREFILTER)
        kept = space.without(dropped)
        if isinstance(problem, SparseProblem):
            columns = np.flatnonzero(space.base | np.isin(np.arange(problem.n_features), np.concatenate(kept.units)))
            run = replace(run, criterion=NarrowCriterion(run.criterion, columns))
        return replace(run, space=kept).under(self.control)


def add_innermost(control: Control | None, inner: Control) -> Control:
    """Return a copy of a control with another one inside it, next to the search.

    Parameters
    ----------
    control : Control or None
        The outer control, with those inside it.
    inner : Control
        What goes inside.

    Returns
    -------
    Control
        `inner` itself if there is no other.

    Examples
    --------
    >>> from fewer.control import Aggregate
    >>> from fewer.rankers import Fisher
    >>> add_innermost(Aggregate(), Prefilter(Fisher())).control
    Prefilter(ranker=Fisher())
    """
    if control is None:
        return inner
    copy = clone(control)
    copy.set_params(control=add_innermost(control.control, inner))
    return copy


# Columns that are compared with all others at a time: nothing of the size of all pairs is kept.
COLUMNS_AT_A_TIME = 256
# Clusters that a note names.
NAMED = 5
# Columns of clusters that are drawn at most.
DRAWN = 60


@parameters
class Correlated(RankingControl):
    """Keep one of the columns that are alike, and none that hardly vary.

    Columns are taken in the order of `keep`. The first stays, and every later one whose association with it reaches
    the threshold goes: every column that is left out is like one that stays, and no two that stay are alike. Numbers
    are compared by their correlation, nominal columns by Cramér's V, a nominal column and a number by the correlation
    ratio.

    Read more in the guide: :doc:`/guide/correlated`.

    Parameters
    ----------
    threshold : float, default=0.95
        Association from which on two columns are alike; 1 leaves out duplicates alone.
    measure : {"pearson", "spearman"}, default="pearson"
        How two numbers are compared.
    keep : {"relevant", "cheap", "complete"}, default="relevant"
        Which column of a cluster stays: the one with the highest association with the target (over a ranker, the one
        that it ranks highest), the cheapest by `feature_costs` and `cost_weight`, or the one with the fewest missing
        cells. Where they are equal the other two decide, then the order of the columns.
    constant : float, default=0.999
        Columns with at least this share of one value among their known cells go, too.
    control : Control, optional
        Runs inside, on what is left.

    Notes
    -----
    Features that are forced in stay, and what is like them goes. Feature groups stay whole and are not compared. Pairs
    are compared on the rows where both are known; row weights count. The trace's `extra` holds `cluster`: for each
    column the number of the column that stays for it, itself if it stays, −1 if it hardly varies.

    See Also
    --------
    fewer.rankers.FCBF : Leaves out what is closer to a better feature than to the target.
    fewer.plots.DendrogramDisplay : Draws which columns are alike.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = fewer.RankSelector(fewer.rankers.FTest(), control=Correlated(0.9)).fit(X, y)
    >>> int(selector.support_.sum()), int(selector.trace_.extra["cluster"][0])
    (21, 22)
    """

    command_name = "correlated"

    threshold: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.95
    measure: Measure = "pearson"
    keep: Literal["relevant", "cheap", "complete"] = "relevant"
    constant: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.999
    control: Control | None = None

    def run(self, run: Run) -> Trace:
        # Leave out columns on these rows, then search among the others.
        return replace(run, space=run.space.without(self._left_out(run))).under(self.control)

    def choose(self, run: RankingRun) -> Trace:
        # Rank once; the highest of each cluster stay.
        scores = run.scores(run.problem, run.rng)
        left_out = self._left_out(run, scores)
        kept = ~np.array([bool(left_out[unit].all()) for unit in run.space.units], dtype=bool)
        run.record(fit_size(kept, unit_scores(scores, run.space), run.space))
        run.trace.state["promise"] = f"No two of the features kept have an association of {self.threshold:g} or more."
        run.trace.done = True
        return run.trace

    def _left_out(self, run: Run | RankingRun, scores: FloatArray | None = None) -> BoolArray:
        """Say which columns go, and report for which others they do."""
        pairs = Associations(run.problem, self.measure)
        cluster = self._clusters(pairs, run.problem, run.space, scores)
        self._report(cluster, pairs, run.problem, run.trace)
        return cluster != np.arange(len(cluster))

    def _clusters(
        self, pairs: Associations, problem: Problem, space: SearchSpace, scores: FloatArray | None = None
    ) -> IntArray:
        """Return for each column the one that stays for it, itself if it stays, or −1 if it hardly varies."""
        columns = np.arange(problem.n_features)
        if scores is None:
            scores = pairs.block(columns, np.array([pairs.target]))[:, 0]
        single = np.zeros(problem.n_features, dtype=bool)
        prices = np.zeros(problem.n_features)
        for unit, price in zip(space.units, space.prices.tolist(), strict=True):
            single[unit], prices[unit] = len(unit) == 1, price
        keys = {"relevant": -scores, "cheap": prices, "complete": problem.missing.mean(axis=0)}
        first = keys.pop(self.keep)
        order = np.lexsort((columns, *reversed(keys.values()), first, ~space.base))
        flat = (single & _hardly_varies(problem, self.constant)) | (problem.constant & ~space.base)
        cluster = np.where(flat, -1, columns)
        order = order[(single | space.base)[order] & (cluster[order] >= 0)]
        return leaders(pairs, order, space.base, self.threshold, cluster)

    def _report(self, cluster: IntArray, pairs: Associations, problem: Problem, trace: Trace) -> None:
        """Keep the clusters with the trace, what the picture of them needs, and name the first of them in a note."""
        trace.extra["cluster"] = cluster
        names = np.array(problem.names, dtype=object)
        flat = [*map(repr, names[(cluster < 0) & ~problem.constant])]  # constant columns are named elsewhere
        if flat:
            trace.note(f"Left out because they hardly vary: {listed(flat, NAMED)}.")
        places = np.arange(len(cluster))
        stays = [int(f) for f in np.unique(cluster[(cluster >= 0) & (cluster != places)])]
        drawn = np.flatnonzero(np.isin(cluster, stays))[:DRAWN]
        if len(drawn):
            trace.extra["cluster_names"] = names[drawn].astype(str)
            trace.extra["cluster_values"] = pairs.block(drawn, drawn)
            trace.extra["cluster_threshold"] = np.array(self.threshold)
        for leader in stays[:NAMED]:
            like = [*map(repr, names[(cluster == leader) & (places != leader)])]
            trace.note(f"{names[leader]!r} stands for {listed(like, NAMED)} ({self.threshold:g} or more alike).")
        if len(stays) > NAMED:
            trace.note(f"{len(stays) - NAMED} more columns stand for others like them.")


def _hardly_varies(problem: Problem, share: float) -> BoolArray:
    """Say which columns have at least this share of one value among their known cells."""
    flat = problem.constant.copy()
    if share < 1.0:
        for feature in np.flatnonzero(~flat).tolist():
            cells = problem.column(feature)
            ordered = np.sort(cells[~np.isnan(cells)])
            # A value with a share of the sorted cells above one half holds their middle.
            middle = ordered[len(ordered) // 2]
            count = np.searchsorted(ordered, middle, side="right") - np.searchsorted(ordered, middle, side="left")
            flat[feature] = count >= share * len(ordered)
    return flat


def leaders(pairs: Associations, order: IntArray, forced: BoolArray, threshold: float, cluster: IntArray) -> IntArray:
    """Go through columns in order; each that is still there stays and stands for all later ones that are like it.

    Parameters
    ----------
    pairs : Associations
        How alike two columns are.
    order : int array
        Columns, those to prefer first.
    forced : bool array of shape (n_features,)
        Columns that stay whatever they are like.
    threshold : float
        Columns at least this alike are one cluster.
    cluster : int array of shape (n_features,)
        Each column's own number; changed where another stands for it.

    Returns
    -------
    int array of shape (n_features,)
        `cluster`.
    """
    waiting = order
    while len(waiting):
        block = waiting[:COLUMNS_AT_A_TIME]
        alike = pairs.block(block, waiting) >= threshold - 1e-9
        for row, leader in enumerate(block.tolist()):
            if cluster[leader] == leader:
                later = waiting[row + 1 :][alike[row, row + 1 :]]
                later = later[(cluster[later] == later) & ~forced[later]]
                cluster[later] = leader
        waiting = waiting[len(block) :]
        waiting = waiting[cluster[waiting] == waiting]
    return cluster
