"""Interchangeable features: what counts as the same in repetitions, and that strangers do not stand in."""

import numpy as np
import pytest

from fewer.problem import Problem
from fewer.selectors.auto._standins import stand_ins, with_stand_ins
from fewer.validate import split_rows


def test_a_stand_in_counts_as_the_feature_where_the_feature_is_missing():
    masks = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]], dtype=bool)
    merged = with_stand_ins(masks, {0: [1, 2]})
    assert merged[:, 0].tolist() == [True, True, True, True, False]
    assert merged[:, 1].tolist() == [False, False, False, True, False]  # beside the feature it counts as itself
    assert (merged.sum(axis=1) == masks.sum(axis=1)).all()
    assert masks[1, 1]  # the repetitions themselves stay as they were


def test_one_stand_in_stands_in_for_one_feature():
    merged = with_stand_ins(np.array([[False, False, True]]), {0: [2], 1: [2]})
    assert merged.tolist() == [[True, False, False]]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_copies_stand_in_and_independent_features_do_not(task):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(160, 8))
    X = np.column_stack([x, x[:, 1] + 0.01 * rng.normal(size=160)])
    target = 2 * x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=160)
    problem = Problem.from_arrays(X, target > 0 if task == "classification" else target, task=task)
    chosen = np.isin(np.arange(9), [0, 1])
    assert stand_ins(problem, chosen, split_rows(problem, 5, rng)) == {1: [8]}


def test_of_many_copies_five_are_named_the_most_alike_first():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 2))
    copies = x[:, [0]] + np.array([0.3, 0.01, 0.05, 0.1, 0.15, 0.2, 0.02]) * rng.normal(size=(120, 7))
    problem = Problem.from_arrays(np.column_stack([x, copies]), x[:, 0] + rng.normal(size=120) > 0)
    alike = np.argsort(-np.abs(np.corrcoef(problem.X.T)[0, 2:]), kind="stable")[:5] + 2
    found = stand_ins(problem, np.arange(9) == 0, split_rows(problem, 5, rng))[0]
    assert 0 < len(found) <= 5
    assert found == [int(j) for j in alike if j in found]
    assert 2 not in found  # the loosest copy is sixth or later
