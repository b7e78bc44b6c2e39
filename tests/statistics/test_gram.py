"""Gram matrices kept for each fold: what the system says of scaled inputs, from the rows themselves."""

import numpy as np
import pytest

from fewer.problem import Problem
from fewer.statistics import DealtFolds, GramSums, row_folds


def mixed(task):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4)) * [1, 50, 1, 1] + [0, 1e4, 0, 0]
    X[:, 2] = rng.integers(0, 3, 300)
    X[rng.random(300) < 0.2, 1] = np.nan
    X[rng.random(300) < 0.1, 2] = np.nan
    y = rng.integers(0, 3, 300) if task == "classification" else rng.normal(size=300) + 9
    problem = Problem.from_arrays(
        X, y, task=task, kinds=("numeric", "numeric", "nominal", "numeric"), sample_weight=rng.random(300)
    )
    problem.levels[2] = ("a", "b", "c")
    return problem


def filled_and_scaled(problem):
    """Return inputs by hand: missing cells as means, [−1, 1] by range, weighted mean taken off."""
    columns = [problem.X[:, 0], problem.X[:, 1]]
    columns += [np.where(np.isnan(problem.X[:, 2]), np.nan, problem.X[:, 2] == level) for level in range(3)]
    columns.append(problem.X[:, 3])
    out = []
    for column in columns:
        low, high = np.nanmin(column), np.nanmax(column)
        full = np.where(np.isnan(column), np.nanmean(column), column)
        scaled = 2 * (full - low) / (high - low) - 1
        out.append(scaled - np.average(scaled, weights=problem.sample_weight))
    return np.array(out).T


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_system_is_that_of_the_scaled_rows_of_each_fold(task):
    problem = mixed(task)
    sums, other = (GramSums(problem.take(np.arange(20)), DealtFolds(4, seed=3)) for _ in range(2))
    for low in range(0, 200, 60):
        sums.add(problem.take(np.arange(low, min(low + 60, 200))), start=low)
    other.add(problem.take(np.arange(200, 300)), start=200)
    sums.merge(other)
    inputs = filled_and_scaled(problem)
    if task == "classification":
        targets = 2.0 * (problem.y[:, None] == np.arange(3)) - 1
    else:
        targets = (problem.y - np.average(problem.y, weights=problem.sample_weight))[:, None]
    Z = np.hstack([np.ones((300, 1)), inputs, targets])
    folds = row_folds(0, 0, 300, 4, 3)
    system = sums.system()
    for fold in range(4):
        rows = folds == fold
        expected = Z[rows].T @ (Z[rows] * problem.sample_weight[rows, None])
        np.testing.assert_allclose(system.parts[fold], expected, rtol=1e-9, atol=1e-9)
        assert sums.n_rows[fold] == rows.sum()
    np.testing.assert_allclose(sums.base(problem) @ system.change.T, Z, atol=1e-9)


def test_rows_are_dealt_out_by_their_place_alone():
    whole = row_folds(2, 0, 5000, 7, seed=11)
    pieces = [row_folds(2, low, 1000, 7, seed=11) for low in range(0, 5000, 1000)]
    np.testing.assert_array_equal(whole, np.concatenate(pieces))
    assert np.abs(np.bincount(whole) - 5000 / 7).max() < 100
    assert (whole != row_folds(3, 0, 5000, 7, seed=11)).mean() > 0.8
    assert (whole != row_folds(2, 0, 5000, 7, seed=12)).mean() > 0.8
