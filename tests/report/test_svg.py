import math

import pytest

from fewer.report._svg import SHAPES, Canvas, at, number, ticks


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [(0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (3.0, 97.0, [20, 40, 60, 80]), (-1.0, 1.0, [-1, -0.5, 0, 0.5, 1])],
)
def test_ticks_are_round_numbers_between_the_ends(low, high, wanted):
    assert ticks(low, high) == pytest.approx(wanted)


def test_ends_that_are_none():
    assert ticks(2.0, 2.0) == [2.0]
    assert ticks(0.0, math.inf) == [0.0]


def test_numbers_are_short():
    assert (number(0.123456), at(3.0), at(3.25)) == ("0.1235", "3", "3.2")


def test_places_on_the_axes():
    canvas = Canvas((0.0, 10.0), (0.0, 1.0), size=(164, 156))
    assert (canvas.px(0.0), canvas.px(10.0), canvas.px(5.0)) == (52.0, 152.0, 102.0)
    assert (canvas.py(0.0), canvas.py(1.0)) == (112.0, 12.0)
    logged = Canvas((1.0, 100.0), (0.0, 1.0), size=(164, 156), log=True)
    assert logged.px(10.0) == pytest.approx(102.0)


def test_nothing_that_is_put_in_becomes_markup():
    canvas = Canvas((0.0, 1.0), (0.0, 1.0))
    canvas.add("text", "<b>", class_='a"b', text_anchor="end", x=1.0, gone=None)
    assert str(canvas.parts[0]) == '<text class="a&#34;b" text-anchor="end" x="1">&lt;b&gt;</text>'
    canvas.shape(0.5, 0.5, len(SHAPES) + 1, "point")
    assert SHAPES[1] in canvas.parts[1]
    svg = str(canvas.svg("a <title>"))
    assert svg.startswith('<svg role="img" aria-label="a &lt;title&gt;"')
    assert svg.endswith("</svg>")


def test_axes_have_their_labels_and_ticks():
    canvas = Canvas((0.0, 1.0), (0.0, 1.0))
    canvas.axes("size", "score", x_ticks=[(0.5, "half")], y_ticks=[0.25])
    texts = [str(part) for part in canvas.parts if str(part).startswith("<text")]
    assert [text.split(">")[1].split("<")[0] for text in texts] == ["half", "0.25", "size", "score"]
