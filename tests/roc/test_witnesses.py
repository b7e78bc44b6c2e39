import numpy as np
import pytest

from fewer.roc._hull import ChordPoint
from fewer.roc._witnesses import Witnesses
from fewer.validate import wilson_interval

POSITIVE = np.array([False] * 6 + [True] * 4)
CALLED = np.array([[0] * 10, [1, 0, 0, 0, 0, 0, 1, 1, 0, 0], [1] * 10], dtype=bool)


def witnesses(weight=None, digests=None):
    digests = np.arange(30, dtype=np.uint64).reshape(3, 10) if digests is None else digests
    return Witnesses(CALLED, POSITIVE, digests, weight, "calibration")


def chord(low, high, share):
    blank = dict.fromkeys(ChordPoint.__dataclass_fields__, 0.0)
    return ChordPoint(**{**blank, "low": low, "high": high, "share": share})


def test_rates_of_the_vertices_with_and_without_weights():
    fpr, tpr = witnesses().vertex_rates
    assert fpr.tolist() == pytest.approx([0, 1 / 6, 1])
    assert tpr.tolist() == pytest.approx([0, 1 / 2, 1])
    fpr, tpr = witnesses(np.array([2.0] * 1 + [1.0] * 5 + [3.0, 1.0, 1.0, 1.0])).vertex_rates
    assert fpr[1] == pytest.approx(2 / 7)
    assert tpr[1] == pytest.approx(4 / 6)


def test_between_two_vertices_rates_are_means_over_the_draw():
    rates = witnesses().rates(chord(1, 2, 0.25))
    assert rates.fpr.estimate == pytest.approx(0.75 / 6 + 0.25)
    assert rates.tpr.estimate == pytest.approx(0.75 / 2 + 0.25)
    assert rates.fpr.low == pytest.approx(wilson_interval(6 * rates.fpr.estimate, 6).low)
    assert rates.rows == "calibration"


def test_unequal_weights_tell_less():
    assert witnesses().sizes == (6.0, 4.0)
    assert witnesses(np.full(10, 5.0)).sizes == pytest.approx((6.0, 4.0))
    assert witnesses(np.r_[np.ones(9), 5.0]).sizes[1] == pytest.approx(64 / 28)


def test_rows_with_equal_cells_are_not_told_apart():
    assert witnesses().told_apart(0, 1) == 1.0
    assert witnesses(digests=np.zeros((3, 10), dtype=np.uint64)).told_apart(0, 1) == 0.1


def test_who_decides_is_drawn_from_the_cells_or_at_random():
    hashed = witnesses().draws(0, 1, "hash", 3)
    assert np.array_equal(hashed, witnesses().draws(0, 1, "hash", 3))
    assert not np.array_equal(hashed, witnesses().draws(0, 1, "hash", 4))
    drawn = witnesses().draws(0, 1, "random", None)
    assert np.array_equal(drawn, np.random.default_rng(0).random(10))
