from types import SimpleNamespace

import pytest

from fewer.errors import InputError
from fewer.plots import PlaneDisplay

TOLD = {
    "names": ["size", "weight"],
    "x": [0.0, 1.0, 2.0],
    "y": [5.0, 6.0, 7.0],
    "target": [0, 1, 1],
    "row": [1, 2, 3],
    "x_ends": [0.0, 2.0],
    "y_ends": [5.0, 7.0],
    "grid": [[0, 1], [0, 1]],
}


def test_rows_stand_with_their_class_and_wrong_ones_are_ringed():
    axes = PlaneDisplay(TOLD, ["a", "b"], [3]).plot().ax_
    places = [collection.get_offsets().tolist() for collection in axes.collections]
    assert places == [[[0.0, 5.0]], [[1.0, 6.0], [2.0, 7.0]], [[2.0, 7.0]]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("size", "weight")
    assert axes.images[0].get_extent() == [0.0, 2.0, 5.0, 7.0]


def test_a_quantity_has_a_scale():
    display = PlaneDisplay({**TOLD, "target": [0.5, 1.5, 2.5]}).plot()
    assert len(display.ax_.collections) == 1
    assert [axes.get_ylabel() for axes in display.figure_.axes] == ["weight", "target"]


def test_a_selection_of_one_feature_has_no_plane():
    with pytest.raises(InputError, match="no two features"):
        PlaneDisplay.from_selection(SimpleNamespace(evidence={}, data={}))
