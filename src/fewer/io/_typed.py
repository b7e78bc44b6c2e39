"""What columns of text hold: numbers, truth values, dates or words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from fewer.io._names import Place, forced_kinds
from fewer.problem import InputError, Kind

MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL")
MOSTLY = 0.9
"""The share of numbers above which a column is meant to be numeric, and its other cells are mistakes."""


def typed_columns(
    texts: pl.DataFrame,
    nominal: Iterable[str | int],
    numeric: Iterable[str | int],
    place: Place,
    *,
    decimal: str = ".",
    target: str | None = None,
    mixed: bool = False,
    missing: Sequence[str] = MISSING,
) -> pl.DataFrame:
    """Turn columns of text into the types that their cells have.

    A column nearly all of whose cells are numbers is refused; only the target may be `mixed`.
    """
    forced = forced_kinds(nominal, numeric, texts.columns)
    numbers = texts.select(pl.all().cast(pl.Float64, strict=False))
    columns = []
    for i, (text, number) in enumerate(zip(texts.iter_columns(), numbers.iter_columns(), strict=True)):
        # The common case first: nothing but numbers and empty cells.
        if number.null_count() == text.null_count():
            columns.append(number)
            continue
        text = text.str.strip_chars()
        text = text.set(text.is_in(list(missing)), None)
        number = _numbers(text, decimal)
        column = number if number.null_count() == text.null_count() else _words(text, forced.get(i))
        if column.dtype == pl.String and forced.get(i) != "nominal" and not (mixed and text.name == target):
            _refuse_mistakes(text, number, forced.get(i), place, text.name == target)
        columns.append(column)
    return pl.DataFrame(columns)


def _numbers(text: pl.Series, decimal: str) -> pl.Series:
    numbers = text.cast(pl.Float64, strict=False)
    if decimal != "." and numbers.null_count() > text.null_count():
        return text.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    return numbers


def _words(text: pl.Series, forced: Kind | None) -> pl.Series:
    """Read truth values and dates; leave other words as they are."""
    if forced is not None:
        return text
    lower = text.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        return lower == "true"
    dates = _dates(text)
    return text if dates is None else dates


def _refuse_mistakes(text: pl.Series, number: pl.Series, forced: Kind | None, place: Place, is_target: bool) -> None:
    """Refuse a column that was meant to hold numbers, and say which cell is none."""
    odd = number.is_null() & text.is_not_null()
    row = int(odd.arg_true()[0])
    if text.filter(odd).str.contains(r"^[+-]?\d+,\d+$").all():
        raise InputError(
            f"Column {text.name!r} seems to hold numbers with decimal commas ({place(row)}: {text[row]!r}); "
            f"give decimal ',' (--decimal ,), or name it as nominal (--nominal {text.name}) if they are codes."
        )
    if forced == "numeric" or int(odd.sum()) <= (1.0 - MOSTLY) * (len(text) - text.null_count()):
        cure = "give --task classification" if is_target else f"name the column as nominal (--nominal {text.name})"
        raise InputError(
            f"Column {text.name!r} holds numbers, but {place(row)} holds {text[row]!r}; correct or empty the cell, "
            f"or {cure}."
        )


def _dates(text: pl.Series) -> pl.Series | None:
    """Read dates and times as ISO 8601 writes them, or give None if some cell is no date."""
    present = text.drop_nulls()
    if present.str.contains(r"^\d{4}-\d{2}-\d{2}$").all():
        dates = text.str.to_date("%Y-%m-%d", strict=False)
    elif present.str.contains(r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?$").all():
        dates = text.str.replace("T", " ", literal=True).str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
    else:
        return None
    return dates if dates.null_count() == text.null_count() else None
