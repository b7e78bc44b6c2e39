import numpy as np

from fewer.papers._chen_figures import _path, _valley, figure_10
from fewer.papers._core import Rerun


def test_a_fixed_step_circles_and_waypoint_averaging_arrives():
    fixed, averaged = _path(False), _path(True)
    assert np.linalg.norm(np.diff(fixed, axis=0), axis=1).min() > 0.89
    assert _valley(averaged[-1]) < 1e-3 < _valley(fixed[-1])
    assert np.array_equal(fixed[:4], averaged[:4])


def test_the_figure_names_its_axes_and_both_ways():
    (axes,) = figure_10(Rerun()).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["fixed step", "waypoint averaging"]
