import numpy as np
import pytest

from fewer.problem import Problem
from fewer.roc._learners import Lessons, Points


def part(y, weights=None):
    return Problem.from_arrays(np.arange(len(y), dtype=float)[:, None], y, sample_weight=weights)


def test_validation_rows_come_pair_after_pair():
    whole = part([0, 1] * 4)
    lessons = Lessons(((whole, part([0, 0, 1])), (whole, part([1, 0]))), whole)
    assert lessons.positive.tolist() == [0, 0, 1, 1, 0]
    assert lessons.weight is None
    assert lessons.totals == (3.0, 2.0)
    assert lessons.sizes == (3, 2)


def test_weights_make_totals_and_the_rows_that_tell_as_much():
    whole = part([0, 1], [1.0, 1.0])
    lessons = Lessons(((whole, part([0, 0, 1, 1], [3.0, 1.0, 2.0, 2.0])),), whole)
    assert lessons.totals == (4.0, 4.0)
    assert lessons.sizes == (round(16 / 10), 2)


def test_points_are_put_together_in_order():
    one = Points(np.array([2]), np.array([1.0]), np.array([3.0]), np.array([0.5]))
    both = Points.joined([one, one])
    assert both.owner.tolist() == [2, 2]
    assert both.tp == pytest.approx([3.0, 3.0])
    assert Points.joined([]).owner.dtype == np.int64
    assert len(Points.joined([]).fp) == 0
