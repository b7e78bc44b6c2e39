"""The page of a selection: complete, safe, and readable with nothing but the file."""

import re
from dataclasses import replace

import numpy as np
from markupsafe import escape
from sklearn.datasets import load_wine

import fewer
from fewer.report import selection_report
from fewer.report._selection import _predictions, _redundancy_picture
from fewer.run.selection import Selection
from fewer.text import cut
from making import make_problem
from pages import EVIL, HEBREW, LONG, Tags, run


def test_everything_that_was_asked_is_on_the_page():
    selection, trace = run(make_problem(n_rows=80), method="knn-floating")
    page = selection_report(selection, trace)
    for part in (
        selection.verdict,
        selection.features[0],
        "Reproduce",
        "<dt>Seed</dt><dd>0</dd>",
        "selected in",
    ):
        assert part in page.replace("&#39;", "'")
    assert page.count('<svg role="img" aria-label="') >= 3


def test_a_page_can_be_made_of_the_json_alone():
    selection, _ = run(make_problem(n_rows=80), method="knn-forward")
    again = Selection.from_json(selection.to_json())
    assert selection_report(again) == selection_report(selection)


def test_the_curve_and_the_redundancy_are_shown_where_the_selection_has_them():
    problem = make_problem(n_rows=80)
    selection, trace = run(problem, method="knn-floating")
    sizes = {
        "sizes": [1, 2, 3],
        "scores": [0.7, 0.8, 0.81],
        "standard_error": 0.02,
        "measured": "the search's own score",
    }
    redundancy = {"names": ["a", EVIL, "c"], "values": [[1, 0.1, 0.2], [0.1, 1, 0.9], [0.2, 0.9, 1]]}
    page = selection_report(replace(selection, sizes=sizes, redundancy=redundancy), trace)
    assert "highest 0.81 with 3" in page
    assert "with 95&nbsp;% band. The search&#39;s own score." in page
    assert f"Highest: {escape(cut(EVIL, 28))} and c (0.90)" in page
    alone = replace(selection, redundancy={"names": ["a"], "values": [[1]]})
    assert "Correlation between" not in selection_report(alone, trace)


def test_a_stopped_search_shows_training_validation_and_the_stopping_point():
    selection, trace = run(make_problem(n_rows=60), cv=0, method="saes")
    page = selection_report(selection, trace)
    stop, length = trace.extra["stop"]
    assert f"validation score is best around step {stop} of {length}" in page
    assert f"validation score peaks at {trace.extra['validation'].max():.2f}" in page


def test_a_ranking_is_not_told_as_a_search():
    selection, trace = run(make_problem(n_rows=80), method="fisher")
    page = selection_report(selection, trace)
    assert trace is None
    assert "Search score" not in page
    assert "score without it" not in page
    assert "<dt>Time</dt>" in page


def test_hostile_names_appear_literally_and_run_nothing(hostile_page):
    tags = Tags(hostile_page).seen
    assert [attributes.get("type") for tag, attributes in tags if tag == "script"] == ["application/json", None]
    assert not [tag for tag, _ in tags if tag in ("img", "iframe", "object", "link")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert "&lt;script&gt;document.title=" in hostile_page
    assert HEBREW.replace("\0", "\N{REPLACEMENT CHARACTER}") in hostile_page
    assert "\0" not in hostile_page
    assert len(hostile_page.encode()) < 3_000_000


def test_what_is_long_is_cut(hostile, hostile_page):
    selection, _ = hostile
    assert selection.n_features == 5000
    assert LONG in selection.data["classes"]
    assert LONG[:150] in hostile_page
    assert LONG[:2000] not in hostile_page


def test_no_request_leaves_the_file(hostile_page):
    for _, attributes in Tags(hostile_page).seen:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))
    assert not re.findall(r"@import|url\((?!#)", hostile_page)


def test_every_picture_has_an_alternative_text(hostile_page):
    pictures = [attributes for tag, attributes in Tags(hostile_page).seen if tag == "svg"]
    told = [picture for picture in pictures if picture.get("aria-hidden") != "true"]
    assert told
    assert all(picture["role"] in ("img", "group") and len(picture["aria-label"]) > 20 for picture in told)


def test_a_table_that_was_read_in_chunks_has_a_page_too():
    import polars as pl

    from fewer import streaming

    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5))
    frame = pl.DataFrame({f"f{i}": X[:, i] for i in range(5)} | {"y": X[:, 0] - X[:, 3] + rng.normal(size=900)})
    selection = streaming.select(frame.lazy(), target="y", criterion="least-squares:cv=5", cv=3)
    assert set(selection.evidence["without"]) == set(selection.features)
    assert len(selection.evidence["plane"]["row"]) == 300
    page = selection_report(selection)
    assert page.count('class="small"') >= len(selection.features)
    assert 'id="plane"' in page


def test_features_whose_likeness_is_not_known_are_not_the_most_alike():
    told = {"names": ["a", "b", "c"], "values": [[1.0, None, 0.3], [None, 1.0, 0.6], [0.3, 0.6, 1.0]]}
    found = _redundancy_picture(told)
    assert "Highest: b and c (0.60)" in found["text"]
    assert str(found["svg"]).count(">–<") == 2


def test_a_score_stands_beside_the_predictions_that_it_belongs_to():
    problem = make_problem(n_rows=60, task="regression")
    selection, _ = run(problem, method="knn-forward")
    evidence = {**selection.evidence, "predictions": {"all": selection.evidence["predictions"]["all"]}}
    told = _predictions(replace(selection, evidence=evidence, score_heldout=0.25, score_heldout_all_features=0.75))
    assert ["0.75." in str(picture) for picture in told["pictures"]] == [True]


def test_columns_that_are_alike_are_drawn():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X["flavors"] = X["flavanoids"] * 2.0
    selection = fewer.select(X, y, ranker="f-test", control="correlated:threshold=0.85", cv=0, random_state=0)
    assert "Columns that are alike" in selection_report(selection, selection.trace)
    assert selection.trace.extra["cluster_names"].tolist() == ["total_phenols", "flavanoids", "flavors"]
