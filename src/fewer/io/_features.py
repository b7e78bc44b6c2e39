"""Which columns of a frame are features at all."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from fewer.io._polars import pl
from fewer.io._reader import is_frame, plain_frame
from fewer.io._typed import Reading, left_out_notes
from fewer.io._words import why_left_out


def features_of(X: Any) -> tuple[Any, list[str]]:
    """Leave out the columns of a frame that are no features, with a note; other tables stay as they are.

    Free text, lists, records, and codes that nearly every row has to itself are left out, as in files. A column of
    categories stays: whoever made it meant it.

    Parameters
    ----------
    X : array, sparse matrix or data frame

    Returns
    -------
    X, notes : table and list of str

    Examples
    --------
    >>> frame = pl.DataFrame({"a": range(30), "code": [f"{i:08x}-{i * 7919:08x}" for i in range(30)]})
    >>> kept, notes = features_of(frame)
    >>> kept.columns, notes[0][:42]
    (['a'], "Left out, being no features: 'code' (a cod")
    """
    X, renamed = plain_frame(X)
    if not is_frame(X):
        return X, []
    frame = nw.from_native(X, eager_only=True)
    reasons = {name: _why(frame[name]) for name in frame.columns}
    out = {name: Reading("left out", reason=reason) for name, reason in reasons.items() if reason is not None}
    if not out or len(out) == len(reasons):
        return X, renamed
    kept = frame.select([name for name, reason in reasons.items() if reason is None]).to_native()
    return kept, [*renamed, *left_out_notes(out, "Make one a category to keep it.")]


def _why(column: nw.Series[Any]) -> str | None:
    dtype = column.dtype
    if dtype.is_nested():
        return "lists" if isinstance(dtype, nw.List | nw.Array) else "records"
    if dtype == nw.Binary or dtype == nw.Time:
        return f"{dtype} cells"
    if dtype == nw.String:
        return _why_text(column.to_list())
    if dtype == nw.Object:
        cells = column.drop_nulls().to_list()
        if any(isinstance(cell, list | tuple | set | dict) for cell in cells):
            return "records" if any(isinstance(cell, dict) for cell in cells) else "lists"
        if cells and all(isinstance(cell, str) for cell in cells):
            return _why_text(cells)
    return None


def _why_text(cells: list[Any]) -> str | None:
    """Say why text is no feature. pandas has missing cells of three kinds, none of them text."""
    return why_left_out(pl.Series([cell for cell in cells if isinstance(cell, str)], dtype=pl.String))
