import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import StratifiedKFold, cross_val_score
from threadpoolctl import threadpool_limits

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria._preparation import on_columns
from fewer.criteria.engines import _histogram_boosting as boosting
from fewer.criteria.engines._histogram_boosting import HistogramBoosting, why_not_boosted
from fewer.io import to_problem


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


def with_categories(seed):
    """The same, with some columns as categories: few or many of them, rare ones, unknown ones in test rows, ties."""
    X, y, weights, test, model, columns = drawn(seed)
    rng = np.random.default_rng(seed)
    chosen = np.flatnonzero(rng.random(X.shape[1]) < 0.6)
    for column in chosen:
        n_levels = int(rng.choice([1, 2, 5, 30, 200]))
        codes = np.minimum(rng.geometric(0.1, size=len(X)), n_levels) if seed % 2 else rng.integers(0, n_levels, len(X))
        X[:, column] = np.where(np.isnan(X[:, column]), np.nan, 3.0 * codes - 7.0)
    if seed % 3 and seed % 5 == 0:
        y = (np.nan_to_num(X[:, :1]).sum(axis=1) % 2 == 0).astype(int)  # categories tie
        y[np.flatnonzero(~test)[:4]] = 0, 0, 1, 1
    mask = np.isin(np.arange(X.shape[1]), chosen)
    model.set_params(categorical_features=mask if seed % 2 else chosen.tolist(), max_iter=12)
    return X, y, weights, test, model, columns


def stopping(seed):
    """One of both, with a model that stops early."""
    table = drawn(seed) if seed % 2 else with_categories(seed)
    rng = np.random.default_rng(seed)
    table[4].set_params(
        early_stopping=True, max_iter=40, random_state=seed, n_iter_no_change=int(rng.integers(1, 6)),
        tol=float(rng.choice([0.0, 1e-7, 1e-3])), validation_fraction=[0.1, 0.3, None, 11][seed % 4],
    )  # fmt: skip
    return table


def differs(seed, drawn=drawn):
    """Say whether raw predictions differ from scikit-learn's in a single bit."""
    X, y, weights, test, model, columns = drawn(seed)
    train_weights = None if weights is None else weights[~test]
    part = HistogramBoosting(model, X[~test], y[~test], X[test], train_weights)
    part.predict(np.arange(X.shape[1]))  # what was fitted before leaves no trace
    raw = part.decision_function(columns)
    model = on_columns(model, columns, tuple(map(str, range(X.shape[1]))))
    model.fit(X[~test][:, columns], y[~test], sample_weight=train_weights)
    its = model._raw_predict(X[test][:, columns])
    if part.outputs(columns) is None:  # one category beside missing cells
        return False
    return not np.array_equal(raw, its)


@pytest.mark.parametrize("seed", range(30))
def test_raw_predictions_are_scikit_learns_to_the_bit(seed):
    assert not differs(seed)


@pytest.mark.parametrize("seed", range(50))
def test_splits_by_categories_are_scikit_learns_to_the_bit(seed):
    assert not differs(seed, with_categories)


@pytest.mark.parametrize("seed", range(50))
def test_models_that_stop_early_are_scikit_learns_to_the_bit(seed):
    assert not differs(seed, stopping)


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
        {"max_bins": 20}, {"max_features": 0.5}, {"monotonic_cst": [1]}, {"warm_start": True},
        {"interaction_cst": "pairwise"}, {"early_stopping": True, "random_state": 0, "scoring": "accuracy"},
    ],
)  # fmt: skip
def test_other_options_go_the_ordinary_way(option):
    name = list(option)[-1]
    assert f"({name}=" in why_not_boosted(HistGradientBoostingClassifier(**option), 100, 3)
    assert why_not_boosted(HistGradientBoostingRegressor(loss="poisson"), 100, 3)


def test_many_rows_or_columns_go_the_ordinary_way():
    assert "seed" in why_not_boosted(HistGradientBoostingClassifier(), 10_001, 3)
    assert not why_not_boosted(HistGradientBoostingClassifier(random_state=0), 10_001, 3)
    assert why_not_boosted(HistGradientBoostingClassifier(early_stopping=False), 200_001, 3)
    assert why_not_boosted(HistGradientBoostingClassifier(), 1000, 10_000)
    assert not why_not_boosted(HistGradientBoostingClassifier(), 10_000, 3)


def test_another_scikit_learn_goes_the_ordinary_way(monkeypatch):
    X, y, _, _, model, _ = drawn(1)
    boosting.boosts_alike.cache_clear()
    first_prediction = boosting.first_prediction
    monkeypatch.setattr(boosting, "first_prediction", lambda *given: first_prediction(*given) + 0.5)
    try:
        with pytest.raises(ValueError, match="differently"):
            HistogramBoosting(model, X, y, X)
        scorer = CrossValidated(model, cv=3).bind(to_problem(X, y), np.random.default_rng(0), Resources())
        assert np.isfinite(scorer.score(np.ones((1, X.shape[1]), dtype=bool))).all()
        assert scorer._part(0) is None
    finally:
        boosting.boosts_alike.cache_clear()


def test_above_ten_thousand_rows_it_stops_early_by_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_101, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    model = HistGradientBoostingRegressor(max_iter=60, random_state=3, learning_rate=0.5)
    part = HistogramBoosting(model, X[:-100], y[:-100], X[-100:])
    np.testing.assert_array_equal(part.predict(np.arange(2)), model.fit(X[:-100], y[:-100]).predict(X[-100:]))
    assert model.n_iter_ < 60


def frame_of_categories(library):
    rng = np.random.default_rng(0)
    months, towns = rng.integers(1, 13, 150), np.array(["north", "south", "East", "west"])[rng.integers(0, 4, 150)]
    y = ((months % 3 == 0) ^ (towns == "south")).astype(int)
    columns = {"size": np.round(rng.normal(size=150), 1), "month": months, "town": towns}
    if library is pd:
        frame = pd.DataFrame(columns).astype({"month": "category", "town": "category"})
        frame.loc[::17, "town"] = None
        return frame, y
    return pl.DataFrame(columns).with_columns(pl.col("town").cast(pl.Categorical)), y


@pytest.mark.parametrize("library", [pd, pl])
def test_categories_of_a_frame_are_found_by_their_type(library):
    frame, y = frame_of_categories(library)
    cv = StratifiedKFold(3)
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3, random_state=0)
    scorer = CrossValidated(model, cv=cv).bind(to_problem(frame, y), np.random.default_rng(0), Resources())
    assert scorer.way == "compiled, fold by fold"
    for names in (["size"], ["month"], ["size", "town"], ["size", "month", "town"]):
        expected = cross_val_score(model, frame[names], y, cv=cv, scoring="neg_log_loss").mean()
        mask = np.isin(["size", "month", "town"], names)
        graded = CrossValidated(model, "neg_log_loss", cv=cv).bind(
            scorer.problem, np.random.default_rng(0), Resources()
        )
        assert graded.score(mask[None])[0] == pytest.approx(expected, abs=1e-12)
        fitted = model.fit(frame[names], y)
        np.testing.assert_allclose(scorer.predict(mask, scorer.problem.X), fitted.predict_proba(frame[names]))


@pytest.mark.parametrize("given", [[1, 2], [False, True, True], ["month", "town"]])
def test_categories_are_those_of_the_table_in_every_subset(given):
    frame, y = frame_of_categories(pd)
    frame = frame.assign(month=frame["month"].astype(int), town=frame["town"].cat.codes.astype(float))
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3, random_state=0, categorical_features=given)
    for race in (None, "statistical"):
        bound = CrossValidated(model, cv=3, race=race).bind(to_problem(frame, y), np.random.default_rng(0), Resources())
        truth = HistGradientBoostingClassifier(
            max_iter=10, min_samples_leaf=3, random_state=0, categorical_features=["town"]
        )
        splits = bound._splits
        expected = cross_val_score(truth, frame[["size", "town"]], y, cv=splits).mean()
        assert bound.score(np.array([[True, False, True]]))[0] == pytest.approx(expected, abs=1e-12)
        assert bound.failure == ""
