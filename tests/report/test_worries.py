"""What a page worries about."""

from dataclasses import replace

import pytest

from fewer.report import selection_report
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
        "21 % of the cells are missing (100), most of them in hole (40 %).",
        "Classes with fewer than 30 rows: b (12). Scores for them are unreliable.",
        f"{name} was selected in fewer than half of the folds: its selection depends on the rows.",
    ]


def test_a_feature_that_no_fold_selected_is_named_on_page_and_terminal(selection):
    told = replace(
        selection, warnings=[], data={}, frequency={"b": 0.2}, features=["a", "b"], redundancy={}, evidence={},
        stability={}, heldout=dict(selection.heldout),
    )  # fmt: skip
    told.heldout["fold_sizes"] = [3, 1, 2]
    never = (
        "a was selected in none of the 3 folds, which selected 1 to 3 features each: whether it helps is not confirmed."
    )
    assert worries(told) == [
        never, "b was selected in fewer than half of the folds: its selection depends on the rows.",
    ]  # fmt: skip
    assert f"Warning: {never}" in told.summary()
    assert f"Warning: {never}" in told._repr_html_()
    assert told._repr_html_().count("fewer than half") == 1
    replaced = replace(told, stability={"returns": {"a": 1.0, "b": 0.8}})
    assert worries(replaced) == []  # substitutes came back in their place
    for quiet in (replace(told, frequency={"a": 0.2, "b": 1.0}), replace(told, frequency={}), replaced):
        assert not any("none of the" in line for line in (*worries(quiet), *quiet.summary(), quiet._repr_html_()))


def test_copies_among_the_chosen(selection):
    values = {"names": ["a", "b", "c"], "values": [[1, 0.97, 0.1], [0.97, 1, 0.2], [0.1, 0.2, 1]]}
    quiet = replace(selection, warnings=[], data={}, frequency={}, redundancy=values, evidence={})
    assert worries(quiet) == ["Nearly identical selected features: b and a. One of each pair could be dropped."]
    assert worries(replace(quiet, redundancy={})) == []


def test_a_feature_that_is_better_left_out_is_named_and_notes_of_reading_stand_with_the_data(selection):
    name, note = selection.features[0], "t.csv: cells are separated by semicolons."
    losses = {name: {"loss": -0.02, "low": -0.03, "high": -0.01}}
    told = replace(
        selection, warnings=[note], data={**selection.data, "notes": [note]}, frequency={}, redundancy={},
        evidence={**selection.evidence, "without": losses, "without_score": "accuracy"},
    )  # fmt: skip
    assert worries(told) == [f"Cross-validated accuracy was higher without {name}."]
    page = selection_report(told)
    assert page.index("The data as read") < page.index(note)
    assert "higher without it" in page
