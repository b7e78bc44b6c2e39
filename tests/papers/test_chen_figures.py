import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer_papers._chen_figures import _path, _valley, figure_10, size_lines
from fewer_papers._core import Rerun
from fewer_papers._curves import Curves


def test_a_fixed_step_circles_and_waypoint_averaging_arrives():
    fixed, averaged = _path(False), _path(True)
    assert np.linalg.norm(np.diff(fixed, axis=0), axis=1).min() > 0.89
    assert _valley(averaged[-1]) < 1e-3 < _valley(fixed[-1])
    assert np.array_equal(fixed[:4], averaged[:4])


def test_the_figure_names_its_axes_and_both_ways():
    (axes,) = figure_10(Rerun()).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["fixed step", "waypoint averaging"]


def test_curves_are_drawn_with_those_beside():
    curves = Curves(np.array([2, 4]), {"SVM": {"Fisher": np.array([[0.8, 0.9], [0.6, 0.9]])}}, {})
    ax = Figure().subplots()
    size_lines(ax, curves, "SVM", {"other": [0.5, 0.6]})
    assert ax.lines[0].get_ydata() == pytest.approx([0.7, 0.9])
    assert ax.lines[1].get_ydata() == pytest.approx([0.5, 0.6])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Fisher", "other"]
