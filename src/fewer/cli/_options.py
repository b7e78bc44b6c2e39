"""Options of the commands: those of one declaration, how a table is read, where it is read, and what was typed."""

from __future__ import annotations

import atexit
import csv
import inspect
import io
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from http.client import HTTPException
from inspect import Parameter
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, get_type_hints
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

import typer

import fewer
from fewer.cli._outputs import check_page, check_save, say
from fewer.errors import InputError
from fewer.run.request import OPTIONS, Request, names_of


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses: each of their fields is an option of the command line.

    Parameters
    ----------
    command : callable
        Whose parameters have types; those that are dataclasses are spread out, in their place.

    Returns
    -------
    callable
        The command as typer reads it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> def draw(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> inspect.signature(spread(draw))
    <Signature (*, name: str, width: int = 1, height: int = 2)>
    >>> spread(draw)(name="a", width=5, height=2)
    a Size(width=5, height=2)
    """
    hints = get_type_hints(command, include_extras=True)
    params = inspect.signature(command).parameters
    bundles = {name: _options_of(hints[name]) for name in params if is_dataclass(hints[name])}
    alone = {name: [one.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])] for name, one in params.items()}
    options = [option for group in (alone | bundles).values() for option in group]

    @wraps(command)
    def spread_out(**values: Any) -> None:
        arguments = {
            name: hints[name](**{one.name: values.pop(one.name) for one in group if one.name in values})
            for name, group in bundles.items()
        }
        command(**values, **arguments)

    spread_out.__annotations__ = {option.name: option.annotation for option in options}
    spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return spread_out


def _options_of(bundle: Any) -> list[Parameter]:
    """Return a parameter for each field of a bundle; of a `Request`, for those that can be typed."""
    hints = get_type_hints(bundle, include_extras=True)
    defaults = {field.name: field.default for field in fields(bundle)}
    if bundle is Request:
        kinds = {name: declared.kind for name, declared in OPTIONS.items()}
        hints = {name: Annotated[kind | None if defaults[name] is None else kind, option(name)]
                 for name, kind in kinds.items()}  # fmt: skip
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        for name, default in defaults.items()
        if name in hints
    ]


IN_CHUNKS = "Read in chunks; automatic for folders, globs and tables larger than memory."
StreamOption = Annotated[bool | None, typer.Option("--stream/--no-stream", help=IN_CHUNKS)]
ClusterOption = Annotated[str | None, typer.Option("--cluster", help="Dask scheduler to use: tcp://host:port.")]


def wants_stream(file: Path, asked: bool | None, command: str = "select") -> bool:
    """Say whether a table is read in chunks: as asked, or if it is many files, or larger than memory."""
    if asked:
        return True

    if asked is None:
        chunked = fewer.io.in_chunks(file, command)
        if chunked and str(file) != "-":
            fewer.io.open_source(str(file))  # refuse an unreadable table before printing about it
            say(f"{file} is read in chunks: {fewer.io.memory_plan(file, command)}.")
        return chunked
    if file.is_file():
        fewer.io.refuse_unfit(file, command)
    return False


def resources_of(jobs: int | None, memory: str | int, device: str = "cpu") -> fewer.contracts.Resources:
    """Turn options into resources."""
    from joblib import effective_n_jobs

    return fewer.contracts.Resources(effective_n_jobs(jobs), fewer.selectors.parse_memory(memory), device)


def for_memory(file: Path, what: str) -> InputError:
    """Refuse what a table in chunks cannot be asked for, with a way that works."""
    way = "it is larger, so keep few of its columns first, as fewer select --save small.parquet does"
    return InputError(
        f"{what} needs the table in memory: {way if fewer.io.beyond_memory(file) else 'use --no-stream'}."
    )


def open_chunks(file: Path, target: str, options: Mapping[str, Any]) -> fewer.io.Stream:
    """Open a table to be read in chunks; refuse what only a whole table is read with."""
    plain = {"encoding": ("utf-8", "utf8"), "decimal": (".",), "header": ("1",)}
    chosen = {name: options[name] for name in ("missing", "schema", "calendar", "sheet", *plain)}
    if others := [name for name, value in chosen.items() if value and str(value).lower() not in plain.get(name, ())]:
        raise for_memory(file, f"--{others[0]}")
    names = ("task", "nominal", "numeric", "exclude", "groups", "time", "skip_rows_without_target")
    return fewer.io.open_stream(
        str(file), target, weights=options["sample_weight"], **{name: options[name] for name in names}
    )


_typed: list[str] = []


def remember(arguments: Sequence[str]) -> None:
    """Remember what was typed, so that results can say how to repeat them."""
    _typed[:] = arguments


def typed(*without: str) -> str:
    """Return the command that repeats the run from its start, without some options and their values."""
    kept, skip = ["fewer"], False
    for part in _typed:
        if not skip and part != "--resume" and part.split("=")[0] not in without:
            kept.append(part)
        skip = part in without
    return shlex.join(kept)


def repaired(options: Mapping[str, Sequence[str]]) -> str:
    """Return the command that was typed with some options more; lists that stand there already become longer.

    Examples
    --------
    >>> remember(["select", "t.csv", "--missing", "x"])
    >>> print(repaired({"--missing": ["a,b"], "--skip": []}))
    fewer select t.csv '--missing=x,"a,b"' --skip
    """
    parts = list(_typed)
    for option, values in options.items():
        given = next((part for part in parts if part.split("=")[0] == option), None)
        if given is not None:
            at = parts.index(given)
            known = names_of(given.partition("=")[2] if "=" in given else parts[at + 1] if values else "")
            del parts[at : at + 1 + ("=" not in given and bool(values))]
            values = [*known, *values]
        written = io.StringIO()
        csv.writer(written, lineterminator="").writerow(values)
        parts.append(f"{option}={written.getvalue()}" if values else option)
    return shlex.join(["fewer", *parts])


def option(name: str, **changes: Any) -> Any:
    """Return the option of the command line that `Request` declares.

    Parameters
    ----------
    name : str
        A field of `Request`.
    **changes
        What this command says or limits differently, as `typer.Option` takes it.
    """
    declared = OPTIONS[name]
    read = {"callback": declared.read} if declared.read is not None else {}
    return typer.Option(*declared.flags, **{"help": declared.help, **declared.limits, **read, **changes})


def check_jobs(jobs: int) -> int:
    """Refuse no threads at all."""
    return OPTIONS["n_jobs"].read(jobs)  # type: ignore[misc]


# Seconds that a server may be silent.
DOWNLOAD_SECONDS = 60


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

    name = PurePosixPath(unquote(urlsplit(address).path)).name or "table"
    folder = tempfile.mkdtemp(prefix="fewer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with urlopen(address, timeout=DOWNLOAD_SECONDS) as answer:
            content = read_limited(answer, name, fewer.io.memory.available_memory())
    except (OSError, ValueError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise InputError(f"{address} cannot be fetched ({reason}).") from None
    file = Path(folder) / name
    file.write_bytes(content)
    return file


TABLES = "The table: CSV, Excel, Parquet, JSON, SQLite …, packed or not; sqlite:///a.db::table; https://…; -"
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help=TABLES, parser=table_file)]
TargetOption = Annotated[str, typer.Option("--target", "-t", help="Column to predict: name or position (-1: last).")]
EncodingOption = Annotated[str | None, typer.Option(help="How the text is written: utf-8, utf-16, cp1252, …")]
SheetOption = Annotated[str | None, typer.Option(help="The sheet of a workbook, by name or number (from 1).")]
HeaderOption = Annotated[int | None, typer.Option(help="The line (or row of a sheet) with the names of the columns.")]
Task = Literal["classification", "regression"]  # as in fewer.problem, which would load NumPy
ReportOption = Annotated[Path | None, typer.Option("--report", help="Write an HTML report here.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite the run in --out and the --save file.")]
SaveOption = Annotated[
    Path | None, typer.Option("--save", help="Write the table with the chosen columns here: .csv, .tsv, .parquet.")
]
SeedOption = Annotated[int, option("seed")]


@dataclass(frozen=True)
class RunOutputs:
    """Where an answer goes."""

    out: Annotated[Path | None, typer.Option(help="Save the run in this folder.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")] = False
    force: ForceOption = False
    report: ReportOption = None
    as_json: JsonOption = False

    def replaced(self) -> Any:
        """Set an earlier run in the folder aside, where that is asked for, until this one is done."""
        if self.out is None or not self.force or self.resume:
            return nullcontext()
        return fewer.run.folder.replacing(self.out)

    def refuse(self, file: Path | None) -> None:
        """Refuse places that cannot be written, or where something is that is not ours, before anything is done."""
        if self.resume and self.out is None:
            raise InputError("--resume needs --out, the folder of the run to resume.")
        if self.report is not None:
            check_page(self.report, file)
        if self.out is not None:
            fewer.run.folder.check_folder(self.out, resume=self.resume, force=self.force)


@dataclass(frozen=True)
class Outputs(RunOutputs):
    """Where an answer goes, and the reduced table."""

    save: SaveOption = None

    def check(self, file: Path, *, one_table: bool) -> None:
        """Refuse places that cannot be written, before the work; `one_table`: the table can be read again."""
        self.refuse(file)
        if self.save is not None:
            check_save(self.save, file, force=self.force)
            if not one_table:
                raise InputError("--save does not work with parcel or stdin; use fewer transform afterwards.")


@dataclass(frozen=True)
class ColumnOptions:
    """How the columns of a table are read."""

    exclude: Annotated[str | None, typer.Option(help="Columns to ignore (not read): id,date.")] = None
    nominal: Annotated[str | None, typer.Option(help="Columns to treat as categories, such as codes: zip,code.")] = None
    numeric: Annotated[str | None, typer.Option(help="Columns to read as numbers, not categories.")] = None
    missing: Annotated[str | None, typer.Option(help="More cells that mean missing: 'x,-999'.")] = None
    schema: Annotated[Path | None, typer.Option(help="Column types: a schema from fewer inspect.")] = None
    skip: Annotated[bool, typer.Option("--skip-rows-without-target", help="Skip rows with a missing target.")] = False
    task: Annotated[Task | None, typer.Option(help="Kind of target; default: found from its values.")] = None
    encoding: EncodingOption = None
    sheet: SheetOption = None
    header: HeaderOption = None
    decimal: Annotated[Literal[".", ","] | None, typer.Option(help="Decimal mark; default: found per column.")] = None


@dataclass(frozen=True)
class FeatureColumns(ColumnOptions):
    """How columns become features."""

    calendar: Annotated[bool, typer.Option("--calendar", help="Add weekday and month of dates as features.")] = False


@dataclass(frozen=True)
class Rows:
    """Columns that belong to the rows and are no features."""

    groups: Annotated[str | None, typer.Option(help="Group column: a group is never split across folds.")] = None
    weights: Annotated[str | None, typer.Option(help="Column of row weights.")] = None
    time: Annotated[str | None, typer.Option(help="Time column: train on past, test on later rows.")] = None


def table_options(columns: ColumnOptions | None = None, rows: Rows | None = None) -> dict[str, Any]:
    """Turn what was typed into arguments of `fewer.io.read_table`, by name."""
    given: dict[str, Any] = {"calendar": False, **vars(columns or ColumnOptions()), **vars(rows or Rows())}
    given |= {name: names_of(given[name]) for name in ("nominal", "numeric", "exclude")}
    given["missing"] = None if given["missing"] is None else names_of(given["missing"])
    return given | {"skip_rows_without_target": given.pop("skip"), "sample_weight": given.pop("weights")}
