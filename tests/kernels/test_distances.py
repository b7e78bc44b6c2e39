import numpy as np
import pytest

from fewer.kernels.distances import CLIP, term

QUANTUM = 2.0**-20


def a_term(x, z, *, missing=(False, False), nominal=False, scale=2.0, gap=0.75, weight=1.0):
    return term(x, missing[0], z, missing[1], nominal, scale, gap, weight, QUANTUM)


def test_numbers_levels_and_missing_cells():
    assert a_term(1.0, 4.0) == 18.0
    assert a_term(1.0, 4.0, weight=0.5) == 9.0
    assert a_term(1.0, 4.0, nominal=True) == 2.0
    assert a_term(4.0, 4.0, nominal=True) == 0.0
    for missing in [(True, False), (False, True), (True, True)]:
        assert a_term(1.0, 4.0, missing=missing) == 0.75
        assert a_term(1.0, 4.0, missing=missing, nominal=True, weight=2.0) == 1.5


def test_far_numbers_are_clipped_before_they_are_weighed():
    assert a_term(0.0, 1e9) == CLIP
    assert a_term(0.0, 1e9, weight=0.25) == CLIP / 4


def test_terms_are_whole_quanta_so_that_sums_are_exact():
    values = np.random.default_rng(0).normal(size=100)
    terms = np.array([a_term(value, 0.1) for value in values])
    assert (terms / QUANTUM == np.round(terms / QUANTUM)).all()
    assert terms == pytest.approx(2.0 * (values - 0.1) ** 2, abs=QUANTUM)
    assert terms.sum() == terms[::-1].sum()
