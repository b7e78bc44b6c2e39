"""Any table in memory gives the answer that its numbers give as an array, through every public door."""

import json
import os
import subprocess
import sys
import textwrap
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.criteria import KNN
from fewer.rankers import Fisher
from fewer.report import selection_report
from fewer.search import Forward

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 30)
X = RNG.normal(size=(60, 4)).round(3)
X[:, 2] += 2 * Y
GAP = X.copy()
GAP[3, 1] = np.nan
CODES = np.where(RNG.random(60) < 0.5, 0.0, 1.0)
CODES[7] = np.nan
TEXTS = [None if np.isnan(code) else "uv"[int(code)] for code in CODES]
DAYS = RNG.integers(0, 900, 60)
NAMES = list("abcd")
FRAME = pd.DataFrame(X, columns=NAMES)
TEXT = pd.DataFrame(GAP, columns=NAMES).assign(t=TEXTS)
DATES = FRAME.assign(when=pd.Timestamp("1970-01-01") + pd.to_timedelta(DAYS, unit="D"))
WITH_CODES, WITH_DAYS = np.column_stack([GAP, CODES]), np.column_stack([X, DAYS])

DICTIONARY = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))

TABLES = {
    "integer names": (FRAME.set_axis(range(4), axis=1), X),
    "mixed names": (FRAME.set_axis(["a", 1, "c", 2.5], axis=1), X),
    "tuples": (FRAME.set_axis(pd.MultiIndex.from_product([["a", "b"], ["x", "y"]]), axis=1), X),
    "names that stand there twice": (FRAME.set_axis(["a", "a", "c", "c"], axis=1), X),
    "object with None": (TEXT.astype({"t": object}), WITH_CODES),
    "object with NaN": (TEXT.assign(t=pd.Series(TEXTS, dtype=object).fillna(np.nan)), WITH_CODES),
    "string": (TEXT.astype({"t": "string"}), WITH_CODES),
    "nullable": (TEXT.convert_dtypes(), WITH_CODES),
    "Arrow-backed": (TEXT.convert_dtypes(dtype_backend="pyarrow"), WITH_CODES),
    "categorical": (TEXT.astype({"t": "category"}), WITH_CODES),
    "datetime": (DATES, WITH_DAYS),
    "datetime with zone": (DATES.assign(when=DATES["when"].dt.tz_localize("UTC")), WITH_DAYS),
    "polars": (pl.from_pandas(FRAME), X),
    "polars text": (pl.from_pandas(TEXT), WITH_CODES),
    "pyarrow": (pa.Table.from_pandas(TEXT), WITH_CODES),
    "pyarrow names that stand there twice": (pa.table(list(X.T), names=["a", "a", "c", "d"]), X),
    "a batch of Arrow": (pa.RecordBatch.from_pandas(TEXT), WITH_CODES),
    "an Arrow dictionary": (
        TEXT.assign(t=pd.Series(pa.array(TEXTS).dictionary_encode(), dtype=DICTIONARY)),
        WITH_CODES,
    ),
    "masked cells": (np.ma.masked_array(np.nan_to_num(GAP, nan=500.0), mask=np.isnan(GAP)), GAP),
    "structured": (np.array([tuple(row) for row in X], dtype=[(name, float) for name in NAMES]), X),
    "records": (DATES.to_records(index=False), WITH_DAYS),
}


def scores(comparison):
    return [(row.name, row.score, row.low, row.high) for row in comparison.methods]


@pytest.fixture(params=TABLES, ids=str)
def tables(request):
    table, numbers = TABLES[request.param]
    # An array cannot say which column is nominal; a pandas frame of categories says so, and was always taken.
    return table, TEXT.astype({"t": "category"}) if numbers is WITH_CODES else numbers


def test_select_and_compare_answer_as_of_an_array(tables):
    table, plain = tables
    options = {"n_features_to_select": 2, "cv": 2, "random_state": 0}
    first, second = (fewer.select(X, Y, "fisher", **options) for X in (table, plain))
    assert first.support == second.support
    assert first.score_heldout == second.score_heldout
    first, second = (fewer.compare(X, Y, ["fisher"], ["tree"], **options) for X in (table, plain))
    assert scores(first) == scores(second)


@pytest.mark.parametrize(
    "selector",
    [
        fewer.RankSelector(Fisher(), n_features_to_select=2),
        fewer.SubsetSelector(KNN(), Forward(), random_state=0),
        fewer.AutoSelector(random_state=0),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_selectors_answer_as_of_an_array(tables, selector):
    table, plain = tables
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = selector.fit(plain, Y).support_.tolist()
        selector.fit(table, Y)
        assert selector.support_.tolist() == expected
        assert selector.transform(table).shape == (60, sum(expected))


@pytest.mark.parametrize("names", ["integer names", "mixed names", "tuples"])
def test_features_are_the_labels_of_the_frame(names):
    frame = TABLES[names][0]
    selection = fewer.select(frame, Y, "fisher", n_features_to_select=2, cv=2, random_state=0)
    pd.testing.assert_frame_equal(
        frame[selection.features][list(frame.columns[selection.support])], frame.loc[:, selection.support]
    )
    texts = ["_".join(label) if isinstance(label, tuple) else str(label) for label in selection.features]
    assert selection.names == texts == fewer.Selection.from_json(selection.to_json()).features
    assert texts[0] in selection.frequency
    for told in (str(selection), selection.to_markdown(), selection._repr_html_(), selection_report(selection)):
        assert all(text in told for text in texts)
    assert json.loads(selection.pipeline_json())["support"] == np.flatnonzero(selection.support).tolist()
    fitted = selection.to_pipeline(DecisionTreeClassifier(random_state=0)).fit(frame, Y)
    assert np.array_equal(fitted[0].transform(frame), X[:, selection.support])


def test_a_number_and_its_text_are_two_labels():
    frame = FRAME.set_axis(["1", "b", 1, "d"], axis=1)
    options = {"method": "fisher", "n_features_to_select": 1, "cv": 0}
    assert [type(label) for label in fewer.select(frame, Y, **options).features] == [int]


def test_doubles_are_reported():
    options = {"method": "fisher", "n_features_to_select": 1, "cv": 0}
    twice = fewer.select(FRAME.set_axis(["a", "c", "c", "a"], axis=1), Y, **options)
    assert twice.features == ["c (2)"]
    assert "2 columns are named 'c'; the others are called 'c (2)'; rename them in your table." in twice.warnings


LABELS = np.where(Y == 1, "yes", "no")
HOLE = np.arange(60) == 3


@pytest.mark.parametrize(
    "target",
    [
        pa.array(LABELS.tolist()),
        pa.chunked_array([LABELS.tolist()]),
        pd.Series(LABELS, index=np.arange(60)[::-1], dtype="string"),
        pd.Categorical(LABELS, categories=["unused", "yes", "no"]),
        pl.Series(LABELS.tolist(), dtype=pl.Categorical),
        sparse.csr_matrix(Y[:, None]),
        [Decimal(int(code)) for code in Y],
    ],
    ids=lambda target: type(target).__name__,
)
def test_a_target_of_any_kind(target):
    expected = fewer.select(X, Y, "fisher", n_features_to_select=1, cv=2, random_state=0)
    found = fewer.select(X, target, "fisher", n_features_to_select=1, cv=2, random_state=0)
    assert (found.support, found.score_heldout) == (expected.support, expected.score_heldout)
    if not sparse.issparse(target):  # scikit-learn's check of targets refuses one
        assert fewer.RankSelector(Fisher(), n_features_to_select=1).fit(X, target).support_.tolist() == found.support


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (pd.Series(LABELS, dtype="string").mask(HOLE), "The target is missing in row 3"),
        (np.where(HOLE, np.nan, LABELS.astype(object)), "The target is missing in row 3"),
        (np.ma.masked_array(Y, mask=HOLE), "The target is missing in row 3"),
        ([None] * 60, "The target is missing in row 0 and 59 more"),
        (pd.period_range("2020", periods=60, freq="M"), "The target holds Period values"),
    ],
)
def test_an_odd_target_is_refused_in_the_same_words_everywhere(target, said):
    for fit in (fewer.RankSelector(Fisher()).fit, fewer.AutoSelector().fit, fewer.select):
        for table in (X, FRAME):
            with pytest.raises(fewer.InputError, match=f"^{said}"):
                fit(table, target)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"groups": pd.Series(LABELS, dtype="string").mask(HOLE)}, "groups has no value in row 3"),
        ({"groups": np.ma.masked_array(np.arange(60) % 9, mask=HOLE)}, "groups has no value in row 3"),
        ({"time": pd.Series(np.arange(60), dtype="Int64").mask(HOLE)}, "time has no value in row 3"),
        ({"sample_weight": np.ma.masked_array(1.0 + Y, mask=HOLE)}, "Row weights must be finite|.*contains NaN"),
    ],
)
def test_a_hole_in_what_belongs_to_the_rows_is_refused(rows, said):
    for fit in (fewer.RankSelector(Fisher()).fit, fewer.select):
        with pytest.raises(fewer.InputError, match=f"^({said})"):
            fit(X, Y, **rows)


@pytest.mark.parametrize("target", [set(range(60)), dict.fromkeys(range(60), 1)])
def test_a_target_without_an_order_is_refused(target):
    with pytest.raises(fewer.InputError, match="give one value for each row, in their order"):
        fewer.select(X, target)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_target_by_its_name(library):
    frame = FRAME.assign(outcome=np.where(Y == 1, "yes", "no"))
    frame = frame if library == "pandas" else pl.from_pandas(frame)
    options = {"n_features_to_select": 1, "cv": 2, "random_state": 0}
    assert fewer.select(frame, "outcome", "fisher", **options).features == ["c"]
    named = fewer.compare(frame, "outcome", ["fisher"], ["tree"], **options)
    assert scores(named) == scores(fewer.compare(X, Y, ["fisher"], ["tree"], **options))
    with pytest.raises(fewer.InputError, match="did you mean 'outcome'"):
        fewer.select(frame, "outcom", "fisher")
    with pytest.raises(fewer.InputError, match="X is not a data frame"):
        fewer.select(X, "outcome", "fisher")


def test_a_forked_child_answers_after_its_parent():
    code = """
        import multiprocessing, sys
        import numpy as np
        import fewer

        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], 40)
        X = rng.normal(size=(80, 4)) + 2 * y[:, None] * [0, 0, 1, 0]

        def choose(method):
            return fewer.select(X, y, method, cv=2, random_state=0).features

        if __name__ == "__main__":
            before = [choose("fisher"), choose("auto")]
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(choose, ["fisher", "auto"]) == before
            assert "polars" not in sys.modules
            print(before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], timeout=60, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[['x2'")
