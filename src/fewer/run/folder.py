"""A run on disk: what it is, how far it came, what it found. Loading one runs no code."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fewer import files
from fewer.contracts.trace import Trace
from fewer.errors import InputError
from fewer.files import CELLS, TOTAL
from fewer.problem import Problem
from fewer.run.budget import Budget, parse_budget

CHECKPOINT_SECONDS = 0.5
RUN, TRACE, HELDOUT, RESULT = "run.json", "trace.npz", "heldout.json", "result.json"
OWN = (RUN, TRACE, HELDOUT, RESULT, TOTAL, CELLS)
ASIDE = ".fewer-replaced"


def fingerprint(problem: Problem, components: dict[str, Any]) -> str:
    """Name a run by its data and its components, so that it is only ever resumed as itself."""
    return problem.fingerprint({"components": components})


def recorded_budget(path: Path | str, asked: str | float) -> Budget | str | float:
    """Return the budget that a run on disk was measured to have, since a machine is not measured alike twice."""
    try:
        known = Budget(**json.loads((Path(path) / RUN).read_bytes())["components"]["budget"])
        return known if known.seconds == parse_budget(asked) else asked
    except (OSError, ValueError, KeyError, TypeError):
        return asked


def check_folder(path: Path, *, resume: bool, force: bool) -> None:
    """Refuse to write where somebody else's files are, or over a run that nobody asked to replace.

    Parameters
    ----------
    path : path
        Of the folder.
    resume : bool
        Whether the run in it is to go on.
    force : bool
        Whether the run in it may be replaced.
    """
    try:
        names = [name for name in sorted(os.listdir(path)) if not files.is_debris(name) and name != ASIDE]
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another --out.") from None
    if not resume and names and not is_run(path):
        content = f"{names[0]!r} and {len(names) - 1} more" if len(names) > 1 else repr(names[0])
        raise InputError(f"{path} is not a fewer run (it holds {content}); nothing was changed. Choose another --out.")
    if not resume and names and not force:
        how = "a finished run" if RESULT in names else "a run"
        raise InputError(f"{path} already holds {how}; --resume continues it, --force replaces it.")
    files.refuse_unwritable(path / RUN, "--out")


@contextmanager
def replacing(path: Path) -> Iterator[None]:
    """Put the run in a folder of ours aside; it comes back if the new one is refused or saves nothing."""
    if not is_run(path):
        yield
        return
    aside = path / ASIDE
    _put_aside(path, aside)
    try:
        yield
    except BaseException as error:
        if isinstance(error, InputError) or not any((path / name).exists() for name in OWN if name != RUN):
            _put_back(aside, path)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put_aside(path: Path, aside: Path) -> None:
    lock = files.FolderLock(path)
    try:
        aside.mkdir(exist_ok=True)
        for name in reversed(OWN):  # what says that the folder is ours goes last
            if (path / name).exists():
                os.replace(path / name, aside / name)
    finally:
        lock.release()


def _put_back(aside: Path, path: Path) -> None:
    for name in OWN:
        if (aside / name).exists():
            os.replace(aside / name, path / name)
        else:
            (path / name).unlink(missing_ok=True)


def is_run(path: Path) -> bool:
    """Say whether a folder holds a run or a comparison of ours."""
    try:
        if (path / RUN).exists():
            return {"fingerprint", "components"} <= set(json.loads(files.read_own(path / RUN)))
        with (path / CELLS).open("rb") as file:
            return not (path / CELLS).is_symlink() and "comparison" in json.loads(file.readline())
    except (OSError, ValueError, TypeError):
        return False


class RunFolder:
    """The folder of one run.

    `run.json` says what the run is, `trace.npz` how far its search came, `heldout.json` which folds of the held-out
    evaluation are done, `result.json` what it found. Every file is replaced whole, so a kill at any moment loses
    at most the last seconds; each carries the run's fingerprint, and files of another run are not believed. One
    process at a time may write. A disk that fills does not end the run: `trouble` says what is not saved.

    Attributes
    ----------
    path : Path
    name : str
        The fingerprint of the run.
    trouble : str
        Why the last save failed; empty if it did not.
    goes_on : bool
        Whether other work follows the run, so that what it finds is no result yet.
    """

    def __init__(self, path: Path | str, components: dict[str, Any], name: str, *, resume: bool) -> None:
        self.path = Path(path)
        self.name = name
        self.trouble = ""
        self.goes_on = False
        self._saved_at = 0.0
        files.refuse_strangers(self.path, OWN, ours=resume or (self.path / RUN).exists())
        if resume:  # what is damaged or of another run is refused before anything is written
            self._refuse_other(self._read(RUN), components)
            self.folds()
            self.trace()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = files.FolderLock(self.path)
            if not resume and self._read(RUN) is not None:
                raise InputError(f"{self.path} already holds a run; --resume continues it, --force replaces it.")
            files.sweep(self.path, OWN)
            if not resume:
                files.write_atomically(self.path / RUN, files.to_json({"fingerprint": name, "components": components}))
            else:
                files.refuse_unwritable(self.path / RUN, "the run")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written ({error.strerror}); choose another folder.") from None

    def trace(self) -> Trace:
        """Return the trace to go on from: the saved one, or a new one."""
        path = self.path / TRACE
        trace = Trace()
        if path.exists():
            trace = Trace.load(path)
            self._refuse_strange(TRACE, trace.fingerprint)
        trace.fingerprint = self.name
        return trace

    def folds(self) -> list[dict[str, Any]]:
        """Return the records of the held-out folds that are done."""
        if not (self.path / HELDOUT).exists():
            return []
        whole = files.unsealed(self._read(HELDOUT))
        if whole is None or not isinstance(whole.get("folds"), list):
            raise self._damaged(HELDOUT)
        self._refuse_strange(HELDOUT, whole.get("fingerprint"))
        return list(whole["folds"])

    def keep_trace(self, trace: Trace, *, now: bool = False) -> None:
        """Save the trace, unless that was done a moment ago."""
        if now or time.monotonic() - self._saved_at >= CHECKPOINT_SECONDS:
            trace.fingerprint = self.name
            self._attempt(TRACE, lambda: trace.save(self.path / TRACE))
            self._saved_at = time.monotonic()

    def keep_folds(self, records: list[dict[str, Any]]) -> None:
        """Save the records of the held-out folds."""
        self.write(HELDOUT, files.sealed({"fingerprint": self.name, "folds": records}))

    def write(self, name: str, content: Any) -> None:
        """Write one JSON file whole."""
        self._attempt(name, lambda: files.write_atomically(self.path / name, files.to_json(content)))

    def close(self) -> None:
        """Let another process write here."""
        self._lock.release()

    def _attempt(self, name: str, save: Any) -> None:
        try:
            save()
        except OSError as error:
            self.trouble = f"{self.path / name} cannot be written ({error.strerror})"
        else:
            self.trouble = ""

    def _refuse_other(self, known: Any, components: dict[str, Any]) -> None:
        if known is None:
            raise InputError(f"No run to resume in {self.path}; omit --resume to start one.")
        if not isinstance(known, dict) or not isinstance(known.get("components"), dict):
            raise self._damaged(RUN)
        wanted = json.loads(files.to_json(components))
        if known.get("fingerprint") != self.name or known["components"] != wanted:
            changed = sorted(key for key in wanted if known["components"].get(key) != wanted[key])
            what = f"its {', '.join(changed)} differ{'s' * (len(changed) == 1)}" if changed else "its data differ"
            raise InputError(f"{self.path} holds a different run ({what}); choose another folder.")

    def _refuse_strange(self, name: str, fingerprint: Any) -> None:
        if fingerprint != self.name:
            raise InputError(
                f"{self.path / name} and {self.path / RUN} come from different runs; nothing was changed. Restore "
                f"the right {name}, or delete it to redo that part."
            )

    def _damaged(self, name: str) -> InputError:
        others = [other for other in OWN if other != name and (self.path / other).exists()]
        left = f" The rest can be used ({', '.join(others)})." if others else ""
        cure = "start the run again in another folder" if name == RUN else "delete it to redo that part"
        return InputError(f"{self.path / name} is damaged; nothing was changed: {cure}.{left}")

    def _read(self, name: str) -> Any:
        path = self.path / name
        try:
            return json.loads(path.read_bytes()) if path.exists() else None
        except (ValueError, RecursionError):
            raise self._damaged(name) from None
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}); choose another folder.") from None
