"""Joint counts against counting by hand."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from fewer.errors import InputError
from fewer.problem import Problem
from fewer.statistics import Bins, JointCounts, PairCounts, information


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    X[:, 1] = rng.integers(0, 5, 500)
    X[rng.random(500) < 0.2, 2] = np.nan
    problem = Problem.from_arrays(
        X,
        rng.integers(0, 3, 500),
        kinds=("numeric", "nominal", "numeric", "numeric"),
        sample_weight=rng.integers(0, 3, 500).astype(float),
    )
    problem.levels[1] = tuple("abcde")
    return problem, [np.array([-0.5, 0.5]), np.empty(0), np.array([0.0]), np.linspace(-2, 2, 40)]


def codes_by_hand(problem, edges):
    codes = np.array([(problem.X[:, [f]] >= edges[f]).sum(axis=1) for f in range(4)])
    codes[1] = np.nan_to_num(problem.X[:, 1]).astype(int)
    n_levels = [3, 5, 2, 41]
    for f in range(4):
        codes[f, np.isnan(problem.X[:, f])] = n_levels[f]
    return codes, np.array(n_levels) + 1


def test_pairs_and_single_columns_are_counted_with_the_target():
    problem, edges = table()
    codes, n_codes = codes_by_hand(problem, edges)
    bins = Bins.of(problem, edges)
    assert bins.n_codes.tolist() == n_codes.tolist()
    single, pairs, given = JointCounts(bins), PairCounts(bins), JointCounts(bins, given=1)
    later = PairCounts(bins)
    for counts in (single, pairs, given):
        counts.add(problem.take(np.arange(300)))
    later.add(problem.take(np.arange(300, 500)))
    pairs.merge(later)
    for counts in (single, given):
        counts.add(problem.take(np.arange(300, 500)))
    for f in range(4):
        expected = np.zeros((n_codes[f], 3))
        np.add.at(expected, (codes[f], problem.y), problem.sample_weight)
        np.testing.assert_array_equal(single.table(f), expected)
        for s in range(4):
            if s == f:
                continue
            joint = np.zeros((n_codes[f], n_codes[s], 3))
            np.add.at(joint, (codes[f], codes[s], problem.y), problem.sample_weight)
            np.testing.assert_array_equal(pairs.tables_given(f, s), joint)
            if s == 1:
                np.testing.assert_array_equal(given.tables_given(f), joint)


def test_a_quantity_is_cut_too():
    problem, edges = table()
    quantity = Problem.from_arrays(problem.X, problem.X[:, 0], task="regression", kinds=problem.kinds)
    quantity.levels[1] = problem.levels[1]
    counts = JointCounts(Bins.of(quantity, edges, np.array([-0.5, 0.5])))
    counts.add(quantity)
    assert np.count_nonzero(counts.table(0)[:3] - np.diag(np.diag(counts.table(0)[:3]))) == 0


def test_information_is_that_of_the_codes():
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 4, 200), rng.integers(0, 3, 200)
    counts = np.zeros((4, 3))
    np.add.at(counts, (one, other), 1.0)
    assert information(counts) == pytest.approx(mutual_info_score(one, other), rel=1e-12)
    assert information(np.zeros((2, 2))) == 0.0


def test_too_many_levels_are_refused():
    problem = Problem.from_arrays([[0.0], [1.0]], [0, 1], kinds=("nominal",), names=["zip"])
    problem.levels[0] = tuple(range(70_000))
    with pytest.raises(InputError, match="'zip' has 70,000 levels"):
        Bins.of(problem, [np.empty(0)])
