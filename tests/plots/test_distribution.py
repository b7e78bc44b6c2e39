from types import SimpleNamespace

import numpy as np
import pytest

from fewer.errors import InputError
from fewer.plots import DistributionDisplay

TOLD = {"low": 0.0, "high": 4.0, "counts": [[3, 1], [0, 4]]}


def test_each_class_is_drawn_to_its_own_number_of_rows():
    axes = DistributionDisplay("size", TOLD, ["a", "b"]).plot().ax_
    shares = [patch.get_data().values.tolist() for patch in axes.patches]
    assert shares == [[0.75, 0.25], [0.0, 1.0]]
    assert axes.patches[0].get_data().edges.tolist() == [0.0, 2.0, 4.0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("size", "share of the class")


def test_levels_have_their_names():
    axes = DistributionDisplay("color", {"levels": ["red", "blue"], "counts": [[1, 2]]}, ["a"]).plot().ax_
    assert [label.get_text() for label in axes.get_xticklabels()] == ["red", "blue"]
    assert axes.get_xticks().tolist() == [0.0, 1.0]


def test_a_quantity_is_told_by_quartiles():
    told = {"low": 0.0, "high": 2.0, "lower": [1, 2], "middle": [2, 3], "upper": [3, 5]}
    axes = DistributionDisplay("size", told).plot().ax_
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [2.0, 3.0]
    assert axes.get_ylabel() == "target"


def test_a_feature_that_was_not_described():
    selection = SimpleNamespace(evidence={"distributions": {"size": TOLD}, "classes": ["a", "b"]})
    assert DistributionDisplay.from_selection(selection).name == "size"
    with pytest.raises(InputError, match="no distribution of 'other'; there are those of size"):
        DistributionDisplay.from_selection(selection, "other")
