"""A least-squares fit that grows by one column at a time, with bounds on what each further column can do.

For the columns S of a subset let XᵀX + diag(λ) = LLᵀ and U = XL⁻ᵀ, a column of U for each of S. Adding j needs only
its v = Uᵀx, its rest z = x − Uv and its length s = xᵀx + λ − vᵀv: the fit's residual r becomes r − z (zᵀr) / s and the
leverage h of a row h + z² / s. All v together are one product Xᵀu for each column that enters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fewer.kernels import _bordering as kernels
from fewer.kernels._bordering import LEAST
from fewer.problem import FloatArray, IntArray

__all__ = ["LEAST", "Bordering"]

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
    targets : array of shape (n, c)
        Likewise.
    ridge : array of shape (p,)
        λ of each column, above 0.
    leverage : array of shape (n,)
        What the constant alone takes of each row.
    centered : bool, default=False
        Means were taken off the columns before (as is needed where rows have weights); else they are on the way.
    """

    def __init__(
        self, X: FloatArray, targets: FloatArray, ridge: FloatArray, leverage: FloatArray, centered: bool = False
    ) -> None:
        self._X, self._means, self._ridge = np.ascontiguousarray(X), np.empty(X.shape[1]), ridge
        self._start = np.ascontiguousarray(targets.T), leverage
        self._lengths, self._first_products = np.empty(X.shape[1]), np.empty((targets.shape[1], X.shape[1]))
        kernels.begin(self._X, self._means, self._start[0], self._lengths, self._first_products, centered)
        self._begin()

    def _begin(self) -> None:
        n, p = self._X.shape
        targets, leverage = self._start
        self.columns: list[int] = []
        kept = np.maximum(1.0 - leverage, LEAST)
        weighed = targets / kept**2
        if kept.min() == kept.max():  # without row weights
            along_weighed = self._first_products / kept[0] ** 2
        else:
            along_weighed = weighed @ self._X - weighed.sum(axis=1)[:, None] * self._means
        self._fit = kernels.Fit(
            self._X, self._means, self._ridge, self._lengths, np.empty((FIRST, n)), np.empty((FIRST, p)),
            self._lengths + self._ridge, self._first_products.copy(), along_weighed, targets.copy(), weighed,
            leverage.copy(),
        )  # fmt: skip

    def move_to(self, columns: IntArray) -> None:
        """Stand on a subset: go on from this one if it is part of it, else begin again."""
        wanted = columns.tolist()
        if not set(self.columns) <= set(wanted):
            self._begin()
        present = set(self.columns)
        for column in wanted:
            if column not in present:
                self._enter(column)

    def _enter(self, column: int) -> None:
        k, fit = len(self.columns), self._fit
        if k == len(fit.u):
            more = (np.concatenate([part, np.empty_like(part)]) for part in (fit.u, fit.v))
            self._fit = fit = fit._replace(**dict(zip("uv", more, strict=True)))
        kernels.enter(fit, column, k)
        self.columns.append(column)

    def training_gains(self) -> FloatArray:
        """Return how much each further column would take off the squared residuals."""
        return np.asarray((self._fit.along**2).sum(axis=0) / self._fit.s)

    def lost(self, columns: IntArray) -> FloatArray:
        """Return the sum of squared leave-one-out errors with each of these columns added."""
        scratch = np.empty(len(self._X))
        return np.array(
            [kernels.lost_with(self._fit, len(self.columns), column, scratch) for column in columns.tolist()]
        )

    def bounds(self) -> FloatArray:
        """Return what the leave-one-out errors with each column added are at least: leverages as they are now."""
        out = np.empty(self._X.shape[1])
        kernels.bounds(self._fit, len(self.columns), out)
        return out

    def best(self, columns: IntArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Score columns until none of the others can be the best: their places in order, and what is lost with them."""
        lost = np.empty(len(columns))
        few = len(columns) <= 4 * FIRST
        kernels.best(self._fit, len(self.columns), columns, len(columns) if few else FIRST, MARGIN, lost)
        places = np.flatnonzero(~np.isnan(lost))
        return places, lost[places]
