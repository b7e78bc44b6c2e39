"""Columns of words that are no levels: free text, lists, codes that nearly every row has to itself."""

from __future__ import annotations

from typing import cast

from fewer.io._polars import pl

MIN_CELLS = 20
"""Fewer cells than this say little about a column."""
MANY = 0.5
NEARLY_ALL = 0.9
_LIST = r"^\s*[\[{(].*[\])}]\s*$"


def why_left_out(text: pl.Series) -> str | None:
    """Say why a column of text is no feature, or return None if it may be one.

    Examples
    --------
    >>> why_left_out(pl.Series([f"row {i} has a note of its own" for i in range(30)]))
    'free text'
    >>> why_left_out(pl.Series(["red", "blue"] * 15)) is None
    True
    """
    present = text.drop_nulls()
    n_cells = len(present)
    if n_cells < MIN_CELLS:
        return None
    distinct = present.unique(maintain_order=True)
    if len(distinct) < MIN_CELLS / 2:
        return None
    if _is_list(present, distinct):
        return "lists"
    words, letters = _mean(distinct.str.count_matches(r"\S+")), _mean(distinct.str.len_chars())
    if len(distinct) >= MANY * n_cells and (words >= 4 or (words >= 2.5 and letters >= 30) or letters >= 80):
        return "free text"
    if len(distinct) >= NEARLY_ALL * n_cells:
        return "a code for nearly each row"
    return None


def _mean(values: pl.Series) -> float:
    return cast(float, values.cast(pl.Float64).mean() or 0.0)


def _is_list(present: pl.Series, distinct: pl.Series) -> bool:
    if present.str.contains(_LIST).all():
        return True
    for separator, least in ((";", 0.3), ("|", 0.3), (",", 0.5)):
        several = distinct.str.contains(separator, literal=True)
        if _mean(several) < least:
            continue
        items = distinct.str.split(separator).explode().str.strip_chars()
        lengths = distinct.str.count_matches(separator, literal=True)
        # The items of lists come again in other lists, and there are not always equally many.
        if (
            _mean(items.str.count_matches(r"\S+")) < 3
            and items.n_unique() <= 0.5 * len(items)
            and lengths.n_unique() > 1
        ):
            return True
    return False
