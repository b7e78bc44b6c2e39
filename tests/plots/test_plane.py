"""Rows in two features drawn."""

import numpy as np
from matplotlib.figure import Figure

from fewer.plots import PlaneDisplay


def test_the_ground_is_drawn_the_right_way_up(selections):
    display = PlaneDisplay.from_selection(selections["classification"], ax=Figure().subplots())
    image = display.ax_.get_images()[0]
    assert image.origin == "lower"
    assert np.array_equal(image.get_array(), display.told["grid"])
