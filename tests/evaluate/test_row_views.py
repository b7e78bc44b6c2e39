"""Rows in two features, and rows that are always wrong."""

import numpy as np
import polars as pl
import pytest

from fewer.criteria import KNN, LeastSquares
from fewer.evaluate._evidence import always_wrong
from fewer.evaluate.planes import HIGH, PLOTTED_ROWS, WIDE, plane
from fewer.io import to_problem
from fewer.problem import Problem
from making import make_problem


def test_the_ground_is_what_the_judge_says_of_the_two_features():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 3))
    problem = Problem.from_arrays(X, X[:, 2] > 0)
    told = plane(problem, [0, 2], KNN(5), 0)
    grid = np.array(told["grid"])
    assert grid.shape == (HIGH, WIDE)
    assert (grid[: HIGH // 3] == 0).mean() > 0.95
    assert (grid[-HIGH // 3 :] == 1).mean() > 0.95
    assert len(told["row"]) == PLOTTED_ROWS
    for row, x, y, target in zip(told["row"], told["x"], told["y"], told["target"], strict=True):
        assert (x, y) == pytest.approx((X[row - 1, 0], X[row - 1, 2]), rel=1e-4)
        assert target == problem.y[row - 1]


def test_a_quantity_and_missing_cells():
    problem = make_problem(task="regression")
    problem.X[:5, 0] = np.nan
    told = plane(problem, [0, 1], LeastSquares(), 0)
    assert told["missing"] == 5
    assert min(told["row"]) == 6
    rising = np.array(told["grid"])
    assert rising[-1, -1] > rising[0, 0]
    assert plane(problem.take(np.arange(5)), [0, 1], LeastSquares(), 0) == {}


def test_only_rows_that_every_look_gets_wrong_are_listed():
    problem = Problem.from_arrays(np.zeros((4, 1)), ["a", "a", "b", "b"])
    one = np.array([[0.4, 0.6], [0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    other = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [0.9, 0.1]])
    told = always_wrong(problem, [one, other])
    assert [row["row"] for row in told["rows"]] == [2, 4]
    assert told["rows"][0] == {"row": 2, "truth": "a", "prediction": "b", "membership": 0.8}
    other[1] = np.nan
    assert always_wrong(problem, [one, other])["n_rows"] == 3


def test_quantities_that_are_far_off_on_the_same_side():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    y[41] = 50.0
    problem = Problem.from_arrays(np.zeros((100, 1)), y, task="regression")
    looks = [np.where(np.arange(100) == 41, 0.0, y + 0.1 * rng.normal(size=100)) for _ in range(2)]
    told = always_wrong(problem, looks)
    assert [row["row"] for row in told["rows"]] == [42]
    assert told["rows"][0]["truth"] == 50.0


def test_levels_get_half_a_step_on_either_side_and_numbers_a_little():
    X = np.column_stack([np.tile([0.0, 1.0, 2.0, 3.0], 5), np.linspace(10.0, 20.0, 20)])
    problem = Problem.from_arrays(X, np.arange(20) % 2, kinds=["nominal", "numeric"])
    told = plane(problem, [0, 1], KNN(3), 0)
    assert told["x_ends"] == [-0.5, 3.5]
    assert told["y_ends"] == [9.6, 20.4]


def test_both_features_tell_their_levels():
    frame = pl.DataFrame({"a": ["u", "v"] * 10, "b": ["x", "y", "z", "x"] * 5})
    told = plane(to_problem(frame, np.arange(20) % 2), [1, 0], KNN(3), 0)
    assert told["levels"] == [["x", "y", "z"], ["u", "v"]]


def test_how_far_off_a_quantity_is_does_not_depend_on_its_unit():
    rng = np.random.default_rng(0)
    y, noise = rng.normal(size=100), rng.normal(size=(2, 100))
    y[41] = 50.0
    told = []
    for unit in (1.0, 1e-6):
        problem = Problem.from_arrays(np.zeros((100, 1)), unit * y, task="regression")
        looks = [unit * np.where(np.arange(100) == 41, 0.0, y + 0.1 * part) for part in noise]
        told.append([row["away"] for row in always_wrong(problem, looks)["rows"]])
    assert told[0] == told[1] != []


def test_the_surest_of_the_wrong_come_first():
    problem = Problem.from_arrays(np.zeros((3, 1)), ["a", "a", "b"])
    told = always_wrong(problem, [np.array([[0.4, 0.6], [0.1, 0.9], [0.7, 0.3]])])
    assert [(row["row"], row["membership"]) for row in told["rows"]] == [(2, 0.9), (3, 0.7), (1, 0.6)]


def test_memberships_have_four_digits():
    problem = Problem.from_arrays(np.zeros((2, 1)), ["a", "b"])
    told = always_wrong(problem, [np.array([[0.23456, 0.76544], [0.1, 0.9]])])
    assert [row["membership"] for row in told["rows"]] == [0.7654]
