"""Runs as processes of the command line: started, stopped with the best so far, resumed; they outlive the server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fewer.contracts.trace import Trace, size_of
from fewer.errors import InputError
from fewer.files import CELLS, TOTAL, holder_of, read_own
from fewer.run.folder import HELDOUT, RESULT, RUN, TRACE
from fewer.serve._choices import Choices, in_words_of_the_page
from fewer.serve._folder import Folder
from fewer.text import printable

MOST_POINTS = 300
# What was read of a file, until it changes.
_known: dict[str, tuple[tuple[int, int], Any]] = {}


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
    progress: dict[str, Any] = {"folds": folds, "folds_done": done, "elapsed": elapsed, "left": None, "share": None}
    if (place / CELLS).exists():
        return progress | _comparing(place, elapsed, before)
    if not (place / RUN).exists():
        return progress | {"phase": "reading"}
    progress |= _once(place / TRACE, _search) or {}
    progress["phase"] = "measuring" if done else "searching"
    if folds and done:
        progress["share"] = (1 + done) / (1 + folds)
        progress["left"] = elapsed / (1 + done) * (folds - done)
    seconds = about.get("budget", {}).get("seconds") if isinstance(about.get("budget"), dict) else None
    if isinstance(seconds, int | float) and 0 < seconds < 1e9:
        progress["left"] = max(seconds - elapsed, 0.0) if progress["left"] is None else min(progress["left"], seconds)
        progress["share"] = min(elapsed / seconds, 0.99) if progress["share"] is None else progress["share"]
    return progress


def _comparing(place: Path, elapsed: float, before: int) -> dict[str, Any]:
    done = count_cells(place)
    progress: dict[str, Any] = {"phase": "comparing", "n_selections": done}
    total = read_json(place / TOTAL).get("total")
    if isinstance(total, int) and total >= max(done, 1):
        progress |= {"n_total": total, "share": done / total}
        if done > before:
            progress["left"] = elapsed / (done - before) * (total - done)
    return progress


def _once(path: Path, read: Callable[[Path], Any]) -> Any:
    """Read a file, unless it was read since it was written."""
    try:
        stamp = path.stat().st_mtime_ns, path.stat().st_size
    except OSError:
        return None
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
    progress: dict[str, Any] = {"n_evaluations": trace.n_evaluations}
    if trace.steps:
        every = max(len(trace.steps) // MOST_POINTS, 1)
        steps = [*trace.steps[:-1:every], trace.steps[-1]]
        progress["curve"] = [[int(step.n_evaluations), _number(step.best_score)] for step in steps]
        progress |= {"best": _number(trace.best_score), "size": int(size_of(trace.best))}
        progress["mask"] = np.flatnonzero(trace.best).tolist()[:60]
    return progress


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
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    targets = [after if word in ("--target", "-t") else word.partition("=")[2] for word, after in pairs
               if word in ("--target", "-t") or word.startswith("--target=")]  # fmt: skip
    return os.path.basename(arguments[2]) if len(arguments) > 2 else None, targets[-1] if targets else None


LONGEST_LOG = 8_000
# The command line. -P: modules come from what is installed, never from the folder.
PROGRAM = (sys.executable, "-P", "-m", "fewer")
# Seconds that runs have to save their best when the server ends.
FAREWELL_SECONDS = 10.0


class Jobs:
    """The runs of a folder.

    Parameters
    ----------
    folder : Folder
        Where runs are kept.
    most : int
        Runs at the same time.
    """

    def __init__(self, folder: Folder, most: int = 2) -> None:
        self.folder, self.most, self.program = folder, most, PROGRAM
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def start(self, choices: Choices, names: list[str] | None = None) -> str:
        """Start a run in a new folder, and return its name.

        Parameters
        ----------
        choices : Choices
            What the form says.
        names : list of str, optional
            The features in the order of the table, to name the best so far.

        Returns
        -------
        str
        """
        with self._lock:
            self._refuse_too_many()
            self.folder.table(choices.table)
            run = self.folder.new_run(choices.table)
            self._spawn(run, choices, names, resume=False)
        return run

    def resume(self, run: str) -> None:
        """Go on with a run that was stopped, was killed or was refused."""
        with self._lock:
            place, job = self.folder.run(run), self.folder.job(run)
            if self.pid_of(run) is not None:
                raise InputError("This run is already running.")
            if job is None:
                choices = Choices.from_command(str(read_json(place / RESULT).get("command", "")))
                self.folder.table(choices.table)
            else:
                choices = Choices.read(job["choices"])
            self._refuse_too_many()
            begun = (place / RUN).exists() or (place / CELLS).exists()
            if begun and choices.goal == "detect":
                raise InputError("A stopped detector run cannot be resumed. Start it again from the table.")
            self._spawn(run, choices, (job or {}).get("names"), resume=begun)

    def stop(self, run: str) -> None:
        """Ask a run to end and keep its best; asked twice, it ends at once."""
        self.folder.run(run)
        pid = self.pid_of(run)
        if pid is None:
            raise InputError("This run has already ended.")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGINT)

    def delete(self, run: str) -> None:
        """Delete a run that is not going on."""
        with self._lock:
            self.folder.run(run)
            if self.pid_of(run) is not None:
                raise InputError("This run is still running. Stop it first.")
            self._processes.pop(run, None)
            self.folder.delete(run)

    def pid_of(self, run: str) -> int | None:
        """Return the process of a run that is going on, whoever started it."""
        process = self._processes.get(run)
        if process is not None and process.poll() is None:
            return process.pid
        place = self.folder.path / run
        if (pid := holder_of(place)) is not None:
            return pid
        job = self.folder.job(run)
        if process is None and job is not None and not job.get("code"):
            return job["pid"] if _is_same(job.get("pid"), job.get("stamp")) else None
        return None

    def state(self, run: str) -> dict[str, Any]:
        """Return the state of a run: whether it is running, its progress, how it ended.

        Parameters
        ----------
        run : str
            Its name.

        Returns
        -------
        dict
            `id`, `state` ("running", "finished", "stopped", "failed" or "unfinished"), `message`, `kind`, `progress`
            while it goes on, and what is known of its choices and answer.
        """
        place, job = self.folder.run(run), self.folder.job(run)
        pid = self.pid_of(run)
        choices = (job or {}).get("choices", {})
        status: dict[str, Any] = {**_answer({}), "kind": "", "id": run, "here": job is not None, "message": ""}
        status["refused"] = False
        status["command"] = " ".join((job or {}).get("command", []))
        status |= {key: choices.get(key) for key in ("table", "target", "goal", "method", "prefer", "seed")}
        if pid is not None:
            progress = progress_of(place, (job or {}).get("began"), (job or {}).get("before", 0))
            names = (job or {}).get("names") or []
            mask = progress.pop("mask", [])
            if mask and progress.get("size") == len(mask) and mask[-1] < len(names):
                progress["names"] = [names[i] for i in mask]
            return status | {"state": "running", "progress": progress}
        result = read_json(place / RESULT)
        code = self._code(run, job)
        if result:
            about = _answer(result)
            about["method"] = about["method"] or status["method"]
            if not status["table"]:
                status["table"], status["target"] = source_of(result)
            status |= {"state": "stopped" if about["interrupted"] else "finished", **about}
            if code not in (None, 0, 130, 143):
                status["message"] = _told(self.folder.log(run), code)
            return status
        if code in (None, 0, 130, 143):
            unknown = "The run ended without a result; the reason is unknown."
            message = "Stopped before there was a result." if code else unknown
            message += " Resume it to continue." if (place / RUN).exists() else ""
            return status | {"state": "unfinished", "message": message}
        message = _told(self.folder.log(run), code)
        if code == 2:  # refused: it would be again
            return status | {"state": "failed", "refused": True, "message": in_words_of_the_page(message)}
        return status | {"state": "failed", "message": message}

    def close(self) -> None:
        """Ask all runs that this server started to keep their best, and wait for them a little."""
        going = {run: process for run, process in self._processes.items() if process.poll() is None}
        for process in going.values():
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGINT)
        end = time.monotonic() + FAREWELL_SECONDS
        for run, process in going.items():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(end - time.monotonic(), 0.1))
                self._code(run, self.folder.job(run))

    def _refuse_too_many(self) -> None:
        going = [run for run in self.folder.runs() if self.pid_of(run) is not None and self.folder.job(run)]
        if len(going) >= self.most:
            raise InputError(f"{len(going)} runs are already in progress ({', '.join(going[:3])}). Stop one, or wait.")

    def _spawn(self, run: str, choices: Choices, names: list[str] | None, *, resume: bool) -> None:
        arguments = choices.command(run, resume=resume)
        log = self.folder.log(run)
        with log.open("wb") as log_file:
            process = subprocess.Popen(
                [*self.program, *arguments], cwd=self.folder.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=log_file, start_new_session=True,
            )  # fmt: skip
        self._processes[run] = process
        about = {"choices": choices.to_dict(), "command": ["fewer", *arguments], "names": names, "began": time.time()}
        about["before"] = count_cells(self.folder.path / run)
        self.folder.keep_job(run, {**about, "pid": process.pid, "stamp": _stamp(process.pid), "code": None})

    def _code(self, run: str, job: dict[str, Any] | None) -> int | None:
        """Return how the last process of a run ended, and write it down, so that another server knows it as well."""
        process = self._processes.get(run)
        code = None if process is None else process.poll()
        if code is not None and job is not None and job.get("code") != code:
            with contextlib.suppress(OSError):
                self.folder.keep_job(run, {**job, "code": code})
        return code if code is not None else (job or {}).get("code")


def _answer(result: dict[str, Any]) -> dict[str, Any]:
    """Return what the pages show of an answer."""
    kind = "comparison" if "methods" in result else "detector" if "operating_point" in result else "selection"
    names = ("features", "score_heldout", "score_heldout_all_features", "score_name", "seconds", "n_features", "n_rows",
             "method")  # fmt: skip
    return {name: result.get(name) for name in names} | {"kind": kind, "interrupted": bool(result.get("interrupted"))}


def _told(log: Path, code: int) -> str:
    """Say how a process ended: what it said itself, or which signal ended it."""
    if code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        why = ", possibly out of memory" if -code == signal.SIGKILL else ""
        return f"The run was killed ({name}{why}). What it had saved is kept."
    try:
        text = log.read_bytes()[-LONGEST_LOG:].decode("utf-8", "replace")
    except OSError:
        text = ""
    lines = [printable(line) for line in text.splitlines() if line.strip()]
    start = next((i for i in range(len(lines) - 1, -1, -1) if lines[i].startswith("fewer: ")), max(len(lines) - 1, 0))
    message = "\n".join(lines[start:]) or f"The run ended with exit code {code} and no message."
    return re.sub(r"^fewer: ", "", message)


def _stamp(pid: int) -> str:
    """Return when a process began, as the system counts, so that another one with its number is not taken for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_same(pid: Any, stamp: Any) -> bool:
    if not isinstance(pid, int) or pid <= 1:
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return bool(stamp) and _stamp(pid) == stamp
