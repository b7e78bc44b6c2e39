"""Class moments: weights, means and spreads of each column in each class, and of each column with a quantity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from fewer.io.sparse import column_ranges
from fewer.kernels.statistics import (
    add_class_moments,
    add_class_moments_by_code,
    add_class_moments_by_row,
    add_class_sums_by_row,
    add_sparse_moments,
    add_sparse_moments_by_row,
    add_target_moments,
)
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics._base import Statistics

FEW_CLASSES = 6
# Cells for which compiled code, which takes a third of a second to load, is not worth loading.
FEW_CELLS = 20_000
# Rows of a class whose mean is near enough to that of all.
ROWS_FOR_MEAN = 64


class Ranges(Statistics):
    """The smallest and the largest cell of each column; infinite where there is none.

    Parameters
    ----------
    n_columns : int
        How many columns there are.

    Examples
    --------
    >>> ranges = Ranges(1)
    >>> ranges.add(Problem.from_arrays([[3.0], [np.nan], [1.0]], [0, 1, 0]))
    >>> ranges.low, ranges.high
    (array([1.]), array([3.]))
    """

    has_ends = True

    def __init__(self, n_columns: int) -> None:
        self.low, self.high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        low, high = chunk.extremes
        self.low, self.high = np.fmin(self.low, low), np.fmax(self.high, high)


class MissingCells(Statistics):
    """How many cells of each column are missing, whatever their rows weigh.

    Parameters
    ----------
    n_columns : int
        How many columns there are.

    Examples
    --------
    >>> missing = MissingCells(2)
    >>> missing.add(Problem.from_arrays([[1.0, np.nan], [2.0, 5.0]], [0, 1]))
    >>> missing.counts
    array([0., 1.])
    """

    summed = ("counts",)

    def __init__(self, n_columns: int) -> None:
        self.counts = np.zeros(n_columns)

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        self.counts += missing_cells(chunk, np.ones(chunk.n_samples, dtype=bool))


class _Moments(Statistics):
    """What moments have beside their sums: the ends of columns, and the cells that are there in rows with a weight."""

    summed: ClassVar[tuple[str, ...]] = ("n_weighted", "_counts", "ranges")
    mass: FloatArray

    def __init__(self, shift: FloatArray) -> None:
        self.shift, self.n_weighted, self.ranges = shift, 0, Ranges(len(shift))
        self._counts: FloatArray | float = 0.0  # a number where no rows have weights

    def _count(self, chunk: Problem, codes: IntArray) -> None:
        """Count rows that have a weight, and their cells where weights are not counts by themselves."""
        self.n_weighted += int(np.count_nonzero(chunk.row_weights))
        if chunk.sample_weight is None:
            return
        counts = np.zeros_like(self.mass)
        for code in range(counts.shape[1]):
            rows = (codes == code) & (chunk.row_weights > 0)
            counts[:, code] = rows.sum() - missing_cells(chunk, rows)
        self._counts = self._counts + counts

    @property
    def counts(self) -> FloatArray:
        """The number of present cells of each column in each class whose row has a weight."""
        return self.mass if isinstance(self._counts, float) else self._counts

    @property
    def constant(self) -> BoolArray:
        """Which columns hold at most one distinct value."""
        return ~(self.ranges.low < self.ranges.high)


class ClassMoments(_Moments):
    """The weight, the mean and the squared deviations of each column in each class, over its present cells.

    Sums are taken about a shift that is given once (`shift_of`, from some rows), so that merging is adding, and a large
    offset does not swallow small differences.

    Parameters
    ----------
    shift : array of shape (n_columns, n_classes)
        Taken off the cells before they are squared, so that sums stay exact.
    squares : bool, default=True
        Whether more than the `sums` is asked for; otherwise the shift is zero.

    Attributes
    ----------
    mass : array of shape (n_columns, n_classes)
        Sum of the weights of the present cells.
    ranges : Ranges
        The smallest and the largest cell of each column; of a sparse one −1, 0 and 1 may stand for them.
    weight, n_weighted : float, int
        The weight of all rows, and how many have one.

    Examples
    --------
    >>> rows = Problem.from_arrays([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> one, other = (ClassMoments(shift_of(rows)) for _ in range(2))
    >>> one.add(rows.take(np.arange(3)))
    >>> other.add(rows.take(np.arange(3, 4)))
    >>> one.merge(other)
    >>> one.mean.tolist(), one.deviation.tolist()
    ([[2.0, 12.0]], [[2.0, 8.0]])
    """

    summed = (*_Moments.summed, "mass", "weight", "_first", "_second")

    def __init__(self, shift: FloatArray, *, squares: bool = True) -> None:
        super().__init__(shift)
        self.mass, self._first, self._second = (np.zeros(shift.shape) for _ in range(3))
        self.weight, self._squares = 0.0, squares

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        codes = chunk.y.astype(np.int64) if self.shift.shape[1] > 1 else np.zeros(chunk.n_samples, dtype=np.int64)
        self.weight += float(chunk.row_weights.sum())
        self._count(chunk, codes)
        if chunk.sparse is not None:
            self._add_sparse(chunk.sparse, codes, chunk.row_weights)
            return
        self.ranges.add(chunk)
        if chunk.X.flags.c_contiguous and not chunk.has_missing:
            self._add_rows(chunk.X, codes, chunk.row_weights)
            return
        sums = self.shift, self.mass, self._first, self._second
        if self.shift.shape[1] > FEW_CLASSES:
            add_class_moments_by_code(chunk.X, codes, chunk.row_weights, *sums)
        else:
            shares = (codes == np.arange(self.shift.shape[1])[:, None]) * chunk.row_weights
            add_class_moments(chunk.X, shares, *sums)

    def _add_rows(self, X: FloatArray, codes: IntArray, weights: FloatArray) -> None:
        """Add rows without missing cells of a table that lies row by row in memory."""
        p, n_classes = self.shift.shape
        first, second = np.zeros((2, n_classes, p))
        if X.size <= FEW_CELLS:
            for code in range(n_classes):
                rows, class_weights = X[codes == code] - self.shift[:, code], weights[codes == code]
                first[code], second[code] = class_weights @ rows, class_weights @ rows**2
        elif self._squares:
            add_class_moments_by_row(X, codes, weights, np.ascontiguousarray(self.shift.T), first, second)
        else:
            add_class_sums_by_row(X, codes, weights, first)
        self.mass += np.bincount(codes, weights, minlength=n_classes)
        self._first += first.T
        self._second += second.T

    def _add_sparse(self, X: Any, codes: IntArray, weights: FloatArray) -> None:
        """Add rows of a sparse table; its shift is zero, so that cells that are not stored add nothing but weight."""
        self.mass += np.bincount(codes, weights, minlength=self.shift.shape[1])
        if X.format == "csc" or np.isnan(least := np.min(X.data, initial=0.0)):
            X, sums = sparse.csc_array(X), (self.mass, self._first, self._second)
            add_sparse_moments((X.indptr, X.indices, X.data), codes, weights, sums, self.ranges.low, self.ranges.high)
            return
        p, n_classes = self.shift.shape
        moments = np.zeros((p, 2 * n_classes))
        add_sparse_moments_by_row((X.indptr, X.indices, X.data), codes, weights, moments)
        self._first += moments[:, :n_classes]
        self._second += moments[:, n_classes:]
        low, high = np.zeros(p), (across(moments[:, n_classes:]) > 0).astype(np.float64)
        if least < 0:
            low[X.indices[X.data < 0]] = -1.0
        if len(full := _full_columns(X)):
            low[full], high[full] = column_ranges(X[:, full])
        self.ranges.low, self.ranges.high = np.minimum(self.ranges.low, low), np.maximum(self.ranges.high, high)

    @property
    def mean(self) -> FloatArray:
        """The mean of each column in each class; the shift where a class has no cell."""
        return self.shift + _ratio(self._first, self.mass)

    @property
    def deviation(self) -> FloatArray:
        """The sum of squared deviations from the mean of each column in each class."""
        return np.maximum(self._second - self._first * _ratio(self._first, self.mass), 0.0)

    @property
    def sums(self) -> FloatArray:
        """The weighted sum of each column in each class."""
        return np.asarray(self._first + self.shift * self.mass)

    def scatter(self) -> tuple[FloatArray, FloatArray]:
        """Return the scatter between and within classes of each column.

        Returns
        -------
        between, within : arrays of shape (n_columns,)
            Weighted sums of squares.
        """
        mean = self.mean
        middle = _ratio(across(self.mass * mean), across(self.mass))
        return across(self.mass * (mean - middle[:, None]) ** 2), across(self.deviation)


class TargetMoments(_Moments):
    """The joint moments of each column and a quantity, over the column's present cells.

    Parameters
    ----------
    shift : array of shape (n_columns,)
        Taken off the cells before they are squared, so that sums stay exact.
    y_shift : float
        Taken off the target before it is squared, so that sums stay exact.

    Examples
    --------
    >>> rows = Problem.from_arrays([[1.0], [2.0], [4.0]], [1.0, 2.0, 4.0], task="regression")
    >>> moments = TargetMoments(np.zeros(1), 0.0)
    >>> moments.add(rows)
    >>> moments.correlation.round(6).tolist()
    [1.0]
    """

    summed = (*_Moments.summed, "sums")

    def __init__(self, shift: FloatArray, y_shift: float) -> None:
        super().__init__(shift)
        self.y_shift, self.sums = y_shift, np.zeros((len(shift), 6))

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        y = chunk.y.astype(np.float64)
        self.ranges.add(chunk)
        self._count(chunk, np.zeros(len(y), dtype=np.int64))
        if chunk.sparse is not None:
            self._add_sparse(chunk.sparse, y - self.y_shift, chunk.row_weights)
            return
        add_target_moments(chunk.X, y, chunk.row_weights, self.shift, self.y_shift, self.sums)

    def _add_sparse(self, X: Any, t: FloatArray, weights: FloatArray) -> None:
        sides = np.stack([weights, weights * t, weights * t**2], axis=1)
        bare = type(X)((np.where(np.isnan(X.data), 0.0, X.data), X.indices, X.indptr), shape=X.shape)
        missing = type(X)((np.isnan(X.data).astype(np.float64), X.indices, X.indptr), shape=X.shape)
        known = sides.sum(axis=0) - (np.asarray(missing.T @ sides) if missing.data.any() else np.zeros(3))
        products = bare.T @ sides[:, :2]
        bare.data = bare.data**2
        squares = bare.T @ weights
        self.sums[:, [0, 3, 4]] += known
        self.sums[:, 1] += products[:, 0]
        self.sums[:, 2] += squares
        self.sums[:, 5] += products[:, 1]

    @property
    def mass(self) -> FloatArray:  # type: ignore[override]
        """The weight of each column's present cells, as those of one class."""
        return self.sums[:, :1]

    @property
    def correlation(self) -> FloatArray:
        """The correlation of each column with the target; 0 where either does not vary."""
        m, sx, sxx, sy, syy, sxy = self.sums.T
        xx, yy, xy = sxx - sx * _ratio(sx, m), syy - sy * _ratio(sy, m), sxy - sx * _ratio(sy, m)
        scale = np.sqrt(np.maximum(xx, 0.0) * np.maximum(yy, 0.0))
        return np.clip(np.divide(xy, scale, out=np.zeros_like(xy), where=(scale > 0) & ~self.constant), -1.0, 1.0)


class LevelMoments(Statistics):
    """The moments of a quantity in each level of each nominal column.

    Parameters
    ----------
    columns : array of int
        The nominal columns.
    n_levels : int
        As many as the column with most of them has.
    y_shift : float
        Taken off the target before it is squared, so that sums stay exact.

    Attributes
    ----------
    sums : array of shape (n_columns, 4, n_levels)
        Of the present cells whose row has a weight: how many they are; the weights; these times the quantity less its
        shift, and times the square of that.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0], [1.0], [1.0]], [1.0, 2.0, 4.0], task="regression")
    >>> moments = LevelMoments(np.array([0]), 2, 0.0)
    >>> moments.add(rows)
    >>> moments.sums[0].tolist()
    [[1.0, 2.0], [1.0, 2.0], [1.0, 6.0], [1.0, 20.0]]
    """

    summed, has_ends = ("sums",), True

    def __init__(self, columns: IntArray, n_levels: int, y_shift: float) -> None:
        self.columns, self.y_shift = columns, y_shift
        self.sums = np.zeros((len(columns), 4, n_levels))
        self.low, self.high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        t, weights = chunk.y - self.y_shift, chunk.row_weights
        for place, column in enumerate(self.columns.tolist()):
            cells = chunk.X[:, column]
            known = ~np.isnan(cells) & (weights > 0)
            if not known.any():
                continue
            codes, w, targets = cells[known].astype(np.int64), weights[known], t[known]
            for row, values in enumerate((None, w, w * targets, w * targets**2)):
                self.sums[place, row] += np.bincount(codes, values, minlength=self.sums.shape[2])
            self.low[place] = min(self.low[place], targets.min())
            self.high[place] = max(self.high[place], targets.max())


def missing_cells(chunk: Problem, rows: BoolArray) -> FloatArray:
    """Count the missing cells of each column in some rows."""
    if chunk.sparse is None:
        return np.isnan(chunk.X[rows]).sum(axis=0).astype(np.float64)
    X = chunk.sparse
    gaps = type(X)((np.isnan(X.data).astype(np.float64), X.indices, X.indptr), shape=X.shape)
    return np.asarray(gaps.T @ rows.astype(np.float64))


def _full_columns(X: Any) -> IntArray:
    """Return the columns of a table compressed by rows that every row stores; few rows show that there is none."""
    shortest = int(np.argmin(np.diff(X.indptr)))
    left: IntArray = X.indices[X.indptr[shortest] : X.indptr[shortest + 1]]
    for row in range(min(8, X.shape[0])):
        left = np.intersect1d(left, X.indices[X.indptr[row] : X.indptr[row + 1]], assume_unique=True)
    return left[np.bincount(X.indices)[left] == X.shape[0]] if len(left) else left


def shift_of(rows: Problem) -> FloatArray:
    """Return the mean of each column in each class of some rows, as a shift for the moments of many: (p, n_classes).

    A class that these rows lack gets the mean of all of them; a sparse table gets zeros.
    """
    n_classes = max(rows.n_classes, 1)
    if rows.sparse is not None:
        return np.zeros((rows.n_features, n_classes))
    present = ~np.isnan(rows.X)
    cells = np.where(present, rows.X, 0.0)
    total = _ratio(cells.sum(axis=0), present.sum(axis=0).astype(np.float64))
    shift = np.repeat(total[:, None], n_classes, axis=1)
    if rows.task == "classification":
        for code in range(n_classes):
            in_class = rows.y == code
            count = present[in_class].sum(axis=0)
            shift[:, code] = np.where(count > 0, cells[in_class].sum(axis=0) / np.maximum(count, 1), total)
    return shift


def head(rows: Problem) -> Problem:
    """Return the first rows of each class, or of all: enough for a shift near the means."""
    if rows.task != "classification":
        return rows.take(np.arange(min(ROWS_FOR_MEAN, rows.n_samples)))
    order = np.argsort(rows.y, kind="stable")
    starts = np.searchsorted(rows.y[order], np.arange(rows.n_classes))
    place = np.arange(len(order)) - starts[rows.y[order]]
    return rows.take(np.sort(order[place < ROWS_FOR_MEAN]))


def across(table: Any) -> FloatArray:
    """Sum over the classes, which are few: column by column is several times faster than numpy's sum of short rows."""
    total = np.zeros(len(table))
    for column in table.T:
        total += column
    return total


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
