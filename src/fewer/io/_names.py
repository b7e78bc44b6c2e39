"""Columns by name and rows by place, for choices and for messages."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from fewer.problem import InputError, Kind

Place = Callable[[int], str]


def row_number(row: int) -> str:
    """Say where a row of an array or a frame is: counted from 0, as there."""
    return f"row {row}"


def refuse_repeated_names(names: Sequence[str], where: str = "") -> None:
    """Refuse two columns of one name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{where}{count} columns are named {name!r}; give every column a name of its own.")


def nearest(asked: str, names: Sequence[str]) -> str:
    """Say which column was perhaps meant by a name that does not exist.

    Examples
    --------
    >>> nearest("Hight", ["height", "weight"]), nearest("z", ["a", "b"])
    ("did you mean 'height'?", "the columns are 'a', 'b'.")
    """
    by_letters = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(asked.lower(), by_letters, n=1)
    if near:
        return f"did you mean {by_letters[near[0]]!r}?"
    shown = ", ".join(repr(name) for name in names[:8])
    return f"the columns are {shown}{', …' if len(names) > 8 else '.'}"


def column_number(column: str | int, names: Sequence[str], parameter: str) -> int:
    """Find a column by its name or its number."""
    if isinstance(column, str):
        if column not in names:
            raise InputError(f"{parameter} names {column!r}, which is no feature; {nearest(column, names)}")
        return names.index(column)
    if not -len(names) <= column < len(names):
        raise InputError(f"{parameter} names feature {column}, but features go from 0 to {len(names) - 1}.")
    return int(column) % len(names)


def forced_kinds(nominal: Iterable[str | int], numeric: Iterable[str | int], names: Sequence[str]) -> dict[int, Kind]:
    """Return the kinds that the user chose, by column."""
    forced: dict[int, Kind] = {column_number(column, names, "nominal"): "nominal" for column in nominal}
    for column in numeric:
        number = column_number(column, names, "numeric")
        if number in forced:
            raise InputError(f"Column {names[number]!r} is named as nominal and as numeric; choose one.")
        forced[number] = "numeric"
    return forced
