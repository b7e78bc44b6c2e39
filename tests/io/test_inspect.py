import json

import numpy as np
import polars as pl
import pytest

from fewer.errors import InputError
from fewer.io import Schema, TableError, describe_columns, inspect_table, read_table, to_problem
from fewer.io._files import understand_table
from messy import N, make_messy

TEXT = 'price,day,zip,note,y\n"1,188",1/2/2026,01067,a,0\n"2,345",3/4/2026,00001,b,1\n"9,876",5/6/2026,01067,a,1\n'


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    return tmp_path / "t.csv"


def test_what_was_understood_comes_back(table, tmp_path):
    understood = understand_table(table, "y").understood
    schema = Schema(understood.readings, ("", "NA"))
    (tmp_path / "s.json").write_text(schema.to_json())
    assert Schema.from_json(schema.to_json()).to_json() == schema.to_json()
    one, other = read_table(table, "y"), read_table(table, "y", schema=tmp_path / "s.json")
    np.testing.assert_array_equal(one.X, other.X)
    assert (one.kinds, one.levels) == (other.kinds, other.levels)


def test_a_corrected_schema_is_obeyed(table, tmp_path):
    text = Schema(understand_table(table, "y").understood.readings).to_json()
    text = text.replace('"thousands": ","', '"decimal": ","').replace("day-month-year", "month-day-year")
    text = text.replace('"note": {"kind": "nominal"}', '"note": {"kind": "left out", "reason": "secret"}')
    (tmp_path / "s.json").write_text(text)
    problem = read_table(table, "y", schema=tmp_path / "s.json")
    assert problem.names == ("price", "day", "zip")
    np.testing.assert_array_equal(problem.X[:, 0], [1.188, 2.345, 9.876])
    assert problem.X[0, 1] == 20455
    assert "'note' (secret)" in " ".join(problem.notes)


def test_cells_that_break_a_schema_are_listed(table, tmp_path):
    schema = Schema(understand_table(table, "y").understood.readings)
    table.write_text(TEXT.replace("5/6/2026", "5/16/2026").replace("9,876", "9 876"))
    with pytest.raises(TableError) as error:
        read_table(table, "y", schema=schema)
    assert [p.column for p in error.value.problems] == ["price", "day"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "s.json is not JSON"),
        ("[]", "s.json has no 'columns'"),
        ('{"columns": {"a": {"kind": "number"}}}', "s.json, 'a': 'kind' must be one of numeric, nominal"),
        ('{"columns": {"a": {"kind": "date", "order": "x"}}}', "'order' must be one of year-month-day"),
        ('{"columns": {"a": {"kind": "numeric", "decimal": ";"}}}', "'decimal' is . or a comma"),
        ('{"columns": {"a": {"kind": "numeric", "thousands": "."}}}', "cannot both be"),
        ('{"columns": {"a": {"kind": "nominal", "order": 1}}}', "'order' is not known for nominal columns"),
        ('{"columns": {}, "missing": 5}', "'missing' must be a list of texts"),
    ],
)
def test_a_schema_that_is_none_is_refused(table, tmp_path, text, message):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(table, "y", schema=tmp_path / "s.json")


def test_a_schema_that_is_not_there(table):
    with pytest.raises(InputError, match="cannot be read"):
        read_table(table, "y", schema="nowhere.json")


def test_columns_that_the_table_lacks_draw_a_note(table):
    schema = Schema(understand_table(table, "y").understood.readings)
    table.write_text(TEXT.replace("note", "remark"))
    problem = read_table(table, "y", schema=schema)
    assert problem.notes[0] == "The schema names columns that t.csv does not have: 'note'."
    assert problem.names == ("price", "day", "zip", "remark")


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    path = tmp_path_factory.mktemp("inspect") / "customers.csv"
    path.write_text(make_messy()[0], encoding="utf-8")
    return path


def test_every_column_is_told_of(messy):
    found = inspect_table(messy, "churn")
    columns = {column.name: column for column in found.columns}
    assert found.n_rows == N
    assert columns["churn"].role == "target"
    assert {name for name, column in columns.items() if column.role == "left out"} == {
        "customer",
        "height",
        "comment",
        "tags",
        "visited",
        "member",
        "price",
    }
    assert columns["income"].note == "commas between thousands"
    assert columns["rare"].missing == pytest.approx(1 - 7 / N)
    assert columns["plan"].distinct == 3
    assert columns["zip"].kind == "nominal"
    assert found.notes == list(read_table(messy, "churn").notes[: len(found.notes)])
    assert not found.problems
    assert found.to_frame().height == len(columns)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_fits_between_the_edges_and_hides_no_column(messy, width):
    found = inspect_table(messy, "churn")
    lines = found.to_text(width).split("\n\n")[1].splitlines()
    assert len(lines) == 1 + len(found.columns)
    assert max(map(len, lines)) <= width


def test_problems_are_listed_and_not_raised(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(30)) + "abc,\n")
    found = inspect_table(tmp_path / "t.csv", "y")
    assert [problem.column for problem in found.problems] == ["a", "y"]
    assert json.loads(found.to_json())["problems"][0]["cell"] == "abc"
    assert "Problem: Column 'a' holds numbers, but line 32 is 'abc'" in str(found)


def test_frames_in_files_and_html(tmp_path):
    frame = pl.DataFrame({"a<b": [1.0, None, 2.0], "l": [[1], [2], []], "y": [0, 1, 1]})
    frame.write_parquet(tmp_path / "t.parquet")
    found = inspect_table(tmp_path / "t.parquet", "y")
    assert [column.role for column in found.columns] == ["feature", "left out", "target"]
    assert ">a&lt;b</td>" in found._repr_html_()
    assert read_table(tmp_path / "t.parquet", "y").names == ("a<b",)


def test_a_problem_is_described_for_a_page():
    problem = to_problem(pl.DataFrame({"c": ["u", "v", None], "x": [1.0, 1.0, 2.0]}), np.array([0, 1, 1]))
    assert describe_columns(problem) == [
        {
            "name": "c",
            "kind": "nominal",
            "missing": pytest.approx(1 / 3),
            "distinct": 2,
            "values": "u, v",
            "levels": ["u", "v"],
        },
        {"name": "x", "kind": "numeric", "missing": 0.0, "distinct": 2, "values": "1 to 2"},
    ]


def test_tables_that_are_not_in_memory_are_surveyed_like_files(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(0)
    city, shop = (np.array(["a", "b", None])[rng.integers(0, 3, 300)], np.repeat(["x", "y"], 150))
    frame = pl.DataFrame({"x": rng.normal(size=300), "city": city, "shop": shop, "y": rng.integers(0, 2, 300)})
    frame = frame.with_columns(pl.when(pl.col("x") < 2).then("x"))
    tables = [frame.lazy(), dd.from_pandas(frame.to_pandas(), npartitions=3)]
    for found in [inspect_table(table, "y", exclude=["shop"]).columns for table in tables]:
        assert [(own.name, own.role, own.kind, own.missing, own.distinct) for own in found] == [
            ("x", "feature", "numeric", frame["x"].null_count() / 300, frame["x"].drop_nulls().n_unique()),
            ("city", "feature", "nominal", frame["city"].null_count() / 300, 2),
            ("y", "target", "numeric", 0.0, 2),
        ]
    with pytest.raises(InputError, match="leave nominal out"):
        inspect_table(frame.lazy(), "y", nominal=["x"])
    with pytest.raises(InputError, match="cannot be read in parts"):
        inspect_table(object(), "y")


@pytest.mark.parametrize("pair", [(1.0, 1.0 + 2**-52), (-1.7e308, 1.7e308)])
def test_numbers_within_rounding_of_each_other_or_very_far_apart_have_a_histogram(tmp_path, pair):
    rows = [f"{x!r},{i % 2}\n" for i, x in enumerate([*pair] * 4)]
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(rows))
    assert "a" in inspect_table(tmp_path / "t.csv", "y").to_json()
