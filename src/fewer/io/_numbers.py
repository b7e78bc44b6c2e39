"""How the numbers of a column of text are written: thousands, decimals, currency, percent, units, negatives."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from fewer.io._polars import pl

MOSTLY = 0.9
"""The share of cells of one form above which a column is meant to have it, and its other cells are mistakes."""
SAMPLE = 1_000
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
        whole = rf"[1-9]\d{{0,2}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+" if self.thousands else r"\d+"
        body = rf"(?:(?:{whole})(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?"
        prefix, suffix = re.escape(self.prefix), re.escape(self.suffix)
        return rf"^(?P<before>[+-]?)\s*{prefix}\s*(?P<after>[+-]?)\s*(?P<body>{body})\s*{suffix}\s*(?P<behind>-?)\s*$"

    @property
    def is_plain(self) -> bool:
        """Whether a number looks as in a program."""
        return self == NumberFormat()

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
        return ", ".join(parts) or "signs of their own"


class Found(NamedTuple):
    """The format of a column, the numbers it gives, and the other format that would fit as well."""

    format: NumberFormat
    numbers: pl.Series
    rival: NumberFormat | None = None
    mixed: tuple[str, ...] = ()
    """Several ways of writing in one column, none of which may be taken for the other."""


def find_number_format(text: pl.Series, decimal: str | None = None) -> Found | None:
    """Find the one format in which (nearly) all cells of a column are numbers.

    Examples
    --------
    >>> find_number_format(pl.Series(["1,188", "987", "12,500"])).format.describe()
    'commas between thousands'
    >>> find_number_format(pl.Series(["1,5", "2"])).numbers.to_list()
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
        return Found(NumberFormat(prefix=prefix, suffix=suffix), text, mixed=others)
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
    return Found(form, read[forms.index(form)], rival)


def _decide(forms: list[NumberFormat], cells: pl.Series) -> tuple[NumberFormat, NumberFormat | None]:
    """Choose among formats that fit equally well: thousands or decimals?"""
    first = forms[0]
    rival = next((form for form in forms[1:] if form.decimal != first.decimal), None)
    if rival is None or not cells.str.contains("[.,]").any():
        return first, None
    # One mark with three digits behind it, everywhere. Whole numbers beside it would be odd among fractions.
    has_whole = not cells.str.contains("[.,]").all()
    return first, None if has_whole else rival


def find_clock(text: pl.Series) -> Found | None:
    """Recognise times of day (12:30, 8:15:30, 4:05 pm) in (nearly) all cells; they count as hours.

    Examples
    --------
    >>> find_clock(pl.Series(["12:30", "8:15"])).numbers.to_list()
    [12.5, 8.25]
    """
    present = text.drop_nulls()
    if not len(present) or not present.head(20).str.contains(_CLOCK).any():
        return None
    form = NumberFormat(":")
    numbers = form.read(text)
    return Found(form, numbers) if numbers.is_not_null().sum() >= MOSTLY * len(present) else None


def _hours(text: pl.Series) -> pl.Series:
    parts = pl.select(_plain_signs(text).str.extract_groups(_CLOCK)).to_series().struct.unnest()
    hour, half = parts["hour"].cast(pl.Float64), parts["half"].str.to_lowercase()
    wrong = pl.select(pl.when(half.is_null()).then(hour > 23).otherwise((hour < 1) | (hour > 12))).to_series()
    hour = pl.select(
        pl.when(half.is_null()).then(hour).otherwise(hour % 12 + pl.when(half == "p").then(12).otherwise(0))
    ).to_series()
    minute, second = parts["minute"].cast(pl.Float64), parts["second"].fill_null("0").cast(pl.Float64)
    return (hour + minute / 60 + second / 3600).set(wrong.fill_null(False), None).rename(text.name)


def _affixes_of(present: pl.Series) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """Find the currency or unit of a column, and whether there are several."""
    cells = _plain_signs(present.unique(maintain_order=True).head(SAMPLE)).to_list()
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
