"""A run on disk: what it is, how far it came, what it found. Loading one runs no code."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fewer.budget import Budget, parse_budget
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.trace import Trace, write_atomically

CHECKPOINT_SECONDS = 0.5


def fingerprint(problem: Problem, components: dict[str, Any]) -> str:
    """Name a run by its data and its components, so that it is only ever resumed as itself."""
    digest = hashlib.sha256()
    for part in (problem.X, problem.y, problem.sample_weight, problem.groups):
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    about = {"names": problem.names, "kinds": problem.kinds, "task": problem.task, "components": components}
    digest.update(json.dumps(about, sort_keys=True, default=str).encode())
    return digest.hexdigest()[:16]


def recorded_budget(path: Path | str, asked: str | float) -> Budget | str | float:
    """Return the budget that a run on disk was measured to have, since a machine is not measured alike twice."""
    try:
        known = json.loads((Path(path) / "run.json").read_text())["components"]["budget"]
    except (OSError, ValueError, KeyError, TypeError):
        return asked
    return Budget(**known) if known["seconds"] == parse_budget(asked) else asked


class RunFolder:
    """The folder of one run.

    `run.json` says what the run is, `trace.npz` how far its search came, `heldout.json` which folds of the held-out
    evaluation are done, `result.json` what it found. Every file is replaced whole, so a kill at any moment loses
    at most the last seconds.
    """

    def __init__(self, path: Path | str, components: dict[str, Any], name: str, *, resume: bool) -> None:
        self.path = Path(path)
        self.name = name
        self._saved_at = 0.0
        known = self._read("run.json")
        if resume and known is None:
            raise InputError(f"There is no run to resume in {self.path}; leave --resume out to start one.")
        if resume and known["fingerprint"] != name:
            changed = sorted(
                key for key in components if known["components"].get(key) != json.loads(json.dumps(components))[key]
            )
            what = f"its {', '.join(changed)} differ" if changed else "its data differ"
            raise InputError(f"{self.path} holds another run ({what}); choose another --out or leave --resume out.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not resume:
                for old in ("trace.npz", "heldout.json", "result.json"):
                    (self.path / old).unlink(missing_ok=True)
            self.write("run.json", {"fingerprint": name, "components": components})
        except OSError as error:
            raise InputError(
                f"The output folder {self.path} cannot be written ({error.strerror}); choose another --out."
            ) from None

    def trace(self) -> Trace:
        """Return the trace to go on from: the saved one, or a new one."""
        path = self.path / "trace.npz"
        trace = Trace.load(path) if path.exists() else Trace()
        trace.fingerprint = self.name
        return trace

    def folds(self) -> list[dict[str, Any]]:
        """Return the records of the held-out folds that are done."""
        return self._read("heldout.json") or []

    def keep_trace(self, trace: Trace, *, now: bool = False) -> None:
        """Save the trace, unless that was done a moment ago."""
        if now or time.monotonic() - self._saved_at >= CHECKPOINT_SECONDS:
            trace.save(self.path / "trace.npz")
            self._saved_at = time.monotonic()

    def keep_folds(self, records: list[dict[str, Any]]) -> None:
        """Save the records of the held-out folds."""
        self.write("heldout.json", records)

    def write(self, name: str, content: Any) -> None:
        """Write one JSON file whole."""
        text = json.dumps(content, indent=1, ensure_ascii=False).encode()
        write: Callable[[Any], Any] = lambda file: file.write(text)  # noqa: E731
        write_atomically(self.path / name, write)

    def _read(self, name: str) -> Any:
        path = self.path / name
        try:
            return json.loads(path.read_text()) if path.exists() else None
        except (ValueError, OSError):
            raise InputError(f"{path} cannot be read as a run of fewer; choose another --out.") from None
