from itertools import pairwise

import numpy as np
import pytest

from fewer.kernels.noise import POOL_BITS, mixed, place


def test_neighboring_seeds_begin_unrelated_streams():
    first = [int(mixed(np.uint64(seed))) for seed in range(200)]
    assert len(set(first)) == 200
    assert all(number % 2 == 1 for number in first)  # never zero, where a shift register would stay
    changed = [bin(a ^ b).count("1") for a, b in pairwise(first)]
    assert np.mean(changed) == pytest.approx(32, abs=3)


def test_places_are_spread_evenly_over_the_pool():
    bits, places = mixed(np.uint64(7)), []
    for _ in range(4000):
        bits, found = place(np.uint64(bits))
        places.append(int(found))
    assert max(places) < 2**POOL_BITS
    assert np.histogram(places, bins=8, range=(0, 2**POOL_BITS))[0] == pytest.approx(np.full(8, 500), abs=100)
