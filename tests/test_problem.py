import numpy as np
import pytest

from fewer.errors import InputError
from fewer.problem import Problem, row_codes
from making import make_problem

X = [[0.0, 1.0, np.nan], [2.0, 1.0, np.nan], [4.0, np.nan, 5.0]]


def test_classes_are_coded_in_sorted_order():
    problem = Problem.from_arrays(X, ["no", "yes", "no"])
    assert problem.classes == ("no", "yes")
    assert problem.y.tolist() == [0, 1, 0]
    assert problem.labels.tolist() == ["no", "yes", "no"]
    assert (problem.n_samples, problem.n_features, problem.n_outputs) == (3, 3, 1)


def test_ends_of_columns():
    rng = np.random.default_rng(0)
    for _ in range(50):
        cells = rng.normal(size=rng.integers(1, 60, 2))
        cells[rng.random(cells.shape) < rng.choice([0.0, 0.1, 0.9])] = np.nan
        cells[rng.random(cells.shape) < 0.02] = np.inf
        problem = Problem.from_arrays(cells, np.zeros(len(cells)), task="regression")
        known = [column[~np.isnan(column)] for column in cells.T]
        np.testing.assert_array_equal(problem.extremes[0], [min(column, default=np.inf) for column in known])
        np.testing.assert_array_equal(problem.extremes[1], [max(column, default=-np.inf) for column in known])
        assert problem.has_missing == np.isnan(cells).any()


def test_what_a_column_is():
    problem = Problem.from_arrays(X, [0, 1, 0], kinds=["numeric", "nominal", "numeric"])
    assert problem.nominal.tolist() == [False, True, False]
    assert problem.constant.tolist() == [False, True, True]
    assert problem.missing.sum(axis=0).tolist() == [0, 1, 2]
    low, high = problem.extremes
    assert (low[0], high[0]) == (0.0, 4.0)
    nothing = Problem.from_arrays([[np.nan], [np.nan]], [0, 1])
    assert nothing.constant.tolist() == [True]


def test_some_of_the_rows_with_all_that_belongs_to_them():
    problem = Problem.from_arrays(X, [0, 1, 0], sample_weight=[1.0, 2.0, 3.0], groups=["a", "b", "a"], time=[3, 1, 2])
    part = problem.take(np.array([2, 1]))
    assert part.X[0, 0] == 4.0
    assert part.y.tolist() == [0, 1]
    assert part.sample_weight.tolist() == [3.0, 2.0]
    assert part.groups.tolist() == [0, 1]
    assert part.time.tolist() == [1, 0]
    assert part.classes == problem.classes
    assert problem.take(np.array([True, False, False])).n_samples == 1


def test_rows_count_one_each_unless_said_otherwise():
    assert Problem.from_arrays(X, [0, 1, 0]).row_weights.tolist() == [1.0, 1.0, 1.0]
    for weights in ([1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0]):
        with pytest.raises(InputError):
            Problem.from_arrays(X, [0, 1, 0], sample_weight=weights)


def test_shapes_must_fit():
    with pytest.raises(InputError, match="X has 1 dimension"):
        Problem.from_arrays([1.0, 2.0], [0, 1])
    with pytest.raises(InputError, match="y has shape .* but X has 3 rows"):
        Problem.from_arrays(X, [0, 1])
    several = Problem.from_arrays(X, [[1.0, 2.0]] * 3, task="regression")
    assert several.n_outputs == 2


def test_values_of_rows_are_numbered_in_order():
    assert row_codes([10, 5, 10], 3, "groups").tolist() == [1, 0, 1]
    assert row_codes(np.array(["2020-01-02", "2019-01-01"], dtype="datetime64[D]"), 2, "time").tolist() == [1, 0]
    assert len(set(row_codes(np.array([1, "a", 1], dtype=object), 3, "groups").tolist())) == 2
    with pytest.raises(InputError, match="time mixes numbers and text"):
        row_codes(np.array([1, "a", 1], dtype=object), 3, "time")
    with pytest.raises(InputError, match="groups has no value in row 1"):
        row_codes(np.array(["a", None, "b"], dtype=object), 3, "groups")
    with pytest.raises(InputError, match="groups has shape"):
        row_codes([1, 2], 3, "groups")


def test_parts_of_a_table_without_missing_cells_are_not_searched_for_them():
    whole = make_problem(n_features=3)
    assert not whole.has_missing
    part = whole.take(np.arange(5))
    assert part.__dict__["has_missing"] is False
    assert part.missing.tolist() == [[False] * 3] * 5
    X = whole.X.copy()
    X[7, 1] = np.nan
    gappy = Problem.from_arrays(X, whole.y)
    assert gappy.has_missing
    clean = gappy.take(np.arange(5))
    assert "has_missing" not in clean.__dict__
    assert not clean.has_missing
    assert gappy.take(np.array([7])).missing.tolist() == [[False, True, False]]


def test_row_weights_that_are_no_numbers_are_refused():
    for weight, shown in ((-0.5, "-0.5"), (np.inf, "inf"), (np.nan, "nan")):
        with pytest.raises(InputError, match=f"not all zero: row 1 has {shown}"):
            Problem.from_arrays([[0.0], [1.0]], [0, 1], sample_weight=[1.0, weight])
    with pytest.raises(InputError, match=r"Row weights must be numbers \(could not convert string to float: 'x'\)"):
        Problem.from_arrays([[0.0], [1.0]], [0, 1], sample_weight=["x", "2"])


def test_each_class_has_a_column_of_ones():
    problem = Problem.from_arrays(np.zeros((3, 1)), ["b", "a", "c"])
    assert problem.class_indicators.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
