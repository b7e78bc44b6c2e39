import numpy as np
import pytest

from fewer.evaluate._compare import filter_baseline
from fewer.evaluate._nested import random_like
from making import make_problem


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_filter_finds_its_features(task):
    _, selector = filter_baseline(task)
    chosen = selector.set_params(random_state=0).fit_problem(make_problem(n_rows=120, task=task)).support_
    assert chosen[:2].any()
    assert not chosen[2:].all()


def test_random_subsets_have_the_same_size_and_no_preference():
    mask = np.array([True, True, False, False, False])
    rng = np.random.default_rng(0)
    drawn = np.array([random_like(mask, rng) for _ in range(2000)])
    assert (drawn.sum(axis=1) == 2).all()
    assert np.allclose(drawn.mean(axis=0), 0.4, atol=0.05)
