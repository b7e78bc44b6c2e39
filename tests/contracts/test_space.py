import numpy as np
import pytest

from fewer.contracts import SearchSpace, round_scores
from fewer.errors import InputError


def test_space_with_groups_forced_columns_and_prices():
    space = SearchSpace.of(6, sizes=(2, 3), include=[0], exclude=[5], groups=[[1, 2]], prices=np.arange(6.0))
    assert [unit.tolist() for unit in space.units] == [[1, 2], [3], [4]]
    assert (space.min_units, space.max_units) == (1, 2)
    assert space.expand(np.array([[True, False, True]])).astype(int).tolist() == [[1, 1, 1, 0, 1, 0]]
    assert space.price(np.array([[True, False, True]])).tolist() == [3.0 + 4.0]
    assert space.allows(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])).tolist() == [False, True, True, False]
    smaller = space.without(np.array([False, True, False, True, False, False]))
    assert [unit.tolist() for unit in smaller.units] == [[1, 2], [4]]
    assert space.shrink(space.expand(np.array([[True, False, True]]))[0]).tolist() == [True, False, True]


def test_random_states_have_allowed_sizes():
    rng = np.random.default_rng(0)
    for levels in (1, 4):
        space = SearchSpace.of(9, sizes=(3, 4), weight_levels=levels)
        states = np.array([space.random(rng) for _ in range(100)])
        assert space.allows(states).all()
        assert set(np.unique(states).tolist()) <= {i / levels for i in range(levels + 1)}


def test_rounding_forgets_the_order_of_sums():
    assert round_scores(np.array([0.1 + 0.2]))[0] == round_scores(np.array([0.3]))[0]
    assert round_scores(np.array([-np.inf, 0.0, 1.0])).tolist() == [-np.inf, 0.0, 1.0]
    assert round_scores(np.array([1.0 + 1e-9]))[0] != 1.0


def test_a_plain_space_is_the_table():
    space = SearchSpace.of(4)
    states = np.array([[True, False, True, False]])
    assert space.is_plain
    assert space.expand(states) is states
    assert space.single_columns.tolist() == [0, 1, 2, 3]
    assert SearchSpace.of(4, weight_levels=2).single_columns is None
    assert SearchSpace.of(4, groups=[[0, 1]]).single_columns is None
    forced = SearchSpace.of(4, include=[1])
    assert not forced.is_plain
    assert forced.single_columns.tolist() == [0, 2, 3]


def test_sizes_stay_within_what_there_is():
    assert (SearchSpace.of(4, sizes=(2, 9)).min_units, SearchSpace.of(4, sizes=(2, 9)).max_units) == (2, 4)
    space = SearchSpace.of(5, sizes=(2, 4), include=[0, 1, 2])
    assert (space.min_units, space.max_units) == (0, 1)


def test_units_go_only_if_all_their_columns_do():
    space = SearchSpace.of(5, sizes=(2, 5), groups=[[0, 1]], prices=np.array([1.0, 1.0, 2.0, 3.0, 4.0]))
    gone = space.without(np.array([True, False, True, False, False]))
    assert [unit.tolist() for unit in gone.units] == [[0, 1], [3], [4]]
    assert gone.prices.tolist() == [2.0, 3.0, 4.0]
    assert gone.max_units == 3
    assert space.without(np.zeros(5, dtype=bool)) is space
    with pytest.raises(InputError, match="2 features are asked for beside those forced in, but only 1 can vary"):
        space.without(np.array([True, True, True, True, False]))


def test_the_objective_is_the_score_less_the_price():
    space = SearchSpace.of(2, prices=np.array([0.25, 0.5]))
    states = np.array([[True, False], [True, True]])
    assert space.objective(np.array([1.0, 1.0]), states).tolist() == [0.75, 0.25]
    assert space.has_prices
    assert not SearchSpace.of(2).has_prices
