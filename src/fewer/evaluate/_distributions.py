"""How the values of a feature lie in each class, or against a quantity: small enough to keep with a result."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.problem import FloatArray, IntArray, Problem

BINS = 20
LEVELS = 8
CLASSES = 6
"""Classes that are told one by one; further ones together."""


def distribution(problem: Problem, column: int) -> dict[str, Any]:
    """Count a feature's values by class, or summarize the target where it has them.

    Parameters
    ----------
    problem : Problem
    column : int

    Returns
    -------
    dict
        Plain JSON data. `missing` is the number of missing cells; `low` and `high` the ends of the picture of a numeric
        feature (its 1st and 99th percentile; what lies outside is counted in the last bins), `levels` the values of
        another. For classes, `counts` (one list a class of `shown_classes`, one count a bin or level) and, of numbers,
        `medians`. For a quantity, `lower`, `middle` and `upper`: the quartiles of the target in each bin or level.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> told = distribution(problem, 0)
    >>> told["medians"], sum(told["counts"][0])
    ([0.5, 2.5], 2)
    """
    values = np.asarray(problem.X[:, column], dtype=np.float64)
    seen = ~np.isnan(values)
    told: dict[str, Any] = {"kind": problem.kinds[column], "missing": int((~seen).sum())}
    if not seen.any():
        return told
    place, ends = _places(problem, column, values[seen])
    told |= ends
    n_places = len(ends["levels"]) if "levels" in ends else BINS
    if problem.task == "regression" and problem.y.ndim == 1:
        return told | _quartiles(place, problem.y[seen], n_places)
    codes = _codes(problem)[seen]
    n_classes = len(shown_classes(problem))
    counts = np.zeros((n_classes, n_places), dtype=np.int64)
    np.add.at(counts, (codes, place), 1)
    told["counts"] = counts.tolist()
    if "low" in ends:
        told["medians"] = [
            _plain(np.median(values[seen][codes == c])) if (codes == c).any() else None for c in range(n_classes)
        ]
    return told


def shown_classes(problem: Problem) -> list[str]:
    """Return the names under which `distribution` counts classes, in its order.

    Parameters
    ----------
    problem : Problem

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
    return names if len(names) <= CLASSES else [*(names[i] for i in _largest(problem)), "other classes"]


def _largest(problem: Problem) -> IntArray:
    """Return the codes of the largest classes, in the order of their codes."""
    counts = np.bincount(problem.y, minlength=problem.n_classes)
    return np.sort(np.argsort(-counts, kind="stable")[: CLASSES - 1])


def _codes(problem: Problem) -> IntArray:
    if problem.task == "regression" or problem.y.ndim > 1:
        return np.zeros(problem.n_samples, dtype=np.int64)
    if problem.n_classes <= CLASSES:
        return np.asarray(problem.y, dtype=np.int64)
    new = np.full(problem.n_classes, CLASSES - 1, dtype=np.int64)
    new[_largest(problem)] = np.arange(CLASSES - 1)
    return new[problem.y]


def _places(problem: Problem, column: int, values: FloatArray) -> tuple[IntArray, dict[str, Any]]:
    """Say in which bin or level each value is."""
    if problem.kinds[column] == "numeric":
        low, high = np.percentile(values, [1, 99])
        if not low < high:
            low, high = float(values.min()), float(values.max())
        width = (high - low) or 1.0
        place = np.clip(((values - low) / width * BINS).astype(np.int64), 0, BINS - 1)
        return place, {"low": _plain(low), "high": _plain(high)}
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
        own = y[place == i]
        ends = np.percentile(own, [25, 50, 75]) if len(own) else [None] * 3
        for name, value in zip(("lower", "middle", "upper"), ends, strict=True):
            out[name].append(None if value is None else _plain(value))
        out["n"].append(len(own))
    return out


def _plain(value: float) -> float:
    """Round to what a picture shows."""
    return float(f"{float(value):.5g}")


__all__ = ["distribution", "shown_classes"]
