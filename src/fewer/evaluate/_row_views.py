"""The rows themselves: in two features with the judge's boundary, and those that are always predicted wrongly.

Two directions through many features that tell the rows apart best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy import linalg

from fewer.contracts import Criterion, PredictiveScorer, Resources
from fewer.evaluate.distributions import plain
from fewer.problem import FloatArray, IntArray, Problem
from fewer.selectors.auto._encoding import Encoder
from fewer.selectors.auto._paths import columns_of

SHOWN = 300
WIDE, HIGH = 48, 32
LISTED = 20
FAR = 3.0
"""Robust standard deviations from which on a prediction of a quantity counts as wrong."""


def plane(problem: Problem, columns: Sequence[int], judge: Criterion, seed: int) -> dict[str, Any]:
    """Place rows in two features, with what the judge, fitted to these two alone, would say everywhere.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns : two ints
        The two features that are drawn.
    judge : Criterion
        A predictive one.
    seed : int
        Of all that is random.

    Returns
    -------
    dict
        Plain JSON data: `names`; for each of up to 300 rows (classes as in the table) `row`, `x`, `y` and `target` (the
        class code, or the quantity); `x_ends` and `y_ends`; `grid`, 32 rows of 48 class codes from the bottom up, or
        quantities; `missing`, rows that lack one of the two. Levels are codes, shaken by up to 0.3. Empty
        where nothing can be placed.
    """
    part = columns_of(problem, np.asarray(columns, dtype=np.int64))
    seen = np.flatnonzero(~np.isnan(part.X).any(axis=1))
    if len(seen) < 4 or problem.y.ndim > 1:
        return {}
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(seen)[:SHOWN])
    jitter = rng.uniform(-0.3, 0.3, size=(len(rows), 2)) * [kind != "numeric" for kind in part.kinds]
    shown = part.X[rows] + jitter
    ends = [_ends(part.X[seen, i], part.kinds[i]) for i in range(2)]
    across, up = (np.linspace(*end, n) for end, n in zip(ends, (WIDE, HIGH), strict=True))
    across, up = (
        values if kind == "numeric" else np.round(values) for values, kind in zip((across, up), part.kinds, strict=True)
    )
    grid = np.column_stack([np.tile(across, HIGH), np.repeat(up, WIDE)])
    known = part.take(seen)
    scorer = cast(PredictiveScorer, judge.bind(known, rng, Resources()))
    said = scorer.predict(np.ones(2, dtype=bool), grid)
    codes = said.argmax(axis=1).tolist() if problem.task == "classification" else [plain(v) for v in said.ravel()]
    return {
        "names": list(part.names),
        "row": (rows + 1).tolist(),
        "x": [plain(v) for v in shown[:, 0]],
        "y": [plain(v) for v in shown[:, 1]],
        "target": [int(v) if problem.task == "classification" else plain(v) for v in problem.y[rows]],
        "x_ends": [plain(v) for v in ends[0]],
        "y_ends": [plain(v) for v in ends[1]],
        "levels": [[str(v)[:40] for v in part.levels[i]] if i in part.levels else [] for i in range(2)],
        "grid": [codes[i * WIDE : (i + 1) * WIDE] for i in range(HIGH)],
        "missing": problem.n_samples - len(seen),
    }


def always_wrong(problem: Problem, looks: Sequence[FloatArray]) -> dict[str, Any]:
    """List the rows that every rule that did not see them predicts wrongly: often errors in the table.

    Parameters
    ----------
    problem : Problem
        The rows.
    looks : list of arrays
        Predictions, one array for each way of predicting rows unseen; NaN where a row was not predicted.

    Returns
    -------
    dict
        Plain JSON data: `n_looks`, `n_rows` that all of them predicted, `n_wrong`, and `rows`, the surest first: `row`
        (counted from 1), `truth`, `prediction`, and for classes `membership` that the wrong class was given, on average
        (for a quantity `away`: how many robust standard deviations off).

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((3, 1)), ["a", "a", "b"])
    >>> look = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    >>> always_wrong(problem, [look, look])["rows"]
    [{'row': 2, 'truth': 'a', 'prediction': 'b', 'membership': 0.8}]
    """
    if problem.y.ndim > 1 or not looks:
        return {}
    stack = np.array([look.reshape(len(look), -1) for look in looks])
    known = np.flatnonzero(np.isfinite(stack).all(axis=(0, 2)))
    if not len(known):
        return {}
    told: dict[str, Any] = {"n_looks": len(looks), "n_rows": len(known)}
    found = _wrong_class if problem.task == "classification" else _far_off
    rows = found(problem, stack, known)
    return told | {"n_wrong": len(rows), "rows": rows[:LISTED]}


def _wrong_class(problem: Problem, stack: FloatArray, known: IntArray) -> list[dict[str, Any]]:
    wrong = known[(stack[:, known].argmax(axis=2) != problem.y[known]).all(axis=0)]
    mean = np.clip(stack[:, wrong].mean(axis=0), 0.0, 1.0)
    guess, share = mean.argmax(axis=1), mean.max(axis=1)
    order = np.argsort(-np.round(share, 9), kind="stable")
    return [
        {
            "row": int(wrong[i]) + 1,
            "truth": str(problem.classes[int(problem.y[wrong[i]])]),
            "prediction": str(problem.classes[int(guess[i])]),
            "membership": round(float(share[i]), 4),
        }
        for i in order
    ]


def _far_off(problem: Problem, stack: FloatArray, known: IntArray) -> list[dict[str, Any]]:
    errors = stack[:, known, 0] - problem.y[known]
    spread = 1.4826 * np.median(np.abs(errors - np.median(errors, axis=1, keepdims=True)), axis=1, keepdims=True)
    away = np.abs(errors) / np.maximum(spread, 1e-300)
    far = np.flatnonzero((away > FAR).all(axis=0) & (np.abs(np.sign(errors).sum(axis=0)) == len(errors)))
    order = far[np.argsort(-away[:, far].mean(axis=0), kind="stable")]
    return [
        {
            "row": int(known[i]) + 1,
            "truth": plain(problem.y[known[i]]),
            "prediction": plain(stack[:, known[i], 0].mean()),
            "away": round(float(away[:, i].mean()), 2),
        }
        for i in order
    ]


def _ends(values: FloatArray, kind: str) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.5 if kind != "numeric" else 0.04 * (high - low) or 0.5
    return low - margin, high + margin


SLICES = 6
"""Parts of equal size that a quantity is cut into."""
RIDGE = 0.02
"""The share of a number's variance that is added within classes, so that copies and few rows do no harm."""
TOLD = 3
"""Features that are named for a direction, at most."""


def discriminant_plane(problem: Problem, judge: Criterion, seed: int) -> dict[str, Any]:
    """Place rows in two discriminant directions of all features, with what the judge says of these two everywhere.

    Parameters
    ----------
    problem : Problem
        The chosen features; at least three.
    judge : Criterion
        A predictive one, fitted to the two directions.
    seed : int
        Of all that is random.

    Returns
    -------
    dict
        As `plane` returns it, and `weights`: for each direction the features that weigh most in it, and how much, for
        features of equal spread. Empty where nothing can be placed.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> told = discriminant_plane(Problem.from_arrays(X, y, names=["a", "b", "c", "d"]), KNN(5), 0)
    >>> told["names"], [name for name, _ in told["weights"][0]]
    (['direction 1', 'direction 2'], ['c', 'd', 'b'])
    """
    if problem.n_features < 3 or problem.y.ndim > 1 or problem.n_samples < 4:
        return {}
    encoder = Encoder.of(problem.X, np.arange(problem.n_features), problem.nominal, problem.row_weights)
    inputs = encoder.transform(problem.X)
    axes = two_directions(inputs, _parts(problem), problem.row_weights)
    if axes.shape[1] < 2:
        return {}
    names = ("direction 1", "direction 2")
    placed = replace(problem, X=inputs @ axes, names=names, kinds=("numeric", "numeric"), levels={}, schema=None)
    told = plane(placed, [0, 1], judge, seed)
    return told and told | {"weights": [_weights(axis, encoder.columns, problem) for axis in axes.T]}


def two_directions(inputs: FloatArray, parts: IntArray, weights: FloatArray) -> FloatArray:
    """Return directions in which parts lie far apart for their spread; the second of two parts is their widest one.

    Parameters
    ----------
    inputs : array of shape (n_rows, n_inputs)
        Of mean 0 and equal spread.
    parts : int array of shape (n_rows,)
        The class of each row, or the slice of a quantity.
    weights : array of shape (n_rows,)
        How much each row counts.

    Returns
    -------
    array of shape (n_inputs, 2)
        Fewer columns where the rows have no two directions. Rows have a variance of one within parts along each, and
        the largest entry of each is positive.
    """
    means = np.zeros((parts.max(initial=0) + 1, inputs.shape[1]))
    mass = np.bincount(parts, weights)
    np.add.at(means, parts, inputs * weights[:, None])
    means /= np.maximum(mass, 1e-300)[:, None]
    middle = np.average(inputs, axis=0, weights=weights)
    apart = (inputs - means[parts]) * np.sqrt(weights / weights.sum())[:, None]
    away = (means - middle) * np.sqrt(mass / mass.sum())[:, None]
    within, between = apart.T @ apart, away.T @ away
    within += RIDGE * np.eye(len(within))
    values, vectors = linalg.eigh(between, within)
    order = np.argsort(values)[::-1]
    n_telling = int((values > 1e-9 * max(values.max(initial=0.0), 1e-300)).sum())
    found = vectors[:, order[: min(n_telling, 2)]]
    if found.shape[1] == 1 and len(within) > 1:
        found = np.column_stack([found, _widest(within, found[:, 0])])
    signs = np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return np.asarray(found * np.where(signs == 0, 1.0, signs))


def _widest(within: FloatArray, first: FloatArray) -> FloatArray:
    """Return the direction along which rows of a part spread most, uncorrelated with the first one within parts."""
    along = within @ first
    rest = np.eye(len(within)) - np.outer(along, along) / (along @ along)
    _, vectors = linalg.eigh(rest @ within @ rest)
    second = rest @ vectors[:, -1]
    return np.asarray(second / np.sqrt(max(second @ within @ second, 1e-300)))


def _parts(problem: Problem) -> IntArray:
    if problem.task == "classification":
        return problem.y.astype(np.int64)
    order = np.argsort(problem.y, kind="stable")
    cuts = problem.y[order[[len(order) * i // SLICES for i in range(1, SLICES)]]]
    return np.unique(np.searchsorted(cuts, problem.y, side="right"), return_inverse=True)[1].astype(np.int64)


def _weights(axis: FloatArray, columns: IntArray, problem: Problem) -> list[tuple[str, float]]:
    """Name the features that weigh most; of one with levels, what its levels weigh together."""
    together = np.sqrt(np.bincount(columns, axis**2, minlength=problem.n_features))
    alone = np.bincount(columns, minlength=problem.n_features) == 1
    signed = np.where(alone, np.bincount(columns, axis, minlength=problem.n_features), together)
    order = np.argsort(-together, kind="stable")[:TOLD]
    return [(problem.names[i], round(float(signed[i]), 3)) for i in order]
