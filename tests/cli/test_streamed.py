import json

import polars as pl
import pytest

from fewer.cli import main
from fewer.cli._options import (
    ColumnOptions,
    FeatureColumns,
    Rows,
    open_chunks,
    resources_of,
    table_options,
    wants_stream,
)
from fewer.contracts import Resources
from fewer.errors import InputError
from fewer.run.running import Interrupted
from fewer.run.selection import Selection


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"a": [1.5, 2.5, 3.5], "y": ["u", "v", "u"]}).write_csv(path)
    return path


def test_chunks_if_asked_or_if_there_are_many_files(table):
    assert wants_stream(table, True)
    assert not wants_stream(table, None)
    assert wants_stream(table.parent, None)
    assert not wants_stream(table.parent, False)


def test_options_become_resources():
    assert resources_of(2, 5000) == Resources(2, 5000)
    assert resources_of(1, 1000).memory == 1000


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"encoding": "latin-1"}, "--encoding"),
        ({"decimal": ","}, "--decimal"),
        ({"missing": "NA"}, "--missing"),
        ({"calendar": True}, "--calendar"),
    ],
)
def test_what_only_a_whole_table_is_read_with(table, options, word):
    with pytest.raises(InputError, match=word):
        open_chunks(table, "y", table_options(FeatureColumns(**options)))


@pytest.mark.parametrize("word", ["groups", "time"])
def test_columns_that_belong_to_the_rows_are_no_features(table, word):
    frame = pl.read_csv(table).with_columns(b=pl.Series([1, 2, 3]))
    frame.write_csv(table)
    stream = open_chunks(table, "y", table_options(rows=Rows(**{word: "b"})))
    assert stream.like.names == ("a",)
    assert getattr(stream, word) == "b"
    with pytest.raises(InputError, match=f"no column 'c' for {word}"):
        open_chunks(table, "y", table_options(rows=Rows(**{word: "c"})))


def test_a_table_is_opened_in_chunks(table):
    stream = open_chunks(table, "y", table_options(ColumnOptions(decimal=".")))
    assert (stream.like.names, stream.n_samples) == (("a",), 3)


@pytest.fixture
def command(tmp_path):
    rows = [{"a": i % 2 + 0.1 * (i % 7), "b": float(i % 5), "c": float(i % 3), "y": "uv"[i % 2]} for i in range(60)]
    pl.DataFrame(rows).write_csv(tmp_path / "long.csv")
    return ["select", str(tmp_path / "long.csv"), "-t", "y", "--stream", "--folds", "0", "--out", str(tmp_path / "run")]


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


def test_a_run_in_chunks_is_kept_and_replaced_only_by_force(command, tmp_path, capsys):
    fisher = [*command, "-m", "fisher"]
    assert run(*fisher, "-f", "1", "--resume") == 2
    assert "No run to resume" in capsys.readouterr().err
    assert run(*fisher, "-f", "1") == 0
    assert run(*fisher, "-f", "2") == 2
    assert run(*fisher, "-f", "2", "--resume") == 2  # it is another run
    assert len(json.loads((tmp_path / "run" / "result.json").read_text())["features"]) == 1
    assert run(*fisher, "-f", "2", "--force") == 0
    assert len(json.loads((tmp_path / "run" / "result.json").read_text())["features"]) == 2


def test_a_stop_in_chunks_tells_the_best_so_far(command, monkeypatch, capsys):
    def stopped(*_, **__):
        raise Interrupted(found)

    arguments = [*command, "-m", "fisher", "-f", "1", "--json"]
    assert run(*arguments) == 0
    found = Selection.from_json(capsys.readouterr().out)
    monkeypatch.setattr("fewer.run.streaming.select_stream", stopped)
    assert run(*arguments, "--force") == 130
    told = capsys.readouterr()
    assert json.loads(told.out)["features"] == found.features
    assert "--resume" in told.err
    found = None
    assert run(*arguments, "--force") == 130
    assert "before the first subset" in capsys.readouterr().err
