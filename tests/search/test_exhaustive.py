import numpy as np
import pytest

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.search import Exhaustive
from fewer.search._exhaustive import first_floor


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
    floor = first_floor(scorer, space, 10)
    assert np.isfinite(floor)
    assert np.sum(every >= floor) >= 10
    assert first_floor(scorer, SearchSpace.of(14, exclude=range(3, 14)), 10) == -np.inf
