"""Penalised least squares beside scikit-learn's, on drawn tables."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV, RidgeCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria.engines._penalised import PENALISED
from fewer.problem import Problem

TIGHT = {"tol": 1e-11, "max_iter": 10**6}
MODELS = {
    "lasso": lambda a: Lasso(a, **TIGHT),
    "elastic net": lambda a: ElasticNet(a, l1_ratio=0.3, **TIGHT),
    "lasso by folds": lambda a: LassoCV(alphas=20, **TIGHT),
    "elastic net by folds": lambda a: ElasticNetCV(alphas=[a, 3 * a, a / 5], l1_ratio=0.7, cv=3, **TIGHT),
    "ridge by rows left out": lambda a: RidgeCV([a, 10 * a, a / 10]),
}


def drawn(seed):
    """Return a table with columns in other units, sometimes constant, copied or with ties, and a penalty."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 100)), int(rng.integers(1, 9))
    X = rng.normal(size=(n, p)) * 10 ** rng.uniform(-1, 1, p) + rng.normal(size=p)
    X[:, 0] = [X[:, 0], np.full(n, 3.0), X[:, 0].round(), X[:, -1]][seed % 4]
    y = X @ rng.normal(size=p) + rng.normal(size=n) * rng.uniform(0.1, 3)
    return X, y, rng.random(n) < 0.3, 10 ** rng.uniform(-3, 0) * y.std()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_scikit_learn_with_a_small_tolerance(name):
    answered = 0
    for seed in range(50):
        X, y, test, alpha = drawn(seed)
        model = MODELS[name](alpha)
        weights = None if seed % 2 else np.random.default_rng(seed).random(sum(~test)) + 0.1
        part = PENALISED[type(model)](model, X[~test], y[~test], X[test], weights)
        columns = np.arange(X.shape[1])[: 1 + seed % X.shape[1]]
        part.outputs(np.arange(X.shape[1]))  # another subset before
        found = part.outputs(columns)
        if found is None:
            continue
        truth = model.fit(X[~test][:, columns], y[~test], sample_weight=weights).predict(X[test][:, columns])
        np.testing.assert_allclose(found, truth, rtol=0, atol=2e-6 * y.std())
        answered += 1
    assert answered >= (35 if name.startswith("ridge") else 45)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [Lasso(0.05), LassoCV(), RidgeCV()], ids=lambda model: type(model).__name__)
def test_scores_are_those_of_the_folds(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = X[:, 0] - X[:, 1] + rng.normal(size=80)
    estimator = make_pipeline(StandardScaler(), model)
    cv = [(np.flatnonzero(np.arange(80) % 4 != k), np.flatnonzero(np.arange(80) % 4 == k)) for k in range(4)]
    scorer = CrossValidated(estimator, cv=cv).bind(Problem.from_arrays(X, y, task="regression"), rng, Resources())
    masks = rng.random((8, 5)) < 0.6
    masks[:, 0] = True
    truth = [cross_val_score(estimator, X[:, mask], y, cv=cv).mean() for mask in masks]
    np.testing.assert_allclose(scorer.score(masks), truth, rtol=0, atol=1e-3)
    assert type(scorer._part(0)) is PENALISED[type(model)]


@pytest.mark.parametrize("model", [Lasso(0.05, tol=1e-9), RidgeCV()], ids=lambda model: type(model).__name__)
def test_with_row_weights_what_is_said_to_be_compiled_is(model):
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(60, 4)), rng.uniform(0.1, 3.0, 60)
    y = X[:, 0] + rng.normal(size=60)
    problem = Problem.from_arrays(X, y, task="regression", sample_weight=weights)
    scorer = CrossValidated(model, cv=KFold(3)).bind(problem, rng, Resources())
    assert scorer.way == "compiled, fold by fold"
    assert type(scorer._part(0)) is PENALISED[type(model)]
    truth = [
        clone(model).fit(X[train], y[train], sample_weight=weights[train]).score(X[test], y[test], weights[test])
        for train, test in KFold(3).split(X)
    ]
    assert scorer.score(np.ones((1, 4), dtype=bool)) == pytest.approx(np.mean(truth), abs=1e-6)


def test_what_is_not_covered_is_said():
    refused = {
        "positive=True": Lasso(positive=True), "folds of one's own": LassoCV(cv=[(0, 1)]),
        "several values": ElasticNetCV(l1_ratio=[0.1, 0.9]), "with folds": RidgeCV(cv=3),
    }  # fmt: skip
    for words, model in refused.items():
        assert words in PENALISED[type(model)].refuses(model, 50, 5)
