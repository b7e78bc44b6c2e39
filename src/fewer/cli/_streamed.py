"""Options of tables that are read in chunks, and when they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewer.errors import InputError

if TYPE_CHECKING:
    from fewer.contracts import Resources
    from fewer.io import Stream, TableOptions

StreamOption = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read the table in chunks; by itself for folders, globs and tables beyond memory.",
        show_default=False,
    ),
]
ClusterOption = Annotated[
    str | None, typer.Option("--cluster", help="A Dask scheduler to work on: tcp://host:port.", show_default=False)
]


def wants_stream(file: Path, asked: bool | None, command: str = "select") -> bool:
    """Say whether a table is read in chunks: as asked, or if it is many files, or larger than memory."""
    if asked:
        return True
    from fewer.io import in_chunks, refuse_unfit

    if asked is None:
        return in_chunks(file, command)
    if file.is_file():
        refuse_unfit(file, command)
    return False


def resources_of(jobs: int, memory: str | int, device: str = "cpu") -> Resources:
    """Turn options into resources."""
    from joblib import effective_n_jobs

    from fewer.contracts import Resources
    from fewer.selectors import parse_memory

    return Resources(effective_n_jobs(jobs), parse_memory(memory), device)


def jobs_on(cluster: str | None, jobs: int) -> int:
    """Return how many tasks may run at the same time: on a cluster, as many as it can do."""
    return jobs if cluster is None else -1


def open_chunks(file: Path, target: str, task: Any, options: TableOptions) -> Stream:
    """Open a table to be read in chunks; refuse what only a whole table is read with."""
    from fewer.io import open_stream

    plain = options["encoding"].lower() in ("utf-8", "utf8") and options["decimal"] in (None, ".")
    if not plain or options["missing"] is not None or options["schema"] is not None or options["calendar"]:
        raise InputError(
            "A table read in chunks is Parquet, or UTF-8 text with decimal points; --encoding, --decimal, --missing, "
            "--schema and --calendar need it in memory (--no-stream)."
        )
    if options["skip_rows_without_target"]:
        raise InputError("--skip-rows-without-target needs the table in memory (--no-stream).")
    if given := [name for name in ("groups", "time") if options.get(name) is not None]:
        raise InputError(f"--{given[0]} needs the table in memory (--no-stream).")
    nominal, numeric, exclude = options["nominal"], options["numeric"], options["exclude"]
    weights = options.get("sample_weight")
    return open_stream(str(file), target, task=task, nominal=nominal, numeric=numeric, exclude=exclude, weights=weights)
