"""A least-squares fit that grows by one column at a time, with bounds on what each further column can do.

For the columns S of a subset let XᵀX + diag(λ) = LLᵀ and U = XL⁻ᵀ, a column of U for each of S. Adding j needs only
its v = Uᵀx, its rest z = x − Uv and its length s = xᵀx + λ − vᵀv: the fit's residual r becomes r − z (zᵀr) / s and the
leverage h of a row h + z² / s. All v together are one product Xᵀu for each column that enters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fewer.problem import FloatArray, IntArray

LEAST = 1e-12
"""What is left of a row that only its own column can explain."""
MARGIN = 1e-9
"""A column is passed over only if it is worse by this share: more than rounding can do."""
FIRST = 8
"""So many columns are scored before the bound is asked about the others."""


class Bordering:
    """The fit of one subset, and of each subset with one column more.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns, rows times the root of their weights.
    means : array of shape (p,)
        What is to be taken off each column (0 where rows have weights: then it must be taken off before).
    targets : array of shape (n, c)
        Likewise.
    ridge : array of shape (p,)
        λ of each column, above 0.
    leverage : array of shape (n,)
        What the constant alone takes of each row.
    """

    def __init__(
        self, X: FloatArray, means: FloatArray, targets: FloatArray, ridge: FloatArray, leverage: FloatArray
    ) -> None:
        self._X, self._means, self._ridge = X, means, ridge
        self._lengths = np.einsum("np,np->p", X, X) - len(X) * means**2
        self._start = targets, leverage
        self._first_products = self._products(targets)
        self._begin()

    def _begin(self) -> None:
        n, p = self._X.shape
        self.columns: list[int] = []
        self._residual, self._leverage = self._start
        self._rows_of_u, self._rows_of_v = np.empty((FIRST, n)), np.empty((FIRST, p))
        self._s = self._lengths + self._ridge
        self._along = self._first_products
        self._weigh()

    @property
    def _u(self) -> FloatArray:
        return self._rows_of_u[: len(self.columns)]

    @property
    def _v(self) -> FloatArray:
        return self._rows_of_v[: len(self.columns)]

    def _weigh(self) -> None:
        """Weigh the residual by 1 / (1 − h)², and take its product with all columns."""
        kept = np.maximum(1.0 - self._leverage, LEAST)
        self._weighed = self._residual / (kept**2)[:, None]
        self._least = float(1.0 / kept.max() ** 2)
        self._along_weighed = self._products(self._weighed)

    def _products(self, sides: FloatArray) -> FloatArray:
        """Return the products of vectors (n, c) with all columns; one by one, since a thin matrix would take longer."""
        return np.stack([side @ self._X for side in sides.T]) - sides.sum(axis=0)[:, None] * self._means

    def move_to(self, columns: IntArray) -> None:
        """Stand on a subset: go on from this one if it is part of it, else begin again."""
        wanted = columns.tolist()
        if not set(self.columns) <= set(wanted):
            self._begin()
        present = set(self.columns)
        new = [column for column in wanted if column not in present]
        for column in new:
            self._enter(column)
        if new:
            self._weigh()

    def _enter(self, column: int) -> None:
        k = len(self.columns)
        if k == len(self._rows_of_u):
            self._rows_of_u = np.concatenate([self._rows_of_u, np.empty_like(self._rows_of_u)])
            self._rows_of_v = np.concatenate([self._rows_of_v, np.empty_like(self._rows_of_v)])
        root = np.sqrt(self._s[column])
        u = (self._X[:, column] - self._means[column] - self._v[:, column] @ self._u) / root
        v = self._products(u[:, None])[0]
        share = self._along[:, column] / root
        self._residual = self._residual - u[:, None] * share
        self._leverage = self._leverage + u**2
        self._along = self._along - share[:, None] * v
        self._s = np.maximum(self._s - v**2, self._ridge)
        self._rows_of_u[k], self._rows_of_v[k] = u, v
        self.columns.append(column)

    def lost(self, columns: IntArray) -> FloatArray:
        """Return the sum of squared leave-one-out errors with each of these columns added."""
        x = self._X[:, columns] - self._means[columns]
        z = x - self._u.T @ self._v[:, columns]
        s = self._s[columns]
        kept = np.maximum((1.0 - self._leverage)[:, None] - z**2 / s, LEAST)
        total = np.zeros(len(columns))
        for residual in self._residual.T:
            error = residual[:, None] - z * ((residual @ x) / s)
            error /= kept
            total += (error**2).sum(axis=0)
        return total

    def bounds(self) -> FloatArray:
        """Return what the leave-one-out errors with each column added are at least: leverages as they are now."""
        length = self._s - self._ridge
        if self.columns:
            # The ridge keeps U from being orthogonal; its least squeeze bounds the rest's length from below.
            squeeze = 1.0 - float(np.linalg.eigvalsh(self._u @ self._u.T)[0])
            length = length - squeeze * (self._lengths + self._ridge - self._s)
        cross = self._along_weighed - (self._u @ self._weighed).T @ self._v
        gain = self._along / self._s
        now = float(np.einsum("nc,nc->", self._residual, self._weighed))
        return np.asarray(now + (gain * (gain * (self._least * np.maximum(length, 0.0)) - 2.0 * cross)).sum(axis=0))

    def best(self, columns: IntArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Score columns until none of the others can be the best: their places in order, and what is lost with them."""
        if len(columns) <= 4 * FIRST:
            return np.arange(len(columns)), self.lost(columns)
        bounds = self.bounds()[columns]
        first = np.argpartition(bounds, FIRST)[:FIRST]
        lost = np.full(len(columns), np.nan)
        lost[first] = self.lost(columns[first])
        bounds[first] = np.inf
        others = np.flatnonzero(bounds <= np.nanmin(lost) * (1.0 + MARGIN))
        if len(others):
            lost[others] = self.lost(columns[others])
        places = np.flatnonzero(~np.isnan(lost))
        return places, lost[places]
