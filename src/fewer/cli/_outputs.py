"""What a command says and writes, looked at before the work and written after it; and Ctrl-C in between."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer

import fewer
from fewer.errors import InputError
from fewer.files import refuse_unwritable, write_atomically
from fewer.text import counted, printable, printable_json

# Addresses, not pages: threads and compilers reserve far more than they use.
LEAST_MEMORY = 1024 << 20
# Larger numbers stand for infinity: scores of features that tell the classes apart without any error.
LARGEST_SHOWN = 1e300
MARK = b'<meta name="generator" content="fewer'


def check_page(path: Path, file: Path | None, option: str = "--report", mark: bytes = MARK) -> None:
    """Refuse a place where another file is; a page, or what else has the mark, was written by fewer and is replaced."""
    if file is not None and path.exists() and file.exists() and path.samefile(file):
        raise InputError(f"{option} {path} is the input table; choose another name.")
    if path.is_file() and path.stat().st_size:
        try:
            with path.open("rb") as written:
                is_ours = mark in written.read(2000)
        except OSError:
            is_ours = False
        if not is_ours:
            raise InputError(f"{path} exists and was not written by fewer; choose another {option}.")
    refuse_unwritable(path, option)


def free_folder(name: str) -> Path:
    """Return a folder's name that is not taken: table.fewer, table-2.fewer, …"""
    stem, kind = Path(name).stem or "run", Path(name).suffix
    names = itertools.chain([name], (f"{stem}-{number}{kind}" for number in itertools.count(2)))
    return next(path for path in map(Path, names) if not path.exists())


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


def prepare_streams() -> None:
    """Make every text printable, in UTF-8; only a terminal keeps its own encoding."""
    if sys.stdout is None:
        if sys.stderr is not None:
            say("fewer: standard output is closed; redirect it to a file, or /dev/null with --out.")
        raise SystemExit(2)
    if sys.stderr is None:
        handle = os.open(os.devnull, os.O_WRONLY)  # also keeps the number 2 from becoming that of a file
        sys.stderr = os.fdopen(handle, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        with contextlib.suppress(OSError):  # what was put in a file's place behind Python's back stays as it is
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def refuse_little_memory() -> None:
    """Refuse to begin where a limit on this process leaves so little memory that libraries would end it midway."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return
        left = limit - int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    if left < LEAST_MEMORY:
        raise InputError(
            f"The limit on this process (ulimit -v) leaves {max(left, 0) >> 20} MiB of memory; at least "
            f"{LEAST_MEMORY >> 20} MiB are needed."
        )


def say(message: object, *, keep_lines: bool = False) -> None:
    """Print to standard error, on one line unless it is a table; a closed stream is no error."""
    text = printable(message, keep="\n") if keep_lines else printable(" ".join(str(message).split()))
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def width_of_paper(elsewhere: int = 400) -> int:
    """Return the width of the terminal, or what there is elsewhere: a pipe has no edge at which to cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else elsewhere


def shown(*parts: Any) -> str:
    """Return tables and lines as the terminal shows them, or as plain text where there is none."""
    from rich.console import Console

    watched = sys.stdout.isatty()
    paper = io.StringIO()
    console = Console(file=paper, highlight=False, force_terminal=watched, width=width_of_paper())
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    return "\n".join(line if watched else line.rstrip() for line in paper.getvalue().removesuffix("\n").split("\n"))


def printed_table(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Return a table for `shown`: three digits of a score, whole numbers as they are, names as they may be printed."""
    from rich.markup import escape
    from rich.table import Table

    def cell(value: Any) -> str:
        if value is None or isinstance(value, str):
            return "–" if value is None else escape(printable(value))
        if abs(value) > LARGEST_SHOWN:
            return "∞" if value > 0 else "−∞"
        return f"{value:,.0f}" if isinstance(value, int) or 1000 <= abs(value) < 1e9 else f"{value:.3g}"

    table = Table(box=None, pad_edge=False)
    for title in titles:
        style = {"": "dim", "feature": "bold"}.get(title)
        table.add_column(title, justify="left" if title == "feature" else "right", style=style)
    for row in rows:
        table.add_row(*map(cell, row))
    return table


# By whether the curve of training and that of validation are there.
MARKS = {(False, False): " ", (True, False): "·", (False, True): "█", (True, True): "▓"}


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
    n_steps = max(len(train), len(validation))
    rows, columns = height - 2, min(width - 8, n_steps)
    low, high = min(finite), max(finite)
    if high - low < 1e-9:
        low, high = low - 0.01, high + 0.01
    training, held_out = (_lines(curve, columns, low, high, rows) for curve in (train, validation))
    picture = []
    for row in range(rows - 1, -1, -1):
        label = 100 * (low + (high - low) * row / (rows - 1))
        cells = "".join(MARKS[t == row, v == row] for t, v in zip(training, held_out, strict=True))
        picture.append(f"{label:5.1f} ┤{cells}".rstrip())
    return "\n".join([*picture, "      └" + "─" * columns, f"       step 0–{n_steps - 1}   · training   █ validation"])


def _lines(curve: Sequence[float], columns: int, low: float, high: float, rows: int) -> list[int]:
    """Return the line on which a curve stands in each column, −1 where there is none."""
    out = []
    for column in range(columns):
        first = column * len(curve) // columns if len(curve) > columns else column
        last = (column + 1) * len(curve) // columns if len(curve) > columns else column + 1
        part = [v for v in curve[first:last] if v == v]
        out.append(round((sum(part) / len(part) - low) / (high - low) * (rows - 1)) if part else -1)
    return out


# Shows a text on the status line, with a picture where there are curves of training and validation.
Show = Callable[..., None]


@contextlib.contextmanager
def status_line(title: str) -> Iterator[Show]:
    """Keep a live line on standard error and yield what shows a text there; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda text, curves=None: None
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    with console.status(escape(title)) as status:

        def show(text: str, curves: Mapping[str, Any] | None = None) -> None:
            picture = ""
            if curves is not None and "validation" in curves:
                width = min(console.width - 2, 100)
                picture = "\n" + render_curves(curves["training"], curves["validation"], width, 14)
            status.update(escape(f"{title}: {text}{picture}"))

        yield show


# What could not be written: told in one line when the command ends, with exit code 1.
troubles: list[str] = []


def show(answer: object, *, as_json: bool = False) -> None:
    """Print an answer: a text as it is, other content as JSON."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=1, default=str)
    try:
        print(printable_json(text) if as_json else text, flush=True)
    except OSError as error:
        troubles.append(f"cannot print the result ({error.strerror})")
        silence(sys.stdout)


def attempt(what: object, action: Callable[[], Any]) -> None:
    """Write something besides the answer."""
    try:
        made = action()
    except OSError as error:
        troubles.append(f"cannot write {what} ({error.strerror})")
    except InputError as error:
        troubles.append(str(error).removesuffix("."))
    else:
        close_folder(made)


def close_folder(folder: Any) -> None:
    """Report what a run's folder, if this is one, could not save, and let others write there."""
    if isinstance(folder, fewer.run.folder.RunFolder):
        troubles.extend([folder.trouble] * bool(folder.trouble))
        folder.close()


def leave_stopped(out: Path | None, name: str, keep: Callable[[Path], Any]) -> NoReturn:
    """Save a run that has no folder in a new one, say how to resume it, and leave."""
    if out is None:
        out = free_folder(name)
        attempt(out, partial(keep, out))
    if not troubles:
        say(f"fewer: stopped; saved in {out}. Resume with: --out {shlex.quote(str(out))} --resume")
    raise typer.Exit(exit_code()) from None


def silence(stream: Any) -> None:
    """Let what is still to be written to a closed or full stream go nowhere, instead of failing at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def check_save(save: Path, file: Path, *, force: bool = False) -> None:
    """Refuse a place for a table before the work: the table itself, another file, an unknown format or folder."""
    if save.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise InputError(f"--save {save}: unsupported format; use .csv, .tsv or .parquet.")
    if save.exists() and file.exists() and save.samefile(file):
        raise InputError(f"--save {save} is the input table; choose another name.")
    if save.is_file() and not force:
        raise InputError(f"{save} already exists; choose another --save, or overwrite it with --force.")
    refuse_unwritable(save, "--save")


def saver(save: Path, file: Path, target: str, options: dict[str, Any]) -> Callable[[list[str]], str]:
    """Return what writes the chosen columns and the target to a file, once they are known."""

    def write(features: list[str]) -> str:

        names = {key: options[key] for key in ("encoding", "sheet", "header", "missing", "decimal", "schema")}
        frame = fewer.io.reduce_table(file, features, target=target, typed=save.suffix.lower() == ".parquet", **names)
        write_atomically(save, fewer.io.frame_bytes(frame, save))
        return f"{frame.height:,} rows, {counted(frame.width, 'column')} in {save}"

    return write


def write_in_chunks(save: Path | None, file: Path, columns: list[str], **known: Any) -> str:
    """Write columns of a table in chunks, with what is known of them; return what to say of it."""
    n_rows, notes = fewer.io.write_columns(file, columns, save, **known)
    for note in notes:
        say(f"Note: {note}")
    return f"{n_rows:,} rows, {counted(len(columns), 'column')} in {save}"
