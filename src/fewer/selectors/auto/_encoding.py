"""Rows as the judges of `auto` see them: numbers of equal spread, levels as indicators, missing cells at the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewer.problem import BoolArray, FloatArray, IntArray, Problem

BLOCK_CELLS = 1 << 20
"""Cells of a table that are looked at together, so that wide tables need no second copy."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """What some columns of the training rows look like: level behind each input, its mean and spread.

    Attributes
    ----------
    columns : int array of shape (n_inputs,)
        The feature that each input belongs to.
    """

    columns: IntArray
    level: FloatArray
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: FloatArray, features: IntArray, nominal: BoolArray, weights: FloatArray) -> Encoder:
        """Learn from training rows, given all their columns, how to encode some features."""
        columns, level = _inputs_of(X, features, nominal)
        values = _values(X, columns, level)
        present = ~np.isnan(values)
        mass = np.maximum(weights @ present, 1e-300)
        mean = weights @ np.where(present, values, 0.0) / mass
        spread = weights @ np.where(present, (values - mean) ** 2, 0.0) / mass
        # The indicators of a nominal feature have a variance of one together, as a number has.
        together = np.bincount(columns, spread, minlength=X.shape[1])[columns]
        scale = np.where(np.isnan(level), np.sqrt(spread), np.sqrt(together))
        return cls(columns, level, mean, np.where(scale > 1e-12 * (1.0 + np.abs(mean)), scale, np.inf))

    def transform(self, X: FloatArray) -> FloatArray:
        """Encode rows, given all their columns."""
        return np.nan_to_num((_values(X, self.columns, self.level) - self.mean) / self.scale, copy=False)


def _inputs_of(X: FloatArray, features: IntArray, nominal: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return the feature of each input, and its level where that is nominal (else NaN)."""
    features = np.asarray(features, dtype=np.int64)
    if not nominal[features].any():
        return features.copy(), np.full(len(features), np.nan)
    owners, levels = [], []
    for feature in features:
        own = np.array([np.nan])
        if nominal[feature]:
            own = np.unique(X[:, feature])
            own = own[~np.isnan(own)]
        owners.append(np.full(len(own), feature))
        levels.append(own)
    return np.concatenate(owners).astype(np.int64), np.concatenate(levels)


def _values(X: FloatArray, columns: IntArray, level: FloatArray) -> FloatArray:
    cells = X[:, columns]
    coded = ~np.isnan(level)
    if coded.any():
        indicators = np.where(np.isnan(cells[:, coded]), np.nan, cells[:, coded] == level[coded])
        cells[:, coded] = indicators
    return cells


def constant_columns(X: FloatArray) -> BoolArray:
    """Say which columns hold at most one distinct value, missing cells apart, without a copy of the table."""
    return np.asarray(np.fmax.reduce(X, axis=0, initial=-np.inf) <= np.fmin.reduce(X, axis=0, initial=np.inf))


def blocks_of(n_rows: int, features: IntArray) -> list[IntArray]:
    """Cut a list of features into blocks of a bounded number of cells."""
    step = max(BLOCK_CELLS // max(n_rows, 1), 1)
    return [features[low : low + step] for low in range(0, len(features), step)]


def f_scores(problem: Problem, rows: IntArray, target: FloatArray, weights: FloatArray) -> FloatArray:
    """Score each feature alone: the share of the targets' spread that a linear fit on it explains, blocks at a time.

    Parameters
    ----------
    problem : Problem
    rows : int array
        The rows that take part.
    target : array of shape (len(rows), n_targets)
    weights : array of shape (len(rows),)

    Returns
    -------
    array of shape (n_features,)
        Between 0 and 1; 0 for features that do not vary.
    """
    middle = target - np.average(target, axis=0, weights=weights)
    spread = float(weights @ (middle**2).sum(axis=1))
    scores = np.zeros(problem.n_features)
    for block in blocks_of(len(rows), np.arange(problem.n_features)):
        coded = problem.nominal[block]
        for features in (block[~coded], *block[coded][:, None]):
            if len(features):
                _score_block(problem.X[np.ix_(rows, features)], features, problem, middle, weights, scores)
    return np.minimum(scores / max(spread, 1e-300), 1.0)


def _score_block(
    cells: FloatArray, features: IntArray, problem: Problem, middle: FloatArray, weights: FloatArray, out: FloatArray
) -> None:
    local = np.arange(len(features))
    encoder = Encoder.of(cells, local, problem.nominal[features], weights)
    inputs = encoder.transform(cells)
    if problem.nominal[features[0]]:
        # A nominal feature explains what the means of its levels do.
        hits = inputs - inputs.min(axis=0) > 1e-9
        sums = (hits * weights[:, None]).T @ middle
        out[features[0]] = float((sums**2 / np.maximum(weights @ hits, 1e-300)[:, None]).sum())
    else:
        moment = (inputs * weights[:, None]).T @ middle
        out[features] = (moment**2).sum(axis=1) / np.maximum(weights @ inputs**2, 1e-300)
