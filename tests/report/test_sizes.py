"""The answers of other sizes on the page."""

from dataclasses import replace

import pytest

from fewer.report._selection import answers, feature_rows, size_curve
from making import make_problem
from pages import run


@pytest.fixture(scope="module")
def selection():
    return run(make_problem(n_rows=120), method="auto")[0]


def test_the_answers_of_the_slider_are_those_of_the_curve(selection):
    shown = size_curve(selection)
    stops = answers(selection, shown)
    assert [stop["size"] for stop in stops] == [1, 2, 3, 4, 5, 6]
    rows = feature_rows(selection)
    assert [row["name"] for row in rows if row["chosen"]] == selection.features
    for stop in stops:
        place = selection.curve["size"].index(stop["size"])
        assert stop["score"] == f"{selection.curve['score'][place]:.2f}"
        assert len(stop["places"]) == stop["size"]
    assert {name for stop in stops for name in shown["marks"].get(stop["size"], [])} == {
        "fewest",
        "balanced",
        "accuracy",
    }


def test_what_the_search_saw_is_not_called_held_out():
    found, _ = run(make_problem(n_rows=80), method="knn-forward")
    assert size_curve(found)["title"] == "accuracy"


def test_where_nothing_was_found_nothing_is_marked_and_there_is_no_slider(selection):
    empty = replace(selection, nothing_found=True)
    assert size_curve(empty)["marks"] == {}
    assert answers(empty, size_curve(empty)) == []
    assert size_curve(replace(selection, curve={}, sizes={})) is None
