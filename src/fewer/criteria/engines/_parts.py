"""Models that are fitted on any columns of rows that stay the same: what subsets share is done once for each fold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.metaestimators import available_if

from fewer.problem import FloatArray, IntArray

Weights = FloatArray | None


class Part(ABC):
    """A model on training rows and test rows that stay the same.

    Parameters
    ----------
    model : estimator
        Its options; it is not fitted.
    train, test : float arrays of shape (n_train, n_features), (n_test, n_features)
        The cells of the rows that fit and of those that are predicted.
    labels : array of shape (n_train,)
        Classes, or quantities.
    weights : array of shape (n_train,) or None
        Row weights of the fit.

    Attributes
    ----------
    classes_ : array of shape (n_classes,) or None
    """

    classes_: NDArray[Any] | None = None
    takes_missing: ClassVar[bool] = False  # Missing cells may be given as NaN, as to the model itself.
    # Outputs of classes are memberships; otherwise only decisions and classes are known.
    has_memberships: ClassVar[bool] = True
    # Whether it agrees with scikit-learn is looked at for each part, and a ValueError raised if it does not.
    checks_itself: ClassVar[bool] = False
    # How far outputs may be from the model's own; where they differ, the model's are the less exact ones.
    off: ClassVar[float] = 1e-9

    @classmethod
    @abstractmethod
    def refuses(cls, model: Any, n_rows: int, n_columns: int) -> str:
        """Say why a model cannot be fitted here; the empty string if it can.

        Parameters
        ----------
        model : estimator
            The model that was given.
        n_rows, n_columns : int
            Training rows, and columns of the largest subset.

        Returns
        -------
        str
        """

    @abstractmethod
    def __init__(self, model: Any, train: FloatArray, labels: Any, test: FloatArray, weights: Weights = None) -> None:
        raise NotImplementedError

    @abstractmethod
    def outputs(self, columns: IntArray) -> FloatArray | None:
        """Fit on some columns and predict the test rows.

        Parameters
        ----------
        columns : int array of shape (n_columns,)
            In ascending order.

        Returns
        -------
        array of shape (n_test, n_classes), (n_test,) or None
            Class memberships, or quantities. None leaves the answer to scikit-learn.
        """

    def start_from(self, members: IntArray) -> None:
        """Make ready for subsets that add one column to the members; nothing, where that is no use."""
        return

    def importances(self) -> FloatArray | None:
        """Return the `feature_importances_` of the last fit, one for each of its columns; None if not known."""
        return None

    def decisions(self, outputs: FloatArray) -> FloatArray | None:
        """Return what the model's `decision_function` gives for the outputs of the last fit; None if it has none."""
        return None

    def codes(self, outputs: FloatArray) -> IntArray:
        """Return the class codes that the model predicts, from the outputs of the last fit."""
        return np.asarray(outputs.argmax(axis=1))


def codes_of(labels: NDArray[Any], is_classifier: bool) -> tuple[NDArray[Any] | None, FloatArray]:
    """Return the classes, or None, and class codes or quantities.

    Examples
    --------
    >>> codes_of(np.array(["b", "a", "b"]), True)
    (array(['a', 'b'], dtype='<U1'), array([1., 0., 1.]))
    """
    if not is_classifier:
        return None, np.asarray(labels, dtype=np.float64)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.float64)


def odd_option(model: Any, allowed: dict[str, Any]) -> str:
    """Name the first option of a model that stands at another value than that, or those, allowed; else return "".

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> odd_option(SVC(kernel="poly"), {"kernel": ("rbf",)})
    "SVC(kernel='poly') is not covered"
    """
    given = model.get_params(deep=False)
    for name, values in allowed.items():
        values = values if isinstance(values, tuple) else (values,)
        # An array is none of them: comparing it would give an array.
        if name in given and (isinstance(given[name], np.ndarray) or given[name] not in values):
            return f"{type(model).__name__}({name}={given[name]!r}) is not covered"
    return ""


@cache
def agrees(kind: type[Part], estimator: Any) -> bool:
    """Whether small fits are scikit-learn's own; asked once for each estimator, before the first is trusted.

    Another version of scikit-learn may work otherwise in the parts that are driven here directly.
    """
    if kind.checks_itself:
        return True
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X[:, 1] = np.round(X[:, 1])
    if kind.takes_missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    total = np.nan_to_num(X).sum(axis=1)
    options = {"random_state": 0, "n_estimators": 3, "max_iter": 3} if kind.off < 1e-6 else {}
    known = estimator().get_params()
    # -1 is "as many as it takes", of support vectors.
    model = estimator(**{name: value for name, value in options.items() if known.get(name, -1) != -1})
    for y in [total] if is_regressor(model) else [(total > 0).astype(int), np.digitize(total, [-0.7, 0.7])]:
        try:
            part = kind(model, X[:70], y[:70], X[70:])
            outputs = part.outputs(np.arange(3))
            fitted = model.fit(X[:70], y[:70])
            if outputs is None:
                continue
            predicted, truth = outputs, fitted.predict(X[70:])
            if part.classes_ is not None and kind.has_memberships:
                truth = fitted.predict_proba(X[70:])
            elif part.classes_ is not None:
                predicted = part.classes_[part.codes(outputs)]
            if not np.allclose(predicted, truth, rtol=kind.off, atol=kind.off if kind.off > 1e-6 else 1e-12):
                return False
        except Exception:
            return False
    return True


class RecordedClassifier(ClassifierMixin, BaseEstimator):
    """Outputs that were computed before, in the shape of a fitted classifier."""

    def __init__(self, outputs: Any, classes: NDArray[Any], codes: Any = None, decisions: Any = None) -> None:
        self.outputs = outputs
        self.classes_ = classes
        self.codes = codes
        self.decisions = decisions

    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[np.argmax(self.outputs, axis=1) if self.codes is None else self.codes]

    @available_if(lambda self: self.decisions is not None)
    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(self.decisions)

    @available_if(lambda self: self.outputs is not None)
    def predict_proba(self, X: Any) -> FloatArray:
        return np.minimum(self.outputs, 1.0)  # a nearest neighbor that decides a tie adds a hair

    def __sklearn_is_fitted__(self) -> bool:
        return True


class RecordedRegressor(RegressorMixin, BaseEstimator):
    """Outputs that were computed before, in the shape of a fitted regressor."""

    def __init__(self, outputs: FloatArray) -> None:
        self.outputs = outputs

    def predict(self, X: Any) -> FloatArray:
        return self.outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True
