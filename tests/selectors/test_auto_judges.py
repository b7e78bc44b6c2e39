import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from fewer.errors import InputError
from fewer.selectors.auto._judges import (
    BOOSTING,
    FOREST,
    JUDGE_TREES,
    LINEAR,
    NEIGHBORS,
    NodeSplit,
    best_penalty,
    boosting,
    criterion_of,
    estimator_named,
    forest,
    linear,
    logistic,
    neighbors,
    ridge,
    ridge_fit,
    trees,
)

RNG = np.random.default_rng(0)
TRAIN, TEST = RNG.normal(size=(40, 5)), RNG.normal(size=(15, 5))
Y = TRAIN[:, [0]] + RNG.normal(size=(40, 1))
STEPS = [np.array([2]), np.array([0, 4]), np.array([1, 3])]


def split_of(train=TRAIN, test=TEST, weights=None):
    return NodeSplit(train, test, Y, np.ones(40) if weights is None else weights, None, False, 0)


def test_neighbors_on_growing_lists_are_those_of_scikit_learn():
    known = []
    for new, found in zip(STEPS, neighbors(split_of(), STEPS), strict=True):
        known += new.tolist()
        expected = KNeighborsRegressor(5).fit(TRAIN[:, known], Y).predict(TEST[:, known])
        assert np.allclose(found, expected)


@pytest.mark.parametrize("n_columns", [3, 60])
def test_the_ridge_is_that_of_scikit_learn_at_its_penalty(n_columns):
    X = RNG.normal(size=(40, n_columns))
    weights = RNG.uniform(0.5, 2.0, size=40)
    center, coefficients, constant = ridge_fit(X, Y, weights)
    Z = np.sqrt(weights)[:, None] * (X - np.average(X, axis=0, weights=weights))
    values, U = np.linalg.eigh(Z @ Z.T)
    kept = values > 1e-10 * values[-1]
    T = np.sqrt(weights)[:, None] * (Y - np.average(Y, axis=0, weights=weights))
    alpha = best_penalty(values[kept], U[:, kept], T, weights / weights.sum())
    model = Ridge(alpha).fit(X, Y, sample_weight=weights)
    assert np.allclose(model.predict(X), ((X - center) @ coefficients + constant)[:, 0])


@pytest.mark.parametrize(
    ("n_classes", "n_columns", "tolerance"), [(2, 6, 1e-3), (2, 90, 1e-3), (3, 6, 5e-3), (2, 600, 0.05)]
)
def test_the_linear_model_for_classes_is_logistic_regression(n_classes, n_columns, tolerance):
    rng = np.random.default_rng(n_classes + n_columns)
    n = 60 if n_columns < 100 else 300
    X = rng.normal(size=(n + 30, n_columns))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=n + 30), [0.0, 1.0][: n_classes - 1])
    weights = rng.integers(1, 4, size=n).astype(float)
    split = NodeSplit(X[:n], X[n:], np.eye(n_classes)[y[:n]], np.ones(n), weights, True, 0)
    own = LogisticRegression(max_iter=5000, tol=1e-8).fit(X[:n], y[:n], sample_weight=weights)
    found = list(linear(split, [np.array([1]), np.delete(np.arange(n_columns), 1)]))[1]
    assert found == pytest.approx(own.predict_proba(X[n:]), abs=tolerance)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_that_grow_take_the_steps_of_the_axes(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(120, 70))
    y = np.digitize(X[:, 0] + rng.normal(size=120), [0.0, 0.8][: n_classes - 1])
    weights = rng.uniform(0.5, 2.0, size=100)
    split = NodeSplit(X[:100], X[100:], np.eye(n_classes)[y[:100]], np.ones(100), weights, True, 0)
    first, second = linear(split, [np.arange(65), np.arange(65, 70)])
    assert first == pytest.approx(logistic(split, np.arange(65)), abs=1e-9)
    assert second == pytest.approx(logistic(split, np.arange(70)), abs=1e-9)


def test_the_penalty_has_the_least_error_of_leaving_rows_out():
    X = TRAIN - TRAIN.mean(axis=0)
    T = Y - Y.mean()
    values, vectors = np.linalg.eigh(X.T @ X)
    U = X @ vectors / np.sqrt(values)
    found = best_penalty(values, U, T, np.full(40, 1 / 40))

    def error(alpha):
        out = []
        for i in range(40):
            rest = np.arange(40) != i
            model = Ridge(alpha).fit(TRAIN[rest], Y[rest, 0])
            out.append((model.predict(TRAIN[[i]])[0] - Y[i, 0]) ** 2)
        return np.mean(out)

    assert error(found) <= min(error(found * factor) for factor in (0.03, 30.0))


def test_memberships_are_shares():
    target = np.eye(3)[RNG.integers(3, size=40)]
    split = NodeSplit(TRAIN, TEST, target, np.ones(40), None, True, 0)
    for judge in (neighbors, ridge):
        for found in judge(split, STEPS):
            assert np.allclose(found.sum(axis=1), 1.0)
            assert (found >= 0).all()


def test_trees_are_grown_once_for_a_set_of_inputs():
    split = split_of()
    one = list(forest(split, STEPS))
    other = list(forest(split, [np.array([2]), np.array([1]), np.array([4, 0, 3])]))
    assert len(split.grown) == 4
    assert np.array_equal(one[1], trees(split_of(), np.array([0, 2, 4]), JUDGE_TREES, np.ones(40))[0])
    assert one[0] is other[0]
    assert one[2] is other[2]
    assert np.array_equal(one[1], trees(split_of(), np.array([0, 2, 4]), JUDGE_TREES)[0])


@pytest.mark.parametrize("classes", [True, False])
def test_boosting_is_that_of_scikit_learn(classes):
    X, test = RNG.normal(size=(80, 4)), RNG.normal(size=(20, 4))
    y = X[:, 0] + RNG.normal(size=80)
    target = np.eye(2)[(y > 0).astype(int)] if classes else y[:, None]
    split = NodeSplit(X, test, target, np.ones(80), None, classes, 0)
    found = list(boosting(split, [np.array([3]), np.array([0, 1])]))
    model = estimator_named("boosting", "classification" if classes else "regression")
    fitted = model.fit(X[:, [0, 1, 3]], y > 0 if classes else y)
    expected = fitted.predict_proba(test[:, [0, 1, 3]]) if classes else fitted.predict(test[:, [0, 1, 3]])[:, None]
    assert np.array_equal(found[1], expected)


def test_models_are_known_by_name():
    assert type(estimator_named("forest", "classification")).__name__ == "RandomForestClassifier"
    assert type(estimator_named("forest", "regression")).__name__ == "RandomForestRegressor"
    assert type(estimator_named("logistic", "classification")[-1]).__name__ == "LogisticRegression"
    assert estimator_named(None, "regression") is None
    X = np.arange(12.0).reshape(6, 2)
    assert estimator_named("linear", "classification").fit(X, [0, 1] * 3).predict(X).shape == (6,)
    assert np.array_equal(X, np.arange(12.0).reshape(6, 2))  # whoever gets this model keeps their rows
    with pytest.raises(InputError, match="'oak'; give an estimator or one of knn, linear, forest"):
        estimator_named("oak", "classification")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_model_is_a_criterion_that_predicts(task):
    for name, model in {NEIGHBORS: "Neighbors", LINEAR: "R", FOREST: "Forest", BOOSTING: "Boosting"}.items():
        assert model in repr(criterion_of(name, task, None, None).estimator)
    given = Ridge()
    assert criterion_of("the given model", task, given, None).estimator is given
    assert "Neighbors" in repr(criterion_of("another", task, None, None).estimator)
