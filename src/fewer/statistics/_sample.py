"""A sample of the rows, and few distinct values, both drawn while reading."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.statistics import add_levels
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics._base import Statistics
from fewer.statistics._folds import DealtFolds, row_keys

# The chance that a stated rank error does not hold.
SURE = 1e-6


class RowSample(Statistics):
    """The rows with the smallest random keys of each class: a stratified sample without replacement, and it merges.

    A row's key depends on its place alone, so the sample does not depend on chunks, threads or workers. As a sketch of
    quantiles it has the rank error of Dvoretzky, Kiefer and Wolfowitz.

    Parameters
    ----------
    quota : array of int
        How many rows to keep of each class (of all rows: one number).
    seed : int
        Of all that is random.
    reserve : DealtFolds, optional
        Rows of its first fold alone are drawn: where rows have groups, all rows of some of these.

    Examples
    --------
    >>> rows = Problem.from_arrays(np.arange(100.0)[:, None], np.arange(100) % 2)
    >>> sample = RowSample(np.array([5, 3]), seed=0)
    >>> sample.add(rows)
    >>> np.bincount(sample.rows.y).tolist()
    [5, 3]
    """

    def __init__(self, quota: IntArray, seed: int, reserve: DealtFolds | None = None) -> None:
        self.quota, self.seed, self.reserve = quota, seed, reserve
        self._parts: list[tuple[NDArray[np.uint64], Problem]] = []
        self._bound = np.full(len(quota), np.iinfo(np.uint64).max, dtype=np.uint64)
        self._n_held = 0

    @classmethod
    def of_classes(cls, class_counts: IntArray, n_rows: int, seed: int, least: int = 2) -> RowSample:
        """Keep about `n_rows` rows, each class by its share, but a least number of each where it has so many.

        Parameters
        ----------
        class_counts : int array of shape (n_classes,)
            Rows of each class in the table.
        n_rows : int
            About how many rows to keep.
        seed : int
            Draws them.
        least : int, default=2
            How many of each class at the least.

        Returns
        -------
        RowSample
            Without rows yet.
        """
        share = np.ceil(n_rows * class_counts / max(class_counts.sum(), 1)).astype(np.int64)
        return cls(np.minimum(np.maximum(share, least), np.maximum(class_counts, 1)), seed)

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        keys = row_keys(part, start, chunk.n_samples, self.seed)
        drawn = keys <= self._bound[self._strata(chunk)]
        if self.reserve is not None:
            drawn &= self.reserve.cells(chunk, part, start) == 0
        kept = np.flatnonzero(drawn)
        if len(kept):
            self._hold(keys[kept], chunk.take(kept))

    def merge(self, other: RowSample) -> None:
        for keys, rows in other._parts:
            self._hold(keys, rows)
        self._shrink()

    def _hold(self, keys: NDArray[np.uint64], rows: Problem) -> None:
        self._parts.append((keys, rows))
        self._n_held += len(keys)
        if self._n_held > 2 * int(self.quota.sum()) + 4096:
            self._shrink()

    def _strata(self, rows: Problem) -> IntArray:
        return rows.y if len(self.quota) > 1 else np.zeros(rows.n_samples, dtype=np.int64)

    def _shrink(self) -> None:
        """Keep the smallest keys of each class, in order."""
        if not self._parts:
            return
        keys = np.concatenate([keys for keys, _ in self._parts])
        rows = _joined([rows for _, rows in self._parts])
        strata = self._strata(rows)
        kept = []
        for stratum, quota in enumerate(self.quota.tolist()):
            members = np.flatnonzero(strata == stratum)
            members = members[np.argsort(keys[members], kind="stable")][:quota]
            if len(members) == quota:
                self._bound[stratum] = keys[members[-1]]
            kept.append(members)
        order = np.sort(np.concatenate(kept))
        self._parts, self._n_held = [(keys[order], rows.take(order))], len(order)

    @property
    def rows(self) -> Problem:
        """The sample, in the order in which its rows were met."""
        self._shrink()
        return self._parts[0][1]

    def holds(self, rows: Problem, part: int, start: int) -> BoolArray:
        """Say which rows of the table are in the sample.

        Parameters
        ----------
        rows : Problem
            Rows of the table.
        part, start : int
            Where they are: the part of the table, and the place of the first of them in it.

        Returns
        -------
        bool array of shape (n_rows,)
            True for those that were drawn, or, with a reserve, could have been.
        """
        if self.reserve is not None:
            return self.reserve.cells(rows, part, start) == 0
        return np.asarray(row_keys(part, start, rows.n_samples, self.seed) <= self._bound[self._strata(rows)])

    def outline(self) -> RowSample:
        """Return a sample without its rows that still says which rows it `holds`.

        Returns
        -------
        RowSample
            With the same quota, seed and reserve.
        """
        self._shrink()
        light = self.empty()
        light._bound = self._bound
        return light

    def empty(self) -> RowSample:
        """Return a sample of the same kind without rows.

        Returns
        -------
        RowSample
            With the same quota, seed and reserve.
        """
        return RowSample(self.quota, self.seed, self.reserve)

    def error_in(self, n_rows: int) -> float:
        """Return how far a quantile's rank may be from that in the table of so many rows, as a share of them.

        Parameters
        ----------
        n_rows : int
            Rows of the table.

        Returns
        -------
        float
            0 if all rows were kept.
        """
        kept = int(self.quota.sum())
        return 0.0 if kept >= n_rows else rank_error(kept)


def rank_error(n_rows: int) -> float:
    """Return the largest error of a sample's quantiles in rank, missed with a chance of one in a million at most.

    Examples
    --------
    >>> round(rank_error(100_000), 4)
    0.0085
    """
    return float(np.sqrt(np.log(2.0 / SURE) / (2.0 * n_rows)))


class SampledLevels(Statistics):
    """The distinct values of each column, as long as they are few.

    Parameters
    ----------
    n_columns, most : int
        Number of columns, and of levels kept for each.

    Examples
    --------
    >>> levels = SampledLevels(2, 3)
    >>> levels.add(Problem.from_arrays([[0.0, 1.0], [0.0, 2.0], [5.0, 3.0], [0.0, 4.0]], [0, 1, 0, 1]))
    >>> levels.values(0), levels.values(1) is None
    (array([0., 5.]), True)
    """

    def __init__(self, n_columns: int, most: int) -> None:
        self.most = most
        self._values = np.zeros((n_columns, most))
        self._n = np.zeros(n_columns, dtype=np.int64)

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        add_levels(chunk.X, self.most, self._values, self._n)

    def merge(self, other: SampledLevels) -> None:
        for column, count in enumerate(other._n.tolist()):
            if count > self.most or self._n[column] > self.most:
                self._n[column] = self.most + 1
                continue
            both = np.union1d(self._values[column, : self._n[column]], other._values[column, :count])
            self._n[column] = min(len(both), self.most + 1)
            if len(both) <= self.most:
                self._values[column, : len(both)] = both

    def values(self, column: int) -> FloatArray | None:
        """Return the distinct values of a column, ascending; None if they are too many.

        Parameters
        ----------
        column : int
            Which column.

        Returns
        -------
        array or None
            The values.
        """
        n = int(self._n[column])
        return None if n > self.most else np.sort(self._values[column, :n])


def _joined(parts: list[Problem]) -> Problem:
    """Put rows of one table one after the other."""
    if len(parts) == 1:
        return parts[0]
    names = [name for name in ("X", "y", "sample_weight", "groups", "time") if vars(parts[0])[name] is not None]
    joined: dict[str, Any] = {name: np.concatenate([vars(rows)[name] for rows in parts]) for name in names}
    return replace(parts[0], **joined)
