import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from fewer.contracts import Resources
from fewer.criteria import CrossValidated, _cross_validated
from fewer.criteria._boosting import boosting_outputs, is_plain_boosting
from fewer.problem import Problem

BOOSTINGS = [
    GradientBoostingClassifier(n_estimators=12, random_state=0),
    GradientBoostingClassifier(
        n_estimators=8, random_state=1, max_features="sqrt", max_depth=2, min_samples_leaf=3, learning_rate=0.4
    ),
    GradientBoostingRegressor(n_estimators=12, random_state=2, max_features=2),
    GradientBoostingRegressor(n_estimators=5, random_state=3, max_depth=None, min_samples_split=6),
]


def table(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4)).round(1)  # with ties
    X[:, 3] = 1.0
    return X, np.where(X[:, 0] + rng.normal(size=90) > 0, "yes", "no")


@pytest.mark.parametrize("model", BOOSTINGS, ids=lambda m: f"{type(m).__name__}-{m.random_state}")
@pytest.mark.parametrize("seed", [0, 1])
def test_outputs_are_those_of_scikit_learn_to_the_bit(model, seed):
    X, y = table(seed)
    y = y if is_classifier(model) else X[:, 0] + X[:, 1] ** 2
    outputs, classes = boosting_outputs(model, X[:60], y[:60], X[60:])
    model.fit(X[:60], y[:60])
    np.testing.assert_array_equal(outputs, model.predict(X[60:]) if classes is None else model.predict_proba(X[60:]))
    if classes is not None:
        np.testing.assert_array_equal(classes[outputs.argmax(axis=1)], model.predict(X[60:]))


def test_what_memberships_do_not_tell_goes_the_ordinary_way():
    X, _ = table(0)
    model = GradientBoostingClassifier(n_estimators=1, random_state=0)
    assert boosting_outputs(model, X[:60], np.arange(60) % 3, X[60:]) is None  # three classes
    assert boosting_outputs(model, np.zeros((60, 1)), np.arange(60) % 2, np.zeros((3, 1))) is None  # decisions of zero
    assert is_plain_boosting(model, "accuracy")
    assert not is_plain_boosting(model, "roc_auc")


@pytest.mark.parametrize(
    "option",
    [{"subsample": 0.5}, {"n_iter_no_change": 3}, {"init": "zero"}, {"loss": "exponential"}, {"ccp_alpha": 0.1}],
)
def test_other_options_go_the_ordinary_way(option):
    assert not is_plain_boosting(GradientBoostingClassifier(**option), None)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "roc_auc"])
def test_scores_are_the_same_either_way(scoring, monkeypatch):
    X, y = table(0)

    def score():
        bound = CrossValidated(GradientBoostingClassifier(n_estimators=5), cv=3, scoring=scoring).bind(
            Problem.from_arrays(X, y), np.random.default_rng(0), Resources(n_jobs=1)
        )
        return bound.score(np.array([[1, 0, 0, 0], [1, 1, 0, 1]], dtype=bool)), bound._grow

    quick, grow = score()
    assert (grow is None) == (scoring == "roc_auc")
    monkeypatch.setattr(_cross_validated, "is_plain_boosting", lambda model, scoring: False)
    np.testing.assert_array_equal(quick, score()[0])
