"""A table with some of its columns, for whoever goes on with it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from fewer.columns import nearest
from fewer.errors import InputError
from fewer.io._calendar import PARTS, add_calendar
from fewer.io._files import TableOptions, display_name, find_target, read_sheet, understand_table
from fewer.io._polars import pl

FORMATS = (".csv", ".tsv", ".parquet")


def reduce_table(
    path: Path | str,
    columns: Sequence[str],
    *,
    target: str | int | None = None,
    typed: bool = True,
    **options: Unpack[TableOptions],
) -> pl.DataFrame:
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
    derived = [name for name in columns if name.rpartition(": ")[2] in PARTS and name.rpartition(": ")[0]]
    if typed or derived:
        options["nominal"] = [*(options.get("nominal") or ())]
        table = understand_table(path, None, options=options)
        table.understood.raise_problems()
        frame = add_calendar(table.frame) if derived else table.frame
        whole = table.sheet.frame
        frame = frame.with_columns(
            whole[name] for name in columns if name not in frame.columns and name in whole.columns
        )
    else:
        frame = read_sheet(path, encoding=options.get("encoding", "utf-8"), separator=options.get("separator")).frame
        whole = frame
    if target is not None:
        columns = [*columns, whole.columns[find_target(target, whole.columns, display_name(path))]]
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        more = f" and {len(absent) - 1} more of the chosen columns" if len(absent) > 1 else ""
        raise InputError(f"{display_name(path)} has no column {absent[0]!r}{more}; {nearest(absent[0], frame.columns)}")
    return frame.select(columns)


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
        raise InputError(f"{Path(name).name} names no format that is written; end it in {', '.join(FORMATS)}.")
    content = io.BytesIO()
    if kind == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="\t" if kind == ".tsv" else ",")
    return content.getvalue()
