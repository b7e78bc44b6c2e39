"""Two directions through many features that tell the rows apart best."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from fewer.contracts import Criterion
from fewer.evaluate._row_views import plane
from fewer.problem import FloatArray, IntArray, Problem
from fewer.selectors._auto_encoding import Encoder

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
    placed = Problem(
        X=inputs @ axes,
        y=problem.y,
        task=problem.task,
        names=("direction 1", "direction 2"),
        kinds=("numeric", "numeric"),
        classes=problem.classes,
        levels={},
        sample_weight=problem.sample_weight,
        groups=problem.groups,
        time=problem.time,
    )
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


__all__ = ["discriminant_plane", "two_directions"]
