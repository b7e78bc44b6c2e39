"""`fewer datasets`: what is on the shelf, and a way to take it down."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewer.errors import InputError

if TYPE_CHECKING:
    from fewer.datasets import Info

PLACES = {
    "bundled": "in this package",
    "scikit-learn": "in scikit-learn",
    "generated": "made by a rule",
    "outside": "FEWER_DATA, OpenML",
}


def datasets(
    name: Annotated[str | None, typer.Argument(help="Tell all about this one.", show_default=False)] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write it to this CSV file, target last.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the documents' data sets, or write one to a file.

    Sets that the package does not carry are read from the folder named by the variable FEWER_DATA (NAME.csv.gz), or
    fetched from OpenML.
    """
    from fewer.datasets import info

    if save is not None:
        _write(name, save)
        return
    lines = info() if name is None else [info(name)]
    if as_json:
        print(json.dumps([_public(line) for line in lines], ensure_ascii=False, indent=1))
    elif name is not None:
        for key, value in _public(lines[0]).items():
            if value != "":
                print(f"{key + ':':<11}{value}")
    else:
        _show(lines)


def _public(line: Info) -> dict[str, Any]:
    fields = asdict(line)
    shown = ("name", "rows", "columns", "kinds", "task", "counts", "source", "licence", "documents", "note", "sha256")
    return {key: fields[key] for key in shown} | {"where": _where(line), "bundled": line.bundled}


def _where(line: Info) -> str:
    if line.way == "view":
        return "a view, at hand" if line.bundled else "a view, FEWER_DATA, OpenML"
    return PLACES[line.way] if line.way != "outside" or line.openml else "FEWER_DATA"


def _show(lines: list[Info]) -> None:
    import sys

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("name", "rows", "columns", "kinds", "task", "where", "licence", "source"):
        right = title in ("rows", "columns")
        least = max(len(line.name) for line in lines) if title == "name" else None
        table.add_column(title, justify="right" if right else "left", no_wrap=True, min_width=least)
    for line in lines:
        cells = (line.name, f"{line.rows}", f"{line.columns}", line.kinds, line.task, _where(line), line.licence)
        table.add_row(*map(escape, (*cells, line.source)))
    # A pipe has no edge at which to cut.
    Console(highlight=False, width=None if sys.stdout.isatty() else 400).print(table)


def _write(name: str | None, path: Path) -> None:
    import polars as pl

    from fewer.datasets import load

    if name is None:
        raise InputError("--save needs the name of a data set: fewer datasets sonar --save sonar.csv")
    data = load(name)
    try:
        with path.open("wb") as file:
            data.X.with_columns(pl.Series("target", data.y)).write_csv(file)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another --save.") from None
    print(f"{data.info.name}: {data.info.rows} rows and {data.info.columns} features in {path}")
