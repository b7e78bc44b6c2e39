import numpy as np
import pytest

from fewer_papers._loughrey_figures import _bars, _curve, _panel


def test_bars_stand_beside_each_other_between_their_limits():
    figure, axes = _panel("a title", "method")
    _bars(axes, ["a", "b"], [90.0, 80.0], [70.0, 75.0])
    assert [patch.get_height() for patch in axes.patches] == [90.0, 80.0, 70.0, 75.0]
    assert axes.get_ylim() == (55.0, 100.0)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("a title", "method", "accuracy, percent")
    assert figure.axes == [axes]


def test_curves_are_in_percent_and_differ_in_line_style():
    _, axes = _panel("")
    for number in range(3):
        _curve(axes, [0.5, 0.25], f"run {number}", number)
    assert axes.lines[0].get_ydata() == pytest.approx(np.array([50.0, 25.0]))
    assert len({line.get_linestyle() for line in axes.lines}) == 3
