from types import SimpleNamespace

import numpy as np

from fewer.errors import InputError
from fewer.selectors.auto._race import NothingVaries, Race, Units


def race(orders, units=None):
    parts = [SimpleNamespace(orders={"a ranking": np.array(order)}) for order in orders]
    return Race(parts[0], parts[1:], units or Units.of(4), np.array([1, 2]), None, None, np.array([0]), 4)


def test_a_search_keeps_the_order_that_it_found_on_all_rows():
    assert race([[2, 0, 1, 3], [3, 1, 0, 2]]).order("a ranking").tolist() == [2, 0, 1, 3]


def test_the_first_units_of_a_path_are_a_mask():
    made = race([[2, 0, 1, 3]], Units.of(4, groups=[[0, 3]]))
    assert made.prefix("a ranking", 1).tolist() == [False, False, True, False]
    assert made.prefix("a ranking", 2).tolist() == [True, False, True, True]
    assert not made.prefix("a ranking", 0).any()


def test_nothing_varies_is_an_error_to_read():
    assert issubclass(NothingVaries, InputError)
