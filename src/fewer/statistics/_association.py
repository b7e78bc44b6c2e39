"""How alike columns are, whatever their kinds: a number between 0 and 1 for each pair.

Two numbers: the size of Pearson's correlation, or of Spearman's. Two nominal columns: Cramér's V. A nominal column and
a number: the correlation ratio. Codes: symmetrical uncertainty. Pairs are compared on the rows where both are known.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from fewer.kernels.information import information_with
from fewer.problem import FloatArray, IntArray, Problem

Measure = Literal["pearson", "spearman"]


class Uncertainties:
    """Symmetrical uncertainty of columns of codes: 2 I(f; s) / (H(f) + H(s)), 0 where neither varies.

    Parameters
    ----------
    codes : int array of shape (n_features, n_samples)
        Each row from 0 on.
    weights : array of shape (n_samples,)
        How much each row counts.

    Examples
    --------
    >>> pairs = Uncertainties(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.ones(4))
    >>> pairs.with_codes(np.array([1, 1, 0, 0])).tolist()
    [1.0, 0.0]
    """

    def __init__(self, codes: NDArray[Any], weights: FloatArray) -> None:
        self._codes = np.ascontiguousarray(codes, dtype=np.int32)
        self._levels = self._codes.max(axis=1, initial=0).astype(np.int64) + 1
        self._weights = weights
        self._entropy = np.array([self._entropy_of(column) for column in self._codes])

    def _entropy_of(self, codes: NDArray[Any]) -> float:
        shares = np.bincount(codes, self._weights) / self._weights.sum()
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())

    def with_codes(self, other: NDArray[Any]) -> FloatArray:
        """Return the symmetrical uncertainty of every column with one vector of codes.

        Parameters
        ----------
        other : int array of shape (n_samples,)
            Codes from 0 on.

        Returns
        -------
        array of shape (n_features,)
            Between 0 and 1.
        """
        shared = np.zeros(len(self._codes))
        target = np.ascontiguousarray(other, dtype=np.int32)
        n_target = int(target.max(initial=0)) + 1
        information_with(0, len(shared), self._codes, self._levels, target, n_target, self._weights, shared)
        entropy = self._entropy_of(target)
        sums = self._entropy + entropy
        return np.minimum(np.divide(2 * shared, sums, out=np.zeros_like(sums), where=self._entropy * entropy > 0), 1.0)

    def with_feature(self, feature: int) -> FloatArray:
        """Return the symmetrical uncertainty of every column with one of them.

        Parameters
        ----------
        feature : int
            Which one.

        Returns
        -------
        array of shape (n_features,)
            Between 0 and 1.
        """
        return self.with_codes(self._codes[feature])


class Associations:
    """How alike the columns of a table are, block by block: nothing of the size of all pairs is kept.

    Parameters
    ----------
    problem : Problem
        The rows. A class target is a nominal column, a quantity a number.
    measure : {"pearson", "spearman"}, default="pearson"
        How two numbers are compared. Ranks are taken once, over all known cells of a column.

    Notes
    -----
    Row weights count. Cramér's V is the one without correction for chance; with r and c levels that both occur it is
    √(χ² / n / (min(r, c) − 1)). The correlation ratio is the root of the share of the number's variance that lies
    between the levels. Both are 1 for columns that are known from each other, and 0 where a column does not vary.

    Examples
    --------
    >>> problem = Problem.from_arrays([[1.0, 2.0], [2.0, 4.1], [3.0, 6.0]], [0.0, 1.0, 0.5], task="regression")
    >>> Associations(problem).block(np.array([0]), np.array([0, 1])).round(3)
    array([[1., 1.]])
    """

    def __init__(self, problem: Problem, measure: Measure = "pearson") -> None:
        dense = problem.as_dense()
        target = dense.y if dense.y.ndim == 1 else dense.y[:, 0]
        table = np.column_stack([dense.X, target.astype(np.float64)])
        self.nominal = np.append(dense.nominal, problem.task == "classification")
        self.target = table.shape[1] - 1
        roots = np.sqrt(dense.row_weights / dense.row_weights.mean())
        self._known = ~np.isnan(table)
        if measure == "spearman":
            table = rankdata(table, axis=0, nan_policy="omit")
        middle = np.nanmean(np.where(self._known.any(axis=0), table, 0.0), axis=0)
        scale = np.nanmax(np.abs(np.where(self._known.any(axis=0), table - middle, 0.0)), axis=0)
        cells = np.where(self._known, (table - middle) / np.where(scale > 0, scale, 1.0), 0.0)
        # Weighted sums of products are plain ones where both sides carry the root of the weight.
        self._roots, self._cells = roots, cells * roots[:, None]
        self._squares = cells**2 * roots[:, None]
        self._mass = self._known * roots[:, None]
        raw = np.column_stack([dense.X, target.astype(np.float64)])[:, self.nominal]
        columns = np.flatnonzero(self.nominal).tolist()
        self._levels = {f: self._levels_of(column) for f, column in zip(columns, raw.T, strict=True)}

    def _levels_of(self, cells: FloatArray) -> sparse.csr_array:
        """Return the levels of a column as weighted indicators; a missing cell has none."""
        known = np.flatnonzero(~np.isnan(cells))
        levels, codes = np.unique(cells[known], return_inverse=True)
        return sparse.csr_array((self._roots[known], (known, codes)), shape=(len(cells), max(len(levels), 1)))

    def block(self, columns: IntArray, others: IntArray) -> FloatArray:
        """Compare some columns with others; column `target` is the target.

        Parameters
        ----------
        columns, others : int arrays
            Columns.

        Returns
        -------
        array of shape (len(columns), len(others))
            Between 0 and 1.
        """
        out = np.zeros((len(columns), len(others)))
        a, b = self.nominal[columns], self.nominal[others]
        if (~a).any() and (~b).any():
            out[np.ix_(~a, ~b)] = self._correlations(columns[~a], others[~b])
        for i in np.flatnonzero(a):
            out[i, ~b] = self._ratios(int(columns[i]), others[~b])
            out[i, b] = [self._cramer(int(columns[i]), int(f)) for f in others[b]]
        for j in np.flatnonzero(b):
            out[~a, j] = self._ratios(int(others[j]), columns[~a])
        return out

    def _correlations(self, columns: IntArray, others: IntArray) -> FloatArray:
        """Return |r| over the rows where both are known: from sums, sums of squares and products over these rows."""
        if self._known.all():
            return np.minimum(np.abs(self._standardized[:, columns].T @ self._standardized[:, others]), 1.0)
        mass_a, mass_b = self._mass[:, columns], self._mass[:, others]
        n = np.maximum(mass_a.T @ mass_b, 1e-300)
        first_a, first_b = self._cells[:, columns].T @ mass_b, mass_a.T @ self._cells[:, others]
        second_a = self._squares[:, columns].T @ mass_b - first_a**2 / n
        second_b = mass_a.T @ self._squares[:, others] - first_b**2 / n
        product = self._cells[:, columns].T @ self._cells[:, others] - first_a * first_b / n
        varies = (second_a > 1e-12) & (second_b > 1e-12)
        lengths = np.sqrt(np.where(varies, second_a * second_b, 1.0))
        return np.where(varies, np.minimum(np.abs(product) / lengths, 1.0), 0.0)

    @cached_property
    def _standardized(self) -> FloatArray:
        """The cells of mean 0 and length 1, for a table without missing cells."""
        middle = self._roots @ self._cells / float(self._roots @ self._roots)
        cells = self._cells - self._roots[:, None] * middle
        length = np.sqrt((cells**2).sum(axis=0))
        return np.divide(cells, length, out=np.zeros_like(cells), where=length > 1e-6)

    def _ratios(self, nominal: int, numbers: IntArray) -> FloatArray:
        """Return the correlation ratio of a nominal column with numbers: √(variance between levels / variance)."""
        levels = self._levels[nominal]
        mass = levels.T @ self._mass[:, numbers]
        first = levels.T @ self._cells[:, numbers]
        n = np.maximum(mass.sum(axis=0), 1e-300)
        known = self._mass[:, [nominal]] > 0
        middle = first.sum(axis=0) ** 2 / n
        total = (self._squares[:, numbers] * self._roots[:, None] * known).sum(axis=0) - middle
        between = np.divide(first**2, mass, out=np.zeros_like(first), where=mass > 0).sum(axis=0) - middle
        share = np.divide(between, total, out=np.zeros_like(total), where=total > 1e-12)
        return np.asarray(np.sqrt(np.clip(share, 0.0, 1.0)))

    def _cramer(self, one: int, other: int) -> float:
        counts = (self._levels[one].T @ self._levels[other]).tocoo()
        across = np.bincount(counts.row, counts.data, minlength=counts.shape[0])
        down = np.bincount(counts.col, counts.data, minlength=counts.shape[1])
        fewest = min(np.count_nonzero(across), np.count_nonzero(down)) - 1
        if fewest < 1:
            return 0.0
        # χ² / n = Σ n_ij² / (n_i n_j) − 1: levels that never meet add nothing, so that many levels cost no memory.
        share = float((counts.data**2 / (across[counts.row] * down[counts.col])).sum()) - 1.0
        return float(np.sqrt(np.clip(share / fewest, 0.0, 1.0)))
