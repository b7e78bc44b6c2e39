"""Rows drawn in a plane, of two features or of two discriminant directions, with what a model predicts everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy import linalg

from fewer.contracts import Criterion, PredictiveScorer, Resources
from fewer.evaluate.distributions import plain
from fewer.problem import FloatArray, IntArray, Problem
from fewer.statistics.encoding import ScaledInputs

PLOTTED_ROWS = 300
WIDE, HIGH = 48, 32


def plane(problem: Problem, columns: Sequence[int], judge: Criterion, seed: int) -> dict[str, Any]:
    """Place rows in two features, with what the model, fitted to these two alone, predicts everywhere.

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
    part = problem.narrowed(np.asarray(columns, dtype=np.int64))
    seen = np.flatnonzero(~np.isnan(part.X).any(axis=1))
    if len(seen) < 4 or problem.y.ndim > 1:
        return {}
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(seen)[:PLOTTED_ROWS])
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
    outputs = scorer.predict(np.ones(2, dtype=bool), grid)
    codes = outputs.argmax(axis=1).tolist() if problem.task == "classification" else [plain(v) for v in outputs.ravel()]
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


def _ends(values: FloatArray, kind: str) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.5 if kind != "numeric" else 0.04 * (high - low) or 0.5
    return low - margin, high + margin


# Parts of equal size that a quantity is cut into.
SLICES = 6
# The share of a number's variance that is added within classes, so that copies and few rows do no harm.
WITHIN_RIDGE = 0.02
# Features that are named for a direction, at most.
NAMED_FEATURES = 3


def discriminant_plane(problem: Problem, judge: Criterion, seed: int) -> dict[str, Any]:
    """Place rows in two discriminant directions of all features, with what the model predicts from these two.

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
    coding = ScaledInputs.of(problem.X, problem.nominal, problem.row_weights)
    inputs = coding.encode(problem.X)
    axes = two_directions(inputs, _parts(problem), problem.row_weights)
    if axes.shape[1] < 2:
        return {}
    names = ("direction 1", "direction 2")
    placed = replace(problem, X=inputs @ axes, names=names, kinds=("numeric", "numeric"), levels={}, schema=None)
    drawn = plane(placed, [0, 1], judge, seed)
    return drawn and drawn | {"weights": [_weights(axis, coding.owner, problem) for axis in axes.T]}


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
    within += WITHIN_RIDGE * np.eye(len(within))
    values, vectors = linalg.eigh(between, within)
    order = np.argsort(values)[::-1]
    n_telling = int((values > 1e-9 * max(values.max(initial=0.0), 1e-300)).sum())
    directions = vectors[:, order[: min(n_telling, 2)]]
    if directions.shape[1] == 1 and len(within) > 1:
        directions = np.column_stack([directions, _widest(within, directions[:, 0])])
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    return np.asarray(directions * np.where(signs == 0, 1.0, signs))


def _widest(within: FloatArray, first: FloatArray) -> FloatArray:
    """Return the direction along which rows of a part spread most, uncorrelated with the first one within parts."""
    along = within @ first
    outside = np.eye(len(within)) - np.outer(along, along) / (along @ along)
    _, vectors = linalg.eigh(outside @ within @ outside)
    second = outside @ vectors[:, -1]
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
    order = np.argsort(-together, kind="stable")[:NAMED_FEATURES]
    return [(problem.names[i], round(float(signed[i]), 3)) for i in order]
