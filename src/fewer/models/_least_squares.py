"""A linear model of the classes, fitted by least squares (Scott, figure 4.1 and chapter 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fewer.errors import one_line
from fewer.estimators import ClassScoresMixin
from fewer.problem import FloatArray, checked_weights


class LeastSquaresClassifier(ClassifierMixin, ClassScoresMixin, BaseEstimator):
    """Fit 0/1 class indicators by least squares: the maximum-likelihood linear model under Gaussian noise.

    Columns that depend on each other linearly do no harm: the smallest weights that fit best are taken.

    Read more in the guide: :doc:`/methods/models`.

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (n_features,) for two classes, else (n_classes, n_features)
    intercept_ : float for two classes, else array of shape (n_classes,)
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> model = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(2), model.predict([[1.4], [1.6]])
    (array([0.4]), array(['no', 'yes'], dtype='<U3'))
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LeastSquaresClassifier:
        """Fit the weights.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their target.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        LeastSquaresClassifier
            Itself.
        """
        with one_line():
            X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        codes = self._learn_classes(y)
        share = np.ones(len(y)) if sample_weight is None else checked_weights(sample_weight, len(y))
        binary = len(self.classes_) == 2
        targets = codes[:, None] == (1 if binary else np.arange(len(self.classes_)))
        # Centering keeps a large offset from swallowing small differences.
        center = np.average(X, axis=0, weights=share)
        middle = np.average(targets, axis=0, weights=share)
        root = np.sqrt(share)[:, None]
        weights = np.linalg.lstsq(root * (X - center), root * (targets - middle), rcond=None)[0]
        offset = middle - center @ weights
        self.coef_ = weights[:, 0] if binary else weights.T
        self.intercept_ = float(offset[0]) if binary else offset
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the fitted value less one half for two classes, else the fitted value of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_ - (0.5 if len(self.classes_) == 2 else 0.0))
