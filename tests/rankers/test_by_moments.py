"""Rankings from sums are those of scikit-learn on the whole table."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import chi2, f_classif, f_regression

from fewer.contracts import IncompatibleError, Resources
from fewer.io import SparseProblem
from fewer.problem import Problem
from fewer.rankers import Chi2, Fisher, FTest

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, size=(80, 4)) * (RNG.random((80, 4)) < 0.5).astype(float)
Y = (X[:, 0] + RNG.integers(0, 2, 80)).astype(int) % 3


def thin(y=Y, task="classification", table=X):
    return SparseProblem.of(Problem.from_arrays(table, y, task=task), sparse.csc_array(table))


def rank(ranker, problem):
    return ranker.rank(problem, np.random.default_rng(0), Resources())


def of_classes(problem):
    return rank(FTest(), problem)


def test_analysis_of_variance():
    ranking = of_classes(thin())
    scores, p_values = f_classif(X, Y)
    assert ranking.scores == pytest.approx(scores)
    assert ranking.extra["p_value"] == pytest.approx(p_values)


def test_correlation_with_a_quantity():
    y = X[:, 1] + RNG.normal(size=80)
    ranking = rank(FTest(), thin(y, "regression"))
    scores, p_values = f_regression(X, y)
    assert ranking.scores == pytest.approx(scores)
    assert ranking.extra["p_value"] == pytest.approx(p_values)


def test_chi_squared_of_counts():
    problem = thin()
    ranking = rank(Chi2(), problem)
    scores, p_values = chi2(X, Y)
    assert ranking.scores == pytest.approx(scores)
    assert ranking.extra["p_value"] == pytest.approx(p_values)
    with pytest.raises(IncompatibleError, match="column 'x0' has negative numbers"):
        rank(Chi2(), thin(table=np.where(X == 3, -1.0, X)))


def test_fishers_score_is_between_over_within():
    problem = thin()
    scores = rank(Fisher(), problem).scores
    means = np.array([X[c == Y].mean(axis=0) for c in range(3)])
    sizes = np.bincount(Y)[:, None]
    between = (sizes * (means - X.mean(axis=0)) ** 2).sum(axis=0)
    within = sum(((X[c == Y] - means[c]) ** 2).sum(axis=0) for c in range(3))
    assert scores == pytest.approx(between / within)


def test_a_constant_column_says_nothing():
    table = X.copy()
    table[:, 2] = 0.0
    problem = thin(table=table)
    assert rank(Fisher(), problem).scores[2] == 0.0
    assert of_classes(problem).extra["p_value"][2] == 1.0
