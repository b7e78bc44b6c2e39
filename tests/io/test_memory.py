import gzip

import numpy as np
import polars as pl
import pytest

from fewer.cli._options import wants_stream
from fewer.errors import InputError
from fewer.io.memory import (
    OF_PARQUET,
    OF_ROW,
    OF_TEXT,
    PROGRAM,
    SAMPLED_BYTES,
    TABLES_HELD,
    available_memory,
    layout_of,
    needed_memory,
)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_cells_of_a_text_are_counted_in_its_first_bytes(tmp_path, separator, packed):
    rng = np.random.default_rng(0)
    numbers = pl.DataFrame(rng.normal(size=(20_000, 12)), schema=[f"x{i}" for i in range(12)])
    text = numbers.write_csv(separator=separator, float_precision=6).encode()
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(text) if packed else text)
    assert len(text) > 2 * SAMPLED_BYTES
    found = layout_of(path)
    assert found.n_columns == 12
    assert found.size == pytest.approx(len(text), rel=0.02)
    assert found.n_cells == pytest.approx(12 * 20_001, rel=0.02)
    assert found.columns == 24 * found.n_cells + 12 * OF_TEXT  # no cell is longer than polars keeps in place


def test_cells_that_are_longer_count_twice(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,a text of 20 letters\n" * 1000)
    found = layout_of(path)
    assert (found.n_cells, found.n_columns) == (2002, 2)
    assert found.columns == 24 * 2002 + 20 * 1000 + 2 * OF_TEXT


def test_the_types_of_a_parquet_file_say_what_its_columns_take(tmp_path):
    path = tmp_path / "t.parquet"
    numbers = pl.Series(np.arange(100) % 7)
    kinds = [pl.Float64, pl.Int64, pl.Float32, pl.Int16, pl.UInt8, pl.Boolean, pl.String]
    pl.DataFrame({str(i): numbers.cast(kind) for i, kind in enumerate(kinds)}).write_parquet(path)
    found = layout_of(path)
    assert (found.n_rows, found.n_columns, found.n_cells) == (100, 7, 700)
    assert found.columns == 100 * (8 + 8 + 4 + 2 + 1 + 1 + 32) + 7 * OF_PARQUET


@pytest.mark.parametrize("content", [b"", b"a", b"\n", b"\x1f\x8bno gzip", b"a,b\n1,2"])
def test_nothing_is_too_short_or_too_strange(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    found = layout_of(path)
    assert found.n_cells == {b"": 0, b"a": 1, b"\n": 1, b"a,b\n1,2": 4}.get(content, 0)


def test_a_damaged_parquet_file_says_nothing(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and no more")
    assert layout_of(path) is None


def test_a_parquet_file_says_its_cells_and_a_text_its_length(tmp_path, monkeypatch):
    frame = pl.DataFrame({"a": np.arange(1000.0), "y": np.arange(1000) % 2})
    path, text = tmp_path / "t.parquet", tmp_path / "t.csv"
    frame.write_parquet(path)
    frame.write_csv(text)
    columns, size = 8 * 2000 + 2 * OF_PARQUET, path.stat().st_size
    assert needed_memory(path) == PROGRAM["rank"] + columns + 1000 * OF_ROW["rank"] + max(8 * 2000, size)
    assert needed_memory(text) == PROGRAM["rank"] + 24 * 2002 + 2 * OF_TEXT + 1001 * OF_ROW["rank"] + 8 * 2002
    tables = int(TABLES_HELD["select"] * 8 * 2000)
    assert needed_memory(path, "select") == PROGRAM["select"] + columns + 1000 * OF_ROW["select"] + tables
    assert needed_memory(path, "compare") > needed_memory(path, "select") > needed_memory(path, "rank")
    assert not wants_stream(path, None)
    assert wants_stream(path, True)
    text.unlink()  # a folder holds files of one kind
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
    monkeypatch.setattr("fewer.io.memory.available_memory", lambda: program + half)
    with pytest.raises(InputError, match=r"about .* to select, but .* is free; 500 of its 1,000 rows"):
        wants_stream(path, False, "select")
    program = PROGRAM["rank"]
    half = (needed_memory(text, "rank") - program) // 4
    with pytest.raises(InputError, match=r"25 % of its rows or of its columns would fit.*--stream"):
        wants_stream(text, False, "rank")


GIB = 1 << 30


def machine(folder, group, files):
    """Make the files of a system: 8 GiB free, the process in a control group."""
    proc, groups = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n")
    (proc / "self" / "cgroup").write_text(group)
    (proc / "self" / "status").write_text("VmSize: 1048576 kB\nVmData: 524288 kB\n")
    for name, content in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(f"{content}\n")
    return proc, groups


@pytest.mark.parametrize(
    ("group", "files", "expected"),
    [
        ("0::/\n", {}, 8 * GIB),
        ("0::/\n", {"memory.max": "max", "memory.current": GIB}, 8 * GIB),
        ("0::/\n", {"memory.max": 3 * GIB, "memory.current": GIB}, 2 * GIB),
        ("0::/\n", {"memory.max": 3 * GIB, "memory.current": 2 * GIB, "memory.stat": f"inactive_file {GIB}"}, 2 * GIB),
        ("0::/jobs/7\n", {
            "memory.max": "max", "memory.current": 9 * GIB, "jobs/memory.max": 4 * GIB, "jobs/memory.current": 3 * GIB,
            "jobs/7/memory.max": 2 * GIB, "jobs/7/memory.current": 0}, GIB),
        ("0::/outside/path\n", {"memory.max": GIB, "memory.current": 0}, GIB),
        ("5:cpu:/x\n4:memory:/job\n0::/\n", {
            "memory/job/memory.limit_in_bytes": 3 * GIB, "memory/job/memory.usage_in_bytes": 2 * GIB,
            "memory/job/memory.stat": f"total_inactive_file {GIB // 2}"}, GIB + GIB // 2),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": GIB, "memory/memory.usage_in_bytes": 2 * GIB}, 0),
    ],
)  # fmt: skip
def test_the_limits_of_control_groups(tmp_path, group, files, expected):
    assert available_memory(*machine(tmp_path, group, files)) == expected


@pytest.mark.parametrize(("limit", "expected"), [("RLIMIT_AS", 2 * GIB), ("RLIMIT_DATA", 2 * GIB + GIB // 2)])
def test_the_limits_of_the_process(tmp_path, monkeypatch, limit, expected):
    resource = pytest.importorskip("resource")
    given = {getattr(resource, limit): 3 * GIB}
    unlimited = (resource.RLIM_INFINITY,) * 2
    monkeypatch.setattr(resource, "getrlimit", lambda which: (given[which], -1) if which in given else unlimited)
    assert available_memory(*machine(tmp_path, "0::/\n", {})) == expected
