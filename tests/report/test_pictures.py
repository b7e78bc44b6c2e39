"""The pictures of the page: what they say in words, and where things are drawn."""

import re

import pytest

from fewer.report._features import feature_rows
from fewer.report._pictures import curve_picture, distribution_picture, interval_picture, plane_picture
from fewer.report._sizes import answers, size_curve
from fewer.report._svg import Canvas, ticks
from making import make_problem
from pages import EVIL, run


@pytest.fixture(scope="module")
def selection():
    return run(make_problem(n_rows=120), method="auto")[0]


def curve(**changes):
    base = {
        "sizes": [1, 2, 4], "scores": [0.7, 0.8, 0.9], "low": [0.6, 0.7, 0.8], "high": [0.8, 0.9, 1.0],
        "name": "accuracy", "title": "held-out accuracy", "chosen": 2, "answers": [1, 2],
        "marks": {2: ["fewest", "balanced"], 4: ["accuracy"]}, "all": {"size": 8, "score": 0.85},
    }  # fmt: skip
    return base | changes


def test_the_curve_in_words_and_its_stops():
    svg = curve_picture(curve())
    assert "0.700 with 1, highest 0.900 with 4, 0.850 with all 8. fewest and balanced: 2; accuracy: 4." in svg
    assert re.findall(r'data-size="(\d+)"', svg) == ["1", "2"]
    assert svg.count('class="mark"') == 2


def test_names_that_would_touch_stand_in_rows():
    svg = curve_picture(curve(marks={1: ["fewest"], 2: ["balanced, accuracy"]}, sizes=[1, 2, 30], all=None))
    places = re.findall(r'y="(\d+)" text-anchor="middle">(fewest|balanced)', svg)
    assert len({y for y, _ in places}) == 2


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


def test_a_lane_for_each_class_and_hostile_names_escaped():
    told = {
        "kind": "numeric",
        "low": 0.0,
        "high": 1.0,
        "missing": 3,
        "counts": [[1, 2], [0, 4]],
        "medians": [0.2, None],
    }
    svg = distribution_picture(EVIL, told, [EVIL, "b"])
    assert "<script" not in svg
    assert svg.count("<path") == 2
    assert "3 missing" in svg
    nominal = {"kind": "nominal", "levels": ["red", EVIL], "missing": 0, "counts": [[5, 1], [0, 9]]}
    assert "Most frequent: red in a" in distribution_picture("color", nominal, ["a", "b"])
    assert distribution_picture("empty", {"kind": "numeric", "missing": 4}, []) == ""


def test_every_cell_of_the_ground_is_painted_once():
    plane = {
        "names": ["a", "b"], "row": [1, 2], "x": [0.1, 0.9], "y": [0.1, 0.9], "target": [0, 1], "x_ends": [0, 1],
        "y_ends": [0, 1], "levels": [[], []], "grid": [[0, 0, 1], [0, 1, 1]], "missing": 0,
    }  # fmt: skip
    svg = plane_picture(plane, ["no", "yes"], [2])
    runs = {code: re.search(rf'd="([^"]+)" class="area{code}"', svg)[1].count("M") for code in (0, 1)}
    assert runs == {0: 2, 1: 2}
    assert "Row 2: yes; a 0.9, b 0.9. Always predicted wrongly." in svg


def test_the_answers_of_the_slider_are_those_of_the_curve(selection):
    shown = size_curve(selection)
    stops = answers(selection, shown)
    assert [stop["size"] for stop in stops] == [1, 2, 3, 4, 5, 6]
    rows = feature_rows(selection)
    assert [row["name"] for row in rows if row["chosen"]] == selection.features
    for stop in stops:
        place = selection.curve["size"].index(stop["size"])
        assert stop["score"] == f"{selection.curve['score'][place]:.4f}"
        assert len(stop["places"]) == stop["size"]
    assert {name for stop in stops for name in shown["marks"].get(stop["size"], [])} == {
        "fewest",
        "balanced",
        "accuracy",
    }


def test_intervals_stand_in_their_order_and_baselines_look_different():
    rows = [
        {"name": EVIL, "score": 0.8, "low": 0.7, "high": 0.9, "baseline": False},
        {"name": "all features", "score": 0.6, "low": 0.5, "high": 0.7, "baseline": True},
    ]
    svg = interval_picture(rows, "held-out accuracy", "Two methods and how they did.")
    assert "<script" not in svg
    assert re.findall(r'class="(row\d)"', svg) == ["row0", "row5"]
    ends = [tuple(map(float, pair.split(","))) for pair in re.search(r'points="([^"]+)" class="line0"', svg)[1].split()]
    assert ends[0][0] < ends[1][0]
    assert ends[0][1] == ends[1][1]


def test_a_level_is_named_though_its_point_is_shaken():
    plane = {
        "names": ["color", "b"], "row": [1], "x": [1.2], "y": [0.9], "target": [0], "x_ends": [-0.5, 1.5],
        "y_ends": [0, 1], "levels": [["red", "blue"], []], "grid": [[0, 0]], "missing": 0,
    }  # fmt: skip
    assert "color blue, b 0.9" in plane_picture(plane, ["no"], [])
