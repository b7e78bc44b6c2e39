"""Features as the inputs of a model: a number is one input, a nominal column one indicator for each of its levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.problem import BoolArray, FloatArray, IntArray, Problem

__all__ = ["ScaledInputs", "coded_inputs", "drawn_means", "scaled_inputs", "values_of"]

# Rows of the mean that the mean target of a level is mixed with.
DRAWN = 10.0


def coded_inputs(X: FloatArray, nominal: BoolArray, features: IntArray | None = None) -> tuple[IntArray, FloatArray]:
    """Return the feature of each input, and its level where that is nominal.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Cells; missing ones are NaN.
    nominal : bool array of shape (n_features,)
        Columns of levels.
    features : int array, optional
        Which features, in this order; all by default.

    Returns
    -------
    owner : int array of shape (n_inputs,)
    level : array of shape (n_inputs,)
        NaN for a number.

    Examples
    --------
    >>> coded_inputs(np.array([[1.5, 2.0], [2.5, 0.0]]), np.array([False, True]))
    (array([0, 1, 1]), array([nan,  0.,  2.]))
    """
    features = np.arange(X.shape[1]) if features is None else np.asarray(features, dtype=np.int64)
    if not nominal[features].any():
        return features, np.full(len(features), np.nan)
    levels = [np.array([np.nan])] * len(features)
    for place in np.flatnonzero(nominal[features]):
        cells = X[:, features[place]]
        levels[place] = np.unique(cells[~np.isnan(cells)])
    return np.repeat(features, [len(values) for values in levels]), np.concatenate([*levels, np.empty(0)])


def values_of(X: FloatArray, owner: IntArray, level: FloatArray) -> FloatArray:
    """Return the inputs of rows: numbers as they are, 0 or 1 for a level, NaN where the cell is missing.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        All columns of some rows.
    owner, level : arrays of shape (n_inputs,)
        From `coded_inputs`.

    Returns
    -------
    array of shape (n_samples, n_inputs)

    Examples
    --------
    >>> values_of(np.array([[1.5, 2.0], [2.5, np.nan]]), np.array([0, 1, 1]), np.array([np.nan, 0.0, 2.0]))
    array([[1.5, 0. , 1. ],
           [2.5, nan, nan]])
    """
    values = X[:, owner]
    coded = ~np.isnan(level)
    if coded.any():
        cells = values[:, coded]
        values[:, coded] = np.where(np.isnan(cells), np.nan, cells == level[coded])
    return values


@dataclass(frozen=True, eq=False)
class ScaledInputs:
    """Features as inputs of mean 0 and variance 1, as some rows have them; a nominal feature's have it together.

    Parameters
    ----------
    owner : int array of shape (n_inputs,)
        The feature that each input belongs to.
    level : array of shape (n_inputs,)
        Its level where the feature is nominal, else NaN.
    mean, scale : arrays of shape (n_inputs,)
        What is taken off and divided by; the scale is infinite where the feature does not vary.
    variance : array of shape (n_inputs,)
        The share of its feature's variance that each input has.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0], [2.0, 0.0]])
    >>> inputs = ScaledInputs.of(X, np.array([False, True]), np.ones(4))
    >>> inputs.owner, inputs.encode(X).round(2)[0], inputs.variance.round(2)
    (array([0, 1, 1]), array([-1.22,  0.71, -0.71]), array([1. , 0.5, 0.5]))
    """

    owner: IntArray
    level: FloatArray
    mean: FloatArray
    scale: FloatArray
    variance: FloatArray

    @classmethod
    def of(
        cls, X: FloatArray, nominal: BoolArray, weights: FloatArray, features: IntArray | None = None
    ) -> ScaledInputs:
        """Learn from rows, given all their columns.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Cells; missing ones are NaN.
        nominal : bool array of shape (n_features,)
            Columns of levels.
        weights : array of shape (n_samples,)
            How much each row counts.
        features : int array, optional
            Which features; all by default.

        Returns
        -------
        ScaledInputs
        """
        owner, level = coded_inputs(X, nominal, features)
        values = values_of(X, owner, level)
        present = ~np.isnan(values)
        mass = np.maximum(weights @ present, 1e-300)
        mean = weights @ np.where(present, values, 0.0) / mass
        spread = weights @ np.where(present, (values - mean) ** 2, 0.0) / mass
        whole = np.bincount(owner, spread, minlength=X.shape[1])[owner]
        scale = np.where(whole > 1e-24 * mean**2, np.sqrt(whole), np.inf)
        return cls(owner, level, mean, scale, spread / scale**2)

    def encode(self, X: FloatArray, missing: float = 0.0) -> FloatArray:
        """Return the inputs of rows, given all their columns.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Some rows.
        missing : float, default=0.0
            What stands for missing cells; 0 is the mean.

        Returns
        -------
        array of shape (n_samples, n_inputs)
        """
        inputs = (values_of(X, self.owner, self.level) - self.mean) / self.scale
        return np.nan_to_num(inputs, copy=False, nan=missing)


def scaled_inputs(problem: Problem, weights: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return inputs of mean 0 and variance 1, missing cells at the mean, and the feature that each comes from.

    Parameters
    ----------
    problem : Problem
        The rows.
    weights : array of shape (n_samples,)
        Shares of the rows.

    Returns
    -------
    inputs : array of shape (n_samples, n_inputs)
    owner : int array of shape (n_inputs,)

    Examples
    --------
    >>> from fewer.problem import Problem
    >>> rows = Problem.from_arrays([[1.0, 2.0], [3.0, np.nan]], [0, 1], kinds=["numeric", "nominal"])
    >>> scaled_inputs(rows, np.array([0.5, 0.5]))
    (array([[-1.,  0.],
           [ 1.,  0.]]), array([0, 1]))
    """
    owner, level = coded_inputs(problem.X, problem.nominal)
    values = values_of(problem.X, owner, level)
    if not problem.has_missing:
        centered = values - weights @ values
    else:
        known = ~np.isnan(values)
        middle = weights @ np.where(known, values, 0.0) / np.maximum(weights @ known, np.finfo(float).tiny)
        centered = np.where(known, values - middle, 0.0)
    spreads = np.sqrt(weights @ centered**2)
    return centered / np.where(spreads > 0, spreads, 1.0), owner


def drawn_means(sums: NDArray[Any], mass: NDArray[Any], mean: FloatArray | float) -> FloatArray:
    """Return the mean target of each level, mixed with ten rows of the mean of all.

    Parameters
    ----------
    sums : array
        Of the targets of each level.
    mass : array
        Rows of each level, or their weights.
    mean : array or float
        Of the targets of all rows.

    Returns
    -------
    array
        In the shape of `sums`.

    Examples
    --------
    >>> drawn_means(np.array([0.0, 10.0]), np.array([0.0, 10.0]), 0.5)
    array([0.5 , 0.75])
    """
    return np.asarray((sums + DRAWN * mean) / (mass + DRAWN))
