"""Tables larger than memory: seen in one pass, and written with some columns."""

import json
import re
from datetime import datetime

import numpy as np
import polars as pl
import pytest

from fewer.cli import main
from fewer.errors import InputError
from fewer.io import Contract, inspect_chunks, inspect_table, write_columns
from fewer.io._kinds import ISO_DATES, NUMERALS, TRUTH, Reading


@pytest.fixture(params=["parquet", "csv"])
def folder(request, tmp_path):
    rng = np.random.default_rng(0)
    n = 3000
    frame = pl.DataFrame(
        {
            "many": rng.normal(size=n).round(6),
            "few": rng.integers(0, 7, n),
            "gap": pl.Series(rng.normal(size=n).round(3)).set(pl.Series(rng.random(n) < 0.2), None),
            "same": np.ones(n, dtype=int),
            "name": [f"row {i}" for i in range(n)],
            "city": rng.choice(["a", "b", "c"], n),
            "y": rng.choice(["no", "yes"], n),
        }
    )
    path = tmp_path / "parts"
    path.mkdir()
    for number in range(3):
        part = frame[1000 * number : 1000 * (number + 1)]
        part.write_parquet(path / f"{number}.parquet") if request.param == "parquet" else part.write_csv(
            path / f"{number}.csv"
        )
    return path, frame


def test_one_pass_sees_what_the_table_in_memory_shows(folder):
    path, frame = folder
    found = {column.name: column for column in inspect_chunks(path, "y").columns}
    whole = {column.name: column for column in inspect_table(path, "y").columns}
    for name in frame.columns:
        exact = frame[name].drop_nulls().n_unique()
        assert found[name].missing == pytest.approx(frame[name].null_count() / frame.height)
        assert found[name].distinct == exact if exact < 1024 else abs(found[name].distinct / exact - 1) < 0.15
        assert found[name].role == ("target" if name == "y" else "feature")
        if name != "name":
            assert found[name].kind == whole[name].kind
    assert "constant" in found["same"].note
    assert "nearly every row has its own value" in found["name"].note
    assert found["city"].examples == whole["city"].examples


def test_columns_are_written_as_they_stand_and_checked(folder, tmp_path):
    path, frame = folder
    contract = Contract(("city", "many"), ({"name": "city", "kind": "nominal", "levels": ["a", "b"]},
                                           {"name": "many", "kind": "numeric"}))  # fmt: skip
    n_rows, notes = write_columns(path, ["y", "city", "many"], tmp_path / "out.csv", contract)
    assert n_rows == 3000
    assert len(notes) in (1, 2, 3)  # of each chunk in which they differ
    assert all("'c'" in note for note in notes)
    assert pl.read_csv(tmp_path / "out.csv").equals(frame.select("y", "city", "many"))
    with pytest.raises(InputError, match="has no column 'town'"):
        write_columns(path, ["town"], tmp_path / "none.csv")
    with pytest.raises(InputError, match="held numbers"):
        write_columns(
            path, ["city"], tmp_path / "none.csv", Contract(("city",), ({"name": "city", "kind": "numeric"},))
        )
    assert not list(tmp_path.glob("*none*"))


def test_the_commands_end_on_a_folder_that_memory_does_not_hold(folder, tmp_path, monkeypatch, capsys):
    path, frame = folder
    monkeypatch.setattr("fewer.io._source.available_memory", lambda: 0)
    select = ["select", str(path), "-t", "y", "-m", "fisher", "--exclude", "name", "--features", "2", "--folds", "2"]
    for command in (
        ["inspect", str(path), "-t", "y", "--json"],
        [*select, "--out", str(tmp_path / "run"), "--save", str(tmp_path / "chosen.parquet"), "--json"],
        ["transform", str(tmp_path / "run"), str(path), "--keep", "y", "--save", str(tmp_path / "again.csv")],
    ):
        with pytest.raises(SystemExit) as done:
            main(command)
        shown = capsys.readouterr()
        assert not done.value.code, shown.err
        if command[0] == "inspect":
            assert json.loads(shown.out)["n_rows"] == 3000
        elif command[0] == "select":
            assert "parts is read in chunks: as a whole it needs about" in shown.err
            features = json.loads(shown.out)["features"]
    chosen, expected = pl.read_parquet(tmp_path / "chosen.parquet"), frame.select(*features, "y")
    assert chosen.cast(dict(expected.schema)).equals(expected)
    assert pl.read_csv(tmp_path / "again.csv").columns == ["y", *features]


def test_text_is_written_to_parquet_as_what_it_means(tmp_path):
    table = pl.DataFrame(
        {"n": ["1", "NA", "2.5"], "t": ["true", "False", ""], "d": ["2024-01-31", "2024-02-01T12:00:00", None],
         "w": ["1", "b", None], "y": ["0", "1", "1.0"]}
    )  # fmt: skip
    table.write_csv(tmp_path / "t.csv")
    readings = {"n": NUMERALS, "t": TRUTH, "d": ISO_DATES, "w": Reading("nominal"), "y": NUMERALS}
    write_columns(tmp_path / "t.csv", table.columns, tmp_path / "t.parquet", readings=readings)
    assert pl.read_parquet(tmp_path / "t.parquet").rows() == [
        (1.0, True, datetime(2024, 1, 31), "1", 0.0),
        (None, False, datetime(2024, 2, 1, 12), "b", 1.0),
        (2.5, None, None, None, 1.0),
    ]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_date_and_a_flag_that_were_chosen_in_chunks_fit_the_same_table_again(ending, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("fewer.io._source.available_memory", lambda: 0)
    rng = np.random.default_rng(0)
    days, flag = rng.integers(0, 300, 200), rng.random(200) < 0.5
    when = pl.Series(np.datetime64("2024-01-01") + days).cast(pl.Date)
    table = pl.DataFrame({"when": when, "flag": flag, "x": rng.normal(size=200), "y": days + 90 * flag})
    path, run, out = tmp_path / f"t.{ending}", tmp_path / "run", tmp_path / "out.parquet"
    table.write_csv(path) if ending == "csv" else table.write_parquet(path)
    words = ["select", str(path), "-t", "y", "-m", "f-test", "-f", "2", "--folds", "0", "--stream", "--out", str(run)]
    for command in (words, ["transform", str(run), str(path), "--save", str(out)]):
        with pytest.raises(SystemExit) as done:
            main(command)
        assert not done.value.code, capsys.readouterr().err
    assert pl.read_parquet(out).select(pl.col("when").cast(pl.Date), "flag").equals(table.select("when", "flag"))


def test_chunks_and_memory_name_the_same_kinds(tmp_path):
    cells = {
        "empty": [""] * 4, "code": ["01", "2", "3", "4"], "number": ["1", "NA", "2.5", "1e3"],
        "truth": ["true", "FALSE", "", "true"], "day": ["2024-01-31", "2024-02-01T12:00:00", "", "2024-02-02"],
        "word": ["1", "b", "", "c"], "y": ["u", "v", "u", "v"],
    }  # fmt: skip
    pl.DataFrame(cells).write_csv(tmp_path / "t.csv")
    kinds = [column.kind for column in inspect_table(tmp_path / "t.csv", "y").columns]
    assert kinds == ["numeric", "nominal", "numeric", "boolean", "date", "nominal", "nominal"]
    assert [column.kind for column in inspect_chunks(tmp_path / "t.csv", "y").columns] == kinds


def test_every_lazy_table_can_be_inspected(folder):
    _, frame = folder
    found = inspect_chunks(frame.lazy(), "y")
    assert (found.source, found.n_rows) == ("The lazy frame", 3000)
    assert [column.name for column in found.columns] == frame.columns


@pytest.mark.parametrize("option", [["--header", "2"], ["--sheet", "2"], ["--missing", "x"], ["-m", "parcel"]])
def test_what_chunks_cannot_do_points_to_a_way_that_works(option, folder, monkeypatch, capsys):
    words = ["select", str(folder[0]), "-t", "y", *option]
    for free, way in ((1 << 40, "use --no-stream"), (0, "fewer select --save small.parquet")):
        monkeypatch.setattr("fewer.io._source.available_memory", lambda free=free: free)
        with pytest.raises(SystemExit) as done:
            main(words)
        assert done.value.code == 2
        name = "parcel" if option[0] == "-m" else option[0]
        assert re.search(rf"{name} needs the table in memory: .*{way}", capsys.readouterr().err)
