"""Rankings from sums are those of scikit-learn on the whole table."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import chi2, f_classif, f_regression

from fewer.contracts import IncompatibleError
from fewer.io import SparseProblem
from fewer.problem import Problem
from fewer.rankers import _by_moments as ranked

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, size=(80, 4)) * (RNG.random((80, 4)) < 0.5).astype(float)
Y = (X[:, 0] + RNG.integers(0, 2, 80)).astype(int) % 3


def thin(y=Y, task="classification", table=X):
    return SparseProblem.of(Problem.from_arrays(table, y, task=task), sparse.csc_array(table))


def test_analysis_of_variance():
    ranking = ranked.f_test_of_classes(ranked.class_moments(thin()))
    scores, p_values = f_classif(X, Y)
    assert ranking.scores == pytest.approx(scores)
    assert ranking.extra["p_value"] == pytest.approx(p_values)


def test_correlation_with_a_quantity():
    y = X[:, 1] + RNG.normal(size=80)
    ranking = ranked.f_test_of_correlation(ranked.target_moments(thin(y, "regression")))
    scores, p_values = f_regression(X, y)
    assert ranking.scores == pytest.approx(scores)
    assert ranking.extra["p_value"] == pytest.approx(p_values)


def test_chi_squared_of_counts():
    problem = thin()
    ranking = ranked.chi2_ranking(ranked.class_moments(problem), None, ranked.lows(problem), problem)
    scores, p_values = chi2(X, Y)
    assert ranking.scores == pytest.approx(scores)
    assert ranking.extra["p_value"] == pytest.approx(p_values)
    with pytest.raises(IncompatibleError, match="column 'x0' has negative numbers"):
        ranked.chi2_ranking(ranked.class_moments(problem), None, np.array([-1.0, 0, 0, 0]), problem)


def test_fishers_score_is_between_over_within():
    problem = thin()
    scores = ranked.fisher_scores(ranked.class_moments(problem), None, problem)
    means = np.array([X[c == Y].mean(axis=0) for c in range(3)])
    sizes = np.bincount(Y)[:, None]
    between = (sizes * (means - X.mean(axis=0)) ** 2).sum(axis=0)
    within = sum(((X[c == Y] - means[c]) ** 2).sum(axis=0) for c in range(3))
    assert scores == pytest.approx(between / within)


def test_a_constant_column_says_nothing():
    table = X.copy()
    table[:, 2] = 0.0
    problem = thin(table=table)
    assert ranked.fisher_scores(ranked.class_moments(problem), None, problem)[2] == 0.0
    assert ranked.f_test_of_classes(ranked.class_moments(problem)).extra["p_value"][2] == 1.0
