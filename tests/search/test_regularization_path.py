import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, enet_path, lars_path, lasso_path

import fewer
from fewer.contracts import SearchSpace
from fewer.criteria import LeastSquares
from fewer.kernels.path import follow
from fewer.problem import Problem
from fewer.search import RegularizationPath, _regularization_path
from fewer.search._regularization_path import _PenalisedFit, entry_order
from fewer.statistics.encoding import scaled_inputs


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def first_entries(alphas, coefficients):
    """The step of the path at which each column enters."""
    inside = np.abs(coefficients) > 0
    return np.where(inside.any(axis=1), inside.argmax(axis=1), len(alphas))


def made(n=120, p=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    return X, X[:, :6] @ np.array([3, -2, 2, 1, 1, -1]) + rng.normal(size=n)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("data", [lambda: load_diabetes(return_X_y=True), made, lambda: made(30, 60, 1)])
def test_the_order_of_entry_is_that_of_scikit_learns_path(data, ratio):
    X, y = data()
    path = lasso_path if ratio == 1 else enet_path
    options = {} if ratio == 1 else {"l1_ratio": ratio}
    alphas, coefficients, _ = path(scaled(X), (y - y.mean()) / y.std(), tol=1e-10, max_iter=100_000, **options)
    order, entered_at = entry_order(Problem.from_arrays(X, y, task="regression"), SearchSpace.of(X.shape[1]), ratio)
    steps = first_entries(alphas, coefficients)
    found = np.array([np.argmin(np.abs(np.log(alphas / a))) if a else len(alphas) for a in entered_at])
    assert (np.diff(steps[order]) >= 0).all()
    assert (found == steps[order]).all()


def drawn(kind, seed):
    """A table whose columns tie, repeat or depend on each other, its target and its row weights."""
    rng = np.random.default_rng(seed)
    n, p = (20, 50) if "wide" in kind else (60, 14)
    X, half = rng.normal(size=(n, p)) + ("common" in kind) * rng.normal(size=(n, 1)), p // 2
    changes = {
        "copies": lambda: np.c_[X[:, :half], X[:, :half]],
        "negated": lambda: np.c_[X[:, :half], 3.0 - 2.0 * X[:, :half]],
        "near copies": lambda: np.c_[X[:, :half], X[:, :half] + 1e-4 * rng.normal(size=(n, half))],
        "nearer copies, wide": lambda: np.c_[X[:, :half], X[:, :half] + 1e-6 * rng.normal(size=(n, half))],
        "sums": lambda: np.c_[X[:, :half], X[:, :half] + X[:, half:]],
        "orthogonal": lambda: np.linalg.qr(X - X.mean(axis=0))[0],
        "levels": lambda: rng.integers(0, 3, (n, p)).astype(float),
        "indicators": lambda: np.eye(p)[rng.integers(0, p, n)],
        "powers": lambda: np.linspace(0.01, 1, n)[:, None] ** np.arange(1, p),
        "constant": lambda: np.c_[X, np.full(n, 4.0)],
    }
    X = changes.get(kind, lambda: X)()
    coefficients = np.ones(4) if kind == "orthogonal" else rng.normal(size=4)
    y = X[:, :4] @ coefficients + (kind != "orthogonal") * rng.normal(size=n)
    return X, y, rng.integers(1, 4, n).astype(float) if "weights" in kind else np.ones(n)


def followed(X, y, weights, weakest):
    """The lasso at the end of a path: coefficients and what is left of its gradient, both from the rows."""
    problem = Problem.from_arrays(X, y, task="regression", sample_weight=weights)
    fit = _PenalisedFit(problem, SearchSpace.of(X.shape[1]), 1.0)
    alphas, p = fit.strongest() * np.geomspace(1, weakest, 50), X.shape[1]
    fit.follow(alphas, np.zeros(p), np.zeros(p), p + 1)
    inputs, coefficients = fit.inputs - fit.weights @ fit.inputs, fit.coefficients[:, 0]
    left = inputs.T @ (fit.weights * (fit.targets[:, 0] - inputs @ coefficients))
    return coefficients, left, alphas[-1], (inputs, fit.targets[:, 0])


KINDS = ["plain", "common", "weights", "wide", "wide, common, weights", "copies", "negated", "near copies", "sums"]
KINDS += ["orthogonal", "levels", "indicators", "powers", "constant"]


@pytest.mark.parametrize("weakest", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("kind", KINDS)
def test_the_lasso_is_exact_where_columns_tie_repeat_and_depend_on_each_other(kind, weakest):
    for seed in range(4):
        X, y, weights = drawn(kind, seed)
        coefficients, left, alpha, (inputs, target) = followed(X, y, weights, weakest)
        inside, rounding = coefficients != 0, 1e-12 * (1 + np.abs(coefficients).sum())
        assert left[inside] == pytest.approx(alpha * np.sign(coefficients[inside]), abs=rounding)
        assert np.abs(left).max() <= alpha + rounding
        if kind in {"plain", "common", "wide", "near copies"} and weakest > 1e-6:  # where `lars_path` drops none
            truth = lars_path(inputs, target, method="lasso", alpha_min=alpha)[2][:, -1]
            assert coefficients == pytest.approx(truth, rel=1e-5, abs=1e-8)


def test_where_columns_depend_too_much_for_exact_steps_the_path_goes_on_by_descent(monkeypatch):
    called = []
    monkeypatch.setattr(_regularization_path, "follow", lambda *args: called.append(1) or follow(*args))
    coefficients, left, alpha, _ = followed(*drawn("nearer copies, wide", 0), 1e-3)
    assert called
    inside = coefficients != 0
    assert left[inside] == pytest.approx(alpha * np.sign(coefficients[inside]), abs=3e-7)
    assert np.abs(left).max() <= alpha + 3e-7


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_coefficients_are_those_of_penalised_logistic_regression(load):
    """Two classes; and more, one input at a time: scikit-learn has no groups over classes."""
    X, y = load(return_X_y=True)
    X, y = (X[:, [0, 1, 4]], y) if load is load_breast_cancer else (X[:, :2], (y > 0).astype(int))
    problem = Problem.from_arrays(X, y)
    fit = _PenalisedFit(problem, SearchSpace.of(X.shape[1]), 1.0)
    alpha = 0.2 * fit.strongest()
    fit.solve(alpha)
    truth = LogisticRegression(C=1 / (alpha * len(y)), l1_ratio=1, solver="saga", tol=1e-10, max_iter=100_000)
    truth.fit(scaled(X), y)
    assert fit.coefficients[:, 0] == pytest.approx(truth.coef_[0], abs=1e-4)
    assert fit.intercept[0] == pytest.approx(truth.intercept_[0], abs=1e-4)


def test_more_classes_meet_the_conditions_of_a_minimum():
    X, y = load_wine(return_X_y=True)
    problem = Problem.from_arrays(X, y, sample_weight=np.random.default_rng(0).integers(1, 4, len(y)))
    space = SearchSpace.of(13, groups=[[0, 1, 2]], include=[5])
    fit = _PenalisedFit(problem, space, 0.7)
    alpha = 0.3 * fit.strongest()
    fit.solve(alpha)
    shares = problem.row_weights / problem.row_weights.sum()
    inputs, _ = scaled_inputs(problem, shares)
    chances = np.exp(inputs @ fit.coefficients + fit.intercept)
    chances /= chances.sum(axis=1, keepdims=True)
    pull = inputs.T @ (shares[:, None] * ((y[:, None] == np.arange(3)) - chances))
    for unit in [*space.units, np.array([5])]:
        own, length = fit.coefficients[unit], np.linalg.norm(fit.coefficients[unit])
        price = 0.0 if 5 in unit else alpha * np.sqrt(len(unit))
        ridge = 0.0 if 5 in unit else alpha * 0.3 * own
        if length > 0:
            price_there = 0.7 * price * own / length
            assert pull[unit] - ridge == pytest.approx(price_there, abs=1e-5)
        else:
            assert np.linalg.norm(pull[unit]) <= 0.7 * price + 1e-6
    assert 1 < (fit.lengths() > 0).sum() < 11


def test_units_enter_together_and_the_criterion_picks_the_size():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 8))
    y = 2 * X[:, 1] - X[:, 4] + X[:, 5] + 0.5 * rng.normal(size=100)
    options = {"feature_groups": [[4, 5]], "n_features_to_select": 2, "random_state": 0}
    selector = fewer.SubsetSelector(LeastSquares(), RegularizationPath(), **options)
    assert np.flatnonzero(selector.fit(X, y).support_).tolist() == [1, 4, 5]
    asked = fewer.SubsetSelector(LeastSquares(), RegularizationPath("elastic-net"), include=[7], n_features_to_select=3)
    assert np.flatnonzero(asked.fit(X, y).support_).tolist() == [1, 4, 7] or asked.support_[[1, 7]].all()
    assert asked.support_.sum() == 3


def test_indicators_of_a_nominal_column_enter_together_and_missing_cells_are_the_mean():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, 90)
    X = np.c_[rng.normal(size=90), levels, rng.normal(size=90)]
    X[::9, 0] = np.nan
    problem = Problem.from_arrays(X, levels == 1, kinds=["numeric", "nominal", "numeric"])
    inputs, owner = scaled_inputs(problem, np.full(90, 1 / 90))
    assert owner.tolist() == [0, 1, 1, 1, 2]
    assert inputs.mean(axis=0) == pytest.approx(0, abs=0.15)
    assert entry_order(problem, SearchSpace.of(3))[0][0] == 1


def test_every_criterion_can_score_the_path():
    X, y = load_wine(return_X_y=True)
    selector = fewer.SubsetSelector(fewer.criteria.KNN(), RegularizationPath(), random_state=0).fit(X, y)
    assert 1 <= selector.support_.sum() <= 13
    assert selector.score_ > 0.9


def test_the_answer_is_the_best_of_an_allowed_size_on_the_way():
    X, y = made(60, 8)
    for sizes in ("auto", (2, 3), 5):
        trace = fewer.SubsetSelector(LeastSquares(), RegularizationPath(), n_features_to_select=sizes).fit(X, y).trace_
        low, high = {"auto": (1, 8), 5: (5, 5)}.get(sizes, sizes)
        allowed = {int(step.mask.sum()): step.score for step in trace.steps if low <= step.mask.sum() <= high}
        assert trace.best_score == max(allowed.values())
        assert low <= trace.best.sum() <= high
        assert [int(step.mask.sum()) for step in trace.steps] == list(range(high + 1))


def test_at_the_strongest_penalty_no_unit_is_in_and_just_below_it_one_is():
    X, y = made(80, 8)
    space = SearchSpace.of(8, groups=[[0, 1, 2, 3]])
    fit = _PenalisedFit(Problem.from_arrays(X, y, task="regression"), space, 1.0)
    strongest = fit.strongest()
    fit.solve(1.0001 * strongest)
    assert (fit.lengths() > 0).sum() == 0
    fit.solve(0.999 * strongest)
    assert (fit.lengths() > 0).sum() == 1
