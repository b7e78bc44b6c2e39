"""Relief, ReliefF and RReliefF: a good feature differs between near rows of different classes, not of the same.

Chen, sections 3.2 and 3.3; Kononenko 1994; Robnik-Šikonja and Kononenko 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from fewer.contracts import Ranker, Ranking, Resources
from fewer.kernels._relief import (
    STEPS,
    Classes,
    Table,
    listed_scores,
    listed_sums,
    regression_sums,
    relief_scores,
)
from fewer.kernels._relief_small import small_scores
from fewer.parallel import in_threads
from fewer.problem import FloatArray, IntArray, Problem, Task
from fewer.rankers._relief_device import nearest_lists, pooled, relief_devices

CHUNK = 256
"""Rows a task: sums are added chunk by chunk, so that the number of threads changes nothing."""
BLOCK = 4096
SMALL = 10**8
"""Differences of cells up to which a kernel that takes a sixth of the time to compile does."""


class ReliefF(Ranker):
    """Weigh features by the nearest rows of the same class and of each other class.

    For every row, the k nearest rows of its own class and of each other class are found; a feature's score is its mean
    difference to the others, less that to its own:

        W_f = mean over rows of  Σ_c≠y P(c) / (1 − P(y)) · mean difference to class c  −  mean difference to class y.

    The difference of two cells is their distance over the feature's range, or 0 or 1 for nominal features; the distance
    of two rows is the mean of their differences (Manhattan). Where a cell is missing, distances and means go over those
    that are present. Equally near rows are taken in the order of the table. A class with fewer than k rows gives what
    it has. Row weights are votes: rows count by them in the mean and in P.

    Read more in the guide: :doc:`/methods/relief`.

    Parameters
    ----------
    n_neighbors : int, default=10
        k.
    n_rows : int, optional
        How many rows to go through, drawn without replacement; all if not given.

    References
    ----------
    I. Kononenko, Estimating attributes: analysis and extensions of RELIEF, ECML 1994.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(ReliefF(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.14 , 0.122, 0.359, 0.375])
    """

    command_name = "relieff"
    supports_device: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_rows": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_neighbors: int = 10, n_rows: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.n_rows = n_rows

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return Ranking.by_score(_relief(problem, self.n_neighbors, self.n_rows, False, rng, resources))


class Relief(Ranker):
    """Weigh features by the one nearest row of the same class and the one nearest of any other class.

    Kira and Rendell's Relief: `ReliefF` with one neighbor, and one miss whatever its class. Differences, nominal
    features, missing cells and row weights are treated as there.

    Read more in the guide: :doc:`/methods/relief`.

    Parameters
    ----------
    n_rows : int, optional
        How many rows to go through, drawn without replacement; all if not given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(Relief(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 3, 2, 1])
    """

    command_name = "relief"
    supports_device: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_rows": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_rows: int | None = None) -> None:
        self.n_rows = n_rows

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return Ranking.by_score(_relief(problem, 1, self.n_rows, True, rng, resources))


class RReliefF(Ranker):
    """Weigh features for a numeric target by the nearest rows.

    With d_y and d_f the range-scaled differences of target and feature between a row and its neighbors, weighted to a
    sum of one for each row, and N the weight of all pairs,

        W_f = Σ d_y d_f / Σ d_y  −  Σ (1 − d_y) d_f / (N − Σ d_y).

    Nominal features, missing cells (pairs without both cells are left out of the sums of that feature) and row weights
    are treated as in `ReliefF`.

    Read more in the guide: :doc:`/methods/relief`.

    Parameters
    ----------
    n_neighbors : int, default=10
    sigma : float, optional
        If given, the m-th nearest counts exp(−(m / sigma)²); else all count the same. Its authors use 70 neighbors
        with sigma 20, or 10 that count the same.
    n_rows : int, optional
        How many rows to go through, drawn without replacement; all if not given.

    References
    ----------
    M. Robnik-Šikonja and I. Kononenko, An adaptation of Relief for attribute estimation in regression, ICML 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fewer
    >>> X, y = load_diabetes(return_X_y=True)
    >>> fewer.RankSelector(RReliefF(), n_features_to_select=2).fit(X, y).support_.nonzero()
    (array([2, 8]),)
    """

    command_name = "rrelieff"
    supports_device: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("regression",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "n_rows": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, n_neighbors: int = 10, sigma: float | None = None, n_rows: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.n_rows = n_rows

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        places = np.arange(1, min(self.n_neighbors, max(problem.n_samples - 1, 1)) + 1)
        influence = np.ones(len(places)) if self.sigma is None else np.exp(-((places / self.sigma) ** 2))
        span = float(np.ptp(problem.y)) or 1.0
        table = _Table.of(problem, np.arange(problem.n_samples))
        votes = _votes(problem, self.n_rows, rng)

        everyone, target = np.array([0, problem.n_samples]), problem.y / span
        devices = relief_devices(resources, table.rows, table.nominal, everyone, len(places))
        lists = np.ascontiguousarray(nearest_lists(devices, len(places))[0][:, 0]) if devices else None

        def sums(first: int, last: int) -> FloatArray:
            if lists is not None:
                return listed_sums(first, last, lists, votes, influence, target, table.arrays())
            return regression_sums(first, last, votes, influence, target, table.arrays())

        pairs, apart, gap, both = sum_of_chunks(sums, problem.n_samples, resources)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = both / apart - (gap - both) / (pairs - apart)
        return Ranking.by_score(np.nan_to_num(scores))


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows laid out for the kernels: numeric features scaled to 0 … 1, in the order given."""

    rows: FloatArray
    steps: NDArray[np.int16]
    columns: NDArray[np.float32]
    nominal: NDArray[np.uint8]
    others: IntArray
    numbers: IntArray
    slack: np.float32

    @classmethod
    def of(cls, problem: Problem, order: IntArray) -> _Table:
        nominal, missing = problem.nominal, problem.missing
        low, high = problem.extremes
        scaled = ~nominal & (high > low)
        shift, span = np.where(scaled, low, 0.0), np.where(scaled, high - low, 1.0)
        rows = problem.X[order]
        rows -= shift
        rows /= span
        still = ~nominal & ~scaled
        rows[:, still] = np.where(missing[order][:, still], np.nan, 0.0)
        special = nominal | missing.any(axis=0)
        return cls(
            rows=rows,
            steps=_in_steps(rows, np.flatnonzero(~special)),
            columns=np.ascontiguousarray(rows[:, special].T, dtype=np.float32),
            nominal=nominal.astype(np.uint8),
            others=np.flatnonzero(special).astype(np.int64),
            numbers=order.astype(np.int64),
            slack=np.float32(_slack(problem.n_features)),
        )

    def arrays(self) -> Table:
        """Return what the kernels take."""
        return Table(self.rows, self.steps, self.columns, self.nominal, self.others, self.numbers, self.slack)


def _in_steps(rows: FloatArray, columns: IntArray) -> NDArray[np.int16]:
    """Return some columns in coarse steps, (n_columns, n_rows); block by block, so that wide tables are not copied."""
    steps = np.empty((len(columns), len(rows)), dtype=np.int16)
    for low in range(0, len(columns), BLOCK):
        some = columns[low : low + BLOCK]
        steps[low : low + BLOCK] = np.rint(STEPS * rows[:, some].T)
    return steps


def _slack(n_features: int) -> float:
    """Bound what coarse steps can do to the difference between two distances.

    A cell is off by half a step, a difference by one at most, and so is a mean of differences. Beside that stand
    roundings in float32: one for each feature that is not plain, of a sum below p, and a few at the end. All that twice
    for two distances.
    """
    return 2.0 * (1.0 / STEPS + (n_features + 8) * 2.0**-24)


def _relief(
    problem: Problem, k: int, n_rows: int | None, one_miss: bool, rng: np.random.Generator, resources: Resources
) -> FloatArray:
    order = np.argsort(problem.y, kind="stable")
    codes = problem.y[order]
    weights = problem.row_weights
    shares = np.bincount(problem.y, weights, minlength=problem.n_classes) / weights.sum()
    bounds = np.searchsorted(codes, np.arange(problem.n_classes + 1)).astype(np.int64)
    if np.count_nonzero(shares) < 2:
        return np.zeros(problem.n_features)
    table = _Table.of(problem, order)
    votes = _votes(problem, n_rows, rng)[order]
    classes = Classes(votes, codes, bounds, shares, one_miss)
    k = min(k, problem.n_samples)
    devices, lists = relief_devices(resources, table.rows, table.nominal, bounds, k), None
    if devices:
        lists, far = nearest_lists(devices, k)
        lists = pooled(lists, far, codes, table.numbers) if one_miss else lists

    def scores(first: int, last: int) -> FloatArray:
        if lists is not None:
            return listed_scores(first, last, lists, classes, table.arrays())
        if not one_miss and problem.n_samples**2 * problem.n_features <= SMALL:
            return _small(first, last, k, classes, table)
        return relief_scores(first, last, k, classes, table.arrays())

    return sum_of_chunks(scores, problem.n_samples, resources) / (votes.sum() or 1.0)


def _small(first: int, last: int, k: int, classes: Classes, table: _Table) -> FloatArray:
    scores = np.zeros(table.rows.shape[1])
    scratch = np.empty(k), np.empty(k, dtype=np.int64)
    small_scores(first, last, tuple(classes)[:-1], table.rows, table.nominal, *scratch, scores)
    return scores


def sum_of_chunks(function: Any, n_rows: int, resources: Resources) -> Any:
    starts = range(0, n_rows, CHUNK)
    total: Any = 0
    # As many chunks at a time as there are threads: on wide tables the sums of all would be as large as the table.
    for low in range(0, len(starts), max(resources.n_jobs, 1)):
        some = starts[low : low + max(resources.n_jobs, 1)]
        for part in in_threads(lambda start: function(start, min(start + CHUNK, n_rows)), some, resources.n_jobs):
            total = total + part
    return total


def _votes(problem: Problem, n_rows: int | None, rng: np.random.Generator) -> FloatArray:
    """Return each row its weight, and none to rows that are not drawn."""
    votes = problem.row_weights.copy()
    if n_rows is not None:
        drawn = rng.permutation(problem.n_samples)[:n_rows]
        votes[np.setdiff1d(np.arange(problem.n_samples), drawn)] = 0.0
    return votes
