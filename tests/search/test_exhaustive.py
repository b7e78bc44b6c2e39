from itertools import combinations
from math import comb

import numpy as np
import pytest

from fewer.contracts import IncompatibleError, Objective, Resources, SearchSpace
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.search import Exhaustive
from fewer.search._exhaustive import first_floor, next_states, subsets_from
from scorers import Additive, Table, columns, search_on


def table(seed=0, p=14):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, p))
    X[:, 2] += y
    X[:, 5] -= y
    X[:, 6] = np.round(X[:, 5])
    return Problem.from_arrays(X, y)


@pytest.mark.parametrize("prices", [False, True])
def test_the_best_are_those_of_a_full_search(prices):
    problem = table()
    price = np.arange(14) / 2000.0 if prices else None
    space = SearchSpace.of(14, prices=price)
    traces = []
    for top in (None, 20, 150):
        scorer = KNN().bind(problem, np.random.default_rng(0), Resources())
        traces.append(Exhaustive(top=top).run(Objective(scorer, space), space, np.random.default_rng(0)))
    full, few, many = traces
    np.testing.assert_array_equal(few.top_masks[:20], full.top_masks[:20])
    np.testing.assert_array_equal(few.top_scores[:20], full.top_scores[:20])
    assert len(many.top_scores) == 150
    np.testing.assert_array_equal(many.top_masks[:100], full.top_masks[:100])
    assert full.n_evaluations == few.n_evaluations == 2**14 - 1


def test_a_first_floor_is_reached_by_enough_subsets():
    space = SearchSpace.of(14)
    scorer = KNN().bind(table(), np.random.default_rng(0), Resources())
    every = scorer.sweep(space, 0, 2**14, 2**14).scores
    floor = first_floor(Objective(scorer, space), space, 10)
    assert np.isfinite(floor)
    assert np.sum(every >= floor) >= 10
    few = SearchSpace.of(14, exclude=range(3, 14))
    assert first_floor(Objective(scorer, few), few, 10) == -np.inf


@pytest.mark.parametrize("sizes", [None, (2, 3), (3, 3), (1, 7)])
@pytest.mark.parametrize("seed", range(3))
def test_exhaustive_finds_the_best_of_all_subsets(seed, sizes):
    scorer = Table(7, seed)
    low, high = sizes or (1, 7)
    subsets = [c for size in range(low, high + 1) for c in combinations(range(7), size)]
    truth = max(subsets, key=lambda c: scorer.scores[sum(2**i for i in c)])
    trace = search_on(scorer, Exhaustive(), 7, sizes=sizes)
    assert columns(trace) == list(truth)
    assert trace.n_evaluations == len(subsets)


def test_exhaustive_of_few_among_many_counts_combinations_only():
    gains = np.zeros(40)
    gains[[7, 23]] = 1.0
    trace = search_on(Additive(gains), Exhaustive(), 40, sizes=(1, 2))
    assert columns(trace) == [7, 23]
    assert trace.n_evaluations == 40 + comb(40, 2)


def test_exhaustive_refuses_the_hopeless():
    with pytest.raises(IncompatibleError, match="subsets of 60 features are too many"):
        search_on(Additive(np.ones(60)), Exhaustive(), 60)


def test_combination_blocks_are_the_combinations_in_order():
    truth = [c for size in (2, 3) for c in combinations(range(6), size)]
    listed = subsets_from(6, range(2, 4), 0)
    for start in range(0, len(truth), 4):
        stop = min(start + 4, len(truth))
        block = next_states(listed, stop - start, 6)
        assert [tuple(np.flatnonzero(mask)) for mask in block] == truth[start:stop]
