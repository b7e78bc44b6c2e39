import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import fewer
from fewer import AutoSelector
from fewer.problem import Problem
from fewer.selectors.auto._answer import RaceAnswer
from fewer.selectors.auto._curve import Metric


def answer(**told):
    curve = {"chosen": {"accuracy": 9, "balanced": 4, "fewest": 2}, "in_points": True, "score_name": "accuracy"}
    return RaceAnswer(np.arange(3), {}, curve, 0.0321, "a forest", "", [], "Because.", **told)


def test_what_is_said_of_a_choice():
    margin = {"margin": 0.01, "expected": 0.004, "chance": 0.2, "best": 9}
    models = {"a forest": 0.9, "5 neighbors": 0.88, "boosting": 0.903, "a tree": 0.9}
    made = answer(margin=margin, models=models)
    assert made.reason("balanced", False) == (
        "Because.\nWhy 4: the loss is lowest with 9 features; 4 are expected to lose 0.4 points (chance of a loss of "
        "more than 1.0 points: 20%).\nThe same features score 2.0 points less with 5 neighbors, 0.3 points more with "
        "boosting, the same with a tree. If you will train another model, name it (estimator)."
    )
    assert answer().reason("accuracy", False) == "Because."
    assert "does no better than chance (p = 0.032)" in made.reason("balanced", True)


@pytest.mark.parametrize(
    ("counts", "scoring"),
    [
        ((50, 50), "accuracy"),
        ((30, 70), "accuracy"),  # 0.6 of an equal share
        ((27, 73), "balanced_accuracy"),
        ((9, 91), "roc_auc"),
        ((3, 40, 57), "balanced_accuracy"),
    ],
)
def test_the_default_metric_sees_every_class(counts, scoring):
    y = np.repeat(np.arange(len(counts)), counts)
    metric = Metric.of(Problem.from_arrays(np.zeros((len(y), 1)), y))
    assert metric.scoring == scoring
    assert bool(metric.why) == (scoring != "accuracy")
    assert f"{min(counts)}.0%" in metric.why or not metric.why
    assert Metric.of(Problem.from_arrays(np.zeros((len(y), 1)), y), "f1_macro").scoring == "f1_macro"
    assert Metric.of(Problem.from_arrays(np.zeros((len(y), 1)), y.astype(float), task="regression")).name == "R²"


@pytest.mark.parametrize("seed", [0, 1])
def test_two_columns_of_a_rare_class_are_kept_and_little_else(seed):
    """As a fraud: 2 % of 2,500 rows, each of two columns needed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2500, 12))
    signal = X[:, 3] + X[:, 8]
    y = (signal + 1.2 * rng.normal(size=2500)) > np.quantile(signal, 0.993)
    selector = AutoSelector(random_state=0, standins=False).fit(X, y)
    assert selector.support_[[3, 8]].all()
    assert selector.support_.sum() <= 4
    assert selector.metric_.scoring == selector.judge_.scoring == "roc_auc"
    assert selector.n_samples_seen_ < 2500


def test_uneven_classes_are_not_answered_by_one():
    """Of 400 rows 27 % leave: on what is kept, usual models do not answer that everybody stays."""
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import cross_val_predict

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 19))
    signal = X[:, :6] @ np.array([1.0, 0.8, 0.6, 0.5, 0.5, 0.4])
    y = signal + 1.4 * rng.normal(size=400)
    y = y > np.quantile(y, 0.73)
    selector = AutoSelector(random_state=0, standins=False).fit(X, y)
    for prefer, mask in selector.choices_.items():
        told = cross_val_predict(selector.model_, X[:, mask], y, cv=5)
        assert balanced_accuracy_score(y, told) > 0.6, prefer


@pytest.mark.parametrize("prefer", ["accuracy", "balanced"])
def test_what_is_said_to_be_lost_stays_within_the_margin(prefer):
    """Some of these tables lose more on the rows themselves, by the luck of the best size."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 12))
        y = X[:, :6] @ 2.0 ** -np.arange(6) + rng.normal(size=150) > 0
        told = AutoSelector(prefer=prefer, random_state=0, standins=False).fit(X, y).margin_
        assert told["expected"] <= told["margin"] + 1e-12


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_was_tried_is_what_the_curve_scores(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    signal = X[:, 1] - X[:, 4] + 0.5 * rng.normal(size=120)
    problem = Problem.from_arrays(X, signal > 0 if task == "classification" else signal, task=task)
    selector = AutoSelector(random_state=0, standins=False)
    chosen, whole = selector.answer(problem, share=True).tried
    place = list(selector.curve_["size"]).index(selector.curve_["chosen"]["balanced"])
    if task == "classification":
        scores = [np.mean(outputs.argmax(axis=1) == problem.y) for outputs in (chosen, whole)]
    else:
        scores = [1 - np.mean((outputs - signal) ** 2) / signal.var() for outputs in (chosen, whole)]
    assert scores[0] == pytest.approx(selector.curve_["score"][place])
    assert 0.3 < scores[1] <= 1.0


def test_a_sample_says_nothing_of_each_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    problem = Problem.from_arrays(X, X[:, 0] > 0)
    assert AutoSelector(random_state=0, standins=False, budget=0.1).answer(problem).tried is None


def test_losses_in_roots_of_squared_errors_are_those_of_squared_errors_in_that_unit():
    X, y = load_diabetes(return_X_y=True)
    squared, root = (
        AutoSelector(scoring=name, random_state=0).fit(X, y)
        for name in ("neg_mean_squared_error", "neg_root_mean_squared_error")
    )
    assert np.array_equal(squared.support_, root.support_)
    lowest = -max(squared.curve_["score"])
    assert np.isclose(root.margin_["margin"], squared.margin_["margin"] / (2.0 * np.sqrt(lowest)), rtol=0.05)


@pytest.mark.parametrize("n_rows", [4, 5, 6, 7])
def test_a_handful_of_rows_has_an_answer_that_one_model_judges(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    found = fewer.select(X, np.arange(n_rows) % 2, random_state=0)
    assert found.judges["chosen"] == found.judges["all"] or found.nothing_found
    assert found.score_heldout is not None
    if n_rows <= 5:  # no row can be held out from five neighbors
        assert found.judges == {"chosen": "nearest neighbors", "all": "nearest neighbors"}
