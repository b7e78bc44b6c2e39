"""All subsets against single scores: every one, the best few, and what is given up on the way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.contracts import Resources, SearchSpace, gray_states, round_scores
from fewer.criteria import KNN
from fewer.problem import Problem
from neighbor_twins import scorers


@settings(deadline=None, max_examples=60)
@given(scorers(max_features=7), st.data())
def test_sweep_equals_scores(scorer, data):
    p = scorer.problem.n_features
    include = [p - 1] if p > 3 and data.draw(st.booleans()) else []
    groups = [[0, 2]] if p > 3 and data.draw(st.booleans()) else []
    space = SearchSpace.of(p, include=include, groups=groups)
    start = data.draw(st.integers(0, 2**space.n_units - 1))
    stop = data.draw(st.integers(start + 1, 2**space.n_units))
    states = gray_states(np.arange(start, stop), space.n_units)
    states = states[space.allows(states)]
    scores = dict(zip(map(bytes, states), round_scores(scorer.score(space.expand(states))), strict=True))
    found = scorer.sweep(space, start, stop, 1000)
    assert found.n_evaluated == len(states)
    assert {bytes(state): score for state, score in zip(found.states, found.scores, strict=True)} == scores
    best = scorer.sweep(space, start, stop, 2)
    np.testing.assert_array_equal(best.scores, found.scores[:2])
    np.testing.assert_array_equal(best.states, found.states[:2])


@settings(deadline=None, max_examples=80)
@given(scorers(max_features=7), st.data())
def test_what_is_given_up_is_below_the_floor(scorer, data):
    p = scorer.problem.n_features
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    sizes = (1, data.draw(st.integers(1, p))) if data.draw(st.booleans()) else None
    prices = rng.integers(0, 9, p) / 64.0 if data.draw(st.booleans()) else None
    space = SearchSpace.of(p, sizes=sizes, prices=prices)
    full = scorer.sweep(space, 0, 2**p, 1000)
    kept = data.draw(st.integers(0, len(full.scores) - 1))
    floor = float(full.scores[kept])
    found = scorer.sweep(space, 0, 2**p, 1000, floor)
    n_reached = int(np.sum(full.scores >= floor))
    np.testing.assert_array_equal(found.scores[:n_reached], full.scores[:n_reached])
    np.testing.assert_array_equal(found.states[:n_reached], full.states[:n_reached])
    assert (found.scores[n_reached:] < floor).all()
    assert found.n_evaluated == full.n_evaluated
    # The floor also rises by itself, from tree to tree.
    few = scorer.sweep(space, 0, 2**p, 3)
    np.testing.assert_array_equal(few.states, full.states[:3])


@pytest.mark.parametrize("n_neighbors", [1, 3, (1, 5)])
def test_most_rows_are_spared_where_some_subsets_are_good(n_neighbors):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 10))
    X[:, 3] += 2 * y
    X[:, 7] += 2 * y
    scorer = KNN(n_neighbors, cv="loo").bind(Problem.from_arrays(X, y), rng, Resources())
    space = SearchSpace.of(10)
    full = scorer.sweep(space, 0, 1024, 1024)
    before = scorer._sweeper(space).n_looked
    found = scorer.sweep(space, 0, 1024, 5, float(full.scores[4]))
    looked = (scorer._sweeper(space).n_looked - before) / 1024
    np.testing.assert_array_equal(found.states, full.states[:5])
    assert looked < 80, "rows looked at for a subset, of 120"
