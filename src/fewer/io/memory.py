"""How much memory there is, how many cells a file holds, and what does not fit."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from fewer.io.frames import pl
from fewer.problem import InputError

# Bytes of a text that are looked at.
SAMPLED_BYTES = 1 << 20
SEPARATORS = b",;\t|"
# Bytes of a cell of text that polars keeps in the cell itself; longer ones lie elsewhere.
INLINE = 12
# Bytes of a cell of text, beside what is longer.
TEXT = 16
# Bytes of a longer cell of text, about: Parquet's schema does not say.
WORD = 16
NARROW = {
    **dict.fromkeys(("Boolean", "Int8", "UInt8"), 1),
    **dict.fromkeys(("Int16", "UInt16"), 2),
    **dict.fromkeys(("Float32", "Int32", "UInt32", "Date"), 4),
    "String": TEXT + WORD,
}
"""Bytes of a cell of each type that does not take eight."""
# Bytes that a column takes beside its cells: its names, types and wrappers.
OF_PARQUET, OF_TEXT = 3_000, 7_000


@dataclass(frozen=True)
class Layout:
    """What a file holds.

    Attributes
    ----------
    size : int
        Bytes, unpacked.
    n_rows, n_columns, n_cells : int
        The target included.
    columns : int
        Bytes of all columns as they are read, before they are a table of numbers.
    is_exact : bool
        Rows are as the file says, not counted in its first bytes.
    """

    size: int
    n_rows: int
    n_columns: int
    n_cells: int
    columns: int
    is_exact: bool = True


def layout_of(path: Path) -> Layout | None:
    """Find out what a Parquet file or a text holds; None for a Parquet file that cannot be read.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Layout or None
        Of a Parquet file as it says itself; of a text, also of a packed one, counted in its first mebibyte.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("a,b" + chr(10) + "1,2" + chr(10) + "3,4" + chr(10))
    ...     file.flush()
    ...     layout_of(Path(file.name)).n_cells
    6
    """
    with path.open("rb") as file:
        head = file.read(SAMPLED_BYTES)
    size = os.stat(path).st_size
    if head.startswith(b"PAR1"):
        return _of_parquet(path, size)
    if head.startswith(b"\x1f\x8b"):
        head, size = _unpacked(head, size)
    return _of_text(head, size)


def _of_parquet(path: Path, size: int) -> Layout | None:
    try:
        table = pl.scan_parquet(path)
        types = table.collect_schema().dtypes()
        n_rows = int(table.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    width = sum(NARROW.get(kind.base_type().__name__, 8) for kind in types)
    return Layout(size, n_rows, len(types), n_rows * len(types), n_rows * width + OF_PARQUET * len(types))


def _unpacked(head: bytes, size: int) -> tuple[bytes, int]:
    """Unpack the first bytes, and say about how long the whole is."""
    try:
        text = zlib.decompressobj(wbits=31).decompress(head)
    except zlib.error:
        return b"", size  # the reader will say what is wrong
    return text[:SAMPLED_BYTES], max(len(text) * size // len(head), size)


def _of_text(head: bytes, size: int) -> Layout:
    letters = np.frombuffer(head, dtype=np.uint8)
    ends = letters == ord("\n")
    marks = max((letters == mark for mark in SEPARATORS), key=np.count_nonzero)
    first = int(np.argmax(ends)) if ends.any() else len(head)
    n_columns = 1 + int(np.count_nonzero(marks[:first]))
    places = np.flatnonzero(marks | ends)
    if len(head) and not (marks | ends)[-1]:  # the last cell has no border after it
        places = np.append(places, len(head))
    lengths = np.diff(places, prepend=-1) - 1  # of the cells between borders
    longer = int(lengths[lengths > INLINE].sum())
    share = size / max(len(head), 1)
    n_cells = int(share * len(lengths))
    # Each cell as text and as a number; the places of the separators are forgotten before that.
    columns = (TEXT + 8) * n_cells + int(share * longer) + OF_TEXT * n_columns
    return Layout(size, n_cells // n_columns, n_columns, n_cells, columns, is_exact=False)


def available_memory(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Say how many bytes of memory this process may still take.

    The least of what the machine has free, what each control group around the process leaves (version 2, nested ones
    too, and version 1), and what the limits of the process leave (`ulimit -v`, `ulimit -d`).
    """
    try:
        free = _number_of(proc / "meminfo", "MemAvailable:")
    except (OSError, ValueError):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            free = 1 << 62
    return max(min([free, *_left_by_groups(proc, groups), *_left_by_limits(proc)]), 0)


def _number_of(file: Path, word: str) -> int:
    """Return the bytes that a line of a file of the system says, which are kibibytes there."""
    line = next((line for line in file.read_text().splitlines() if line.startswith(word)), "")
    return int((line.split() or [word, "?"])[1]) * 1024


def _left_by_groups(proc: Path, groups: Path) -> Iterator[int]:
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        lines = ["0::/"]
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers == "":
            root, names, cache = groups, ("memory.max", "memory.current"), "inactive_file "
        elif "memory" in controllers.split(","):
            names, cache = ("memory.limit_in_bytes", "memory.usage_in_bytes"), "total_inactive_file "
            root = groups / "memory"
        else:
            continue
        # Inside a container the path may be that of the machine outside, of which only the root is there.
        for level in (PurePosixPath(path.lstrip("/")), *PurePosixPath(path.lstrip("/")).parents):
            folder = root / level
            try:
                limit, used = ((folder / name).read_text().strip() for name in names)
                stat = (folder / "memory.stat").read_text() if (folder / "memory.stat").exists() else ""
                cached = [int(line.split()[1]) for line in stat.splitlines() if line.startswith(cache)]
                yield int(limit) - int(used) + sum(cached)  # the cache of files is given back when it is needed
            except (OSError, ValueError):  # "max": no limit here
                continue


def _left_by_limits(proc: Path) -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    for limit, word in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            with suppress(OSError, ValueError):
                yield most - _number_of(proc / "self" / "status", word)


# Bytes that each command takes on a table of a few rows: the program itself, libraries included.
PROGRAM = {"rank": 320_000_000, "select": 390_000_000, "compare": 395_000_000}
# How many tables of doubles a command holds: the table, training and test rows, and what models make of them.
TABLES_HELD = {"rank": 1.0, "select": 3.0, "compare": 4.0}
# Bytes of a row beside its cells: target, weight, folds and masks; lists of held-out outputs, also by all features.
OF_ROW = {"rank": 48, "select": 304, "compare": 48}
# A cell of a Parquet file as it is read: in its column, and in the table of numbers.
BYTES_OF_PARQUET_CELL = 16


def needed_memory(path: Path, command: str = "rank") -> int:
    """Say about how many bytes a command on a file takes at its peak, the program included.

    Parameters
    ----------
    path : path
        Parquet or text.
    command : {"rank", "select", "compare"}
        What is to be done with it.

    Returns
    -------
    int
        The program, the columns as they are read (which the allocator gives back late, if at all), what is kept of
        each row, and either the file's bytes or the tables of numbers made of it, whichever is more.
        `benchmarks/memory.py` compares it with what was measured. 0 for a file that cannot be read: whoever reads it
        says what is wrong.
    """
    layout = layout_of(path)
    if layout is None:
        return 0
    tables = int(8 * TABLES_HELD[command] * layout.n_cells)
    return PROGRAM[command] + layout.columns + OF_ROW[command] * layout.n_rows + max(layout.size, tables)


def refuse_unfit(path: Path, command: str) -> None:
    """Refuse a file that does not fit into memory as a whole, and say what would.

    Parameters
    ----------
    path : path
        Parquet or text.
    command : {"rank", "select", "compare"}
        What is to be done with it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     refuse_unfit(Path(file.name), "rank")  # an empty file fits
    """
    needed, free = needed_memory(path, command), available_memory()
    if needed <= free or (layout := layout_of(path)) is None:
        return
    share = max(free - PROGRAM[command], 0) / (needed - PROGRAM[command])
    n_rows, n_columns = layout.n_rows, layout.n_columns
    would = f"{100 * share:.0f} % of its rows or of its columns"
    if layout.is_exact:
        would = f"{share * n_rows:,.0f} of its {n_rows:,} rows or {share * n_columns:,.0f} of its {n_columns:,} columns"
    raise InputError(
        f"{path.name} needs about {amount(needed)} of memory to {command}, but {amount(free)} is free; {would} would"
        " fit, or read all of it in chunks (--stream)."
    )


def refuse_too_large(name: str, needed: int, limit: int) -> None:
    """Refuse a table that does not fit into memory."""
    if needed > limit:
        raise InputError(
            f"{name} needs about {amount(needed)} of memory, but {amount(limit)} is free; read it in chunks "
            "(--stream), drop columns (--exclude), or sample its rows."
        )


def amount(n_bytes: int) -> str:
    """Write a number of bytes in the unit that suits it.

    Examples
    --------
    >>> amount(3 << 30), amount(700), amount(1_500_000)
    ('3.0 GiB', '0.7 KiB', '1.4 MiB')
    """
    unit = next((power for power in (3, 2) if n_bytes >= 1024**power), 1)
    return f"{n_bytes / 1024**unit:.1f} {' KMG'[unit]}iB"
