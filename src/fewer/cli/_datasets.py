"""`fewer datasets`: what is on the shelf, and a way to take it down."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import fewer
from fewer.cli._outputs import show, width_of_paper
from fewer.errors import InputError
from fewer.files import refuse_unwritable, write_atomically

PLACES = {
    "bundled": "in this package",
    "scikit-learn": "in scikit-learn",
    "generated": "made by a rule",
    "outside": "FEWER_DATA, OpenML",
}


def datasets(
    name: Annotated[str | None, typer.Argument(help="Show its details.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write it to this file, target last: .csv, .tsv, .parquet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the documents' data sets, or write one to a file.

    Sets that the package does not carry are read from the folder named by the variable FEWER_DATA (NAME.csv.gz), or
    fetched from OpenML.
    """
    if save is not None:
        _write(name, save, quiet=as_json)
        if not as_json:
            return
    lines = fewer.datasets.info() if name is None else [fewer.datasets.info(name)]
    if as_json:
        show([_public(line) for line in lines], as_json=True)
    elif name is not None:
        show("\n".join(f"{key + ':':<11}{value}" for key, value in _public(lines[0]).items() if value != ""))
    else:
        show(laid_out(lines, width_of_paper()))


def _public(line: fewer.datasets.Info) -> dict[str, Any]:
    fields = asdict(line)
    shown = ("name", "rows", "columns", "kinds", "task", "counts", "source", "licence", "documents", "note", "sha256")
    return {key: fields[key] for key in shown} | {"where": _where(line), "bundled": line.bundled}


def _where(line: fewer.datasets.Info) -> str:
    if line.way == "view":
        return "a view, at hand" if line.bundled else "a view, FEWER_DATA, OpenML"
    return PLACES[line.way] if line.way != "outside" or line.openml else "FEWER_DATA"


def laid_out(lines: list[fewer.datasets.Info], width: int) -> str:
    """Lay the list out: what matters first, and only columns that fit between the edges."""
    shown = [_public(line) for line in lines]
    parts: list[list[str]] = []
    used = 0
    for title in ("name", "rows", "columns", "task", "kinds", "where", "licence", "source"):
        cells = [title, *(str(line[title]) for line in shown)]
        wide = max(map(len, cells))
        if used + wide <= width:
            used += wide + 2
            parts.append([cell.rjust(wide) if title in ("rows", "columns") else cell.ljust(wide) for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*parts, strict=True))


def _write(name: str | None, path: Path, *, quiet: bool) -> None:
    """Write a set to a file; say so on standard output, or beside it where that is for something else."""
    import polars as pl

    if name is None:
        raise InputError("--save needs the name of a data set: fewer datasets sonar --save sonar.csv")
    if path.is_file():
        raise InputError(f"{path} already exists; choose another --save.")
    refuse_unwritable(path, "--save")
    data = fewer.datasets.load(name)
    write_atomically(path, fewer.io.frame_bytes(data.X.with_columns(pl.Series("target", data.y)), path))
    message = f"{data.info.name}: {data.info.rows} rows and {data.info.columns} features in {path}"
    print(message, file=sys.stderr if quiet else sys.stdout)
