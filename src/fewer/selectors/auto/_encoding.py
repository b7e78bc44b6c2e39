"""Rows as the models of `auto` see them: numbers of equal spread, levels as indicators, missing numbers at the mean.

A missing level is a level of its own. A column of many levels becomes the mean target of each level, drawn to the mean
of all rows; training rows get that of the other rows, so that levels which say nothing look like noise, however many
there are.
"""

from __future__ import annotations

import numpy as np

from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics.encoding import ScaledInputs, drawn_means

# The code of a missing level; the others have 0, 1, …
MISSING_LEVEL = -1.0
# Levels that become indicators; columns with more are coded by mean targets.
MOST_LEVELS = 8
N_FOLDS = 5
# Cells of a table that are looked at together, so that wide tables need no second copy.
BLOCK_CELLS = 1 << 20


def with_missing_levels(X: FloatArray, nominal: BoolArray) -> FloatArray:
    """Give missing cells of nominal columns a level of their own."""
    gone = np.isnan(X) & nominal if nominal.any() else np.zeros(0, dtype=bool)
    return np.where(gone, MISSING_LEVEL, X) if gone.any() else X


def coded_columns(X: FloatArray, nominal: BoolArray) -> BoolArray:
    """Say which nominal columns have too many levels for indicators."""
    is_coded = np.zeros(X.shape[1], dtype=bool)
    for column in np.flatnonzero(nominal):
        is_coded[column] = len(np.unique(X[:, column])) > MOST_LEVELS
    return is_coded


def coded(
    train: FloatArray, test: FloatArray, target: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Code one column of levels by mean targets: training rows by those of other rows, test rows by those of all.

    Parameters
    ----------
    train, test : arrays of shape (n_train,), (n_test,)
        Levels.
    target : array of shape (n_train, n_targets)
        What the levels are coded by.
    weights : array of shape (n_train,)
        How much each row counts.

    Returns
    -------
    arrays of shape (n_train, n_targets), (n_test, n_targets)
        The mean of all rows where a level was not seen.
    """
    levels, place = np.unique(train, return_inverse=True)
    inputs = np.column_stack([weights, weights[:, None] * target])
    fold = np.arange(len(train)) % N_FOLDS
    sums = np.zeros((N_FOLDS, len(levels), inputs.shape[1]))
    np.add.at(sums, (fold, place), inputs)
    level_sums, total_sums = sums.sum(axis=0), inputs.sum(axis=0)

    def means(part: FloatArray, total: FloatArray) -> FloatArray:
        return drawn_means(part[..., 1:], part[..., :1], total[..., 1:] / total[..., :1])

    without_fold = means(level_sums - sums, (total_sums - sums.sum(axis=1))[:, None, :])
    codes = without_fold[fold, place]
    spot = np.minimum(np.searchsorted(levels, test), len(levels) - 1)
    known = levels[spot] == test
    fresh = np.where(known[:, None], means(level_sums, total_sums)[spot], total_sums[1:] / total_sums[0])
    return codes, fresh


def encoded(
    train: FloatArray, test: FloatArray, nominal: BoolArray, target: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Encode training and test rows; return both and the feature that each input belongs to."""
    train, test = (with_missing_levels(X, nominal) for X in (train, test))
    large = coded_columns(train, nominal)
    inputs = ScaledInputs.of(train, nominal, weights, np.flatnonzero(~large))
    owners, train_inputs, test_inputs = [inputs.owner], [inputs.encode(train)], [inputs.encode(test)]
    means = target if target.shape[1] != 2 else target[:, 1:]  # of two memberships one says it all
    for column in np.flatnonzero(large):
        first, second = coded(train[:, column], test[:, column], means, weights)
        plain = ScaledInputs.of(first, np.zeros(first.shape[1], dtype=bool), weights)
        share = 1.0 / np.sqrt(first.shape[1])  # the inputs of a feature have a variance of one together
        train_inputs.append(plain.encode(first) * share)
        test_inputs.append(plain.encode(second) * share)
        owners.append(np.full(first.shape[1], column))
    columns = np.concatenate(owners).astype(np.int64)
    order = np.argsort(columns, kind="stable")
    if not large.any():
        return train_inputs[0], test_inputs[0], columns
    return np.hstack(train_inputs)[:, order], np.hstack(test_inputs)[:, order], columns[order]


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
        The rows.
    rows : int array
        The rows that take part.
    target : array of shape (len(rows), n_targets)
        One column for each class, or the quantity.
    weights : array of shape (len(rows),)
        How much each row counts.

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
                cells = with_missing_levels(problem.X[np.ix_(rows, features)], problem.nominal[features])
                _score_block(cells, features, problem, middle, weights, scores)
    return np.minimum(scores / max(spread, 1e-300), 1.0)


def _score_block(
    cells: FloatArray, features: IntArray, problem: Problem, middle: FloatArray, weights: FloatArray, out: FloatArray
) -> None:
    inputs = ScaledInputs.of(cells, problem.nominal[features], weights).encode(cells)
    if problem.nominal[features[0]]:
        # A nominal feature explains what the means of its levels do.
        # So many levels explain (levels - 1) / (rows - 1) of anything by chance, which is taken off.
        hits = inputs - inputs.min(axis=0) > 1e-9
        sums = (hits * weights[:, None]).T @ middle
        spread = float(weights @ (middle**2).sum(axis=1))
        share = float((sums**2 / np.maximum(weights @ hits, 1e-300)[:, None]).sum()) / max(spread, 1e-300)
        chance = min((hits.shape[1] - 1) / max(len(hits) - 1, 1), 0.999)
        out[features[0]] = spread * max((share - chance) / (1.0 - chance), 1e-9 * share)
    else:
        moment = (inputs * weights[:, None]).T @ middle
        out[features] = (moment**2).sum(axis=1) / np.maximum(weights @ inputs**2, 1e-300)
