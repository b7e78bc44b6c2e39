"""How much memory there is, and what does not fit into it."""

from __future__ import annotations

import os
from pathlib import Path

from fewer.io._layout import Layout, layout_of
from fewer.problem import InputError


def available_memory() -> int:
    """Say how many bytes of memory are free."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        try:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            return 1 << 62
    try:
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit.isdigit():
            free = min(free, int(limit) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    return free


PROGRAM = {"rank": 320_000_000, "select": 390_000_000, "compare": 395_000_000}
"""Bytes that each command takes on a table of a few rows: the program itself, libraries included."""
TABLES = {"rank": 1.0, "select": 3.0, "compare": 4.0}
"""How many tables of doubles a command holds: the table, training and test rows, and what models make of them."""
OF_ROW = {"rank": 48, "select": 304, "compare": 48}
"""Bytes of a row beside its cells: target, weight, folds and masks; lists of held-out outputs, also by all features."""
BYTES_PER_CELL = 16
"""A cell of a Parquet file as it is read: in its column, and in the table of numbers."""


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
    return 0 if layout is None else _needed(layout, command)


def _needed(layout: Layout, command: str) -> int:
    tables = int(8 * TABLES[command] * layout.n_cells)
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
    layout, free = layout_of(path), available_memory()
    if layout is None or _needed(layout, command) <= free:
        return
    needed = _needed(layout, command)
    share = max(free - PROGRAM[command], 0) / (needed - PROGRAM[command])
    n_rows, n_columns = layout.n_rows, layout.n_columns
    would = f"{100 * share:.0f} % of its rows or of its columns"
    if layout.is_exact:
        would = f"{share * n_rows:,.0f} of its {n_rows:,} rows or {share * n_columns:,.0f} of its {n_columns:,} columns"
    raise InputError(
        f"{path.name} needs about {amount(needed)} of memory to {command}, but {amount(free)} is free; a file with "
        f"{would} would fit, and all of it does in chunks (--stream)."
    )


def refuse_too_large(name: str, needed: int, limit: int) -> None:
    """Refuse a table that does not fit into memory."""
    if needed > limit:
        raise InputError(
            f"{name} needs about {amount(needed)} of memory, but {amount(limit)} is free; "
            "read it in chunks (--stream), leave columns out (--exclude), or take a sample of its rows."
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
