import numpy as np
import pytest
from numba import njit

from fewer.kernels.intrinsics import add_16, add_32, gap_16, gap_32, least_32, least_float, subtract_32


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
