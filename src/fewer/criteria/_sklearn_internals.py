"""Everything that is taken from scikit-learn's private modules, in one place.

Whoever uses it compares a small fit with scikit-learn's own first, so that a version that works otherwise goes the
ordinary way. Checked with the versions in `CHECKED`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.problem import FloatArray

CHECKED = ("1.9.1",)
"""Versions of scikit-learn for which the private parts are known to be as expected."""


def bin_columns(train: FloatArray, test: FloatArray, weights: FloatArray | None) -> tuple[Any, Any, Any]:
    """Bin columns as histogram gradient boosting does: training rows, test rows (uint8, transposed), bins by column.

    Parameters
    ----------
    train, test : arrays of shape (n_train, n_features), (n_test, n_features)
        Missing cells are NaN.
    weights : array of shape (n_train,) or None

    Returns
    -------
    train, test : uint8 arrays of shape (n_features, n_train), (n_features, n_test)
        Missing cells are in bin 255.
    n_bins : int array of shape (n_features,)
        Bins that are not for missing cells.
    """
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    mapper = _BinMapper(n_bins=256, random_state=0, n_threads=1).fit(train, sample_weight=weights)
    n_bins = np.asarray(mapper.n_bins_non_missing_, dtype=np.int64)
    binned = [np.ascontiguousarray(mapper.transform(rows).T) for rows in (train, test)]
    return binned[0], binned[1], n_bins


def first_prediction(y: FloatArray, n_classes: int, weights: FloatArray | None) -> FloatArray:
    """Return the raw prediction before the first tree, one for each tree of a round.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class codes, or quantities if `n_classes` is 0.
    n_classes : int
    weights : array of shape (n_samples,) or None
    """
    from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss, HalfSquaredError

    losses = {0: HalfSquaredError, 2: HalfBinomialLoss}
    loss = losses[n_classes]() if n_classes in losses else HalfMultinomialLoss(n_classes=n_classes)
    return np.atleast_1d(loss.fit_intercept_only(y_true=y, sample_weight=weights)).astype(np.float64)
