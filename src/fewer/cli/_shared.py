"""What the commands share: options that are lists, and progress on standard error."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from fewer.errors import InputError

_typed: list[str] = []


def remember(arguments: Sequence[str]) -> None:
    """Remember what was typed, so that results can say how to repeat them."""
    _typed[:] = arguments


def typed(*without: str) -> str:
    """Return the command that repeats the run from its start, without some options and their values."""
    kept, skip = ["fewer"], False
    for part in _typed:
        if not skip and part != "--resume" and part.split("=")[0] not in without:
            kept.append(part)
        skip = part in without
    return shlex.join(kept)


def names_of(text: str | None) -> list[str]:
    """Split a list of column names at its commas.

    Examples
    --------
    >>> names_of("zip, code")
    ['zip', 'code']
    """
    return [] if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse_features(text: str) -> Any:
    """Read `7`, `0.5`, `3-8` or `auto`.

    Examples
    --------
    >>> [parse_features(text) for text in ("7", "0.5", "3-8", "auto")]
    [7, 0.5, (3, 8), 'auto']
    """
    if text == "auto":
        return text
    try:
        low, dash, high = text.partition("-")
        value: Any = (int(low), int(high)) if dash else float(text) if "." in text else int(text)
    except ValueError:
        value = None
    good = (
        (isinstance(value, tuple) and 1 <= value[0] <= value[1])
        or (isinstance(value, float) and 0 < value < 1)
        or (isinstance(value, int) and value >= 1)
    )
    if not good:
        raise InputError(f"--features {text!r} is not understood; write a number (7), a share (0.5), 3-8 or auto.")
    return value


def check_jobs(jobs: int) -> int:
    """Refuse no threads at all."""
    if not jobs:
        raise InputError("--jobs 0 leaves nobody to work; give 1 or more, or -1 for all cores.")
    return jobs


JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", callback=check_jobs, help="Threads or processes; −1 for all cores.")
]


class Progress:
    """A live line on standard error; silent where nobody watches."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        from rich.console import Console
        from rich.markup import escape

        self._console = Console(stderr=True)
        self._title = escape(title)
        self._live = not quiet and sys.stderr.isatty()
        self._status = self._console.status(self._title) if self._live else None

    def __enter__(self) -> Progress:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, text: str, curves: Mapping[str, Any] | None = None) -> None:
        """Show what is going on, with a picture where there are curves of training and validation."""
        if self._status is None:
            return
        from rich.markup import escape

        from fewer.cli._curves import render_curves

        picture = ""
        if curves is not None and "validation" in curves:
            width = min(self._console.width - 2, 100)
            picture = "\n" + render_curves(curves["training"], curves["validation"], width, 14)
        self._status.update(f"{self._title}: {escape(text)}{escape(picture)}")
