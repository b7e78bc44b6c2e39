"""`--save`: the table with the chosen columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewer.errors import InputError
from fewer.files import refuse_unwritable, write_atomically

if TYPE_CHECKING:
    from fewer.io import TableOptions

SaveOption = Annotated[
    Path | None,
    typer.Option(
        "--save", help="Write the table with the chosen columns here: .csv, .tsv, .parquet.", show_default=False
    ),
]


def check_save(save: Path, file: Path, *, force: bool = False) -> None:
    """Refuse a place for a table before the work: the table itself, another file, an unknown format or folder."""
    if save.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise InputError(f"--save {save} names no format that is written; end it in .csv, .tsv or .parquet.")
    if save.exists() and file.exists() and save.samefile(file):
        raise InputError(f"--save {save} is the table itself; choose another name.")
    if save.is_file() and not force:
        raise InputError(f"{save} is there already; choose another --save, or replace it with --force.")
    refuse_unwritable(save, "--save")


def saver(save: Path | None, file: Path, target: str, options: TableOptions) -> Callable[[list[str]], str] | None:
    """Return what writes the chosen columns and the target to a file, once they are known."""
    if save is None:
        return None

    def write(features: list[str]) -> str:
        from fewer.io import frame_bytes, reduce_table

        names = {key: options[key] for key in options if key in ("encoding", "missing", "decimal", "schema")}  # type: ignore[literal-required]
        typed = save.suffix.lower() == ".parquet"
        frame = reduce_table(file, features, target=target, typed=typed, **names)
        write_atomically(save, frame_bytes(frame, save))
        return f"{frame.height:,} rows, {frame.width} columns in {save}"

    return write
