import numpy as np
import pytest
from scipy import stats

from fewer.contracts import Resources
from fewer.evaluate._nested import FTest, filter_baseline, random_like
from fewer.problem import Problem
from making import make_problem


def test_f_test_agrees_with_scipy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:, 2] = rng.integers(0, 3, 50)
    y = X[:, 1] + (X[:, 2] == 1) + rng.normal(size=50)
    X[:8, 3] = np.nan
    problem = Problem.from_arrays(X, y, task="regression", kinds=["numeric", "numeric", "nominal", "numeric"])
    scores = FTest().rank(problem, rng, Resources()).scores
    assert np.exp(-scores[0]) == pytest.approx(stats.pearsonr(X[:, 0], y).pvalue)
    assert np.exp(-scores[3]) == pytest.approx(stats.pearsonr(X[8:, 3], y[8:]).pvalue)
    levels = [y[X[:, 2] == level] for level in range(3)]
    assert np.exp(-scores[2]) == pytest.approx(stats.f_oneway(*levels).pvalue)


def test_f_test_of_columns_that_do_not_vary():
    problem = Problem.from_arrays(np.ones((5, 2)), np.arange(5.0), task="regression")
    assert FTest().rank(problem, np.random.default_rng(0), Resources()).scores.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_filter_finds_its_features(task):
    _, selector = filter_baseline(task)
    chosen = selector.fit_problem(make_problem(n_rows=120, task=task)).support_
    assert chosen[:2].any()
    assert not chosen[2:].all()


def test_random_subsets_have_the_same_size_and_no_preference():
    mask = np.array([True, True, False, False, False])
    rng = np.random.default_rng(0)
    drawn = np.array([random_like(mask, rng) for _ in range(2000)])
    assert (drawn.sum(axis=1) == 2).all()
    assert np.allclose(drawn.mean(axis=0), 0.4, atol=0.05)
