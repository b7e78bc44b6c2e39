"""Columns that say the same: one of each cluster stays, and columns that hardly vary go."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Annotated, Literal

import numpy as np
from sklearn.utils._param_validation import Interval

from fewer.contracts import Control, Run, SearchSpace
from fewer.contracts.declaring import parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, fit_size, unit_scores
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics import Associations, Measure

BLOCK = 256
"""Columns that are compared with all others at a time: nothing of the size of all pairs is kept."""
NAMED = 5
"""Clusters that a note names."""
DRAWN = 60
"""Columns of clusters that are drawn at most."""


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
        pairs = Associations(run.problem, self.measure)
        cluster = self._clusters(pairs, run.problem, run.space)
        self._report(cluster, pairs, run.problem, run.trace)
        return replace(run, space=run.space.without(_gone(cluster))).under(self.control)

    def choose(self, run: RankingRun) -> Trace:
        # Rank once; the highest of each cluster stay.
        scores = run.scores(run.problem, run.rng)
        pairs = Associations(run.problem, self.measure)
        cluster = self._clusters(pairs, run.problem, run.space, scores)
        self._report(cluster, pairs, run.problem, run.trace)
        kept = ~np.array([bool(_gone(cluster)[unit].all()) for unit in run.space.units])
        run.record(fit_size(kept, unit_scores(scores, run.space), run.space))
        run.trace.state["promise"] = f"No two of the features kept have an association of {self.threshold:g} or more."
        run.trace.done = True
        return run.trace

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
        flat = names[(cluster < 0) & ~problem.constant].tolist()  # constant columns are named elsewhere
        if flat:
            trace.note(f"Left out because they hardly vary: {_some(flat)}.")
        places = np.arange(len(cluster))
        stays = [int(f) for f in np.unique(cluster[(cluster >= 0) & (cluster != places)])]
        drawn = np.flatnonzero(np.isin(cluster, stays))[:DRAWN]
        if len(drawn):
            trace.extra["cluster_names"] = names[drawn].astype(str)
            trace.extra["cluster_values"] = pairs.block(drawn, drawn)
            trace.extra["cluster_threshold"] = np.array(self.threshold)
        for leader in stays[:NAMED]:
            like = names[(cluster == leader) & (places != leader)].tolist()
            trace.note(f"{names[leader]!r} stands for {_some(like)} ({self.threshold:g} or more alike).")
        if len(stays) > NAMED:
            trace.note(f"{len(stays) - NAMED} more columns stand for others like them.")


def _gone(cluster: IntArray) -> BoolArray:
    return cluster != np.arange(len(cluster))


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"


def _hardly_varies(problem: Problem, share: float) -> BoolArray:
    """Say which columns have at least this share of one value among their known cells."""
    found = problem.constant.copy()
    if share < 1.0:
        for feature in np.flatnonzero(~found).tolist():
            cells = problem.column(feature)
            ordered = np.sort(cells[~np.isnan(cells)])
            # A value with a share of the sorted cells above one half holds their middle.
            middle = ordered[len(ordered) // 2]
            count = np.searchsorted(ordered, middle, side="right") - np.searchsorted(ordered, middle, side="left")
            found[feature] = count >= share * len(ordered)
    return found


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
        block = waiting[:BLOCK]
        alike = pairs.block(block, waiting) >= threshold - 1e-9
        for row, leader in enumerate(block.tolist()):
            if cluster[leader] == leader:
                later = waiting[row + 1 :][alike[row, row + 1 :]]
                later = later[(cluster[later] == later) & ~forced[later]]
                cluster[later] = leader
        waiting = waiting[len(block) :]
        waiting = waiting[cluster[waiting] == waiting]
    return cluster
