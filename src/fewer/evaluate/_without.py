"""What is lost without each chosen feature, row by row, with an interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.contracts import PredictiveScorer
from fewer.evaluate._grading import Grade, Grader
from fewer.problem import BoolArray, FloatArray, Problem

SEEN = 1.96


def losses_without(
    scorer: PredictiveScorer, problem: Problem, mask: BoolArray, scoring: Any = None, *, most: int | None = None
) -> tuple[FloatArray, dict[int, dict[str, float]]]:
    """Compare out-of-fold predictions with the chosen features and without each of them.

    Parameters
    ----------
    scorer : PredictiveScorer
        The judge, bound to these rows: it predicts each of them without its own fold.
    problem : Problem
    mask : bool array of shape (n_features,)
        The chosen features. Those that are left out are fitted without, not shuffled.
    scoring : str, optional
        `"roc_auc"` is measured by that; everything else by accuracy or R², which every row has a share in.
    most : int, optional
        Leave out only the first so many, one at a time; all if left out.

    Returns
    -------
    outputs : array
        The predictions with all chosen features.
    losses : dict
        For each chosen column its `loss` and the `low` and `high` end of its 95 % interval.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> problem = Problem.from_arrays(X, X[:, 0] > 0)
    >>> scorer = KNN(5).bind(problem, rng, Resources())
    >>> _, losses = losses_without(scorer, problem, np.array([True, True]))
    >>> losses[0]["low"] > 0, losses[1]["low"] > 0
    (True, False)
    """
    grader = Grader(problem, "roc_auc" if score_of(problem, scoring) == "roc_auc" else None)
    outputs = scorer.outputs(mask)
    whole = _grade(grader, scorer, outputs, problem)
    losses: dict[int, dict[str, float]] = {}
    for column in np.flatnonzero(mask)[:most]:
        rest = mask.copy()
        rest[column] = False
        if not rest.any():
            continue
        loss = whole - _grade(grader, scorer, scorer.outputs(rest), problem)
        error = _error(loss, problem)
        if error is not None:
            losses[int(column)] = {
                "loss": loss.score, "low": loss.score - SEEN * error, "high": loss.score + SEEN * error
            }  # fmt: skip
    return outputs, losses


def score_of(problem: Problem, scoring: Any = None) -> str:
    """Name the score that the losses are in.

    Parameters
    ----------
    problem : Problem
    scoring : str, callable or None

    Returns
    -------
    str
    """
    if problem.task == "regression":
        return "R²"
    return (
        "roc_auc" if scoring == "roc_auc" and problem.n_classes == 2 and problem.sample_weight is None else "accuracy"
    )


def _grade(grader: Grader, scorer: PredictiveScorer, outputs: FloatArray, problem: Problem) -> Grade:
    judged = np.isfinite(outputs.reshape(len(outputs), -1)).all(axis=1)
    rows = problem if judged.all() else problem.take(np.flatnonzero(judged))
    grade = grader.grade(scorer, outputs[judged], rows)
    if grade.influence is None or judged.all():
        return grade
    influence = np.zeros(len(outputs))
    influence[judged] = grade.influence
    return Grade(grade.score, influence)


def _error(grade: Grade, problem: Problem) -> float | None:
    if grade.influence is None:
        return None
    parts = grade.influence
    if problem.groups is not None:
        parts = np.bincount(np.unique(problem.groups, return_inverse=True)[1], weights=parts).astype(np.float64)
    return float(np.sqrt(np.sum(parts**2)))


__all__ = ["losses_without", "score_of"]
