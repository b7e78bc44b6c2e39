import numpy as np

from fewer.problem import Problem
from fewer.selectors._auto_rows import sample_rows, seconds_a_subset
from making import make_problem


def test_more_rows_cost_more():
    assert 4 * seconds_a_subset(1_000) > seconds_a_subset(2_000) > 2 * seconds_a_subset(1_000)


def test_rows_are_sampled_alike_by_class_and_whole_by_group():
    problem = make_problem(n_rows=400)
    sample = sample_rows(problem, 100, np.random.default_rng(0))
    assert sample.n_samples == 100
    assert np.bincount(sample.y).tolist() == [50, 50]
    assert sample_rows(problem, 400, np.random.default_rng(0)) is problem
    grouped = Problem.from_arrays(problem.X, problem.y, groups=np.arange(400) // 10)
    sample = sample_rows(grouped, 100, np.random.default_rng(0))
    assert all((sample.groups == group).sum() == 10 for group in np.unique(sample.groups))
