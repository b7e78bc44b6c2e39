import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria.engines._support_vectors import SupportVectors
from fewer.problem import Problem


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(30, 250)), int(rng.integers(1, 9))
    X = rng.normal(size=(n, p))
    X = [X, X.round(1), np.exp(X), X[:, [0] * p]][seed % 4]
    y = np.digitize(X.sum(axis=1) + rng.normal(size=n), [0.0, 1.0, 2.5][: 1 + seed % 3])
    options = {
        "C": float(rng.choice([0.3, 1.0, 30.0])), "gamma": ["scale", "auto", 0.3][seed // 3 % 3],
        "class_weight": [None, "balanced"][seed // 2 % 2],
    }  # fmt: skip
    weights = rng.choice([0.5, 1.0, 2.0], size=n) if seed % 5 == 0 else None
    test = rng.random(n) < 0.3
    return X, y, weights, test, SVC(**options), np.sort(rng.choice(p, int(rng.integers(1, p + 1)), replace=False))


def errors(seed):
    """Return how many classes differ, how many rows there are, and the largest difference of decisions."""
    X, y, weights, test, model, columns = drawn(seed)
    if len(np.unique(y[~test])) < 2:
        return 0, 0, 0.0
    inside = None if weights is None else weights[~test]
    part = SupportVectors(model, X[~test], y[~test], X[test], inside)
    part.outputs(np.arange(X.shape[1]))  # another subset before
    outputs = part.outputs(columns)
    model.fit(X[~test][:, columns], y[~test], sample_weight=inside)
    new = X[test][:, columns]
    wrong = int((part.classes_[part.codes(outputs)] != model.predict(new)).sum())
    return wrong, len(new), float(np.abs(part.decisions(outputs) - model.decision_function(new)).max(initial=0.0))


def test_classes_are_those_of_scikit_learn_on_drawn_tables():
    found = np.array([errors(seed) for seed in range(60)])
    assert found[:, 0].sum() == 0
    assert found[:, 1].sum() > 1000
    assert found[:, 2].max() < 0.02


@pytest.mark.parametrize("scoring", [None, "roc_auc", "matthews_corrcoef"])
def test_scores_of_a_search_are_those_of_scikit_learn(scoring):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * [1, 10, 100, 1]
    y = (X[:, 0] + X[:, 1] / 10 + rng.normal(size=90) > 0).astype(int)
    X[5, 2] = np.nan if scoring is None else X[5, 2]
    cv = [(np.flatnonzero(np.arange(90) % 3 != k), np.flatnonzero(np.arange(90) % 3 == k)) for k in range(3)]
    model = make_pipeline(StandardScaler(), SVC())
    bound = CrossValidated(model, cv=cv, scoring=scoring).bind(
        Problem.from_arrays(X, y), np.random.default_rng(0), Resources()
    )
    assert bound.way == "compiled, fold by fold"
    for parent in ([], [0], [0, 3]):
        mask = np.isin(np.arange(4), parent)
        added = np.flatnonzero(~mask)
        found = bound.flips(mask, [np.array([j]) for j in added], np.ones(len(added), dtype=bool))
        for score, j in zip(found, added, strict=True):
            if not np.isnan(X[:, [*parent, j]]).any():
                truth = cross_val_score(model, X[:, sorted([*parent, j])], y, cv=cv, scoring=scoring).mean()
                assert score == pytest.approx(truth, abs=1e-3 if scoring == "roc_auc" else 1e-12)


@pytest.mark.parametrize("option", [{"kernel": "poly"}, {"break_ties": True}, {"max_iter": 5}, {"tol": 0.1}])
def test_other_options_go_the_ordinary_way(option):
    assert SupportVectors.refuses(SVC(**option), 100, 4)
    assert not SupportVectors.refuses(SVC(), 100, 4)
    assert SupportVectors.refuses(SVC(), 2000, 4)


def test_a_subset_one_larger_than_the_last_parent_predicts_new_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    problem = Problem.from_arrays(X, (X[:, [5, 9, 11]].sum(axis=1) > 0).astype(int))
    scorer = CrossValidated(SVC(), cv=3).bind(problem, rng, Resources())
    mask = np.isin(np.arange(12), [9, 11])
    scorer.flips(mask, [np.array([5])], np.array([True]))
    mask[5] = True
    assert np.array_equal(
        scorer.predict(mask, X[:9]).argmax(axis=1), SVC().fit(X[:, mask], problem.y).predict(X[:9][:, mask])
    )
