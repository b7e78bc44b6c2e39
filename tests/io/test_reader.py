import re
import warnings
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import fewer
from fewer.errors import FewerWarning
from fewer.io import features_of, infer_task, is_frame, read_table, to_problem
from fewer.problem import InputError
from fewer.rankers import FTest

SIZES = [1.5, None, 2.0, -3.0, 4.25, 0.0, 1.0, 9.0, 2.5, 7.0, 6.0]
COLORS = ["red", "blue", None, "red", "green", "blue", "red", "red", "blue", "green", "red"]
FLAGS = [True, False, True, True, None, False, True, False, False, True, True]
COUNTS = [10, 2, 1, 2, 10, 1, 2, 10, 2, 1, 1]
LABELS = ["no", "yes", "no", "yes", "no", "yes", "no", "no", "yes", "yes", "no"]


def same(one, other, *, names=True):
    assert one.X.dtype == other.X.dtype == np.float64
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    assert one.y.dtype == other.y.dtype
    assert (one.kinds, one.levels, one.task) == (other.kinds, other.levels, other.task)
    assert [(type(c), c) for c in one.classes] == [(type(c), c) for c in other.classes]
    if names:
        assert one.names == other.names
        assert one.notes == other.notes


def polars_frame():
    return pl.DataFrame({"size": SIZES, "color": COLORS, "flag": FLAGS, "count": COUNTS})


def test_kinds_levels_and_holes_are_recorded_and_nothing_else_changes():
    problem = to_problem(polars_frame(), LABELS)
    assert problem.kinds == ("numeric", "nominal", "boolean", "numeric")
    assert problem.levels == {1: ("blue", "green", "red")}
    assert problem.classes == ("no", "yes")
    np.testing.assert_array_equal(problem.X[:, 0], np.array(SIZES, dtype=float))
    np.testing.assert_array_equal(problem.X[:, 1], [2, 0, np.nan, 2, 1, 0, 2, 2, 0, 1, 2])
    np.testing.assert_array_equal(problem.X[:, 2], np.array(FLAGS, dtype=float))
    np.testing.assert_array_equal(problem.y, [label == "yes" for label in LABELS])
    assert problem.X.flags.c_contiguous


@pytest.mark.parametrize("nominal", [(), ("count",)])
@pytest.mark.parametrize(
    "frame",
    [
        polars_frame,
        lambda: polars_frame().with_columns(pl.col("color").cast(pl.Categorical)),
        lambda: polars_frame().with_columns(pl.col("color").cast(pl.Enum(["red", "green", "blue", "unused"]))),
        lambda: polars_frame().with_columns(pl.col("size").cast(pl.Decimal(10, 2)), pl.col("count").cast(pl.Float32)),
        lambda: polars_frame().to_pandas(),
        lambda: polars_frame().to_pandas(use_pyarrow_extension_array=True),
        lambda: polars_frame().to_pandas().convert_dtypes(),
        lambda: pd.DataFrame({"size": SIZES, "color": COLORS, "flag": FLAGS, "count": COUNTS}, dtype=object),
        lambda: polars_frame().to_pandas().assign(color=pd.Categorical(COLORS)),
        lambda: polars_frame().to_arrow(),
    ],
    ids=[
        "polars",
        "categorical",
        "enum",
        "decimal",
        "pandas",
        "arrow-backed",
        "nullable",
        "object",
        "category",
        "arrow",
    ],
)
def test_every_frame_gives_the_same_problem(frame, nominal):
    same(to_problem(frame(), LABELS, nominal=nominal), to_problem(polars_frame(), LABELS, nominal=nominal))


def test_lists_and_object_arrays_give_the_same_problem_as_frames():
    rows = polars_frame().rows()
    expected = to_problem(polars_frame(), LABELS)
    same(to_problem([list(row) for row in rows], LABELS), expected, names=False)
    same(to_problem(np.array(rows, dtype=object), LABELS), expected, names=False)
    assert to_problem([list(row) for row in rows], LABELS).names == ("x0", "x1", "x2", "x3")


def test_an_array_of_text_is_read_like_a_text_file():
    text = np.array([["1.5", "red", "true"], ["NA", "blue", "false"], ["2", "", "true"]])
    problem = to_problem(text, [0, 1, 0])
    assert problem.kinds == ("numeric", "nominal", "boolean")
    np.testing.assert_array_equal(problem.X, [[1.5, 1, 1], [np.nan, 0, 0], [2, np.nan, 1]])


def test_sparse_and_dense_arrays_of_any_number_type_agree():
    dense = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3]])
    expected = to_problem(dense.astype(float), [0, 1, 0])
    for array in (
        dense,
        dense.astype(np.float32),
        dense.tolist(),
        sp.csr_array(dense),
        sp.csc_matrix(dense),
        sp.coo_array(dense),
    ):
        same(to_problem(array, [0, 1, 0]), expected)


def test_a_wide_sparse_table_passes_with_one_copy():
    import tracemalloc

    table = sp.random(1000, 10_000, 0.01, format="csr", random_state=0)
    y = np.arange(1000) % 2
    tracemalloc.start()
    problem = to_problem(table, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.25 * problem.X.nbytes
    assert problem.X.sum() == pytest.approx(table.sum())


# ------------------------------------------------------------------------------------------------- overruled


def test_nominal_overrules_numbers_with_levels_in_the_order_of_numbers():
    problem = to_problem(polars_frame(), LABELS, nominal=["count"])
    assert problem.kinds[3] == "nominal"
    assert problem.levels[3] == ("1", "2", "10")
    np.testing.assert_array_equal(problem.X[:, 3], [2, 1, 0, 1, 2, 0, 1, 2, 1, 0, 0])
    same(to_problem(polars_frame(), LABELS, nominal=[3]), problem)


def test_truth_values_named_as_nominal_have_the_same_levels_everywhere(tmp_path):
    frame = pl.DataFrame({"f": [True, False, None, True], "g": [1.0, 2.0, 3.0, 4.0]})
    frame.with_columns(y=pl.Series([0, 1, 1, 0])).write_csv(tmp_path / "t.csv")
    expected = to_problem(frame, [0, 1, 1, 0], nominal=["f"])
    assert expected.levels == {0: ("false", "true")}
    same(to_problem(frame.to_pandas(), [0, 1, 1, 0], nominal=["f"]), expected)
    same(read_table(tmp_path / "t.csv", "y", nominal=["f"]), expected)


def test_numeric_overrules_text_and_categories():
    frame = pl.DataFrame({"a": ["1", "2.5", None], "b": [1, 2, 3]})
    assert to_problem(frame, [0, 1, 0]).kinds == ("nominal", "numeric")
    problem = to_problem(frame, [0, 1, 0], numeric=["a"])
    assert problem.kinds == ("numeric", "numeric")
    np.testing.assert_array_equal(problem.X[:, 0], [1, 2.5, np.nan])
    flags = to_problem(pl.DataFrame({"f": [True, False, True]}), [0, 1, 0], numeric=["f"])
    assert flags.kinds == ("numeric",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nominal": ["colour"]}, "nominal names 'colour', not a feature; did you mean 'color'?"),
        (
            {"nominal": ["z"]},
            "nominal names 'z', not a feature; the columns are 'size', 'color', 'flag', 'count'.",
        ),
        ({"nominal": [9]}, "nominal names feature 9, but features go from 0 to 3."),
        ({"nominal": ["size"], "numeric": ["size"]}, "Column 'size' is both nominal and numeric; choose one."),
        (
            {"numeric": ["color"]},
            "Column 'color' is declared numeric, but row 0 is 'red'; correct or clear the cell.",
        ),
    ],
)
def test_choices_that_fit_no_column_are_refused(options, message):
    with pytest.raises(InputError) as error:
        to_problem(polars_frame(), LABELS, **options)
    assert str(error.value) == message


# ----------------------------------------------------------------------------------------------------- dates


def test_dates_count_as_days_in_every_frame():
    days = [date(1970, 1, 2), date(2026, 1, 31), None]
    moments = [datetime(1970, 1, 1, 12), datetime(2026, 1, 31, 6, 0, 0), None]
    spans = [timedelta(hours=36), timedelta(days=-1), None]
    frame = pl.DataFrame({"d": days, "m": moments, "s": spans})
    expected = [[1, 0.5, 1.5], [20484, 20484.25, -1], [np.nan] * 3]
    for table in (frame, frame.to_pandas(), pd.DataFrame({"d": days, "m": moments, "s": spans}, dtype=object)):
        problem = to_problem(table, [0, 1, 0])
        np.testing.assert_array_equal(problem.X, expected)
        assert problem.kinds == ("numeric",) * 3
        assert problem.notes == ("Columns 'd', 'm' hold dates, used as days since 1970-01-01.",)


@pytest.mark.parametrize("how", [list, pl.Series, lambda spans: pd.Series(spans, dtype="timedelta64[us]")])
def test_durations_as_a_target_are_days_as_they_are_in_a_column(how):
    spans = [timedelta(hours=36), timedelta(days=-1), timedelta(days=2.25), timedelta(0)]
    problem = to_problem([[1.0], [2.0], [3.0], [4.0]], how(spans))
    assert (problem.task, problem.y.tolist()) == ("regression", [1.5, -1.0, 2.25, 0.0])


def test_times_with_a_zone_are_compared_as_moments():
    moments = pl.Series([datetime(2026, 1, 1), datetime(2026, 7, 1)]).dt.replace_time_zone("Europe/Berlin")
    problem = to_problem(pl.DataFrame({"m": moments}), [0, 1])
    assert np.diff(problem.X[:, 0])[0] == pytest.approx(181 - 1 / 24)
    objects = pd.DataFrame({"m": moments.to_list()}, dtype=object)
    np.testing.assert_array_equal(to_problem(objects, [0, 1]).X, problem.X)


# ---------------------------------------------------------------------------------------------------- target


@pytest.mark.parametrize(
    ("y", "task", "classes"),
    [
        ([0, 1, 1, 0], "classification", (0, 1)),
        ([0.0, 1.0, 1.0, 0.0], "classification", (0, 1)),
        ([True, False, True, True], "classification", (False, True)),
        (["b", "a", "a", "b"], "classification", ("a", "b")),
        (np.array(["b", "a", "a", "b"], dtype=object), "classification", ("a", "b")),
        (pd.Series(["b", "a", "a", "b"], dtype="category"), "classification", ("a", "b")),
        (pl.Series([2, 1, 1, 2], dtype=pl.UInt8), "classification", (1, 2)),
        (pd.Series([2, 1, 1, 2], dtype="Int64"), "classification", (1, 2)),
        (pl.DataFrame({"y": ["b", "a", "a", "b"]}), "classification", ("a", "b")),
        (np.array([[2], [1], [1], [2]]), "classification", (1, 2)),
        (["1", 2, 2, "1"], "classification", ("1", "2")),
        ([0.5, 1.5, 0.5, 1.5], "regression", ()),
        ([Decimal("0.5"), Decimal(1), Decimal(2), Decimal(3)], "regression", ()),
        ([date(2026, 1, day) for day in (1, 2, 3, 4)], "classification", None),
    ],
)
def test_targets_of_every_kind(y, task, classes):
    X = [[0.0], [1.0], [2.0], [3.0]]
    if classes is None:
        assert to_problem(X, y, task="regression").y.tolist() == [20454, 20455, 20456, 20457]
        return
    problem = to_problem(X, y)
    assert problem.task == task
    assert [(type(c), c) for c in problem.classes] == [(type(c), c) for c in classes]


def test_the_task_is_inferred_and_can_be_overruled():
    assert infer_task(np.arange(20)) == "classification"
    assert infer_task(np.arange(21)) == "regression"
    assert infer_task(np.array(["a"])) == "classification"
    X = np.arange(30.0)[:, None]
    y = np.arange(30) % 3
    assert to_problem(X, y).task == "classification"
    assert to_problem(X, y, task="regression").y.dtype == np.float64
    assert to_problem(X, y + 0.5, task="classification").classes == (0.5, 1.5, 2.5)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[1], [2]], [1, None], {}, "The target is missing in row 1; fill the cell or delete the row."),
        ([[1], [2]], [np.nan] * 2, {}, "The target is missing in row 0 and 1 more; fill the cell or delete the row."),
        ([[1], [2]], pd.Series(["a", None]), {}, "The target is missing in row 1; fill the cell or delete the row."),
        ([[1], [2]], [1.0, np.inf], {}, "The target is infinite in row 1; correct the cell, or delete the row."),
        (
            [[1], [1e200]],
            [0, 1],
            {},
            "Column 'x0' is 1e+200, too large to compute with, in row 1; correct the cell, or clear it if unknown.",
        ),
        (
            [[-1e308], [1e308]],
            [0, 1],
            {},
            "Column 'x0' is -1e+308, too large to compute with, in row 0; correct the cell, or clear it if unknown.",
        ),
        ([[1], [2]], ["a", "a"], {}, "The target has only one class, 'a'; at least two are needed."),
        ([[1], [2]], [0.5, 0.5], {}, "The target has only one value, 0.5; choose another target."),
        (
            [[1], [2], [3]],
            ["a", "b", "c"],
            {},
            "The target has 3 classes in 3 rows, one per row; choose another target, or task regression if it is "
            "numeric.",
        ),
        (
            [[1], [2], [3]],
            ["a", "b", "a"],
            {"task": "regression"},
            "The target holds text (row 0: 'a'), not numbers; choose task classification.",
        ),
        ([[1], [2], [3]], [0, 1], {}, "The target has 2 rows, but the table has 3; give one for each row."),
        ([[1], [2]], np.eye(2), {}, "The target has 2 dimensions; give one value for each row."),
        ([[1], [2]], [{"a": 1}, 2], {}, "The target holds dict values; numbers, booleans or text are needed."),
        (
            [[1, np.inf], [2, 0]],
            [0, 1],
            {},
            "Column 'x1' is infinite in row 0; correct the cell, or clear it if unknown.",
        ),
        ([[1, 2], [1, 2]], [0, 1], {}, "Every column is constant or empty; at least one must vary."),
        ([[None, 2], [None, 2]], [0, 1], {}, "Every column is constant or empty; at least one must vary."),
        ([1, 2], [0, 1], {}, "X has 1 dimension; it must be two-dimensional."),
        (
            pl.LazyFrame({"a": [1, 2]}),
            [0, 1],
            {},
            "The table is a lazy polars frame, not loaded yet; pass X.collect() instead of X.",
        ),
        ([[1, 2], [3]], [0, 1], {}, "Row 1 of X has 1 cells, but row 0 has 2; give equal rows."),
        (np.empty((2, 0)), [0, 1], {}, "The table has only the target column; there is nothing to select."),
        (np.empty((0, 2)), [], {}, "The table has no rows; give a table with rows."),
        (
            np.ones((2, 2), dtype=complex),
            [0, 1],
            {},
            "X has dtype complex128; numbers, booleans or text are needed.",
        ),
        (
            pl.DataFrame({"a": [[1], [2]]}),
            [0, 1],
            {},
            "Column 'a' holds List(Int64) values; convert them to numbers or text, or drop it.",
        ),
        (
            pd.DataFrame({"a": [(1,), (2,)]}),
            [0, 1],
            {},
            "Column 'a' holds tuple values; convert them to numbers or text, or drop it.",
        ),
    ],
)
def test_refusals_name_the_place_and_the_cure(X, y, options, message):
    with pytest.raises(InputError) as error:
        to_problem(X, y, **options)
    assert str(error.value) == message


# ----------------------------------------------------------------------------------------------------- notes


def test_identifiers_draw_a_note_and_ordinary_columns_do_not():
    rng = np.random.default_rng(0)
    n = 30
    frame = pl.DataFrame(
        {
            "patient": rng.permutation(n) + 1000,
            "code": [f"p{i}" for i in range(n)],
            "customer_id": rng.permutation(10 * n)[:n],
            "weight": rng.normal(size=n),
            "price": rng.permutation(10 * n)[:n],
            "color": ["red", "blue", "green"] * (n // 3),
        }
    )
    notes = to_problem(frame, np.arange(n) % 2).notes
    assert notes == tuple(
        f"{name!r} looks like an identifier: it has a different value in every row. Exclude it."
        for name in ("patient", "code", "customer_id")
    )
    assert to_problem(frame[:9], np.arange(9) % 2).notes == ()


def test_constant_and_empty_columns_come_through_and_are_set_aside_later():
    frame = pl.DataFrame({"a": [1.0, 2, 3, 9, 8, 7], "one": [1] * 6, "void": [None] * 6})
    problem = to_problem(frame, [0, 0, 0, 1, 1, 1])
    assert problem.kinds == ("numeric",) * 3
    assert problem.constant.tolist() == [False, True, True]
    selector = fewer.SubsetSelector(random_state=0).fit(frame, [0, 0, 0, 1, 1, 1])
    assert selector.set_aside_.tolist() == [1, 2]


def test_a_table_of_five_rows_passes():
    problem = to_problem([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0], [4.0, 2.0], [5.0, 1.0]], ["a", "a", "b", "b", "b"])
    assert (problem.n_samples, problem.classes) == (5, ("a", "b"))


def test_is_frame():
    assert is_frame(polars_frame())
    assert is_frame(polars_frame().to_pandas())
    assert not is_frame(np.eye(2))
    assert not is_frame([[1]])
    assert not is_frame(sp.eye_array(2).tocsr())


# ------------------------------------------------------------------------------------------------ selections


def test_pandas_polars_and_numpy_give_identical_selections():
    X, y = fewer.datasets.load("cleve").X, fewer.datasets.load("cleve").y
    answers = []
    for table in (X, X.to_pandas(), X.with_columns(pl.col(pl.String).cast(pl.Categorical))):
        selector = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0).fit(table, y)
        answers.append((selector.support_.tolist(), selector.score_))
    assert answers[0] == answers[1] == answers[2]
    numbers = fewer.datasets.load("glass")
    supports = [
        fewer.SubsetSelector(random_state=0).fit(table, numbers.y).support_.tolist()
        for table in (numbers.X, numbers.X.to_pandas(), numbers.X.to_numpy(), sp.csr_array(numbers.X.to_numpy()))
    ]
    assert all(support == supports[0] for support in supports)


def test_frames_that_are_not_there_yet_are_refused_with_the_cure():
    import dask.dataframe as dd
    import duckdb

    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    for lazy, cure in {
        duckdb.from_df(table): "a DuckDB relation, not loaded yet; pass X.pl()",
        dd.from_pandas(table, npartitions=1): "a Dask frame, not loaded yet; pass X.compute()",
    }.items():
        with pytest.raises(InputError, match=re.escape(cure)):
            fewer.SubsetSelector().fit(lazy, [0, 1, 0, 1])
    frame = dd.from_pandas(table.assign(y=[0, 1, 0, 1]), npartitions=2)
    with pytest.raises(InputError, match=r"a Dask frame, not loaded yet; pass X.compute\(\)"):
        fewer.SubsetSelector().fit(frame[["a"]], frame["y"])


def test_numbers_as_text_are_read_when_named_as_numeric():
    frame = pl.DataFrame({"price": ["$1,188", "$987", None]})
    problem = to_problem(frame, [0, 1, 0], numeric=["price"])
    np.testing.assert_array_equal(problem.X[:, 0], [1188, 987, np.nan])


def test_text_of_numbers_in_a_frame_draws_a_note():
    rng = np.random.default_rng(0)
    number = rng.normal(size=60).round(3).astype(str)
    frame = pd.DataFrame({"a": number, "b": np.where(np.arange(60) == 3, "?", number)})
    problem = to_problem(frame, np.arange(60) % 2)
    told = "Columns 'a', 'b' are text that holds numbers, used as levels; convert quantities to numbers."
    assert problem.notes == (told,)  # and no identifier
    zips = [f"{code:05}" for code in rng.integers(0, 99_999, 60)]
    codes = pd.DataFrame({"zip": zips, "month": rng.integers(1, 13, 60).astype(str), "meant": pd.Categorical(number)})
    assert not any("holds numbers" in note for note in to_problem(codes, np.arange(60) % 2).notes)
    assert to_problem(frame, np.arange(60) % 2, nominal=["a", "b"]).notes == ()


def test_a_level_never_seen_passes_through_transform():
    X = pl.DataFrame({"color": ["red", "blue"] * 10, "noise": [float(i * 7 % 5) for i in range(20)]})
    y = ["a", "b"] * 10
    selector = fewer.SubsetSelector(random_state=0, n_features_to_select=1).set_output(transform="polars").fit(X, y)
    new = pl.DataFrame({"color": ["violet", None, "red"], "noise": [1.0, 2.0, 3.0]})
    assert selector.transform(new).to_dict(as_series=False) == {"color": ["violet", None, "red"]}


def test_a_level_never_seen_is_equal_to_none():
    problem = to_problem(pl.DataFrame({"c": ["red", "red", "blue", "blue"], "x": [0.0, 1.0, 0.0, 1.0]}), [0, 0, 1, 1])
    scorer = fewer.criteria.KNN(cv="loo").bind(problem, np.random.default_rng(0), fewer.contracts.Resources())
    mask = np.array([True, False])
    unseen = np.array([[2.0, 0.0]])
    seen = np.array([[0.0, 0.0]])
    assert scorer.predict(mask, seen).argmax() == 1
    # Equally far from every row, so that it says no more than the class shares do.
    np.testing.assert_allclose(scorer.predict(mask, unseen)[0], [0.5, 0.5], atol=1e-6)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e9, 1e9)),
            st.one_of(st.none(), st.sampled_from(["a", "b", "ü"])),
            st.one_of(st.none(), st.booleans()),
            st.sampled_from(["x", "y"]),
        ),
        min_size=4,
        max_size=12,
    )
)
def test_frames_agree_on_any_table(rows):
    columns = list(zip(*rows, strict=True))
    schema = {"a": pl.Float64, "b": pl.String, "c": pl.Boolean}
    frame = pl.DataFrame(dict(zip("abc", columns[:3], strict=True)), schema=schema)
    outcomes = []
    for table in (frame, frame.to_pandas(), frame.to_arrow()):
        try:
            outcomes.append(to_problem(table, list(columns[3])))
        except InputError as error:
            outcomes.append(str(error))
    if isinstance(outcomes[0], str):
        assert outcomes[0] == outcomes[1] == outcomes[2]
        return
    for other in outcomes[1:]:
        # A frame without any truth value or text no longer knows what its empty column was of.
        empty = [i for i, column in enumerate(columns[:3]) if all(cell is None for cell in column)]
        np.testing.assert_array_equal(outcomes[0].X, other.X)
        kinds = zip(outcomes[0].kinds, other.kinds, strict=True)
        assert all(one == two for i, (one, two) in enumerate(kinds) if i not in empty)


N = 40
COLUMNS = {
    "a": [float(i % 7) for i in range(N)],
    "color": ["red", "blue"] * (N // 2),
    "code": [f"{i:08x}-{i * 7919:08x}" for i in range(N)],
    "note": [f"the customer called {i} times about the price of {i * 3} things" for i in range(N)],
    "list": [[i, i + 1] for i in range(N)],
}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, lambda c: pl.DataFrame(c).to_arrow()])
def test_what_is_no_feature_is_left_out_with_a_note(make):
    kept, notes = features_of(make(COLUMNS))
    names = kept.column_names if hasattr(kept, "column_names") else list(kept.columns)
    assert names == ["a", "color"]
    assert notes == [
        "Not used as features: 'code' (nearly all values unique), 'note' (free text). Make it categorical to keep it.",
        "Not used as features: 'list' (nested lists). To use one, write what it holds as columns of numbers or text.",
    ]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_whole_numbers_that_become_equal_are_named(make):
    y, places = np.arange(N) % 2, np.arange(N)
    long = {"code": 2**53 + places, "even": 2**53 + 2 * places, "size": 2.0**60 + places}
    notes = to_problem(make(long), y).notes
    assert notes[0] == (
        "Column 'code' holds whole numbers of more than 15 digits, some of which became equal; make codes text."
    )
    assert not any("15 digits" in note for note in notes[1:])


def test_what_was_meant_and_what_is_no_frame_stay():
    frame = pl.DataFrame(COLUMNS).select("a", pl.col("code").cast(pl.Categorical))
    assert features_of(frame)[0] is frame
    array = np.eye(3)
    assert features_of(array) == (array, [])
    only = pl.DataFrame({"code": COLUMNS["code"]})
    assert features_of(only)[0] is only


def notes_of(X, codes, file, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerWarning)
        selector = fewer.AutoSelector(budget=0.1, cv=2, random_state=0, **given).fit(X, codes)
    return [
        to_problem(X, codes, **given).notes,
        selector.notes_,
        fewer.io.open_stream(file, "label", **given).like.notes,
    ]


def test_whole_numbers_that_may_be_classes_draw_a_note_that_names_the_count(tmp_path):
    codes = np.tile(np.arange(26), 10)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(260, 2)), columns=["a", "b"])
    file = tmp_path / "t.csv"
    X.assign(label=codes).to_csv(file, index=False)
    note = (
        "The target has 26 different whole numbers, read as a quantity. If they are classes, say so: "
        'task="classification" (--task classification).'
    )
    assert all(note in notes for notes in notes_of(X, codes, file))
    assert not any(note in notes for notes in notes_of(X, codes, file, task="regression"))
    for few in (codes % 10, codes / 2, np.arange(260)):
        assert not any("whole numbers" in line for line in to_problem(X, few).notes)
    X.assign(label=codes % 18).to_csv(file, index=False)
    grades = (
        "The target has 18 different whole numbers, read as classes. If it is a quantity, say so: "
        'task="regression" (--task regression).'
    )
    readers = (to_problem(X, codes % 18), read_table(file, "label"), fewer.io.open_stream(file, "label").like)
    assert all(grades in problem.notes for problem in readers)
    assert grades not in to_problem(X, codes % 18, task="classification").notes


def test_classes_that_differ_in_capital_letters_only_are_named():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.array(["Yes", "no", "yes"] * 20)
    note = "Classes 'Yes', 'yes' differ only in capital letters; write them alike if they are the same."
    assert note in to_problem(X, y).notes
    assert not any("capital" in line for line in to_problem(X, np.char.lower(y)).notes)
    with pytest.raises(InputError, match=r"write classes that are the same alike \('Yes', 'yes'\), or drop rare"):
        fewer.select(X[:13], ["Yes", *["no", "yes"] * 6], "fisher")


@pytest.mark.parametrize("kind", [lambda y: y, lambda y: y.to_frame(), lambda y: y.astype(object)])
def test_a_target_in_another_order_is_refused_and_the_cure_works(kind):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"), index=range(100, 160))
    right = pd.Series(np.where(X["a"] > 0, "yes", "no"), index=X.index, name="label")
    y = kind(right.sample(frac=1, random_state=0))
    ways = [
        lambda y: fewer.select(X, y, "fisher", n_features_to_select=1, cv=2).features,
        lambda y: fewer.RankSelector(FTest(), n_features_to_select=1).fit(X, y).get_feature_names_out().tolist(),
    ]
    for select in ways:
        with pytest.raises(InputError, match=r"labels of the table in another order; give y\.loc\[X\.index\]"):
            select(y)
        assert select(np.ravel(y.loc[X.index].to_numpy())) == ["a"]
        assert select(y.loc[X.index].squeeze()) == ["a"]
        select(np.ravel(y.to_numpy()))
        select(pd.Series(np.ravel(y.to_numpy())))  # with other labels, position counts
