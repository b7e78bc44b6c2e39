"""Nothing that was on disk is lost, and whatever cannot be written is told in one line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from fewer.cli import main
from fewer.cli._outputs import free_folder
from fewer.contracts.trace import Trace
from making import make_problem
from warm import Started

FAST = ["--method", "knn-forward", "--folds", "2", "--features", "2"]
SLOW = ["--criterion", "cross-validated:estimator=tree,cv=8", "--search", "exhaustive", "--folds", "0", "--json"]


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "table.csv")


def write_table(path, names=None, **options):
    problem = make_problem(**options)
    columns = {name: problem.X[:, i] for i, name in enumerate(names or problem.names)}
    pl.DataFrame({**columns, "y": problem.y}).write_csv(path)
    return path


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def snapshot(folder):
    return {
        path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file() and path.name != ".fewer-lock"
    }


def refused(capsys, *arguments):
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_a_run_is_replaced_only_by_force(table, tmp_path, capsys):
    base = ["select", table, "-t", "y", *FAST, "--json", "--out", tmp_path / "run"]
    assert run(*base) == 0
    first = json.loads(capsys.readouterr().out)
    before = snapshot(tmp_path / "run")
    assert "already holds a finished run" in refused(capsys, *base)
    assert "already holds a finished run" in refused(capsys, "compare", *base[1:4], "--out", tmp_path / "run")
    assert snapshot(tmp_path / "run") == before
    (tmp_path / "run" / "notes.txt").write_text("mine")
    assert run(*base, "--force", "--seed", 1) == 0
    second = json.loads(capsys.readouterr().out)
    assert (first["seed"], second["seed"]) == (0, 1)
    assert json.loads((tmp_path / "run" / "result.json").read_bytes()) == second
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_a_run_survives_a_forced_one_that_cannot_start(table, tmp_path, capsys):
    base = ["-t", "y", "--method", "fisher", "--folds", 2, "--out", tmp_path / "run"]
    assert run("select", table, *base) == 0
    capsys.readouterr()
    before = snapshot(tmp_path / "run")
    refused(capsys, "select", tmp_path / "nowhere.csv", *base, "--force")
    refused(capsys, "select", table, *base, "--force", "--features", 99)
    assert snapshot(tmp_path / "run") == before


@pytest.mark.parametrize("command", ["select", "compare"])
def test_a_folder_of_somebody_else_is_left_alone(command, table, tmp_path, capsys):
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "result.json").write_text("{}")
    (folder / "run.json").write_text('{"theirs": 1}')
    for more in ([], ["--force"]):
        text = refused(capsys, command, table, "-t", "y", "--out", folder, *more)
        assert "is not a fewer run" in text
    assert sorted(os.listdir(folder)) == ["result.json", "run.json"]
    assert (folder / "result.json").read_text() == "{}"


def test_pages_replace_pages_and_nothing_else(table, tmp_path, capsys):
    content = table.read_bytes()
    base = ["select", table, "-t", "y", "-m", "fisher", "--folds", 0, "-f", 2]
    assert "is the input table" in refused(capsys, *base, "--report", table)
    other = tmp_path / "other.html"
    other.write_text("<html>mine</html>")
    assert "was not written by fewer" in refused(capsys, *base, "--report", other)
    assert "is a folder" in refused(capsys, *base, "--report", tmp_path)
    assert "cannot be written" in refused(capsys, *base, "--report", other / "page.html")
    assert (table.read_bytes(), other.read_text()) == (content, "<html>mine</html>")
    page = tmp_path / "page.html"
    assert run(*base, "--report", page) == 0
    assert run(*base, "--report", page) == 0
    assert 'http-equiv="Content-Security-Policy"' in page.read_text(encoding="utf-8")


def test_progress_of_another_run_is_not_believed(table, tmp_path, capsys):
    base = ["select", table, "-t", "y", "--criterion", "knn", "--search", "annealing:effort=0.1", "--folds", 3]
    for seed in (0, 1):
        assert run(*base, "--out", tmp_path / f"run{seed}", "--seed", seed) == 0
    capsys.readouterr()
    for name in ("trace.npz", "heldout.json"):
        own, other = (tmp_path / f"run{seed}" / name for seed in (0, 1))
        kept = own.read_bytes()
        own.write_bytes(other.read_bytes())
        before = snapshot(tmp_path / "run0")
        text = refused(capsys, *base, "--out", tmp_path / "run0", "--resume")
        assert f"{name} and {tmp_path / 'run0' / 'run.json'} come from different runs" in text
        assert snapshot(tmp_path / "run0") == before
        own.write_bytes(kept)
    assert run(*base, "--out", tmp_path / "run0", "--resume") == 0


@pytest.mark.parametrize("name", ["run.json", "trace.npz", "heldout.json"])
def test_damage_is_named_and_nothing_is_touched(name, table, tmp_path, capsys):
    base = ["select", table, "-t", "y", *FAST, "--out", tmp_path / "run"]
    assert run(*base) == 0
    capsys.readouterr()
    path = tmp_path / "run" / name
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"null", b"[1]", whole.replace(b"0", b"1"), b"\xff" * 50):
        if content == whole:
            continue
        path.write_bytes(content)
        before = snapshot(tmp_path / "run")
        text = refused(capsys, *base, "--resume")
        assert str(tmp_path / "run") in text
        assert snapshot(tmp_path / "run") == before
    path.write_bytes(whole)
    assert run(*base, "--resume") == 0


def test_a_page_is_made_of_what_is_not_damaged(table, tmp_path, capsys):
    assert run("select", table, "-t", "y", *FAST, "--out", tmp_path / "run") == 0
    capsys.readouterr()
    (tmp_path / "run" / "trace.npz").write_bytes(b"PK\x03\x04")
    assert run("report", tmp_path / "run") == 0
    captured = capsys.readouterr()
    assert "trace.npz is damaged" in captured.err
    assert (tmp_path / "run" / "report.html").exists()
    (tmp_path / "run" / "result.json").write_text("[]")
    assert "result.json" in refused(capsys, "report", tmp_path / "run")


def test_two_runs_in_one_folder(table, tmp_path, capsys):
    long = write_table(tmp_path / "long.csv", n_rows=150, n_features=14)
    first = Started("select", long, "-t", "y", *SLOW, "--out", tmp_path / "run")
    wait_for(tmp_path / "run" / "trace.npz", first)
    for more in (["--resume"], ["--force"]):
        text = refused(capsys, "select", long, "-t", "y", *SLOW, "--out", tmp_path / "run", *more)
        assert f"process {first.pid}" in text
    first.send_signal(signal.SIGTERM)
    out, error = first.communicate(timeout=120)
    assert first.returncode == 143
    assert json.loads(out)["interrupted"]
    assert error.count("\n") == 1
    assert "--resume" in error


def wait_for(path, process):
    for _ in range(6000):
        if process.poll() is not None:
            pytest.fail(f"the run ended before it could be stopped: {process.communicate()[1]}")
        if path.exists():
            return
        time.sleep(0.01)
    pytest.fail("the run saved nothing")


FULL = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
FULL += "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"


def test_a_full_disk_costs_neither_the_answer_nor_the_run(tmp_path):
    table = write_table(tmp_path / "long.csv", n_rows=60, n_features=7)
    command = ["select", table, "-t", "y", *SLOW, "--out", tmp_path / "run"]
    whole = Started(*command[:-1], tmp_path / "whole").communicate()[0]
    filled = Started(*command, prelude=FULL.format(1500))
    out, error = filled.communicate()
    assert filled.returncode == 1, error
    assert error.count("\n") == 1
    assert "cannot be written (File too large)" in error
    assert told(out) == told(whole)
    resumed = Started(*command, "--resume")
    out, error = resumed.communicate()
    assert (resumed.returncode, error) == (0, "")
    assert told(out) == told(whole)


KILLED = """
import os
from fewer.run import folder as runs
keep, n_kept = runs.RunFolder.keep_trace, []
def keep_and_die(self, trace, *, now=False):
    keep(self, trace, now=True)
    n_kept.append(trace)
    if len(n_kept) == {0}:
        os.kill(os.getpid(), signal.SIGKILL)
runs.RunFolder.keep_trace = keep_and_die
"""


@pytest.mark.parametrize("limit", [1500, 4000])
def test_a_run_on_a_full_disk_that_is_killed_and_resumed_on_a_free_one(limit, tmp_path):
    """With 1,500 bytes a file the trace never comes to the disk, with 4,000 bytes its first part does."""
    table = write_table(tmp_path / "long.csv", n_rows=40, n_features=5)
    command = ["select", table, "-t", "y", "--criterion", "knn", "--search", "annealing:effort=0.05", "--folds", "2"]
    command += ["--json", "--out", tmp_path / "run"]
    whole = Started(*command[:-1], tmp_path / "whole").communicate()[0]
    for more in ([], ["--resume"]):
        killed = Started(*command, *more, prelude=f"{FULL.format(limit)}{KILLED.format(12)}")
        error = killed.communicate()[1]
        assert killed.returncode == -signal.SIGKILL, error
    resumed = Started(*command, "--resume")
    out, error = resumed.communicate()
    assert (resumed.returncode, error) == (0, "")
    assert told(out) == told(whole)


def told(text):
    return {key: value for key, value in json.loads(text).items() if key not in ("seconds", "command")}


def test_standard_output_that_is_full_or_closed(table, tmp_path):
    with open("/dev/full", "w") as full:
        process = Started("select", table, "-t", "y", *FAST, "--out", tmp_path / "run", stdout=full)
        error = process.communicate()[1]
    assert process.returncode == 1
    assert error == "fewer: cannot print the result (No space left on device).\n"
    assert json.loads((tmp_path / "run" / "result.json").read_bytes())["features"]
    command = f"exec {sys.executable} -m fewer select {table} -t y >&-"
    closed = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert closed.returncode == 2
    assert "standard output is closed" in closed.stderr
    reader, writer = os.pipe()
    os.close(reader)
    process = Started("rank", table, "-t", "y", stdout=writer)
    os.close(writer)
    assert process.communicate()[1] == "fewer: cannot print the result (Broken pipe).\n"
    assert process.returncode == 1


def test_little_memory_is_one_line_before_the_work(table, monkeypatch, capsys):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1 << 20, 1 << 20))
    assert "leaves 0 MiB of memory; at least 1024 MiB are needed" in refused(capsys, "rank", table, "-t", "y")


def test_memory_that_ends_midway_is_one_line(table, monkeypatch, capsys):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("fewer.io.read_table", fail)
    assert run("rank", table, "-t", "y") == 1
    error = capsys.readouterr().err
    assert error.startswith("fewer: not enough memory")
    assert error.count("\n") == 1


def test_a_second_stop_ends_at_once(tmp_path):
    table = write_table(tmp_path / "long.csv", n_rows=150, n_features=14)
    process = Started("select", table, "-t", "y", *SLOW, "--out", tmp_path / "run")
    wait_for(tmp_path / "run" / "trace.npz", process)
    began = time.monotonic()
    while process.poll() is None and time.monotonic() - began < 20:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    error = process.communicate()[1]
    assert process.returncode == 130
    assert "Traceback" not in error
    Trace.load(tmp_path / "run" / "trace.npz")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_any_locale(encoding, tmp_path):
    table = write_table(tmp_path / "tåble.csv", names=["−", "日本", "a\x1b[31mb", "\x9b2J", "é", "x"])
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": encoding}
    commands = (["select", "-m", "fisher", "-f", "6"], ["compare", "-m", "fisher", "-e", "knn"], ["rank"])
    for command in commands if encoding == "ascii" else commands[:1]:
        outputs = ["--out", tmp_path / command[0], "--report", tmp_path / f"{command[0]}.html"]
        more = outputs if command[0] != "rank" else []
        for form in (["--json"], ["--force"] if more else []):
            arguments = [command[0], table, "-t", "y", *command[1:], *more, *form]
            process = Started(*arguments, born=plain, text=False)
            out, error = process.communicate()
            assert process.returncode == 0, error
            text = out.decode("utf-8")
            assert "\x1b" not in text
            assert "\x9b" not in text
            if form == ["--json"]:
                assert "日本" in json.dumps(json.loads(text), ensure_ascii=False)


def test_a_file_name_that_is_no_text(table, tmp_path, capsys):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/t\xff\xfe.csv"))
    odd.write_bytes(table.read_bytes())
    outputs = ["--out", f"{odd}.run", "--report", f"{odd}.html", "--json"]
    process = Started("select", odd, "-t", "y", *FAST, *outputs)
    out, error = process.communicate()
    assert process.returncode == 0, error
    assert json.loads(out) == json.loads(Path(f"{odd}.run", "result.json").read_bytes())
    assert Path(f"{odd}.html").exists()


def test_a_stopped_run_takes_a_name_that_is_free(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert free_folder("t.fewer") == Path("t.fewer")
    Path("t.fewer").mkdir()
    Path("t-2.fewer").mkdir()
    assert free_folder("t.fewer") == Path("t-3.fewer")


def test_a_pipe_in_place_of_a_file_behind_pythons_back(tmp_path):
    code = (
        "import os, sys; print('kept', flush=True); reading, writing = os.pipe(); os.dup2(writing, 1); "
        "from fewer.cli import main; main(['--version'])"
    )
    with open(tmp_path / "out.txt", "w") as out:
        process = Started(code=code, stdout=out)
        error = process.communicate()[1]
    assert process.returncode == 0, error
    assert (tmp_path / "out.txt").read_text() == "kept\n"
