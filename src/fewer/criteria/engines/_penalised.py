"""Penalised least squares on rows that stay the same: products of all columns, made once, fit any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV, RidgeCV
from sklearn.model_selection import KFold

from fewer.criteria.engines._parts import Part, Weights, odd_option
from fewer.kernels.path import EPSILON, TOLERANCE, fit_products
from fewer.problem import FloatArray, IntArray

# Options that must stand at these values.
COVERED_PENALTIES = {
    "fit_intercept": (True,), "positive": (False,), "warm_start": (False,), "selection": ("cyclic",),
    "scoring": (None,), "store_cv_results": (False,), "alpha_per_target": (False,), "gcv_mode": (None, "auto"),
}  # fmt: skip
MOST_COLUMNS, MOST_ROUNDS = 1000, 10_000


class _Products:
    """Training rows, centered, and their products, by what rows count; test rows beside them."""

    def __init__(
        self, train: FloatArray, target: FloatArray, test: FloatArray, weights: FloatArray | None = None
    ) -> None:
        n, means = len(train), np.average(train, axis=0, weights=weights)
        self.mean = float(np.average(target, weights=weights))
        self.train, self.test, self.target = train - means, test - means, target - self.mean
        shares = self.train / n if weights is None else self.train * (weights / weights.sum())[:, None]
        self.gram, self.pulls = shares.T @ self.train, shares.T @ self.target
        self.size = float(np.sqrt(np.average(self.target**2, weights=weights)))
        still = np.sqrt(np.diag(self.gram)) <= n * EPSILON * np.abs(means)
        self.gram[still], self.gram[:, still], self.pulls[still] = 0.0, 0.0, 0.0

    def path(self, columns: IntArray, alphas: FloatArray, l1_ratio: float) -> FloatArray | None:
        """Return coefficients for penalties from strong to weak, (n_alphas, n_columns); None if they do not rest."""
        penalties, coefficients = (alphas * l1_ratio, alphas * (1.0 - l1_ratio)), np.empty((len(alphas), len(columns)))
        tolerance, known = TOLERANCE * max(self.size, 1e-300), (self.gram, self.pulls)
        return coefficients if fit_products(known, columns, penalties, coefficients, tolerance, MOST_ROUNDS) else None


class Penalised(Part):
    """`Lasso`, `ElasticNet`, `LassoCV` and `ElasticNetCV`, by coordinate descent on products of columns.

    Coefficients are found to 1e-7 of the target's spread. scikit-learn stops at a duality gap of `tol` (1e-4), so that
    its predictions are off by more, up to about 1e-2 of that spread; with a smaller `tol` they come to these. Where two
    penalties of a path predict nearly as well, its choice can be the other one.
    """

    off = 1e-2

    @classmethod
    def refuses(cls, model: Any, n_rows: int, n_columns: int) -> str:
        """Say why a model is not fitted here; the empty string if it is."""
        given = model.get_params(deep=False)
        if not isinstance(given.get("l1_ratio", 1.0), int | float) or not isinstance(given.get("cv"), int | None):
            return f"{type(model).__name__} with several values of l1_ratio, or folds of one's own, is not covered"
        if n_columns > MOST_COLUMNS:
            return f"more than {MOST_COLUMNS} columns, whose products would take much memory"
        return odd_option(model, COVERED_PENALTIES)

    def __init__(self, model: Any, train: FloatArray, labels: Any, test: FloatArray, weights: Weights = None) -> None:
        target = np.asarray(labels, dtype=np.float64)
        self._model, self._whole = model, _Products(train, target, test, weights)
        self._ratio = float(model.l1_ratio) if type(model) in (ElasticNet, ElasticNetCV) else 1.0
        self._folds = []
        if isinstance(model, LassoCV | ElasticNetCV):
            for rows, held in KFold(model.cv or 5).split(train):
                inner, outer = (None, None) if weights is None else (weights[rows], weights[held])
                self._folds.append((_Products(train[rows], target[rows], train[held], inner), target[held], outer))

    def outputs(self, columns: IntArray) -> FloatArray | None:
        """Fit and predict; None leaves it to scikit-learn."""
        alphas = self._chosen(columns) if self._folds else np.array([float(self._model.alpha)])
        coefficients = None if alphas is None else self._whole.path(columns, alphas, self._ratio)
        return None if coefficients is None else self._whole.mean + self._whole.test[:, columns] @ coefficients[-1]

    def _chosen(self, columns: IntArray) -> FloatArray | None:
        """Return the penalties down to the one that predicts the folds best."""
        model, alphas = self._model, getattr(self._model, "alphas", None)
        if isinstance(alphas, np.ndarray | list | tuple):
            grid = np.sort(np.asarray(alphas, dtype=np.float64))[::-1]
        else:
            size = alphas if isinstance(alphas, int) else model.n_alphas
            strongest = np.abs(self._whole.pulls[columns]).max() / self._ratio
            if strongest <= np.finfo(np.float64).resolution:
                return None
            grid = np.geomspace(strongest, strongest * model.eps, size)
        losses = np.zeros(len(grid))
        for fold, truth, weights in self._folds:
            if (coefficients := fold.path(columns, grid, self._ratio)) is None:
                return None
            errors = (fold.mean + fold.test[:, columns] @ coefficients.T - truth[:, None]) ** 2
            losses += np.average(errors, axis=0, weights=weights)
        return grid[: int(np.argmin(losses)) + 1]


class ChosenRidge(Part):
    """`RidgeCV` by leave-one-out errors, which the eigenvectors of the columns' products give for all penalties.

    With the hat matrix H of a penalty, the error of a row that was left out is its residual over 1 − H_ii.
    """

    @classmethod
    def refuses(cls, model: Any, n_rows: int, n_columns: int) -> str:
        """Say why a model is not fitted here; the empty string if it is."""
        if model.cv is not None or n_columns > MOST_COLUMNS:
            return "RidgeCV with folds, or with many columns, is not covered"
        return odd_option(model, COVERED_PENALTIES)

    def __init__(self, model: Any, train: FloatArray, labels: Any, test: FloatArray, weights: Weights = None) -> None:
        self._alphas = np.atleast_1d(np.asarray(model.alphas, dtype=np.float64))
        self._whole = _Products(train, np.asarray(labels, dtype=np.float64), test, weights)
        self._weights = np.ones(len(train)) if weights is None else weights

    def outputs(self, columns: IntArray) -> FloatArray | None:
        """Choose the penalty, the first of equals, and predict."""
        rows, weights, n = self._whole, self._weights, float(self._weights.sum())
        columns = columns[np.diag(rows.gram)[columns] > 0.0]
        if not len(columns):
            return np.full(len(rows.test), rows.mean)
        values, vectors = np.linalg.eigh(n * rows.gram[np.ix_(columns, columns)])
        turned, pulls = rows.train[:, columns] @ vectors, vectors.T @ (n * rows.pulls[columns])
        if values[0] <= 1e-9 * values[-1] or self._alphas.min() <= 0.0:
            return None  # nearly dependent columns: scikit-learn has more digits
        shares = 1.0 / (values + self._alphas[:, None])
        left = rows.target - (shares * pulls) @ turned.T
        losses = (weights * (left / (1.0 - weights * (1.0 / n + shares @ (turned**2).T))) ** 2).mean(axis=1)
        best = shares[int(np.argmin(losses))]
        return np.asarray(rows.mean + rows.test[:, columns] @ (vectors @ (best * pulls)))


PENALISED: dict[type, type[Part]] = dict.fromkeys((Lasso, ElasticNet, LassoCV, ElasticNetCV), Penalised)
PENALISED |= {RidgeCV: ChosenRidge}
