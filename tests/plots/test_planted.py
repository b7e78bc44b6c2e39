import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer.evaluate import Curves, PlantedCounts
from fewer.plots import PlantedDisplay, SizeCurvesDisplay


def test_lines_are_means_beside_chance():
    counts = PlantedCounts(("a", "b"), np.array([[[0, 1, 2], [0, 0, 2]], [[1, 2, 2], [1, 1, 2]]]), 1, 2)
    ax = PlantedDisplay(counts).plot(Figure().subplots()).ax_
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert lines["a"] == pytest.approx([0, 0.5, 2])
    assert lines["b"] == pytest.approx([1, 1.5, 2])
    assert lines["chance (mean)"] == pytest.approx([2 / 3, 4 / 3, 2])
    assert ax.lines[-1].get_xdata() == [1, 1]


def test_curves_are_drawn_with_those_beside():
    curves = Curves(np.array([2, 4]), {"SVM": {"Fisher": np.array([[0.8, 0.9], [0.6, 0.9]])}}, {})
    ax = SizeCurvesDisplay(curves, "SVM", beside={"other": [0.5, 0.6]}).plot(Figure().subplots()).ax_
    assert ax.lines[0].get_ydata() == pytest.approx([0.7, 0.9])
    assert ax.lines[1].get_ydata() == pytest.approx([0.5, 0.6])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Fisher", "other"]
