"""What the commands that read a table have in common: how to read it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

import typer

from fewer.errors import InputError
from fewer.run.request import names_of

if TYPE_CHECKING:
    from fewer.io import TableOptions

PATIENCE = 60
"""Seconds that a server may be silent."""


class Address(type(Path())):  # type: ignore[misc]
    """The address of a table that is no file; as a path it would lose a slash."""

    text = ""  # of a parent

    def __new__(cls, *parts: Any) -> Address:
        """Keep the text as it was typed."""
        path: Address = super().__new__(cls, *parts)
        path.text = "/".join(map(str, parts))
        return path

    def __str__(self) -> str:
        return self.text or str(super().__str__())


def table_file(text: str) -> Path:
    """Return the path of a table; one on the network is fetched first."""
    if text.startswith(("http://", "https://")):
        return fetch(text)
    return Address(text) if "://" in text or "::" in text else Path(text)


def fetch(address: str) -> Path:
    """Fetch a table from the network into a file that is there until the command ends."""
    from fewer.io._formats import read_limited
    from fewer.io.memory import available_memory

    name = PurePosixPath(unquote(urlsplit(address).path)).name or "table"
    folder = tempfile.mkdtemp(prefix="fewer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with urlopen(address, timeout=PATIENCE) as answer:
            content = read_limited(answer, name, available_memory())
    except (OSError, ValueError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise InputError(f"{address} cannot be fetched ({reason}).") from None
    file = Path(folder) / name
    file.write_bytes(content)
    return file


FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The table: CSV, Excel, Parquet, JSON, SQLite …, packed or not; sqlite:///a.db::table; https://…; -",
        parser=table_file,
        show_default=False,
    ),
]
TargetOption = Annotated[
    str, typer.Option("--target", "-t", help="Column to predict: name or position (-1: last).", show_default=False)
]
NominalOption = Annotated[str | None, typer.Option(help="Columns to treat as categories, such as codes: zip,code.")]
NumericOption = Annotated[str | None, typer.Option(help="Columns to read as numbers, not categories.")]
ExcludeOption = Annotated[str | None, typer.Option(help="Columns to ignore (not read): id,date.")]
MissingOption = Annotated[str | None, typer.Option(help="More cells that mean missing: 'x,-999'.", show_default=False)]
SchemaOption = Annotated[
    Path | None, typer.Option(help="Column types: a schema from fewer inspect.", show_default=False)
]
SkipOption = Annotated[bool, typer.Option("--skip-rows-without-target", help="Skip rows with a missing target.")]
CalendarOption = Annotated[bool, typer.Option("--calendar", help="Add weekday and month of dates as features.")]
EncodingOption = Annotated[
    str | None, typer.Option(help="How the text is written: utf-8, utf-16, cp1252, …", show_default=False)
]
SheetOption = Annotated[
    str | None, typer.Option(help="The sheet of a workbook, by name or number (from 1).", show_default=False)
]
HeaderOption = Annotated[
    int | None, typer.Option(help="The line (or row of a sheet) with the names of the columns.", show_default=False)
]
DecimalOption = Annotated[
    str | None, typer.Option(help="Decimal mark of all numbers; default: found per column.", show_default=False)
]
TaskOption = Annotated[str | None, typer.Option(help="classification or regression; default: from the target.")]


GroupsOption = Annotated[
    str | None, typer.Option(help="Group column: a group is never split across folds.", show_default=False)
]
WeightsOption = Annotated[str | None, typer.Option(help="Column of row weights.", show_default=False)]
TimeOption = Annotated[
    str | None, typer.Option(help="Time column: train on past, test on later rows.", show_default=False)
]


def parse_task(task: str | None) -> Any:
    """Read the name of a task."""
    if task not in (None, "classification", "regression"):
        raise InputError(f"--task {task!r} is unknown; choose classification or regression.")
    return task


@dataclass(frozen=True)
class ColumnOptions:
    """How the columns of a table are read."""

    exclude: ExcludeOption = None
    nominal: NominalOption = None
    numeric: NumericOption = None
    missing: MissingOption = None
    schema: SchemaOption = None
    skip: SkipOption = False
    task: TaskOption = None
    encoding: EncodingOption = None
    sheet: SheetOption = None
    header: HeaderOption = None
    decimal: DecimalOption = None

    @property
    def parsed_task(self) -> Any:
        """The task, if it is one."""
        return parse_task(self.task)


@dataclass(frozen=True)
class FeatureColumns(ColumnOptions):
    """How columns become features."""

    calendar: CalendarOption = False


@dataclass(frozen=True)
class Rows:
    """Columns that belong to the rows and are no features."""

    groups: GroupsOption = None
    weights: WeightsOption = None
    time: TimeOption = None


def table_options(columns: ColumnOptions | None = None, rows: Rows | None = None) -> TableOptions:
    """Turn what was typed into options of `fewer.io.read_table`."""
    columns, rows = columns or ColumnOptions(), rows or Rows()
    if columns.decimal not in (None, ".", ","):
        raise InputError(f"--decimal {columns.decimal!r} is unknown; use . or a comma.")
    return {
        "nominal": names_of(columns.nominal),
        "numeric": names_of(columns.numeric),
        "exclude": names_of(columns.exclude),
        "missing": None if columns.missing is None else names_of(columns.missing),
        "decimal": columns.decimal,
        "encoding": columns.encoding,
        "sheet": columns.sheet,
        "header": columns.header,
        "schema": columns.schema,
        "skip_rows_without_target": columns.skip,
        "calendar": isinstance(columns, FeatureColumns) and columns.calendar,
        "groups": rows.groups,
        "sample_weight": rows.weights,
        "time": rows.time,
    }
