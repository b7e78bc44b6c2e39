"""What is said about memory before a file is read."""

import numpy as np
import polars as pl
import pytest

from fewer.cli._shared import wants_stream
from fewer.errors import InputError
from fewer.io._layout import OF_PARQUET, OF_TEXT
from fewer.io._memory import OF_ROW, PROGRAM, TABLES, needed_memory


def test_a_parquet_file_says_its_cells_and_a_text_its_length(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": np.arange(1000.0), "y": np.arange(1000) % 2})
    path, text = tmp_path / "t.parquet", tmp_path / "t.csv"
    frame.write_parquet(path)
    frame.write_csv(text)
    columns, size = 8 * 2000 + 2 * OF_PARQUET, path.stat().st_size
    assert needed_memory(path) == PROGRAM["rank"] + columns + 1000 * OF_ROW["rank"] + max(8 * 2000, size)
    assert needed_memory(text) == PROGRAM["rank"] + 24 * 2002 + 2 * OF_TEXT + 1001 * OF_ROW["rank"] + 8 * 2002
    tables = int(TABLES["select"] * 8 * 2000)
    assert needed_memory(path, "select") == PROGRAM["select"] + columns + 1000 * OF_ROW["select"] + tables
    assert needed_memory(path, "compare") > needed_memory(path, "select") > needed_memory(path, "rank")
    assert not wants_stream(path, None)
    assert wants_stream(path, True)
    assert wants_stream(tmp_path, None)
    assert wants_stream(tmp_path / "*.parquet", None)
    monkeypatch.setattr("fewer.io._source.available_memory", lambda: PROGRAM["select"])
    assert wants_stream(path, None)
    assert not wants_stream(path, False)


def test_what_does_not_fit_is_refused_with_what_would(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": np.arange(1000.0), "y": np.arange(1000) % 2})
    path, text = tmp_path / "t.parquet", tmp_path / "t.csv"
    frame.write_parquet(path)
    frame.write_csv(text)
    program = PROGRAM["select"]
    half = (needed_memory(path, "select") - program) // 2
    monkeypatch.setattr("fewer.io._memory.available_memory", lambda: program + half)
    with pytest.raises(InputError, match=r"about .* to select, but .* is free; a file with 500 of its 1,000 rows"):
        wants_stream(path, False, "select")
    program = PROGRAM["rank"]
    half = (needed_memory(text, "rank") - program) // 4
    with pytest.raises(InputError, match=r"25 % of its rows or of its columns would fit.*--stream"):
        wants_stream(text, False, "rank")
