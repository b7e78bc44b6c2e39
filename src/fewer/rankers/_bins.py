"""Columns as codes, and what they say about the target and each other: in memory, sparse, or read in chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from fewer.contracts import Resources
from fewer.io import Stream
from fewer.kernels.information import Other, Stored, impurity_with, information_with, information_with_sparse
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics import Bins, JointCounts, PairCounts, RowSample, SampledLevels, collect, information

Codes = NDArray[np.int32]
BINNED_AT_ONCE = 4096
ORDERED_TOGETHER = 2000  # Up to so many, columns are ordered together: one by one, calls take longer than the sorting.
ORDERED_CELLS = 1 << 18  # Of columns that are ordered together.
CUT_ROWS = 100_000
PASSES_FOR_PAIRS = 20  # Counting one pair costs a twentieth of reading a cell again: so many pairs are worth a pass.


class ColumnCodes(ABC):
    """Columns and target as codes, and the information between them in nats; subclasses say how columns are kept."""

    levels: IntArray

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        self.target, self.n_target = problem.y.astype(np.int32), max(problem.n_classes, 1)
        if problem.task == "regression":
            self.target, self.n_target = to_codes(problem.y, n_bins, False)
        self.weights, self._n_jobs = problem.row_weights, n_jobs

    @abstractmethod
    def column(self, feature: int) -> Codes:
        """Return the codes of one column, all rows."""

    @abstractmethod
    def with_codes(self, codes: Codes, n_codes: int) -> FloatArray:
        """Return the information of every feature and one vector of codes."""

    @property
    @abstractmethod
    def entropies(self) -> FloatArray:
        """H(f) of every feature f."""

    def relevance(self, target: Codes | None = None) -> FloatArray:
        """Return I(C; f) of every feature."""
        return self.with_codes(self.target if target is None else target, self.n_target)

    def redundancy(self, feature: int) -> FloatArray:
        """Return I(f; s) of every feature f with one feature s."""
        return self.with_codes(self.column(feature), int(self.levels[feature]))

    def conditional(self, feature: int) -> FloatArray:
        """Return I(f; C | s) = I(f; (s, C)) − I(f; s) of every feature f, given one feature s."""
        return np.maximum(self.with_codes(*self._pair(feature)) - self.redundancy(feature), 0.0)

    def entropy(self, feature: int) -> FloatArray:
        """Return H(f, s, C) of every feature f, with one feature s and the target."""
        pair, n_pair = self._pair(feature)
        return self.entropies + entropy(np.bincount(pair, self.weights)) - self.with_codes(pair, n_pair)

    def _pair(self, feature: int) -> tuple[Codes, int]:
        pair = self.column(feature) * np.int32(self.n_target) + self.target
        return pair, int(self.levels[feature]) * self.n_target

    def _in_blocks(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Let a kernel, given the first feature and the one after the last, run on blocks of features in threads."""
        p = len(self.levels)
        edges = np.linspace(0, p, max(min(self._n_jobs, p), 1) + 1).astype(np.int64)
        in_threads(lambda block: kernel(*block, *arguments), list(pairwise(edges.tolist())), self._n_jobs)


class FeatureBins(ColumnCodes):
    """Columns and target as integer codes, and the information between them.

    A column with at most `n_bins` values, or a nominal one, keeps them; others are cut into bins that hold about as
    many rows each. Missing cells are a level of their own.
    """

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        super().__init__(problem, n_bins, n_jobs)
        nominal = problem.nominal
        self.codes: Codes = np.empty((problem.n_features, problem.n_samples), dtype=np.int32)
        self.levels = np.empty(problem.n_features, dtype=np.int64)
        for low in range(0, problem.n_features, BINNED_AT_ONCE):
            # Block by block: a whole table turned round is one table more.
            block = np.ascontiguousarray(problem.X[:, low : low + BINNED_AT_ONCE].T)
            is_coded = self._rank_block(block, low, n_bins, nominal[low : low + BINNED_AT_ONCE])
            for f in np.flatnonzero(~is_coded).tolist():
                self.codes[low + f], self.levels[low + f] = to_codes(block[f], n_bins, bool(nominal[low + f]))

    def _rank_block(self, block: FloatArray, low: int, n_bins: int, nominal: BoolArray) -> BoolArray:
        """Code columns of many different values together, by their ranks; return which columns that did."""
        n, is_coded = block.shape[1], np.zeros(len(block), dtype=bool)
        if not n_bins < n <= ORDERED_TOGETHER or len(block) < 2:
            return is_coded
        middle = (2 * np.arange(n) + 1) * n_bins // (2 * n)
        ranked = np.append(0, np.cumsum(np.diff(middle) > 0)).astype(np.int32)
        step = max(ORDERED_CELLS // n, 1)
        for first in range(0, len(block), step):
            columns = block[first : first + step]
            order = np.argsort(columns, axis=1)
            values = np.take_along_axis(columns, order, axis=1)
            clear = (values[:, 1:] > values[:, :-1]).all(axis=1) & np.isfinite(values[:, [0, -1]]).all(axis=1)
            clear &= ~nominal[first : first + step]
            codes = np.empty(order.shape, dtype=np.int32)
            np.put_along_axis(codes, order, ranked[None], axis=1)
            places = low + first + np.flatnonzero(clear)
            self.codes[places], self.levels[places] = codes[clear], ranked[-1] + 1
            is_coded[first : first + step] = clear
        return is_coded

    def column(self, feature: int) -> Codes:
        """Return the codes of one column."""
        return self.codes[feature]

    @property
    def entropies(self) -> FloatArray:
        """H(f) of every feature f."""
        return np.array([entropy(np.bincount(codes, self.weights)) for codes in self.codes])

    def with_codes(self, codes: Codes, n_codes: int) -> FloatArray:
        """Return the information of every feature and one vector of codes."""
        out = np.zeros(len(self.codes))
        self._in_blocks(information_with, self.codes, self.levels, codes, n_codes, self.weights, out)
        return out


class ImpurityBins(FeatureBins):
    """Bins whose relevance is the Gini impurity that a feature takes from the target."""

    def relevance(self, target: Any = None) -> FloatArray:
        """Return the impurity that every feature takes from the target, or from a shuffled one."""
        return self._taken(np.zeros_like(self.target), 1, self.target if target is None else target)

    def impurity(self, feature: int) -> FloatArray:
        """Return the impurity that every feature takes from the target together with one feature."""
        return self._taken(self.codes[feature], int(self.levels[feature]), self.target)

    def _taken(self, other: Codes, n_other: int, target: Codes) -> FloatArray:
        columns, beside, aim = (self.codes, self.levels), (other, n_other), (target, self.n_target)
        out = np.zeros(len(self.levels))
        self._in_blocks(lambda *block: impurity_with(block, columns, beside, aim, self.weights, out))
        return out


class SparseBins(ColumnCodes):
    """Columns and target as codes, and the information between them, as `FeatureBins` has it, without a dense table."""

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        super().__init__(problem, n_bins, n_jobs)
        table = csc_array(problem.sparse)
        starts, rows = table.indptr.astype(np.int64), table.indices.astype(np.int64)
        codes, empty, levels = np.empty(table.nnz, dtype=np.uint16), *np.zeros((2, problem.n_features), dtype=np.int64)
        for f in range(problem.n_features):
            edges, _ = bin_edges(problem.column(f), n_bins, False)
            cells = table.data[starts[f] : starts[f + 1]]
            missing, bins = np.isnan(cells), np.searchsorted(edges, cells, side="right")
            codes[starts[f] : starts[f + 1]] = np.where(missing, len(edges) + 1, bins)
            empty[f] = np.searchsorted(edges, 0.0, side="right")
            levels[f] = len(edges) + 1 + bool(missing.any())
        self.levels, self._columns = levels, Stored(starts, rows, codes, empty, levels)

    def column(self, feature: int) -> Codes:
        """Return the codes of one column, all rows."""
        starts, rows, stored, empty, _ = self._columns
        codes = np.full(len(self.target), empty[feature], dtype=np.int32)
        cells = slice(starts[feature], starts[feature + 1])
        codes[rows[cells]] = stored[cells]
        return codes

    @cached_property
    def entropies(self) -> FloatArray:
        """H(f) of every feature f."""
        return self._with(self.target, self.n_target)[1]

    def with_codes(self, codes: Codes, n_codes: int) -> FloatArray:
        """Return the information of every feature and one vector of codes."""
        return self._with(codes, n_codes)[0]

    def _with(self, codes: Codes, n_codes: int) -> tuple[FloatArray, FloatArray]:
        """Return the information of every feature and one vector of codes, and every feature's entropy."""
        out, entropies = np.zeros((2, len(self.levels)))
        other = Other(codes, np.bincount(codes, self.weights, minlength=n_codes), self.weights)
        self._in_blocks(information_with_sparse, self._columns, other, out, entropies)
        return out, entropies


def to_codes(values: NDArray[np.float64], n_bins: int, nominal: bool) -> tuple[Codes, int]:
    """Return a column as codes 0, 1, …, and how many codes there may be.

    Examples
    --------
    >>> to_codes(np.array([5.0, 7.0, np.nan, 5.0]), 10, False)
    (array([0, 1, 2, 0], dtype=int32), 3)
    """
    edges, n_present = bin_edges(values, n_bins, nominal)
    codes = _count_below(edges, values)
    if n_present < len(values):
        codes[np.isnan(values)] = len(edges) + 1
        return codes, len(edges) + 2
    return codes, len(edges) + 1


def bin_edges(values: NDArray[np.float64], n_bins: int, nominal: bool) -> tuple[FloatArray, int]:
    """Return where a column is cut, a value being in the bin of the edges that it reaches, and its present cells.

    Examples
    --------
    >>> bin_edges(np.array([5.0, 7.0, np.nan, 5.0]), 10, False)
    (array([7.]), 3)
    """
    ordered = np.sort(values)  # NaN comes last
    n_present = len(values) - int(np.isnan(values).sum())
    present = ordered[:n_present]
    first = np.flatnonzero(np.diff(present, prepend=-np.inf) > 0) if n_present else np.empty(0, dtype=np.int64)
    if nominal or len(first) <= n_bins:
        return present[first][1:], n_present
    # A value goes to the bin of the middle of the ranks that its rows take up.
    middle = (first + np.append(first[1:], n_present)) * n_bins // (2 * n_present)
    return present[first[np.flatnonzero(np.diff(middle)) + 1]], n_present


def _count_below(edges: FloatArray, values: FloatArray) -> Codes:
    """Count, for each value, the edges that it reaches; a few edges are compared faster than searched."""
    if len(edges) > 32:
        return np.searchsorted(edges, values, side="right").astype(np.int32)
    codes = np.zeros(len(values), dtype=np.int8)
    for edge in edges:
        codes += values >= edge
    return codes.astype(np.int32)


def joint_counts(one: IntArray, other: IntArray, weights: FloatArray | None = None) -> FloatArray:
    """Count how often each code 0, 1, … of one array meets each code of another.

    Parameters
    ----------
    one, other : int arrays
        Codes from 0, one for each row.
    weights : array, optional
        How much each row counts.

    Returns
    -------
    array of shape (n_codes, n_other)

    Examples
    --------
    >>> joint_counts(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1])).tolist()
    [[0.0, 2.0], [1.0, 1.0]]
    """
    if len(one) == 0:
        return np.zeros((1, 1))
    width = int(other.max()) + 1
    counts = np.bincount(one * width + other, weights, minlength=(int(one.max()) + 1) * width)
    return counts.reshape(-1, width).astype(np.float64)


def entropy(counts: NDArray[Any]) -> float:
    """Return the entropy of counts, in nats.

    Examples
    --------
    >>> entropy(np.array([2.0, 2.0, 0.0]))
    0.6931471805599453
    """
    shares = counts[counts > 0] / max(float(counts.sum()), 1e-300)
    return max(float(-(shares * np.log(shares)).sum()), 0.0)


def count_information(one: FloatArray, other: FloatArray, weights: FloatArray) -> float:
    """Return the mutual information of two columns of codes."""
    out = np.zeros(1)
    codes = one.astype(np.int32)[None]
    levels = np.array([int(one.max()) + 1])
    information_with(0, 1, codes, levels, other.astype(np.int32), int(other.max()) + 1, weights, out)
    return float(out[0])


def quantile_bins(
    stream: Stream, n_bins: int, rng: np.random.Generator, resources: Resources
) -> tuple[Bins, BoolArray, float]:
    """Cut columns of many values into bins of about as many rows each, by a pass; also say which are constant.

    Columns with at most `n_bins` values keep them. Edges come from a sample of the rows, all of them if they are few.
    """
    like = stream.like
    sample = new_sample(stream, rng, resources)
    drawn, levels = collect(stream, lambda: (sample.empty(), SampledLevels(like.n_features, n_bins)), resources)
    rows = drawn.rows
    edges, constant = [], np.zeros(like.n_features, dtype=bool)
    for column in range(like.n_features):
        values = levels.values(column)
        if values is not None:
            constant[column] = len(values) < 2
        to_cut = rows.X[:, column] if values is None or like.nominal[column] else values
        edges.append(np.empty(0) if like.nominal[column] else bin_edges(to_cut, n_bins, False)[0])
    target = bin_edges(rows.y, n_bins, False)[0] if like.task == "regression" else None
    return Bins.of(like, edges, target), constant, drawn.error_in(stream.n_samples)


def new_sample(stream: Stream, rng: np.random.Generator, resources: Resources) -> RowSample:
    """Return an empty sample as large as is useful and as memory allows."""
    n_rows = min(CUT_ROWS, max(resources.memory // (32 * max(stream.n_features, 1)), 1000))
    return RowSample.of_classes(stream.class_counts, n_rows, int(rng.integers(2**63)))


class CountedInformation:
    """The information between columns and target, from joint counts over all rows.

    All pairs are counted in one pass where the counts fit; otherwise each column that is asked about costs a pass.
    """

    def __init__(self, stream: Stream, bins: Bins, resources: Resources, n_ranked: int | None) -> None:
        self._stream, self._bins, self._resources = stream, bins, resources
        p = len(bins.edges)
        n_asked = p if n_ranked is None else min(n_ranked, p)
        fits = 8 * int(PairCounts.sizes(bins).sum()) <= resources.memory // 2
        self._pairs: PairCounts | None = None
        if fits and (p - 1) / 2 <= PASSES_FOR_PAIRS * n_asked:
            self._counts, self._pairs = collect(stream, lambda: (JointCounts(bins), PairCounts(bins)), resources)
        else:
            self._counts = collect(stream, partial(JointCounts, bins), resources)
        self._given: dict[int, list[FloatArray]] = {}

    @property
    def missing(self) -> FloatArray:
        """The share of missing cells of each column."""
        return self._counts.missing

    @property
    def _columns(self) -> range:
        return range(len(self._bins.edges))

    def relevance(self, target: Any = None) -> FloatArray:
        """Return I(C; f) of every feature."""
        return np.array([information(self._counts.table(f)) for f in self._columns])

    def redundancy(self, feature: int) -> FloatArray:
        """Return I(f; s) of every feature f with one feature s."""
        return np.array([information(table.sum(axis=2)) for table in self._tables(feature)])

    def conditional(self, feature: int) -> FloatArray:
        """Return I(f; C | s) = I(f; (s, C)) − I(f; s) of every feature f, given one feature s."""
        tables = self._tables(feature)
        both = np.array([information(table.reshape(len(table), -1)) for table in tables])
        return np.maximum(both - np.array([information(table.sum(axis=2)) for table in tables]), 0.0)

    def entropy(self, feature: int) -> FloatArray:
        """Return H(f, s, C) of every feature f, with one feature s."""
        return np.array([entropy(table) for table in self._tables(feature)])

    def _tables(self, given: int) -> list[FloatArray]:
        """Return (codes of f, codes of s, codes of the target) for every f and one s; a feature with itself has one."""
        if given not in self._given:
            self._given.clear()
            itself = self._counts.table(given)[:, None, :]
            if self._pairs is not None:
                tables = [itself if f == given else self._pairs.tables_given(f, given) for f in self._columns]
            else:
                counts = collect(self._stream, partial(JointCounts, self._bins, given), self._resources)
                tables = [itself if f == given else counts.tables_given(f) for f in self._columns]
            self._given[given] = tables
        return self._given[given]


class CountedImpurity(CountedInformation):
    """The impurity that columns take from the target, from joint counts over all rows."""

    def relevance(self, target: Any = None) -> FloatArray:
        """Return what every feature takes by itself."""
        return np.array([_taken(self._counts.table(f)) for f in self._columns])

    def impurity(self, feature: int) -> FloatArray:
        """Return what every feature takes together with one feature."""
        return np.array([_taken(table.reshape(-1, table.shape[2])) for table in self._tables(feature)])


def _taken(table: FloatArray) -> float:
    """Return Σ p(f, c)² / p(f) − Σ p(c)² of a table of counts (f, c)."""
    mass = table.sum(axis=1)
    after = ((table[mass > 0] ** 2).sum(axis=1) / mass[mass > 0]).sum() / table.sum()
    return max(float(after - ((table.sum(axis=0) / table.sum()) ** 2).sum()), 0.0)
