"""`BernoulliNB`, `NearestCentroid`: each column adds its own part to the decisions, whatever the others are.

`GaussianNB`: log-likelihoods of held-out rows add up over columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.criteria.engines._engine import Engine, EngineMetric, Folds
from fewer.kernels import gaussian
from fewer.kernels.bundles import Gaussians, HeldOut
from fewer.problem import BoolArray, FloatArray, IntArray


class AdditiveEngine(Engine):
    """Decisions that are sums over columns: (p, n, c) parts are computed once, and added up for each subset."""

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        c, p = folds.problem.n_classes, folds.problem.n_features
        super().__init__(folds, metric, c)
        self._parts, self._constant = np.empty((p, folds.n_tests, c)), np.empty((folds.n_tests, c))
        self._usable = np.ones((folds.n_folds, p), dtype=bool)
        for fold, (X, y, weights) in enumerate(folds.training()):
            self._learn(fold, estimator, X, y, weights)

    def _learn(self, fold: int, estimator: Any, X: FloatArray, y: Any, weights: FloatArray | None) -> None:
        """Write the parts and the constant of the test rows of a fold."""
        raise NotImplementedError

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Add each column's part to the sum of the members'."""
        base = self._constant + self._parts[members].sum(axis=0)
        np.add(base, self._parts[added], out=out)
        return np.asarray(self._usable[:, members].any(axis=1) | self._usable[:, added].T)


class BernoulliEngine(AdditiveEngine):
    """Naive Bayes of cells that are above a threshold or not."""

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        if np.ndim(estimator.alpha) or estimator.alpha < 1e-10 or estimator.binarize is None:
            raise ValueError(f"alpha={estimator.alpha!r}, binarize={estimator.binarize!r}")
        super().__init__(estimator, folds, metric)

    def _learn(self, fold: int, estimator: Any, X: FloatArray, y: Any, weights: FloatArray | None) -> None:
        c, alpha = self._n_outputs, float(estimator.alpha)
        ones = np.where(y[:, None] == np.arange(c), 1.0 if weights is None else weights[:, None], 0.0)
        sizes = ones.sum(axis=0)
        above = (estimator.binarize < X).T @ ones
        on = np.log(above + alpha) - np.log(sizes + 2.0 * alpha)
        off = np.log(1.0 - np.exp(on))
        cells = estimator.binarize < self.folds.tests(fold).T
        self._parts[:, self.folds.rows(fold)] = np.where(cells[:, :, None], on[:, None], off[:, None])
        self._constant[self.folds.rows(fold)] = (
            np.log(sizes) - np.log(sizes.sum()) if estimator.fit_prior else -np.log(c)
        )


class CentroidEngine(AdditiveEngine):
    """The nearest class mean.

    Squared distances add up. Classes are told by plain distances; what all classes have in common is left out, as
    scikit-learn's own products do, so that decisions are as large as its rounding errors are. Probabilities and
    decision values are those of distances in units of the spread within classes.
    """

    def _learn(self, fold: int, estimator: Any, X: FloatArray, y: Any, weights: FloatArray | None) -> None:
        c = self._n_outputs
        means = np.stack([X[y == k].mean(axis=0) for k in range(c)])
        new = self.folds.tests(fold)
        if not self.metric.needs_classes:
            spread = np.sqrt(((X - means[y]) ** 2).sum(axis=0) / (len(X) - c))
            spread[spread == 0] = 1.0
            parts = -(((new / spread).T[:, :, None] - (means / spread).T[:, None]) ** 2)
        else:
            parts = (2.0 * new.T[:, :, None] - means.T[:, None]) * means.T[:, None]
        self._parts[:, self.folds.rows(fold)] = parts
        self._constant[self.folds.rows(fold)] = 0.0
        self._usable[fold] = np.ptp(X, axis=0) > 0


class GaussianEngine(Engine):
    """Gaussian naive Bayes.

    scikit-learn adds `var_smoothing` times the largest variance *of the subset* to all variances, so that a column that
    enters with a larger one changes the parts of all others.
    """

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
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
                rows = X[y == k]
                share = None if weights is None else weights[y == k]
                self._means[fold, :, k] = np.average(rows, axis=0, weights=share)
                self._variances[fold, :, k] = np.average((rows - self._means[fold, :, k]) ** 2, axis=0, weights=share)
        self._rows = HeldOut(folds.columns, folds.bounds)
        self._learned = Gaussians(self._means, self._variances, self._prior, self._spreads, self._smoothing)

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Add each column's part to the sums of the members."""
        gaussian.predict_added(members, added, self._rows, self._learned, out)
        if (
            self.metric.name in ("roc_auc", "average_precision") and self.metric.scorer is None
        ):  # chances are all that scikit-learn's model gives: far away they are equal
            out -= np.logaddexp.reduce(out, axis=-1, keepdims=True)
            np.exp(out, out=out)
            out[..., 0] = 0.0
        widest = self._spreads[:, members].max(axis=1, initial=0.0)
        return np.asarray((widest > 0.0) | (self._spreads[:, added].T > 0.0))
