import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer.evaluate import PlantedCounts
from fewer.plots import PlantedDisplay


def test_lines_are_means_beside_chance():
    counts = PlantedCounts(("a", "b"), np.array([[[0, 1, 2], [0, 0, 2]], [[1, 2, 2], [1, 1, 2]]]), 1, 2)
    ax = PlantedDisplay(counts).plot(Figure().subplots()).ax_
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert lines["a"] == pytest.approx([0, 0.5, 2])
    assert lines["b"] == pytest.approx([1, 1.5, 2])
    assert lines["chance (mean)"] == pytest.approx([2 / 3, 4 / 3, 2])
    assert ax.lines[-1].get_xdata() == [1, 1]
