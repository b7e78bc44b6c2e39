import numpy as np
import pytest

from fewer.kernels.information import FARTHEST, sum_kernels


def test_sums_are_those_of_the_exponential():
    rng = np.random.default_rng(0)
    u, v, x, y, mass = rng.normal(size=(5, 20))
    sums = np.empty(20)
    sum_kernels(u, v, x, y, np.abs(mass), sums)
    squares = (u[:, None] - x) ** 2 + (v[:, None] - y) ** 2
    assert sums == pytest.approx(np.exp(-squares / 2) @ np.abs(mass), rel=1e-10)


def test_far_kernels_are_next_to_nothing():
    one, sums = np.ones(1), np.empty(1)
    sum_kernels(np.array([1e6]), np.zeros(1), np.zeros(1), np.zeros(1), one, sums)
    assert sums[0] == pytest.approx(np.exp(-FARTHEST), rel=1e-6)
