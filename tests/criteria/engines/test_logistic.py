import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from engine_twin import rows, scores
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria.engines._engine import EngineMetric, Folds
from fewer.criteria.engines._logistic import AbsoluteEngine, LogisticEngine, steps_alike
from fewer.problem import Problem


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_logistic_regression_scores_as_scikit_learns(scoring):
    X, y = rows()
    name, ours, truth = scores(LogisticRegression(C=0.5), X, y, scoring)
    assert name == "LogisticEngine"
    assert ours == pytest.approx(truth, abs=1e-6)


def liblinear_differs(make, seed, n_classes=2):
    """Say whether a score of a drawn table differs from that of scikit-learn's model."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(40, 200)), int(rng.integers(1, 8))
    X = rng.normal(size=(n, p)).round(int(rng.integers(0, 4)))
    y = np.array(list("abcd"))[np.digitize(X[:, 0] - X[:, -1] + rng.normal(size=n), [0.3, 0.9, 1.8][: n_classes - 1])]
    model = make(C=float(rng.choice([0.1, 1.0, 10.0])))
    if n_classes == 2:
        model.set_params(class_weight=[None, "balanced"][seed % 2])
    cv = [(np.flatnonzero(np.arange(n) % 3 != k), np.flatnonzero(np.arange(n) % 3 == k)) for k in range(3)]
    bound = CrossValidated(model, cv=cv).bind(Problem.from_arrays(X, y), np.random.default_rng(0), Resources())
    masks = np.concatenate([np.eye(p, dtype=bool), np.ones((1, p), dtype=bool)])
    truth = [cross_val_score(model, X[:, mask], y, cv=cv).mean() for mask in masks]
    assert bound.way == "compiled" or "very different scales" in bound.way
    return not np.allclose(bound.score(masks), truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [LinearSVC, partial(LogisticRegression, l1_ratio=1, solver="liblinear")])
def test_classes_of_liblinears_models_are_those_of_scikit_learn(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not any(liblinear_differs(make, seed) for seed in range(50))


@pytest.mark.parametrize("n_classes", [3, 4])
def test_linear_support_vectors_of_several_classes_are_those_of_scikit_learn(n_classes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not any(liblinear_differs(LinearSVC, seed, n_classes) for seed in range(25))


@pytest.mark.parametrize("weighted", [False, True])
def test_absolute_coefficients_are_at_the_minimum(weighted):
    """The decisions of LIBLINEAR with a tolerance far below its own, some coefficients at 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 2.0, size=(90, 6))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=90) > 0.5).astype(int)
    weights = rng.integers(1, 4, len(y)) / 2.0 if weighted else None
    problem, train = Problem.from_arrays(X, y, sample_weight=weights), np.arange(len(y))
    model = LogisticRegression(C=0.1, l1_ratio=1, solver="liblinear", tol=1e-12, max_iter=10**5, random_state=0)
    folds = Folds(problem, [(train, train)], [StandardScaler()], True)
    engine = AbsoluteEngine(model, folds, EngineMetric("roc_auc"))
    out = np.empty((len(y), 2))
    assert engine.predict_added(np.arange(X.shape[1] - 1), np.array([X.shape[1] - 1]), out[None]).all()
    Z = StandardScaler().fit_transform(X)
    truth = model.fit(Z, y, sample_weight=problem.sample_weight)
    assert out[:, 1] - out[:, 0] == pytest.approx(truth.decision_function(Z), abs=1e-6)
    assert 0 < (truth.coef_ == 0).sum() < X.shape[1]


@pytest.mark.parametrize("options", [{"l1_ratio": 1, "solver": "saga"}, {"l1_ratio": 0.5, "solver": "saga"}])
def test_other_penalties_go_the_ordinary_way(options):
    problem = Problem.from_arrays(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    bound = CrossValidated(LogisticRegression(**options)).bind(problem, np.random.default_rng(0), Resources())
    assert "solver='saga'" in bound.way


@pytest.mark.parametrize(
    "model", [LinearSVC(class_weight="balanced"), LogisticRegression(l1_ratio=1, solver="liblinear")]
)
def test_several_classes_that_are_not_covered_go_the_ordinary_way(model):
    problem = Problem.from_arrays(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3)
    bound = CrossValidated(model).bind(problem, np.random.default_rng(0), Resources())
    assert "classes" in bound.way


def drawn_fit(seed):
    """Draw a table and a model; return the engine on it, and the model fitted by scikit-learn."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 120)), int(rng.integers(1, 25))
    X, weights = rng.normal(size=(n, p)).round(1), rng.integers(0, 4, n) / 2.0 if seed % 3 else None
    X *= rng.choice([0.2, 1.0, 5.0])
    if p > 2 and seed % 5 == 0:
        X[:, 1], X[:, 2] = X[:, 0], 3.0
    y = (X[:, 0] + rng.normal(size=n) > [0.5, 1.5][seed % 2]).astype(int)
    y[:2] = 0, 1
    if weights is not None:
        weights[:2] = 1.0
    model = LogisticRegression(C=float(rng.choice([0.01, 1.0, 30.0])), tol=float(rng.choice([1e-8, 1e-4])))
    model.set_params(class_weight=[None, "balanced", {0: 0.3, 1: 2.0}][seed % 3])
    problem, train = Problem.from_arrays(X, y, sample_weight=weights), np.arange(n)
    engine = LogisticEngine(model, Folds(problem, [(train, train)], [], True), EngineMetric("accuracy"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return engine, model.fit(X, y, sample_weight=weights)


def test_folds_left_to_scikit_learn_take_its_steps_to_its_end():
    """The same coefficients up to rounding, far closer to each other than its tolerance leaves them to the minimum."""
    assert steps_alike()
    n_found = 0
    for seed in range(120):
        engine, model = drawn_fit(seed)
        found = engine._lbfgs(np.arange(model.coef_.shape[1]), 0)
        if model.n_iter_[0] >= 40:
            assert found is None  # so many steps that rounding grows into something else
        elif found is not None:
            n_found += 1
            assert found[0] == pytest.approx(model.coef_, rel=1e-7, abs=1e-8)
            assert found[1] == pytest.approx(model.intercept_, rel=1e-7, abs=1e-8)
    assert n_found >= 50


def test_elimination_gets_the_coefficients_and_the_score_of_scikit_learn():
    for seed in range(20):
        engine, model = drawn_fit(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importances, score = engine.examine(np.arange(model.coef_.shape[1]), 0)
        rows = engine.folds.problem
        assert importances == pytest.approx(model.coef_[0] ** 2, rel=1e-6, abs=1e-9)
        assert score == pytest.approx(model.score(rows.X, rows.y, rows.sample_weight), abs=1e-12)
