"""The kind of each column of a table as text (number, truth value, date, levels, or no feature); schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fewer.errors import InputError
from fewer.io._cells import (
    COMPACT,
    DATE_NAME,
    ISO,
    ZONED,
    DateFormat,
    FoundCells,
    NumberFormat,
    Order,
    find_clock,
    find_compact,
    find_date_format,
    find_moments,
    find_number_format,
    mixes_dates,
)
from fewer.io.frames import Place, pl
from fewer.text import listed

NAMED = 20


@dataclass(frozen=True)
class ParseProblem:
    """A column of which some cells cannot be read.

    Parameters
    ----------
    column, place, cell : str
        The first such cell.
    count : int
        How many there are.
    trouble : str
        What is wrong, in a few words.
    message : str
        The same with how to fix it, where it is the only problem.
    is_target : bool
        The target cannot be left out.
    cells : tuple of str
        All different texts that cannot be read.

    Examples
    --------
    >>> ParseProblem("age", "row 3", "4O", 1, "is not a number", "Column 'age' has '4O' in row 3.").count
    1
    """

    column: str
    place: str
    cell: str
    count: int
    trouble: str
    message: str
    is_target: bool = False
    cells: tuple[str, ...] = ()


class TableError(InputError):
    """A table with cells that cannot be read: `problems` lists them all, `table` shows them as lines.

    Parameters
    ----------
    problems : sequence of ParseProblem
        One or more.

    Examples
    --------
    >>> trouble = ParseProblem("age", "row 3", "4O", 1, "is not a number", "Column 'age' has '4O' in row 3.")
    >>> str(TableError([trouble]))
    "Column 'age' has '4O' in row 3."
    """

    def __init__(self, problems: Sequence[ParseProblem]) -> None:
        self.problems = tuple(problems)
        self.options = _options(problems)
        self.table = tuple(_lines(problems))
        super().__init__(problems[0].message if len(problems) == 1 else "\n".join(self.table))


def _options(problems: Sequence[ParseProblem]) -> dict[str, list[str]]:
    """Return options of the command line with which a table can be read: what means missing, what is left out."""
    readable = [0 < len(problem.cells) <= NAMED for problem in problems]
    cells = [cell for problem, few in zip(problems, readable, strict=True) if few for cell in problem.cells]
    excluded = [p.column for p, few in zip(problems, readable, strict=True) if not few and not p.is_target]
    skip: dict[str, list[str]] = {"--skip-rows-without-target": []} if any(p.is_target for p in problems) else {}
    options = {"--missing": list(dict.fromkeys(cells)), "--exclude": excluded}
    return skip | {option: values for option, values in options.items() if values}


def _lines(problems: Sequence[ParseProblem]) -> list[str]:
    if len(problems) == 1:
        return [problems[0].message, *_texts_of(problems)]
    rows = [("column", "where", "cells", "first cell", "trouble")]
    rows += [(short(p.column, 20), p.place, str(p.count), short(repr(p.cell), 16), p.trouble) for p in problems[:NAMED]]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    shown = ["  " + "  ".join([*map(str.ljust, row[:4], widths), row[4]]) for row in rows]
    if len(problems) > NAMED:
        shown.append(f"  … and {len(problems) - NAMED} more")
    return [f"{len(problems)} columns cannot be read:", *shown, *_texts_of(problems)]


def _texts_of(problems: Sequence[ParseProblem]) -> list[str]:
    """List the texts that cannot be read, if there is more than the one that is shown already."""
    texts = list(dict.fromkeys(cell for problem in problems for cell in problem.cells))
    if len(texts) < 2:
        return []
    return [f"  Cells that cannot be read: {listed([*map(repr, texts)], 5 * NAMED)}."]


def short(text: str, width: int) -> str:
    """Cut a text to a width."""
    return text if len(text) <= width else text[: width - 1] + "…"


# Fewer cells than this say little about a column.
MIN_CELLS = 20
MANY_DISTINCT = 0.5
NEARLY_ALL = 0.9
_LIST = r"^\s*[\[{(].*[\])}]\s*$"
# Text of more bytes may hold whole numbers whose last digits a number cannot keep.
KEPT_DIGITS = 15
# Why columns of a frame are left out that cannot be levels either.
NO_LEVELS = ("nested lists", "records", "bytes", "times of day")


def why_left_out(text: pl.Series) -> str | None:
    """Say why a column of text is no feature, or return None if it may be one.

    Examples
    --------
    >>> why_left_out(pl.Series([f"row {i} has a note of its own" for i in range(30)]))
    'free text'
    >>> why_left_out(pl.Series(["red", "blue"] * 15)) is None
    True
    """
    present = text.drop_nulls()
    return None if len(present) < MIN_CELLS else why_no_levels(present.unique(maintain_order=True), len(present))


def why_no_levels(distinct: pl.Series, n_cells: int) -> str | None:
    """Say why the distinct texts of a column cannot be levels; None where they can."""
    if n_cells < MIN_CELLS or len(distinct) < MIN_CELLS / 2:
        return None
    if _is_list(distinct):
        return "lists"
    words, letters = _mean(distinct.str.count_matches(r"\S+")), _mean(distinct.str.len_chars())
    if len(distinct) >= MANY_DISTINCT * n_cells and (words >= 4 or (words >= 2.5 and letters >= 30) or letters >= 80):
        return "free text"
    if len(distinct) >= NEARLY_ALL * n_cells:
        return "nearly all values unique"
    return None


def _mean(values: pl.Series) -> float:
    return cast(float, values.cast(pl.Float64).mean() or 0.0)


def _is_list(distinct: pl.Series) -> bool:
    if distinct.str.contains(_LIST).all():
        return True
    for separator, least in ((";", 0.3), ("|", 0.3), (",", 0.5)):
        several = distinct.str.contains(separator, literal=True)
        if _mean(several) < least:
            continue
        items = distinct.str.split(separator).explode().str.strip_chars()
        lengths = distinct.str.count_matches(separator, literal=True)
        # The items of lists come again in other lists, and there are not always equally many.
        repeated = items.n_unique() <= 0.5 * len(items) and lengths.n_unique() > 1
        if repeated and _mean(items.str.count_matches(r"\S+")) < 3:
            return True
    return False


# Cells that mean missing in any column.
MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL")
# Words that mean missing among numbers and dates; elsewhere they may be levels.
MISSING_NUMBERS = ("-", "--", "–", "—", ".", "none", "nil", "unknown", "missing", "#value!", "#div/0!", "#ref!")
MOSTLY_MISSING = 0.9
MOST_NAMED = 6
COLUMNS_AT_ONCE = 256
# Rows among which examples are looked for.
FIRST_TEXTS = 200
# Number of different words among numbers up to which they stand for something, such as missing cells.
MOST_STRANGERS = 3
# Minimum number of distinct values above which words among the numbers are reported.
MIN_NUMBERS = 3
BRACKETS = r"^\s*\(.*\)\s*$"
_GROUPED = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$"

ColumnKind = Literal["numeric", "nominal", "boolean", "date", "left out"]


@dataclass(frozen=True)
class Reading:
    """How one column is read: its kind, the format of its cells, and why it is left out if it is."""

    kind: ColumnKind
    format: NumberFormat | DateFormat | None = None
    reason: str = ""

    def read(self, text: pl.Series) -> pl.Series:
        """Return what cells of text mean; a cell that is written in another way becomes null."""
        if self.kind == "boolean":
            lower = text.str.to_lowercase()
            return (lower == "true").set(~lower.is_in(["true", "false"]), None)
        if self == NUMERALS:
            return text.cast(pl.Float64, strict=False)
        return text if self.format is None or self.kind == "left out" else self.format.read(text)


# Numbers as programs write them; where it is this very object, every cell was read as one.
NUMERALS = Reading("numeric", NumberFormat())
CODES, LONG = Reading("nominal", reason="leading zeros"), Reading("nominal", reason="more than 15 digits")
AMONG_TEXT = Reading("nominal", reason="numbers among words")
TRUTH, ISO_DATES = Reading("boolean"), Reading("date", DateFormat("year-month-day"))


def blanked(text: pl.Series, missing: Sequence[str] = MISSING) -> pl.Series:
    """Strip cells of text; a cell that stands for a missing value becomes null."""
    text = text.str.strip_chars()
    return text.set(text.is_in(["", *missing]), None)


def fits_of(cells: pl.Series) -> NDArray[np.int64]:
    """Count the cells that are there; of them numbers, truth values, dates, digits, leading zeros, and long ones."""
    present = cells.drop_nulls()
    numbers = len(present) - present.cast(pl.Float64, strict=False).null_count()
    if numbers == len(present):
        zeros = int((present.str.starts_with("0") & (present.str.len_bytes() > 1)).sum())
        digits, long = present.str.contains(r"^\d+$"), present.str.len_bytes() > KEPT_DIGITS
        return np.array([len(present), numbers, 0, 0, int(digits.sum()), zeros, int(long.sum())])
    truths = int(present.str.to_lowercase().is_in(["true", "false"]).sum())
    return np.array([len(present), numbers, truths, int(present.str.contains(ISO).sum()), 0, 0, 0])


def reading_of(fits: NDArray[np.int64]) -> Reading:
    """Say how a column is read whose cells fit so often (`fits_of`, added up over its parts)."""
    present, numbers, truths, dates, digits, zeros, long = fits.tolist()
    if (zeros or long) and digits == present:
        return CODES if zeros else LONG
    ways = ((numbers, NUMERALS), (truths, TRUTH), (dates, ISO_DATES))
    return next((reading for count, reading in ways if count == present), Reading("nominal"))


@dataclass(frozen=True)
class ReadOptions:
    """What the user said about a table of text.

    Attributes
    ----------
    nominal, numeric : frozensets of str
        Columns whose kind is not what their cells look like.
    decimal : str or None
        The decimal point of all columns; found out column by column if None.
    target : str or None
    mixed : bool
        Whether the target may mix numbers and words.
    missing : tuple of str
        Cells that mean nothing; the empty cell always does.
    readings : mapping
        Columns that are read as a schema says.
    leave_out : bool
        Whether columns that are no features are left out.
    missing_numbers : bool
        Whether some of the cells that mean missing are numbers, such as -999.
    semicolons : bool
        Whether semicolons stand between cells, as where commas are decimal points.
    """

    nominal: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    decimal: str | None = None
    target: str | None = None
    mixed: bool = False
    missing: tuple[str, ...] = MISSING
    readings: Mapping[str, Reading] = field(default_factory=dict)
    leave_out: bool = False
    missing_numbers: bool = False
    semicolons: bool = False


@dataclass(frozen=True)
class Understood:
    """A table whose columns have types, how each was read, and what was noticed.

    Columns that are left out are not in the frame.
    """

    frame: pl.DataFrame
    readings: dict[str, Reading]
    notes: list[str]
    problems: list[ParseProblem]

    def raise_problems(self, *others: ParseProblem) -> None:
        """Refuse the table if some cell cannot be read."""
        if self.problems or others:
            raise TableError([*self.problems, *others])


@dataclass
class _Draft:
    text: pl.Series
    column: pl.Series
    reading: Reading
    rival: NumberFormat | DateFormat | None = None
    problem: ParseProblem | None = None


def typed_columns(texts: pl.DataFrame, place: Place, options: ReadOptions | None = None) -> Understood:
    """Turn columns of text into the types that their cells have, each by the whole column."""
    options = ReadOptions() if options is None else options
    numbers = texts.select(pl.all().cast(pl.Float64, strict=False))
    # A query for each column takes long where they are many, one for all of them much memory.
    blocks = (texts[:, low : low + COLUMNS_AT_ONCE] for low in range(0, texts.width, COLUMNS_AT_ONCE))
    looks_of_all = [looks for block in blocks for looks in _looks_of(block)]
    columns = zip(texts.iter_columns(), numbers.iter_columns(), looks_of_all, strict=True)
    drafts = [_draft(text, number, looks, place, options) for text, number, looks in columns]
    notes: list[str] = []
    if options.decimal is not None or any(draft.reading is not NUMERALS for draft in drafts):
        _decide_decimals(drafts, options)
        _decide_orders(drafts)
        notes = _format_notes(drafts)
    notes += [*_missing_words(texts, drafts), *_other_notes(drafts, options)]
    readings = {draft.text.name: draft.reading for draft in drafts}
    kept = [draft.column for draft in drafts if draft.reading.kind != "left out"]
    return Understood(
        pl.DataFrame(kept),
        readings,
        notes if len(kept) == len(drafts) else [*notes, *left_out_notes(readings)],
        [draft.problem for draft in drafts if draft.problem is not None],
    )


class _Looks(NamedTuple):
    """What a column of numbers may be besides."""

    codes: bool
    compact: bool
    long: bool = False


def _looks_of(texts: pl.DataFrame) -> list[_Looks]:
    """Say which columns are digits with leading zeros, and which may hold dates such as 20260131."""
    # Both hold digits alone, which one cell of most columns of numbers refutes.
    firsts = texts.select(pl.all().drop_nulls().first()).row(0)
    likely = [name for name, cell in zip(texts.columns, firsts, strict=True) if cell is None or cell.strip().isdigit()]
    if not likely:
        return [_Looks(False, False)] * texts.width
    few, cells = texts.select(likely), pl.all().str
    zeros = few.select((cells.starts_with("0") & (cells.len_bytes() > 1)).any()).row(0)
    digits = few.select(pl.all().str.strip_chars().str.contains(r"^\d+$").all()).row(0)
    compact = few.select(pl.all().drop_nulls().head(20).str.contains(COMPACT).all()).row(0)
    long = few.select(cells.len_bytes().max() > KEPT_DIGITS).row(0)
    of_all = zip(likely, zeros, digits, compact, long, strict=True)
    looks = {name: _Looks(zero and digit, date, digit and many) for name, zero, digit, date, many in of_all}
    return [looks.get(name, _Looks(False, False)) for name in texts.columns]


def typed_frame(frame: pl.DataFrame, options: ReadOptions) -> Understood:
    """Look at columns that have types already: only text can be left out."""
    readings: dict[str, Reading] = {}
    chosen = {*options.nominal, *options.numeric, *options.readings, options.target}
    for (name, dtype), column in zip(frame.schema.items(), frame.iter_columns(), strict=True):
        reason = None
        if dtype.is_numeric() and name not in chosen:
            readings[name] = Reading("numeric")
            continue
        if name in options.readings and options.readings[name].kind == "left out":
            reason = options.readings[name].reason
        elif name not in chosen and options.leave_out:
            reason = why_no_feature(nw.from_native(column, series_only=True))
        kind = _kind_of(column.dtype, name, options)
        readings[name] = Reading(kind) if reason is None else Reading("left out", reason=reason)
    kept = frame.select(name for name, reading in readings.items() if reading.kind != "left out")
    return Understood(kept, readings, left_out_notes(readings), [])


def _kind_of(dtype: pl.DataType, name: str, options: ReadOptions) -> ColumnKind:
    if name in options.nominal:
        return "nominal"
    if dtype.is_numeric() or dtype == pl.Duration or name in options.numeric:
        return "numeric"
    if dtype in (pl.Date, pl.Datetime):
        return "date"
    return "boolean" if dtype == pl.Boolean else "nominal"


def why_no_feature(column: nw.Series[Any]) -> str | None:
    """Say why a column of a frame, of whatever library, is no feature, or return None."""
    dtype = column.dtype
    if dtype.is_nested():
        return "nested lists" if isinstance(dtype, nw.List | nw.Array) else "records"
    if dtype == nw.Binary or dtype == nw.Time:
        return "bytes" if dtype == nw.Binary else "times of day"
    if dtype != nw.String and dtype != nw.Object:
        return None
    if dtype == nw.String and column.implementation.is_polars():
        return why_left_out(column.to_native())
    cells = column.drop_nulls().to_list()
    if any(isinstance(cell, list | tuple | set | dict) for cell in cells):
        return "records" if any(isinstance(cell, dict) for cell in cells) else "nested lists"
    # pandas has missing cells of three kinds, none of them text.
    texts = [cell for cell in cells if isinstance(cell, str)]
    return why_left_out(pl.Series(texts, dtype=pl.String)) if dtype == nw.String or len(texts) == len(cells) else None


def _draft(text: pl.Series, number: pl.Series, looks: _Looks, place: Place, options: ReadOptions) -> _Draft:
    name = text.name
    if name in options.readings:
        return _draft_by_schema(blanked(text, options.missing), options.readings[name], place)
    # The common case first: nothing but numbers and empty cells.
    if number.null_count() == text.null_count() and not options.missing_numbers:
        return _draft_numbers(text, number, looks, options)
    text = blanked(text, options.missing)
    number = text.cast(pl.Float64, strict=False)
    if number.null_count() > text.null_count() and name not in options.nominal:
        text, number = _without_words(text, number)
    if number.null_count() == text.null_count():
        return _draft_numbers(text, number, _looks_of(text.to_frame())[0], options)
    if name in options.nominal:
        return _Draft(text, text, Reading("nominal"))
    draft = _draft_formatted(text, place, options) or _draft_strewn(text, place, options)
    return draft if draft is not None else _draft_text(text, number, place, options)


def _without_words(text: pl.Series, number: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Empty cells such as `-` and `none` where all other cells hold digits, as numbers and dates do."""
    words = text.str.to_lowercase().is_in(MISSING_NUMBERS)
    if not words.any() or not text.filter(~words).str.contains(r"\d").all():
        return text, number
    text = text.set(words, None)
    return text, text.cast(pl.Float64, strict=False)


def _draft_numbers(text: pl.Series, number: pl.Series, looks: _Looks, options: ReadOptions) -> _Draft:
    nominal, numeric = text.name in options.nominal, text.name in options.numeric
    too_long = looks.long and text.n_unique() > number.n_unique()  # different cells would be the same number
    if (looks.codes or too_long) and not numeric:
        cells = text.str.strip_chars()
        may_leave = options.leave_out and not nominal and text.name != options.target
        reason = why_left_out(cells) if may_leave else None
        if reason is not None:
            return _Draft(text, text, Reading("left out", reason=reason))
        return _Draft(text, cells, CODES if looks.codes else LONG)
    if nominal:
        return _Draft(text, number, Reading("nominal"))
    dates = find_moments(number) if not numeric and DATE_NAME.search(text.name) else None
    if dates is None and looks.compact and not numeric:
        dates = find_compact(text.name, text)
    if dates is not None:
        return _Draft(text, dates.read(text), Reading("date", dates))
    return _Draft(text, number, NUMERALS)


def _draft_formatted(text: pl.Series, place: Place, options: ReadOptions) -> _Draft | None:
    """Read numbers with marks, currencies and units, and dates; None if the column holds neither."""
    name, numeric = text.name, text.name in options.numeric
    may_mix = options.mixed and name == options.target
    finders: list[Callable[[pl.Series], FoundCells | None]] = [
        partial(find_number_format, decimal=options.decimal), find_clock, find_date_format,
    ]  # fmt: skip
    for find in finders[: 2 if numeric else 3]:
        cells = find(text)
        if cells is not None and cells.mixed:
            if may_mix or numeric or not options.leave_out or text.n_unique() <= 20 or name == options.target:
                return None
            ways = ", ".join(repr(way) for way in cells.mixed)
            return _Draft(text, text, Reading("left out", reason=f"inconsistent number formats: {ways}"))
        if cells is not None and not (may_mix and cells.cells.null_count() > text.null_count()):
            return _draft_found(text, cells, place, options)
    return None


def _draft_found(text: pl.Series, formatted: FoundCells, place: Place, options: ReadOptions) -> _Draft:
    kind: ColumnKind = "numeric"
    cells, expected, example = formatted.cells, "numbers", ""
    if isinstance(formatted.format, DateFormat):
        kind, expected, example = "date", "dates", f" ({formatted.format.describe()})"
        cells = cells.dt.date() if (cells.dt.truncate("1d") == cells).all() else cells
    elif formatted.format.decimal == ":":
        expected, example = "times of day", " (12:30)"
    problem = _problem(text, cells, expected, place, options, example)
    return _Draft(text, cells, Reading(kind, formatted.format), formatted.rival, problem)


def _draft_strewn(text: pl.Series, place: Place, options: ReadOptions) -> _Draft | None:
    """Recognise numbers or dates among which one or two words mean something else, such as missing."""
    wordy = ~text.str.contains(r"\d") & text.is_not_null()
    may_mix = options.mixed and text.name == options.target
    if may_mix or not wordy.any() or text.filter(wordy).n_unique() > MOST_STRANGERS:
        return None
    rest = text.set(wordy, None)
    if rest.n_unique() < MIN_CELLS or rest.null_count() - text.null_count() > len(text) / 2:
        return None
    draft = _draft_formatted(rest, place, options)
    number = rest.cast(pl.Float64, strict=False)
    if draft is None and number.null_count() == rest.null_count():
        draft = _Draft(text, number, replace(NUMERALS))
    if draft is None or draft.reading.kind == "left out":
        return None
    expected = "numbers" if draft.reading.kind == "numeric" else "dates"
    draft.text, draft.problem = text, _problem(text, draft.column, expected, place, options)
    return draft


def _draft_text(text: pl.Series, number: pl.Series, place: Place, options: ReadOptions) -> _Draft:
    if text.name in options.numeric:
        return _Draft(text, text, Reading("numeric"), problem=_problem(text, number, "numbers", place, options))
    lower = text.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        return _Draft(text, lower == "true", TRUTH)
    reason = why_left_out(text) if options.leave_out and text.name != options.target else None
    if reason is not None:
        reason = "inconsistent date formats" if mixes_dates(text) else reason
        return _Draft(text, text, Reading("left out", reason=reason))
    n_numbers = len(text) - number.null_count()
    if 2 * n_numbers > len(text) - text.null_count() and number.drop_nulls().n_unique() >= MIN_NUMBERS:
        return _Draft(text, text, AMONG_TEXT)
    return _Draft(text, text, Reading("nominal"))


def _draft_by_schema(text: pl.Series, reading: Reading, place: Place) -> _Draft:
    expected = {"numeric": "numbers", "boolean": "yes or no"}.get(reading.kind, "dates")
    example = "" if reading.format is None or reading == NUMERALS else f" ({reading.format.describe()})"
    column = reading.read(text)
    problem = _problem(text, column, expected, place, example=f"{example}, as the schema says")
    return _Draft(text, column, reading, problem=problem)


# What is wrong with a cell, by what was expected of it.
FAULTS = {
    "numbers": "not a number",
    "dates": "not a date",
    "times of day": "not a time",
    "yes or no": "neither true nor false",
}


def _problem(
    text: pl.Series, column: pl.Series, expected: str, place: Place, options: ReadOptions | None = None,
    example: str = "",
) -> ParseProblem | None:  # fmt: skip
    """Report the cells that were lost, if any were."""
    odd = column.is_null() & text.is_not_null()
    count = int(odd.sum())
    if not count:
        return None
    row = int(odd.arg_true()[0])
    name, cell = text.name, str(text[row])
    cells = tuple(map(str, text.filter(odd).unique(maintain_order=True).to_list()))
    is_target = options is not None and name == options.target
    cure = "give --task classification" if is_target else f"make the column nominal (--nominal {name})"
    message = f"Column {name!r} holds {expected}, but {place(row)} is {cell!r}; correct or clear the cell, or {cure}."
    return ParseProblem(name, place(row), cell, count, FAULTS[expected] + example, message, is_target, cells)


# ------------------------------------------------------------------------------------ what other columns show


def _decide_decimals(drafts: list[_Draft], options: ReadOptions) -> None:
    """Where a column could be read with points or with commas, do as the other columns do."""
    unsure = [draft for draft in drafts if isinstance(draft.rival, NumberFormat)]
    forms = [(draft.text, draft.reading.format) for draft in drafts if draft.rival is None]
    sure = [(text, form) for text, form in forms if isinstance(form, NumberFormat)]
    commas = options.decimal == "," or any(form.decimal == "," for _, form in sure)
    if not unsure and not commas:
        return
    points = [t.name for t, f in sure if f.decimal == "." and (f.thousands == "," or _are_grouped(t) is False)]
    if points and options.decimal == ",":
        raise InputError(f"Column {points[0]!r} holds numbers with decimal points, not commas; omit --decimal.")
    if points or not (commas or options.semicolons):
        return
    for draft in unsure:
        form = draft.rival
        if isinstance(form, NumberFormat) and form.decimal == ",":
            draft.rival = draft.reading.format
            draft.column, draft.reading = form.read(draft.text), Reading("numeric", form)
    for draft in drafts:
        if commas and draft.reading == NUMERALS and _are_grouped(draft.text):
            form = NumberFormat(",", ".")
            draft.column, draft.reading = form.read(draft.text), Reading("numeric", form)
            draft.rival = None if options.decimal else NumberFormat()


def _are_grouped(text: pl.Series) -> bool | None:
    """Say whether points stand where they would between thousands; None where there is no point."""
    text = text.drop_nulls()
    dotted = text.filter(text.str.contains(".", literal=True))
    return bool(dotted.str.contains(_GROUPED).all()) if len(dotted) else None


def _decide_orders(drafts: list[_Draft]) -> None:
    """Where days and months cannot be distinguished, do as the other columns do."""
    sure = {
        draft.reading.format.order
        for draft in drafts
        if isinstance(draft.reading.format, DateFormat) and draft.rival is None
    } & {"day-month-year", "month-day-year"}
    for draft in drafts:
        if isinstance(draft.rival, DateFormat) and len(sure) == 1:
            if draft.rival.order in sure:
                draft.column, draft.reading = draft.rival.read(draft.text), Reading("date", draft.rival)
            draft.rival = None


# ------------------------------------------------------------------------------------------------------ notes


def _format_notes(drafts: list[_Draft]) -> list[str]:
    """Name the columns that were read in an unusual way, one sentence for each way."""
    ways: dict[tuple[str, str], list[_Draft]] = {}
    for draft in drafts:
        form = draft.reading.format
        if isinstance(form, DateFormat) and draft.text.str.contains(ZONED).any():
            ways.setdefault((f"UTC timestamps, {form.describe()} with a time zone", ""), []).append(draft)
        elif isinstance(form, DateFormat) and form.order != "year-month-day":
            rival = "" if draft.rival is None else draft.rival.describe()
            ways.setdefault((f"dates, {form.describe()}", rival), []).append(draft)
        elif isinstance(form, NumberFormat) and draft.column.dtype == pl.Float64 and not _is_program_like(draft):
            rival = "" if draft.rival is None else draft.rival.describe()
            way = "hours since midnight" if form.decimal == ":" else f"numbers with {_describe_numbers(draft, form)}"
            ways.setdefault((way, rival), []).append(draft)
    notes = []
    for (way, rival), group in ways.items():
        lengths = group[0].text.head(FIRST_TEXTS).str.len_bytes().set(group[0].column.head(FIRST_TEXTS).is_null(), None)
        row = lengths.arg_max() or int((group[0].column.is_not_null()).arg_true()[0])
        cell, value = group[0].text[row], group[0].column[row]
        shown = f"{value:.12g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")
        note = f"{subject_of([d.text.name for d in group])} read as {way} ({str(cell).strip()!r} is {shown})."
        if rival and isinstance(group[0].rival, DateFormat):
            note += f" No day is above 12, so {rival} also fits; choose with a schema"
            note += " (fewer inspect --write-schema)."
        elif rival:
            other = group[0].rival
            choice = "--decimal ," if isinstance(other, NumberFormat) and other.decimal == "," else "--decimal ."
            note += f" It could also be read with {rival}: use {choice}."
        notes.append(note)
    return notes


def _missing_words(texts: pl.DataFrame, drafts: list[_Draft]) -> list[str]:
    """Say which words among numbers and dates were read as missing."""
    by_word: dict[str, tuple[list[str], int]] = {}
    for text, draft in zip(texts.iter_columns(), drafts, strict=True):
        if draft.reading.kind not in ("numeric", "date") or draft.column.null_count() == text.null_count():
            continue
        lost = text.filter(draft.column.is_null() & text.is_not_null()).str.strip_chars()
        for word, count in lost.filter(lost != "").value_counts(sort=True, name="n_cells").head(MOST_NAMED).iter_rows():
            names, n_cells = by_word.get(word, ([], 0))
            by_word[word] = ([*names, text.name], n_cells + count)
    if not by_word or any(draft.problem is not None for draft in drafts):
        return []
    shown = [
        f"{word!r} in {repr(names[0]) if len(names) == 1 else f'{len(names):,} columns'} "
        f"({count:,} cell{'s' * (count > 1)})"
        for word, (names, count) in by_word.items()
    ]
    return [f"Read as missing: {listed(shown, MOST_NAMED)}."]


def _describe_numbers(draft: _Draft, form: NumberFormat) -> str:
    """Say how numbers are written, and how the negative ones are where that is their own way."""
    has_brackets = draft.text.str.contains(BRACKETS).any() and bool((draft.column < 0).any())
    brackets = ["negatives in parentheses"] * has_brackets
    if form == NumberFormat():
        return "".join(brackets) or form.describe()
    return ", ".join([form.describe(), *brackets])


def _is_program_like(draft: _Draft) -> bool:
    return draft.reading is NUMERALS or (
        draft.reading.format == NumberFormat()
        and draft.column.null_count() == draft.text.cast(pl.Float64, strict=False).null_count()
    )


def _other_notes(drafts: list[_Draft], options: ReadOptions) -> list[str]:
    notes = []
    for reading in (CODES, LONG):
        codes = [draft.text for draft in drafts if draft.reading == reading and draft.text.name not in options.nominal]
        if codes:
            cells = codes[0].drop_nulls().str.strip_chars()
            odd = cells.str.starts_with("0") if reading == CODES else cells.str.len_bytes() > KEPT_DIGITS
            notes.append(
                f"{subject_of([text.name for text in codes])} read as codes because of {reading.reason} "
                f"({cells.filter(odd)[0]!r}); use --numeric for numbers."
            )
    strewn = [draft for draft in drafts if draft.reading == AMONG_TEXT]
    if strewn:
        text = strewn[0].text
        word = text.filter(text.cast(pl.Float64, strict=False).is_null() & text.is_not_null())[0]
        notes.append(
            f"{subject_of([draft.text.name for draft in strewn])} read as categories: most cells are numbers, but "
            f"some, such as {word!r}, are not. Use --missing if such words mean missing, or --numeric."
        )
    settled = {*options.numeric, options.target, *options.readings}
    numbers = [draft for draft in drafts if draft.reading == NUMERALS and draft.text.name not in settled]
    timed = [(draft, form) for draft in numbers if (form := find_moments(draft.column)) is not None]
    moments = [(draft.text.drop_nulls(), form) for draft, form in timed if draft.column.n_unique() >= MIN_CELLS]
    if moments:
        text, form = moments[0]
        notes.append(
            f"{subject_of([text.name for text, _ in moments])} read as numbers, but could be timestamps ({text[0]} "
            f"would be {form.read(text)[0]:%Y-%m-%d}); use a schema to read dates."
        )
    return notes


def left_out_notes(readings: Mapping[str, Reading], cure: str = "Use --nominal to keep one.") -> list[str]:
    """Say which columns are left out, and why."""
    notes = []
    for final, advice in ((False, cure), (True, "To use one, write what it holds as columns of numbers or text.")):
        out = [f"{name!r} ({reading.reason})" for name, reading in readings.items()
               if reading.kind == "left out" and final == (reading.reason in NO_LEVELS)]  # fmt: skip
        notes += [f"Not used as features: {listed(out, 2 * MOST_NAMED)}. {advice}".rstrip()] * bool(out)
    return notes


def missing_notes(shares: Mapping[str, float]) -> list[str]:
    """Say which columns have next to no cells."""
    empty = [f"{name!r} ({100 * share:.0f} %)" for name, share in shares.items() if MOSTLY_MISSING <= share < 1]
    if not empty:
        return []
    return [f"Mostly missing: {listed(empty, MOST_NAMED)}; their results rest on few rows."]


def subject_of(names: Iterable[str], one: str = "is", several: str = "are") -> str:
    """Begin a sentence about columns.

    Examples
    --------
    >>> subject_of(["a"]), subject_of(["a", "b"], "holds", "hold")
    ("Column 'a' is", "Columns 'a', 'b' hold")
    """
    quoted = [repr(name) for name in names]
    return f"Column {quoted[0]} {one}" if len(quoted) == 1 else f"Columns {listed(quoted, MOST_NAMED)} {several}"


# --------------------------------------------------------------------------------------------------- schema

VERSION = 1


@dataclass(frozen=True)
class Schema:
    """How each column of a table is read.

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    columns : mapping of str to Reading
        By name. Columns that a schema does not name are understood from their cells.
    missing : tuple of str or None
        The cells that mean missing.

    See Also
    --------
    read_table : Takes one as `schema`.

    Examples
    --------
    >>> Schema.from_json(Schema(missing=("-",)).to_json()).missing
    ('-',)
    """

    columns: Mapping[str, Reading] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None

    def to_json(self) -> str:
        """Return the schema as JSON text, one line a column.

        Returns
        -------
        str
            What `from_json` reads.
        """
        lines = [
            f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(_to_dict(reading), ensure_ascii=False)}"
            for name, reading in self.columns.items()
        ]
        missing = "" if self.missing is None else f' "missing": {json.dumps(list(self.missing), ensure_ascii=False)},\n'
        body = ",\n".join(lines)
        return f'{{\n "fewer_schema": {VERSION},\n{missing} "columns": {{\n{body}\n }}\n}}\n'

    @classmethod
    def from_json(cls, text: str, name: str = "The schema") -> Schema:
        """Read a schema from JSON text.

        Parameters
        ----------
        text : str
            What `to_json` wrote.
        name : str, default="The schema"
            What it is called in messages.

        Returns
        -------
        Schema
            Refused with its line if it is not one.

        Examples
        --------
        >>> text = Schema({"d": Reading("date", DateFormat("day-month-year"))}).to_json()
        >>> Schema.from_json(text).columns["d"].format.describe()
        'day/month/year'
        """
        try:
            content = json.loads(text)
        except ValueError as error:
            raise InputError(f"{name} is not JSON ({error}); recreate it with fewer inspect --write-schema.") from None
        if not isinstance(content, dict) or not isinstance(content.get("columns"), dict):
            raise InputError(f"{name} has no 'columns'; recreate it with fewer inspect --write-schema.")
        missing = content.get("missing")
        if missing is not None and not (isinstance(missing, list) and all(isinstance(cell, str) for cell in missing)):
            raise InputError(f"{name}: 'missing' must be a list of texts.")
        columns = {column: _from_dict(about, f"{name}, {column!r}") for column, about in content["columns"].items()}
        return cls(columns, None if missing is None else tuple(missing))


def read_schema(schema: Schema | Path | str | None) -> Schema:
    """Return a schema, from its file if need be."""
    if schema is None or isinstance(schema, Schema):
        return Schema() if schema is None else schema
    path = Path(schema)
    try:
        return Schema.from_json(path.read_text(encoding="utf-8"), path.name)
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not JSON; recreate it with fewer inspect --write-schema.") from None
    except OSError as error:
        raise InputError(f"The schema {path} cannot be read ({error.strerror}); check the path.") from None


def _to_dict(reading: Reading) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": reading.kind}
    if isinstance(reading.format, DateFormat):
        about["order"] = reading.format.order
    elif reading.format is not None:
        about |= {key: value for key, value in asdict(reading.format).items() if value != getattr(NumberFormat(), key)}
    if reading.kind == "left out":
        about["reason"] = reading.reason
    return about


def _from_dict(about: Any, where: str) -> Reading:
    kinds = get_args(ColumnKind)
    if not isinstance(about, dict) or about.get("kind") not in kinds:
        raise InputError(f"{where}: 'kind' must be one of {', '.join(kinds)}.")
    kind: ColumnKind = about["kind"]
    more = {"date": ["order"], "numeric": list(asdict(NumberFormat()))}
    known = {"kind", "reason", *more.get(kind, [])}
    if odd := [key for key in about if key not in known]:
        raise InputError(f"{where}: {odd[0]!r} is not known for {kind} columns; there are {', '.join(sorted(known))}.")
    if kind == "date":
        if about.get("order", "year-month-day") not in get_args(Order):
            raise InputError(f"{where}: 'order' must be one of {', '.join(get_args(Order))}.")
        return Reading("date", DateFormat(about.get("order", "year-month-day")))
    if kind == "numeric":
        marks = {key: about.get(key, default) for key, default in asdict(NumberFormat()).items()}
        good = all(isinstance(mark, str) for mark in marks.values())
        if not good or marks["decimal"] not in (".", ",", ":") or marks["thousands"] not in ("", ",", ".", " ", "'"):
            raise InputError(
                f"{where}: 'decimal' is . or a comma (or : for 12:30), 'thousands' one of , . ' or a space."
            )
        if marks["decimal"] == marks["thousands"]:
            raise InputError(f"{where}: 'decimal' and 'thousands' cannot both be {marks['decimal']!r}.")
        return Reading("numeric", NumberFormat(**marks))
    return Reading(kind, reason=str(about.get("reason", "the schema says so")) if kind == "left out" else "")
