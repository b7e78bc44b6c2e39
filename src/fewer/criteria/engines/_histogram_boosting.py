"""scikit-learn's `HistGradientBoosting` on rows whose columns are binned once, for all subsets of columns.

Raw predictions are the same to the bit (scikit-learn's versions in `_sklearn_internals.CHECKED`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.class_weight import compute_sample_weight

from fewer.criteria._sklearn_internals import bin_columns, first_prediction
from fewer.criteria.engines._parts import Part, agrees, codes_of, odd_option
from fewer.kernels import histogram_boosting as kernel
from fewer.problem import FloatArray, IntArray

BOOSTINGS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
PLAIN = {
    "loss": ("log_loss", "squared_error"), "max_features": (1.0,), "max_bins": (255,), "monotonic_cst": (None,),
    "interaction_cst": (None,), "warm_start": (False,), "early_stopping": (False, "auto"), "verbose": (0,),
    "categorical_features": (None, "from_dtype"),
}  # fmt: skip
"""Options that must stand at these values."""
MOST_ROWS = 10_000
"""Above this many training rows `early_stopping="auto"` stops early."""
MOST_BYTES = 1 << 30
"""Of the lists of open nodes."""
LEAST_HESSIAN = 1e-3


def why_not_boosted(model: Any, n_rows: int, n_columns: int) -> str:
    """Say why a model cannot be grown here on so many rows and columns; the empty string if it can.

    Parameters
    ----------
    model : estimator
        The model that was given.
    n_rows, n_columns : int
        Training rows, and columns of the largest subset.

    Examples
    --------
    >>> why_not_boosted(HistGradientBoostingClassifier(), 500, 30)
    ''
    >>> why_not_boosted(HistGradientBoostingClassifier(max_bins=100), 500, 30)
    'HistGradientBoostingClassifier(max_bins=100) is not covered'
    """
    if type(model) not in BOOSTINGS:
        return f"{type(model).__name__} is not histogram gradient boosting"
    if odd := odd_option(model, PLAIN):
        return odd
    if n_rows > MOST_ROWS:
        return "more than 10,000 training rows, on which it stops early"
    if 8 * kernel.LIST * n_columns * (_n_leaves(model, n_rows) + 2) > MOST_BYTES:
        return "the histograms would take more than 1 GB"
    estimator: Any = type(model)
    return "" if agrees(HistogramBoosting, estimator) else "this version of scikit-learn boosts differently"


class HistogramBoosting(Part):
    """Fits a boosting model on any columns of the same training rows and predicts the same test rows.

    Parameters
    ----------
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        One that `why_not_boosted` has nothing against.
    train, test : float arrays of shape (n_train, n_features), (n_test, n_features)
        Missing cells are NaN.
    labels : array of shape (n_train,)
        Classes, or quantities.
    weights : array of shape (n_train,), optional
        Row weights.

    Attributes
    ----------
    classes_ : array of shape (n_classes,) or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=10)
    >>> part = HistogramBoosting(model, X[::2], y[::2], X[1::2])
    >>> part.predict_proba(np.array([2, 3])).shape
    (75, 3)
    >>> fitted = model.fit(X[::2, 2:], y[::2])
    >>> np.array_equal(part.predict_proba(np.array([2, 3])), fitted.predict_proba(X[1::2, 2:]))
    True
    """

    takes_missing = True
    refuses = staticmethod(why_not_boosted)

    def __init__(
        self, model: Any, train: FloatArray, labels: NDArray[Any], test: FloatArray, weights: FloatArray | None = None
    ) -> None:
        if is_classifier(model) and model.class_weight is not None:
            balance = compute_sample_weight(model.class_weight, labels)
            weights = balance if weights is None else weights * balance
        self.classes_, y = codes_of(labels, is_classifier(model))
        n_classes = 0 if self.classes_ is None else len(self.classes_)
        if n_classes == 1:
            raise ValueError("one class alone")
        self._base = first_prediction(y, n_classes, weights)
        cells, others, n_bins = bin_columns(train, test, weights)
        kinds = np.column_stack([n_bins, (cells == kernel.MISSING).any(axis=1)]).astype(np.int64)
        target = np.stack([y, np.ones(len(y)) if weights is None else weights])
        self._rows = kernel.Binned(cells, others, kinds, target)
        n_leaves, k = _n_leaves(model, len(y)), len(self._base)
        self._growth = kernel.Growth(
            kernel.SQUARED if n_classes == 0 else kernel.BINOMIAL if n_classes == 2 else kernel.MULTINOMIAL,
            weights is not None, int(model.max_iter), float(model.learning_rate), float(model.l2_regularization),
            int(model.min_samples_leaf), n_leaves, -1 if model.max_depth is None else int(model.max_depth),
            LEAST_HESSIAN,
        )  # fmt: skip
        self._raw, self._tests = np.empty((k, len(y))), np.empty((k, len(test)))
        self._decisions = np.empty((len(test), k))

    def decision_function(self, columns: IntArray) -> FloatArray:
        """Fit on some columns and return raw predictions of the test rows, one column for each tree of a round.

        Parameters
        ----------
        columns : int array of shape (n_columns,)
            In ascending order.

        Returns
        -------
        array of shape (n_test, n_trees_per_round)
            A new array.
        """
        work = _scratch(self._rows, self._growth, len(self._base), len(columns))
        some = np.asarray(columns, dtype=np.int64)
        kernel.boost(self._rows, some, self._growth, self._base, work, self._raw, self._tests)
        self._decisions = self._tests.T.copy()
        return self._decisions

    def outputs(self, columns: IntArray) -> FloatArray:
        """Fit on some columns and return class memberships or quantities of the test rows."""
        return self.predict(columns) if self.classes_ is None else self.predict_proba(columns)

    def decisions(self, outputs: FloatArray) -> FloatArray | None:
        """Return the raw predictions of the last fit."""
        if self.classes_ is None:
            return None
        return self._decisions if len(self._base) > 1 else self._decisions[:, 0]

    def codes(self, outputs: FloatArray) -> IntArray:
        """Return class codes by the raw predictions of the last fit."""
        raw = self._decisions
        return raw.argmax(axis=1) if raw.shape[1] > 1 else (raw[:, 0] > 0.0).astype(np.int64)

    def predict_proba(self, columns: IntArray) -> FloatArray:
        """Fit on some columns and return the class memberships of the test rows, (n_test, n_classes)."""
        raw = self.decision_function(columns)
        if raw.shape[1] > 1:
            return np.asarray(softmax(raw, axis=1))
        second = expit(raw[:, 0])
        return np.column_stack([1.0 - second, second])

    def predict(self, columns: IntArray) -> NDArray[Any]:
        """Fit on some columns and return the classes or quantities of the test rows."""
        raw = self.decision_function(columns)
        if self.classes_ is None:
            return raw[:, 0]
        return self.classes_[self.codes(raw)]


def _n_leaves(model: Any, n_rows: int) -> int:
    """Return the number of leaves that a tree may have; one more than it can have, where that is all."""
    reachable = n_rows // int(model.min_samples_leaf) + 1
    return reachable if model.max_leaf_nodes is None else min(int(model.max_leaf_nodes), reachable)


def _scratch(rows: kernel.Binned, growth: kernel.Growth, k: int, n_columns: int) -> kernel.Scratch:
    n, m = rows.train.shape[1], rows.test.shape[1]
    n_slots, n_nodes = growth.n_leaves + 1, 2 * growth.n_leaves + 2
    cells = np.zeros((k + 1, 4 * n))
    cells[:, 2::4] = 1.0
    return kernel.Scratch(
        lists=np.empty((n_slots + 1) * n_columns * kernel.LIST),
        lengths=np.zeros((n_slots + 1, n_columns), dtype=np.int64),
        dense=np.zeros(1024),
        cuts=np.empty(4 * kernel.CUTS),
        cells=cells,
        order=np.empty(n + m + max(n, m), dtype=np.uint32),
        nodes=np.empty((n_nodes, kernel.FREE + 1), dtype=np.int64),
        sums=np.empty((n_nodes, 6)),
        counts=np.zeros(4, dtype=np.int64),
    )
