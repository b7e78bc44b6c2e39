"""Columns by name or number, and names that were perhaps meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from fewer.errors import InputError

Column = str | int


def nearest(asked: str, names: Iterable[str], what: str = "columns") -> str:
    """Say which name was perhaps meant by one that does not exist, or which there are.

    Parameters
    ----------
    asked : str
        What was typed.
    names : iterable of str
        What there is.
    what : str
        What the names are names of.

    Returns
    -------
    str
        The end of a sentence.

    Examples
    --------
    >>> nearest("Hight", ["height", "weight"]), nearest("z", ["a", "b"])
    ("did you mean 'height'?", "the columns are 'a', 'b'.")
    """
    known = list(names)
    by_letters = {name.lower(): name for name in reversed(known)}
    near = difflib.get_close_matches(asked.lower(), by_letters, n=1, cutoff=0.5)
    if near:
        return f"did you mean {by_letters[near[0]]!r}?"
    shown = [repr(name) for name in known]
    if len(known) > 12:  # the last one is often the target
        shown[10:-1] = ["…"]
    return f"the {what} are {', '.join(shown)}."


def column_number(column: Column, names: Sequence[str], parameter: str) -> int:
    """Find a column by its name or its number; numbers below 0 count from the end.

    Parameters
    ----------
    column : str or int
        A name, or a number that may count from the end.
    names : sequence of str
        Of the columns.
    parameter : str
        Who asks, for the message.

    Returns
    -------
    int

    Examples
    --------
    >>> column_number("b", ["a", "b"], "include"), column_number(-1, ["a", "b"], "include")
    (1, 1)
    """
    if isinstance(column, str):
        if column not in names:
            raise InputError(f"{parameter} names {column!r}, not a feature; {nearest(column, names)}")
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, Integral):
        shown = " ".join(repr(column).split())
        raise InputError(f"{parameter} names {shown}; give a column's name or its number.")
    if not -len(names) <= column < len(names):
        raise InputError(f"{parameter} names feature {column}, but features go from 0 to {len(names) - 1}.")
    return int(column) % len(names)


def column_numbers(columns: Any, names: Sequence[str], parameter: str) -> list[int]:
    """Find columns by their names or numbers; one name alone is one column, a boolean mask is one number a column.

    Parameters
    ----------
    columns : iterable of str or int, str, boolean mask or None
        Names, numbers, a pattern or a mask; None is none.
    names : sequence of str
        Of the columns.
    parameter : str
        Who asks, for the message.

    Returns
    -------
    list of int

    Examples
    --------
    >>> column_numbers(["b", 0], ["a", "b"], "include"), column_numbers([False, True], ["a", "b"], "include")
    ([1, 0], [1])
    """
    if columns is None:
        return []
    try:
        asked = [columns] if isinstance(columns, str) else list(columns)
    except TypeError:
        raise InputError(
            f"{parameter}={' '.join(repr(columns).split())} names no columns; give a list of names or numbers."
        ) from None
    if asked and len(asked) == len(names) and all(type(column).__name__ in ("bool", "bool_") for column in asked):
        return [number for number, wanted in enumerate(asked) if wanted]
    return [column_number(column, names, parameter) for column in asked]


__all__ = ["Column", "column_number", "column_numbers", "nearest"]
