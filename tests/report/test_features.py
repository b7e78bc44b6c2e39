"""The rows of the page."""

from dataclasses import replace

import pytest

from fewer.report._selection import feature_rows, in_units
from making import make_problem
from pages import run


@pytest.fixture(scope="module")
def selection():
    return run(make_problem(n_rows=80), method="knn-forward", n_features_to_select=3)[0]


def test_a_row_tells_what_the_selection_knows(selection):
    name = selection.features[0]
    told = replace(selection, stand_ins={name: ["twin"]}, costs={name: 2.5})
    row = feature_rows(told)[0]
    assert (row["name"], row["chosen"], row["stand_ins"], row["cost"]) == (name, True, ["twin"], 2.5)
    assert row["share"] == selection.frequency[name]
    loss = selection.evidence["without"][name]
    assert row["loss"]["amount"] == in_units(loss["loss"], "accuracy")
    assert row["picture"].startswith("<svg")


def test_without_evidence_there_are_names_alone(selection):
    rows = feature_rows(replace(selection, evidence={}))
    assert [row["name"] for row in rows] == selection.features
    assert all(row["picture"] is None and row["loss"] is None for row in rows)


@pytest.mark.parametrize(
    ("value", "score", "told"),
    [(0.0123, "balanced accuracy", "+1.2"), (-0.5, "R²", "−0.500"), (0.0, "accuracy", "0.0"), (-1e-9, "r2", "0.000")],
)
def test_differences_are_in_points_or_as_they_are(value, score, told):
    assert in_units(value, score) == told


def test_the_range_of_a_feature_is_that_of_its_values_and_not_of_its_picture(selection):
    name = selection.features[0]
    summary = {**selection.evidence["distributions"][name], "low": 1.0, "high": 2.0, "least": 0.0, "most": 90.0}
    told = replace(selection, evidence={**selection.evidence, "distributions": {name: summary}})
    assert feature_rows(told)[0]["kind"] == "0 to 90"
