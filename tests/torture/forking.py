"""Calls of the command line in copies of a warm process: as separate as new ones, and started at once."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

TOLD_APART = ("seconds", "processor", "command", "fingerprint")


def warm():
    """Import and compile what the calls need. Nothing here may start threads: a copy would wait for them for ever."""
    import numpy as np
    import sklearn.linear_model
    import sklearn.neighbors
    import sklearn.tree

    import fewer
    import fewer.cli
    import fewer.evaluate
    import fewer.report
    import fewer.run.folder

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    for search in (fewer.search.Forward(), fewer.search.Annealing(effort=0.02)):
        fewer.SubsetSelector(fewer.criteria.KNN(), search, random_state=0).fit(X, y)
    return sklearn


def start(arguments, folder, prelude=None, stdout=None):
    """Start words of the command line, or a function, in a copy of this process; what it prints goes to files."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setsid()
        target = os.open(folder / "stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if stdout is None else stdout
        os.dup2(target, 1)
        os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        if prelude is not None:
            prelude()
        if callable(arguments):
            arguments()
            code = 0
        else:
            from fewer.cli import main

            main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def finish(child, seconds=120):
    """Wait for a call and return its exit code; a negative one is the signal that ended it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "no end"


def call(arguments, folder, prelude=None, seconds=120):
    """Run a call to its end; return its exit code and what it printed."""
    code = finish(start(arguments, folder, prelude), seconds)
    return code, read(folder / "stdout"), read(folder / "stderr")


def read(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def told(text):
    """Return an answer without what may differ between a run and its twin."""
    content = json.loads(text)
    for row in content.get("methods", []):
        row.pop("seconds", None)
    return {key: value for key, value in content.items() if key not in TOLD_APART}


def snapshot(folder):
    """Return all files of a folder but its lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.name != ".fewer-lock"
    }


def write_table(path, n_rows=80, n_features=9, seed=0):
    """Write a table with two informative columns."""
    import random

    rng = random.Random(seed)
    lines = [",".join([*(f"x{i}" for i in range(n_features)), "y"])]
    for row in range(n_rows):
        y = row % 2
        cells = [f"{rng.gauss(0, 1) + (1.5 * y if i < 2 else 0):.5f}" for i in range(n_features)]
        lines.append(",".join([*cells, str(y)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
