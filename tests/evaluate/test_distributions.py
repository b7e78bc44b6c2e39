"""Counts by class and quartiles along a feature, against plain loops."""

import numpy as np
import pytest

from fewer.evaluate.distributions import BINS, LEVELS, SHOWN_CLASSES, _class_codes, distribution, shown_classes
from fewer.problem import Problem


def test_every_value_is_counted_in_its_class_and_bin():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=200), rng.integers(3, size=200)
    x[:7] = np.nan
    told = distribution(Problem.from_arrays(x[:, None], y), 0)
    low, high = np.percentile(x[7:], [1, 99])
    assert (told["low"], told["high"]) == pytest.approx((low, high), rel=1e-4)
    assert (told["least"], told["most"]) == pytest.approx((x[7:].min(), x[7:].max()), rel=1e-4)
    slow = [[0] * BINS for _ in range(3)]
    for value, code in zip(x[7:], y[7:], strict=True):
        place = min(max(int((value - low) / (high - low) * BINS), 0), BINS - 1)
        slow[code][place] += 1
    assert told["counts"] == slow
    assert told["missing"] == 7
    assert told["medians"][1] == pytest.approx(np.median(x[7:][y[7:] == 1]), rel=1e-4)


def test_many_classes_and_levels_are_told_together():
    y = np.repeat(np.arange(10), 5)
    x = np.tile(np.arange(10.0), 5)
    problem = Problem.from_arrays(x[:, None], y, kinds=["nominal"])
    told = distribution(problem, 0)
    assert shown_classes(problem) == ["0", "1", "2", "3", "4", "other classes"]
    assert len(told["counts"]) == SHOWN_CLASSES
    assert len(told["levels"]) == LEVELS
    assert told["levels"][-1] == "other"
    assert sum(map(sum, told["counts"])) == 50


def test_the_target_along_a_feature_is_told_by_its_quartiles():
    x = np.linspace(0, 1, 400)
    told = distribution(Problem.from_arrays(x[:, None], 10 * x, task="regression"), 0)
    middle = np.array(told["middle"])
    assert (np.diff(middle) > 0).all()
    assert all(a <= b <= c for a, b, c in zip(told["lower"], middle, told["upper"], strict=True))
    assert sum(told["n"]) == 400


def test_a_column_that_does_not_vary_or_is_missing_is_no_trouble():
    X = np.column_stack([np.ones(6), np.full(6, np.nan)])
    problem = Problem.from_arrays(X, [0, 1] * 3)
    assert sum(map(sum, distribution(problem, 0)["counts"])) == 6
    assert distribution(problem, 1) == {"kind": "numeric", "missing": 6}


def test_a_stretch_of_a_feature_without_rows_has_no_quartiles():
    x = np.concatenate([np.linspace(0, 0.1, 50), np.linspace(0.9, 1, 50)])
    told = distribution(Problem.from_arrays(x[:, None], 10 * x, task="regression"), 0)
    empty = [i for i, n in enumerate(told["n"]) if n == 0]
    assert empty
    assert [told[name][empty[0]] for name in ("lower", "middle", "upper")] == [None] * 3


def test_the_middle_half_is_that_of_numpy_and_a_quantity_has_one_kind_of_rows():
    x, y = np.tile([0.0, 1.0], 50), np.arange(100.0)
    problem = Problem.from_arrays(x[:, None], y, task="regression", kinds=["nominal"])
    told = distribution(problem, 0)
    for name, share in (("lower", 25), ("middle", 50), ("upper", 75)):
        assert told[name] == pytest.approx([np.percentile(y[x == level], share) for level in (0, 1)], rel=1e-4)
    assert shown_classes(problem) == ["all rows"]
    assert _class_codes(problem).tolist() == [0] * 100
