"""Columns by name and rows by place, for choices and for messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

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


def text_names(labels: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Turn the labels of columns into distinct names, with a note on names that stood there twice.

    The parts of a label of several levels are joined by an underscore.

    Examples
    --------
    >>> text_names(["a", 3, ("b", "x"), "a"])
    (['a', '3', 'b_x', 'a (2)'], ["2 columns are named 'a'; the others are called 'a (2)'."])
    """
    names = ["_".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in labels]
    counts = Counter(names)
    if len(counts) == len(names):
        return names, []
    taken, renamed = set(counts), dict[str, list[str]]()
    seen: Counter[str] = Counter()
    for i, name in enumerate(names):
        seen[name] += 1
        if counts[name] > 1 and seen[name] > 1:
            number = seen[name]
            while (new := f"{name} ({number})") in taken:
                number += 1
            taken.add(new)
            names[i] = new
            renamed.setdefault(name, []).append(new)
    return names, [
        f"{counts[name]:,} columns are named {name!r}; the others are called "
        f"{', '.join(map(repr, others[:5]))}{', …' * (len(others) > 5)}."
        for name, others in renamed.items()
    ]


def forced_kinds(nominal: Iterable[str | int], numeric: Iterable[str | int], names: Sequence[str]) -> dict[int, Kind]:
    """Return the kinds that the user chose, by column."""
    forced: dict[int, Kind] = {column_number(column, names, "nominal"): "nominal" for column in nominal}
    for column in numeric:
        number = column_number(column, names, "numeric")
        if number in forced:
            raise InputError(f"Column {names[number]!r} is named as nominal and as numeric; choose one.")
        forced[number] = "numeric"
    return forced
