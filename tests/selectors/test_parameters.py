import numpy as np
import pytest

from fewer.errors import InputError
from fewer.selectors import SubsetSelector
from fewer.selectors._base import lay_out_space, parse_memory, parse_size
from making import make_problem


@pytest.mark.parametrize(
    ("asked", "sizes"),
    [("auto", (1, 9)), (3, (3, 3)), (9, (9, 9)), (0.5, (5, 5)), (0.01, (1, 1)), ((2, 5), (2, 5)), ([2, 50], (2, 9))],
)
def test_sizes(asked, sizes):
    assert parse_size(asked, 9) == sizes


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (10, "10 features requested, but only 9 are available"),
        ((3, 2), "give a smallest and a largest"),
        ((-1, 2), "give"),
        ((1, 2, 3), "give"),
    ],
)
def test_wrong_sizes(asked, message):
    with pytest.raises(InputError, match=message):
        parse_size(asked, 9)


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("1GiB", 1 << 30), ("2 kB", 2000), ("1.5m", 1_500_000), (4096, 4096), ("7", 7), ("1TiB", 1 << 40), ("3b", 3)],
)
def test_amounts_of_memory(text, n_bytes):
    assert parse_memory(text) == n_bytes


@pytest.mark.parametrize("text", ["", "much", "5 PB", "-1GB", 0, -1, "0"])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(InputError, match="is not an amount of memory"):
        parse_memory(text)


def space_of(**options):
    return lay_out_space(SubsetSelector(**options), make_problem(n_features=6))


def test_forced_features_groups_and_costs():
    space = space_of(include=["x0"], exclude=[5], feature_groups=[["x1", "x2"]], n_features_to_select=3)
    assert [unit.tolist() for unit in space.units] == [[1, 2], [3], [4]]
    assert (space.min_units, space.max_units) == (2, 2)
    priced = space_of(feature_costs={"x2": 10.0}, cost_weight=0.1)
    assert priced.prices == pytest.approx([0, 0, 1.0, 0, 0, 0])


def test_how_many_there_are_to_choose_from():
    assert space_of(exclude=[0, 1]).max_units == 4
    assert space_of(feature_groups=[[0, 1, 2]]).max_units == 4
    assert space_of(feature_groups=[[0, 1, 2]], exclude=[1]).max_units == 3
    with pytest.raises(InputError, match="5 features requested, but only 4 are available"):
        space_of(exclude=[0, 1], n_features_to_select=5)


def test_contradictions():
    with pytest.raises(InputError, match="'x1' is both included and excluded"):
        space_of(include=[1], exclude=["x1"])
    with pytest.raises(InputError, match="'x1' is in two feature groups"):
        space_of(feature_groups=[[0, 1], [1, 2]])
    with pytest.raises(InputError, match="3 features are included .* but at most 2 are requested"):
        space_of(include=[0, 1, 2], n_features_to_select=2)


def test_where_to_start():
    space = space_of(start=["x1", 3], include=[0])
    assert np.flatnonzero(space.start).tolist() == [0, 2]
    with pytest.raises(InputError, match="start names 'x5', which is excluded"):
        space_of(start=[5], exclude=[5])
    with pytest.raises(InputError, match="start has 3 features beside those forced in, but from 2 to 2"):
        space_of(start=[0, 1, 2], n_features_to_select=2)
