"""A column by itself, sorted, against the slow twin and against every row by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.kernels.neighbors import column_gains
from fewer.problem import Problem
from neighbor_twins import scorers, twin_score


@settings(deadline=None, max_examples=80)
@given(scorers(), st.sampled_from([1.0, 0.25, 0.0]))
def test_a_column_equals_the_slow_twin(scorer, weight):
    p = scorer.problem.n_features
    for f in range(p):
        mask = np.zeros(p)
        mask[f] = weight
        gains = column_gains(scorer._exact, f, weight, scorer._rules)
        assert scorer._best(gains[None])[0] == scorer.score(mask[None])[0]
        assert scorer._best(gains[None])[0] == pytest.approx(twin_score(scorer, mask), rel=0, abs=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_neighbors", [1, 5, (1, 7)])
@pytest.mark.parametrize("cv", ["loo", 10])
@pytest.mark.parametrize("voting", ["neighborhood", "neighbors"])
def test_the_first_step_of_a_search_is_the_same_to_the_bit(task, n_neighbors, cv, voting, monkeypatch):
    rng = np.random.default_rng(3)
    X = np.column_stack([
        rng.normal(480, 12, 300).round(), rng.integers(0, 2, 300), rng.random(300), np.full(300, 7.0),
        np.where(rng.random(300) < 0.2, np.nan, rng.integers(0, 9, 300)), rng.integers(0, 5, 300),
    ])  # fmt: skip
    y = (X[:, 0] > 480).astype(int) + rng.integers(0, 2, 300)
    kinds = ["numeric"] * 5 + ["nominal"]
    problem = Problem.from_arrays(
        X, y if task == "classification" else y + rng.random(300), task=task, kinds=kinds,
        sample_weight=rng.integers(1, 4, 300) / 2.0,
    )  # fmt: skip
    scorer = KNN(n_neighbors, cv=cv, voting=voting).bind(problem, np.random.default_rng(0), Resources(n_jobs=2))
    units, new = [np.array([f]) for f in range(6)] + [np.array([0, 2])], np.array([1.0, 1, 1, 1, 1, 0.5, 1])
    slow = scorer.flips(np.zeros(6), units, new)
    monkeypatch.setattr("fewer.criteria._knn.WORTH_SORTING", 0)
    scorer = KNN(n_neighbors, cv=cv, voting=voting).bind(problem, np.random.default_rng(0), Resources(n_jobs=2))
    seen = []
    monkeypatch.setattr(
        "fewer.criteria._knn.column_gains", lambda exact, f, *rest: seen.append(f) or column_gains(exact, f, *rest)
    )
    np.testing.assert_array_equal(scorer.flips(np.zeros(6), units, new), slow)
    assert sorted(seen) == [0, 1, 2, 3, 4, 5]
    masks = np.array([[0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0.5, 0], [1, 0, 0, 1, 0, 0]], dtype=float)
    seen.clear()
    quick = scorer.score(masks)
    assert sorted(seen) == [0, 1, 4]
    monkeypatch.setattr("fewer.criteria._knn.WORTH_SORTING", 1000)
    np.testing.assert_array_equal(quick, scorer.score(masks))
    monkeypatch.setattr("fewer.criteria._knn.WORTH_SORTING", 0)
    seen.clear()
    scorer.flips(np.array([1.0, 0, 0, 0, 0, 0]), units, new)
    assert not seen
