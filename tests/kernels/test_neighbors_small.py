"""One number of neighbors and classes: the short kernel against the long one, to the bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.kernels.bundles import Flips, Units
from fewer.kernels.nearest import UNSURE
from fewer.kernels.neighbors import score_flips
from neighbor_twins import random_weights, scorers, twin_score


@settings(deadline=None, max_examples=80)
@given(scorers(ks=3), st.integers(0, 2**32 - 1))
def test_equals_the_long_kernel(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    units = [np.array([f]) for f in range(p)] + ([np.array([0, p - 1])] if p > 1 else [])
    mask, new = random_weights(rng, 1, p)[0], rng.integers(0, 5, len(units)) / 4.0
    flips = Flips(mask, np.flatnonzero(mask), Units.of(units), new)
    truth, unsure = np.zeros((len(units), 1)), np.full((len(units), scorer.problem.n_samples), UNSURE)
    score_flips(np.arange(scorer.problem.n_samples), unsure, flips, scorer._exact, scorer._rules, truth)
    np.testing.assert_array_equal(scorer._flip_gains(flips), truth)
    if scorer._rules.n_classes:
        masks = np.repeat(mask[None], len(units), axis=0)
        for row, unit, value in zip(masks, units, new, strict=True):
            row[unit] = value
        np.testing.assert_allclose(scorer._best(truth), [twin_score(scorer, m) for m in masks], rtol=0, atol=1e-12)
