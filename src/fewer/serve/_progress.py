"""How a run stands, read from its folder; it does not matter who started it."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fewer.contracts.trace import Trace, size_of
from fewer.errors import InputError
from fewer.files import read_own
from fewer.run.folder import CELLS, HELDOUT, RUN, TOTAL, TRACE

MOST_POINTS = 300
_known: dict[str, tuple[tuple[int, int], Any]] = {}
"""What was read of a file, until it changes."""


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file; nothing where it cannot be read."""
    try:
        content = json.loads(read_own(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def progress_of(place: Path, began: float | None = None, before: int = 0) -> dict[str, Any]:
    """Say how far a run is: what the search found so far, how many folds are done, how long it may still take.

    Parameters
    ----------
    place : path
        The run's folder.
    began : float, optional
        When it was started; else when its folder was first written to.
    before : int, default=0
        Selections of a comparison that were done before it was started.

    Returns
    -------
    dict
        `phase`, `share`, `elapsed`, `left` (seconds, or None), `folds_done`, `folds`, of a comparison `n_selections`
        and `n_total`, and of the search `n_evaluations`, `best`, `size`, `curve`.
    """
    about = read_json(place / RUN).get("components")
    about = about if isinstance(about, dict) else {}
    folds = about.get("folds") if isinstance(about.get("folds"), int) else 0
    done = _once(place / HELDOUT, _folds_done) or 0
    elapsed = max(time.time() - (began or _first_written(place)), 0.0)
    told: dict[str, Any] = {"folds": folds, "folds_done": done, "elapsed": elapsed, "left": None, "share": None}
    if (place / CELLS).exists():
        return told | _comparing(place, elapsed, before)
    if not (place / RUN).exists():
        return told | {"phase": "reading"}
    told |= _once(place / TRACE, _search) or {}
    told["phase"] = "measuring" if done else "searching"
    if folds and done:
        told["share"] = (1 + done) / (1 + folds)
        told["left"] = elapsed / (1 + done) * (folds - done)
    seconds = about.get("budget", {}).get("seconds") if isinstance(about.get("budget"), dict) else None
    if isinstance(seconds, int | float) and 0 < seconds < 1e9:
        told["left"] = max(seconds - elapsed, 0.0) if told["left"] is None else min(told["left"], seconds)
        told["share"] = min(elapsed / seconds, 0.99) if told["share"] is None else told["share"]
    return told


def _comparing(place: Path, elapsed: float, before: int) -> dict[str, Any]:
    done = count_cells(place)
    told: dict[str, Any] = {"phase": "comparing", "n_selections": done}
    total = read_json(place / TOTAL).get("total")
    if isinstance(total, int) and total >= max(done, 1):
        told |= {"n_total": total, "share": done / total}
        if done > before:
            told["left"] = elapsed / (done - before) * (total - done)
    return told


def _once(path: Path, read: Callable[[Path], Any]) -> Any:
    """Read a file, unless it was read since it was written."""
    try:
        about = path.stat()
    except OSError:
        return None
    stamp = (about.st_mtime_ns, about.st_size)
    known = _known.get(str(path))
    if known is None or known[0] != stamp:
        if len(_known) > 200:
            _known.clear()
        known = _known[str(path)] = (stamp, read(path))
    return known[1]


def _search(path: Path) -> dict[str, Any]:
    try:
        trace = Trace.load(path)
    except InputError:
        return {}
    told: dict[str, Any] = {"n_evaluations": trace.n_evaluations}
    if trace.steps:
        every = max(len(trace.steps) // MOST_POINTS, 1)
        steps = [*trace.steps[:-1:every], trace.steps[-1]]
        told["curve"] = [[int(step.n_evaluations), _number(step.best_score)] for step in steps]
        told |= {"best": _number(trace.best_score), "size": int(size_of(trace.best))}
        told["mask"] = np.flatnonzero(trace.best).tolist()[:60]
    return told


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _folds_done(path: Path) -> int:
    folds = read_json(path).get("folds")
    return len(folds) if isinstance(folds, list) else 0


def count_cells(place: Path) -> int:
    """Return how many selections of a comparison are done."""
    try:
        return max(read_own(place / CELLS).count(b"\n") - 1, 0)
    except OSError:
        return 0


def _first_written(place: Path) -> float:
    try:
        return min((place / name).stat().st_mtime for name in (RUN, CELLS) if (place / name).exists())
    except (OSError, ValueError):
        return time.time()


def source_of(result: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the table and the target that a command names, for runs that were started in a terminal.

    Examples
    --------
    >>> source_of({"command": "fewer select t.csv --target y --out r"})
    ('t.csv', 'y')
    """
    try:
        arguments = shlex.split(str(result.get("command", "")))
    except ValueError:
        return None, None
    target = None
    for argument, after in zip(arguments, [*arguments, ""][1:], strict=True):
        if argument in ("--target", "-t"):
            target = after
        elif argument.startswith("--target="):
            target = argument.partition("=")[2]
    return (os.path.basename(arguments[2]), target) if len(arguments) > 2 else (None, target)
