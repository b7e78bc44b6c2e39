"""Rows in two features drawn."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer.errors import InputError
from fewer.plots import PlaneDisplay


def test_the_ground_is_drawn_the_right_way_up(selections):
    display = PlaneDisplay.from_selection(selections["classification"], ax=Figure().subplots())
    image = display.ax_.get_images()[0]
    assert image.origin == "lower"
    assert np.array_equal(image.get_array(), display.told["grid"])


def test_two_directions_of_three_features(selections):
    selection = selections["classification"]
    if len(selection.features) >= 3:
        display = PlaneDisplay.from_selection(selection, directions=True, ax=Figure().subplots())
        assert display.ax_.get_xlabel() == "direction 1"
    else:
        with pytest.raises(InputError, match="three features"):
            PlaneDisplay.from_selection(selection, directions=True)
