import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer.criteria import gamma_test
from fewer.plots import GammaDisplay, MTestDisplay


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    return gamma_test(X, X.sum(axis=1) + rng.normal(scale=0.1, size=300))


def test_points_line_and_interval_are_those_of_the_result(result):
    ax = GammaDisplay.from_result(result).plot(Figure().subplots()).ax_
    line, points = ax.lines[:2]
    assert np.array_equal(points.get_xdata(), result.delta)
    assert np.array_equal(points.get_ydata(), result.Gamma)
    assert line.get_ydata()[0] == pytest.approx(result.gamma)
    low, high = ax.collections[0].get_segments()[0][:, 1]
    assert (low, high) == pytest.approx(result.interval)


def test_m_test_curve_is_drawn_as_given(result):
    curve = result.m_test(5)
    ax = MTestDisplay(curve).plot(Figure().subplots()).ax_
    assert np.array_equal(ax.lines[0].get_xydata(), curve[:, :2])
