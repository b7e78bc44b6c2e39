"""`GaussianNB`: log-likelihoods of held-out rows add up over columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.criteria.engines._engine import Engine
from fewer.criteria.engines._folds import Folds
from fewer.criteria.engines._metric import Metric
from fewer.kernels import _gaussian
from fewer.kernels._bundles import Gaussians, HeldOut
from fewer.problem import BoolArray, FloatArray, IntArray


class GaussianEngine(Engine):
    """Gaussian naive Bayes.

    scikit-learn adds `var_smoothing` times the largest variance *of the subset* to all variances, so that a column that
    enters with a larger one changes the parts of all others.
    """

    def __init__(self, estimator: Any, folds: Folds, metric: Metric) -> None:
        c = folds.problem.n_classes
        super().__init__(folds, metric, c)
        p = folds.problem.n_features
        self._smoothing = float(estimator.var_smoothing)
        if not self._smoothing > 0:
            raise ValueError("var_smoothing=0")
        self._means, self._variances = np.empty((folds.n_folds, p, c)), np.empty((folds.n_folds, p, c))
        self._prior, self._spreads = np.empty((folds.n_folds, c)), np.empty((folds.n_folds, p))
        for fold, (X, y, weights) in enumerate(folds.training()):
            self._spreads[fold] = X.var(axis=0)
            counts = np.bincount(y, weights, minlength=c).astype(np.float64)
            self._prior[fold] = np.log(counts / counts.sum())
            for k in range(c):
                own = X[y == k]
                share = None if weights is None else weights[y == k]
                self._means[fold, :, k] = np.average(own, axis=0, weights=share)
                self._variances[fold, :, k] = np.average((own - self._means[fold, :, k]) ** 2, axis=0, weights=share)
        self._rows = HeldOut(folds.columns, folds.bounds)
        self._learned = Gaussians(self._means, self._variances, self._prior, self._spreads, self._smoothing)

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Add each column's part to the sums of the members."""
        _gaussian.predict_added(members, added, self._rows, self._learned, out)
        self._to_chances(out)
        widest = self._spreads[:, members].max(axis=1, initial=0.0)
        return np.asarray((widest > 0.0) | (self._spreads[:, added].T > 0.0))

    def predict_members(self, members: IntArray, out: FloatArray) -> BoolArray:
        """Sum up the members' parts."""
        _gaussian.predict_members(members, self._rows, self._learned, out)
        self._to_chances(out)
        return np.asarray(self._spreads[:, members].max(axis=1) > 0.0)

    def _to_chances(self, out: FloatArray) -> None:
        """Rank by chances, which are all that scikit-learn's model gives: far from the boundary they are equal."""
        if self.metric.name == "roc_auc":
            out -= np.logaddexp.reduce(out, axis=-1, keepdims=True)
            np.exp(out, out=out)
            out[..., 0] = 0.0
