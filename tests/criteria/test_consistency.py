from itertools import combinations

import numpy as np

import fewer
from fewer.contracts import Resources
from fewer.criteria import Consistency
from fewer.datasets import load
from fewer.problem import Problem


def slow(X, y, features):
    groups = {}
    for row, label in zip(X[:, features].tolist(), y.tolist(), strict=True):
        groups.setdefault(tuple(row), []).append(label)
    return sum(max(labels.count(c) for c in set(labels)) for labels in groups.values()) / len(y)


def test_against_a_table_of_equal_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(120, 5)), rng.integers(3, size=120)
    problem = Problem.from_arrays(X, y, kinds=["nominal"] * 5)
    scorer = Consistency().bind(problem, rng, Resources())
    masks = np.array([[bool(i >> k & 1) for k in range(5)] for i in range(32)])
    truth = [slow(X, y, np.flatnonzero(mask).tolist()) for mask in masks]
    np.testing.assert_allclose(scorer.score(masks), truth)
    twice = Problem.from_arrays(X, y, kinds=["nominal"] * 5, sample_weight=np.full(120, 2.0))
    np.testing.assert_allclose(Consistency().bind(twice, rng, Resources()).score(masks), truth)


def test_focus_finds_the_smallest_subset_without_a_contradiction():
    problem = load("monk1").problem
    selector = fewer.SubsetSelector(Consistency(), fewer.search.Exhaustive()).fit_problem(problem)
    assert (np.flatnonzero(selector.support_) + 1).tolist() == [1, 2, 5]  # the rule: a1 = a2, or a5 = 1
    for size in (1, 2):
        for subset in combinations(range(6), size):
            assert slow(problem.X, problem.y, list(subset)) < 1.0


def test_numbers_are_cut_first():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3))
    X[:, 0] += 3.0 * y
    X[0, 0] = 9.0  # no column tells the class by itself
    selector = fewer.SubsetSelector(Consistency(), fewer.search.Exhaustive()).fit(X, y)
    assert selector.support_[0]
    assert 0.9 < selector.score_ < 1.0
