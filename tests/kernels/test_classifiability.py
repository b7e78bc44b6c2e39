import numpy as np
import pytest

from fewer.contracts import Resources
from fewer.criteria import BoundaryShare
from fewer.kernels.classifiability import add_feature
from fewer.problem import Problem


def table_of(X, kinds=None):
    problem = Problem.from_arrays(X, np.arange(len(X)) % 2, kinds=kinds)
    return BoundaryShare().bind(problem, np.random.default_rng(0), Resources())._exact


def distances(table, i, weights, low=0):
    d = np.zeros(table.columns.shape[1] - low)
    for f, weight in enumerate(weights):
        add_feature(d, i, low, f, weight, table)
    return d


def test_squared_distances_over_ranges_and_levels():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=12), 5 * rng.normal(size=12), rng.integers(0, 3, 12)])
    table = table_of(X, ["numeric", "numeric", "nominal"])
    scaled = (X[:, :2] - X[:, :2].min(axis=0)) / np.ptp(X[:, :2], axis=0)
    for weights in ([1.0, 1.0, 1.0], [0.5, 0.0, 0.25]):
        truth = ((scaled - scaled[4]) ** 2) @ weights[:2] + weights[2] * (X[:, 2] != X[4, 2])
        assert distances(table, 4, weights) == pytest.approx(truth, abs=1e-6)
        assert np.array_equal(distances(table, 4, weights, low=5), distances(table, 4, weights)[5:])


def test_a_term_that_is_taken_away_leaves_nothing():
    table = table_of(np.random.default_rng(0).normal(size=(12, 2)))
    d = distances(table, 3, [1.0, 0.3])
    again = d.copy()
    add_feature(again, 3, 0, 1, -0.3, table)
    assert np.array_equal(again, distances(table, 3, [1.0, 0.0]))


def test_missing_cells_are_as_far_as_the_gap():
    X = np.random.default_rng(0).normal(size=(12, 1))
    X[7] = np.nan
    table = table_of(X)
    d = distances(table, 2, [1.0])
    assert d[7] == pytest.approx(table.gap[0, 0], abs=1e-6)
