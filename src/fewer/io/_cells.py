"""How cells are written: numbers with their marks and units, dates and times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from fewer.io.frames import pl

# The share of cells of one form above which a column is meant to have it, and its other cells are mistakes.
MOSTLY = 0.9
SAMPLED_TEXTS = 1_000
_CURRENCY = (
    r"[$€£¥₹₽₩₺₪฿₫₦]|(?:US|CA|AU|NZ|HK|S|R)\$|"
    r"(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|ZAR|BRL|Fr\.)"
)
_UNIT = r"[A-Za-zµμ°Ω%‰€£$¥₹]+(?:[A-Za-zµμ°Ω²³/·^.]|(?<=[a-z])[23](?![0-9]))*"
_AFFIXES = re.compile(
    rf"\(?\s*[+-]?\s*(?P<prefix>{_CURRENCY})?\s*[+-]?\s*(?P<body>\d[\d.,' ]*(?:[eE][+-]?\d+)?|[.,]\d+)(?P<space>\s*)"
    rf"(?P<suffix>{_UNIT})?\s*-?\s*\)?"
)
_CLOCK = r"^(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:\.\d+)?))?(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?$"
_MARKS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
_NAMES = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True)
class NumberFormat:
    """How every number of a column is written.

    Parameters
    ----------
    decimal : {".", ",", ":"}
        `:` for hours and minutes, with seconds or not, which count as hours.
    thousands : {"", ",", ".", " ", "'"}
        Between groups of digits.
    prefix, suffix : str
        A currency before the number; a currency, per cent or a unit after it.

    Examples
    --------
    >>> form = NumberFormat(thousands=",", prefix="$")
    >>> form.read(pl.Series(["$1,188", "($987.50)", "12"])).to_list()
    [1188.0, -987.5, None]
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""

    def read(self, text: pl.Series) -> pl.Series:
        """Return the numbers; a cell that is written in another way becomes null."""
        if self.decimal == ":":
            return _hours(text)
        cells = _plain_signs(text)
        inside = cells.str.extract(r"^\(\s*(.*?)\s*\)$", 1)
        groups = pl.select(pl.coalesce(inside, cells).str.extract_groups(self._pattern())).to_series().struct.unnest()
        signs = pl.select(pl.concat_str(groups["before"], groups["after"], groups["behind"])).to_series()
        body = groups["body"]
        if self.thousands:
            body = body.str.replace_all(self.thousands, "", literal=True)
        numbers = body.str.replace(self.decimal, ".", literal=True).cast(pl.Float64, strict=False)
        minuses = signs.str.count_matches("-").cast(pl.Int8) + inside.is_not_null().cast(pl.Int8)
        return numbers.set(minuses.fill_null(0) > 1, None).rename(text.name) * (1 - 2 * minuses.fill_null(0))

    def _pattern(self) -> str:
        decimal, group = re.escape(self.decimal), re.escape(self.thousands)
        integer = rf"[1-9]\d{{0,2}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+" if self.thousands else r"\d+"
        body = rf"(?:(?:{integer})(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?"
        prefix, suffix = re.escape(self.prefix), re.escape(self.suffix)
        return rf"^(?P<before>[+-]?)\s*{prefix}\s*(?P<after>[+-]?)\s*(?P<body>{body})\s*{suffix}\s*(?P<behind>-?)\s*$"

    def describe(self) -> str:
        """Say what is special about the format.

        Examples
        --------
        >>> NumberFormat(",", ".", suffix="€").describe()
        "decimal commas, points between thousands, '€' after each"
        """
        if self.decimal == ":":
            return "hours and minutes"
        parts = ["decimal commas"] * (self.decimal == ",")
        if self.thousands:
            parts.append(f"{_NAMES[self.thousands]} between thousands")
        if self.prefix:
            parts.append(f"{self.prefix!r} before each")
        if self.suffix:
            parts.append(f"{self.suffix!r} after each")
        return ", ".join(parts) or "nonstandard signs"


class FoundCells(NamedTuple):
    """The format of a column, the numbers or moments it gives, and the other format that would fit as well."""

    format: NumberFormat | DateFormat
    cells: pl.Series
    rival: NumberFormat | DateFormat | None = None
    mixed: tuple[str, ...] = ()
    """Several ways of writing in one column, none of which may be taken for the other."""


def find_number_format(text: pl.Series, decimal: str | None = None) -> FoundCells | None:
    """Find the one format in which (nearly) all cells of a column are numbers.

    Examples
    --------
    >>> find_number_format(pl.Series(["1,188", "987", "12,500"])).format.describe()
    'commas between thousands'
    >>> find_number_format(pl.Series(["1,5", "2"])).cells.to_list()
    [1.5, 2.0]
    """
    present = text.drop_nulls()
    if not len(present):
        return None
    affixes = _affixes_of(present)
    if affixes is None:
        return None
    (prefix, suffix), others = affixes
    if others:
        return FoundCells(NumberFormat(prefix=prefix, suffix=suffix), text, mixed=others)
    marks = [marks for marks in _MARKS if decimal in (None, marks[0])]
    signed = _plain_signs(present)
    forms = [NumberFormat(d, t, prefix, suffix) for d, t in marks if signed.str.contains(t, literal=True).any()]
    forms = [NumberFormat(".", "", prefix, suffix), *forms, NumberFormat(",", "", prefix, suffix)]
    forms = [form for form in forms if decimal in (None, form.decimal)]
    read = [form.read(text) for form in forms]
    fits = [int(numbers.is_not_null().sum()) for numbers in read]
    best = max(fits, default=0)
    if best < MOSTLY * len(present):
        return None
    form, rival = _decide([form for form, fit in zip(forms, fits, strict=True) if fit == best], signed)
    return FoundCells(form, read[forms.index(form)], rival)


def _decide(forms: list[NumberFormat], cells: pl.Series) -> tuple[NumberFormat, NumberFormat | None]:
    """Choose among formats that fit equally well: thousands or decimals?"""
    first = forms[0]
    rival = next((form for form in forms[1:] if form.decimal != first.decimal), None)
    if rival is None or not cells.str.contains("[.,]").any():
        return first, None
    # One mark with three digits behind it, everywhere. Whole numbers beside it would be odd among fractions.
    has_whole = not cells.str.contains("[.,]").all()
    return first, None if has_whole else rival


def find_clock(text: pl.Series) -> FoundCells | None:
    """Recognise times of day (12:30, 8:15:30, 4:05 pm) in (nearly) all cells; they count as hours.

    Examples
    --------
    >>> find_clock(pl.Series(["12:30", "8:15"])).cells.to_list()
    [12.5, 8.25]
    """
    present = text.drop_nulls()
    if not len(present) or not present.head(20).str.contains(_CLOCK).any():
        return None
    form = NumberFormat(":")
    numbers = form.read(text)
    return FoundCells(form, numbers) if numbers.is_not_null().sum() >= MOSTLY * len(present) else None


def _hours(text: pl.Series) -> pl.Series:
    parts = pl.select(_plain_signs(text).str.extract_groups(_CLOCK)).to_series().struct.unnest()
    hour = _hour_of_day(parts["hour"], parts["half"])
    minute, second = parts["minute"].cast(pl.Float64), parts["second"].fill_null("0").cast(pl.Float64)
    return (hour + minute / 60 + second / 3600).rename(text.name)


def _hour_of_day(written: pl.Series, half: pl.Series) -> pl.Series:
    """Return hours from 0 to 23, of which some are written with am or pm; null where there is no such hour."""
    hour = written.cast(pl.Int32, strict=False)
    afternoon = pl.when(half.str.to_lowercase() == "p").then(12).otherwise(0)
    plain = pl.when(half.is_null() & (hour <= 23)).then(hour)
    return pl.select(plain.when(half.is_not_null() & hour.is_between(1, 12)).then(hour % 12 + afternoon)).to_series()


def _affixes_of(present: pl.Series) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """Find the currency or unit of a column, and whether there are several."""
    cells = _plain_signs(present.unique(maintain_order=True).head(SAMPLED_TEXTS)).to_list()
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for cell in cells:
        match = _AFFIXES.fullmatch(cell)
        if match is not None:
            key = (match["prefix"] or "", match["suffix"] or "")
            counts[key] += 1
            examples.setdefault(key, cell)
    if counts.total() < MOSTLY * len(cells):
        return None
    common, count = counts.most_common(1)[0]
    if count >= MOSTLY * counts.total():
        return common, ()
    return common, tuple(examples[key] for key, _ in counts.most_common(3))


def _plain_signs(text: pl.Series) -> pl.Series:
    """Write every minus, space and apostrophe in one way."""
    return (
        text.str.replace_all("[−–]", "-")
        .str.replace_all("[\u00a0\u2007\u2009\u202f]", " ")
        .str.replace_all("[’´]", "'")
        .str.strip_chars()
    )


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
_DAY_ORDERS: tuple[Order, ...] = ("year-month-day", "day-month-year", "month-day-year")
_EPOCHS: dict[Order, float] = {"seconds": 1e6, "milliseconds": 1e3}
COMPACT = r"^(19|20)\d{6}$"
ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?)?$"
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
        if self.order == "year-month-day" and text.str.contains(ISO).all():  # three times faster than by parts
            midnight = pl.when(text.str.len_chars() == 10).then(pl.lit(" 00:00:00")).otherwise(pl.lit(""))
            stamps = pl.select(text.str.replace("T", " ", literal=True) + midnight).to_series()
            return stamps.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).rename(text.name)
        read = [_moments(text, rf"^{day}{_TIME}$") for day in _DAYS[self.order]]
        return pl.select(pl.coalesce(read)).to_series().rename(text.name)

    def describe(self) -> str:
        """Say how the dates are written."""
        return f"{self.order} since 1970-01-01" if self.order in _EPOCHS else self.order.replace("-", "/")


def find_date_format(text: pl.Series) -> FoundCells | None:
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
    forms = [DateFormat(order) for order in _DAY_ORDERS]
    read = [form.read(text) for form in forms]
    fits = [len(text) - moments.null_count() for moments in read]
    if max(fits) < MOSTLY * len(present):
        return None
    best = [place for place, fit in enumerate(fits) if fit == max(fits)]
    if len(best) > 1 and not present.str.contains("[.]").any() and present.str.contains("(?i)[ap]m").any():
        best = best[::-1]
    named = present.str.contains("[A-Za-z]{3}").any()
    rival = forms[best[1]] if len(best) > 1 and not named else None
    return FoundCells(forms[best[0]], read[best[0]], rival)


def mixes_dates(text: pl.Series) -> bool:
    """Whether (nearly) all cells are dates, but written in several ways, of which none fits (nearly) all.

    Examples
    --------
    >>> mixes_dates(pl.Series(["2026-01-31", "31/01/2026"]))
    True
    """
    present = text.drop_nulls().head(1_000)
    read = pl.select(pl.coalesce([DateFormat(order).read(present) for order in _DAY_ORDERS])).to_series()
    return len(present) - read.null_count() >= max(MOSTLY * len(present), 1)


def find_moments(numbers: pl.Series) -> DateFormat | None:
    """Find whole numbers that could be moments between 1990 and 2100.

    Examples
    --------
    >>> find_moments(pl.Series([1.7e12, 1.71e12])).order
    'milliseconds'
    """
    if numbers.null_count() == len(numbers):
        return None
    low, high = (float(cast(float, end)) for end in (numbers.min(), numbers.max()))
    units: dict[Order, float] = {"seconds": 1.0, "milliseconds": 1e3}
    for order, unit in units.items():
        if unit * _FIRST <= low and high < unit * _LAST:
            present = numbers.drop_nulls()
            return DateFormat(order) if (present == present.round()).all() else None
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
    year, month = parts["year"], parts["month"].str.to_lowercase()
    century = pl.when(year.cast(pl.Int32, strict=False) < 69).then(pl.lit("20")).otherwise(pl.lit("19"))
    year = pl.select(pl.when(year.str.len_chars() == 4).then(year).otherwise(century + year)).to_series()
    month = month.replace({name: str(number) for number, name in enumerate(_MONTHS, 1)})
    hour = _hour_of_day(parts["hour"].fill_null("0"), parts["half"])
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


DATE_PARTS = {"weekday": "%a", "month": "%b"}


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
        pl.col(name).dt.strftime(form).alias(f"{name}: {part}") for name in dates for part, form in DATE_PARTS.items()
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
    known = set(names)
    pairs = ([f"{name}: {part}" for part in DATE_PARTS] for name in names)
    return [pair for pair in pairs if known.issuperset(pair)]
