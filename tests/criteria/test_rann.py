import numpy as np
import pytest

import fewer
from fewer.contracts import Resources, gray_states
from fewer.criteria import RANN
from fewer.criteria._rann import RannEncoder
from fewer.models.rann import classes_of
from fewer.problem import InputError, Problem
from fewer.search import Forward


def bind(problem, n_jobs=1, **kwargs):
    return RANN(**kwargs).bind(problem, np.random.default_rng(0), Resources(n_jobs))


def data(task="classification", n=40, n_classes=2):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.3, size=n)) if task == "regression" else np.arange(n) % n_classes
    X[:, 2] += y
    return X, y


def fit_without(scorer, mask, layer, rows):
    """Fit the output layer on other rows by plain least squares with the same ridge, and predict these."""
    inputs = np.column_stack([scorer._inputs[:, mask], np.ones(len(scorer._inputs))])
    hidden = np.tanh(inputs @ layer[np.append(mask, True)])
    w = scorer._weights.copy()
    w[rows] = 0
    gram = hidden.T @ (hidden * w[:, None]) + scorer._ridge * np.eye(hidden.shape[1])
    return hidden[rows] @ np.linalg.solve(gram, hidden.T @ (w[:, None] * scorer._targets))


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_closed_form_equals_leaving_out(task, grouped, weighted):
    X, y = data(task, n_classes=3)
    groups = np.arange(40) // 3 if grouped else None
    weights = np.random.default_rng(3).uniform(0.5, 2, 40) if weighted else None
    problem = Problem.from_arrays(X, y, task=task, groups=groups, sample_weight=weights)
    scorer = bind(problem, n_hidden=6, n_draws=2, alpha=1e-6)
    mask = np.array([True, False, True, True])
    parts = np.arange(40) if groups is None else groups
    answers = np.zeros((2, 40, scorer._targets.shape[1]))
    for draw, layer in enumerate(scorer._layers):
        for part in np.unique(parts):
            rows = np.flatnonzero(parts == part)
            answers[draw, rows] = fit_without(scorer, mask, layer, rows)
    w = np.ones(40) if weights is None else weights
    if task == "classification":
        truth = np.mean([np.average(classes_of(a) == problem.y, weights=w) for a in answers])
    else:
        error = [np.average((a - scorer._targets)[:, 0] ** 2, weights=w) for a in answers]
        truth = np.mean([1 - e / np.average(scorer._targets[:, 0] ** 2, weights=w) for e in error])
    assert scorer.score(mask[None])[0] == pytest.approx(truth, abs=1e-7)
    mean = answers.mean(axis=0)
    ours = scorer.outputs(mask)
    if task == "classification":
        assert ours == pytest.approx((mean + 1) / 2, abs=1e-6)
    else:
        assert ours == pytest.approx(mean[:, 0] + scorer._mean, abs=1e-6)


def test_training_accuracy_of_the_fit_on_all_rows():
    X, y = data()
    scorer = bind(Problem.from_arrays(X, y), n_hidden=5, n_draws=1, judge="train")
    mask = np.array([True, True, True, False])
    inputs = np.column_stack([scorer._inputs[:, mask], np.ones(40)])
    hidden = np.tanh(inputs @ scorer._layers[0][np.append(mask, True)])
    output = np.linalg.lstsq(hidden, np.where(y == 1, 1.0, -1.0), rcond=None)[0]
    assert scorer.score(mask[None])[0] == pytest.approx(((hidden @ output > 0) == y).mean())
    assert np.array_equal(scorer.predict(mask, X).argmax(axis=1), hidden @ output > 0)


def test_batches_and_threads_change_nothing():
    X, y = data()
    problem = Problem.from_arrays(X, y)
    masks = gray_states(np.arange(16), 4)
    whole = bind(problem).score(masks)
    one_by_one = np.array([bind(problem).score(mask[None])[0] for mask in masks])
    assert np.array_equal(whole, one_by_one)
    threaded = bind(problem, n_jobs=2)
    threaded._chunk = 3
    assert np.array_equal(whole, threaded.score(masks))


@pytest.mark.parametrize("judge", ["loo", "train"])
def test_three_classes_strings_and_holes_give_numbers(judge):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:, 1] = rng.integers(0, 3, 50)
    X[rng.random((50, 4)) < 0.15] = np.nan
    X[:, 3] = np.nan
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 50)]
    problem = Problem.from_arrays(X, y, kinds=("numeric", "nominal", "numeric", "numeric"))
    scorer = bind(problem, judge=judge)
    scores = scorer.score(gray_states(np.arange(16), 4))
    assert np.isfinite(scores).all()
    new = np.array([[np.nan, 7.0, 0.0, 1.0]])
    assert np.isfinite(scorer.predict(np.ones(4, dtype=bool), new)).all()
    assert scorer.outputs(np.ones(4, dtype=bool)).shape == (50, 3)


def test_encoding_learns_from_the_bound_rows():
    problem = Problem.from_arrays([[0.0, 1.0], [4.0, 0.0], [2.0, np.nan]], [0, 1, 0], kinds=("numeric", "nominal"))
    encoder = RannEncoder(problem)
    assert encoder.owner.tolist() == [0, 1, 1]
    assert encoder.transform(np.array([[8.0, 1.0]])).tolist() == [[3.0, -1.0, 1.0]]


def test_it_finds_what_matters():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 6))
    y = (X[:, 1] * 2 + X[:, 4] > 0).astype(int)
    selector = fewer.SubsetSelector(RANN(), Forward(), n_features_to_select=2, random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [1, 4]


def test_wrong_words_are_refused():
    X, y = data()
    for wrong in ({"judge": "x"}, {"sampling": "x"}, {"n_hidden": 0}, {"n_draws": 0}, {"alpha": -1.0}):
        with pytest.raises(InputError):
            bind(Problem.from_arrays(X, y), **wrong)


@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_ridge_it_is_the_pseudo_inverse(weighted):
    """Also where hidden units outnumber what the rows can fit: a subset of one column with two values has rank two."""
    X, y = data(n=30)
    X[:, 3] = X[:, 3] > 0
    weights = np.random.default_rng(3).uniform(0.5, 2, 30) if weighted else None
    scorer = bind(Problem.from_arrays(X, y, sample_weight=weights), n_hidden=6, n_draws=1, alpha=0.0)
    root = np.sqrt(np.ones(30) if weights is None else weights)[:, None]
    layer, targets = scorer._layers[0], scorer._targets
    for columns in ([0, 2], [3]):
        mask = np.isin(np.arange(4), columns)
        inputs = np.column_stack([scorer._inputs[:, mask], np.ones(30)])
        hidden = np.tanh(inputs @ layer[np.append(mask, True)])
        fit = np.linalg.pinv(root * hidden) @ (root * targets)
        assert scorer.predict(mask, X)[:, 1] == pytest.approx((hidden @ fit)[:, 0] / 2 + 0.5, abs=1e-7)
        kept = ~np.eye(30, dtype=bool)
        left = [hidden[i] @ np.linalg.pinv((root * hidden)[k]) @ (root * targets)[k] for i, k in enumerate(kept)]
        assert scorer.outputs(mask)[:, 1] == pytest.approx(np.ravel(left) / 2 + 0.5, abs=1e-6)
        truth = np.average((np.ravel(left) > 0) == y, weights=weights)
        assert scorer.score(mask[None])[0] == pytest.approx(truth)
