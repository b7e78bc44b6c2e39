"""Nogueira's measure against its definition and a simulation, Kuncheva's against Nogueira's, Jaccard by sets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fewer.errors import InputError
from fewer.validate import jaccard, kuncheva, nogueira

masks_of_any_size = arrays(bool, st.tuples(st.integers(2, 8), st.integers(2, 9)))


def variance_ratio(masks):
    """Nogueira, definition 4, feature by feature: the spread of each choice over that of chance."""
    m, d = len(masks), len(masks[0])
    mean_size = sum(sum(mask) for mask in masks) / m
    spread = 0.0
    for feature in range(d):
        p = sum(bool(mask[feature]) for mask in masks) / m
        spread += m / (m - 1) * p * (1 - p)
    return 1 - (spread / d) / (mean_size / d * (1 - mean_size / d))


@given(masks_of_any_size)
@settings(deadline=None, max_examples=60)
def test_nogueira_is_its_definition(masks):
    found = nogueira(masks).estimate
    if masks.all() or not masks.any():
        assert np.isnan(found)
    else:
        assert found == pytest.approx(variance_ratio(masks.tolist()))
        assert found <= 1 + 1e-12


@given(st.integers(2, 7), st.integers(3, 9), st.data())
@settings(deadline=None, max_examples=40)
def test_kuncheva_is_nogueira_for_subsets_of_one_size(m, d, data):
    k = data.draw(st.integers(1, d - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    masks = np.array([rng.permutation(d) < k for _ in range(m)])
    assert kuncheva(masks) == pytest.approx(nogueira(masks).estimate)


def test_kunchevas_index_of_one_pair():
    # Two subsets of 4 of 10 features that share 3: (3·10 − 16) / (4·6) = 14/24.
    masks = np.zeros((2, 10), dtype=bool)
    masks[0, [0, 1, 2, 3]] = masks[1, [1, 2, 3, 9]] = True
    assert kuncheva(masks) == pytest.approx(14 / 24)


def test_equal_subsets_are_stable_and_chance_is_not():
    assert nogueira([[1, 0, 1, 0]] * 5).estimate == 1.0
    rng = np.random.default_rng(0)
    assert abs(nogueira(rng.random((400, 30)) < 0.3).estimate) < 0.01


def test_nogueiras_interval_covers():
    # Features are chosen independently with known probabilities, so the population stability is known.
    p = np.array([0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.2, 0.1, 0.05, 0.05])
    truth = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    rng = np.random.default_rng(1)
    found = [nogueira(rng.random((50, 10)) < p) for _ in range(1000)]
    covered = np.mean([interval.low <= truth <= interval.high for interval in found])
    assert 0.92 < covered < 0.97
    errors = np.mean([interval.standard_error for interval in found])
    assert errors == pytest.approx(np.std([interval.estimate for interval in found]), rel=0.1)


@given(masks_of_any_size)
@settings(deadline=None, max_examples=40)
def test_jaccard_by_sets(masks):
    subsets = [set(np.flatnonzero(mask)) for mask in masks]
    expected = np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(subsets, 2)])
    assert jaccard(masks) == pytest.approx(expected)


def test_refusals():
    with pytest.raises(InputError, match="one size"):
        kuncheva([[1, 0, 0], [1, 1, 0]])
    with pytest.raises(InputError, match="2 subsets"):
        nogueira([[1, 0, 0]])
    assert np.isnan(kuncheva([[1, 1], [1, 1]]))
