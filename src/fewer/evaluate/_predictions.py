"""What was predicted for rows held out, as pictures need it: curves, counts and a sample, however many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from fewer.problem import FloatArray, IntArray, Problem

POINTS = 120
"""Points of a curve, or rows of a scatter, at most."""
CELLS = 12
"""Classes up to which every pair is counted."""
BINS = 10


def predictions(problem: Problem, outputs: FloatArray) -> dict[str, Any]:
    """Summarize predictions of rows that the rule did not see.

    Parameters
    ----------
    problem : Problem
    outputs : array of shape (n_rows, n_classes) or (n_rows,)
        NaN where a row was not predicted.

    Returns
    -------
    dict
        Plain JSON data. For two classes `roc` (`fpr`, `tpr`, `area`, and `positive`, the class that is looked for); for
        up to twelve `confusion` (rows: true class); for all `calibration`: in each of `n` bins of rows the mean
        membership that the predicted (of two classes: the positive) class was `given`, and the share that `is` it. For
        a quantity, `points`: row, truth and prediction of up to 120 rows. Empty for several targets.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((4, 1)), [0, 0, 1, 1])
    >>> told = predictions(problem, np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]))
    >>> told["confusion"], told["roc"]["area"]
    ([[1, 1], [0, 2]], 1.0)
    """
    if problem.y.ndim > 1:
        return {}
    known = np.flatnonzero(np.isfinite(outputs.reshape(len(outputs), -1)).all(axis=1))
    if len(known) < 2:
        return {}
    told: dict[str, Any] = {"n_rows": len(known)}
    if problem.task == "regression":
        return told | {"points": _points(known, problem.y, outputs)}
    y, memberships = np.asarray(problem.y[known], dtype=np.int64), outputs[known]
    guess = memberships.argmax(axis=1)
    if problem.n_classes <= CELLS:
        counts = np.zeros((problem.n_classes, problem.n_classes), dtype=np.int64)
        np.add.at(counts, (y, guess), 1)
        told["confusion"] = counts.tolist()
    if problem.n_classes == 2:
        told["calibration"] = _calibration(memberships[:, 1], y == 1)
        if 0 < int(y.sum()) < len(y):
            told["roc"] = {**_roc(memberships[:, 1], y), "positive": str(problem.classes[1])}
    else:
        told["calibration"] = _calibration(memberships.max(axis=1), guess == y)
    return told


def _points(known: IntArray, y: FloatArray, outputs: FloatArray) -> dict[str, Any]:
    rows = known[_spread(len(known), POINTS)]
    flat = outputs.reshape(len(outputs), -1)[:, 0]
    return {
        "row": (rows + 1).tolist(),
        "truth": [_plain(value) for value in y[rows]],
        "prediction": [_plain(value) for value in flat[rows]],
    }


def _roc(scores: FloatArray, y: IntArray) -> dict[str, Any]:
    fpr, tpr, _ = roc_curve(y, scores)
    kept = _spread(len(fpr), POINTS)
    return {
        "fpr": [round(float(x), 4) for x in fpr[kept]],
        "tpr": [round(float(x), 4) for x in tpr[kept]],
        "area": float(roc_auc_score(y, scores)),
    }


def _calibration(given: FloatArray, right: Any) -> dict[str, Any]:
    """Compare memberships with what came true, in bins of about equally many rows."""
    given = np.clip(given, 0.0, 1.0)
    _, level, counts = np.unique(given, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(given)  # equal memberships stay together
    place = (middle * BINS).astype(np.int64)[level]
    bins = np.unique(place)
    return {
        "given": [round(float(given[place == i].mean()), 4) for i in bins],
        "is": [round(float(right[place == i].mean()), 4) for i in bins],
        "n": [int((place == i).sum()) for i in bins],
    }


def _spread(n: int, most: int) -> IntArray:
    """Return up to so many places, evenly spread, both ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _plain(value: float) -> float:
    return float(f"{float(value):.5g}")


__all__ = ["predictions"]
