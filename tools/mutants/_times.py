"""A pytest plugin: each test's processor time (with its child processes) and whether it passed."""

import json
import os
from pathlib import Path

import pytest

ROWS: dict[str, dict] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    before = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        ROWS.setdefault(item.nodeid, {"passed": False})["seconds"] = round(sum(os.times()[:4]) - before, 3)


def pytest_runtest_logreport(report):
    row = ROWS.setdefault(report.nodeid, {"passed": True, "seconds": 0.0})
    row["passed"] = row["passed"] and report.outcome == "passed"


def pytest_sessionfinish(session):
    Path(os.environ["MUTANTS_TIMES"]).write_text(json.dumps(ROWS))
