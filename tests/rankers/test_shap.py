import sys
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from fewer.contracts import Resources
from fewer.problem import InputError, Problem
from fewer.rankers import Shap

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import shap  # noqa: F401


def ranked(ranker, X, y, **options):
    return ranker.rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources())


def test_of_a_linear_model_it_is_the_coefficient_times_the_distance_from_the_mean():
    X, y = load_diabetes(return_X_y=True)
    X = X * 100
    ranking = ranked(Shap(Ridge(), cv=None), X, y, task="regression")
    truth = np.abs(Ridge().fit(X, y).coef_ * (X - X.mean(axis=0))).mean(axis=0)
    assert ranking.scores == pytest.approx(truth, rel=0.2)  # the package thins the background rows
    assert np.corrcoef(ranking.scores, truth)[0, 1] > 0.999


def test_trees_and_models_of_no_known_kind_find_the_signal():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    X[:, 1] += 2 * y
    assert ranked(Shap(RandomForestClassifier(5, random_state=0), 2), X, y).order[0] == 1
    quantity = X[:, 2] + 0.1 * rng.normal(size=40)
    weights = rng.random(40)
    ranking = ranked(Shap(KNeighborsRegressor(3), 2), X, quantity, task="regression", sample_weight=weights)
    assert ranking.order[0] == 2


def test_without_the_package_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(InputError, match=r"pip install 'fewer\[shap\]'"):
        ranked(Shap(cv=None), np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
