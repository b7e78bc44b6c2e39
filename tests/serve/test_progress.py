import json

import numpy as np
import pytest

from fewer.serve._progress import has_result, progress_of, read_json, source_of
from fewer.trace import Step, Trace


def test_files_that_cannot_be_read_say_nothing(tmp_path):
    assert read_json(tmp_path / "gone.json") == {}
    (tmp_path / "broken.json").write_text("{")
    assert read_json(tmp_path / "broken.json") == {}
    (tmp_path / "list.json").write_text("[1]")
    assert read_json(tmp_path / "list.json") == {}


def test_a_run_goes_through_its_phases(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.serve._progress.time.time", lambda: 130.0)
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
    assert not has_result(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    assert has_result(tmp_path)


def test_a_budget_bounds_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.serve._progress.time.time", lambda: 130.0)
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
