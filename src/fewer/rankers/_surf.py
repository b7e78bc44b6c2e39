"""SURF and MultiSURF: Relief with a radius instead of a number of neighbors.

Greene, Penrod, Kiralis and Moore, BioData Mining 2, 2009; Urbanowicz, Olson, Schmitt, Meeker and Moore, Journal of
Biomedical Informatics 85, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fewer.contracts import Ranker, Ranking, Resources
from fewer.kernels._device import deal
from fewer.kernels._surf import mixed_distance_sum, surf_scores
from fewer.problem import FloatArray, IntArray, Problem
from fewer.rankers._relief import sum_of_chunks
from fewer.rankers._relief_device import ReliefDevice, relief_devices


class _WithinRadius(Ranker):
    """What SURF and MultiSURF share: all rows within a radius are neighbors."""

    supports_device: ClassVar[bool] = True

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        votes = problem.row_weights
        table = _table_of(problem)
        target = _target_of(problem, votes)
        if target is None:
            return Ranking.by_score(np.zeros(problem.n_features))
        on = _on_devices(problem, table, resources)
        if on is not None:
            return Ranking.by_score(self._on_devices(on, votes, target, table) / votes.sum())
        radius = self._radius(table, resources)

        def scores(first: int, last: int) -> FloatArray:
            return surf_scores(first, last, votes, radius, target, table)

        return Ranking.by_score(sum_of_chunks(scores, problem.n_samples, resources) / votes.sum())

    def _radius(self, table: Any, resources: Resources, devices: Sequence[ReliefDevice] = ()) -> float:
        """Return the radius of all rows, or NaN where each has its own."""
        raise NotImplementedError

    def _on_devices(
        self, on: tuple[list[ReliefDevice], IntArray], votes: FloatArray, target: Any, table: Any
    ) -> FloatArray:
        """Sum the scores on devices, whose rows are sorted by class; rows near to their radius on the CPU."""
        devices, order = on
        radius = self._radius(table, Resources(), devices)
        codes, y, bound, shares = target
        ordered = codes[order], y[order], bound, shares
        parts = deal(
            devices, lambda one, low, high: one.within_radius(votes[order], radius, ordered, low, high), len(order)
        )
        left = order[np.concatenate([rows for _, rows in parts])]
        decided = [surf_scores(i, i + 1, votes, radius, target, table) for i in np.sort(left).tolist()]
        return np.asarray(sum([*(scores for scores, _ in parts), *decided]))


class SURF(_WithinRadius):
    """Weigh features by all rows nearer than the mean distance of the table.

    As `ReliefF`, but the neighbors of a row are all rows within one radius: the mean of all n² distances between rows
    (the zero of each row from itself included, as scikit-rebate has it). A feature's score is the mean over rows of its
    mean difference to near rows of other classes less that to near rows of the same class. For quantities, rows whose
    targets differ by less than a standard deviation are of the same class.

    Read more in the guide: :doc:`/methods/relief`.

    Notes
    -----
    With more than two classes the near rows of each other class count by its share among those met, as in `ReliefF`.
    Differences, nominal features and missing cells are treated as there. Row weights are votes: rows count by them in
    the mean and in the shares. Row groups play no part.

    See Also
    --------
    MultiSURF : A radius for each row.

    References
    ----------
    C. Greene, N. Penrod, J. Kiralis and J. Moore, Spatially uniform ReliefF (SURF) for computationally-efficient
    filtering of gene-gene interactions, BioData Mining 2, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(SURF(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 3, 2, 1])
    """

    command_name = "surf"

    def _radius(self, table: Any, resources: Resources, devices: Sequence[ReliefDevice] = ()) -> float:
        rows, steps, _, nominal, _ = table
        if not steps.shape[0] and devices:
            total, count = sum(deal(devices, lambda one, low, high: one.distance_sum(low, high), len(rows)))
            return float(total / count)
        if not steps.shape[0]:
            total, count = sum_of_chunks(lambda a, b: mixed_distance_sum(a, b, rows, nominal), len(rows), resources)
            return float(total / count)
        ordered = np.sort(rows, axis=0)
        n = len(rows)
        # The sum of all differences of ordered numbers counts the i-th of n up i times and down n − 1 − i times.
        times = 2.0 * np.arange(n) - (n - 1)
        return float(2.0 * (times @ ordered).mean() / n**2)


class MultiSURF(_WithinRadius):
    """Weigh features by all rows that are near by each row's own distances.

    As `SURF`, with a radius for each row: the mean of its distances to all others, less half their standard deviation.

    Read more in the guide: :doc:`/methods/relief`.

    Notes
    -----
    Classes, quantities, nominal features, missing cells, row weights and row groups are treated as in `SURF`. Two
    classes and quantities without missing cells give the weights of scikit-rebate 0.8.4.

    See Also
    --------
    SURF : One radius for all rows.
    ReliefF : A number of neighbors instead of a radius.

    References
    ----------
    R. Urbanowicz, R. Olson, P. Schmitt, M. Meeker and J. Moore, Benchmarking relief-based feature selection methods for
    bioinformatics data mining, Journal of Biomedical Informatics 85, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(MultiSURF(), n_features_to_select=2).fit(X, y).ranking_
    array([3, 4, 2, 1])
    """

    command_name = "multisurf"

    def _radius(self, table: Any, resources: Resources, devices: Sequence[ReliefDevice] = ()) -> float:
        return float("nan")


def _on_devices(problem: Problem, table: Any, resources: Resources) -> tuple[list[ReliefDevice], IntArray] | None:
    """Bring the rows, sorted by class, to the devices asked for; None if the CPU does the work."""
    if resources.device == "cpu":
        return None
    codes = problem.y if problem.task == "classification" else np.zeros(problem.n_samples, dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(int(codes.max(initial=0)) + 2))
    devices = relief_devices(resources, table[0][order], table[3], bounds)
    return (devices, order) if devices else None


def _table_of(problem: Problem) -> Any:
    """Lay the rows out for the kernel: scaled to 0 … 1, and as whole numbers where no cell is special."""
    missing, nominal = problem.missing, problem.nominal
    low = np.where(missing, np.inf, problem.X).min(axis=0)
    high = np.where(missing, -np.inf, problem.X).max(axis=0)
    scaled = ~nominal & (high > low)
    rows = (problem.X - np.where(scaled, low, 0.0)) / np.where(scaled, high - low, 1.0)
    still = ~nominal & ~scaled
    rows[:, still] = np.where(missing[:, still], np.nan, 0.0)
    special = missing.any() or nominal.any()
    scale = 2.0 ** (30 - int(np.ceil(np.log2(problem.n_features + 1))))  # sums of differences stay below 2³¹
    steps = np.rint(rows[:, : 0 if special else None].T * scale)
    slack = 0.0 if special else 2.0 * float(np.abs(steps.T - rows * scale).sum(axis=1).max())
    return rows, np.ascontiguousarray(steps, dtype=np.int32), 1.0 / scale, nominal.astype(np.uint8), slack


def _target_of(problem: Problem, votes: FloatArray) -> Any:
    """Return codes, quantities, the bound within which these are alike, and the classes' shares; None if all alike."""
    if problem.task == "regression":
        bound = float(np.std(problem.y, ddof=1))
        return (np.zeros(problem.n_samples, np.int64), problem.y, bound, np.ones(1)) if bound > 0 else None
    shares = np.bincount(problem.y, votes, minlength=problem.n_classes) / votes.sum()
    if np.count_nonzero(shares) < 2:
        return None
    return problem.y.astype(np.int64), np.zeros(problem.n_samples), 0.0, shares
