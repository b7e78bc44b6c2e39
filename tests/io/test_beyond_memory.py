"""Tables larger than memory: seen in one pass, and written with some columns."""

import json

import numpy as np
import polars as pl
import pytest

from fewer.cli import main
from fewer.errors import InputError
from fewer.io import Contract, inspect_chunks, inspect_table, write_columns


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
    ending = "parquet" if (path / "0.parquet").exists() else "csv"
    select = ["select", str(path), "-t", "y", "-m", "fisher", "--exclude", "name", "--features", "2", "--folds", "2"]
    for command in (
        ["inspect", str(path), "-t", "y", "--json"],
        [*select, "--out", str(tmp_path / "run"), "--save", str(tmp_path / f"chosen.{ending}"), "--json"],
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
    read = pl.read_parquet if ending == "parquet" else pl.read_csv
    assert read(tmp_path / f"chosen.{ending}").equals(frame.select(*features, "y"))
    assert pl.read_csv(tmp_path / "again.csv").columns == ["y", *features]
