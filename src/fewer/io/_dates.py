"""Dates and times as people write them, understood by the whole column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from fewer.io._numbers import MOSTLY
from fewer.io._polars import pl

Order = Literal["year-month-day", "day-month-year", "month-day-year", "yyyymmdd", "seconds", "milliseconds"]
DATE_NAME = re.compile(r"(?i)date|time|stamp|epoch|created|updated|modified|birth|day|(^|[^a-z])(dob|ts|dt|at|on)$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = r"(?i:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[a-z]*\.?"
_TIME = (
    r"(?:(?:[T ]\s*|,\s*)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?"
)
ZONED = r"\d:\d.*(Z|UTC|GMT|[+-]\d{2}:?\d{2})$"
_DAYS: dict[Order, tuple[str, ...]] = {
    "year-month-day": (r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",),
    "day-month-year": (
        r"(?P<day>\d{1,2})[-/.] ?(?P<month>\d{1,2})[-/.] ?(?P<year>\d{4}|\d{2})",
        rf"(?P<day>\d{{1,2}})\.?[- /]{_NAMED},?[- /](?P<year>\d{{4}}|\d{{2}})",
    ),
    "month-day-year": (
        r"(?P<month>\d{1,2})[-/.](?P<day>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",
        rf"{_NAMED}[- ](?P<day>\d{{1,2}}),?[- ](?P<year>\d{{4}})",
    ),
    "yyyymmdd": (r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})",),
}
_EPOCHS: dict[Order, float] = {"seconds": 1e6, "milliseconds": 1e3}
COMPACT = r"^(19|20)\d{6}$"
_FIRST, _LAST = 631_152_000, 4_102_444_800  # 1990 to 2100, in seconds
MIN_DISTINCT = 10


@dataclass(frozen=True)
class DateFormat:
    """How every date of a column is written.

    Parameters
    ----------
    order : str
        `year-month-day` (also with a time), `day-month-year`, `month-day-year`, `yyyymmdd`, or `seconds` and
        `milliseconds` since 1970-01-01. Months may be English names.

    Examples
    --------
    >>> DateFormat("day-month-year").read(pl.Series(["31/01/2026 12:30", "1 Feb 2026"])).to_list()
    [datetime.datetime(2026, 1, 31, 12, 30), datetime.datetime(2026, 2, 1, 0, 0)]
    """

    order: Order

    def read(self, text: pl.Series) -> pl.Series:
        """Return moments (in UTC where a zone is written); a cell that is no such date becomes null."""
        if self.order in _EPOCHS:
            scaled = text.cast(pl.Float64, strict=False) * _EPOCHS[self.order]
            return scaled.cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
        read = [_moments(text, rf"^{day}{_TIME}$") for day in _DAYS[self.order]]
        return pl.select(pl.coalesce(read)).to_series().rename(text.name)

    def describe(self) -> str:
        """Say how the dates are written."""
        return f"{self.order} since 1970-01-01" if self.order in _EPOCHS else self.order.replace("-", "/")


class FoundDates(NamedTuple):
    """The format of a column, its moments, and the other format that would fit as well."""

    format: DateFormat
    moments: pl.Series
    rival: DateFormat | None = None


def find_date_format(text: pl.Series) -> FoundDates | None:
    """Find the one format in which (nearly) all cells of a column of text are dates.

    Examples
    --------
    >>> find_date_format(pl.Series(["1/2/2026", "31/1/2026"])).format.order
    'day-month-year'
    >>> find_date_format(pl.Series(["1/2/2026", "3/1/2026"])).rival.order
    'month-day-year'
    """
    present = text.drop_nulls()
    sample = present.head(100)
    if not sample.str.contains(r"^\d{1,4}[-/. ]\s?\w+[-/. ,]|^(?i:[a-z]{3,9})\.?[- ]\d").any():
        return None
    forms: list[DateFormat] = []
    read: list[pl.Series] = []
    for order in ("year-month-day", "day-month-year", "month-day-year"):
        form = DateFormat(order)
        moments = form.read(text)
        if len(text) - moments.null_count() >= MOSTLY * len(present):
            forms.append(form)
            read.append(moments)
    if not forms:
        return None
    fits = [len(text) - moments.null_count() for moments in read]
    best = [place for place, fit in enumerate(fits) if fit == max(fits)]
    if len(best) > 1 and not present.str.contains("[.]").any() and present.str.contains("(?i)[ap]m").any():
        best = best[::-1]
    named = present.str.contains("[A-Za-z]{3}").any()
    rival = forms[best[1]] if len(best) > 1 and not named else None
    return FoundDates(forms[best[0]], read[best[0]], rival)


def mixes_dates(text: pl.Series) -> bool:
    """Whether (nearly) all cells are dates, but written in several ways, of which none fits (nearly) all.

    Examples
    --------
    >>> mixes_dates(pl.Series(["2026-01-31", "31/01/2026"]))
    True
    """
    present = text.drop_nulls().head(1_000)
    orders: tuple[Order, ...] = ("year-month-day", "day-month-year", "month-day-year")
    read = pl.select(pl.coalesce([DateFormat(order).read(present) for order in orders])).to_series()
    return len(present) - read.null_count() >= max(MOSTLY * len(present), 1)


def find_epoch(name: str, numbers: pl.Series) -> DateFormat | None:
    """Tell moments from other whole numbers: by their size and by the column's name.

    Examples
    --------
    >>> find_epoch("created_at", pl.Series([1.7e9, 1.71e9])).order, find_epoch("count", pl.Series([1.7e9, 1.71e9]))
    ('seconds', None)
    """
    return find_moments(numbers) if DATE_NAME.search(name) else None


def find_moments(numbers: pl.Series) -> DateFormat | None:
    """Tell whole numbers that could be moments between 1990 and 2100.

    Examples
    --------
    >>> find_moments(pl.Series([1.7e12, 1.71e12])).order
    'milliseconds'
    """
    if numbers.null_count() == len(numbers):
        return None
    low, high = (float(cast(float, end)) for end in (numbers.min(), numbers.max()))
    if not (low >= _FIRST and high < 1e3 * _LAST) or not (numbers.drop_nulls() == numbers.drop_nulls().round()).all():
        return None
    if low >= _FIRST and high < _LAST:
        return DateFormat("seconds")
    if low >= 1e3 * _FIRST and high < 1e3 * _LAST:
        return DateFormat("milliseconds")
    return None


def find_compact(name: str, text: pl.Series) -> DateFormat | None:
    """Recognise dates such as 20260131, if there are many of them or the column is named so."""
    present = text.drop_nulls()
    if not len(present) or not present.head(20).str.contains(COMPACT).all():
        return None
    if DateFormat("yyyymmdd").read(present).null_count():
        return None
    return DateFormat("yyyymmdd") if DATE_NAME.search(name) or present.n_unique() >= MIN_DISTINCT else None


def _moments(text: pl.Series, pattern: str) -> pl.Series:
    parts = pl.select(text.str.extract_groups(pattern)).to_series().struct.unnest()
    year, month = parts["year"].cast(pl.Int32, strict=False), parts["month"].str.to_lowercase()
    year = pl.select(
        pl.when(year >= 100).then(year).when(year < 69).then(year + 2000).otherwise(year + 1900)
    ).to_series()
    month = month.replace({name: str(number) for number, name in enumerate(_MONTHS, 1)})
    hour = parts["hour"].fill_null("0").cast(pl.Int32, strict=False)
    half = parts["half"].str.to_lowercase()
    hour = pl.select(
        pl.when(half.is_null()).then(hour).when((hour < 1) | (hour > 12)).then(None)
        .otherwise(hour % 12 + pl.when(half == "p").then(12).otherwise(0))
    ).to_series()  # fmt: skip
    written = pl.select(
        pl.concat_str(
            year, pl.lit("-"), month.str.zfill(2), pl.lit("-"), parts["day"].str.zfill(2), pl.lit(" "),
            hour.cast(pl.String).str.zfill(2), pl.lit(":"), parts["minute"].fill_null("00"), pl.lit(":"),
            parts["second"].fill_null("00"), pl.lit("."), parts["fraction"].fill_null("0"),
        )
    ).to_series()  # fmt: skip
    moments = written.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    zone = parts["zone"].fill_null("Z").replace({"Z": "+0000", "UTC": "+0000", "GMT": "+0000"})
    zone = zone.str.replace(":", "", literal=True)
    minutes = zone.str.slice(1, 2).cast(pl.Int64) * 60 + zone.str.slice(3, 2).cast(pl.Int64)
    offset = 60_000_000 * minutes * (1 - 2 * zone.str.starts_with("-").cast(pl.Int64))
    shift = offset.cast(pl.Duration("us"))
    zoned = parts["zone"].is_not_null()
    if zoned.any() and not zoned.filter(moments.is_not_null()).all():
        return pl.Series(text.name, [None] * len(text), dtype=pl.Datetime("us"))  # some with a zone and some without
    return (moments - shift).rename(text.name)
