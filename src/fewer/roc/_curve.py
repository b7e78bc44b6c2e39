"""ROC curves: which share of positives is found at which share of false alarms (Scott, chapter 2; section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_curve as sklearn_roc_curve

from fewer.problem import BoolArray, FloatArray, InputError
from fewer.roc._hull import RocHull, hull_vertices


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The points of one score: for each threshold, the shares of negatives and positives that reach it.

    Parameters
    ----------
    fpr, tpr : arrays
        False and true positive rates, from (0, 0) to (1, 1), one point for each distinct score: rows with equal
        scores are called positive together.
    thresholds : array
        A row is called positive if its score is at least this; infinite at (0, 0).
    n_negative, n_positive : int

    Examples
    --------
    >>> curve = RocCurve.of([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    >>> curve.tpr, curve.fpr, curve.area
    (array([0. , 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 1. ]), 0.875)
    """

    fpr: FloatArray
    tpr: FloatArray
    thresholds: FloatArray
    n_negative: int
    n_positive: int

    @classmethod
    def of(cls, y: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> RocCurve:
        """Make the curve of scores; the positive class is the last one unless named.

        Parameters
        ----------
        y : array of shape (n_samples,)
        scores : array of shape (n_samples,)
        pos_label : label, optional
            The positive class; the last one if left out.

        Returns
        -------
        RocCurve
        """
        positive = positives(y, pos_label)
        values = as_scores(scores, len(positive))
        fpr, tpr, thresholds = sklearn_roc_curve(positive, values, drop_intermediate=False)
        return cls(fpr, tpr, thresholds, int((~positive).sum()), int(positive.sum()))

    @cached_property
    def area(self) -> float:
        """Area under the curve: how often a positive outscores a negative, ties counted half."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def partial_area(self, max_fpr: float) -> float:
        """Area under the curve up to a false positive rate; at most `max_fpr`.

        Parameters
        ----------
        max_fpr : float
            The highest false positive rate.

        Returns
        -------
        float
        """
        return area_up_to(self.fpr, self.tpr, max_fpr)

    def neyman_pearson(self, max_fpr: float) -> int:
        """Number the point with the highest true positive rate whose false positive rate is at most `max_fpr`.

        Parameters
        ----------
        max_fpr : float
            The highest false positive rate.

        Returns
        -------
        int
        """
        check_share(max_fpr, "max_fpr")
        return int(np.searchsorted(self.fpr, max_fpr, side="right")) - 1

    def hull(self) -> RocHull:
        """Return the upper hull, whose `points` number the points of this curve.

        Returns
        -------
        RocHull
        """
        fp, tp = np.round(self.fpr * self.n_negative), np.round(self.tpr * self.n_positive)
        points = hull_vertices(fp, tp)
        return RocHull(self.fpr[points], self.tpr[points], points)


def auroc(y: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> float:
    """Return the area under the ROC curve as the Mann–Whitney statistic: P(s⁺ > s⁻) + ½ P(s⁺ = s⁻).

    Parameters
    ----------
    y : array of shape (n_samples,)
    scores : array of shape (n_samples,)
    pos_label : label, optional
        The positive class; the last one if left out.

    Returns
    -------
    float

    Examples
    --------
    >>> auroc(["no", "no", "yes"], [1, 2, 2])
    0.75
    """
    positive = positives(y, pos_label)
    ranks = rankdata(as_scores(scores, len(positive)))
    n_positive = int(positive.sum())
    won = float(ranks[positive].sum()) - n_positive * (n_positive + 1) / 2
    return won / (n_positive * (len(positive) - n_positive))


def area_up_to(fpr: FloatArray, tpr: FloatArray, max_fpr: float) -> float:
    """Return the area under a polygon line from (0, 0) up to a false positive rate."""
    check_share(max_fpr, "max_fpr")
    inside = fpr <= max_fpr
    edge = float(np.interp(max_fpr, fpr, tpr)) if not inside.all() else float(tpr[-1])
    return float(np.trapezoid(np.append(tpr[inside], edge), np.append(fpr[inside], max_fpr)))


def positives(y: ArrayLike, pos_label: Any = None) -> BoolArray:
    """Say which rows are positive; refuse anything but two classes."""
    labels: NDArray[Any] = np.asarray(y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InputError(f"A ROC curve is for two classes, but there are {len(classes)}; set one against the rest.")
    if pos_label is None:
        return np.asarray(labels == classes[1])
    if pos_label not in classes.tolist():
        raise InputError(f"pos_label={pos_label!r} is no class of the target, which has {classes.tolist()}.")
    return np.asarray(labels == pos_label)


def as_scores(scores: ArrayLike, n_rows: int) -> FloatArray:
    """Return scores as numbers; refuse other lengths and undefined ones."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (n_rows,):
        raise InputError(f"scores has shape {values.shape}, but there are {n_rows} rows; give one score per row.")
    if np.isnan(values).any():
        raise InputError(f"The score of row {int(np.argmax(np.isnan(values)))} is undefined (NaN).")
    return values


def check_share(value: float, name: str) -> None:
    """Refuse what is no share."""
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}={value!r}: give a share between 0 and 1.")
