"""Samples that do not depend on how the table is cut, and are as random as they should be."""

import numpy as np

from fewer.problem import Problem
from fewer.statistics import RowSample, SampledLevels


def rows(n=3000):
    x = np.arange(n, dtype=float)
    return Problem.from_arrays(np.stack([x, -x], axis=1), (x % 10 == 0).astype(int))


def test_sample_is_the_same_however_the_rows_are_cut():
    problem = rows()
    quota = np.array([90, 10])
    whole, pieces, other = (RowSample(quota, seed=4) for _ in range(3))
    whole.add(problem)
    for low in range(0, 2000, 130):
        pieces.add(problem.take(np.arange(low, min(low + 130, 2000))), start=low)
    other.add(problem.take(np.arange(2000, 3000)), start=2000)
    pieces.merge(other)
    np.testing.assert_array_equal(np.sort(whole.rows.X[:, 0]), np.sort(pieces.rows.X[:, 0]))
    assert np.bincount(whole.rows.y).tolist() == [90, 10]
    np.testing.assert_array_equal(whole.rows.X[:, 0] % 10 == 0, whole.rows.y == 1)


def test_every_row_is_equally_likely():
    problem = rows(200)
    drawn = np.zeros(200)
    for seed in range(400):
        sample = RowSample(np.array([30, 10]), seed)
        sample.add(problem)
        drawn[sample.rows.X[:, 0].astype(int)] += 1
    share = drawn / 400
    assert abs(share[problem.y == 0].std() - np.sqrt(30 / 180 * 150 / 180 / 400)) < 0.006
    assert share[problem.y == 1].mean() == 0.5


def test_quotas_follow_the_classes_and_keep_two_of_each():
    quota = RowSample.of_classes(np.array([1_000_000, 1000, 1]), 5000, 0).quota
    assert quota.tolist() == [4996, 5, 1]
    sample = RowSample.of_classes(np.array([50]), 5000, 0)
    assert sample.quota.tolist() == [50]
    assert sample.error_in(50) == 0.0
    assert 0 < RowSample(np.array([5000]), 0).error_in(10**6) < 0.04


def test_rank_error_of_quantiles_holds():
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.exponential(size=(20_000, 1)), np.zeros(20_000), task="regression")
    sample = RowSample(np.array([2000]), 1)
    sample.add(problem)
    shares = np.arange(1, 10) / 10
    ranks = [(problem.X[:, 0] < q).mean() for q in np.quantile(sample.rows.X[:, 0], shares)]
    assert np.abs(np.array(ranks) - shares).max() < sample.error_in(20_000)


def test_few_values_are_kept_and_many_only_noticed():
    one, other = SampledLevels(3, 3), SampledLevels(3, 3)
    one.add(Problem.from_arrays([[1.0, 1.0, np.nan], [2.0, 1.0, np.nan]], [0, 1]))
    other.add(Problem.from_arrays([[3.0, 2.0, np.nan], [4.0, 1.0, np.nan]], [0, 1]))
    one.merge(other)
    assert one.values(0) is None
    assert one.values(1).tolist() == [1.0, 2.0]
    assert one.values(2).tolist() == []
