"""Classifiers at the points of a hull, with what they promise, what is expected and what is guaranteed of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from fewer.models._table import TableReader
from fewer.problem import BoolArray, FloatArray
from fewer.roc._hull import ChordPoint
from fewer.roc._learners import Rule
from fewer.roc._realisable import RealisableClassifier
from fewer.validate import Interval as Band


@dataclass(frozen=True)
class Vertex:
    """One classifier on the hull: a learning algorithm, a subset and a threshold.

    Attributes
    ----------
    algorithm : str
        Name of the estimator; "constant" at the corners.
    features : tuple of int
    names : tuple of str
    threshold : float
        A row is called positive if its score is at least this.
    fpr, tpr : float
        On the validation rows.
    """

    algorithm: str
    features: tuple[int, ...]
    names: tuple[str, ...]
    threshold: float
    fpr: float
    tpr: float


@dataclass(frozen=True)
class Rates:
    """False and true positive rate with their intervals, and the rows that they were measured on."""

    fpr: Band
    tpr: Band
    rows: Literal["calibration", "validation"]


@dataclass(frozen=True)
class Guarantee:
    """A limit that is kept with a probability.

    Attributes
    ----------
    max_fpr : float
        The false positive rate is at most this …
    probability : float
        … with this probability over the draw of the calibration rows.
    bound : float
        The upper bound that the calibration rows give for the point chosen.
    price : float
        True positive rate given up for it, measured on the calibration rows.
    """

    max_fpr: float
    probability: float
    bound: float
    price: float


class VertexClassifier(ClassifierMixin, BaseEstimator):
    """A classifier on the hull, fitted: calls a row positive if its score reaches a threshold."""

    def __init__(self, rule: Rule, threshold: float, features: tuple[int, ...], reader: TableReader) -> None:
        self.rule = rule
        self.threshold = threshold
        self.features = features
        self.reader = reader

    classes_: NDArray[Any]
    positive_: int
    n_features_in_: int

    def fit(self, X: Any = None, y: Any = None) -> VertexClassifier:
        """Do nothing: it is fitted already."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide rows."""
        return self.decided(self.reader.read(self, X))

    def decided(self, cells: FloatArray) -> NDArray[Any]:
        """Decide rows that were read already."""
        return self.classes_[np.where(self.called(cells), self.positive_, 1 - self.positive_)]

    def called(self, cells: FloatArray) -> BoolArray:
        """Say which rows, read already, are called positive."""
        return np.asarray(self.rule.scores(cells) >= self.threshold)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class OperatingPoint(RealisableClassifier):
    """A classifier at one point of a Parcel hull: one vertex, or a choice between two.

    Columns that it does not need may be missing (NaN).

    Attributes
    ----------
    features_ : tuple of str
        The columns that it needs.
    subsets_ : tuple of tuples of str
        The one or two subsets behind them.
    promised_ : ChordPoint
        The rates that the validation rows promise; they chose it, so they promise too much.
    expected_ : Rates
        Rates with 95 % intervals, on calibration rows that nothing was chosen by, if there are any.
    guaranteed_ : Guarantee or None
    """

    low: VertexClassifier
    high: VertexClassifier
    features_: tuple[str, ...]
    subsets_: tuple[tuple[str, ...], ...]
    promised_: ChordPoint
    expected_: Rates
    guaranteed_: Guarantee | None
    n_features_in_: int

    def predict(self, X: Any, keys: Any = None) -> NDArray[Any]:
        """Decide cases; see `RealisableClassifier.predict`."""
        cells = self.low.reader.read(self.low, X)
        decided = self.low.decided(cells)
        if self.share == 0.0:
            return decided
        return np.where(self.who_decides(cells, keys), self.high.decided(cells), decided)

    def summary(self) -> str:
        """Say in a few lines what it promises and what it needs."""
        rates, point = self.expected_, self.promised_
        lines = [
            f"Promised by the hull:  {100 * point.fpr:.1f} % false positives, {100 * point.tpr:.1f} % true positives.",
            f"Expected ({rates.rows} rows):  {_percent(rates.fpr)} false, {_percent(rates.tpr)} true positives.",
        ]
        if self.guaranteed_ is not None:
            kept = self.guaranteed_
            lines.append(
                f"Guaranteed:  at most {100 * kept.max_fpr:g} % false positives, with probability "
                f"{kept.probability:g}; this costs {100 * kept.price:.1f} points of true positives."
            )
        lines.append(f"Needs {len(self.features_)} features:  {', '.join(self.features_) or 'none'}.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the same as plain objects."""
        rates, kept = self.expected_, self.guaranteed_
        return {
            "features": list(self.features_),
            "subsets": [list(subset) for subset in self.subsets_],
            "share": float(self.share),
            "promised": {"fpr": self.promised_.fpr, "tpr": self.promised_.tpr},
            "expected": {
                "rows": rates.rows,
                "fpr": [rates.fpr.estimate, rates.fpr.low, rates.fpr.high],
                "tpr": [rates.tpr.estimate, rates.tpr.low, rates.tpr.high],
            },
            "guaranteed": None
            if kept is None
            else {
                "max_fpr": kept.max_fpr,
                "probability": kept.probability,
                "bound": kept.bound,
                "price": kept.price,
            },
        }


def _percent(band: Band) -> str:
    return f"{100 * band.estimate:.1f} % ({100 * band.low:.1f} to {100 * band.high:.1f})"
