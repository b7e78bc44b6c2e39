"""What takes long, in processes of its own, so that the server answers meanwhile: reading, reducing, drawing."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from fewer.errors import InputError
from fewer.serve._choices import in_words_of_the_page
from fewer.serve._folder import safe_name

WATCH_SECONDS = 2.0
# How a cell begins that spreadsheets run.
FORMULA = r"^[=+\-@\t\r]"
# What reading a table for a page may take: a small file can become a table of any size.
MOST_BYTES, MOST_SECONDS = 3 << 30, 300.0


class Workers:
    """Some processes for calls that take long; they end with the server, however it ends.

    Parameters
    ----------
    n_workers : int
        Processes that read tables.
    most_bytes : int
        Memory that each may take.
    """

    def __init__(self, n_workers: int = 2, most_bytes: int = MOST_BYTES) -> None:
        self._n_workers, self._most_bytes = n_workers, most_bytes
        self._pool: ProcessPoolExecutor | None = None

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of this module in a process.

        Parameters
        ----------
        function : callable
        *arguments

        Returns
        -------
        object
        """
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._n_workers, context, _begin, (os.getpid(), self._most_bytes))
        pool = self._pool
        try:
            work = asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
            return await asyncio.wait_for(work, MOST_SECONDS)
        except InputError as error:
            raise InputError(in_plain_text(str(error))) from None
        except TimeoutError:
            if self._pool is pool:
                self.close()
            late = f"This took longer than {MOST_SECONDS:.0f} seconds and was stopped"
            raise InputError(f"{late}; try the command line, or a smaller table.") from None
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = None
            died = "The worker process ended unexpectedly, possibly out of memory."
            raise InputError(f"{died} Try again, or use a smaller table.") from None

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _begin(parent: int, most_bytes: int) -> None:
    """End this process when the server is gone, and limit its memory."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(0)

    with contextlib.suppress(ImportError, ValueError, OSError):  # not on Windows
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hard))  # the reader refuses what needs more
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    threading.Thread(target=watch, daemon=True).start()


def warm_up() -> None:
    """Load the reader."""
    import fewer.io  # noqa: F401


def inspect(path: str, choices: dict[str, Any]) -> dict[str, Any]:
    """Say what is understood of a table with the corrections that were made.

    Parameters
    ----------
    path : str
        Of the table.
    choices : dict
        `target`, `groups`, `weights`, `time`, `task`, `kinds`, `missing`, `skip`, as in `Choices`.

    Returns
    -------
    dict
        As `fewer inspect --json`, with `schema`: the text of the file for `--schema`.
    """
    from fewer.io import inspect_table

    inspection = inspect_table(path, choices.get("target") or None, task=choices.get("task"), **table_options(choices))
    absent = [name for name in choices.get("kinds") or {} if name not in inspection.schema.columns]
    if absent:
        raise InputError(f"{Path(path).name} has no column {absent[0][:40]!r}; load the page again.")
    content = inspection.to_dict()
    content["notes"] = [in_plain_text(note) for note in content["notes"]]
    return {**content, "schema": inspection.schema.to_json()}


OPTIONS_SAID = {
    "use --numeric for numbers": "choose number below if they are numbers",
    "Use --nominal to keep one": "Choose category below to keep one",
    "Use --missing if such words mean missing, or --numeric": "Choose number below if such words mean missing",
    "; --encoding says otherwise": "; choose another under More options, Text encoding",
    "; give another --encoding": "; choose another under More options, Text encoding",
    " --sheet names another.": " Name another under More options, Sheet.",
    "; choose with a schema (fewer inspect --write-schema)": "; choose below",
    "; read it in chunks (--stream), drop columns (--exclude), or sample its rows": "; upload fewer rows or columns",
    "; delete the row, or skip such rows (--skip-rows-without-target)": "; skip such rows under More options",
    ", or make the column nominal (--nominal": ", or choose category below (",
    ", or give --task classification": ", or choose categories as the target type",
}


def in_plain_text(note: str) -> str:
    """Say with the choices of the page what a note or an error says with options of the command line.

    Examples
    --------
    >>> in_plain_text("Read as codes; use --numeric for numbers.")
    'Read as codes; choose number below if they are numbers.'
    >>> in_plain_text("t.csv is no workbook and has no sheets; omit it (--sheet).")
    't.csv is no workbook and has no sheets; omit it (More options, Sheet of a workbook).'
    """
    for option, phrase in OPTIONS_SAID.items():
        note = note.replace(option, phrase)
    return in_words_of_the_page(note)


def table_options(choices: dict[str, Any]) -> dict[str, Any]:
    """Turn choices into options of `fewer.io.inspect_table`.

    Parameters
    ----------
    choices : dict
        What the form says of the table.

    Returns
    -------
    dict
    """
    from fewer.io import Schema
    from fewer.io._cells import DateFormat
    from fewer.io._kinds import Reading

    kinds = choices.get("kinds") or {}
    dates = {name: kind.removeprefix("date ") for name, kind in kinds.items() if kind.startswith("date ")}
    readings = {name: Reading("date", DateFormat(form)) for name, form in dates.items()}
    readings |= {name: Reading("left out", reason="chosen on the page") for name in kinds if kinds[name] == "left out"}
    missing = choices.get("missing")
    options = {of: [name for name, kind in kinds.items() if kind == of] for of in ("numeric", "nominal")}
    return (
        options
        | {name: choices.get(name) or None for name in ("encoding", "sheet", "groups", "time")}
        | {
            "missing": None if missing is None else list(missing),
            "schema": Schema(readings),
            "skip_rows_without_target": bool(choices.get("skip")),
            "sample_weight": choices.get("weights") or None,
        }
    )


def reduced(path: str, features: list[str], target: str | None, kind: str, choices: dict[str, Any]) -> bytes:
    """Return a table with the chosen columns and the target, as a file.

    Parameters
    ----------
    path : str
        Of the table.
    features : list of str
        Those that are kept.
    target : str or None
        The target's name.
    kind : {"table", "spreadsheet", "parquet"}
        "spreadsheet" is CSV in which no cell is taken for a formula.
    choices : dict
        How the table is read, as for `inspect`.

    Returns
    -------
    bytes
    """
    from fewer.io import frame_bytes, reduce_table

    given = table_options(choices)
    options: Any = {name: given[name] for name in ("numeric", "nominal", "missing", "schema", "encoding", "sheet")}
    frame = reduce_table(path, features, target=target, typed=kind == "parquet", **options)
    if kind == "spreadsheet":
        frame = without_formulas(frame)
    return frame_bytes(frame, "table.parquet" if kind == "parquet" else "table.csv")


def without_formulas(frame: Any) -> Any:
    """Put an apostrophe before every cell and name that a spreadsheet would run as a formula; numbers stay numbers.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"=a": ["=1+1", "-5", "-x", "@b"], "c": [1, 2, 3, 4]})
    >>> without_formulas(frame).rows()[:3], without_formulas(frame).columns
    ([("'=1+1", 1), ('-5', 2), ("'-x", 3)], ["'=a", 'c'])
    """
    import polars as pl

    cells = pl.col(pl.String)
    risky = cells.str.contains(FORMULA) & cells.str.strip_chars().cast(pl.Float64, strict=False).is_null()
    safe = frame.with_columns(pl.when(risky).then(cells.str.replace("^", "'")).otherwise(cells))
    return safe.rename({name: "'" + name for name in frame.columns if re.match(FORMULA, name)})


def schema_name(text: str, table: str) -> str:
    """Name the file of a schema after its table and its content, so that it never changes under a run."""
    return f"{safe_name(table)[:60]}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.schema.json"
