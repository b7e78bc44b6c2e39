"""What a page worries about."""

from dataclasses import replace

import pytest

from fewer.report._selection import worries
from making import make_problem
from pages import run


@pytest.fixture(scope="module")
def selection():
    return run(make_problem(n_rows=80), method="knn-forward")[0]


def test_the_readers_notes_come_first_and_a_judge_that_failed_is_told(selection):
    told = replace(selection, warnings=["id looks like an identifier."], evidence={"untold": ["No picture."]})
    assert worries(told)[0] == "id looks like an identifier."
    assert worries(told)[-1] == "No picture."


def test_rare_classes_missing_cells_and_features_that_hardly_return(selection):
    name = selection.features[0]
    data = {"classes": {"a": 60, "b": 12}, "missing_cells": 100, "columns": [{"name": "hole", "missing": 0.4}]}
    found = worries(replace(selection, warnings=[], data=data, frequency={name: 0.2}, features=[name], redundancy={}))
    assert found == [
        "100 cells are missing (21%), most in hole (40%).",
        "Classes with fewer than 30 rows: b (12). What is said of them rests on little.",
        f"{name} returns in fewer than half of the repetitions: it is one of several choices that do about as well.",
    ]


def test_copies_among_the_chosen(selection):
    values = {"names": ["a", "b", "c"], "values": [[1, 0.97, 0.1], [0.97, 1, 0.2], [0.1, 0.2, 1]]}
    quiet = replace(selection, warnings=[], data={}, frequency={}, redundancy=values, evidence={})
    assert worries(quiet) == ["Chosen features that nearly repeat each other: b and a."]
    assert worries(replace(quiet, redundancy={})) == []
