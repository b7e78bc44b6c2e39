"""Classifiers at the points of a hull, with what they promise, what is expected and what is guaranteed of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from fewer.estimators import TableReader
from fewer.problem import FloatArray
from fewer.roc._curve import ChordPoint
from fewer.roc._learners import LearnedRule
from fewer.roc._rates import Costs, Rates, predictive_value
from fewer.roc._realisable import Digests, RealisableClassifier, joint_digests, row_digests
from fewer.text import score_text
from fewer.validate import ConfidenceInterval


@dataclass(frozen=True, eq=False)
class RowReader:
    """Reads rows as the rules take them.

    Attributes
    ----------
    table : TableReader or None
        Knows columns and levels. None where somebody else fitted the classifiers, which read tables by themselves.
    """

    table: TableReader | None

    def read_needed(self, estimator: Any, X: Any, needed: Sequence[int]) -> Any:
        """Return the numbers in the needed columns, the others NaN; or the table as it is."""
        return X if self.table is None else self.table.read_needed(estimator, X, needed, alone=True)

    def digests(self, rows: Any, features: Sequence[int]) -> Digests:
        """Return a number a row, made of its cells in some columns, or of all cells of a table."""
        return row_digests(rows if self.table is None else rows[:, list(features)])


@dataclass(frozen=True)
class Vertex:
    """One classifier on the hull: a learning algorithm, a subset and a threshold.

    Parameters
    ----------
    algorithm : str
        Name of the estimator; "constant" at the corners.
    features : tuple of int
        The columns that it needs.
    names : tuple of str
        Their names.
    threshold : float
        A row is called positive if its score is at least this.
    fpr, tpr : float
        On the validation rows.

    Examples
    --------
    >>> Vertex("bayes", (0, 3), ("age", "dose"), threshold=0.4, fpr=0.1, tpr=0.8).names
    ('age', 'dose')
    """

    algorithm: str
    features: tuple[int, ...]
    names: tuple[str, ...]
    threshold: float
    fpr: float
    tpr: float


@dataclass(frozen=True)
class Guarantee:
    """A limit that is kept with a probability.

    Parameters
    ----------
    kind : {"fpr", "cost"}
        What is limited: the false positive rate, or the expected cost of a case.
    limit : float
        It is at most this …
    probability : float
        … with this probability over the draw of the calibration rows.
    bound : float
        The upper bound that the calibration rows give for the point chosen.
    price : float
        True positive rate given up for it, measured on the calibration rows; for a cost, what the point costs more
        on them than the one that would have been chosen without.
    """

    kind: Literal["fpr", "cost"]
    limit: float
    probability: float
    bound: float
    price: float

    @property
    def max_fpr(self) -> float | None:
        """The limit on the false positive rate, if that is what is limited."""
        return self.limit if self.kind == "fpr" else None


class VertexClassifier(ClassifierMixin, BaseEstimator):
    """A classifier on the hull, fitted: calls a row positive if its score reaches a threshold.

    Parameters
    ----------
    rule : Rule
        What scores rows.
    threshold : float
        Rows whose score reaches it are positive.
    features : tuple of int
        Numbers of the columns that it needs.
    reader : reader of tables
        Turns tables into cells.
    """

    def __init__(self, rule: LearnedRule, threshold: float, features: tuple[int, ...], reader: Any) -> None:
        self.rule = rule
        self.threshold = threshold
        self.features = features
        self.reader = reader

    classes_: NDArray[Any]
    positive_: int
    n_features_in_: int

    def fit(self, X: Any = None, y: Any = None) -> VertexClassifier:
        """Do nothing: it is fitted already.

        Parameters
        ----------
        X, y : ignored
            Not used: there is nothing to learn.

        Returns
        -------
        VertexClassifier
            Itself.
        """
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.decided(self.reader.read_needed(self, X, self.features))

    def decided(self, cells: FloatArray) -> NDArray[Any]:
        """Decide rows that were read already.

        Parameters
        ----------
        cells : array of shape (n_samples, n_features)
            The features as numbers.

        Returns
        -------
        array of shape (n_samples,)
        """
        is_called = self.rule.scores(cells) >= self.threshold
        return self.classes_[np.where(is_called, self.positive_, 1 - self.positive_)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class OperatingPoint(RealisableClassifier):
    """A classifier at one point of a hull: one vertex, or a choice between two.

    It needs the columns `features_` and no others: a frame may leave the others out, an array may hold these alone.

    Read more in the guide: :doc:`/guide/detectors`.

    Parameters
    ----------
    low, high : VertexClassifier
        The vertices on either side; the same one at a vertex.
    share : float, default=0.5
        How often `high` decides.
    choice : {"hash", "random"}, default="hash"
        Who decides a case, see `RealisableClassifier`; a hash is made of the needed cells.
    random_state : int or None, default=None
        Seed of `"random"`.

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
    cost_ : ConfidenceInterval or None
        The expected cost of a case with its interval, where costs were given.
    prevalence_ : float
        Share of positives that costs, predictive values and counts are for.
    guaranteed_ : Guarantee or None
    notes_ : tuple of str

    See Also
    --------
    MRROC.operating_point : Makes one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fewer.roc import mrroc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> detector = mrroc([GaussianNB().fit(X[::2], y[::2])], X[1::2], y[1::2]).operating_point(max_fpr=0.05)
    >>> bool(detector.promised_.fpr <= 0.05), detector.predict(X[:2])
    (True, array([0, 0]))
    """

    low: VertexClassifier
    high: VertexClassifier
    features_: tuple[str, ...]
    subsets_: tuple[tuple[str, ...], ...]
    promised_: ChordPoint
    expected_: Rates
    costs_: Costs | None
    cost_: ConfidenceInterval | None
    prevalence_: float
    guaranteed_: Guarantee | None
    notes_: tuple[str, ...]
    needed_: tuple[int, ...]
    n_features_in_: int

    def fit(self, X: Any = None, y: Any = None) -> OperatingPoint:
        """Do nothing: it is fitted already.

        Parameters
        ----------
        X, y : ignored
            Not used: there is nothing to learn.

        Returns
        -------
        OperatingPoint
            Itself.
        """
        return self

    def predict(self, X: Any, keys: Any = None) -> NDArray[Any]:
        """Decide cases; see `RealisableClassifier.predict`.

        Parameters
        ----------
        X : table
            All columns, or the needed ones alone.
        keys : sequence of length n_samples, optional
            Decide which rows the second model answers; from the cells if left out.

        Returns
        -------
        array of shape (n_samples,)
        """
        cells = self.low.reader.read_needed(self.low, X, self.needed_)
        decided = self.low.decided(cells)
        if self.share == 0.0:
            return decided
        return np.where(self.who_decides(cells, keys), self.high.decided(cells), decided)

    def _digests(self, X: Any) -> Digests:
        reader = self.low.reader
        return joint_digests(reader.digests(X, self.low.features), reader.digests(X, self.high.features))

    def predictive_values(self, prevalence: float | None = None) -> tuple[ConfidenceInterval, ConfidenceInterval]:
        """Return how often a call of positive, and one of negative, is right.

        Parameters
        ----------
        prevalence : float, optional
            Share of positives where it is used; `prevalence_` if left out.

        Returns
        -------
        (ConfidenceInterval, ConfidenceInterval)
            The positive and the negative predictive value.
        """
        share = self.prevalence_ if prevalence is None else prevalence
        fpr, tpr = self.expected_.fpr, self.expected_.tpr
        return predictive_value(fpr, tpr, share), predictive_value(_turned(tpr), _turned(fpr), 1.0 - share)

    def per_thousand(self, prevalence: float | None = None) -> dict[str, float]:
        """Count what happens to 1,000 cases at the expected rates.

        Parameters
        ----------
        prevalence : float, optional
            Share of positives where it is used; `prevalence_` if left out.

        Returns
        -------
        dict of str to float
            "found", "missed", "false alarms", "left alone".
        """
        share = self.prevalence_ if prevalence is None else prevalence
        fpr, tpr = self.expected_.fpr.estimate, self.expected_.tpr.estimate
        return {
            "found": 1000 * share * tpr,
            "missed": 1000 * share * (1 - tpr),
            "false alarms": 1000 * (1 - share) * fpr,
            "left alone": 1000 * (1 - share) * (1 - fpr),
        }

    def summary(self) -> str:
        """Say in a few lines what it promises and what it needs.

        Returns
        -------
        str
        """
        rates, point = self.expected_, self.promised_
        lines = [
            f"On the ROC hull:  {100 * point.fpr:.1f} % false positives, {100 * point.tpr:.1f} % true positives.",
            f"Expected ({rates.rows} rows):  {_percent(rates.fpr)} false, {_percent(rates.tpr)} true positives.",
        ]
        if self.cost_ is not None:
            low, high = self.cost_.low, self.cost_.high
            cost, *ends = (score_text(value, low, high) for value in (self.cost_.estimate, low, high))
            lines.append(f"Expected cost per case:  {cost} ({ends[0]} to {ends[1]}).")
        count, label = self.per_thousand(), self.low.classes_[self.low.positive_]
        positive = "positive" if isinstance(label, bool | np.bool_) else f"positive ({label})"
        lines.append(
            f"Of 1,000 cases, {1000 * self.prevalence_:.0f} of them {positive}:  {count['found']:.0f} found, "
            f"{count['missed']:.0f} missed, {count['false alarms']:.0f} false alarms."
        )
        if self.guaranteed_ is not None:
            lines.append(_text_of(self.guaranteed_))
        needed = f"{len(self.features_)} feature{'s' * (len(self.features_) != 1)}"
        lines.append(f"Needs {needed}:  {', '.join(self.features_) or 'none'}.")
        return "\n".join([*lines, *self.notes_])

    def __str__(self) -> str:
        return self.summary() if hasattr(self, "promised_") else repr(self)

    def to_json(self) -> dict[str, Any]:
        """Return the same as plain objects.

        Returns
        -------
        dict
        """
        rates, kept = self.expected_, self.guaranteed_
        right, wrong = self.predictive_values()
        return {
            "features": list(self.features_),
            "subsets": [list(subset) for subset in self.subsets_],
            "share": float(self.share),
            "choice": self.choice,
            "promised": {"fpr": self.promised_.fpr, "tpr": self.promised_.tpr},
            "expected": {"rows": rates.rows, "fpr": _three(rates.fpr), "tpr": _three(rates.tpr)},
            "prevalence": self.prevalence_,
            "predictive_values": {"positive": _three(right), "negative": _three(wrong)},
            "per_thousand": self.per_thousand(),
            "cost": None if self.cost_ is None else _three(self.cost_),
            "guaranteed": None if kept is None else {"kind": kept.kind, "max_fpr": kept.max_fpr, **asdict(kept)},
            "notes": list(self.notes_),
        }


def _text_of(kept: Guarantee) -> str:
    if kept.kind == "fpr":
        return (
            f"Guaranteed:  at most {100 * kept.limit:g} % false positives, with probability {kept.probability:g}; this "
            f"costs {100 * max(kept.price, 0.0):.1f} points of true positives."
        )
    return f"Guaranteed:  an expected cost of at most {kept.limit:.3g}, with probability {kept.probability:g}."


def _turned(rate: ConfidenceInterval) -> ConfidenceInterval:
    """Return the interval of what is left of a rate."""
    return ConfidenceInterval(1 - rate.estimate, 1 - rate.high, 1 - rate.low, rate.level, rate.method, rate.estimand)


def _three(band: ConfidenceInterval) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in (band.estimate, band.low, band.high)]


def _percent(band: ConfidenceInterval) -> str:
    digits = int(band.high - band.low < 0.02)
    return f"{100 * band.estimate:.{digits}f} % ({100 * band.low:.{digits}f} to {100 * band.high:.{digits}f})"
