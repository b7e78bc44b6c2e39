from dataclasses import replace

import numpy as np
import pytest

from fewer.problem import Problem
from fewer.selectors.auto._paths import completed, order_by, ranks_of, relief_order


def test_places_in_an_order_and_what_is_not_in_it_shares_the_end():
    assert ranks_of(np.array([2, 0, 1]), 3).tolist() == [2.0, 3.0, 1.0]
    assert ranks_of(np.array([3]), 4).tolist() == [3.0, 3.0, 3.0, 1.0]
    assert ranks_of(np.array([3]), 4).sum() == pytest.approx(1 + 2 + 3 + 4)


def test_ties_keep_the_order_of_the_table():
    assert order_by(np.array([2.0, 1.0, 2.0 + 1e-12, 0.5])).tolist() == [3, 1, 0, 2]


def test_an_order_is_completed_by_another():
    assert completed(np.array([4, 1]), np.array([0, 1, 2, 3, 4])).tolist() == [4, 1, 0, 2, 3]


def test_some_columns_of_a_problem_with_their_levels():
    X = np.arange(8.0).reshape(2, 4)
    problem = Problem.from_arrays(X, [0, 1], kinds=["numeric", "nominal", "numeric", "nominal"])
    problem = problem.__class__(**{**problem.__dict__, "levels": {1: ("a", "b"), 3: ("c",)}})
    part = problem.narrowed(np.array([3, 0]))
    assert part.names == ("x3", "x0")
    assert part.kinds == ("nominal", "numeric")
    assert part.levels == {0: ("c",)}
    assert np.array_equal(part.X, X[:, [3, 0]])


def test_groups_that_leave_no_row_a_neighbor_do_not_end_the_run():
    """As where groups follow one another in time: the first rows to train on are of one group."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    problem = Problem.from_arrays(X, (X[:, 1] > 0).astype(int), groups=np.zeros(40, dtype=int))
    order = relief_order(problem, 0)
    assert order[0] == 1
    np.testing.assert_array_equal(order, relief_order(replace(problem, groups=None), 0))
