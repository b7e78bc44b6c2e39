"""The pictures of the page: what they say in words, and where things are drawn."""

import re

from fewer.report._pictures import (
    curve_picture,
    distribution_picture,
    interval_picture,
    plane_picture,
    redundancy_picture,
)
from pages import EVIL


def curve(**changes):
    base = {
        "sizes": [1, 2, 4], "scores": [0.7, 0.8, 0.9], "low": [0.6, 0.7, 0.8], "high": [0.8, 0.9, 1.0],
        "name": "accuracy", "title": "held-out accuracy", "chosen": 2, "answers": [1, 2],
        "marks": {2: ["fewest", "balanced"], 4: ["accuracy"]}, "all": {"size": 8, "score": 0.85},
    }  # fmt: skip
    return base | changes


def test_the_curve_in_words_and_its_stops():
    svg = curve_picture(curve())
    assert "0.70 with 1, highest 0.90 with 4, 0.85 with all 8. fewest and balanced: 2; accuracy: 4." in svg
    assert re.findall(r'data-size="(\d+)"', svg) == ["1", "2"]
    assert svg.count('class="mark"') == 2


def test_names_that_would_touch_stand_in_rows():
    svg = curve_picture(curve(marks={1: ["fewest"], 2: ["balanced, accuracy"]}, sizes=[1, 2, 30], all=None))
    places = re.findall(r'y="(\d+)" text-anchor="middle">(fewest|balanced)', svg)
    assert len({y for y, _ in places}) == 2


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


def test_redundancy_is_written_out_for_few_and_shaded_for_all():
    values = [[1.0, 0.4], [0.4, 1.0]]
    svg = redundancy_picture(["a", EVIL], values, "How far two features repeat each other.")
    assert re.findall(r'opacity="([\d.]+)"', svg) == ["0.45", "0.18", "0.18", "0.45"]
    assert svg.count(">.40<") == 2
    assert "<script" not in svg
    many = redundancy_picture([str(i) for i in range(20)], [[0.1] * 20] * 20, "Twenty features.")
    assert many.count("<rect") == 400
    assert ">.10<" not in many
