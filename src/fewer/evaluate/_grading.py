"""Scores of held-out rows, fold by fold, such that the mean over the folds is the number people mean."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from fewer.contracts import PredictiveScorer
from fewer.errors import InputError
from fewer.problem import FloatArray, Problem

SHARES = ("accuracy", "balanced_accuracy", "roc_auc", "f1", "precision", "recall", "jaccard", "average_precision")
"""Scores between 0 and 1 that are counted from rows (also with an ending, such as `f1_macro`)."""


def score_name(scoring: Any, problem: Problem) -> str:
    """Name a score as scikit-learn does; left out, it is accuracy or R²."""
    if scoring is None:
        return "accuracy" if problem.task == "classification" else "r2"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", "score"))


def is_share(name: str) -> bool:
    """Say whether a score is a number between 0 and 1 that is counted from rows."""
    return any(name == share or name.startswith(f"{share}_") for share in SHARES)


class Grader:
    """Scores the outputs for the rows of one fold.

    R² is taken against the spread of the target in *all* rows: a fold of few rows has a spread of its own that says
    nothing, and this way the mean over the folds is the R² of all held-out rows together. Everything else is
    scored within the fold: outputs of different rules need not have the same scale, and ranking rows across folds
    (as a pooled AUC would) puts the bias of leaving rows out into the score.
    """

    def __init__(self, problem: Problem, scoring: Any = None) -> None:
        self.name = score_name(scoring, problem)
        self.resolution = 1.0 / problem.n_rows if is_share(self.name) else 0.0
        self._against_all = problem.task == "regression" and self.name == "r2"
        if self._against_all:
            self._spread = float(np.average((problem.y - _mean(problem)) ** 2, weights=problem.weights))

    def grade(self, scorer: PredictiveScorer, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for these rows."""
        if self._against_all:
            error = float(np.average((rows.y - outputs) ** 2, weights=rows.weights))
            return 1.0 - error / self._spread if self._spread > 0 else -error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            score = scorer.grade(outputs, rows)
        if not np.isfinite(score):
            raise InputError(
                f"{self.name} is not defined on one of the folds ({rows.n_rows} rows, "
                f"{len(np.unique(rows.y))} distinct target value(s)); use fewer folds."
            )
        return float(score)


def _mean(rows: Problem) -> float:
    return float(np.average(rows.y, weights=rows.weights))
