"""A table that came as a sparse matrix, and stays one for whoever can work on it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fewer.errors import InputError
from fewer.io.memory import amount, available_memory
from fewer.problem import FloatArray, IntArray, Problem


@dataclass(frozen=True, eq=False, repr=False)
class SparseProblem(Problem):
    """A problem whose table is sparse: `sparse` holds it as it came, `X` is made dense when it is asked for.

    Cells that are not stored are zeros. All columns are numeric.

    Parameters
    ----------
    y, task, names, kinds, classes, levels, sample_weight, groups, time, notes, suspicions, schema, row_numbers : object
        What belongs to the rows and the columns, as in `Problem`.
    sparse : CSC or CSR array of shape (n_samples, n_features)
        The table.

    Examples
    --------
    >>> dense = Problem.from_arrays([[0.0, 1.0], [2.0, 0.0]], [0, 1])
    >>> SparseProblem.of(dense, sparse.csr_array(dense.X)).sparse.nnz
    2
    """

    X: FloatArray = field(init=False)

    @classmethod
    def of(cls, problem: Problem, table: Any) -> SparseProblem:
        """Return a problem with its table replaced by a sparse one.

        Parameters
        ----------
        problem : Problem
            Names, kinds, target and what belongs to the rows.
        table : sparse matrix of shape (n_samples, n_features)
            The cells.

        Returns
        -------
        SparseProblem
            The rows.
        """
        kept = {f.name: getattr(problem, f.name) for f in fields(problem) if f.name not in ("X", "sparse")}
        return cls(**kept, sparse=compressed(table))

    def __repr__(self) -> str:
        return f"SparseProblem(<{self.n_samples} × {self.n_features}, {self.sparse.nnz} stored>, task={self.task!r})"

    def __getattr__(self, name: str) -> Any:
        if name != "X":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        dense = self.dense()
        object.__setattr__(self, "X", dense)
        return dense

    def dense(self) -> FloatArray:
        """Return the table as an array; one that does not fit into memory is refused with its size.

        Returns
        -------
        array of shape (n_samples, n_features)
            A copy.
        """
        n_bytes = 8 * self.n_samples * self.n_features
        if n_bytes > available_memory():
            raise InputError(
                f"This needs the sparse table as a dense one of {amount(n_bytes)}, and {amount(available_memory())} "
                "are free; choose a criterion or ranker that works on sparse tables, or a prefilter."
            )
        return np.asarray(self.sparse.toarray(), order="C")

    def column(self, feature: int) -> FloatArray:
        cells = np.zeros(self.n_samples)
        low, high = self.by_column.indptr[feature : feature + 2]
        cells[self.by_column.indices[low:high]] = self.by_column.data[low:high]
        return cells

    def as_dense(self) -> Problem:
        return self._plain(self.X)

    def narrowed(self, columns: NDArray[Any]) -> Problem:
        """Return the problem on some of its columns, as an array.

        Parameters
        ----------
        columns : int array
            Which to keep.

        Returns
        -------
        Problem
            Dense.
        """
        dense = self._plain(np.asarray(self.by_column[:, columns].toarray(), order="C"))
        return replace(
            dense, names=tuple(self.names[int(c)] for c in columns), kinds=tuple(self.kinds[int(c)] for c in columns)
        )

    def _plain(self, X: FloatArray) -> Problem:
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("X", "sparse")}
        return Problem(X=X, **kept)

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.sparse.shape[0])

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return int(self.sparse.shape[1])

    @cached_property
    def by_column(self) -> Any:
        """The table as a CSC array."""
        return sparse.csc_array(self.sparse)

    @cached_property
    def n_missing(self) -> IntArray:
        """How many cells of each column are missing."""
        gone = np.flatnonzero(np.isnan(self.by_column.data)) if self.has_missing else np.zeros(0, dtype=np.int64)
        columns = np.searchsorted(self.by_column.indptr, gone, side="right") - 1 if len(gone) else gone
        return np.bincount(columns, minlength=self.n_features)

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and largest cell of each column; infinite, and the wrong way round, where there is none."""
        return column_ranges(self.by_column)

    def take(self, rows: NDArray[Any]) -> SparseProblem:
        return replace(self, sparse=self.sparse.tocsr()[rows], **self.beside(rows))


def compressed(table: Any) -> Any:
    """Return a sparse table as a CSR array where it is one, else as a CSC array, of numbers, each cell stored once.

    Examples
    --------
    >>> compressed(sparse.coo_array([[0, 2]])).format
    'csc'
    """
    kind = sparse.csr_array if table.format == "csr" else sparse.csc_array
    result = table if isinstance(table, kind) and table.dtype == np.float64 else kind(table, dtype=np.float64)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def surely_varies(table: Any) -> bool:
    """Say whether the column of the first number that is not 0 has cells that are not stored: a look at few cells.

    Examples
    --------
    >>> surely_varies(sparse.csr_array([[0.0, 2.0], [0.0, 0.0]])), surely_varies(sparse.csr_array([[2.0], [2.0]]))
    (True, False)
    """
    places = np.flatnonzero(np.nan_to_num(table.data[:1000]))
    if not len(places):
        return False
    if table.format == "csr":
        column, n = table.indices[places[0]], table.shape[0]
        first = (min(n, 1000), n)
        return any(np.count_nonzero(table.indices[: table.indptr[rows]] == column) < rows for rows in first)
    column = np.searchsorted(table.indptr, places[0], side="right") - 1
    return bool(table.indptr[column + 1] - table.indptr[column] < table.shape[0])


def column_ranges(table: Any) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest cell of each column of a sparse table, cells that are not stored being zeros.

    Examples
    --------
    >>> column_ranges(sparse.csc_array([[0.0, 2.0], [-1.0, 3.0]]))
    (array([-1.,  2.]), array([0., 3.]))
    """
    table = sparse.csc_array(table)
    stored = np.diff(table.indptr)
    low, high = np.full(table.shape[1], np.inf), np.full(table.shape[1], -np.inf)
    full = stored > 0
    if full.any():
        places = table.indptr[:-1][full]
        low[full] = np.fmin.reduceat(table.data, places)
        high[full] = np.fmax.reduceat(table.data, places)
    low, high = np.where(np.isnan(low), np.inf, low), np.where(np.isnan(high), -np.inf, high)
    gaps = stored < table.shape[0]
    low[gaps], high[gaps] = np.minimum(low[gaps], 0.0), np.maximum(high[gaps], 0.0)
    return low, high
