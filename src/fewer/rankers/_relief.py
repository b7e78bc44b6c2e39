"""Relief, ReliefF and RReliefF; SURF and MultiSURF; where a GPU is asked for, near rows are looked for on it.

A good feature differs between near rows of different classes, not of the same. Near are some rows of each class
(Relief), or all rows within a radius (SURF).

Chen, sections 3.2 and 3.3; Kononenko 1994; Robnik-Šikonja and Kononenko 1997; Greene, Penrod, Kiralis and Moore,
BioData Mining 2, 2009; Urbanowicz, Olson, Schmitt, Meeker and Moore, Journal of Biomedical Informatics 85, 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import ROWS, Count, Positive, Ranker, Ranking, Resources, parameters
from fewer.kernels.device import THREADS, Device, deal, on_devices, tell
from fewer.kernels.relief import (
    STEPS,
    Classes,
    Mixed,
    ReliefRoom,
    ReliefTable,
    SurfRoom,
    Whole,
    list_nearest,
    mixed_distance_sum,
    regression_sums,
    relief_scores,
    surf_scores,
)
from fewer.parallel import in_threads
from fewer.problem import FloatArray, IntArray, Problem, Task

# Rows a task: sums are added chunk by chunk, so that the number of threads changes nothing.
TASK_ROWS = 256
# Columns that are brought into steps at once.
STEPPED_AT_ONCE = 4096
# Lengths of lists that a GPU's kernel is compiled for.
CAPACITIES = (4, 12, 24, 48, 96)
# Rows and features that one task of a GPU's goes through.
SPAN, GROUP = 256, 8
# Bytes of distances that a GPU holds at once.
AT_ONCE = 1 << 33
# Rows so near to a radius, relative to it, are decided on the CPU.
BAND = 1e-11


class _OfNeighbors(Ranker):
    """What the rankers of Relief's family share."""

    takes: ClassVar[frozenset[str]] = ROWS
    supports_device: ClassVar[bool] = True


@parameters
class ReliefF(_OfNeighbors):
    """Weigh features by the nearest rows of the same class and of each other class.

    For every row, the k nearest rows of its own class and of each other class are found; a feature's score is its mean
    difference to the others, less that to its own:

        W_f = mean over rows of  Σ_c≠y P(c) / (1 − P(y)) · mean difference to class c  −  mean difference to class y.

    The difference of two cells is their distance over the feature's range, or 0 or 1 for nominal features; the distance
    of two rows is the mean of their differences (Manhattan). Where a cell is missing, distances and means go over those
    that are present. Equally near rows are taken in the order of the table. A class with fewer than k rows gives what
    it has. Row weights are votes: rows count by them in the mean and in P. Rows of one group are never each other's
    neighbors.

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
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    n_neighbors: Count = 10
    n_rows: Count | None = None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        problem.check_neighbors("ReliefF")
        return Ranking.by_score(_relief(problem, self.n_neighbors, self.n_rows, False, rng, resources))


@parameters
class Relief(_OfNeighbors):
    """Weigh features by the one nearest row of the same class and the one nearest of any other class.

    Kira and Rendell's Relief: `ReliefF` with one neighbor, and one miss whatever its class. Differences, nominal
    features, missing cells, row weights and row groups are treated as there.

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
    weights_repeat_rows: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    n_rows: Count | None = None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        problem.check_neighbors("Relief")
        return Ranking.by_score(_relief(problem, 1, self.n_rows, True, rng, resources))


@parameters
class RReliefF(_OfNeighbors):
    """Weigh features for a numeric target by the nearest rows.

    With d_y and d_f the range-scaled differences of target and feature between a row and its neighbors, weighted to a
    sum of one for each row, and N the weight of all pairs,

        W_f = Σ d_y d_f / Σ d_y  −  Σ (1 − d_y) d_f / (N − Σ d_y).

    Nominal features, missing cells (pairs without both cells are left out of the sums of that feature), row weights and
    row groups are treated as in `ReliefF`.

    Read more in the guide: :doc:`/methods/relief`.

    Parameters
    ----------
    n_neighbors : int, default=10
        How many near rows each row is compared with.
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
    tasks: ClassVar[tuple[Task, ...]] = ("regression",)

    n_neighbors: Count = 10
    sigma: Positive | None = None
    n_rows: Count | None = None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        problem.check_neighbors(type(self).__name__)
        places = np.arange(1, min(self.n_neighbors, max(problem.n_samples - 1, 1)) + 1)
        influence = np.ones(len(places)) if self.sigma is None else np.exp(-((places / self.sigma) ** 2))
        target = problem.y / (float(np.ptp(problem.y)) or 1.0)
        n, p = problem.X.shape
        near = _Near(problem, np.arange(n))
        votes, everyone = _votes(problem, self.n_rows, rng), np.array([0, n])
        classes = Classes(votes, np.zeros(n, dtype=np.int64), everyone, np.ones(1), False)
        if devices := relief_devices(resources, problem, near.table.rows, near.table.nominal, everyone, len(places)):
            near.known, _ = nearest_lists(devices, len(places))

        def sums(first: int, last: int) -> FloatArray:
            out = np.zeros((4, p))
            lists = near.lists(first, last, classes, 1, len(places))
            regression_sums(first, last, lists, votes, influence, target, near.table, out)
            return out

        pairs, apart, gap, both = sum_of_chunks(sums, n, resources)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = both / apart - (gap - both) / (pairs - apart)
        return Ranking.by_score(np.nan_to_num(scores))


def _relief(
    problem: Problem, k: int, n_rows: int | None, one_miss: bool, rng: np.random.Generator, resources: Resources
) -> FloatArray:
    order = np.argsort(problem.y, kind="stable")
    codes, weights, k = problem.y[order], problem.row_weights, min(k, problem.n_samples)
    shares = np.bincount(problem.y, weights, minlength=problem.n_classes) / weights.sum()
    bounds = np.searchsorted(codes, np.arange(problem.n_classes + 1)).astype(np.int64)
    if np.count_nonzero(shares) < 2:
        return np.zeros(problem.n_features)
    near, votes = _Near(problem, order), _votes(problem, n_rows, rng)[order]
    table, classes = near.table, Classes(votes, codes, bounds, shares, one_miss)
    if devices := relief_devices(resources, problem, table.rows, table.nominal, bounds, k):
        lists, far = nearest_lists(devices, k)
        near.known = pooled(lists, far, codes, table.numbers) if one_miss else lists

    def scores(first: int, last: int) -> FloatArray:
        mean, out = np.empty(problem.n_features), np.zeros(problem.n_features)
        lists = near.lists(first, last, classes, 2 if one_miss else problem.n_classes, k)
        relief_scores(first, last, lists, classes, table, near.mixed, mean, out)
        return out

    return sum_of_chunks(scores, problem.n_samples, resources) / (votes.sum() or 1.0)


def _unit_rows(problem: Problem, order: IntArray) -> FloatArray:
    """Return the rows in an order, numeric features scaled to 0 … 1; features that do not vary are 0."""
    nominal, (low, high) = problem.nominal, problem.extremes
    scaled = ~nominal & (high > low)
    rows = problem.X[order]
    rows -= np.where(scaled, low, 0.0)
    rows /= np.where(scaled, high - low, 1.0)
    if not (nominal | scaled).all():
        still = ~nominal & ~scaled
        rows[:, still] = np.where(problem.missing[order][:, still], np.nan, 0.0)
    return rows


class _Near:
    """The rows in an order, laid out for the kernels of Relief; and their near rows, where a GPU has listed them."""

    def __init__(self, problem: Problem, order: IntArray) -> None:
        rows, nominal = _unit_rows(problem, order), problem.nominal.astype(np.uint8)
        special = problem.nominal | problem.missing.any(axis=0) if problem.has_missing else problem.nominal
        columns = np.ascontiguousarray(rows[:, special].T, dtype=np.float32)
        self.mixed = Mixed(columns, nominal[special]) if special.any() else None
        self.known: NDArray[np.int32] | None = None
        self.table = ReliefTable(
            rows=rows,
            steps=_in_steps(rows, np.flatnonzero(~special)),
            nominal=nominal,
            numbers=order.astype(np.int64),
            places=np.argsort(order),
            slack=np.float32(_slack(rows.shape[1])),
            groups=problem.row_groups[order],
        )

    def lists(self, first: int, last: int, classes: Classes, n_lists: int, k: int) -> NDArray[np.int32]:
        """List the k rows of each class that are nearest to rows first … last − 1: (last − first, n_lists, k)."""
        if self.known is not None:
            return self.known[first:last]
        lists = np.empty((last - first, n_lists, k), dtype=np.int32)
        list_nearest(first, last, classes, self.table, self.mixed, ReliefRoom.of(len(self.table.rows), k), lists)
        return lists


def _in_steps(rows: FloatArray, columns: IntArray) -> NDArray[np.int16]:
    """Return some columns in coarse steps, (n_columns, n_rows); block by block, so that wide tables are not copied."""
    steps = np.empty((len(columns), len(rows)), dtype=np.int16)
    for low in range(0, len(columns), STEPPED_AT_ONCE):
        steps[low : low + STEPPED_AT_ONCE] = np.rint(STEPS * rows[:, columns[low : low + STEPPED_AT_ONCE]].T)
    return steps


def _slack(n_features: int) -> float:
    """Bound what coarse steps can do to the difference between two distances.

    A cell is off by half a step, a difference by one at most, and so is a mean of differences. Beside that stand
    roundings in float32: one for each feature that is not plain, of a sum below p, and a few at the end. All that twice
    for two distances.
    """
    return 2.0 * (1.0 / STEPS + (n_features + 8) * 2.0**-24)


def sum_of_chunks(function: Any, n_rows: int, resources: Resources) -> Any:
    """Sum what a function of the first row and the one after the last returns for each chunk of rows."""
    starts = range(0, n_rows, TASK_ROWS)
    total: Any = 0
    # As many chunks at a time as there are threads: on wide tables the sums of all would be as large as the table.
    for low in range(0, len(starts), max(resources.n_jobs, 1)):
        batch = starts[low : low + max(resources.n_jobs, 1)]
        for part in in_threads(lambda start: function(start, min(start + TASK_ROWS, n_rows)), batch, resources.n_jobs):
            total = total + part
    return total


def _votes(problem: Problem, n_rows: int | None, rng: np.random.Generator) -> FloatArray:
    """Return each row its weight, and none to rows that are not drawn."""
    votes = problem.row_weights.copy()
    if n_rows is not None:
        drawn = rng.permutation(problem.n_samples)[:n_rows]
        votes[np.setdiff1d(np.arange(problem.n_samples), drawn)] = 0.0
    return votes


class _WithinRadius(_OfNeighbors):
    """What SURF and MultiSURF share: all rows within a radius are neighbors."""

    one_radius: ClassVar[bool]

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        problem.check_neighbors(type(self).__name__)
        votes, target = problem.row_weights, _target_of(problem, problem.row_weights)
        if target is None:
            return Ranking.by_score(np.zeros(problem.n_features))
        rows, nominal = _unit_rows(problem, np.arange(problem.n_samples)), problem.nominal.astype(np.uint8)
        special = problem.has_missing or bool(nominal.any())
        scale = 2.0 ** (30 - int(np.ceil(np.log2(problem.n_features + 1))))  # sums of differences stay below 2³¹
        steps = np.ascontiguousarray(np.rint(rows[:, : 0 if special else None].T * scale), dtype=np.int32)
        slack = 0.0 if special else 2.0 * float(np.abs(steps.T - rows * scale).sum(axis=1).max())
        codes, y, bound, shares = target
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(int(codes.max(initial=0)) + 2))
        devices = relief_devices(resources, problem, rows[order], nominal, bounds)
        radius = float("nan")  # each row has its own
        if self.one_radius:
            radius = mean_distance(rows, nominal if special else None, resources, devices)

        def scores(first: int, last: int) -> FloatArray:
            out, n = np.zeros(problem.n_features), problem.n_samples
            whole, room = Whole(steps, 1.0 / scale, slack, np.empty(n, dtype=np.int32)), SurfRoom.of(n, len(shares))
            surf_scores(
                first, last, votes, radius, target, rows, nominal if special else None, problem.row_groups, whole, room,
                out,
            )  # fmt: skip
            return out

        if not devices:
            return Ranking.by_score(sum_of_chunks(scores, problem.n_samples, resources) / votes.sum())
        ordered = codes[order], y[order], bound, shares
        parts = deal(
            devices, lambda on, low, high: on.within_radius(votes[order], radius, ordered, low, high), len(order)
        )
        near_radius = np.sort(order[np.concatenate([places for _, places in parts])])
        decided = [scores(i, i + 1) for i in near_radius.tolist()]
        return Ranking.by_score(np.asarray(sum([*(part for part, _ in parts), *decided])) / votes.sum())


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
    the mean and in the shares. Rows of one group are never each other's neighbors; the radius is that of all rows.

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
    one_radius = True


class MultiSURF(_WithinRadius):
    """Weigh features by all rows that are near by each row's own distances.

    As `SURF`, with a radius for each row: the mean of its distances to all others, less half their standard deviation;
    those of its own group left out.

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
    one_radius = False


def mean_distance(
    rows: FloatArray, nominal: NDArray[np.uint8] | None, resources: Resources, devices: list[ReliefDevice]
) -> float:
    """Return the mean of all n² distances between rows; `nominal` is None for a table of plain numbers."""
    n = len(rows)
    if nominal is None:
        # The sum of all differences of ordered numbers counts the i-th of n up i times and down n − 1 − i times.
        times = 2.0 * np.arange(n) - (n - 1)
        return float(2.0 * (times @ np.sort(rows, axis=0)).mean() / n**2)
    if devices:
        total, count = sum(deal(devices, lambda on, low, high: on.distance_sum(low, high), n))
    else:
        total, count = sum_of_chunks(lambda a, b: mixed_distance_sum(a, b, rows, nominal), n, resources)
    return float(total / count)


def _target_of(problem: Problem, votes: FloatArray) -> Any:
    """Return codes, quantities, the bound within which these are alike, and the classes' shares; None if all alike."""
    if problem.task == "regression":
        bound = float(np.std(problem.y, ddof=1))
        return (np.zeros(problem.n_samples, np.int64), problem.y, bound, np.ones(1)) if bound > 0 else None
    shares = np.bincount(problem.y, votes, minlength=problem.n_classes) / votes.sum()
    if np.count_nonzero(shares) < 2:
        return None
    return problem.y.astype(np.int64), np.zeros(problem.n_samples), 0.0, shares


class ReliefDevice:
    """Rows on a device.

    Parameters
    ----------
    device : Device
        The GPU.
    rows : array of shape (n, p)
        Numeric features scaled to 0 … 1, nominal ones as codes; NaN where missing. Sorted by class.
    nominal : uint8 array of shape (p,)
        1 where a column has levels.
    bounds : int array of shape (c + 1,)
        Where the rows of each class begin.
    """

    def __init__(self, device: Device, rows: FloatArray, nominal: NDArray[np.uint8], bounds: IntArray) -> None:
        self._device, (self.n, self.p) = device, rows.shape
        self.bounds = bounds
        half = device.memory // 2
        if device.capacity_for(8 * self.p, half, "rows of this table") < self.n:
            device.capacity_for(8 * self.p * self.n, half, "times this table")  # says that it does not fit
        self._tile = min(device.capacity_for(8 * self.n, min(half, AT_ONCE), "rows of distances"), self.n)
        self._mixed = int(bool(nominal.any()) or bool(np.isnan(rows).any()))
        self._columns = device.put(np.ascontiguousarray(rows.T))
        self._nominal, self._bounds = device.put(nominal), device.put(bounds.astype(np.int32))

    def _distances(self, low: int, high: int, on_grid: bool) -> Iterator[tuple[int, int, int, Any]]:
        """Yield the distances of rows low … high − 1 to all rows, tile after tile."""
        device = self._device
        for first in range(low, high, self._tile):
            width = min(self._tile, high - first)
            blocks = -(-width // THREADS)
            out = device.full((self.n, width), 0.0, np.float64)
            device.run(
                "relief", "gaps", blocks * -(-self.n // SPAN), self._columns, self._nominal, self.n, self.p, first,
                width, int(on_grid), out, MIXED=self._mixed,
            )  # fmt: skip
            yield first, width, blocks, out

    def near(self, k: int, low: int, high: int) -> tuple[NDArray[np.int32], FloatArray]:
        """List the k nearest rows of each class of rows low … high − 1, and how far they are: (high − low, c, k)."""
        device, capacity = self._device, next(capacity for capacity in CAPACITIES if capacity >= k)
        n_classes, parts = len(self.bounds) - 1, []
        for first, width, blocks, distances in self._distances(low, high, on_grid=True):
            nearest = device.full((n_classes, k, width), 0, np.int32)
            near = device.full((n_classes, k, width), 0.0, np.float64)
            device.run(
                "relief", "nearest_gaps", blocks * n_classes, distances, self._bounds, first, width, k, nearest, near,
                CAPACITY=capacity, MIXED=self._mixed,
            )  # fmt: skip
            parts.append([np.moveaxis(device.get(array), -1, 0) for array in (nearest, near)])
        lists, far = (np.ascontiguousarray(np.concatenate(arrays)) for arrays in zip(*parts, strict=True))
        return lists, far

    def distance_sum(self, low: int, high: int) -> FloatArray:
        """Sum and count the known distances of rows low … high − 1 to all rows, the zero to themselves included."""
        total = np.zeros(2)
        for first, width, blocks, distances in self._distances(low, high, on_grid=False):
            _, _, sums, counts = self._radii(distances, first, width, blocks, 0.0)
            total += [sums.sum(), counts.sum() + width]
        return total

    def _radii(self, distances: Any, first: int, width: int, blocks: int, radius: float) -> list[NDArray[Any]]:
        device = self._device
        out = [device.full(width, 0, dtype) for dtype in (np.float64, np.uint8, np.float64, np.float64)]
        device.run("relief", "radii", blocks, distances, self.n, first, width, radius, BAND, *out, MIXED=self._mixed)
        return [device.get(array) for array in out]

    def within_radius(
        self, votes: FloatArray, radius: float, target: Any, low: int, high: int
    ) -> tuple[FloatArray, IntArray]:
        """Sum the scores of rows low … high − 1 as `surf_scores` does; and list the rows that must be decided.

        Those have no part in the sum.
        """
        device, total, left = self._device, np.zeros(self.p), []
        codes, y, bound, shares = target
        weights = np.append(np.zeros(1), shares) if bound > 0.0 else shares
        about = [
            device.put(codes.astype(np.int32)), self._bounds, device.put(weights), len(weights), device.put(y), bound
        ]  # fmt: skip
        for first, width, blocks, distances in self._distances(low, high, on_grid=False):
            limits, unsure, _, _ = self._radii(distances, first, width, blocks, radius)
            parts = device.full((self.p, width), 0.0, np.float64)
            device.run(
                "relief", "within_radius", blocks * -(-self.p // GROUP), self._columns, self._nominal, self.n, self.p,
                first, width, distances, device.put(limits), device.put(votes), *about, parts, MIXED=self._mixed,
            )  # fmt: skip
            total += device.get(parts)[:, unsure == 0].sum(axis=1)
            left.append(first + np.flatnonzero(unsure))
        return total, np.concatenate(left)


def relief_devices(
    resources: Resources, problem: Problem, rows: FloatArray, nominal: NDArray[np.uint8], bounds: IntArray, k: int = 0
) -> list[ReliefDevice]:
    """Bring the rows to the devices asked for; none if the CPU does the work."""
    if resources.device != "cpu" and (k > CAPACITIES[-1] or problem.groups is not None):
        why = "rows have groups" if k <= CAPACITIES[-1] else f"n_neighbors={k} is more than {CAPACITIES[-1]}"
        tell(resources.device, "Relief", why)
        return []
    return on_devices(resources.device, lambda device: ReliefDevice(device, rows, nominal, bounds))


def nearest_lists(devices: list[ReliefDevice], k: int) -> tuple[NDArray[np.int32], FloatArray]:
    """List the k nearest rows of each class of all rows, (n, c, k), and how far they are."""
    parts = deal(devices, lambda on, low, high: on.near(k, low, high), devices[0].n)
    lists, far = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return lists, far


def pooled(lists: NDArray[np.int32], far: FloatArray, codes: IntArray, numbers: IntArray) -> NDArray[np.int32]:
    """Merge the lists of all other classes: (n, 2, k), hits and misses; of equally near rows the smaller number."""
    n, _, k = lists.shape
    rows = np.arange(n)
    hits = lists[rows, codes]
    others, distances = lists.copy(), far.copy()
    others[rows, codes], distances[rows, codes] = -1, np.inf
    others, distances = others.reshape(n, -1), distances.reshape(n, -1)
    distances[others < 0] = np.inf
    order = np.lexsort((numbers[others], distances), axis=1)[:, :k]
    return np.ascontiguousarray(np.stack([hits, np.take_along_axis(others, order, axis=1)], axis=1))
