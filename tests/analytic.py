"""Scorers with known optima, and runs of searches on them."""

import numpy as np
import pytest

from fewer.contracts import Objective, Scorer
from fewer.contracts.trace import Trace


class Analytic(Scorer):
    """A scorer with a known optimum."""

    def __init__(self, function):
        self.function = function

    def score(self, masks):
        return self.function(np.asarray(masks))


GAINS = np.random.default_rng(3).normal(size=20)


def additive(masks):
    return masks @ GAINS


def deceptive(masks):
    """Three traps of four: fewer looks better, all four are best."""
    counts = (masks != 0).reshape(len(masks), 3, 4).sum(axis=2)
    return np.where(counts == 4, 1.0, 0.2 * (3 - counts)).sum(axis=1)


def xor_like(masks):
    """Three pairs that help only together; every unit costs a little."""
    used = masks != 0
    return sum(used[:, i] & used[:, i + 6] for i in range(3)) - 0.1 * used.sum(axis=1)


OPTIMA = [
    (additive, 20, GAINS[GAINS > 0].sum()),
    (deceptive, 12, 3.0),
    (xor_like, 12, 2.4),
]


def run(search, function, space, seed=0, **kwargs):
    return search.run(Objective(Analytic(function), space), space, np.random.default_rng(seed), **kwargs)


class _Stop(Exception):
    pass


def run_interrupted(search, function, space, seed, after, path):
    """Stop after some steps, save, load, go on."""

    def stop(trace):
        if trace.n_steps == after:
            trace.save(path)
            raise _Stop

    with pytest.raises(_Stop):
        run(search, function, space, seed, on_step=stop)
    return run(search, function, space, seed, trace=Trace.load(path))


def assert_same(one, other):
    assert one.n_steps == other.n_steps
    assert one.n_evaluations == other.n_evaluations
    for a, b in zip(one.steps, other.steps, strict=True):
        assert np.array_equal(a.mask, b.mask)
        assert np.array_equal(a.best, b.best)
        assert (a.score, a.best_score) == (b.score, b.best_score)
    assert np.array_equal(one.top_masks, other.top_masks)
