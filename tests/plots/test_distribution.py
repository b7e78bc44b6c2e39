"""One feature by class, or against a quantity."""

import numpy as np
from matplotlib.figure import Figure

from fewer.plots import DistributionDisplay


def test_a_stair_for_each_class_sums_to_one(selections):
    ax = DistributionDisplay.from_selection(selections["classification"], ax=Figure().subplots()).ax_
    assert len(ax.patches) == 2
    assert all(np.isclose(stair.get_data().values.sum(), 1.0) for stair in ax.patches)


def test_levels_are_named():
    told = {"kind": "nominal", "levels": ["red", "blue"], "missing": 0, "counts": [[3, 1], [0, 4]]}
    ax = DistributionDisplay("color", told, ["no", "yes"]).plot(Figure().subplots()).ax_
    assert [label.get_text() for label in ax.get_xticklabels()] == ["red", "blue"]


def test_a_quantity_is_its_quartiles(selections):
    display = DistributionDisplay.from_selection(selections["regression"], ax=Figure().subplots())
    assert display.ax_.get_ylabel() == "target"
    assert len(display.ax_.get_lines()[0].get_ydata()) == len(display.told["middle"])
