"""A classifier that attains any point on the chord between two others (Scott, Theorem 1; specification section 5).

Which of the two decides a case is drawn from the case itself, so that equal cases are decided alike.
"""

from __future__ import annotations

import hashlib
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import _num_samples, check_is_fitted

from fewer.contracts import Share, parameters
from fewer.io import is_frame
from fewer.problem import FloatArray, InputError

Digests = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)


def row_digests(X: Any) -> Digests:
    """Assign each row a number made of its cells: equal rows get equal ones, in any batch and any container.

    Examples
    --------
    >>> import polars as pl
    >>> rows = row_digests(np.array([[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]]))
    >>> bool(rows[0] == rows[2] != rows[1])
    True
    >>> bool(rows[0] == row_digests(pl.DataFrame({"a": [1], "b": [2.0]}))[0])
    True
    """
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        columns = [_column_bits(column) for column in frame.iter_columns()]
        n_rows = len(frame)
    else:
        table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        if table.ndim != 2:
            raise InputError(f"X has {table.ndim} dimension{'s' * (table.ndim != 1)}; it must be two-dimensional.")
        columns = [_bits(table[:, j]) for j in range(table.shape[1])]
        n_rows = len(table)
    state = np.zeros(n_rows, dtype=np.uint64)
    for bits in columns:
        state = joint_digests(state, bits)
    return state


def joint_digests(low: Digests, high: Digests) -> Digests:
    """Return one number a row from those of the cells that two classifiers use.

    Parameters
    ----------
    low, high : uint64 arrays of shape (n_samples,)
        Hashes of the rows.

    Returns
    -------
    uint64 array of shape (n_samples,)
    """
    return np.asarray(_mix(low + STEP ^ _mix(high)), dtype=np.uint64)


def key_digests(keys: Any) -> Digests:
    """Assign each key, such as a case number, a number made of its text."""
    return np.array([_text_bits(str(key)) for key in keys], dtype=np.uint64)


def shares(digests: Digests, seed: int | None) -> FloatArray:
    """Turn digests into numbers that are spread evenly over [0, 1), others for another seed; none counts as 0.

    Examples
    --------
    >>> even = shares(row_digests(np.arange(10_000.0)[:, None]), seed=1)
    >>> bool(abs(np.mean(even < 0.3) - 0.3) < 0.01)
    True
    """
    salted = _mix(digests ^ _mix(np.uint64(int(seed or 0) & 0xFFFFFFFFFFFFFFFF) + STEP))
    return np.asarray((salted >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _column_bits(column: nw.Series[Any]) -> Digests:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return _bits(np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64))
    return _bits(np.array(column.to_list(), dtype=object))


def _bits(cells: NDArray[Any]) -> Digests:
    if cells.dtype.kind in "biuf":
        numbers = cells.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return numbers.view(np.uint64)
    known: dict[str, int] = {}
    texts = [str(cell) for cell in cells]
    return np.array([known.setdefault(text, _text_bits(text)) for text in texts], dtype=np.uint64)


def _text_bits(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _mix(bits: Any) -> Any:
    """Stir 64 bits (the finalizer of Steele, Lea and Flood's SplitMix, 2014)."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def columns_known(fitted: Any) -> dict[str, Any]:
    """Return the number of columns that an estimator was fitted to, and their names, as far as it knows them."""
    return {name: getattr(fitted, name) for name in ("n_features_in_", "feature_names_in_") if hasattr(fitted, name)}


@dataclass(frozen=True)
class _Always:
    """Answers one label whatever the case."""

    label: Any

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label for each row."""
        return np.full(_num_samples(X), self.label)


@parameters
class RealisableClassifier(ClassifierMixin, BaseEstimator):
    """Let one of two classifiers decide each case: `high` for a share of the cases, `low` for the others.

    If `low` and `high` stand at two points of ROC space, the choice stands, on average, on the chord between them, at
    `share` of the way. The two may use different features and different learning algorithms.

    Read more in the guide: :doc:`/methods/scott`.

    Parameters
    ----------
    low, high : classifiers or labels
        Objects with `predict`, for the same classes. If both are fitted, nothing more is needed; `fit` fits copies. A
        label stands for a classifier that always answers it: the corners of ROC space.
    share : float, default=0.5
        How often `high` decides; see `fewer.roc.chord_share`.
    choice : {"hash", "random"}, default="hash"
        `"hash"`: the cells of a row (or its key, see `predict`) decide who decides it, so that the same case always
        gets the same answer; where few distinct rows exist, the share is then that of the rows that happen to fall
        to `high`, and not the one asked for. `"random"`: an independent draw for each row of a batch, as the theorem
        has it.
    random_state : int or None, default=None
        Another number shuffles who decides which case. With `"random"`, None draws anew at each call.

    Attributes
    ----------
    classes_ : array
    low_, high_ : fitted classifiers
        Copies that `fit` has fitted; the given ones otherwise.

    See Also
    --------
    mrroc : The best that several classifiers can attain together.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.arange(1000.0)[:, None], np.arange(1000) % 2
    >>> always = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    >>> sometimes = RealisableClassifier(0, always, share=0.25)
    >>> bool(abs(sometimes.predict(X).mean() - 0.25) < 0.05)
    True
    """

    low: Annotated[Any, HasMethods("predict"), str, Real]
    high: Annotated[Any, HasMethods("predict"), str, Real]
    share: Share = 0.5
    _: KW_ONLY
    choice: Literal["hash", "random"] = "hash"
    random_state: Annotated[int | None, Interval(Integral, 0, None, closed="left"), None] = None

    def fit(self, X: Any = None, y: Any = None) -> RealisableClassifier:
        """Fit copies of both classifiers; without rows do nothing, since two fitted ones need none.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), optional
            The rows.
        y : array of shape (n_samples,), optional
            Their target.

        Returns
        -------
        RealisableClassifier
            Itself.
        """
        self._validate_params()
        if X is None:
            return self
        self.low_, self.high_ = (clone(one).fit(X, y) if hasattr(one, "fit") else one for one in (self.low, self.high))
        self.__dict__.update(columns_known(self.high_) | columns_known(self.low_))
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of both."""
        pair = self._pair()
        known = [each for each in pair if not isinstance(each, _Always)]
        return np.asarray(known[0].classes_) if known else np.unique([each.label for each in pair])

    def predict(self, X: Any, keys: Any = None) -> NDArray[Any]:
        """Decide cases.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        keys : sequence of length n_samples, optional
            Something that names each case, such as its number. Without it the cells of the row do.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        low, high = self._pair()
        decided = np.asarray(low.predict(X))
        by_high = self.who_decides(X, keys)
        return np.where(by_high, np.asarray(high.predict(X)), decided) if by_high.any() else decided

    def who_decides(self, X: Any, keys: Any = None) -> NDArray[np.bool_]:
        """Say which rows `high` decides.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        keys : sequence of length n_samples, optional
            Decide which rows the second model answers; from the cells if left out.

        Returns
        -------
        bool array of shape (n_samples,)
        """
        self._validate_params()
        n_samples = _num_samples(X)
        if self.choice == "random":
            return np.random.default_rng(self.random_state).random(n_samples) < self.share
        digests = self._digests(X) if keys is None else key_digests(keys)
        if len(digests) != n_samples:
            raise InputError(f"There are {len(digests)} keys for {n_samples} rows; give one for each.")
        return shares(digests, self.random_state) < self.share

    def _pair(self) -> list[Any]:
        low, high = (vars(self).get(f"{name}_", vars(self)[name]) for name in ("low", "high"))
        for one, other in ((low, high), (high, low)):
            if not hasattr(one, "predict") and hasattr(other, "classes_") and one not in list(other.classes_):
                raise InputError(f"{one!r} is not a class of the other classifier, which has {list(other.classes_)}.")
        return [each if hasattr(each, "predict") else _Always(each) for each in (low, high)]

    def _digests(self, X: Any) -> Digests:
        return row_digests(X)

    def __sklearn_is_fitted__(self) -> bool:
        try:
            for classifier in self._pair():
                if hasattr(classifier, "fit"):
                    check_is_fitted(classifier)
        except NotFittedError:
            return False
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.choice == "random"
        return tags
