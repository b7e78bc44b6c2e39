import json
import os
import time

import numpy as np
import pytest

from fewer.contracts.trace import Step, Trace
from fewer.files import FolderLock, holder_of, sealed
from fewer.serve._jobs import progress_of, read_json, source_of


def write_run(place, **components):
    (place / "run.json").write_text(json.dumps({"fingerprint": "x", "components": {"folds": 5, **components}}))


def test_a_folder_without_a_run_is_being_read(tmp_path):
    assert progress_of(tmp_path)["phase"] == "reading"


def test_how_far_a_search_is(tmp_path):
    write_run(tmp_path)
    trace = Trace()
    for score, mask in ((0.5, [1, 0, 0]), (0.8, [1, 0, 1])):
        best = np.array(mask, dtype=bool)
        trace.n_evaluations += 10
        trace.offer(best[None], np.array([score]))
        trace.record(Step(best, score, best, score))
    trace.save(tmp_path / "trace.npz")
    told = progress_of(tmp_path, time.time() - 10)
    assert (told["phase"], told["size"], told["best"], told["mask"]) == ("searching", 2, 0.8, [0, 2])
    assert [score for _, score in told["curve"]] == [0.5, 0.8]
    assert told["left"] is None


def test_time_left_follows_from_the_folds_that_are_done(tmp_path):
    write_run(tmp_path)
    (tmp_path / "heldout.json").write_text(json.dumps(sealed({"fingerprint": "x", "folds": [{}, {}]})))
    told = progress_of(tmp_path, time.time() - 30)
    assert (told["phase"], told["folds_done"], told["share"]) == ("measuring", 2, 0.5)
    assert told["left"] == pytest.approx(30, abs=2)


def test_a_budget_bounds_the_time_left(tmp_path):
    write_run(tmp_path, budget={"seconds": 60})
    told = progress_of(tmp_path, time.time() - 20)
    assert told["left"] == pytest.approx(40, abs=2)
    assert told["share"] == pytest.approx(1 / 3, abs=0.05)


def test_a_comparison_counts_what_is_done(tmp_path):
    (tmp_path / "cells.jsonl").write_text('{"comparison": 1}\n{}\n{}\n')
    assert progress_of(tmp_path)["n_selections"] == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"components": 3}', b'{"folds": 3}'])
def test_damaged_files_tell_nothing(tmp_path, content):
    for name in ("run.json", "heldout.json", "trace.npz", "result.json"):
        (tmp_path / name).write_bytes(content)
    assert progress_of(tmp_path)["folds_done"] == 0
    assert isinstance(read_json(tmp_path / "run.json"), dict)


@pytest.mark.parametrize(
    ("command", "source"),
    [
        ("fewer select a/t.csv --target y", ("t.csv", "y")),
        ("fewer select t.csv -t 'a b'", ("t.csv", "a b")),
        ("fewer compare t.csv --target=y", ("t.csv", "y")),
        ("fewer select '", (None, None)),
        ("", (None, None)),
    ],
)
def test_what_a_command_was_about(command, source):
    assert source_of({"command": command}) == source


def test_who_writes_to_a_folder(tmp_path):
    assert holder_of(tmp_path) is None
    lock = FolderLock(tmp_path)
    assert holder_of(tmp_path) == os.getpid()
    lock.release()
    assert holder_of(tmp_path) is None
    FolderLock(tmp_path).release()  # a look does not stand in the way


def test_files_that_cannot_be_read_say_nothing(tmp_path):
    assert read_json(tmp_path / "gone.json") == {}
    (tmp_path / "broken.json").write_text("{")
    assert read_json(tmp_path / "broken.json") == {}
    (tmp_path / "list.json").write_text("[1]")
    assert read_json(tmp_path / "list.json") == {}


def test_a_run_goes_through_its_phases(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.serve._jobs.time.time", lambda: 130.0)
    assert progress_of(tmp_path, 100.0)["phase"] == "reading"
    (tmp_path / "run.json").write_text(json.dumps({"components": {"folds": 5}}))
    trace = Trace()
    trace.record(Step(np.array([True, False]), 0.5, np.array([True, False]), 0.5))
    trace.save(tmp_path / "trace.npz")
    told = progress_of(tmp_path, 100.0)
    assert (told["phase"], told["best"], told["size"], told["elapsed"]) == ("searching", 0.5, 1, 30.0)
    (tmp_path / "heldout.json").write_text(json.dumps({"folds": [1, 2]}))
    told = progress_of(tmp_path, 100.0)
    assert (told["phase"], told["folds_done"], told["share"]) == ("measuring", 2, 0.5)
    assert told["left"] == pytest.approx(30.0)


def test_a_budget_bounds_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.serve._jobs.time.time", lambda: 130.0)
    (tmp_path / "run.json").write_text(json.dumps({"components": {"folds": 0, "budget": {"seconds": 40}}}))
    told = progress_of(tmp_path, 100.0)
    assert (told["left"], told["share"]) == (10.0, 0.75)


def test_a_comparison_counts_its_cells(tmp_path):
    (tmp_path / "cells.jsonl").write_text("head\none\ntwo\n")
    told = progress_of(tmp_path)
    assert (told["phase"], told["n_selections"]) == ("comparing", 2)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("fewer select data/t.csv --target y", ("t.csv", "y")),
        ("fewer select 'my t.csv' --target='a b'", ("my t.csv", "a b")),
        ("fewer select t.csv -t 3", ("t.csv", "3")),
        ("fewer", (None, None)),
        ("fewer select 'broken", (None, None)),
    ],
)
def test_the_table_and_the_target_of_a_command(command, found):
    assert source_of({"command": command}) == found
