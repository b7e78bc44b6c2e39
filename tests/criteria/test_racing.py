"""Candidates race fold by fold: the exact race never changes the answer, the statistical one seldom."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria._racing import ceiling_of, race
from fewer.problem import Problem


def run(scores, ceiling):
    asked = []
    places, found = race(lambda i, f: asked.append((i, f)) or scores[i, f], *scores.shape, ceiling)
    assert len(asked) == len(set(asked))
    return places, found.mean(axis=1), len(asked)


@pytest.mark.parametrize("seed", range(20))
def test_the_exact_race_keeps_every_candidate_that_may_be_best(seed):
    rng = np.random.default_rng(seed)
    scores = np.clip(rng.normal(0.8, 0.1, (15, 1)) + rng.normal(0, 0.05, (15, 8)), 0, 1).round(2)
    scores[3] = scores[7]  # a tie
    places, means, n_asked = run(scores, 1.0)
    assert means == pytest.approx(scores[places].mean(axis=1))
    assert set(np.flatnonzero(scores.mean(axis=1) >= scores.mean(axis=1).max() - 1e-12)) <= set(places)
    assert n_asked < scores.size


def test_hard_folds_first_save_more():
    rng = np.random.default_rng(0)
    scores = np.clip(rng.uniform(0.6, 0.9, (20, 1)) + np.linspace(0.1, -0.3, 10), 0, 1)
    asked = []
    places, _ = race(lambda i, f: asked.append(f) or scores[i, f], 20, 10, 1.0, np.arange(10)[::-1])
    assert int(np.argmax(scores.mean(axis=1))) in places
    assert len(asked) < run(scores, 1.0)[2]


@pytest.mark.parametrize("near", [False, True])
def test_the_statistical_race_errs_as_seldom_as_it_says(near):
    """Two equal candidates among worse ones, or all nearly equal: the best over all folds is given up in few races."""
    rng = np.random.default_rng(0)
    wrong, n_asked = 0, 0
    for _ in range(300):
        levels = np.concatenate([[0.9, 0.9], rng.uniform(0.5, 0.88, 18)])
        if near:
            levels = rng.normal(0.9, 0.005, 20)
        scores = levels[:, None] + rng.normal(0, 0.02, (20, 10)) + rng.normal(0, 0.03, 10)
        places, _, asked = run(scores, None)
        wrong += int(np.argmax(scores.mean(axis=1))) not in places
        n_asked += asked
    assert wrong / 300 < 0.05
    assert n_asked < 300 * 200 / (1.3 if near else 3)


def test_a_metric_without_a_known_best_score_is_not_raced():
    assert ceiling_of("neg_mean_squared_error") == 0.0
    assert ceiling_of("rand_score") is None
    assert ceiling_of(lambda *_: 0.0) is None


@pytest.mark.parametrize("search", [fewer.search.Forward(), fewer.search.Backward()], ids=["forward", "backward"])
def test_the_same_subset_from_fewer_fits(search):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150, :7], y[:150]
    results = []
    for kind in (None, "exact"):
        criterion = CrossValidated(DecisionTreeClassifier(max_depth=2, random_state=0), cv=5, race=kind)
        selector = fewer.SubsetSelector(criterion, search, n_features_to_select=3, random_state=0).fit(X, y)
        scorer = criterion.bind(Problem.from_arrays(X, y), np.random.default_rng(0), Resources())
        mask = np.zeros(7, dtype=bool)
        found = scorer.best_flip(mask, np.arange(7))
        results.append((selector.support_.tolist(), selector.score_))
        assert (found is None) == (kind is None)
        if found is not None:
            assert scorer.n_fits < 35
    assert results[0] == results[1]


def test_subsets_met_before_are_not_fitted_again():
    X, y = load_breast_cancer(return_X_y=True)
    scorer = CrossValidated(DecisionTreeClassifier(random_state=0), cv=3).bind(
        Problem.from_arrays(X[:100, :4], y[:100]), np.random.default_rng(0), Resources()
    )
    masks = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    first = scorer.score(masks)
    assert scorer.n_fits == 6
    np.testing.assert_array_equal(scorer.score(masks), first)
    assert scorer.n_fits == 6


def test_models_that_run_beside_others_take_one_thread():
    from sklearn.ensemble import RandomForestClassifier

    scorer = CrossValidated(RandomForestClassifier(n_jobs=-1)).bind(
        Problem.from_arrays(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2),
        np.random.default_rng(0),
        Resources(),
    )
    assert scorer._preparation.model(np.array([0])).n_jobs == -1
    assert scorer._preparation.in_one_thread().model(np.array([0])).n_jobs == 1
