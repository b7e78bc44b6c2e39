"""From files to a problem, and files with some of their columns."""

from __future__ import annotations

import difflib
import io
import os
import stat
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from fewer.errors import FewerWarning
from fewer.io._cells import DATE_PARTS, add_calendar
from fewer.io._formats import (
    DUCKDB,
    SQLITE,
    STRANGERS,
    is_address,
    is_arff,
    is_cbml,
    is_workbook,
    read_arff,
    read_cbml,
    read_database,
    read_limited,
    read_typed,
    read_workbook,
    typed_sheet,
    unpacked,
)
from fewer.io._kinds import ParseProblem, ReadOptions, Schema, Understood, read_schema
from fewer.io._reader import LARGEST_NUMBER, Contract, ProblemReader, endless_cell, refuse_absent
from fewer.io._source import files_of, named_by_folders, names_many
from fewer.io._text import Sheet, is_number, read_text, to_utf8
from fewer.io.frames import missing_cells, pl, reading, refuse_repeated_names
from fewer.io.memory import BYTES_OF_PARQUET_CELL, available_memory, refuse_too_large
from fewer.problem import InputError, Problem, Task, column_number
from fewer.text import nearest

BYTES_PER_ARFF_CELL = 80
PARQUET = b"PAR1"


class TableOptions(TypedDict, total=False):
    """What can be said about a file; see `read_table`.

    Examples
    --------
    >>> options: TableOptions = {"nominal": ["zip"], "decimal": ","}
    >>> sorted(options)
    ['decimal', 'nominal']
    """

    nominal: Iterable[str | int]
    numeric: Iterable[str | int]
    exclude: Iterable[str | int]
    encoding: str | None
    separator: str | None
    sheet: str | int | None
    header: int | None
    decimal: str | None
    missing: Sequence[str] | None
    schema: Schema | Path | str | None
    skip_rows_without_target: bool
    calendar: bool
    groups: str | None
    sample_weight: str | None
    time: str | None


def read_table(
    path: Path | str,
    target: str | int,
    *,
    task: Task | None = None,
    memory: int | None = None,
    **options: Unpack[TableOptions],
) -> Problem:
    r"""Read a file into a problem.

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    path : path
        A text table (CSV, TSV, …), Parquet, Arrow, JSON records, a workbook (.xlsx, .ods), SQLite, DuckDB, Stata, ARFF
        or CBML, recognised by content, also packed (.gz, .zip, .bz2, .xz, .zst). `-` is standard input. The address of
        a table in a database: `sqlite:///people.db::table`.
    target : str or int
        The column to predict, by name or by number: 0 is the first, −1 the last. A name comes first if both fit.
    task : {"classification", "regression"}, optional
        Found out from the target unless given.
    memory : int, optional
        Bytes that the table may take; the memory that is free unless given.
    **options
        What can be said about the file (`TableOptions`):

        - `nominal`, `numeric`, `exclude`, columns by name or number: Columns whose kind is not what their cells
          look like, and columns that are not read at all.
        - `encoding`, str, optional: Of text. UTF-8, or a guess from the bytes, unless given.
        - `separator`, str, optional: Between cells; found out from the first lines unless given.
        - `sheet`, str or int, optional: Of a workbook, by name or number (from 1); the first that holds something.
        - `header`, int, optional: The line, or row of a sheet, with the names; found out from the first ones.
        - `decimal`, {".", ","}, optional: The decimal point; found out column by column unless given.
        - `missing`, sequence of str, optional: Cells that mean missing, beside the empty one, `?`, `NA`, `N/A`,
          `NaN`, `null` …, and `-` or `none` among numbers.
        - `schema`, path or Schema, optional: How columns are read, as `fewer inspect --write-schema` writes it.
        - `skip_rows_without_target`, bool, default=False: Leave out rows whose target is missing, instead of
          refusing them.
        - `calendar`, bool, default=False: Add the weekday and the month of each date as nominal features.
        - `groups`, `sample_weight`, `time`, str, optional: Columns that are no features: rows of one group stay
          together in every split; how much each row counts; when each row was, so that training rows are
          earlier than test rows.

    Returns
    -------
    Problem
        What was noticed on the way stands in its `notes`.

    Raises
    ------
    TableError
        With all cells that cannot be read, each with its place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write('income,y\n"1,188",no\n987,yes\n')
    ...     file.flush()
    ...     problem = read_table(file.name, "y")
    >>> problem.X[:, 0].tolist(), problem.notes
    ([1188.0, 987.0], ("Column 'income' is read as numbers with commas between thousands ('1,188' is 1188).",))
    """
    table = understand_table(path, target, task, memory, options)
    table.understood.raise_problems(*table.problems)
    if table.frame.width == 1 + len(table.roles):
        name = display_name(path)
        raise InputError(f"{name} has only the target column {table.target!r}; there is nothing to select.")
    frame, label = table.frame, str(table.target)
    if options.get("calendar"):
        frame = add_calendar(frame)
    reader = ProblemReader(
        task=task,
        nominal=[name for name in table.nominal if name in frame.columns],
        numeric=[name for name in table.numeric if name in frame.columns],
        rows={role: frame[column] for role, column in table.roles.items()},
        place=table.place,
        notes=table.notes,
    )
    return reader.problem(frame.drop(label, *table.roles.values()), frame[label])


@dataclass(eq=False)
class UnderstoodTable:
    """A file of which every column is understood: rows to use, what else the columns are for, what is wrong."""

    sheet: Sheet
    understood: Understood
    target: str | None
    roles: dict[str, str]
    nominal: list[str]
    numeric: list[str]
    notes: list[str]
    skip: InitVar[bool]

    def __post_init__(self, skip: bool) -> None:
        """List missing targets, or skip their rows, and numbers that are infinite or too large."""
        self.frame, self.place = self.understood.frame, self.sheet.place
        self._texts = self.sheet.frame if self.sheet.is_text else None
        self.problems: list[ParseProblem] = []
        target = self.target
        if target is not None and target not in {problem.column for problem in self.understood.problems}:
            lost = missing_cells(self.frame[target])
            if lost.any():
                self._drop_or_report(lost, target, skip)
        for column in self.frame.iter_columns():
            if column.dtype.is_float() and len(column):
                cells = column.to_numpy()
                ends = -float(np.fmin.reduce(cells)), float(np.fmax.reduce(cells))  # missing cells are passed over
                if max(ends) > LARGEST_NUMBER:  # Python's numbers: in single precision LARGEST would be infinite
                    self._report_endless(column, column.name == target)

    def _drop_or_report(self, lost: pl.Series, target: str, skip: bool) -> None:
        count = int(lost.sum())
        row, more = int(lost.arg_true()[0]), f" and {count - 1} more" if count > 1 else ""
        if count == len(lost):
            raise InputError(f"The target {target!r} is missing in every row; choose another.")
        if not skip:
            cure = "fill the cell, delete the row, or skip such rows (--skip-rows-without-target)"
            message = f"The target is missing in {self.place(row)}{more}; {cure}."
            trouble = "the target is missing: --skip-rows-without-target"
            self.problems.append(ParseProblem(target, self.place(row), "", count, trouble, message, is_target=True))
            return
        kept, place_in_file = (~lost).arg_true().to_numpy(), self.place
        self.frame = self.frame.filter(~lost)
        self._texts = None if self._texts is None else self._texts.filter(~lost)
        self.place = lambda row: place_in_file(int(kept[row]))
        self.notes.append(f"{count:,} {'rows have' if count > 1 else 'row has'} no target; skipped.")

    def _report_endless(self, column: pl.Series, is_target: bool) -> None:
        extreme = (column.cast(pl.Float64).abs() > LARGEST_NUMBER) & column.is_not_nan()
        row, name = int(extreme.arg_true()[0]), column.name
        message = endless_cell(column[row], None if is_target else name, self.place(row))
        texts: Iterable[str] = [] if self._texts is None else self._texts[name].filter(extreme).str.strip_chars()
        cells = tuple(dict.fromkeys(texts))
        shown, count, trouble = f"{column[row]:g}", int(extreme.sum()), "infinite or too large"
        self.problems.append(ParseProblem(name, self.place(row), shown, count, trouble, message, is_target, cells))


def understand_table(
    path: Path | str,
    target: str | int | None,
    task: Task | None = None,
    memory: int | None = None,
    options: TableOptions | None = None,
    sheet: Sheet | None = None,
) -> UnderstoodTable:
    """Read a file, unless it was read already, and understand its columns; what is wrong is listed, not raised."""
    options = TableOptions() if options is None else options
    sheet = read_sheet(path, options, memory) if sheet is None else sheet
    names = sheet.frame.columns
    label = None if target is None else names[find_target(target, names, display_name(path), sheet.notes)]
    by_name = dict[str, Any](options)
    chosen = {
        kind: {names[column_number(column, names, kind)] for column in by_name.get(kind) or ()}
        for kind in ("nominal", "numeric", "exclude")
    }
    roles = {
        role: names[column_number(by_name[role], names, role)]
        for role in ("groups", "sample_weight", "time")
        if by_name.get(role) is not None
    }
    if both := chosen["nominal"] & chosen["numeric"]:
        raise InputError(f"Column {sorted(both)[0]!r} is both nominal and numeric; choose one.")
    for role, name in {"target": label, **roles}.items():
        if name in chosen["exclude"]:
            raise InputError(f"{name!r} is both {role} and excluded; choose one.")
    sheet = sheet.without(chosen["exclude"])
    read_options = _said_of_cells(sheet, label, task, chosen, roles.get("groups"), options)
    understood = sheet.typed(read_options)
    levels = {name for name, reading in read_options.readings.items() if reading.kind == "nominal" and name in names}
    others = {label, *roles.values(), *chosen["exclude"]}
    nominal = sorted((read_options.nominal | levels) - others, key=names.index)
    numeric = sorted(read_options.numeric - others, key=names.index)
    absent = [repr(name) for name in read_options.readings if name not in names]
    unknown = f"The schema names columns that {display_name(path)} does not have: {', '.join(absent[:6])}."
    notes = [*sheet.notes, *[unknown] * bool(absent), *understood.notes]
    skip = bool(options.get("skip_rows_without_target"))
    return UnderstoodTable(sheet, understood, label, roles, nominal, numeric, notes, skip)


def _said_of_cells(
    sheet: Sheet, label: str | None, task: Task | None, chosen: dict[str, set[str]], groups: str | None,
    options: TableOptions,
) -> ReadOptions:  # fmt: skip
    """Return all that was said about the cells: by the file itself, by options, by a schema."""
    schema = read_schema(options.get("schema"))
    nominal = chosen["nominal"] | (set(sheet.nominal) - chosen["numeric"]) | ({groups} if groups else set())
    added = (*(schema.missing or ()), *(options.get("missing") or ()))
    by_name = chosen["nominal"] | chosen["numeric"]
    return ReadOptions(
        nominal=frozenset(nominal - {label}),
        numeric=frozenset(chosen["numeric"]),
        decimal=options.get("decimal"),
        target=label,
        mixed=task == "classification" or label in nominal,
        missing=(*sheet.missing, *added),
        missing_numbers=any(map(is_number, added)),
        readings={name: reading for name, reading in schema.columns.items() if name not in by_name},
        leave_out=True,
    )


def read_frame(path: Path | str, *, target: str | None = None) -> pl.DataFrame:
    r"""Read a file into a frame whose columns have types; those declared nominal are text.

    The target, if named, may mix numbers and words.

    Parameters
    ----------
    path : path
        A text table, ARFF, CBML or Parquet.
    target : str, optional
        The column that may mix numbers and words.

    Returns
    -------
    polars.DataFrame
        All columns, the target too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("age,y\n30,no\n40,yes\n")
    ...     file.flush()
    ...     frame = read_frame(file.name)
    >>> frame["age"].to_list()
    [30.0, 40.0]
    """
    sheet = read_sheet(path)
    nominal = [name for name in sheet.nominal if name != target]
    options = ReadOptions(nominal=frozenset(nominal), target=target, mixed=True, missing=sheet.missing)
    understood = sheet.typed(options)
    understood.raise_problems()
    return understood.frame.with_columns(sheet.frame.select(nominal))


def display_name(path: Path | str) -> str:
    """Name a file in a message."""
    return "standard input" if str(path) == "-" else Path(path).name


def read_sheet(path: Path | str, options: TableOptions | None = None, memory: int | None = None) -> Sheet:
    """Read a file, once, into columns; those of text tables are still text."""
    options = TableOptions() if options is None else options
    limit = available_memory() if memory is None else memory
    name, header = display_name(path), options.get("header")
    if is_address(path):
        return read_database(str(path), header, limit)
    if str(path) != "-" and names_many(path):
        return _together(path, options, limit)
    content = unpacked(_read_once(path, limit), name, limit)
    if is_workbook(content):
        return read_workbook(content, name, options.get("sheet"), header, limit)
    if options.get("sheet") is not None:
        raise InputError(f"{name} is no workbook and has no sheets; omit it (--sheet).")
    if content.startswith(PARQUET):
        return _read_parquet(content, name, limit)
    if content.startswith(SQLITE) or content[8:12] == DUCKDB:
        return read_database(str(path), header, limit)
    for magic, description in STRANGERS.items():
        if content[: len(magic)].upper() == magic:
            raise InputError(f"{name} is {description}.")
    typed = read_typed(content, name, limit)
    if typed is not None:
        return typed
    notes: list[str] = []
    content = to_utf8(content, name, options.get("encoding"), notes)
    if is_arff(content, name):
        refuse_too_large(name, len(content) + BYTES_PER_ARFF_CELL * content.count(b","), limit)
        return read_arff(content, name)
    if is_cbml(content, name):
        refuse_too_large(name, BYTES_PER_ARFF_CELL * content.count(b"</"), limit)
        return read_cbml(content, name)
    return read_text(content, name, options.get("separator"), header, limit, notes)


def _together(path: Path | str, options: TableOptions, limit: int) -> Sheet:
    """Read files of the same columns as one table; cells are still named by their file and line."""
    files, sheets = files_of(path), list[Sheet]()
    for file in files:
        sheets.append(read_sheet(file, options, limit))
        limit -= int(sheets[-1].frame.estimated_size())
        if sheets[-1].frame.columns != sheets[0].frame.columns or sheets[-1].is_text != sheets[0].is_text:
            raise InputError(f"{file} has other columns than {files[0]}; name files of one table.")
    named = named_by_folders(path, files, sheets[0].is_text).drop(sheets[0].frame.columns, strict=False)
    if named.width:
        frames = [sheet.frame.join(named[i : i + 1], how="cross") for i, sheet in enumerate(sheets)]
        sheets = [replace(sheet, frame=frame) for sheet, frame in zip(sheets, frames, strict=True)]
    starts = np.cumsum([0, *(sheet.frame.height for sheet in sheets)])

    def place(row: int) -> str:
        part = int(np.searchsorted(starts, row, side="right")) - 1
        return f"{files[part].name}, {sheets[part].place(row - int(starts[part]))}"

    try:
        frame = pl.concat([sheet.frame for sheet in sheets], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise InputError(f"The files do not fit together ({str(error).splitlines()[0]}); give one kind.") from None
    return replace(
        sheets[0],
        frame=frame,
        place=place,
        nominal=tuple(dict.fromkeys(name for sheet in sheets for name in sheet.nominal)),
        notes=list(dict.fromkeys(note for sheet in sheets for note in sheet.notes)),
        missing=tuple(dict.fromkeys(text for sheet in sheets for text in sheet.missing)),
        semicolons=any(sheet.semicolons for sheet in sheets),
    )


def _read_once(path: Path | str, limit: int) -> bytes:
    """Return all that a file or pipe holds: what was read from a pipe cannot be read again."""
    with reading(str(path), OSError):
        if str(path) == "-":
            return read_limited(sys.stdin.buffer, "standard input", limit)
        if not Path(path).exists():
            raise InputError(f"File not found: {path}; {_similar_file(Path(path))}")
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return read_limited(file, Path(path).name, limit)
            refuse_too_large(Path(path).name, status.st_size, limit)
            return file.read()


def _read_parquet(content: bytes, name: str, limit: int) -> Sheet:
    with reading(f"The Parquet file {name}", pl.exceptions.PolarsError, OSError, cure="; write it again"):
        table = pl.scan_parquet(io.BytesIO(content))
        names = table.collect_schema().names()
        n_rows = int(table.select(pl.len()).collect().item())
        # Once as columns, once as the table of numbers.
        refuse_too_large(name, BYTES_OF_PARQUET_CELL * n_rows * len(names), limit)
        frame = pl.read_parquet(io.BytesIO(content))
    refuse_repeated_names(names, f"{name}: ")
    return typed_sheet(frame, name)


def find_target(target: str | int, names: list[str], file: str, notes: Sequence[str] = ()) -> int:
    """Return the place of the target, given by name or by number; a refusal adds how the file was read."""
    if isinstance(target, str):
        if target in names:
            if (second := f"{target} (2)") in names:  # as the reader calls it
                which = f"the number of the one to predict, {names.index(target)} or {names.index(second)}"
                raise InputError(f"{file} has several columns {target!r}; give {which}.")
            return names.index(target)
        try:
            target = int(target)
        except ValueError:
            cure = " ".join([nearest(str(target), names), *notes])
            raise InputError(f"{file} has no column {target!r}; {cure}") from None
    if not -len(names) <= target < len(names):
        raise InputError(
            f"{file} has no column {target}; its {len(names)} columns are numbered 0 to {len(names) - 1}, or -"
            f"{len(names)} to -1 from the end."
        )
    return target % len(names)


def _similar_file(path: Path) -> str:
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        names = []
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"did you mean {near[0]}?" if near else "check the path."


FORMATS = (".csv", ".tsv", ".parquet")


def reduce_table(
    path: Path | str, columns: Sequence[str], *, target: str | int | None = None, typed: bool = True,
    contract: Contract | None = None, **options: Unpack[TableOptions],
) -> pl.DataFrame:  # fmt: skip
    r"""Return the rows of a file with some of its columns.

    Parameters
    ----------
    path : path
        As in `read_table`.
    columns : sequence of str
        Which, in this order. The weekday and month of a date may be among them, as `calendar` names them.
    target : str or int, optional
        The column to predict, by name or number, to be kept as the last one.
    typed : bool, default=True
        Whether columns of text become numbers and dates, as the reader understands them, or stay as they were written.
    contract : Contract, optional
        What the columns held when they were chosen: they are read as those, and checked; a `FewerWarning` names new
        levels and ignored columns.
    **options
        As in `read_table`.

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write('income,zip,y\n"1,188",01067,no\n987,10115,yes\n')
    ...     file.flush()
    ...     print(reduce_table(file.name, ["income"]).rows(), reduce_table(file.name, ["income"], typed=False).rows())
    [(1188.0,), (987.0,)] [('1,188',), ('987',)]
    """
    derived = [name for name in columns if name.rpartition(": ")[2] in DATE_PARTS and name.rpartition(": ")[0]]
    sheet = read_sheet(path, options)
    original = frame = sheet.frame
    if contract is not None:
        _check_sheet(sheet, contract, {*columns, *derived})
    if typed or derived:
        table = understand_table(path, None, options=options, sheet=sheet)
        table.understood.raise_problems()
        frame = add_calendar(table.frame) if derived else table.frame
        frame = frame.with_columns(
            original[name] for name in columns if name not in frame.columns and name in original.columns
        )
    if target is not None:
        columns = [*columns, original.columns[find_target(target, original.columns, display_name(path))]]
    refuse_absent(columns, frame.columns, display_name(path))
    return frame.select(columns)


def _check_sheet(sheet: Sheet, contract: Contract, asked: set[str]) -> None:
    """Read the columns of a file as they were read before, and compare."""
    names = sheet.frame.columns
    kinds = {column["name"]: column["kind"] for column in contract.columns if not column.get("date")}
    chosen = {kind: frozenset(name for name in names if kinds.get(name) == kind) for kind in ("nominal", "numeric")}
    needed = {name for name in contract.features if name in names}
    options = ReadOptions(nominal=chosen["nominal"] & needed, numeric=chosen["numeric"] & needed, missing=sheet.missing)
    read = sheet.without(set(names) - needed).typed(options)
    typed = read.frame.with_columns(sheet.frame[problem.column] for problem in read.problems)
    stored = tuple(name for name in contract.features if name in names)  # the weekday of a date is not stored
    others = [name for name in names if name not in asked]
    for note in replace(contract, features=stored).check(typed, sheet.place, others):
        warnings.warn(note, FewerWarning, stacklevel=3)


def frame_bytes(frame: pl.DataFrame, name: Path | str) -> bytes:
    r"""Return a frame as a file of the kind that its name says.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    name : path
        Its ending says the kind: .csv, .parquet, …

    Returns
    -------
    bytes
        The file.

    Examples
    --------
    >>> frame_bytes(pl.DataFrame({"a": [1, 2]}), "t.csv")
    b'a\n1\n2\n'
    """
    kind = Path(name).suffix.lower()
    if kind not in FORMATS:
        raise InputError(f"{Path(name).name} has an unsupported extension; use {', '.join(FORMATS)}.")
    content = io.BytesIO()
    if kind == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="\t" if kind == ".tsv" else ",")
    return content.getvalue()
