"""Columns by name and rows by place, for choices and for messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from fewer.columns import column_number
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


def forced_kinds(nominal: Iterable[str | int], numeric: Iterable[str | int], names: Sequence[str]) -> dict[int, Kind]:
    """Return the kinds that the user chose, by column."""
    forced: dict[int, Kind] = {column_number(column, names, "nominal"): "nominal" for column in nominal}
    for column in numeric:
        number = column_number(column, names, "numeric")
        if number in forced:
            raise InputError(f"Column {names[number]!r} is named as nominal and as numeric; choose one.")
        forced[number] = "numeric"
    return forced
