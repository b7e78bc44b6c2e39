import numpy as np
import pytest

from fewer.contracts import SearchSpace
from fewer.search._evolution import repair


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("sizes", [(2, 4), (3, 3), (0, 1), (5, 6)])
def test_every_state_gets_an_allowed_size_and_those_that_had_one_stay(sizes):
    space = SearchSpace.of(6, sizes=sizes)
    states = np.array([[bool(n >> i & 1) for i in range(6)] for n in range(64)])
    fixed = repair(states.copy(), space, rng())
    before, after = states.sum(axis=1), fixed.sum(axis=1)
    assert np.array_equal(after, np.clip(before, *sizes))
    assert np.array_equal(fixed[before == after], states[before == after])


def test_units_are_only_added_or_only_dropped():
    space = SearchSpace.of(6, sizes=(2, 4))
    states = np.array([[True] * 6, [True] * 5 + [False], [False] * 6, [False] * 5 + [True]])
    fixed = repair(states.copy(), space, rng())
    assert not (fixed & ~states)[:2].any()
    assert not (states & ~fixed)[2:].any()


def test_which_units_change_is_chance():
    space = SearchSpace.of(6, sizes=(1, 2))
    fixed = repair(np.ones((600, 6), dtype=bool), space, rng())
    assert fixed.mean(axis=0) == pytest.approx(np.full(6, 1 / 3), abs=0.07)


def test_weights_of_new_units_are_any_level_above_zero():
    space = SearchSpace.of(4, sizes=(4, 4), weight_levels=3)
    fixed = repair(np.zeros((200, 4)), space, rng())
    assert np.unique(fixed) == pytest.approx([1 / 3, 2 / 3, 1.0])
