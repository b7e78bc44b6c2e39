import numpy as np
import pytest
from numba import njit

from fewer.kernels.intrinsics import (
    add_16,
    add_32,
    gap_16,
    gap_32,
    least_32,
    least_float,
    lowest_bit,
    move_cell,
    subtract_32,
    subtract_cell,
    take_marks,
)


@njit
def both(a, b):
    return add_32(a, b), subtract_32(a, b), least_32(a, b), gap_32(a, b)


@njit
def narrow(a, b):
    return add_16(a, b), gap_16(a, b)


@njit
def least(values, start):
    found = start
    for value in values:
        found = least_float(found, value)
    return found


@pytest.mark.parametrize(("a", "b"), [(3, 5), (5, 3), (-7, 2), (4, 4)])
def test_whole_numbers_of_32_bits(a, b):
    assert both(np.int32(a), np.int32(b)) == (a + b, a - b, min(a, b), abs(a - b))
    assert narrow(np.int16(a), np.int16(b)) == (a + b, abs(a - b))


def test_sums_stay_in_their_bits():
    assert narrow(np.int16(2**15 - 1), np.int16(1))[0] == -(2**15)
    assert both(np.int32(2**31 - 1), np.int32(1))[0] == -(2**31)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_least_of_floats_keeps_their_precision(kind):
    values = np.random.default_rng(0).normal(size=37).astype(kind)
    assert least(values, kind(9.0)) == values.min()
    assert least(values[:0], kind(0.1)) == kind(0.1)


def test_two_precisions_meet_in_the_wider_one():
    assert least(np.array([0.1, 0.2]), np.float32(5.0)) == 0.1


@njit
def marked(marks, place):
    return take_marks(marks, place)


@njit
def lowest(bits):
    return lowest_bit(bits)


@njit
def move_and_subtract(dense, cells):
    move_cell(dense, 4, cells, 8)
    return subtract_cell(cells, 0, 8)


@pytest.mark.parametrize("places", [[], [0], [63], [0, 1, 5, 62, 63], list(range(64))])
def test_marks_are_taken_as_bits(places):
    marks = np.ones(80, dtype=np.uint8)
    marks[8:72] = 0
    marks[np.array(places, dtype=int) + 8] = np.arange(len(places)) % 255 + 1
    bits = sum(1 << place for place in places)
    assert marked(marks, 8) == bits
    assert marks.tolist() == [1] * 8 + [0] * 64 + [1] * 8
    if places:
        assert lowest(np.uint64(bits)) == min(places)


@pytest.mark.parametrize(
    ("parent", "is_empty"), [([1.5, 2.0, 3.0, 0.0], 1), ([1.5, 2.0, 4.0, 0.0], 0), ([1.5 + 2**-40, 2.0, 3.0, 0.0], 0)]
)
def test_a_cell_is_moved_and_taken_from_another(parent, is_empty):
    dense, cells = np.array([9.0] * 4 + [1.5, 2.0, 3.0, 0.0]), np.array(parent + [7.0] * 8)
    assert move_and_subtract(dense, cells) == is_empty
    assert dense.tolist() == [9.0] * 4 + [0.0] * 4
    assert cells.tolist() == [*np.subtract(parent, [1.5, 2.0, 3.0, 0.0]), 7.0, 7.0, 7.0, 7.0, 1.5, 2.0, 3.0, 0.0]
