import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from fewer.criteria.engines import _histogram_boosting as boosting
from fewer.criteria.engines._histogram_boosting import HistogramBoosting, why_not_boosted
from fewer.criteria.engines._parts import agrees


@pytest.fixture(autouse=True)
def _one_thread():
    """On a busy machine scikit-learn's threads would wait for each other for seconds."""
    with threadpool_limits(1):
        yield


def drawn(seed):
    """A table, a split, a model and columns: ties, skew, missing cells, copies, weights, options, as the seed says."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(60, 900)), int(rng.integers(1, 13))
    X = rng.normal(size=(n, p))
    kind = seed % 10
    if kind == 0:
        X[:, 0] = 3.0
    elif kind == 1:
        X[:, -1] = X[:, 0]
    elif kind == 2:
        X[:, -1] = -X[:, 0]  # the same gains
    elif kind == 3:
        X[rng.random(X.shape) < 0.3] = np.nan
    elif kind == 4:
        X = (X > 0).astype(float)
    elif kind == 5:
        X *= 1e-8
    elif kind == 6:
        X = np.round(2 * X)
    elif kind == 7:
        X = np.exp(2 * X)
        X[rng.random(X.shape) < 0.05] = np.nan
    total = np.nan_to_num(X).sum(axis=1)
    total = total / (total.std() + 1e-30) + rng.normal(size=n) * (kind != 8)
    y = [total * 10.0 ** rng.integers(-6, 7), (total > 0.3).astype(int), np.digitize(total, [-0.8, 0.4, 1.0])][seed % 3]
    options = {
        "max_iter": 30, "l2_regularization": float(rng.choice([0.0, 0.7])),
        "learning_rate": float(rng.choice([0.1, 0.3])), "min_samples_leaf": int(rng.choice([20, 5, 1])),
        "max_depth": [None, 3, None, 5][seed // 3 % 4],
        "max_leaf_nodes": [31, 8, None][seed // 5 % 3],
    }  # fmt: skip
    weights = rng.choice([0.5, 1.0, 3.0], size=n) if seed % 7 == 0 else None
    if seed % 3 and seed % 4 == 0:
        options["class_weight"] = "balanced"
    model = (HistGradientBoostingClassifier if seed % 3 else HistGradientBoostingRegressor)(**options)
    test = rng.random(n) < 0.25
    if seed % 9 == 0:
        X[np.flatnonzero(test)[:5], 0] = np.nan  # missing in test rows alone
    columns = np.sort(rng.choice(p, int(rng.integers(1, p + 1)), replace=False))
    return X, y, weights, test, model, columns


def differs(seed):
    """Say whether raw predictions differ from scikit-learn's in a single bit."""
    X, y, weights, test, model, columns = drawn(seed)
    train_weights = None if weights is None else weights[~test]
    part = HistogramBoosting(model, X[~test], y[~test], X[test], train_weights)
    part.predict(np.arange(X.shape[1]))  # what was fitted before leaves no trace
    raw = part.decision_function(columns)
    model.fit(X[~test][:, columns], y[~test], sample_weight=train_weights)
    return not np.array_equal(raw, model._raw_predict(X[test][:, columns]))


@pytest.mark.parametrize("seed", range(30))
def test_raw_predictions_are_scikit_learns_to_the_bit(seed):
    assert not differs(seed)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_classes_memberships_and_quantities_are_scikit_learns(seed):
    X, y, _, test, model, columns = drawn(seed)
    part = HistogramBoosting(model, X[~test], y[~test], X[test])
    model.fit(X[~test][:, columns], y[~test])
    np.testing.assert_array_equal(part.predict(columns), model.predict(X[test][:, columns]))
    if part.classes_ is not None:
        truth = model.predict_proba(X[test][:, columns])
        np.testing.assert_allclose(part.predict_proba(columns), truth, rtol=1e-14)


@pytest.mark.parametrize(
    "option",
    [
        {"early_stopping": True}, {"max_bins": 20}, {"max_features": 0.5}, {"monotonic_cst": [1]}, {"warm_start": True},
        {"interaction_cst": "pairwise"}, {"categorical_features": [0]},
    ],
)  # fmt: skip
def test_other_options_go_the_ordinary_way(option):
    name = next(iter(option))
    assert f"({name}=" in why_not_boosted(HistGradientBoostingClassifier(**option), 100, 3)
    assert why_not_boosted(HistGradientBoostingRegressor(loss="poisson"), 100, 3)


def test_many_rows_or_columns_go_the_ordinary_way():
    assert why_not_boosted(HistGradientBoostingClassifier(), 10_001, 3)
    assert why_not_boosted(HistGradientBoostingClassifier(), 1000, 10_000)
    assert not why_not_boosted(HistGradientBoostingClassifier(), 10_000, 3)


def test_another_scikit_learn_goes_the_ordinary_way(monkeypatch):
    agrees.cache_clear()
    monkeypatch.setattr(boosting, "first_prediction", lambda y, n_classes, weights: np.zeros(max(n_classes - 1, 1)))
    try:
        assert "differently" in why_not_boosted(HistGradientBoostingClassifier(), 100, 3)
    finally:
        agrees.cache_clear()
