"""`QuadraticDiscriminantAnalysis`: one Cholesky factor for each class and fold."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from fewer.criteria.engines._engine import Engine
from fewer.criteria.engines._folds import Folds
from fewer.criteria.engines._metric import Metric
from fewer.kernels import _quadratic
from fewer.kernels._bundles import HeldOut, Spreads
from fewer.problem import BoolArray, FloatArray, IntArray


@cache
def divides_by_rows() -> bool:
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

    def __init__(self, estimator: Any, folds: Folds, metric: Metric) -> None:
        c, p, f = folds.problem.n_classes, folds.problem.n_features, folds.n_folds
        super().__init__(folds, metric, c)
        gram, means, prior = np.empty((f, c, p, p)), np.empty((f, c, p)), np.empty((f, c))
        share = float(estimator.reg_param)
        for fold, (X, y, _) in enumerate(folds.training()):
            counts = np.bincount(y, minlength=c)
            if counts.min() < 2:
                raise ValueError("a class with one row")
            prior[fold] = np.log(counts / len(y))
            for k in range(c):
                own = X[y == k]
                means[fold, k] = own.mean(axis=0)
                centered = own - means[fold, k]
                gram[fold, k] = centered.T @ centered / (len(own) if divides_by_rows() else len(own) - 1)
                gram[fold, k] = (1.0 - share) * gram[fold, k] + share * np.eye(p)
        # With fewer rows than columns the spread is never whole; kernels see that as a small pivot.
        self._rows = HeldOut(folds.columns, folds.bounds)
        self._spreads = Spreads(gram, means, prior, float(estimator.tol))

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Border each class's Cholesky factor by each column."""
        sure = np.ones((len(added), self.folds.n_folds), dtype=bool)
        _quadratic.predict_added(members, added, self._rows, self._spreads, out, sure)
        return sure

    def predict_members(self, members: IntArray, out: FloatArray) -> BoolArray:
        """Add the last member to the others."""
        return self.predict_added(members[:-1], members[-1:], out[None])[0]
