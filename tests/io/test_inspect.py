"""What was understood, told before any selection."""

import json

import numpy as np
import polars as pl
import pytest

from fewer.io import describe_columns, inspect_table, read_table, to_problem
from messy import N, make_messy


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
    assert "Problem: Column 'a' holds numbers, but line 32 holds 'abc'" in str(found)


def test_frames_in_files_and_html(tmp_path):
    frame = pl.DataFrame({"a<b": [1.0, None, 2.0], "l": [[1], [2], []], "y": [0, 1, 1]})
    frame.write_parquet(tmp_path / "t.parquet")
    found = inspect_table(tmp_path / "t.parquet", "y")
    assert [column.role for column in found.columns] == ["feature", "left out", "target"]
    assert "<td>a&lt;b</td>" in found._repr_html_()
    assert read_table(tmp_path / "t.parquet", "y").names == ("a<b",)


def test_a_problem_is_described_for_a_page():
    problem = to_problem(pl.DataFrame({"c": ["u", "v", None], "x": [1.0, 1.0, 2.0]}), np.array([0, 1, 1]))
    assert describe_columns(problem) == [
        {"name": "c", "kind": "nominal", "missing": pytest.approx(1 / 3), "distinct": 2, "values": "u, v"},
        {"name": "x", "kind": "numeric", "missing": 0.0, "distinct": 2, "values": "1 to 2"},
    ]
