import asyncio
import csv
import gzip
import os
import re
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from fewer.errors import InputError
from fewer.report import run_report
from fewer.serve._work import (
    MOST_BYTES,
    Workers,
    in_plain_text,
    inspect,
    reduced,
    schema_name,
    table_options,
)


def test_a_worker_that_dies_is_told_and_replaced():
    async def go():
        workers = Workers(1)
        with pytest.raises(InputError, match="ended unexpectedly"):
            await workers.call(os._exit, 3)
        pid = await workers.call(os.getpid)
        assert pid != os.getpid()
        assert await workers.call(signal.getsignal, signal.SIGINT) == signal.SIG_IGN
        workers.close()
        return pid

    pid = asyncio.run(go())
    end = time.monotonic() + 10
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}")


def test_memory_and_time_of_a_worker_are_bounded(monkeypatch):
    resource = pytest.importorskip("resource")

    async def go():
        workers = Workers(1)
        assert (await workers.call(resource.getrlimit, resource.RLIMIT_DATA))[0] == MOST_BYTES
        monkeypatch.setattr("fewer.serve._work.MOST_SECONDS", 0.2)
        with pytest.raises(InputError, match="took longer than 0 seconds and was stopped"):
            await workers.call(time.sleep, 60)
        monkeypatch.undo()
        assert await workers.call(os.getpid) != os.getpid()
        workers.close()

    asyncio.run(go())


def test_what_is_understood_can_be_corrected(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("day,code,y\n" + "".join(f"0{i % 9 + 1}/02/2024,0{i},{i % 2}\n" for i in range(20)))
    plain = inspect(str(path), {})
    other = inspect(str(path), {"kinds": {"day": "date month-day-year", "code": "numeric"}, "target": "y"})
    kinds = {column["name"]: (column["kind"], column["note"]) for column in other["columns"]}
    assert kinds["day"] == ("date", "month/day/year")
    assert kinds["code"][0] == "numeric"
    assert schema_name(plain["schema"], "t.csv") != schema_name(other["schema"], "t.csv")
    with pytest.raises(InputError, match="absent"):
        inspect(str(path), {"kinds": {"absent": "numeric"}})


def test_the_reduced_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b,y\n"1,188",2,x\n987,3,z\n')
    assert reduced(str(path), ["a"], "y", "table", {}) == b'a,y\n"1,188",x\n987,z\n'
    assert reduced(str(path), ["a"], "y", "parquet", {"kinds": {"b": "left out"}}).startswith(b"PAR1")
    with pytest.raises(InputError, match="no column"):
        reduced(str(path), ["c"], "y", "table", {})


def test_a_table_for_spreadsheets_runs_no_formula(tmp_path):
    path = tmp_path / "t.csv"
    cells = ["=1+1", "+49 30", "-5", "-1e3", "-x", "@cmd", "plain", "a=b", ""]
    path.write_text("@name,=f,y\n" + "".join(f"{cell},{i},\t{i}\n" for i, cell in enumerate(cells)))
    rows = list(csv.reader(reduced(str(path), ["@name", "=f"], "y", "spreadsheet", {}).decode().splitlines()))
    assert rows[0] == ["'@name", "'=f", "y"]
    assert [row[0] for row in rows[1:]] == ["'=1+1", "'+49 30", "-5", "-1e3", "'-x", "'@cmd", "plain", "a=b", ""]
    plain = list(csv.reader(reduced(str(path), ["@name", "=f"], "y", "table", {}).decode().splitlines()))
    assert [row[0] for row in plain] == ["@name", *cells]


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path):
    path, most = tmp_path / "bomb.csv.gz", 700 << 20
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"a,b,y\n")
        for _ in range(100):
            file.write(b"0,0,1\n" * (2**20 // 6))
    assert path.stat().st_size < 500_000

    async def go():
        workers = Workers(1, most)
        with pytest.raises(InputError) as refused:
            await workers.call(inspect, str(path), {})
        (process,) = workers._pool._processes.values()
        peak = int(Path(f"/proc/{process.pid}/status").read_text().split("VmHWM:")[1].split()[0])
        workers.close()
        return str(refused.value), peak << 10

    said, peak = asyncio.run(go())
    assert re.fullmatch(r"bomb.csv.gz needs about .* of memory, but .* is free; upload fewer rows or columns\.", said)
    assert peak < most + (200 << 20)  # the program itself


@pytest.mark.parametrize("content", [None, "", "[]", '{"features": 3}'])
def test_a_page_of_a_damaged_answer(tmp_path, content):
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    with pytest.raises(InputError):
        run_report(str(tmp_path))


def test_choices_become_options_of_the_reader():
    options = table_options(
        {"kinds": {"a": "numeric", "b": "nominal", "c": "left out"}, "missing": ["-"], "weights": "w", "groups": ""}
    )
    assert (options["numeric"], options["nominal"], options["missing"]) == (["a"], ["b"], ["-"])
    assert options["schema"].columns["c"].kind == "left out"
    assert (options["sample_weight"], options["groups"], options["time"]) == ("w", None, None)
    assert table_options({})["missing"] is None


def test_notes_speak_of_the_page():
    assert "--" not in in_plain_text("Left out: 'a'. Use --nominal to keep one.")
    assert in_plain_text("Codes; use --numeric for numbers.") == "Codes; choose number below if they are numbers."
    assert in_plain_text("Nothing to say.") == "Nothing to say."


def test_a_table_is_told_and_a_column_that_is_gone_is_named(tmp_path):
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "y": ["u", "v", "u", "v"]}).write_csv(path)
    told = inspect(str(path), {"target": "y"})
    assert '"a"' in told["schema"]
    with pytest.raises(InputError, match="t.csv has no column 'gone'; load the page again"):
        inspect(str(path), {"target": "y", "kinds": {"gone": "left out"}})


def test_a_schema_is_named_after_its_table_and_content():
    assert schema_name("{}", "t.csv") == schema_name("{}", "t.csv")
    assert schema_name("{}", "t.csv") != schema_name("{ }", "t.csv")
    assert schema_name("{}", "t.csv").startswith("t.csv.")
