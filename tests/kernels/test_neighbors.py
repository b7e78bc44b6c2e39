"""Each way to score subsets by neighbors against a slow twin that is too simple to be wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.contracts import Resources, SearchSpace
from fewer.criteria import KNN
from fewer.criteria._knn import CoarseWalk, ExactWalk
from fewer.problem import Problem
from neighbor_twins import random_weights, scorers, twin_score


@settings(deadline=None, max_examples=80)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_masks_and_weights(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    masks = rng.random((20, p)) < 0.5  # more than a table has entries: both ways to score many masks
    weights = random_weights(rng, 3, p)
    for given_masks in (masks, masks[:2], weights):
        truth = [twin_score(scorer, mask) for mask in given_masks]
        np.testing.assert_allclose(scorer.score(given_masks), truth, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_flips_equal_scores(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    units = [np.array([f]) for f in range(p)] + ([np.array([0, p - 1])] if p > 1 else [])
    mask, values = random_weights(rng, 1, p)[0], rng.integers(0, 5, len(units)) / 4.0
    masks = np.repeat(mask[None], len(units), axis=0)
    for row, unit, value in zip(masks, units, values, strict=True):
        row[unit] = value
    np.testing.assert_array_equal(scorer.flips(mask, units, values), scorer.score(masks))


@settings(deadline=None, max_examples=40)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_walk_equals_scores(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    units = [np.array([f]) for f in range(p)] + ([np.array([0, p - 1])] if p > 1 else [])
    mask = random_weights(rng, 1, p)[0]
    walk = scorer.walk(mask, units)
    for _ in range(25):
        unit, value = int(rng.integers(len(units))), float(rng.integers(0, 5) / 4)
        proposed = mask.copy()
        proposed[units[unit]] = value
        assert walk.propose(unit, value) == scorer.score(proposed[None])[0]
        if rng.random() < 0.5:
            walk.accept()
            mask = proposed
        else:
            walk.reject()


@pytest.mark.parametrize(("n_neighbors", "kind"), [(1, CoarseWalk), (3, ExactWalk)])
@pytest.mark.parametrize("levels", [1, 4])
def test_ten_thousand_moves_leave_no_trace(n_neighbors, kind, levels):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((30, 4)), rng.integers(0, 3, (30, 4))])  # half of the columns full of ties
    problem = Problem.from_arrays(X, rng.integers(0, 3, 30))
    scorer = KNN(n_neighbors, cv=5).bind(problem, rng, Resources())
    units = [np.array([f]) for f in range(8)]
    mask = np.zeros(8)
    walk = scorer.walk(mask, units)
    assert isinstance(walk, kind)
    for move in range(10_000):
        unit, value = int(rng.integers(8)), float(rng.integers(0, levels + 1) / levels)
        score = walk.propose(unit, value)
        if rng.random() < 0.7:
            walk.accept()
            mask[unit] = value
            if move % 100 == 0:
                assert score == scorer.score(mask[None])[0]
        else:
            walk.reject()
    assert walk.propose(0, mask[0]) == scorer.score(mask[None])[0]


@pytest.mark.parametrize("n_neighbors", [1, (1, 5)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_threads_change_nothing(n_neighbors, task, monkeypatch):
    monkeypatch.setattr("fewer.criteria._knn.WORTH_A_THREAD", 0)
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random((90, 3)), rng.integers(0, 3, (90, 4))])
    y = rng.integers(0, 3, 90) if task == "classification" else rng.normal(size=90)
    problem = Problem.from_arrays(X, y, task=task, sample_weight=rng.random(90) + 0.1)
    one, two = (KNN(n_neighbors).bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs)) for n_jobs in (1, 2))
    masks, units = rng.random((40, 7)) < 0.5, [np.array([f]) for f in range(7)]
    np.testing.assert_array_equal(one.score(masks), two.score(masks))
    np.testing.assert_array_equal(one.flips(masks[0], units, ~masks[0]), two.flips(masks[0], units, ~masks[0]))
    space = SearchSpace.of(7)
    np.testing.assert_array_equal(one.sweep(space, 0, 128, 99).scores, two.sweep(space, 0, 128, 99).scores)
    walks = [scorer.walk(masks[0], units) for scorer in (one, two)]
    for unit in (0, 3, 0, 6):
        scores = [walk.propose(unit, float(~masks[0][unit])) for walk in walks]
        assert scores[0] == scores[1]
        for walk in walks:
            walk.accept()


def test_a_walk_that_does_not_fit_into_memory_scores_alike():
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.random((40, 5)), rng.integers(0, 2, 40))
    units = [np.array([f]) for f in range(5)]
    mask = np.array([1.0, 0, 1, 0, 0])
    for n_neighbors in (1, 3):
        roomy, tight = (
            KNN(n_neighbors).bind(problem, np.random.default_rng(0), Resources(memory=memory))
            for memory in (1 << 30, 1000)
        )
        walks = roomy.walk(mask, units), tight.walk(mask, units)
        assert type(walks[0]) is not type(walks[1])
        assert walks[0].propose(3, 1.0) == walks[1].propose(3, 1.0)
