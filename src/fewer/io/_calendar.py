"""What a date tells beside its place in time: its weekday and its month."""

from __future__ import annotations

from collections.abc import Sequence

from fewer.io._polars import pl

PARTS = {"weekday": "%a", "month": "%b"}


def add_calendar(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the weekday and the month of each column of dates, as text.

    Examples
    --------
    >>> from datetime import date
    >>> add_calendar(pl.DataFrame({"seen": [date(2026, 1, 31)]})).row(0)[1:]
    ('Sat', 'Jan')
    """
    dates = [name for name, dtype in frame.schema.items() if dtype in (pl.Date, pl.Datetime)]
    return frame.with_columns(
        pl.col(name).dt.strftime(form).alias(f"{name}: {part}") for name in dates for part, form in PARTS.items()
    )


def calendar_groups(names: Sequence[str]) -> list[list[str]]:
    """Return the features that came from one date, to enter a subset together.

    Parameters
    ----------
    names : sequence of str
        The features.

    Returns
    -------
    list of list of str
        One list a date.

    Examples
    --------
    >>> calendar_groups(["age", "seen", "seen: weekday", "seen: month"])
    [['seen: weekday', 'seen: month']]
    """
    pairs = [[f"{name}: {part}" for part in PARTS] for name in names]
    return [pair for pair in pairs if set(pair) <= set(names)]
