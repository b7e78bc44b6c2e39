"""A classifier that attains any point on the chord between two others (Scott, Theorem 1; specification section 5)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from fewer.problem import FloatArray, InputError
from fewer.roc._choice import key_digests, row_digests, shares


class RealisableClassifier(ClassifierMixin, BaseEstimator):
    """Let one of two fitted classifiers decide each case: `high` for a share of the cases, `low` for the others.

    If `low` and `high` stand at two points of ROC space, the choice stands, on average, on the chord between them, at
    `share` of the way. The two may use different features and different learning algorithms.

    Parameters
    ----------
    low, high : fitted classifiers
        Objects with `predict`, for the same classes.
    share : float, default=0.5
        How often `high` decides; see `fewer.roc.chord_share`.
    choice : {"hash", "random"}, default="hash"
        `"hash"`: the cells of a row (or its key, see `predict`) decide who decides it, so that the same case always
        gets the same answer. `"random"`: a draw for each row of a batch.
    random_state : int, default=0
        Another number shuffles who decides which case.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.arange(1000.0)[:, None], np.arange(1000) % 2
    >>> never = DummyClassifier(strategy="constant", constant=0).fit(X, y)
    >>> always = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    >>> sometimes = RealisableClassifier(never, always, share=0.25)
    >>> bool(abs(sometimes.predict(X).mean() - 0.25) < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "low": [HasMethods("predict")],
        "high": [HasMethods("predict")],
        "share": [Interval(Real, 0, 1, closed="both")],
        "choice": [StrOptions({"hash", "random"})],
        "random_state": [Interval(Real, None, None, closed="neither")],
    }

    def __init__(
        self,
        low: Any,
        high: Any,
        share: float = 0.5,
        *,
        choice: Literal["hash", "random"] = "hash",
        random_state: int = 0,
    ) -> None:
        self.low = low
        self.high = high
        self.share = share
        self.choice = choice
        self.random_state = random_state

    def fit(self, X: Any = None, y: Any = None) -> RealisableClassifier:
        """Do nothing: the two classifiers are fitted already."""
        self._validate_params()
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of both."""
        return np.asarray(self.low.classes_)

    def predict(self, X: Any, keys: Any = None) -> NDArray[Any]:
        """Decide cases.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        keys : sequence of length n_rows, optional
            Something that names each case, such as its number. Without it the cells of the row do.
        """
        by_high = self.who_decides(X, keys)
        decided = np.asarray(self.low.predict(X))
        return np.where(by_high, np.asarray(self.high.predict(X)), decided) if by_high.any() else decided

    def who_decides(self, X: Any, keys: Any = None) -> NDArray[np.bool_]:
        """Say which rows `high` decides."""
        self._validate_params()
        if self.choice == "random":
            n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
            return np.random.default_rng(self.random_state).random(n_rows) < self.share
        if keys is None:
            digests = self._digests(X)
        else:
            digests = key_digests(keys)
            n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
            if len(digests) != n_rows:
                raise InputError(f"There are {len(digests)} keys for {n_rows} rows; give one for each.")
        return self._shares(digests) < self.share

    def _digests(self, X: Any) -> Any:
        return row_digests(X)

    def _shares(self, digests: Any) -> FloatArray:
        return shares(digests, int(self.random_state))

    def __sklearn_is_fitted__(self) -> bool:
        check_is_fitted(self.low)
        check_is_fitted(self.high)
        return True
