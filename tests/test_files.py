"""Files that are there whole or not at all."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import fewer
from fewer.errors import InputError
from fewer.files import (
    LOCK,
    FolderLock,
    Journal,
    read_own,
    refuse_unwritable,
    sealed,
    sweep,
    to_json,
    unsealed,
    write_atomically,
)
from fewer.report import run_report
from fewer.serve._jobs import read_json
from warm import Started

FILLED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
"""


def test_a_failed_write_leaves_the_previous_file(tmp_path):
    path = tmp_path / "a"
    write_atomically(path, b"before")

    def tear(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_atomically(path, tear)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["a"]


def test_links_are_followed_devices_are_not_replaced_and_modes_stay(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"before")
    real.chmod(0o640)
    link.symlink_to(real)
    write_atomically(link, b"after")
    assert link.is_symlink()
    assert real.read_bytes() == b"after"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    write_atomically("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_places_that_cannot_be_written_are_refused_and_left_as_they_were(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "file" / "page.html", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="--report"):
            refuse_unwritable(path, "--report")
    refuse_unwritable(tmp_path / "new" / "folder" / "page.html", "--report")
    assert os.listdir(tmp_path) == ["file"]


def test_one_at_a_time_in_a_folder(tmp_path):
    lock = FolderLock(tmp_path)
    with pytest.raises(InputError, match=f"process {os.getpid()}"):
        FolderLock(tmp_path)
    lock.release()
    FolderLock(tmp_path).release()


def test_a_killed_process_holds_no_lock(tmp_path):
    code = f"""
        import time
        from pathlib import Path
        from fewer.files import FolderLock
        lock = FolderLock(Path({str(tmp_path)!r}))
        print("locked", flush=True)
        time.sleep(60)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    with pytest.raises(InputError, match=f"process {process.pid}"):
        FolderLock(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    FolderLock(tmp_path).release()


def test_what_a_kill_left_is_swept(tmp_path):
    for name in (".a.json.123-ab.part", ".other.123-ab.part", "a.json"):
        (tmp_path / name).write_text("")
    sweep(tmp_path, ["a.json"])
    assert sorted(os.listdir(tmp_path)) == [".other.123-ab.part", "a.json"]


def test_every_changed_digit_is_noticed():
    record = {"fold": 1, "outputs": [0.1, 0.25, -3.0], "name": "é−\udc80", "nested": {1: None, 2: True}}
    text = to_json(sealed(record), indent=None)
    assert unsealed(json.loads(text)) == json.loads(to_json(record))
    for place, byte in enumerate(text):
        if chr(byte) in "0123456789abcdef":
            other = text[:place] + (b"8" if byte != ord("8") else b"7") + text[place + 1 :]
            try:
                assert unsealed(json.loads(other)) is None, other
            except ValueError:
                continue


def test_a_journal_is_only_added_to(tmp_path):
    path = tmp_path / "cells.jsonl"
    journal = Journal(path, {"comparison": "abc"})
    journal.append({"cell": 1})
    journal.append({"cell": 2})
    before = path.read_bytes()
    path.write_bytes(before[:-5])  # torn by a kill
    journal = Journal(path, {"comparison": "abc"})
    assert journal.records == [{"cell": 1}]
    assert journal.n_damaged == 0
    journal.append({"cell": 3})
    assert path.read_bytes().startswith(before[:-5] + b"\n")
    again = Journal(path, {"comparison": "abc"})
    assert again.records == [{"cell": 1}, {"cell": 3}]
    assert again.n_damaged == 1
    with pytest.raises(InputError, match="holds another comparison"):
        Journal(path, {"comparison": "abd"})
    path.write_bytes(b"x" + path.read_bytes())
    with pytest.raises(InputError, match="first line"):
        Journal(path, {"comparison": "abc"})


def test_a_full_disk_costs_no_line_and_what_waits_is_written_later(tmp_path):
    path = tmp_path / "cells.jsonl"
    code = FILLED.format(limit=400) + textwrap.dedent(f"""
        from pathlib import Path
        from fewer.files import Journal
        journal = Journal(Path({str(path)!r}), {{"comparison": "abc"}})
        for cell in range(20):
            journal.append({{"cell": cell}})
        print(journal.trouble)
    """)
    printed, error = Started(code=code).communicate()
    assert "cannot be written" in printed, error
    kept = Journal(path, {"comparison": "abc"})
    assert 3 <= len(kept.records) < 20
    assert kept.records == [{"cell": cell} for cell in range(len(kept.records))]
    assert path.stat().st_size <= 400


def test_a_kill_while_writing_leaves_one_whole_file(tmp_path):
    path = tmp_path / "big"
    code = f"""
        from fewer.files import write_atomically
        number = 0
        while True:
            write_atomically({str(path)!r}, bytes([65 + number % 26]) * 3_000_000)
            print(number, flush=True)
            number += 1
    """
    for wait in (0.0, 0.003, 0.011):
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(wait)
        process.kill()
        process.communicate()
        content = path.read_bytes()
        assert len(content) == 3_000_000
        assert len(set(content)) == 1


# ------------------------------------------------------------------------------------------ somebody else's files


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.is_symlink()}


@pytest.mark.parametrize("name", ["result.json", "trace.npz", "heldout.json", "total.json"])
def test_a_strangers_file_is_not_overwritten(tmp_path, name):
    (tmp_path / name).write_bytes(b"mine")
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    with pytest.raises(InputError, match="nothing was changed"):
        fewer.select(X, y, method="fisher", resume_dir=tmp_path)
    assert _content(tmp_path) == {name: b"mine"}


def test_an_empty_name_of_a_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    for call in (fewer.select, fewer.compare):
        with pytest.raises(InputError, match="^resume_dir='' names no folder; name one, or '.' for the current one.$"):
            call(X, y, resume_dir="")
    assert os.listdir(tmp_path) == []


def test_a_strangers_total_is_not_overwritten_by_a_comparison(tmp_path):
    (tmp_path / "total.json").write_bytes(b"mine")
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    with pytest.raises(InputError, match="nothing was changed"):
        fewer.compare(X, y, methods=["fisher"], cv=2, resume_dir=tmp_path)
    assert _content(tmp_path) == {"total.json": b"mine"}
    (tmp_path / "total.json").unlink()
    (tmp_path / "cells.jsonl").write_bytes(b"mine\n")
    with pytest.raises(InputError, match="nothing was changed"):
        fewer.compare(X, y, methods=["fisher"], cv=2, resume_dir=tmp_path)
    assert _content(tmp_path) == {"cells.jsonl": b"mine\n"}


@pytest.mark.parametrize("name", [".fewer-lock", "result.json", "run.json"])
def test_links_are_not_followed(tmp_path, name):
    secret, folder = tmp_path / "secret", tmp_path / "run"
    secret.write_text('{"secret": 1}', encoding="utf-8")
    folder.mkdir()
    (folder / name).symlink_to(secret)
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    with pytest.raises(InputError, match="is a link"):
        fewer.select(X, y, method="fisher", resume_dir=folder)
    assert secret.read_text(encoding="utf-8") == '{"secret": 1}'
    assert read_json(folder / name) == {}  # what the workbench shows of it
    with pytest.raises(InputError, match="cannot be read"):
        run_report(str(folder))
    with pytest.raises(OSError):
        FolderLock(folder) if name == ".fewer-lock" else read_own(folder / name)


def test_a_damaged_run_is_refused_before_anything_is_written(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    fewer.select(X, y, method="fisher", resume_dir=tmp_path, random_state=0)
    (tmp_path / LOCK).unlink()
    (tmp_path / "heldout.json").write_bytes(b"{torn")
    before = _content(tmp_path)
    with pytest.raises(InputError, match="nothing was changed"):
        fewer.select(X, y, method="fisher", resume_dir=tmp_path, random_state=0)
    assert _content(tmp_path) == before
