import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from threadpoolctl import threadpool_limits

from fewer.contracts import Resources
from fewer.criteria import CrossValidated, _sklearn_internals, cross_validated, engines
from fewer.criteria.engines._parts import agrees
from fewer.criteria.engines._trees import BoostingPart, ForestPart
from fewer.problem import Problem

MODELS = [
    RandomForestClassifier(7, random_state=3),
    RandomForestClassifier(5, criterion="entropy", max_depth=3, min_samples_leaf=2, random_state=0, max_features=None),
    RandomForestClassifier(4, bootstrap=False, max_features=0.7, min_impurity_decrease=0.01, random_state=1),
    RandomForestClassifier(5, class_weight="balanced", random_state=4),
    RandomForestClassifier(5, class_weight="balanced_subsample", random_state=4),
    RandomForestClassifier(5, class_weight="balanced_subsample", random_state=4, bootstrap=False),
    RandomForestClassifier(5, max_leaf_nodes=5, random_state=4),
    RandomForestRegressor(6, random_state=2, min_samples_split=5),
    ExtraTreesClassifier(6, random_state=5, max_features="log2"),
    ExtraTreesClassifier(6, random_state=5, class_weight="balanced", max_leaf_nodes=6),
    ExtraTreesRegressor(6, random_state=5, bootstrap=True, max_features=2),
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(random_state=1, criterion="entropy", max_features="sqrt", min_samples_leaf=3),
    DecisionTreeClassifier(random_state=2, class_weight="balanced", splitter="random", max_leaf_nodes=4),
    DecisionTreeRegressor(random_state=1, max_depth=4),
    ExtraTreeClassifier(random_state=1),
    GradientBoostingClassifier(n_estimators=12, random_state=0),
    GradientBoostingClassifier(
        n_estimators=8, random_state=1, max_features="sqrt", max_depth=2, min_samples_leaf=3, learning_rate=0.4
    ),
    GradientBoostingRegressor(n_estimators=12, random_state=2, max_features=2),
    GradientBoostingRegressor(n_estimators=5, random_state=3, max_depth=None, min_samples_split=6, max_leaf_nodes=5),
]


def table(seed, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4)).round(1)  # with ties
    X[:, 3] = 1.0
    return X, np.array(["a", "b", "c"])[:n_classes][
        (X[:, 0] + rng.normal(size=90) > 0) + (X[:, 1] > 1) * (n_classes - 2)
    ]


def part_of(model, *rows):
    return (BoostingPart if "Gradient" in type(model).__name__ else ForestPart)(model, *rows)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{type(m).__name__}-{MODELS.index(m)}")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_outputs_are_those_of_scikit_learn_to_the_bit(model, seed, missing, weighted):
    X, y = table(seed, 2 + seed)
    y = y if is_classifier(model) else X[:, 0] + X[:, 1] ** 2
    boosting = "Gradient" in type(model).__name__
    if missing:
        X[np.random.default_rng(5).random(X.shape) < 0.1] = np.nan
    if boosting and (missing or weighted or (seed and is_classifier(model))):
        pytest.skip("goes the ordinary way")
    weights = np.random.default_rng(6).choice([0.5, 1.0, 2.0], size=60) if weighted else None
    part = part_of(model, X[:60], y[:60], X[60:], weights)
    outputs = part.outputs(np.array([0, 1, 3]))
    fitted = clone(model).fit(X[:60][:, [0, 1, 3]], y[:60], sample_weight=weights)
    new = X[60:][:, [0, 1, 3]]
    if is_classifier(model):
        np.testing.assert_array_equal(outputs, fitted.predict_proba(new))
        np.testing.assert_array_equal(part.classes_[part.codes(outputs)], fitted.predict(new))
        if boosting:
            np.testing.assert_array_equal(part.decisions(outputs), fitted.decision_function(new))
    else:
        np.testing.assert_array_equal(outputs, fitted.predict(new))


def forest_differs(seed):
    """Say whether a drawn forest differs from scikit-learn's in a single bit."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(30, 400)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, p)).round(int(rng.integers(0, 4)))
    X[:, int(rng.integers(p))] = [X[:, 0], np.ones(n), X[:, 0] * 1e-8][seed % 3]
    y = np.digitize(X.sum(axis=1) + rng.normal(size=n), [-1.0, 0.5, 2.0][: 1 + seed % 3])
    options = {
        "random_state": seed, "max_features": ["sqrt", None, 0.6, 1][seed % 4], "max_depth": [None, 3][seed // 2 % 2],
        "min_samples_leaf": [1, 1, 4][seed // 3 % 3], "min_samples_split": [2, 7][seed // 5 % 2],
        "min_impurity_decrease": [0.0, 0.0, 0.01][seed // 7 % 3], "class_weight": [None, "balanced"][seed // 4 % 2],
    }  # fmt: skip
    model = (
        RandomForestClassifier(6, **options) if seed % 5 else DecisionTreeClassifier(**options | {"class_weight": None})
    )
    test = rng.random(n) < 0.3
    columns = np.sort(rng.choice(p, int(rng.integers(1, p + 1)), replace=False))
    part = ForestPart(model, X[~test], y[~test], X[test])
    assert part._has_whole_counts
    truth = model.fit(X[~test][:, columns], y[~test]).predict_proba(X[test][:, columns])
    return not np.array_equal(part.outputs(columns), truth)


def test_drawn_forests_are_those_of_scikit_learn_to_the_bit():
    assert not any(forest_differs(seed) for seed in range(60))


def test_boosting_of_several_classes_goes_the_ordinary_way():
    X, y = table(0, 3)
    assert part_of(GradientBoostingClassifier(random_state=0), X[:60], y[:60], X[60:]).outputs(np.arange(4)) is None


@pytest.mark.parametrize("model", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_the_criterion_of_boosting_has_no_effect(model):
    X, y = table(0, 2)
    y = y if is_classifier(model()) else X[:, 0].copy()
    plain, named = (
        part_of(model(n_estimators=4, random_state=0, criterion=criterion), X[:60], y[:60], X[60:])
        for criterion in ("deprecated", "friedman_mse")
    )
    np.testing.assert_array_equal(named.outputs(np.arange(4)), plain.outputs(np.arange(4)))


@pytest.mark.parametrize(
    "option",
    [{"max_samples": 0.5}, {"warm_start": True}, {"min_samples_leaf": 0.1}, {"random_state": None}, {"ccp_alpha": 0.1}],
)
def test_other_options_go_the_ordinary_way(option):
    assert not ForestPart.refuses(RandomForestClassifier(random_state=0), 90, 4)
    assert ForestPart.refuses(RandomForestClassifier(**({"random_state": 0} | option)), 90, 4)


@pytest.mark.parametrize(
    "option",
    [{"subsample": 0.5}, {"n_iter_no_change": 3}, {"init": "zero"}, {"loss": "exponential"}, {"ccp_alpha": 0.1}],
)
def test_other_options_of_boosting_go_the_ordinary_way(option):
    assert not BoostingPart.refuses(GradientBoostingClassifier(random_state=0), 90, 4)
    assert BoostingPart.refuses(GradientBoostingClassifier(random_state=0, **option), 90, 4)


def scorer(X, y, model, **options):
    return CrossValidated(model, **({"cv": 3} | options)).bind(
        Problem.from_arrays(X, y, task="classification" if is_classifier(model) else "regression"),
        np.random.default_rng(0), Resources(n_jobs=1),
    )  # fmt: skip


def ordinary(monkeypatch):
    monkeypatch.setattr(cross_validated, "find_part", lambda *_: "not today")


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss", "f1_macro", "average_precision"])
@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(5), GradientBoostingClassifier(n_estimators=5), HistGradientBoostingClassifier(max_iter=5)],
    ids=lambda m: type(m).__name__,
)
def test_scores_are_the_same_either_way(scoring, model, monkeypatch):
    X, y = table(0, 2)
    y = (y == "a").astype(int)
    masks = np.array([[1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]], dtype=bool)
    with threadpool_limits(1):
        bound = scorer(X, y, model, scoring=scoring)
        quick = bound.score(masks)
        assert bound.way == "compiled, fold by fold"
        ordinary(monkeypatch)
        bound = scorer(X, y, model, scoring=scoring)
        np.testing.assert_allclose(quick, bound.score(masks), rtol=0, atol=1e-13)
    assert bound.way == "scikit-learn fits each subset: not today"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_outputs_of_held_out_rows_are_the_same_either_way(n_classes, monkeypatch):
    X, y = table(0, n_classes)
    mask = np.array([1, 1, 0, 1], dtype=bool)
    quick = scorer(X, y, RandomForestClassifier(5)).outputs(mask)
    ordinary(monkeypatch)
    np.testing.assert_array_equal(quick, scorer(X, y, RandomForestClassifier(5)).outputs(mask))


@pytest.mark.parametrize("model", [RandomForestClassifier(5), ExtraTreesRegressor(5, min_samples_leaf=2)], ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_predictions_of_new_rows_are_the_same_either_way(model, missing, monkeypatch):
    X, y = table(0, 3)
    y = y if is_classifier(model) else X[:, 0] ** 2
    mask, new = np.array([1, 1, 0, 1], dtype=bool), np.random.default_rng(5).normal(size=(40, 4))
    new[0, 0] = np.nan if missing else new[0, 0]
    quick = scorer(X, y, model).predict(mask, new)
    ordinary(monkeypatch)
    truth = scorer(X, y, model).predict(mask, new)
    np.testing.assert_array_equal(quick, truth)
    assert np.ptp(truth) > 0


@pytest.mark.parametrize("fault", ["another answer", "an error"])
def test_a_version_that_builds_trees_otherwise_goes_the_ordinary_way(fault, monkeypatch):
    X, y = table(0, 2)
    mask = np.ones((1, 4), dtype=bool)
    truth = scorer(X, y, RandomForestClassifier(5)).score(mask)

    def other(self, columns):
        if fault == "an error":
            raise TypeError
        return np.tile([0.3, 0.7], (len(self._test), 1))

    monkeypatch.setattr(ForestPart, "outputs", other)
    agrees.cache_clear()
    try:
        bound = scorer(X, y, RandomForestClassifier(5))
        np.testing.assert_array_equal(bound.score(mask), truth)
        assert bound.way.endswith("this version of scikit-learn fits it differently")
    finally:
        agrees.cache_clear()


def test_the_private_parts_of_this_scikit_learn_are_as_expected():
    """A version that is not named in CHECKED may work; one that is named must."""
    if sklearn.__version__ in _sklearn_internals.CHECKED:
        assert all(agrees(kind, estimator) for estimator, kind in engines.PARTS.items())


def test_many_cells_and_threads_asked_for_go_the_ordinary_way(monkeypatch):
    X, y = table(0, 2)
    assert scorer(X, y, RandomForestClassifier(5, n_jobs=2)).way.startswith("compiled")
    monkeypatch.setattr(cross_validated, "WORTH_THREADS", 10)
    assert not scorer(X, y, RandomForestClassifier(5, n_jobs=2)).way.startswith("compiled")
    assert scorer(X, y, RandomForestClassifier(5)).way.startswith("compiled")


@pytest.mark.parametrize("row", [3, 80])
@pytest.mark.parametrize("preprocess", ["none", "auto"])
@pytest.mark.parametrize(
    "model",
    [RandomForestClassifier(5, random_state=0), GradientBoostingClassifier(n_estimators=4, random_state=0)],
    ids=lambda m: type(m).__name__,
)
def test_missing_cells_are_what_they_are_to_the_model(row, preprocess, model, monkeypatch):
    X, y = table(0, 2)
    X[row, 0] = np.nan
    mask, cv = np.array([[1, 1, 0, 0]], dtype=bool), [(np.arange(60), np.arange(60, 90))]

    def score():
        return scorer(X, y, model, cv=cv, preprocess=preprocess).score(mask)

    quick = score()
    ordinary(monkeypatch)
    np.testing.assert_array_equal(quick, score())


def test_a_frame_and_names_of_classes_change_nothing():
    pd = pytest.importorskip("pandas")
    X, y = table(0, 3)
    model = RandomForestClassifier(5, class_weight="balanced", random_state=0)
    cv = [(np.arange(60), np.arange(60, 90))]
    from fewer.io import to_problem

    bound = CrossValidated(model, cv=cv).bind(
        to_problem(pd.DataFrame(X, columns=list("abcd")), y), np.random.default_rng(0), Resources()
    )
    assert bound.score(np.ones((1, 4), dtype=bool))[0] == cross_val_score(model, X, y, cv=cv).mean()
    assert bound.way == "compiled, fold by fold"


@pytest.mark.parametrize("model", MODELS[:16], ids=lambda m: f"{type(m).__name__}-{MODELS.index(m)}")
def test_importances_are_those_of_scikit_learn(model):
    X, y = table(1, 3)
    y = y if is_classifier(model) else X[:, 0] + X[:, 1] ** 2
    part = part_of(model, X[:60], y[:60], X[60:])
    part.outputs(np.array([0, 1, 3]))
    truth = clone(model).fit(X[:60][:, [0, 1, 3]], y[:60]).feature_importances_
    np.testing.assert_allclose(part.importances(), truth, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(4, random_state=0), HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=1)]
)
def test_columns_that_are_scaled_alone_are_cut_as_scikit_learn_cuts_them(model):
    """Sums over one column round otherwise than those over several; the last bit of a cell decides where a cut lies."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 3)).round(2) + 1e4, rng.normal(size=50)
        pipeline, folds = make_pipeline(StandardScaler(), model), KFold(3)
        scorer = CrossValidated(pipeline, cv=folds).bind(
            Problem.from_arrays(X, y, task="regression"), np.random.default_rng(0), Resources()
        )
        assert scorer.way == "compiled, fold by fold"
        masks = np.vstack([np.eye(3, dtype=bool), [[True, False, True], [True, True, True]]])
        truth = [cross_val_score(pipeline, X[:, mask], y, cv=folds).mean() for mask in masks]
        assert scorer.score(masks) == pytest.approx(truth, rel=1e-12, abs=1e-12)
