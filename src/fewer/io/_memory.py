"""How much memory there is, and what does not fit into it."""

from __future__ import annotations

import os
from pathlib import Path

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


PROGRAM = {"rank": 340_000_000, "select": 390_000_000, "compare": 395_000_000}
"""Bytes that each command takes on a table of a few rows: the program itself, libraries included."""
BYTES_PER_CELL = 24
"""A cell of a Parquet file as a column, as a number of the table, and what is computed on the way."""
BYTES_PER_CHARACTER = 4
"""The same of a text, for each of its bytes."""
PACKED = 5
"""How much longer a text is than its gzip file."""
WORK = {"rank": 1.0, "select": 1.2, "compare": 2.2}
"""What each command takes for its table, in units of what ranking takes; a comparison hands models frames and folds."""


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
        Within 1.3 times of what was measured on ten tables for each of the three (`benchmarks/memory.py`).
    """
    size = path.stat().st_size
    if _starts_with(path, b"PAR1"):
        shape = parquet_shape(path)
        return 0 if shape is None else parquet_bytes(size, *shape, command)  # whoever reads it says what is wrong
    return text_bytes(PACKED * size if _starts_with(path, b"\x1f\x8b") else size, command)


def _starts_with(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def parquet_shape(path: Path) -> tuple[int, int] | None:
    """Return the rows and columns that a Parquet file says it has; None if it cannot be read."""
    import polars as pl

    try:
        table = pl.scan_parquet(path)
        return int(table.select(pl.len()).collect().item()), len(table.collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def parquet_bytes(size: int, n_rows: int, n_columns: int, command: str) -> int:
    """Say about how many bytes a command on a Parquet file of a size and shape takes."""
    return PROGRAM[command] + size + int(WORK[command] * BYTES_PER_CELL * n_rows * n_columns)


def text_bytes(size: int, command: str) -> int:
    """Say about how many bytes a command on a text of so many bytes takes."""
    return PROGRAM[command] + int(WORK[command] * BYTES_PER_CHARACTER * size)


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
    if needed <= free:
        return
    share = max(free - PROGRAM[command], 0) / (needed - PROGRAM[command])
    shape = parquet_shape(path) if _starts_with(path, b"PAR1") else None
    would = f"{100 * share:.0f} % of its rows or of its columns"
    if shape is not None:
        would = (
            f"{share * shape[0]:,.0f} of its {shape[0]:,} rows or {share * shape[1]:,.0f} of its {shape[1]:,} columns"
        )
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
