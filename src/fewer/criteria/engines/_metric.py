"""The metrics that compiled engines know, by scikit-learn's names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import log_softmax

from fewer.criteria.engines._folds import Folds
from fewer.kernels import _grades
from fewer.problem import FloatArray, Problem

CLASSES = {
    "accuracy": _grades.ACCURACY,
    "balanced_accuracy": _grades.BALANCED,
    "f1": _grades.F1,
    "f1_macro": _grades.F1_MACRO,
}
QUANTITIES = {
    "r2": _grades.R2,
    "neg_mean_squared_error": _grades.SQUARED,
    "neg_root_mean_squared_error": _grades.ROOT_SQUARED,
    "neg_mean_absolute_error": _grades.ABSOLUTE,
}


@dataclass(frozen=True)
class Metric:
    """A metric and, where it has one, the class that it is about.

    Attributes
    ----------
    name : str
    positive : int
        Code of the class that F1 and the area under the ROC curve are about.
    """

    name: str
    positive: int = 1

    @property
    def needs_chances(self) -> bool:
        """Whether probabilities count, not only which class wins."""
        return self.name == "neg_log_loss"

    @property
    def ceiling(self) -> float:
        """The best score that there can be."""
        return 1.0 if self.name in {*CLASSES, "r2", "roc_auc"} else 0.0

    def grade(self, decisions: FloatArray, folds: Folds, tolerance: float, by_share: bool) -> FloatArray:
        """Score (m, n, c) decisions: (m, folds), NaN where rounding may decide.

        Parameters
        ----------
        decisions : array
            Logarithms of chances (up to a constant a row), or chances if `by_share`.
        folds : Folds
        tolerance : float
            Decisions nearer than this may be one or the other.
        by_share : bool
        """
        out = np.empty((len(decisions), folds.n_folds))
        if self.name in CLASSES:
            code = CLASSES[self.name]
            _grades.grade_classes(decisions, folds.y, folds.weights, folds.bounds, code, self.positive, tolerance, out)
        elif self.name in QUANTITIES:
            _grades.grade_quantities(decisions, folds.y, folds.weights, folds.bounds, QUANTITIES[self.name], out)
        elif self.name == "roc_auc":
            values = np.ascontiguousarray(decisions[:, :, 1] if by_share else decisions[:, :, 1] - decisions[:, :, 0])
            orders = np.empty(values.shape, dtype=np.int64)
            for low, high in pairwise(folds.bounds.tolist()):
                orders[:, low:high] = np.argsort(values[:, low:high], axis=1)
            _grades.grade_ranks(values, orders, folds.y, folds.weights, folds.bounds, self.positive, tolerance, out)
        else:
            self._log_loss(decisions, folds, by_share, out)
        return out

    def _log_loss(self, decisions: FloatArray, folds: Folds, by_share: bool, out: FloatArray) -> None:
        tiny = np.finfo(np.float64).eps
        own = folds.y[None, :, None]
        if by_share:
            logs = np.log(np.clip(np.take_along_axis(decisions, own, axis=2)[:, :, 0], tiny, 1.0 - tiny))
        else:
            logs = np.take_along_axis(log_softmax(decisions, axis=2), own, axis=2)[:, :, 0]
            logs = np.clip(logs, np.log(tiny), np.log1p(-tiny))
        for fold in range(folds.n_folds):
            rows = slice(folds.bounds[fold], folds.bounds[fold + 1])
            out[:, fold] = logs[:, rows] @ folds.weights[rows] / folds.weights[rows].sum()


def metric_of(scoring: Any, problem: Problem) -> Metric | None:
    """Return the metric that a `scoring` parameter means, if the engines know it."""
    if problem.task == "regression":
        name = "r2" if scoring is None else scoring
        return Metric(name) if isinstance(name, str) and name in QUANTITIES else None
    name = "accuracy" if scoring is None else scoring
    if not isinstance(name, str) or name not in {*CLASSES, "roc_auc", "neg_log_loss"}:
        return None
    if name in ("f1", "roc_auc"):
        if problem.n_classes != 2:
            return None
        if name == "f1":
            labels = list(problem.classes)
            return Metric(name, labels.index(1)) if 1 in labels else None
    return Metric(name)
