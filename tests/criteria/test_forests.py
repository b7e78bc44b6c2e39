import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from fewer.contracts import Resources
from fewer.criteria import CrossValidated, _cross_validated
from fewer.criteria._forests import forest_outputs, is_plain_forest
from fewer.problem import Problem

FORESTS = [
    RandomForestClassifier(7, random_state=3),
    RandomForestClassifier(5, criterion="entropy", max_depth=3, min_samples_leaf=2, random_state=0, max_features=None),
    RandomForestClassifier(4, bootstrap=False, max_features=0.7, min_impurity_decrease=0.01, random_state=1),
    RandomForestRegressor(6, random_state=2, min_samples_split=5),
    ExtraTreesClassifier(6, random_state=5, max_features="log2"),
    ExtraTreesRegressor(6, random_state=5, bootstrap=True, max_features=2),
]


def table(seed, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4)).round(1)  # with ties
    X[:, 3] = 1.0
    return X, np.array(["a", "b", "c"])[:n_classes][
        (X[:, 0] + rng.normal(size=90) > 0) + (X[:, 1] > 1) * (n_classes - 2)
    ]


@pytest.mark.parametrize("forest", FORESTS, ids=lambda f: f"{type(f).__name__}-{f.random_state}")
@pytest.mark.parametrize("seed", [0, 1])
def test_outputs_are_those_of_scikit_learn_to_the_bit(forest, seed):
    X, y = table(seed, 2 + seed)
    y = y if is_classifier(forest) else X[:, 0] + X[:, 1] ** 2
    outputs, classes = forest_outputs(forest, X[:60], y[:60], X[60:])
    forest.fit(X[:60], y[:60])
    if is_classifier(forest):
        np.testing.assert_array_equal(outputs, forest.predict_proba(X[60:]))
        np.testing.assert_array_equal(classes, forest.classes_)
    else:
        np.testing.assert_array_equal(outputs, forest.predict(X[60:]))


@pytest.mark.parametrize(
    "option",
    [{"class_weight": "balanced"}, {"max_leaf_nodes": 4}, {"max_samples": 0.5}, {"warm_start": True},
     {"min_samples_leaf": 0.1}, {"random_state": np.random.RandomState(0)}, {"ccp_alpha": 0.1}],
)  # fmt: skip
def test_other_options_go_the_ordinary_way(option):
    assert is_plain_forest(RandomForestClassifier())
    assert not is_plain_forest(RandomForestClassifier(**option))


def scorer(X, y, forest, **options):
    return CrossValidated(forest, cv=3, **options).bind(
        Problem.from_arrays(X, y, task="classification" if is_classifier(forest) else "regression"),
        np.random.default_rng(0), Resources(n_jobs=1),
    )  # fmt: skip


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss", "f1_macro"])
def test_scores_are_the_same_either_way(scoring, monkeypatch):
    X, y = table(0, 2)
    masks = np.array([[1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]], dtype=bool)
    bound = scorer(X, y, RandomForestClassifier(5), scoring=scoring)
    quick = bound.score(masks)
    assert bound._grow is not None
    monkeypatch.setattr(_cross_validated, "is_plain_forest", lambda model: False)
    bound = scorer(X, y, RandomForestClassifier(5), scoring=scoring)
    np.testing.assert_array_equal(quick, bound.score(masks))
    assert bound._grow is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_outputs_of_held_out_rows_are_the_same_either_way(n_classes, monkeypatch):
    X, y = table(0, n_classes)
    mask = np.array([1, 1, 0, 1], dtype=bool)
    quick = scorer(X, y, RandomForestClassifier(5)).outputs(mask)
    monkeypatch.setattr(_cross_validated, "is_plain_forest", lambda model: False)
    np.testing.assert_array_equal(quick, scorer(X, y, RandomForestClassifier(5)).outputs(mask))


@pytest.mark.parametrize("model", [RandomForestClassifier(5), ExtraTreesRegressor(5, min_samples_leaf=2)], ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_predictions_of_new_rows_are_the_same_either_way(model, missing, monkeypatch):
    X, y = table(0, 3)
    y = y if is_classifier(model) else X[:, 0] ** 2
    mask, new = np.array([1, 1, 0, 1], dtype=bool), np.random.default_rng(5).normal(size=(40, 4))
    new[0, 0] = np.nan if missing else new[0, 0]
    bound = scorer(X, y, model)
    quick = [bound.predict(mask, new) for _ in range(2)]
    assert bound._grow is not None
    monkeypatch.setattr(_cross_validated, "is_plain_forest", lambda model: False)
    truth = scorer(X, y, model).predict(mask, new)
    for each in quick:
        np.testing.assert_array_equal(each, truth)
    assert np.ptp(truth) > 0


@pytest.mark.parametrize("fault", ["another answer", "an error"])
def test_predictions_of_a_version_that_builds_trees_otherwise(fault, monkeypatch):
    X, y = table(0, 2)
    mask = np.ones(4, dtype=bool)
    truth = scorer(X, y, RandomForestClassifier(5)).predict(mask, X)

    def other(model, train, labels, test):
        if fault == "an error":
            raise TypeError
        return np.tile([0.3, 0.7], (len(test), 1)), np.unique(labels)

    monkeypatch.setattr(_cross_validated, "forest_outputs", other)
    bound = scorer(X, y, RandomForestClassifier(5))
    for _ in range(2):
        np.testing.assert_array_equal(bound.predict(mask, X), truth)
    assert bound._grow is None


def test_many_cells_and_threads_asked_for_go_the_ordinary_way(monkeypatch):
    X, y = table(0, 2)
    assert scorer(X, y, RandomForestClassifier(5, n_jobs=2))._grow is not None
    monkeypatch.setattr(_cross_validated, "WORTH_THREADS", 10)
    assert scorer(X, y, RandomForestClassifier(5, n_jobs=2))._grow is None
    assert scorer(X, y, RandomForestClassifier(5))._grow is not None


@pytest.mark.parametrize("row", [3, 80])
def test_missing_cells_in_a_fold_go_the_ordinary_way(row, monkeypatch):
    X, y = table(0, 2)
    X[row, 0] = np.nan
    mask, cv = np.array([[1, 1, 0, 0]], dtype=bool), [(np.arange(60), np.arange(60, 90))]

    def score():
        criterion = CrossValidated(RandomForestClassifier(5, random_state=0), cv=cv, preprocess="none")
        return criterion.bind(Problem.from_arrays(X, y), np.random.default_rng(0), Resources(n_jobs=1)).score(mask)

    quick = score()
    monkeypatch.setattr(_cross_validated, "is_plain_forest", lambda model: False)
    np.testing.assert_array_equal(quick, score())


@pytest.mark.parametrize("fault", ["another answer", "an error"])
def test_a_version_that_builds_trees_otherwise_goes_the_ordinary_way(fault, monkeypatch):
    X, y = table(0, 2)
    mask = np.ones((1, 4), dtype=bool)
    truth = scorer(X, y, RandomForestClassifier(5)).score(mask)

    def other(model, train, labels, test):
        if fault == "an error":
            raise TypeError
        return np.tile([0.3, 0.7], (len(test), 1)), np.unique(labels)

    monkeypatch.setattr(_cross_validated, "forest_outputs", other)
    bound = scorer(X, y, RandomForestClassifier(5))
    np.testing.assert_array_equal(bound.score(mask), truth)
    assert bound._grow is None
