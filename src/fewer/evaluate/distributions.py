"""Summaries for pictures, of one size however many rows: a feature's distribution, and held-out predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from fewer.problem import FloatArray, IntArray, Problem

BINS = 20
LEVELS = 8
# Classes that are shown one by one; further ones are shown together.
SHOWN_CLASSES = 6


def distribution(problem: Problem, column: int) -> dict[str, Any]:
    """Count a feature's values by class, or summarize the target where it has them.

    Parameters
    ----------
    problem : Problem
        The rows.
    column : int
        Its number.

    Returns
    -------
    dict
        Plain JSON data. `missing` is the number of missing cells; `low` and `high` the ends of the picture of a numeric
        feature (its 1st and 99th percentile; what lies outside is counted in the last bins), `least` and `most` its
        smallest and largest value, `levels` the values of another. For classes, `counts` (one list a class of
        `shown_classes`, one count a bin or level) and, of numbers, `medians`. For a quantity, `lower`, `middle` and
        `upper`: the quartiles of the target in each bin or level.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> told = distribution(problem, 0)
    >>> told["medians"], sum(told["counts"][0])
    ([0.5, 2.5], 2)
    """
    values = np.asarray(problem.X[:, column], dtype=np.float64)
    seen = ~np.isnan(values)
    summary: dict[str, Any] = {"kind": problem.kinds[column], "missing": int((~seen).sum())}
    if not seen.any():
        return summary
    place, ends = _places(problem, column, values[seen])
    summary |= ends
    n_places = len(ends["levels"]) if "levels" in ends else BINS
    if problem.task == "regression" and problem.y.ndim == 1:
        return summary | _quartiles(place, problem.y[seen], n_places)
    codes = _class_codes(problem)[seen]
    n_classes = len(shown_classes(problem))
    counts = np.zeros((n_classes, n_places), dtype=np.int64)
    np.add.at(counts, (codes, place), 1)
    summary["counts"] = counts.tolist()
    if "low" in ends:
        summary["medians"] = [
            plain(np.median(values[seen][codes == c])) if (codes == c).any() else None for c in range(n_classes)
        ]
    return summary


def shown_classes(problem: Problem) -> list[str]:
    """Return the names under which `distribution` counts classes, in its order.

    Parameters
    ----------
    problem : Problem
        The rows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> shown_classes(Problem.from_arrays([[0.0], [1.0]], ["no", "yes"]))
    ['no', 'yes']
    """
    if problem.task == "regression" or problem.y.ndim > 1:
        return ["all rows"]
    names = [str(label) for label in problem.classes]
    return names if len(names) <= SHOWN_CLASSES else [*(names[i] for i in _largest(problem)), "other classes"]


def _largest(problem: Problem) -> IntArray:
    """Return the codes of the largest classes, in the order of their codes."""
    counts = np.bincount(problem.y, minlength=problem.n_classes)
    return np.sort(np.argsort(-counts, kind="stable")[: SHOWN_CLASSES - 1])


def _class_codes(problem: Problem) -> IntArray:
    if problem.task == "regression" or problem.y.ndim > 1:
        return np.zeros(problem.n_samples, dtype=np.int64)
    if problem.n_classes <= SHOWN_CLASSES:
        return np.asarray(problem.y, dtype=np.int64)
    new = np.full(problem.n_classes, SHOWN_CLASSES - 1, dtype=np.int64)
    new[_largest(problem)] = np.arange(SHOWN_CLASSES - 1)
    return new[problem.y]


def _places(problem: Problem, column: int, values: FloatArray) -> tuple[IntArray, dict[str, Any]]:
    """Say in which bin or level each value is."""
    if problem.kinds[column] == "numeric":
        low, high = np.percentile(values, [1, 99])
        if not low < high:
            low, high = float(values.min()), float(values.max())
        width = (high - low) or 1.0
        place = np.clip(((values - low) / width * BINS).astype(np.int64), 0, BINS - 1)
        ends = {"low": low, "high": high, "least": values.min(), "most": values.max()}
        return place, {name: plain(end) for name, end in ends.items()}
    codes, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    labels = problem.levels.get(column)
    names = [_level(code, labels) for code in codes]
    if len(codes) <= LEVELS:
        return inverse.astype(np.int64), {"levels": names}
    kept = np.sort(np.argsort(-counts, kind="stable")[: LEVELS - 1])
    new = np.full(len(codes), LEVELS - 1, dtype=np.int64)
    new[kept] = np.arange(LEVELS - 1)
    return new[inverse], {"levels": [*(names[i] for i in kept), "other"]}


def _level(code: float, labels: tuple[Any, ...] | None) -> str:
    if labels is not None and 0 <= int(code) < len(labels):
        return str(labels[int(code)])[:60]
    return f"{code:g}"


def _quartiles(place: IntArray, y: FloatArray, n_places: int) -> dict[str, Any]:
    out: dict[str, list[Any]] = {"lower": [], "middle": [], "upper": [], "n": []}
    for i in range(n_places):
        targets = y[place == i]
        ends = np.percentile(targets, [25, 50, 75]) if len(targets) else [None] * 3
        for name, value in zip(("lower", "middle", "upper"), ends, strict=True):
            out[name].append(None if value is None else plain(value))
        out["n"].append(len(targets))
    return out


def plain(value: float) -> float:
    """Round to what a picture shows."""
    return float(f"{float(value):.5g}")


# Points of a curve, or rows of a scatter, at most.
POINTS = 120
# Classes up to which every pair is counted.
PAIRED_CLASSES = 12
PROBABILITY_BINS = 10


def predictions(problem: Problem, outputs: FloatArray) -> dict[str, Any]:
    """Summarize predictions of rows that the rule did not see.

    Parameters
    ----------
    problem : Problem
        The rows.
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
    summary: dict[str, Any] = {"n_rows": len(known)}
    if problem.task == "regression":
        return summary | {"points": _points(known, problem.y, outputs)}
    y, memberships = np.asarray(problem.y[known], dtype=np.int64), outputs[known]
    guess = memberships.argmax(axis=1)
    if problem.n_classes <= PAIRED_CLASSES:
        counts = np.zeros((problem.n_classes, problem.n_classes), dtype=np.int64)
        np.add.at(counts, (y, guess), 1)
        summary["confusion"] = counts.tolist()
    if problem.n_classes == 2:
        summary["calibration"] = _calibration(memberships[:, 1], y == 1)
        if 0 < int(y.sum()) < len(y):
            summary["roc"] = {**_roc(memberships[:, 1], y), "positive": str(problem.classes[1])}
    else:
        summary["calibration"] = _calibration(memberships.max(axis=1), guess == y)
    return summary


def _points(known: IntArray, y: FloatArray, outputs: FloatArray) -> dict[str, Any]:
    rows = known[_spread(len(known), POINTS)]
    flat = outputs.reshape(len(outputs), -1)[:, 0]
    return {
        "row": (rows + 1).tolist(),
        "truth": [plain(value) for value in y[rows]],
        "prediction": [plain(value) for value in flat[rows]],
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
    place = (middle * PROBABILITY_BINS).astype(np.int64)[level]
    bins = np.unique(place)
    return {
        "given": [round(float(given[place == i].mean()), 4) for i in bins],
        "is": [round(float(right[place == i].mean()), 4) for i in bins],
        "n": [int((place == i).sum()) for i in bins],
    }


def _spread(n: int, most: int) -> IntArray:
    """Return up to this many places, evenly spread, with both ends."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
