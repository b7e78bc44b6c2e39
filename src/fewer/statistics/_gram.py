"""Gram matrices of inputs and targets, kept for each fold: all that a linear fit needs to know of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewer.io.sparse import column_ranges
from fewer.kernels.statistics import gather_shifted
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics._base import Statistics
from fewer.statistics._folds import DealtFolds
from fewer.statistics.encoding import values_of


class GramSums(Statistics):
    """Weighted products of a constant, the inputs and the targets, one matrix for each fold.

    Inputs are numeric columns less a shift and the indicators of nominal levels; targets are class indicators, or a
    quantity less its shift. A missing cell adds nothing, and an indicator of missing cells joins the products once a
    column has one, so that filling with any number can be decided afterwards.

    Parameters
    ----------
    like : Problem
        Some rows of the table: kinds, levels and classes are taken from it, and shifts from its means.
    folds : DealtFolds or int array
        What deals rows out; or the fold of each row, for a table that is added as a whole.

    Attributes
    ----------
    owner : int array of shape (n_inputs,)
        The column that each input comes from.
    products : array of shape (n_folds, n_base, n_base)
        Of the constant, the inputs, the targets and the indicators of missing cells, in this order.
    about : array of shape (n_folds, n_inputs, 4)
        Of each input: present cells, their sum about the shift, least and most; weights do not count.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0], task="regression")
    >>> sums = GramSums(rows, DealtFolds(1))
    >>> sums.add(rows)
    >>> sums.n_rows, sums.products.shape
    (array([4]), (1, 3, 3))
    """

    def __init__(self, like: Problem, folds: DealtFolds | IntArray) -> None:
        n_folds = folds.n_cells if isinstance(folds, DealtFolds) else int(folds.max()) + 1
        self.n_folds, self._folds = n_folds, folds
        self._task, self._n_classes = like.task, like.n_classes
        levels = [
            np.arange(float(len(like.levels[feature]))) if nominal else np.array([np.nan])
            for feature, nominal in enumerate(like.nominal)
        ]
        self.owner: IntArray = np.repeat(np.arange(like.n_features), [len(values) for values in levels])
        self._level: FloatArray = np.concatenate(levels)
        mean = np.zeros(like.n_features)
        if like.sparse is None:
            present = ~np.isnan(like.X)
            mean = np.where(present, like.X, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        self._shift = np.where(np.isnan(self._level), mean[self.owner], 0.0)
        self._y_shift = float(like.y.mean()) if like.task == "regression" else 0.0
        self._incomplete: list[int] = []
        n_base = 1 + self.n_inputs + self.n_targets
        self.products = np.zeros((n_folds, n_base, n_base))
        self.about = np.zeros((n_folds, self.n_inputs, 4))
        self.about[:, :, 2], self.about[:, :, 3] = np.inf, -np.inf
        self.n_rows = np.zeros(n_folds, dtype=np.int64)

    @property
    def n_inputs(self) -> int:
        """How many inputs there are."""
        return len(self.owner)

    @property
    def n_targets(self) -> int:
        """How many targets there are: one for a quantity or two classes, else one a class."""
        return 1 if self._task == "regression" or self._n_classes <= 2 else self._n_classes

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        folds = self._folds.cells(chunk, part, start) if isinstance(self._folds, DealtFolds) else self._folds
        order = np.argsort(folds, kind="stable")
        edges = np.searchsorted(folds[order], np.arange(self.n_folds + 1))
        if chunk.sparse is not None and not np.isnan(chunk.sparse.data).any():
            by_row = chunk.sparse.tocsr()
            for fold in np.flatnonzero(np.diff(edges)):
                self._add_sparse(chunk, by_row, int(fold), order[edges[fold] : edges[fold + 1]])
            return
        # Blocks small enough for the cache, whatever the chunk.
        for fold in np.flatnonzero(np.diff(edges)):
            rows = order[edges[fold] : edges[fold + 1]]
            self.n_rows[fold] += len(rows)
            for low in range(0, len(rows), 8192):
                self._add_block(chunk, int(fold), rows[low : low + 8192])

    def _add_sparse(self, chunk: Problem, by_row: Any, fold: int, rows: IntArray) -> None:
        """Add rows of a sparse table, whose shift is zero."""
        X, w = by_row[rows], chunk.row_weights[rows]
        sides = np.column_stack([np.ones(len(rows)), self._targets(chunk, rows)])
        first = 1 + self.n_inputs
        ends = [0, *range(first, first + self.n_targets)]
        inputs = slice(1, first)
        weighted = X.multiply(w[:, None]).tocsr()
        cross = np.asarray(X.T @ (sides * w[:, None]))
        products = self.products[fold]
        products[inputs, inputs] += (X.T @ weighted).toarray()
        products[inputs, ends] += cross
        products[ends, inputs] += cross.T
        products[np.ix_(ends, ends)] += sides.T @ (sides * w[:, None])
        low, high = column_ranges(X.tocsc())
        about = self.about[fold]
        about[:, 0] += len(rows)
        about[:, 1] += np.asarray(X.sum(axis=0)).ravel()
        about[:, 2], about[:, 3] = np.minimum(about[:, 2], low), np.maximum(about[:, 3], high)
        self.n_rows[fold] += len(rows)

    def _add_block(self, chunk: Problem, fold: int, rows: IntArray) -> None:
        base = self.base(chunk, rows, self.about[fold])
        if base.shape[1] > self.products.shape[1]:
            self._widen(base.shape[1])
        if chunk.sample_weight is None:
            self.products[fold] += base.T @ base
        else:
            self.products[fold] += base.T @ (base * chunk.sample_weight[rows, None])

    def base(self, chunk: Problem, rows: IntArray | None = None, about: FloatArray | None = None) -> FloatArray:
        """Return rows as what the products are of: constant, inputs, targets, indicators of missing cells.

        Parameters
        ----------
        chunk : Problem
            Some rows of the table.
        rows : int array, optional
            Which of them; all by default.
        about : array, optional
            Filled with what `about` sums of each input.

        Returns
        -------
        array of shape (n_rows, n_base)
            One row a row.
        """
        rows = np.arange(chunk.n_samples) if rows is None else rows
        learning = about is not None
        about = np.empty((self.n_inputs, 4)) if about is None else about
        first = 1 + self.n_inputs
        fixed = first + self.n_targets
        base = np.empty((len(rows), fixed + len(self._incomplete)), order="F")
        base[:, 0] = 1.0
        gaps = np.zeros(self.n_inputs, dtype=np.int64)
        X, places, columns = chunk.X, rows, self.owner
        if not np.isnan(self._level).all():  # indicators of levels beside numbers
            X = values_of(chunk.X[rows], self.owner, self._level)
            places, columns = np.arange(len(rows)), np.arange(self.n_inputs)
        gather_shifted(X, places, columns, self._shift, base[:, 1:first], about, gaps)
        base[:, first:fixed] = self._targets(chunk, rows)
        new = [f for f in np.unique(self.owner[gaps > 0]).tolist() if f not in self._incomplete] if learning else []
        if new:
            self._incomplete += new
            base = np.asfortranarray(np.hstack([base, np.zeros((len(rows), len(new)))]))
        for place, feature in enumerate(self._incomplete, fixed):
            base[:, place] = np.isnan(chunk.X[rows, feature])
        return base

    def _targets(self, chunk: Problem, rows: IntArray) -> FloatArray:
        if self._task == "regression":
            return (chunk.y[rows] - self._y_shift)[:, None]
        codes = np.array([1]) if self.n_targets == 1 else np.arange(self._n_classes)
        return (chunk.y[rows, None] == codes).astype(np.float64)

    def _widen(self, n_base: int) -> None:
        wider = np.zeros((self.n_folds, n_base, n_base))
        old = self.products.shape[1]
        wider[:, :old, :old] = self.products
        self.products = wider

    def __getstate__(self) -> dict[str, Any]:
        """Products travel as triangles: they are symmetric."""
        upper = np.triu_indices(self.products.shape[1])
        return self.__dict__ | {"products": np.array([matrix[upper] for matrix in self.products])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        n = 1 + self.n_inputs + self.n_targets + len(self._incomplete)
        upper = np.triu_indices(n)
        self.products = np.zeros((self.n_folds, n, n))
        for matrix, half in zip(self.products, state["products"], strict=True):
            matrix[upper] = half
            matrix.T[upper] = half

    def __deepcopy__(self, memo: dict[int, Any]) -> GramSums:
        new = object.__new__(GramSums)
        new.__dict__.update({name: deepcopy(value, memo) for name, value in self.__dict__.items()})
        return new

    def merge(self, other: GramSums) -> None:
        fixed = 1 + self.n_inputs + self.n_targets
        if self._incomplete == other._incomplete:
            self.products += other.products
        else:
            self._incomplete += [feature for feature in other._incomplete if feature not in self._incomplete]
            self._widen(fixed + len(self._incomplete))
            places = [*range(fixed), *(fixed + self._incomplete.index(feature) for feature in other._incomplete)]
            self.products[np.ix_(range(self.n_folds), places, places)] += other.products
        self.about[:, :, :2] += other.about[:, :, :2]
        self.about[:, :, 2] = np.minimum(self.about[:, :, 2], other.about[:, :, 2])
        self.about[:, :, 3] = np.maximum(self.about[:, :, 3], other.about[:, :, 3])
        self.n_rows += other.n_rows

    def outline(self) -> GramSums:
        """Return the same without sums, which still makes the `base` of rows.

        Returns
        -------
        GramSums
            Small enough to travel.
        """
        light = copy(self)
        light.n_folds, light.products, light.about = 0, self.products[:0], self.about[:0]
        return light

    def system(self, groups: Sequence[IntArray] | None = None) -> LinearSystem:
        """Return the products of scaled inputs and targets over groups of folds (each fold by default).

        Inputs are scaled to [−1, 1] by the range of these folds' rows and centered; a missing cell counts as its
        column's mean; two classes are −1 and 1, more have one such target each.

        Parameters
        ----------
        groups : sequence of int arrays, optional
            DealtFolds whose rows are one part; each fold by default.

        Returns
        -------
        LinearSystem
            Ready for linear fits on any of the inputs.
        """
        groups = list(np.arange(self.n_folds)[:, None]) if groups is None else groups
        folds = np.sort(np.concatenate(groups))
        present, total = self.about[folds, :, 0].sum(axis=0), self.about[folds, :, 1].sum(axis=0)
        low = np.where(present > 0, self.about[folds, :, 2].min(axis=0), 0.0)
        high = np.where(present > 0, self.about[folds, :, 3].max(axis=0), 0.0)
        span = np.where(high > low, high - low, 1.0)
        mean = total / np.maximum(present, 1.0)
        first = 1 + self.n_inputs
        n_final = first + self.n_targets
        change = np.zeros((n_final, self.products.shape[1]))
        change[0, 0] = 1.0
        places = np.arange(1, first)
        change[places, places] = 2.0 / span
        for gap, feature in enumerate(self._incomplete, n_final):
            inputs = np.flatnonzero(self.owner == feature)
            change[1 + inputs, gap] = 2.0 * mean[inputs] / span[inputs]
        targets = np.arange(first, n_final)
        change[targets, targets] = 1.0 if self._task == "regression" else 2.0
        if self._task == "classification":
            change[targets, 0] = -1.0
        summed = self.products[folds].sum(axis=0)
        weight = max(float(summed[0, 0]), 1e-300)
        centers = change @ summed[:, 0] / weight
        change[1:first, 0] -= centers[1:first]
        y_mean = 0.0
        if self._task == "regression":
            y_mean = self._y_shift + float(centers[first])
            change[first, 0] -= centers[first]
        parts = change @ np.array([self.products[group].sum(axis=0) for group in groups]) @ change.T
        return LinearSystem(parts, change, self.owner, high > low, y_mean)


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Products of a constant, scaled inputs and targets, for each group of folds.

    Attributes
    ----------
    parts : array of shape (n_groups, n_final, n_final)
    change : array of shape (n_final, n_base)
        Turns what `GramSums.base` returns into what the products are of.
    owner : int array of shape (n_inputs,)
    varies : bool array of shape (n_inputs,)
    y_mean : float
        What was taken off a quantity.
    """

    parts: FloatArray
    change: FloatArray
    owner: IntArray
    varies: BoolArray
    y_mean: float
