"""Folds of rows that are read in chunks: each row is dealt out by its place, its group or its time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fewer.errors import InputError
from fewer.kernels.statistics import mix
from fewer.problem import FloatArray, IntArray, Problem

if TYPE_CHECKING:
    from fewer.io import Stream


def row_keys(part: int, start: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Return one number a row that looks drawn at random, for rows start … of a part.

    It depends on the seed, the part and the row's place in it, not on how the part is cut into chunks.
    """
    keys = (np.uint64(part) << np.uint64(40)) + np.arange(start, start + n_rows, dtype=np.uint64)
    return np.asarray(mix(keys, mix(np.array([seed], dtype=np.uint64), np.uint64(1))[0]))


def row_folds(part: int, start: int, n_rows: int, n_folds: int, seed: int) -> IntArray:
    """Deal rows out to folds at random, each by its place alone, so that no pass is needed before.

    Parameters
    ----------
    part : int
        The part of the table.
    start : int
        The place of the first row in it.
    n_rows : int
        How many rows.
    n_folds : int
        How many folds.
    seed : int
        Of the deal.

    Returns
    -------
    int array of shape (n_rows,)
        From 0.

    Examples
    --------
    >>> folds = row_folds(0, 0, 1000, 5, seed=1)
    >>> bool((folds[300:] == row_folds(0, 300, 700, 5, seed=1)).all()), sorted(set(folds.tolist()))
    (True, [0, 1, 2, 3, 4])
    """
    return (row_keys(part, start, n_rows, seed) % np.uint64(n_folds)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class DealtFolds:
    """Deals rows out to cells while they are read: pairs of an outer fold, which is held out, and an inner one.

    A row's place decides; or its group's value, so that a group is in one cell; or its time. In time, cells are spans
    one after the other, the first outer span is never held out, and what is later never trains.

    Parameters
    ----------
    n_outer, n_inner : int
        Held-out folds, and folds by which a search is scored.
    seed : int
        Of the deal.
    order : int array, optional
        The place of each group where these are few and numbered; others are dealt out by their value.
    edges : array, optional
        Times at which another cell begins.
    numbers : int array, optional
        The cell before, between and after the edges.

    See Also
    --------
    DealtFolds.of : Makes them for a table.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0], [0.0], [0.0]], [0, 1, 0], groups=[7, 8, 7])
    >>> cells = DealtFolds(5, seed=1).cells(rows, 0, 0)
    >>> bool(cells[0] == cells[2])
    True
    """

    n_outer: int
    n_inner: int = 1
    seed: int = 0
    order: IntArray | None = None
    edges: FloatArray | None = None
    numbers: IntArray | None = None

    @classmethod
    def of(cls, stream: Stream, n_outer: int, n_inner: int = 1, seed: int = 0) -> DealtFolds:
        """Deal out the rows of a table.

        Parameters
        ----------
        stream : Stream
            It knows groups and times.
        n_outer, n_inner : int
            How many; one outer fold is not held out.
        seed : int
            Of the deal.

        Returns
        -------
        DealtFolds
        """
        if stream.time is not None:
            return cls._in_time(stream, n_outer, n_inner, seed)
        if stream.n_groups is None:
            return cls(n_outer, n_inner, seed)
        order = np.random.default_rng([seed, 3]).permutation(stream.n_groups)
        folds = cls(n_outer, n_inner, seed, order)
        cells = np.unique(folds._of_numbers(order))
        outer, held = cells // n_inner, range(n_outer) if n_outer > 1 else [-1]
        least = min(len(np.unique(cells[outer != fold] % n_inner)) for fold in held)
        if len(np.unique(outer)) < n_outer or least < min(n_inner, 2):
            cure = "use 2 folds (cv=2, --folds 2)" if stream.n_groups > 3 and n_outer > 2 else "omit groups"
            raise InputError(f"{stream.groups!r} has {stream.n_groups} groups, too few for the folds; {cure}.")
        return folds

    @classmethod
    def _in_time(cls, stream: Stream, n_outer: int, n_inner: int, seed: int) -> DealtFolds:
        """Cut the time into spans of equally many rows, as a sample of them shows; equal times stay together."""
        assert stream.times is not None
        n_spans, n_within = n_outer + (n_outer > 1), n_inner + (n_inner > 1)
        moments, counts = np.unique(stream.times, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        cells = np.floor(middle * n_spans * n_within).astype(np.int64)
        begins = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
        folds = cls(n_outer, n_inner, seed, edges=moments[begins[1:]], numbers=cells[begins])
        if len(folds.trains(0)) < min(n_inner, 2) or len(folds.held) < 2 * (n_outer > 1):
            raise InputError(
                f"{stream.time!r} has {len(moments)} different times, too few for folds of earlier and later rows; "
                "omit time."
            )
        return folds

    @property
    def forward(self) -> bool:
        """Whether training rows are earlier than those held out."""
        return self.numbers is not None

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        if self.numbers is not None:
            return int(self.numbers[-1]) + 1
        return self.n_outer * self.n_inner

    @property
    def _within(self) -> int:
        """Cells of an outer fold."""
        return self.n_inner + (self.forward and self.n_inner > 1)

    @cached_property
    def held(self) -> list[IntArray]:
        """The cells of each fold that is held out."""
        outer = np.arange(self.n_cells) // self._within
        if self.numbers is None:
            return [np.flatnonzero(outer == fold) for fold in range(self.n_outer)]
        return [np.flatnonzero(outer == span) for span in np.unique(self.numbers // self._within)[1:]]

    def trains(self, without: int | None) -> IntArray:
        """Return the cells that train a held-out fold.

        Parameters
        ----------
        without : int or None
            The fold; None for a fit on all rows.

        Returns
        -------
        int array
            Ascending; in time, those that have rows.
        """
        cells = np.arange(self.n_cells) if self.numbers is None else self.numbers
        if without is None or (self.forward and not self.held):
            return cells
        if self.forward:
            return cells[cells < self.held[without][0]]
        return np.setdiff1d(cells, self.held[without])

    def parts(self, without: int | None) -> list[IntArray]:
        """Return the cells of each inner fold; in time, of spans one after the other, the first of which only trains.

        Parameters
        ----------
        without : int or None
            The outer fold that is left out.

        Returns
        -------
        list of int arrays
        """
        cells = self.trains(without)
        if self.forward:
            return np.array_split(cells, min(len(cells), self._within))
        return [cells[cells % self.n_inner == inner] for inner in range(self.n_inner)]

    def cells(self, chunk: Problem, part: int, start: int) -> IntArray:
        """Return the cell of each row.

        Parameters
        ----------
        chunk : Problem
            Rows of the table.
        part, start : int
            Where they are: the part of the table, and the place of the first of them in it.

        Returns
        -------
        int array of shape (n_rows,)
            From 0.
        """
        if self.edges is not None and self.numbers is not None:
            assert chunk.time is not None
            return np.asarray(self.numbers[np.searchsorted(self.edges, chunk.time, side="right")])
        if chunk.groups is None:
            return row_folds(part, start, chunk.n_samples, self.n_cells, self.seed)
        if self.order is not None:
            return self._of_numbers(self.order[chunk.groups])
        drawn = mix(chunk.groups.astype(np.uint64), mix(np.array([self.seed], dtype=np.uint64), np.uint64(1))[0])
        return self._of_numbers((drawn >> np.uint64(1)).astype(np.int64))

    def _of_numbers(self, numbers: IntArray) -> IntArray:
        """Deal numbers out, one after the other, first to outer folds and then to inner ones."""
        outer = numbers % self.n_outer
        return outer * self.n_inner + (outer + numbers // self.n_outer) % self.n_inner

    def judges(self, cells: IntArray) -> IntArray:
        """Return the held-out fold that each cell belongs to, -1 for none.

        Parameters
        ----------
        cells : int array
            Of rows.

        Returns
        -------
        int array
            Of the same shape.
        """
        fold = np.full(self.n_cells, -1)
        for number, held in enumerate(self.held):
            fold[held] = number
        return fold[cells]
