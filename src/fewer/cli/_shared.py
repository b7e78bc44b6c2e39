"""Ctrl-C, SIGTERM and SIGHUP: the first ends the work with the best so far, the second ends it at once.

Options that belong together as one argument of a command.

Training and validation curves as text, for a search that is being watched.

Options of tables that are read in chunks, and when they are.

What the commands share: options that are lists, and progress on standard error.
"""

from __future__ import annotations

import contextlib
import csv
import inspect
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from fewer.errors import InputError
from fewer.run.request import OPTIONS, Request, names_of

if TYPE_CHECKING:
    from fewer.contracts import Resources
    from fewer.io import Stream, TableOptions

import shlex

_asked = 0


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Take SIGTERM, and SIGHUP of a terminal that is closed, as Ctrl-C, and a second of any as the end."""
    global _asked
    _asked = 0
    before = {}
    numbers = [signal.SIGINT, signal.SIGTERM]
    # A closed terminal; not on Windows, and ignored under nohup, which goes on without one.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    for number in numbers:
        with contextlib.suppress(ValueError):  # not in the main thread: whoever runs it decides
            before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    global _asked
    if _asked:
        with contextlib.suppress(OSError, ValueError):
            os.write(2, b"\x1b[?25h" if sys.stderr.isatty() else b"")  # a spinner hides the cursor
        os._exit(128 + number)
    _asked = number
    raise KeyboardInterrupt


def exit_code() -> int:
    """Return the exit code of a stopped command."""
    return 128 + (_asked or signal.SIGINT)


def was_asked() -> bool:
    """Say whether a stop was asked for."""
    return bool(_asked)


def raise_if_asked() -> None:
    """Stop where a stop was asked for in a place that lost it, such as a compiler."""
    if _asked:
        raise KeyboardInterrupt


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses: each of their fields is an option of the command line.

    Parameters
    ----------
    command : callable
        Whose parameters have types; those that are dataclasses are spread out, in their place.

    Returns
    -------
    callable
        The command as typer reads it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> def draw(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> inspect.signature(spread(draw))
    <Signature (*, name: str, width: int = 1, height: int = 2)>
    >>> spread(draw)(name="a", width=5, height=2)
    a Size(width=5, height=2)
    """
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    bundles = {name: hints[name] for name in own if is_dataclass(hints[name])}
    options = [
        option
        for name, parameter in own.items()
        for option in (
            _options_of(bundles[name])
            if name in bundles
            else [parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
    ]

    @wraps(command)
    def spread_out(**values: Any) -> None:
        whole = {
            name: kind(**{one.name: values.pop(one.name) for one in _options_of(kind) if one.name in values})
            for name, kind in bundles.items()
        }
        command(**values, **whole)

    spread_out.__annotations__ = {option.name: option.annotation for option in options}
    spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return spread_out


def _options_of(bundle: Any) -> list[Parameter]:
    """Return a parameter for each field of a bundle; of a `Request`, for those that can be typed."""
    hints = get_type_hints(bundle, include_extras=True)
    if bundle is Request:
        kinds = {name: declared.kind for name, declared in OPTIONS.items()}
        optional = {field.name for field in fields(bundle) if field.default is None}
        hints = {
            name: Annotated[kind | None if name in optional else kind, option(name)] for name, kind in kinds.items()
        }
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
        for field in fields(bundle)
        if field.name in hints
    ]


TRAINING, VALIDATION, BOTH = "·", "█", "▓"


def render_curves(train: Sequence[float], validation: Sequence[float], width: int, height: int) -> str:
    """Draw two curves over the steps of a search, scores in percent on the left.

    Steps beyond the width are averaged into columns. Axis and legend are among the `height` lines. Empty if there is
    nothing to draw or too little room.

    Examples
    --------
    >>> print(render_curves([0.5, 0.6, 0.8, 0.9, 1.0], [0.5, 0.6, 0.7, 0.6, 0.5], width=36, height=7))
    100.0 ┤    ·
     87.5 ┤   ·
     75.0 ┤  ▓
     62.5 ┤ ▓ █
     50.0 ┤▓   █
          └─────
           step 0–4   · training   █ validation
    """
    train, validation = [float(v) for v in train], [float(v) for v in validation]
    finite = [v for v in (*train, *validation) if v == v]
    if not finite or height < 4 or width < 20:
        return ""
    rows, columns = height - 2, min(width - 8, max(len(train), len(validation)))
    low, high = min(finite), max(finite)
    if high - low < 1e-9:
        low, high = low - 0.01, high + 0.01
    training, held_out = (_lines(curve, columns, low, high, rows) for curve in (train, validation))
    picture = []
    for row in range(rows - 1, -1, -1):
        label = 100 * (low + (high - low) * row / (rows - 1))
        cells = "".join(
            BOTH if t == row and v == row else VALIDATION if v == row else TRAINING if t == row else " "
            for t, v in zip(training, held_out, strict=True)
        )
        picture.append(f"{label:5.1f} ┤{cells}".rstrip())
    last = max(len(train), len(validation)) - 1
    picture.append("      └" + "─" * columns)
    picture.append(f"       step 0–{last}   {TRAINING} training   {VALIDATION} validation")
    return "\n".join(picture)


def _lines(curve: Sequence[float], columns: int, low: float, high: float, rows: int) -> list[int]:
    """Return the line on which a curve stands in each column, −1 where there is none."""
    out = []
    for column in range(columns):
        first = column * len(curve) // columns if len(curve) > columns else column
        last = (column + 1) * len(curve) // columns if len(curve) > columns else column + 1
        part = [v for v in curve[first:last] if v == v]
        out.append(round((sum(part) / len(part) - low) / (high - low) * (rows - 1)) if part else -1)
    return out


StreamOption = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read in chunks; automatic for folders, globs and tables larger than memory.",
        show_default=False,
    ),
]
ClusterOption = Annotated[
    str | None, typer.Option("--cluster", help="Dask scheduler to use: tcp://host:port.", show_default=False)
]


def wants_stream(file: Path, asked: bool | None, command: str = "select") -> bool:
    """Say whether a table is read in chunks: as asked, or if it is many files, or larger than memory."""
    if asked:
        return True
    from fewer.cli._outputs import say
    from fewer.io import in_chunks, memory_plan, open_source, refuse_unfit

    if asked is None:
        found = in_chunks(file, command)
        if found and str(file) != "-":
            open_source(str(file))  # what cannot be read is refused before anything is said of it
            say(f"{file} is read in chunks: {memory_plan(file, command)}.")
        return found
    if file.is_file():
        refuse_unfit(file, command)
    return False


def resources_of(jobs: int | None, memory: str | int, device: str = "cpu") -> Resources:
    """Turn options into resources."""
    from joblib import effective_n_jobs

    from fewer.contracts import Resources
    from fewer.selectors import parse_memory

    return Resources(effective_n_jobs(jobs), parse_memory(memory), device)


def jobs_on(cluster: str | None, jobs: int | None) -> int | None:
    """Return how many tasks may run at the same time: on a cluster, as many as it can do."""
    return jobs if cluster is None else -1


def open_chunks(file: Path, target: str, task: Any, options: TableOptions) -> Stream:
    """Open a table to be read in chunks; refuse what only a whole table is read with."""
    from fewer.io import open_stream

    plain = (options["encoding"] or "utf-8").lower() in ("utf-8", "utf8") and options["decimal"] in (None, ".")
    if not plain or options["missing"] is not None or options["schema"] is not None or options["calendar"]:
        raise InputError(
            "A table read in chunks is Parquet, or UTF-8 text with decimal points; --encoding, --decimal, --missing, "
            "--schema and --calendar need it in memory (--no-stream)."
        )
    names = ("nominal", "numeric", "exclude", "groups", "time", "skip_rows_without_target")
    columns: dict[str, Any] = {name: value for name, value in options.items() if name in names}
    return open_stream(str(file), target, task=task, weights=options["sample_weight"], **columns)


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


def repaired(options: Mapping[str, Sequence[str]]) -> str:
    """Return the command that was typed with some options more; lists that stand there already become longer.

    Examples
    --------
    >>> remember(["select", "t.csv", "--missing", "x"])
    >>> print(repaired({"--missing": ["a,b"], "--skip": []}))
    fewer select t.csv '--missing=x,"a,b"' --skip
    """
    parts = list(_typed)
    for option, values in options.items():
        given = next((part for part in parts if part.split("=")[0] == option), None)
        if given is not None:
            at = parts.index(given)
            known = names_of(given.partition("=")[2] if "=" in given else parts[at + 1] if values else "")
            del parts[at : at + 1 + ("=" not in given and bool(values))]
            values = [*known, *values]
        written = io.StringIO()
        csv.writer(written, lineterminator="").writerow(values)
        parts.append(f"{option}={written.getvalue()}" if values else option)
    return shlex.join(["fewer", *parts])


def option(name: str, **changes: Any) -> Any:
    """Return the option of the command line that `Request` declares.

    Parameters
    ----------
    name : str
        A field of `Request`.
    **changes
        What this command says or limits differently, as `typer.Option` takes it.
    """
    declared = OPTIONS[name]
    read = {"callback": declared.read} if declared.read is not None else {}
    return typer.Option(*declared.flags, **{"help": declared.help, **declared.limits, **read, **changes})


def check_jobs(jobs: int) -> int:
    """Refuse no threads at all."""
    return OPTIONS["n_jobs"].read(jobs)  # type: ignore[misc]


class StatusLine:
    """A live line on standard error; silent where nobody watches."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        from rich.console import Console
        from rich.markup import escape

        self._console = Console(stderr=True)
        self._title = escape(title)
        self._live = not quiet and sys.stderr.isatty()
        self._status = self._console.status(self._title) if self._live else None

    def __enter__(self) -> StatusLine:
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

        picture = ""
        if curves is not None and "validation" in curves:
            width = min(self._console.width - 2, 100)
            picture = "\n" + render_curves(curves["training"], curves["validation"], width, 14)
        self._status.update(f"{self._title}: {escape(text)}{escape(picture)}")
