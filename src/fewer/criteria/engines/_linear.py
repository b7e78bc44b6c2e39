"""`LinearRegression`, `Ridge`, `RidgeClassifier`, `LinearDiscriminantAnalysis`: one Gram matrix a fold.

`QuadraticDiscriminantAnalysis`: one Cholesky factor for each class and fold.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

from fewer.criteria.engines._engine import Engine, EngineMetric, Folds
from fewer.kernels import linear, quadratic
from fewer.kernels.bundles import HeldOut, Products, Spreads
from fewer.problem import BoolArray, FloatArray, IntArray


class LinearEngine(Engine):
    """Predictions that are linear in the columns: a subset's come from its part of the training rows' Gram matrix."""

    least = 1e-7  # A column of which less than this share is left by the others is left to scikit-learn.
    half = 0.0

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        n_outputs = max(folds.problem.n_classes, 1)
        super().__init__(folds, metric, n_outputs)
        p, f = folds.problem.n_features, folds.n_folds
        self._gram, self._moments = np.empty((f, p, p)), np.empty((f, p, n_outputs))
        self._constant, self._scales = np.empty((f, n_outputs)), np.ones((f, p))
        for fold, (X, y, weights) in enumerate(folds.training()):
            self._learn(fold, estimator, X, y, weights)
        products = Products(self._gram, self._moments, self._constant, self.half, self.least)
        self._given = HeldOut(folds.columns, folds.bounds), products
        # LinearRegression drops directions in which columns spread less than `tol` of the most. In like units `least`
        # rules that out.
        is_cut = type(estimator) is LinearRegression and np.ptp(np.log(self._scales), axis=1).max() > np.log(10.0)
        self._cut = 2.0 * float(estimator.tol) if is_cut else 0.0

    def _learn(self, fold: int, estimator: Any, X: FloatArray, y: Any, weights: FloatArray | None) -> None:
        """Learn a regression from the training rows of a fold; classes are fitted as ±1."""
        ridge = float(estimator.alpha) if isinstance(estimator, Ridge | RidgeClassifier) else 0.0
        is_class = self.folds.problem.task == "classification"
        targets = np.where(y[:, None] == np.arange(self._n_outputs), 1.0, -1.0) if is_class else y[:, None]
        w = np.ones(len(X)) if weights is None else weights
        mean = np.average(X, axis=0, weights=w)
        self._constant[fold] = np.average(targets, axis=0, weights=w)
        centered = X - mean
        scale = np.sqrt(w @ centered**2 / w.sum())
        scale[scale == 0] = 1.0
        centered /= scale
        self._scales[fold] = scale
        weighted = centered * w[:, None]
        self._gram[fold] = weighted.T @ centered + np.diag(ridge / scale**2)
        self._moments[fold] = weighted.T @ (targets - self._constant[fold])
        self.folds.put(fold, (self.folds.tests(fold) - mean) / scale)

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Border the members' Cholesky factor by each column."""
        sure = np.ones((len(added), self.folds.n_folds), dtype=bool)
        linear.predict_added(members, added, *self._given, out, sure)
        if self._cut:
            columns = np.column_stack([np.tile(members, (len(added), 1)), added])
            rows, others = columns[:, :, None], columns[:, None]
            values = np.linalg.eigvalsh(self._gram[:, rows, others] * self._scales[:, rows] * self._scales[:, others])
            sure &= (values[..., 0] > self._cut**2 * values[..., -1]).T
        return sure


@cache
def divides_by_rows() -> bool:
    """Whether this version of scikit-learn divides the spread within classes by all rows, or by those less the classes.

    Rows 0, 2 and 1, 3 of two classes: a spread of 4 and means 1 apart give a coefficient of 1 or of 1/2.
    """
    fitted = LinearDiscriminantAnalysis().fit([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    return bool(fitted.coef_[0, 0] > 0.75)


class DiscriminantEngine(LinearEngine):
    """Linear discriminants: in whitened coordinates each column adds its own part to the classes' scores.

    scikit-learn drops directions in which the classes spread less than its `tol`; columns that come near to that are
    left to it.
    """

    least, half = 1e-6, 0.5

    def _learn(self, fold: int, estimator: Any, X: FloatArray, y: Any, weights: FloatArray | None) -> None:
        if estimator.tol > 1e-4:
            raise ValueError(f"tol={estimator.tol!r}, for which it leaves directions out")
        c = self._n_outputs
        counts = np.bincount(y, minlength=c)
        shares = counts / len(y)
        means = np.stack([X[y == k].mean(axis=0) for k in range(c)])
        center = shares @ means
        within = X - means[y]
        scale = within.std(axis=0)
        scale[scale == 0] = 1.0
        within /= scale
        self._gram[fold] = within.T @ within / (len(X) if divides_by_rows() else len(X) - c)
        self._moments[fold] = ((means - center) / scale).T
        self._constant[fold] = np.log(shares)
        self.folds.put(fold, (self.folds.tests(fold) - center) / scale)


@cache
def divides_class_by_rows() -> bool:
    """Whether this version of scikit-learn divides the spread of a class by all of its rows, or by all but one.

    Two rows a class, 0 and 2: a variance of 1, or of 2.
    """
    fitted = QuadraticDiscriminantAnalysis().fit([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    return bool(np.ravel(fitted.scalings_[0])[0] < 1.5)


class QuadraticEngine(Engine):
    """Quadratic discriminants: a column's whitened part is added to each class.

    scikit-learn refuses, or cuts, classes that spread less than `tol` in some direction of the subset; where that is
    not ruled out, the fold is left to it.
    """

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        c, p, f = folds.problem.n_classes, folds.problem.n_features, folds.n_folds
        super().__init__(folds, metric, c)
        gram, means, prior = np.empty((f, c, p, p)), np.empty((f, c, p)), np.empty((f, c))
        share, self._fewest = float(estimator.reg_param), np.empty(f, dtype=np.int64)
        for fold, (X, y, _) in enumerate(folds.training()):
            counts = np.bincount(y, minlength=c)
            if counts.min() < 2:
                raise ValueError("a class with one row")
            prior[fold], self._fewest[fold] = np.log(counts / len(y)), counts.min()
            for k in range(c):
                rows = X[y == k]
                means[fold, k] = rows.mean(axis=0)
                centered = rows - means[fold, k]
                gram[fold, k] = centered.T @ centered / (len(rows) if divides_class_by_rows() else len(rows) - 1)
                gram[fold, k] = (1.0 - share) * gram[fold, k] + share * np.eye(p)
        self._rows = HeldOut(folds.columns, folds.bounds)
        self._spreads = Spreads(gram, means, prior, float(estimator.tol))

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Border each class's Cholesky factor by each column."""
        sure = np.ones((len(added), self.folds.n_folds), dtype=bool)
        quadratic.predict_added(members, added, self._rows, self._spreads, out, sure)
        # scikit-learn refuses a class with fewer rows than columns, whatever `reg_param` adds.
        return np.asarray(sure & (self._fewest > len(members)))
