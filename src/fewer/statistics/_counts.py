"""Joint counts of bins: of each column with the target, and of each pair of columns with the target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.statistics import code_columns, count_pairs, count_with
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.statistics._base import Statistics
from fewer.statistics._folds import DealtFolds

# Codes are numbers of two bytes.
TWO_BYTE_CODES = 65_000


@dataclass(frozen=True, eq=False)
class Bins:
    """How the columns (and a quantity as target) are cut: a cell's bin is the number of edges that it reaches.

    Parameters
    ----------
    edges : list of float arrays
        Ascending, one array a column; none for a nominal column.
    nominal : bool array
        Columns whose cells are codes already.
    n_levels : int array
        Levels of nominal columns; bins elsewhere.
    target_edges : float array, optional
        Where a quantity is cut; None for classes.
    n_classes : int
        Classes of the target; 0 for a quantity.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    >>> bins = Bins.of(rows, [np.array([1.5])])
    >>> bins.codes(rows, np.array([0])).tolist()
    [[0, 0, 1]]
    """

    edges: list[FloatArray]
    nominal: BoolArray
    n_levels: IntArray
    target_edges: FloatArray | None
    n_classes: int

    @classmethod
    def of(cls, rows: Problem, edges: list[FloatArray], target_edges: FloatArray | None = None) -> Bins:
        """Take kinds and levels from rows of the table.

        Parameters
        ----------
        rows : Problem
            Some rows of the table.
        edges : list of float arrays
            One array a column; those of nominal columns do not matter.
        target_edges : float array, optional
            Where a quantity as target is cut.

        Returns
        -------
        Bins
            The cuts.
        """
        bare = [np.empty(0) if nominal else cuts for cuts, nominal in zip(edges, rows.nominal, strict=True)]
        n_levels = [len(rows.levels[f]) if rows.nominal[f] else len(cuts) + 1 for f, cuts in enumerate(bare)]
        if max(n_levels, default=0) > TWO_BYTE_CODES:
            widest = rows.names[int(np.argmax(n_levels))]
            raise InputError(
                f"Column {widest!r} has {max(n_levels):,} levels, and {TWO_BYTE_CODES:,} can be counted; drop it."
            )
        return cls(bare, rows.nominal, np.array(n_levels, dtype=np.int64), target_edges, rows.n_classes)

    @property
    def n_target(self) -> int:
        """How many codes the target has."""
        return max(self.n_classes, 1) if self.target_edges is None else len(self.target_edges) + 1

    @property
    def n_codes(self) -> IntArray:
        """How many codes each column has: its levels, and one for missing cells."""
        return self.n_levels + 1

    @cached_property
    def table(self) -> FloatArray:
        """The edges as one array, a row for each column, the rest NaN."""
        widest = max((len(cuts) for cuts in self.edges), default=0)
        out = np.full((len(self.edges), max(widest, 1)), np.nan)
        for row, cuts in zip(out, self.edges, strict=True):
            row[: len(cuts)] = cuts
        return out

    def codes(self, chunk: Problem, columns: IntArray) -> NDArray[np.uint16]:
        """Return the codes of some columns: (n_columns, n_samples).

        Parameters
        ----------
        chunk : Problem
            Some rows of the table.
        columns : int array
            Which columns.

        Returns
        -------
        array of shape (n_columns, n_samples)
            The bins, or levels; a missing cell has a code of its own.
        """
        out = np.empty((len(columns), chunk.n_samples), dtype=np.uint16)
        n_edges = np.array([len(cuts) for cuts in self.edges], dtype=np.int64)
        code_columns(chunk.X, columns, self.table, n_edges, self.nominal, self.n_codes, out)
        return out

    def target(self, chunk: Problem) -> IntArray:
        """Return the codes of the target.

        Parameters
        ----------
        chunk : Problem
            Some rows of the table.

        Returns
        -------
        int array of shape (n_samples,)
            Classes, or bins of a quantity.
        """
        if self.target_edges is None:
            return chunk.y.astype(np.int64)
        return np.searchsorted(self.target_edges, chunk.y, side="right").astype(np.int64)


class _Counts(Statistics):
    """Counts of some tables, one after the other in one array."""

    summed = ("_counts",)

    def __init__(self, bins: Bins, sizes: IntArray) -> None:
        self.bins = bins
        self._starts = np.append(0, np.cumsum(sizes))
        self._counts = np.zeros(int(self._starts[-1]))

    def _own(self, place: int) -> FloatArray:
        return self._counts[self._starts[place] : self._starts[place + 1]]


class JointCounts(_Counts):
    """How often each column's codes meet each code of the target, or of the target joined with a column or a fold.

    Parameters
    ----------
    bins : Bins
        Where the columns are cut.
    given : int or DealtFolds, optional
        Count with the pair of this column, or of the fold of the row, and the target instead of the target alone.
    columns : int array, optional
        The columns to count, ascending; all by default.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0], [1.0], [2.0], [np.nan]], ["a", "b", "b", "b"])
    >>> bins = Bins.of(rows, [np.array([1.5])])
    >>> counts, in_folds = JointCounts(bins), JointCounts(bins, DealtFolds(2))
    >>> counts.add(rows)
    >>> in_folds.add(rows)
    >>> counts.table(0).tolist(), bool((in_folds.tables_given(0).sum(axis=1) == counts.table(0)).all())
    ([[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]], True)
    """

    def __init__(self, bins: Bins, given: int | DealtFolds | None = None, columns: IntArray | None = None) -> None:
        self.given = given
        self.columns = np.arange(len(bins.edges)) if columns is None else columns
        n_given = given.n_cells if isinstance(given, DealtFolds) else 1 if given is None else int(bins.n_codes[given])
        self.n_other = bins.n_target * n_given
        super().__init__(bins, bins.n_codes[self.columns] * self.n_other)

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        codes, other, n_codes = self.bins.codes(chunk, self.columns), self.bins.target(chunk), self.bins.n_codes
        if isinstance(self.given, DealtFolds):
            other = self.given.cells(chunk, part, start) * self.bins.n_target + other
        elif self.given is not None:
            given = self.bins.codes(chunk, np.array([self.given]))[0]
            other = given.astype(np.int64) * self.bins.n_target + other
        count_with(codes, n_codes[self.columns], self._starts, other, self.n_other, chunk.row_weights, self._counts)

    def table(self, column: int) -> FloatArray:
        """Return the counts of one column: (codes, codes of the other).

        Parameters
        ----------
        column : int
            Which column.

        Returns
        -------
        array of shape (n_codes, n_other)
            The counts.
        """
        return self._own(int(np.searchsorted(self.columns, column))).reshape(-1, self.n_other)

    @property
    def missing(self) -> FloatArray:
        """The share of missing cells of each counted column."""
        tables = [self.table(int(column)) for column in self.columns]
        return np.array([table[-1].sum() / max(table.sum(), 1e-300) for table in tables])

    def tables_given(self, column: int) -> FloatArray:
        """Return the counts of one column as (codes, codes of the given column or folds, codes of the target).

        Parameters
        ----------
        column : int
            Which column.

        Returns
        -------
        array of shape (n_codes, n_given, n_target)
            The counts.
        """
        return self.table(column).reshape(-1, self.n_other // self.bins.n_target, self.bins.n_target)


class PairCounts(_Counts):
    """How often the codes of each pair of columns and of the target meet, in one pass.

    Parameters
    ----------
    bins : Bins
        How the columns are cut.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], ["a", "b", "b"])
    >>> counts = PairCounts(Bins.of(rows, [np.array([1.5]), np.array([0.5])]))
    >>> counts.add(rows)
    >>> counts.tables_given(0, 1).sum()
    np.float64(3.0)
    """

    def __init__(self, bins: Bins) -> None:
        super().__init__(bins, self.sizes(bins))

    @staticmethod
    def sizes(bins: Bins) -> IntArray:
        """Return the number of counts of each pair f < s, ordered by s, then f.

        Parameters
        ----------
        bins : Bins
            How the columns are cut.

        Returns
        -------
        int array
            One number a pair.
        """
        codes = bins.n_codes
        pairs = [codes[:s] * codes[s] * bins.n_target for s in range(1, len(codes))]
        return np.concatenate([np.zeros(0, dtype=np.int64), *pairs])

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        codes = self.bins.codes(chunk, np.arange(chunk.n_features))
        target, n_target = self.bins.target(chunk), self.bins.n_target
        count_pairs(codes, self.bins.n_codes, self._starts, target, n_target, chunk.row_weights, self._counts)

    def tables_given(self, column: int, given: int) -> FloatArray:
        """Return the counts of one column as (codes, codes of the given one, codes of the target).

        Parameters
        ----------
        column, given : int
            Which columns.

        Returns
        -------
        array of shape (n_codes, n_given, n_target)
            The counts.
        """
        f, s = sorted((column, given))
        shape = int(self.bins.n_codes[s]), self.bins.n_target, int(self.bins.n_codes[f])
        shaped = self._own(s * (s - 1) // 2 + f).reshape(shape)
        return shaped.transpose(2, 0, 1) if column == f else shaped.transpose(0, 2, 1)


def information(table: FloatArray) -> float:
    """Return the mutual information, in nats, of the two codes of a table of joint counts.

    Parameters
    ----------
    table : array of shape (n_codes, n_other)
        Joint counts, or masses.

    Returns
    -------
    float
        0 if the two are independent.

    Examples
    --------
    >>> round(information(np.array([[2.0, 0.0], [0.0, 2.0]])), 6)
    0.693147
    """
    total = float(table.sum())
    if total <= 0:
        return 0.0
    parts = _x_log_x(table) - _x_log_x(table.sum(axis=1)) - _x_log_x(table.sum(axis=0))
    return max(parts / total + float(np.log(total)), 0.0)


def _x_log_x(counts: FloatArray) -> float:
    positive = counts[counts > 0]
    return float((positive * np.log(positive)).sum())
