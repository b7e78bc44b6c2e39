"""Tables as text: comma, tab, semicolon or bar between cells, a header row, quotes where needed."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fewer.io._frames import Place, pl, refuse_repeated_names, row_number
from fewer.io._kinds import MISSING, ReadOptions, Understood, typed_columns, typed_frame
from fewer.io._memory import refuse_too_large
from fewer.problem import InputError

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
CHUNK = 20_000
BYTES_PER_CELL = 24
"""A cell as text and as a number."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table before its target is known: columns with names, where each row stands, what was noticed."""

    frame: pl.DataFrame
    place: Place = row_number
    nominal: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    is_text: bool = False
    missing: tuple[str, ...] = MISSING
    semicolons: bool = False

    def without(self, columns: Iterable[str]) -> Sheet:
        """Return the sheet without some of its columns, which are then not read at all."""
        gone = set(columns)
        nominal = tuple(name for name in self.nominal if name not in gone)
        return replace(self, frame=self.frame.drop(gone), nominal=nominal)

    def typed(self, options: ReadOptions) -> Understood:
        """Return the columns with their types."""
        options = replace(options, semicolons=self.semicolons)
        return typed_columns(self.frame, self.place, options) if self.is_text else typed_frame(self.frame, options)


def to_utf8(content: bytes, name: str, encoding: str) -> bytes:
    """Return the text as UTF-8 with line ends as they are; refuse what is no text."""
    try:
        found = codecs.lookup(encoding)
        if not getattr(found, "_is_text_encoding", True):
            raise LookupError  # such as hex
        codec = found.name
    except (LookupError, ValueError):
        raise InputError(f"Encoding {encoding!r} is not known; use for example utf-8, latin-1 or cp1252.") from None
    if codec == "utf-8":
        content = content.removeprefix(codecs.BOM_UTF8)
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InputError(f"{name} is UTF-16 text; give its encoding (--encoding utf-16).")
        if 0 in content:
            line = content[: content.index(0)].count(b"\n") + 1
            raise InputError(
                f"{name} is not a text table (line {line} holds a zero byte); CSV, ARFF or Parquet is read."
            )
        _refuse_other_encodings(content, name)
    else:
        try:
            content = content.decode(codec).removeprefix("\ufeff").encode()
        except (UnicodeError, ValueError) as error:
            raise InputError(f"{name} is not {encoding} text ({error}); give another --encoding.") from None
        if 0 in content:
            raise InputError(f"{name} is not a text table in {encoding}; give another --encoding.")
    return content


def _refuse_other_encodings(content: bytes, name: str) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(content)
    for start in range(0, len(view), 1 << 20):
        try:
            decoder.decode(view[start : start + (1 << 20)], final=start + (1 << 20) >= len(view))
        except UnicodeDecodeError as error:
            # A character may have begun in the chunk before, so the place can be up to three bytes early.
            at = max(start + error.start - 3, 0)
            while content[at] < 0x80:
                at += 1
            line = content[:at].count(b"\n") + 1
            raise InputError(
                f"{name} is not UTF-8 text (line {line}, byte 0x{content[at]:02x}); give its encoding, "
                "for example --encoding latin-1."
            ) from None


def read_text(content: bytes, name: str, separator: str | None, limit: int) -> Sheet:
    """Split a text table into columns of text."""
    if not content.strip():
        raise InputError(f"{name} is empty; a table with a header row is needed.")
    notes = []
    if separator is None:
        separator = find_separator(content)
        if separator != ",":
            notes.append(f"{name} is read with {SEPARATORS[separator]} between the cells.")
    quoted = b'"' in content
    if not quoted and b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    records = _records((content if quoted else _first_lines(content)).decode(), separator, name)
    header, header_line = next(records, ([], 0))
    if not header:
        raise InputError(f"{name} is empty; a table with a header row is needed.")
    names = _column_names(header, name, notes)
    cells, lines = (
        _quoted_cells(records, names, name) if quoted else plain_cells(content, separator, names, name, limit)
    )
    if not len(lines):
        raise InputError(f"{name} has a header (line {header_line}), but no rows below it; give a table with rows.")
    return Sheet(cells, lambda row: f"line {lines[row]}", notes=notes, is_text=True, semicolons=separator == ";")


def _first_lines(content: bytes) -> bytes:
    end = content.find(b"\n", 1 << 16)
    return content if end < 0 else content[:end]


def find_separator(content: bytes) -> str:
    r"""Choose the separator that cuts the first lines into equally many cells, the more the better.

    Examples
    --------
    >>> find_separator(b"a;b\n1,5;2\n")
    ';'
    """
    lines = [line for line in content[:65536].decode(errors="replace").splitlines() if line.strip()][:20]
    best, best_score = ",", (False, 1)
    for separator in SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator)]
        score = (len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0)
        if score > best_score:
            best, best_score = separator, score
    return best


def _column_names(header: list[str], name: str, notes: list[str]) -> list[str]:
    names = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(header)]
    refuse_repeated_names(names, f"{name}: ")
    if any(_is_fraction(cell) for cell in names):
        notes.append(f"The first line of {name} looks like data, not like names; a header row is needed.")
    return names


def _is_fraction(cell: str) -> bool:
    try:
        return not float(cell).is_integer()
    except (ValueError, OverflowError):
        return False


def _records(text: str, separator: str, name: str) -> Iterator[tuple[list[str], int]]:
    """Return the records that are not blank, with the line on which each begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for record in reader:
            if len(record) > 1 or (record and record[0].strip()):
                yield record, start
            start = reader.line_num + 1
    except csv.Error:
        raise InputError(
            f"{name}, line {start}: a quote is not closed, or not followed by the separator; "
            'write a quote inside a cell as "".'
        ) from None


def _quoted_cells(
    records: Iterable[tuple[list[str], int]], names: list[str], name: str
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    frames: list[pl.DataFrame] = []
    lines: list[int] = []
    schema = dict.fromkeys(names, pl.String)
    while chunk := list(islice(records, CHUNK)):
        for record, line in chunk:
            if len(record) != len(names):
                raise InputError(_ragged(name, line, len(record), len(names)))
        lines.extend(line for _, line in chunk)
        frames.append(pl.DataFrame([record for record, _ in chunk], schema=schema, orient="row"))
    cells = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
    return cells, np.array(lines, dtype=np.int64)


def plain_cells(
    content: bytes, separator: str, names: list[str], name: str, limit: int
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Split a table without quotes: count the cells of each line first, then let polars cut them."""
    if not content.endswith(b"\n"):
        content += b"\n"
    letters = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    marks = np.flatnonzero(letters == ord(separator))
    widths = 1 + np.diff(np.searchsorted(marks, np.append(starts, len(letters))))
    blank = np.zeros(len(starts), dtype=bool)
    for i in np.flatnonzero(widths == 1):
        blank[i] = not content[starts[i] : ends[i]].strip()
        if not blank[i] and len(names) > 1:
            break
    wrong = ~blank & (widths != len(names))
    if wrong.any():
        line = int(np.argmax(wrong))
        raise InputError(_ragged(name, line + 1, int(widths[line]), len(names)))
    lines = np.flatnonzero(~blank)[1:] + 1
    refuse_too_large(name, len(content) + BYTES_PER_CELL * len(lines) * len(names), limit)
    if blank.any():
        content = letters[np.repeat(~blank, ends + 1 - starts)].tobytes()
    schema = dict.fromkeys(names, pl.String)
    if not len(lines):
        return pl.DataFrame(schema=schema), lines
    cells = pl.read_csv(content, separator=separator, quote_char=None, infer_schema=False, raise_if_empty=False)
    if cells.shape != (len(lines), len(names)):
        return _quoted_cells(islice(_records(content.decode(), separator, name), 1, None), names, name)[0], lines
    cells.columns = names
    return cells, lines


def _ragged(name: str, line: int, found: int, expected: int) -> str:
    return (
        f"{name}, line {line} has {found} cell{'s' * (found != 1)}, but the header has {expected}; "
        "correct the line, and quote cells that hold the separator."
    )
