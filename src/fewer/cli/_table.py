"""What the commands that read a table have in common: how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewer.cli._shared import names_of
from fewer.errors import InputError

if TYPE_CHECKING:
    from fewer.io import TableOptions

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The table: CSV (also .gz), Parquet or ARFF; - is standard input.", show_default=False
    ),
]
TargetOption = Annotated[
    str, typer.Option("--target", "-t", help="The column to predict, by name or place (-1: last).", show_default=False)
]
NominalOption = Annotated[
    str | None, typer.Option(help="Columns to compare only as equal or not, such as codes: zip,code.")
]
NumericOption = Annotated[str | None, typer.Option(help="Columns of numbers that look like codes or words.")]
ExcludeOption = Annotated[str | None, typer.Option(help="Columns forced out, not even read: id,date.")]
MissingOption = Annotated[
    str | None, typer.Option(help="Cells that mean missing, beside empty ones: 'NA,?,-'.", show_default=False)
]
SchemaOption = Annotated[
    Path | None, typer.Option(help="How to read the columns: a file of fewer inspect.", show_default=False)
]
SkipOption = Annotated[bool, typer.Option("--skip-rows-without-target", help="Leave out rows whose target is missing.")]
CalendarOption = Annotated[bool, typer.Option("--calendar", help="Add weekday and month of dates as features.")]
EncodingOption = Annotated[str, typer.Option(help="How the text is written: utf-8, latin-1, cp1252, …")]
DecimalOption = Annotated[
    str | None, typer.Option(help="The decimal point of all numbers; else found out by column.", show_default=False)
]
TaskOption = Annotated[str | None, typer.Option(help="classification or regression; found out from the target.")]


GroupsOption = Annotated[
    str | None, typer.Option(help="Column: rows of one group stay on one side of every split.", show_default=False)
]
WeightsOption = Annotated[str | None, typer.Option(help="Column: how much each row counts.", show_default=False)]
TimeOption = Annotated[
    str | None, typer.Option(help="Column: training rows are earlier than test rows.", show_default=False)
]
ScoringOption = Annotated[
    str | None, typer.Option(help="The metric, scikit-learn's name: roc_auc, balanced_accuracy, …", show_default=False)
]
RareOption = Annotated[
    str, typer.Option(help="Classes with fewer rows than folds: refuse, drop or merge.", show_default=False)
]


def parse_task(task: str | None) -> Any:
    """Read the name of a task."""
    if task not in (None, "classification", "regression"):
        raise InputError(f"--task {task!r} is not known; choose classification or regression.")
    return task


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are read."""

    exclude: ExcludeOption = None
    nominal: NominalOption = None
    numeric: NumericOption = None
    missing: MissingOption = None
    schema: SchemaOption = None
    skip: SkipOption = False
    task: TaskOption = None
    encoding: EncodingOption = "utf-8"
    decimal: DecimalOption = None

    @property
    def parsed_task(self) -> Any:
        """The task, if it is one."""
        return parse_task(self.task)


@dataclass(frozen=True)
class FeatureColumns(Columns):
    """How columns become features."""

    calendar: CalendarOption = False


@dataclass(frozen=True)
class Rows:
    """Columns that belong to the rows and are no features."""

    groups: GroupsOption = None
    weights: WeightsOption = None
    time: TimeOption = None


def table_options(columns: Columns | None = None, rows: Rows | None = None) -> TableOptions:
    """Turn what was typed into options of `fewer.io.read_table`."""
    columns, rows = columns or Columns(), rows or Rows()
    if columns.decimal not in (None, ".", ","):
        raise InputError(f"--decimal {columns.decimal!r} is not known; give . or a comma.")
    return {
        "nominal": names_of(columns.nominal),
        "numeric": names_of(columns.numeric),
        "exclude": names_of(columns.exclude),
        "missing": None if columns.missing is None else names_of(columns.missing),
        "decimal": columns.decimal,
        "encoding": columns.encoding,
        "schema": columns.schema,
        "skip_rows_without_target": columns.skip,
        "calendar": isinstance(columns, FeatureColumns) and columns.calendar,
        "groups": rows.groups,
        "sample_weight": rows.weights,
        "time": rows.time,
    }
