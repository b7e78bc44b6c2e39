"""Text tables: the encoding, the separator, the header rows, quoted cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.io._kinds import MISSING, ReadOptions, Understood, typed_columns, typed_frame
from fewer.io.frames import Place, pl, row_number, text_names
from fewer.io.memory import refuse_too_large
from fewer.problem import InputError

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "spaces"}
RECORDS_AT_A_TIME = 20_000
# Bytes of text whose cells are counted at a time.
COUNTED_BYTES = 1 << 24
# Lines among which the header is looked for.
HEADER_LINES = 40
# Rows below a second header row that show which columns hold numbers.
MIN_ROWS = 3
# A cell as text and as a number.
BYTES_OF_TEXT_CELL = 24


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


def to_utf8(content: bytes, name: str, encoding: str | None, notes: list[str]) -> bytes:
    """Return the text as UTF-8 with line ends as they are; refuse what is no text.

    Without an encoding, it is UTF-8, or else what the bytes look like: UTF-16, or text of Windows. A note says so.
    """
    guess = _guessed_encoding(content)
    if encoding is None and guess != "utf-8":
        shown = "Windows text (cp1252)" if guess == "cp1252" else guess.upper()
        notes.append(f"{name} is read as {shown}, which is a guess; --encoding says otherwise.")
    try:
        codec = codecs.lookup(encoding or guess)
        if not getattr(codec, "_is_text_encoding", True):
            raise LookupError  # such as hex
        if codec.name.startswith("utf-16") and guess == "utf-8":
            raise UnicodeError("it is UTF-8")  # as pairs of bytes it would be Chinese
        if codec.name == guess == "utf-8":
            content = content.removeprefix(codecs.BOM_UTF8)
        else:
            content = content.decode(codec.name).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        raise InputError(f"{name} is not {encoding or guess} text ({error}); give another --encoding.") from None
    except (LookupError, ValueError):
        raise InputError(f"Encoding {encoding!r} is not known; use for example utf-8, latin-1 or cp1252.") from None
    if 0 in content:
        line = content[: content.index(0)].count(b"\n") + 1
        raise InputError(f"{name} is not a text table (line {line} holds a zero byte); see fewer help tables.")
    return content


def _guessed_encoding(content: bytes) -> str:
    start = content[:4096]
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(start) >= 4 and 0 in start:  # letters of most tables have one zero byte of two in UTF-16
        for encoding, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
            if zeros.count(0) >= 0.7 * len(zeros):
                return encoding
        return "utf-8"
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(content)
    try:
        for low in range(0, len(view), 1 << 20):
            decoder.decode(view[low : low + (1 << 20)], final=low + (1 << 20) >= len(view))
    except UnicodeDecodeError:
        # Windows leaves five bytes without a meaning; Latin-1 takes all.
        return "latin-1" if any(byte in content for byte in b"\x81\x8d\x8f\x90\x9d") else "cp1252"
    return "utf-8"


def read_text(
    content: bytes, name: str, separator: str | None, header: int | None, limit: int, notes: list[str]
) -> Sheet:
    """Split a text table into columns of text."""
    quoted = b'"' in content
    if not quoted and b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if separator is None:
        separator = find_separator(content)
        if separator != ",":
            notes.append(f"{name}: cells are separated by {SEPARATORS[separator]}.")
    if separator == " " and not quoted:
        content = re.sub(rb"[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", content))
    text = (content if quoted else content[: content.find(b"\n", 1 << 16) % (len(content) + 1)]).decode()
    first = list(islice(_records(text, separator, name), HEADER_LINES))
    top = find_top([record for record, _ in first], [line for _, line in first], name, header, notes)
    refuse_too_large(name, len(content) + BYTES_OF_TEXT_CELL * (content.count(separator.encode()) + 1), limit)
    if quoted:
        records = ((record, line) for record, line in _records(text, separator, name) if line > top.last)
        cells, lines = _quoted_cells(records, top.names, name)
    else:
        cells, lines = plain_cells(content, top.last, separator, top.names, name)
    return _sheet(cells, lines, top, name, "line", notes=notes, semicolons=separator == ";")


def _sheet(cells: pl.DataFrame, lines: NDArray[np.int64], top: Top, name: str, unit: str, **more: Any) -> Sheet:
    """Return rows of text, each with the line or row of the file that it stands in."""
    if not len(lines):
        raise InputError(f"{name} has a header ({unit} {top.last}), but no rows below it; give a table with rows.")
    return Sheet(cells, lambda row: f"{unit} {lines[row]}", is_text=True, **more)


def sheet_of_rows(rows: list[list[str]], name: str, header: int | None, notes: list[str]) -> Sheet:
    """Make a table of rows of text, as a workbook or a database has them, their header among the first."""
    numbered = [(row, number) for number, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
    first = numbered[:HEADER_LINES]
    top = find_top([row for row, _ in first], [number for _, number in first], name, header, notes, "row")
    below = ((row[: len(top.names)], number) for row, number in numbered if number > top.last)
    cells, lines = _quoted_cells(below, top.names, name)
    return _sheet(cells, lines, top, name, "row", notes=notes)


class Top(NamedTuple):
    """The names of the columns, and the number of the last line above the rows."""

    names: list[str]
    last: int


def find_top(
    records: list[list[str]], lines: list[int], name: str, header: int | None, notes: list[str], unit: str = "line"
) -> Top:
    """Find the header among the first records: what stands above it is passed over, two header rows are joined."""
    if not records:
        raise InputError(f"{name} is empty; a table with a header row is needed.")
    if header is None:
        at = _place_of_header(records)
    elif header in lines:
        at = lines.index(header)
    else:
        raise InputError(f"{name} has no header in {unit} {header}; its first lines with cells are {lines[:5]}.")
    names = [cell.strip() for cell in records[at]]
    while names and not names[-1] and len(names) > max(map(len, records[at + 1 :]), default=0):
        names.pop()  # separators at the end of the header alone
    last = lines[at]
    if at:
        notes.append(f"The header of {name} is {unit} {last}; what stands above it is passed over.")
        above = [*records[at - 1]]
        if len(above) == len(names) and len(set(names)) < len(names):
            for place in range(1, len(above)):  # the name of a group stands above the first of its columns
                above[place] = above[place].strip() or above[place - 1]
            names = [f"{group.strip()} {cell}".strip() for group, cell in zip(above, names, strict=True)]
    second = [] if header is not None else records[at + 1] if at + 1 < len(records) else []
    if not all(map(is_number, second)) and _is_second_header(second, records[at + 2 :]):
        names = [f"{cell} {unit_of.strip()}".strip() for cell, unit_of in zip(names, second, strict=False)]
        last = lines[at + 1]
        both = f"{unit}s {lines[at]} and {last}"
        notes.append(f"{name} has two header rows ({both}); names are made of both, such as {names[0]!r}.")
    if any(is_number(cell) and float(cell) % 1 != 0 for cell in names):
        notes.append(f"The first line of {name} looks like data; add a header row.")
    distinct, renamed = text_names([cell or f"column {place}" for place, cell in enumerate(names, 1)])
    notes += renamed
    return Top(distinct, last)


def _place_of_header(records: list[list[str]]) -> int:
    """Find the first record with more than half the cells of the fullest one; the name of a first column may be empty.

    Numbers are no names: where only they follow, the first record is the header after all.
    """
    filled = [sum(bool(cell.strip()) for cell in record) for record in records]
    most = max(filled)
    for place, (record, n_cells) in enumerate(zip(records, filled, strict=True)):
        if 2 * n_cells > most or (not record[0].strip() and n_cells == most - 1):
            return place if 2 * sum(map(is_number, record)) < n_cells else 0
    return 0


def _is_second_header(record: list[str], rows: list[list[str]]) -> bool:
    """Say whether a record holds words over columns of numbers, two columns or more: units, or a second name."""
    if len(rows) < MIN_ROWS:
        return False
    numbers = [place for place in range(len(record)) if _are_numbers([row[place] for row in rows if place < len(row)])]
    words = [record[place].strip() for place in numbers]
    return len(numbers) >= 2 and all(word and word not in MISSING and not any(map(str.isdigit, word)) for word in words)


def _are_numbers(cells: list[str]) -> bool:
    known = [cell for cell in cells if cell.strip() not in MISSING]
    return len(known) >= MIN_ROWS and all(any(map(str.isdigit, cell)) for cell in known)


def find_separator(content: bytes) -> str:
    r"""Choose the separator that cuts the first lines into equally many cells, the more the better.

    Examples
    --------
    >>> find_separator(b"a;b\n1,5;2\n")
    ';'
    """
    lines = [line for line in content[:65536].decode(errors="replace").splitlines() if line.strip()][:HEADER_LINES]
    best, best_score = ",", (0, 1)
    for separator in (mark for mark in SEPARATORS if mark != " "):
        widths = [len(row) for row in csv.reader(lines, delimiter=separator)]
        # A few lines above the header may have other widths, or a cut last line of what was looked at.
        score = max(((widths.count(width) if width > 1 else 0, width) for width in set(widths)), default=(0, 1))
        if 2 * score[0] >= len(lines) and score > best_score:
            best, best_score = separator, score
    if best_score == (0, 1) and '"' not in "".join(lines):
        words = {len(line.split()) for line in lines}
        return " " if len(words) == 1 and words.pop() > 1 and len(lines) > 1 else best
    return best


def is_number(cell: Any) -> bool:
    """Say whether a cell is a number, or text of one as programs write it."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


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
    while chunk := list(islice(records, RECORDS_AT_A_TIME)):
        for record, line in chunk:
            if len(record) != len(names):
                raise InputError(_ragged(name, line, len(record), len(names)))
        lines.extend(line for _, line in chunk)
        frames.append(pl.DataFrame([record for record, _ in chunk], schema=schema, orient="row"))
    cells = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
    return cells, np.array(lines, dtype=np.int64)


def plain_cells(
    content: bytes, last: int, separator: str, names: list[str], name: str
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """Split the lines below the header, which have no quotes: count their cells, then let polars cut them."""
    start = 0
    for _ in range(last):
        start = content.find(b"\n", start) + 1 or len(content)
    content = content[start:]
    if not content.endswith(b"\n"):
        content += b"\n"
    letters = np.frombuffer(content, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    widths = 1 + _counts(letters, ord(separator), starts, ends)
    blank = np.zeros(len(starts), dtype=bool)
    for i in np.flatnonzero(widths == 1):
        blank[i] = not content[starts[i] : ends[i]].strip()
        if not blank[i] and len(names) > 1:
            break
    wrong = ~blank & (widths != len(names))
    if wrong.any():
        line = int(np.argmax(wrong))
        raise InputError(_ragged(name, line + 1 + last, int(widths[line]), len(names)))
    lines = np.flatnonzero(~blank) + 1 + last
    if blank.any():
        content = letters[np.repeat(~blank, ends + 1 - starts)].tobytes()
    schema = dict.fromkeys(names, pl.String)
    if not len(lines):
        return pl.DataFrame(schema=schema), lines
    cells = pl.read_csv(content, separator=separator, quote_char=None, has_header=False, infer_schema=False)
    if cells.shape != (len(lines), len(names)):
        return _quoted_cells(_records(content.decode(), separator, name), names, name)[0], lines
    cells.columns = names
    return cells, lines


def _counts(letters: NDArray[np.uint8], mark: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any:
    """Count a letter in each line, some lines at a time: places of all of them would take eight times the text."""
    counts = np.zeros(len(starts), dtype=np.int64)
    low = 0
    while low < len(starts):
        high = max(int(np.searchsorted(ends, starts[low] + COUNTED_BYTES)), low + 1)
        part = letters[starts[low] : ends[high - 1] + 1] == mark
        counts[low:high] = np.add.reduceat(part, starts[low:high] - starts[low], dtype=np.int64)
        low = high
    return counts


def _ragged(name: str, line: int, n_cells: int, expected: int) -> str:
    return (
        f"{name}, line {line} has {n_cells} cell{'s' * (n_cells != 1)}, but the header has {expected}; "
        "correct the line, and quote cells that hold the separator."
    )
