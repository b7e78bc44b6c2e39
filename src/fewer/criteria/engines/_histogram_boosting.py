"""scikit-learn's `HistGradientBoosting` on rows whose columns are binned once, for all subsets of columns.

Raw predictions are the same to the bit (scikit-learn's versions in `_sklearn_internals.CHECKED`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight

from fewer.criteria._preparation import HISTOGRAM_BOOSTINGS
from fewer.criteria._sklearn_internals import bin_columns, first_prediction, loss_of
from fewer.criteria.engines._parts import Part, Weights, codes_of, odd_option
from fewer.kernels import histogram_boosting as kernel
from fewer.problem import BoolArray, FloatArray, IntArray

# Options that must stand at these values.
COVERED_BOOSTING = {
    "loss": ("log_loss", "squared_error"), "max_features": (1.0,), "max_bins": (255,), "monotonic_cst": (None,),
    "interaction_cst": (None,), "warm_start": (False,), "verbose": (0,),
}  # fmt: skip
STOPS_ABOVE = 10_000  # Above this many training rows `early_stopping="auto"` stops early.
MOST_ROWS = 200_000  # Above this many training rows bins are those of a sample.
MOST_LEVELS = 255
MOST_BYTES = 1 << 30  # Of the lists of open nodes.
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
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> why_not_boosted(HistGradientBoostingClassifier(), 500, 30)
    ''
    >>> why_not_boosted(HistGradientBoostingClassifier(max_bins=100), 500, 30)
    'HistGradientBoostingClassifier(max_bins=100) is not covered'
    """
    if type(model) not in HISTOGRAM_BOOSTINGS:
        return f"{type(model).__name__} is not histogram gradient boosting"
    if odd := odd_option(model, COVERED_BOOSTING):
        return odd
    if _stops(model, n_rows) and (reason := _odd_stop(model)):
        return reason
    if n_rows > MOST_ROWS:
        return "more than 200,000 training rows, of which it draws some for its bins"
    if 8 * kernel.HISTOGRAM * n_columns * (_n_leaves(model, n_rows) + 2) > MOST_BYTES:
        return "the histograms would take more than 1 GB"
    return ""


@cache
def boosts_alike(estimator: Any, *needs: bool | None) -> bool:
    """Whether a small fit is scikit-learn's own, with what a run needs; asked once, before the first is trusted.

    Another version of scikit-learn may boost otherwise, and the C library of another machine may put equally good
    categories in another order.
    """
    by_category, missing, several = needs
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(np.repeat(np.arange(12.0), 15)), rng.normal(size=(180, 2)).round(1)])
    y = np.nan_to_num(X).sum(axis=1) % (3 if several else 2) // 1
    X[::9, 1] = np.nan if missing else 0.0
    model = estimator(max_iter=3, min_samples_leaf=1, max_leaf_nodes=8, early_stopping=False)
    model.set_params(categorical_features=[0] if by_category else None)
    try:
        part = HistogramBoosting(model, X[:150], y[:150], X[150:], trusted=True)
        part._needs = list(needs)
        predictions = part.decision_function(np.arange(3))
        return bool(np.array_equal(predictions, model.fit(X[:150], y[:150])._raw_predict(X[150:])))
    except Exception:
        return False


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
    trusted : bool, default=False
        Do not look first whether scikit-learn boosts alike.

    Raises
    ------
    ValueError
        If it does not, or if these rows are better left to it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,) or None

    Notes
    -----
    Columns of categories are named by place or as a mask (`categorical_features`), and hold numbers. Where the model
    stops early, rows to stop on are drawn as scikit-learn does, and its own loss is asked after each round.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=10)
    >>> part = HistogramBoosting(model, X[::2], y[::2], X[1::2])
    >>> part.predict_proba(np.array([2, 3])).shape
    (75, 3)
    >>> fitted = model.fit(X[::2, 2:], y[::2])
    >>> np.array_equal(part.predict_proba(np.array([2, 3])), fitted.predict_proba(X[1::2, 2:]))
    True
    """

    takes_missing, checks_itself = True, True
    refuses = staticmethod(why_not_boosted)

    def __init__(
        self, model: Any, train: FloatArray, labels: Any, test: FloatArray, weights: Weights = None,
        trusted: bool = False,
    ) -> None:  # fmt: skip
        if is_classifier(model) and model.class_weight is not None:
            balance = compute_sample_weight(model.class_weight, labels)
            weights = balance if weights is None else weights * balance
        self.classes_, y = codes_of(labels, is_classifier(model))
        n_classes = 0 if self.classes_ is None else len(self.classes_)
        if n_classes == 1:
            raise ValueError("one class alone")
        levels = {f: _levels(train[:, f]) for f in np.flatnonzero(_categories(model, train.shape[1])).tolist()}
        self._n_test, self._patience, rows = len(test), 0, np.arange(len(y))
        if _stops(model, len(y)):
            self._patience, self._loss, self._tol = int(model.n_iter_no_change), loss_of(n_classes), float(model.tol)
            kept = rows
            if model.validation_fraction is not None:
                rows, kept = _held_out(model, y)
                test = np.vstack([test, train[kept]])
            self._judged = y[kept], None if weights is None else weights[kept]
        train, y, weights = train[rows], y[rows], None if weights is None else weights[rows]
        self._base = first_prediction(y, n_classes, weights)
        cells, others, n_bins = bin_columns(train, test, weights, levels)
        kinds = np.column_stack(
            [n_bins, (cells == kernel.MISSING).any(axis=1), np.isin(np.arange(len(n_bins)), list(levels))]
        ).astype(np.int64)
        # A cut between one category and missing cells: scikit-learn reads it in the place of another cut's categories.
        self._odd = (kinds == (1, 1, 1)).all(axis=1)
        target = np.stack([y, np.ones(len(y)) if weights is None else weights])
        self._rows = kernel.Binned(cells, others, kinds, target)
        n_leaves, k = _n_leaves(model, len(y)), len(self._base)
        self._growth = kernel.Growth(
            kernel.SQUARED if n_classes == 0 else kernel.BINOMIAL if n_classes == 2 else kernel.MULTINOMIAL,
            weights is not None, int(model.max_iter), float(model.learning_rate), float(model.l2_regularization),
            int(model.min_samples_leaf), n_leaves, -1 if model.max_depth is None else int(model.max_depth),
            LEAST_HESSIAN,
        )  # fmt: skip
        needs = (bool(levels), bool(kinds[:, 1].any()), k > 1)
        self._needs = [True if needed else None for needed in needs]
        estimator: Any = type(model)
        if not trusted and not boosts_alike(estimator, *self._needs):
            raise ValueError("this version of scikit-learn boosts differently")
        self._raw, self._tests = np.empty((k, len(y))), np.empty((k, len(test)))
        self._decisions = np.empty((self._n_test, k))

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
        ordered = np.asarray(columns, dtype=np.int64)
        by_category = self._rows.kinds[ordered, 2] == 1
        ordered = np.concatenate([ordered[by_category], ordered[~by_category]])  # as scikit-learn has them
        work = _scratch(self._rows, self._growth, len(self._base), len(columns))
        self._raw[:], self._tests[:] = self._base[:, None], self._base[:, None]
        growth = self._growth._replace(n_rounds=1) if self._patience else self._growth
        scores = [self._score()] if self._patience else []
        for _ in range(self._growth.n_rounds if self._patience else 1):
            kernel.boost(self._rows, ordered, growth, work, self._raw, self._tests, *self._needs)
            if self._patience:
                scores.append(self._score())
                recent = scores[-self._patience - 1 :]
                if len(recent) > self._patience and not max(recent[1:]) > recent[0] + self._tol:
                    break
        self._decisions = self._tests[:, : self._n_test].T.copy()
        return self._decisions

    def _score(self) -> float:
        """Return minus the loss of the rows on which it stops: those kept, or all that it learns from."""
        y, weights = self._judged
        raw = self._tests[:, self._n_test :] if self._tests.shape[1] > self._n_test else self._raw
        return -float(self._loss(y_true=y, raw_prediction=np.asfortranarray(raw.T), sample_weight=weights, n_threads=1))

    def outputs(self, columns: IntArray) -> FloatArray | None:
        """Fit on some columns and return class memberships or quantities of the test rows."""
        if self._odd[columns].any():
            return None
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


def _stops(model: Any, n_rows: int) -> bool:
    return n_rows > STOPS_ABOVE if model.early_stopping == "auto" else bool(model.early_stopping)


def _odd_stop(model: Any) -> str:
    """Say what is odd about how a model stops early."""
    if not isinstance(model.random_state, int | np.integer):
        return "it stops early, with a seed that is not an integer"
    return odd_option(model, {"scoring": ("loss",)})


def _held_out(model: Any, y: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the rows that a model learns from and those on which it stops, drawn as scikit-learn does."""
    seed = np.random.RandomState(model.random_state).randint(np.iinfo(np.uint32).max, dtype="u8")
    strata = y if is_classifier(model) else None
    split = {"test_size": model.validation_fraction, "stratify": strata, "random_state": seed}
    rows, kept = train_test_split(np.arange(len(y)), **split)
    return rows, kept


def _categories(model: Any, n_columns: int) -> BoolArray:
    """Return which columns hold categories; rows are numbers, so that none do by their type."""
    is_category = np.zeros(n_columns, dtype=bool)
    if not isinstance(model.categorical_features, str | None):
        given = np.asarray(model.categorical_features)
        if given.dtype.kind not in "bi" or (given.dtype.kind == "b" and len(given) != n_columns):
            raise ValueError("categories by name, or a mask of other columns")
        is_category[given] = True
    return is_category


def _levels(cells: FloatArray) -> FloatArray:
    """Return the categories of a column."""
    values = np.unique(cells[~np.isnan(cells)])
    if len(values) > MOST_LEVELS:
        raise ValueError("more than 255 categories")
    return values


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
        histograms=np.empty((n_slots + 1) * n_columns * kernel.HISTOGRAM),
        used=np.empty((n_slots + 1, n_columns, 4), dtype=np.uint64),
        dense=np.zeros(4 * kernel.HISTOGRAM),
        cuts=np.empty(4 * kernel.CUTS),
        cells=cells,
        order=np.empty(n + m + max(n, m), dtype=np.uint32),
        nodes=np.empty((n_nodes, kernel.FREE + 1), dtype=np.int64),
        sums=np.empty((n_nodes, 6)),
        counts=np.zeros(4, dtype=np.int64),
        sets=np.empty(256 * n_nodes, dtype=np.uint8),
        marks=np.zeros(4 * 256, dtype=np.uint8),
    )
