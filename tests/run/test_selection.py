"""How a selection shows itself: notebooks, papers, pictures, a pipeline to go on with, a smaller table."""

import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import fewer
from fewer.cli import main
from fewer.errors import InputError


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def selection(iris):
    return fewer.select(*iris, "knn-forward", random_state=0)


def test_a_notebook_shows_what_the_page_does_without_a_script(selection):
    shown = selection._repr_html_()
    for name in selection.features:
        assert name in shown
    assert "selected in" in shown
    assert shown.index("Held-out accuracy") < shown.index("<table") < shown.index("<details")
    assert "2 of 4 features selected by knn-forward" in shown
    assert "<script" not in shown
    assert "background:#" not in shown  # the notebook's own colors, light or dark


def test_stability_below_chance_has_a_real_minus_sign(selection):
    stability = {"n_repetitions": 3, "index": -0.234, "with_stand_ins": -0.001}
    line = "Stability over 3 repetitions (1: always the same features): −0.23; 0.00 counting substitutes as equal."
    assert line in replace(selection, stability=stability).summary()


def test_papers(selection):
    markdown, latex = selection.to_markdown(), selection.to_latex("tab:iris")
    assert markdown.splitlines()[0] == "| feature | selected in | score without it |"
    assert selection.verdict in markdown
    assert latex.count("\\\\") == 1 + len(selection.features)
    assert "\\label{tab:iris}" in latex
    assert " % " not in latex.replace("\\%", "")


def test_pictures(selection):
    mpl.use("Agg")
    display = selection.plot()
    assert display.names[: len(selection.features)]
    assert selection.plot("sizes").ax_ is not None
    with pytest.raises(InputError, match="choose 'frequency' or 'sizes'"):
        selection.plot("scores")
    mpl.pyplot.close("all")


def test_a_pipeline_to_go_on_with(iris, selection):
    X, y = iris
    pipeline = selection.to_pipeline(GaussianNB()).fit(X, y)
    twin = GaussianNB().fit(X[selection.features], y)
    np.testing.assert_array_equal(pipeline.predict(X), twin.predict(X[selection.features]))
    shuffled = X[X.columns[::-1]]
    np.testing.assert_array_equal(pipeline.predict(shuffled[X.columns]), pipeline.predict(X))
    by_place = fewer.select(X.to_numpy(), y, "knn-forward", cv=0, random_state=0)
    pipeline = by_place.to_pipeline(GaussianNB()).fit(X.to_numpy(), y)
    columns = [X.columns.get_loc(name) for name in selection.features]
    np.testing.assert_array_equal(pipeline.predict(X.to_numpy()), GaussianNB().fit(X.to_numpy()[:, columns], y).predict(
        X.to_numpy()[:, columns]
    ))  # fmt: skip


def test_text_and_lists_of_a_frame_are_left_out_with_a_note(iris):
    X, y = iris
    note = [f"the petal of flower {i} was measured on day {i * 3} by hand" for i in range(len(X))]
    selection = fewer.select(X.assign(note=note), y, "knn-forward", cv=0, random_state=0)
    assert selection.n_features == 4
    assert "'note' (free text)" in selection.warnings[0]


def test_columns_are_described_for_the_page(selection):
    columns = selection.data["columns"]
    assert [column["name"] for column in columns][:1] == ["sepal length (cm)"]
    assert columns[0]["values"] == "4.3 to 7.9"


def test_save_writes_the_reduced_table(iris, tmp_path, capsys):
    X, y = iris
    pl.from_pandas(X).with_columns(kind=pl.Series(y.to_numpy())).write_csv(tmp_path / "t.csv")
    arguments = ["select", str(tmp_path / "t.csv"), "-t", "-1", "-m", "knn-forward", "--folds", "0", "--json"]
    with pytest.raises(SystemExit) as leaving:
        main([*arguments, "--save", str(tmp_path / "small.parquet")])
    assert not leaving.value.code
    features = json.loads(capsys.readouterr().out)["features"]
    small = pl.read_parquet(tmp_path / "small.parquet")
    assert small.columns == [*features, "kind"]
    np.testing.assert_array_equal(small[features[0]].to_numpy(), X[features[0]].to_numpy())
    with pytest.raises(SystemExit) as leaving:
        main([*arguments, "--save", str(tmp_path / "t.csv")])
    assert leaving.value.code == 2
    assert "is the input table" in capsys.readouterr().err


def test_how_many_features_the_folds_selected_stands_with_the_score(selection):
    sizes = selection.heldout["fold_sizes"]
    assert len(sizes) == 5
    assert sum(sizes) == pytest.approx(5 * sum(selection.frequency.values()))
    other = replace(selection, heldout={**selection.heldout, "fold_sizes": [1, 3, 2, 1, 1]})
    assert "(5 folds, selection repeated in each: 1 to 3 features)" in other.scores
    assert "which selected 1 to 3 features each." in fewer.report.selection_report(other)
    same = replace(selection, heldout={**selection.heldout, "fold_sizes": [len(selection.features)] * 5})
    assert "(5 folds, selection repeated in each)" in same.scores


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.30, 0.90, "Not shown to predict better than knowing nothing: held-out accuracy is 0.33, and 0.30 to 0.90"),
        (0.10, 0.20, "Worse than knowing nothing: held-out accuracy is 0.33, and 0.10 to 0.20"),
        (0.90, 0.99, ""),
    ],
)
def test_the_verdict_says_whether_the_score_may_be_that_of_knowing_nothing(selection, low, high, said):
    told = replace(selection, heldout={**selection.heldout, "low": low, "high": high})
    assert (f"{said} (95 %) with the selected features." in told.verdict) == bool(said)
    assert ("knowing nothing" in told.verdict) == bool(said)


def test_a_long_answer_keeps_its_summary_short_and_counts_by_thousands(selection):
    names = [f"c{i}" for i in range(1200)]
    many = replace(
        selection, features=names, n_features=2000, stand_ins={name: ["d"] for name in names}, set_aside=names
    )
    text = "\n".join(many.summary())
    assert "Substitutes for c7: d." in text
    assert "Substitutes for c8:" not in text
    assert "Substitutes for 1,192 more: in stand_ins, in Python or with --json." in text
    assert "Not used because constant or empty: c0, c1, c2, c3, c4, c5, c6, c7 and 1,192 more." in text
    assert "1,200 of 2,000 features selected" in text
    assert "with all 2,000" in text


def test_a_model_that_was_given_is_not_told_to_its_giver(selection):
    told = replace(selection, prefer="balanced", judges={"chosen": "the given model", "all": "the given model"})
    assert told.how == "2 of 4 features selected automatically for your model"
    assert "model" not in told.verdict


def test_the_pipeline_takes_the_target_as_select_does():
    X, y = load_iris(return_X_y=True, as_frame=True)
    frame = X.assign(kind=y)
    selection = fewer.select(frame, "kind", cv=0, random_state=0)
    models = [selection.pipeline(*rows) for rows in ((X, y), (frame, "kind"), (X, y.to_frame()))]
    assert len({tuple(model.predict(X)) for model in models}) == 1
