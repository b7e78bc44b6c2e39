"""How many cells a file holds and what its columns take, from its schema or its first bytes."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewer.io._polars import pl

HEAD = 1 << 20
"""Bytes of a text that are looked at."""
SEPARATORS = b",;\t|"
INLINE = 12
"""Bytes of a cell of text that polars keeps in the cell itself; longer ones lie elsewhere."""
TEXT = 16
"""Bytes of a cell of text, beside what is longer."""
WORD = 16
"""Bytes of a longer cell of text, about: Parquet's schema does not say."""
NARROW = {
    **dict.fromkeys(("Boolean", "Int8", "UInt8"), 1),
    **dict.fromkeys(("Int16", "UInt16"), 2),
    **dict.fromkeys(("Float32", "Int32", "UInt32", "Date"), 4),
    "String": TEXT + WORD,
}
"""Bytes of a cell of each type that does not take eight."""
OF_PARQUET, OF_TEXT = 3_000, 7_000
"""Bytes that a column takes beside its cells: its names, types and wrappers."""


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
        head = file.read(HEAD)
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
        return b"", size  # whoever reads it says what is wrong
    return text[:HEAD], max(len(text) * size // len(head), size)


def _of_text(head: bytes, size: int) -> Layout:
    letters = np.frombuffer(head, dtype=np.uint8)
    ends = letters == ord("\n")
    marks = max((letters == mark for mark in SEPARATORS), key=np.count_nonzero)
    first = int(np.argmax(ends)) if ends.any() else len(head)
    n_columns = 1 + int(np.count_nonzero(marks[:first]))
    lengths = _lengths(marks | ends, len(head))
    longer = int(lengths[lengths > INLINE].sum())
    share = size / max(len(head), 1)
    n_cells = int(share * len(lengths))
    # Each cell as text and as a number; the places of the separators are forgotten before that.
    columns = (TEXT + 8) * n_cells + int(share * longer) + OF_TEXT * n_columns
    return Layout(size, n_cells // n_columns, n_columns, n_cells, columns, is_exact=False)


def _lengths(borders: NDArray[np.bool_], n_bytes: int) -> NDArray[np.int64]:
    """Return how long the cells between borders are; a last one without its border counts."""
    places = np.append(np.flatnonzero(borders), n_bytes) if n_bytes and not borders[-1] else np.flatnonzero(borders)
    return np.diff(places, prepend=-1) - 1
