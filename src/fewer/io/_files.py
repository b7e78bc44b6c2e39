"""From files to a problem: text tables, ARFF and Parquet, also compressed by gzip."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from fewer.io._arff import is_arff, read_arff
from fewer.io._memory import available_memory, refuse_too_large
from fewer.io._names import column_number, nearest, refuse_repeated_names
from fewer.io._reader import to_problem
from fewer.io._text import Sheet, read_text, to_utf8
from fewer.problem import InputError, Problem, Task

BYTES_PER_ARFF_CELL = 80
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
STRANGERS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"%PDF": "a PDF document; save the table as CSV",
    b"BZh": "compressed by bzip2; unpack it or use gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it or use gzip",
    b"(\xb5/\xfd": "compressed by zstd; unpack it or use gzip",
    b"\x93NUMPY": "a NumPy array; give the array to fewer.select, or save it as CSV",
    b"ARROW1": "an Arrow file; save it as Parquet",
}


def read_table(
    path: Path | str,
    target: str | int,
    *,
    task: Task | None = None,
    nominal: Iterable[str | int] = (),
    numeric: Iterable[str | int] = (),
    encoding: str = "utf-8",
    separator: str | None = None,
    decimal: str = ".",
    memory: int | None = None,
) -> Problem:
    """Read a file into a problem.

    Parameters
    ----------
    path : path
        A text table with a header row (CSV, TSV, …), ARFF or Parquet, told apart by content; text may be
        compressed by gzip.
    target : str or int
        The column to predict, by name or by number: 0 is the first, −1 the last. A name comes first if both fit.
    task : {"classification", "regression"}, optional
        Found out from the target unless given.
    nominal, numeric : columns by name or number
        Columns whose kind is not what their cells look like.
    encoding : str
        Of text.
    separator : str, optional
        Between cells; found out from the first lines unless given.
    decimal : str
        The decimal point.
    memory : int, optional
        Bytes that the table may take; the memory that is free unless given.

    Returns
    -------
    Problem
        What was noticed on the way stands in its `notes`.
    """
    sheet = read_sheet(path, encoding=encoding, separator=separator, memory=memory)
    names = sheet.frame.columns
    label = names[_find_target(target, names, Path(path).name)]
    if len(names) == 1:
        raise InputError(f"{Path(path).name} has no column beside the target {label!r}; there is nothing to select.")
    as_levels = {names[column_number(column, names, "nominal")] for column in nominal}
    as_numbers = {names[column_number(column, names, "numeric")] for column in numeric}
    as_levels |= set(sheet.nominal) - as_numbers
    mixed = task == "classification" or label in as_levels
    as_levels.discard(label)
    frame = sheet.typed(as_levels, as_numbers, decimal=decimal, target=label, mixed=mixed)
    return to_problem(
        frame.drop(label),
        frame[label],
        task=task,
        nominal=as_levels,
        numeric=as_numbers - {label},
        place=sheet.place,
        notes=sheet.notes,
    )


def read_frame(path: Path | str, *, target: str | None = None) -> pl.DataFrame:
    """Read a file into a frame whose columns have types; those declared nominal are text.

    The target, if named, may mix numbers and words.
    """
    sheet = read_sheet(path)
    nominal = [name for name in sheet.nominal if name != target]
    frame = sheet.typed(nominal, [], target=target, mixed=True)
    return frame.with_columns(sheet.frame.select(nominal))


def read_sheet(
    path: Path | str, *, encoding: str = "utf-8", separator: str | None = None, memory: int | None = None
) -> Sheet:
    """Read a file into columns, those of text tables still as text."""
    path = Path(path)
    limit = available_memory() if memory is None else memory
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; {_similar_file(path)}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}).") from None
    if start.startswith(PARQUET):
        return _read_parquet(path, limit)
    refuse_too_large(path.name, path.stat().st_size, limit)
    content = path.read_bytes()
    if start.startswith(GZIP):
        content = _unpack(content, path.name, limit)
    for magic, what in STRANGERS.items():
        if content.startswith(magic):
            raise InputError(f"{path.name} is {what}.")
    content = to_utf8(content, path.name, encoding)
    if is_arff(content, path.name):
        refuse_too_large(path.name, len(content) + BYTES_PER_ARFF_CELL * content.count(b","), limit)
        return read_arff(content, path.name)
    return read_text(content, path.name, separator, limit)


def _read_parquet(path: Path, limit: int) -> Sheet:
    try:
        table = pl.scan_parquet(path)
        names = table.collect_schema().names()
        n_rows = int(table.select(pl.len()).collect().item())
        # Once as columns, once as the table of numbers.
        refuse_too_large(path.name, 16 * n_rows * len(names), limit)
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path.name} is a Parquet file that cannot be read ({reason}); write it again.") from None
    refuse_repeated_names(names, f"{path.name}: ")
    if not names:
        raise InputError(f"{path.name} has no columns; give a table.")
    if not frame.height:
        raise InputError(f"{path.name} has columns, but no rows; give a table with rows.")
    return Sheet(frame)


def _unpack(content: bytes, name: str, limit: int) -> bytes:
    """Unpack gzip data, however many members it has, but not beyond the limit."""
    parts: list[bytes] = []
    size = 0
    while content.startswith(GZIP):
        member = zlib.decompressobj(wbits=31)
        try:
            parts.append(member.decompress(content, max(limit - size, 1)))
        except zlib.error:
            raise InputError(f"{name} is damaged: it is no whole gzip file; copy or pack it again.") from None
        size += len(parts[-1])
        if member.unconsumed_tail:
            refuse_too_large(name, 2 * limit, limit)
        if not member.eof:
            raise InputError(f"{name} is damaged: it is no whole gzip file; copy or pack it again.")
        content = member.unused_data
    return b"".join(parts)


def _find_target(target: str | int, names: list[str], file: str) -> int:
    if isinstance(target, str):
        if target in names:
            return names.index(target)
        try:
            target = int(target)
        except ValueError:
            raise InputError(f"{file} has no column {target!r}; {nearest(str(target), names)}") from None
    if not -len(names) <= target < len(names):
        raise InputError(
            f"{file} has no column {target}; its {len(names)} columns go from 0 to {len(names) - 1}, or from "
            f"-{len(names)} to -1 counted from the end."
        )
    return target % len(names)


def _similar_file(path: Path) -> str:
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"did you mean {near[0]}?" if near else "check its name and folder."
