"""`race="surrogate"`: compiled boosting chooses the columns that the estimator itself is fitted to."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVR

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.problem import Problem


def bound(model, X, y, task):
    problem = Problem.from_arrays(X, y, task=task)
    return CrossValidated(model, cv=3, race="surrogate").bind(problem, np.random.default_rng(0), Resources(n_jobs=1))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_few_columns_are_fitted_and_the_telling_one_is_among_them(task, missing, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 24))
    X[rng.random(X.shape) < 0.05] = np.nan if missing else 0.0
    total = np.nan_to_num(X[:, 5]) + 0.3 * rng.normal(size=90)
    y = (total > 0).astype(int) if task == "classification" else total
    model = MLPClassifier((2,), max_iter=1, random_state=0) if task == "classification" else SVR(kernel="poly")
    scorer = bound(model, X, y, task)
    fitted = []
    monkeypatch.setattr(scorer, "_score_split", lambda mask, fold: fitted.append(mask) or float(mask[5]) - fold / 9)
    places, scores = scorer.best_flip(np.zeros(24, dtype=bool), np.arange(24))
    assert len({mask.tobytes() for mask in fitted}) == 3
    assert places[np.argmax(scores)] == 5
    assert len(fitted) < 9  # the others cannot win any more after a fold or two


def test_workers_fit_all_that_are_left(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 24))
    scorer = bound(SVR(kernel="poly"), X, X[:, 5], "regression")
    monkeypatch.setattr("fewer.criteria.cross_validated.parallelism", lambda resources: 2)
    monkeypatch.setattr(scorer, "_fit_and_score", lambda masks: masks[:, 5].astype(float))
    places, scores = scorer.best_flip(np.zeros(24, dtype=bool), np.arange(24))
    assert len(places) == 3
    assert places[np.argmax(scores)] == 5


def test_few_columns_or_an_engine_need_no_surrogate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    assert bound(SVR(), X, y, "regression").best_flip(np.zeros(3, dtype=bool), np.arange(3)) is None
    places, _ = bound(LinearRegression(), X, y, "regression").best_flip(np.zeros(3, dtype=bool), np.arange(3))
    assert len(places) == 3
