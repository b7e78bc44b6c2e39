"""The canvas: where values are drawn, which ticks it shows, what it escapes."""

import pytest

from fewer.report._pictures import Canvas, at, ticks
from pages import EVIL


def test_points_lie_where_their_values_are():
    canvas = Canvas((0, 10), (0, 1), size=(200, 100))
    assert canvas.px(0) == canvas.left
    assert canvas.px(10) == 200 - canvas.right
    assert canvas.py(1) == canvas.top
    logarithmic = Canvas((1, 100), (0, 1), log=True)
    assert logarithmic.px(10) == pytest.approx((logarithmic.px(1) + logarithmic.px(100)) / 2)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 7.7), (1e-9, 2e-9), (0, 1e12), (5, 5), (float("nan"), 1)])
def test_ticks_are_few_round_and_inside(low, high):
    found = ticks(low, high)
    assert 1 <= len(found) <= 11
    if high > low:
        assert all(low - 1e-9 * abs(low) <= tick <= high * (1 + 1e-9) for tick in found)


def test_everything_is_escaped_and_short():
    canvas = Canvas((0, 1), (0, 1))
    canvas.axes(EVIL, EVIL)
    canvas.add("text", EVIL, data_told=EVIL)
    svg = canvas.svg(EVIL)
    assert "<script" not in svg
    assert "<img" not in svg
    assert svg.startswith('<svg role="img" aria-label="&lt;script')
    assert at(3.0) == "3"
    assert at(2.345) == "2.3"
