"""Dates as people write them, understood by the whole column."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.io._dates import DateFormat, find_compact, find_date_format, find_epoch

NOON = datetime(2026, 1, 31, 12, 5)


@pytest.mark.parametrize(
    ("cells", "order", "first"),
    [
        (["2026-01-31", "2025-12-01"], "year-month-day", datetime(2026, 1, 31)),
        (["2026/1/31 12:05", None], "year-month-day", NOON),
        (["2026-01-31T12:05:00", "2026-01-31 13:00:00.25"], "year-month-day", NOON),
        (["2026-01-31T12:05:00Z", "2026-01-31T12:00:00+02:00"], "year-month-day", NOON),
        (["2026-01-31T14:05:00+0200", "2026-01-31T12:00:00-05:00"], "year-month-day", NOON),
        (["31/01/2026 12:05", "1/2/2026 00:01"], "day-month-year", NOON),
        (["31.01.2026", "1.2.2026"], "day-month-year", datetime(2026, 1, 31)),
        (["31 Jan 2026", "1 February 2025"], "day-month-year", datetime(2026, 1, 31)),
        (["31-Jan-26", "01-Feb-99"], "day-month-year", datetime(2026, 1, 31)),
        (["Jan 31, 2026", "May 1, 2025"], "month-day-year", datetime(2026, 1, 31)),
        (["01/31/2026 12:05 PM", "02/01/2026 12:05 AM"], "month-day-year", NOON),
        (["1/2/26 1:30 PM", "3/4/26 2:30 AM"], "month-day-year", datetime(2026, 1, 2, 13, 30)),
    ],
)
def test_orders_are_found(cells, order, first):
    found = find_date_format(pl.Series(cells))
    assert found.format.order == order
    assert found.moments[0] == first
    assert found.moments.null_count() == cells.count(None)


@pytest.mark.parametrize(
    "cells",
    [
        ["2026-02-30", "2026-01-31"],
        ["1/13/2026", "13/1/2026"],
        ["1.2.3", "1.2.4"],
        ["555-1234", "666-1234"],
        ["10.1.2.3", "1.2.3.4"],
        ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00"],
        ["2026-01-31 25:00", "2026-01-31 12:61"],
        ["1/1/2026 13:00 PM", "1/1/2026 0:30 AM"],
    ],
)
def test_what_is_no_date_stays_text(cells):
    assert find_date_format(pl.Series(cells)) is None


def test_days_that_could_be_months_have_a_rival():
    found = find_date_format(pl.Series(["1/2/2026", "3/4/2025"]))
    assert (found.format.order, found.rival.order) == ("day-month-year", "month-day-year")
    assert find_date_format(pl.Series(["1/2/2026", "13/4/2025"])).rival is None


def test_moments_as_numbers_need_a_name():
    seconds = pl.Series([1.7e9, 1.71e9])
    assert find_epoch("created_at", seconds).order == "seconds"
    assert find_epoch("timestamp", 1000 * seconds).order == "milliseconds"
    for name, numbers in (("count", seconds), ("created_at", pl.Series([5.0, 1.7e9])), ("date", seconds + 0.5)):
        assert find_epoch(name, numbers) is None
    assert DateFormat("milliseconds").read(pl.Series(["1700000000500"]))[0] == datetime(
        2023, 11, 14, 22, 13, 20, 500000
    )


def test_compact_dates_need_a_name_or_many():
    few, many = ["20260131", "20251231"], [f"202601{day:02d}" for day in range(1, 31)]
    assert find_compact("day", pl.Series(few)).order == "yyyymmdd"
    assert find_compact("code", pl.Series(few)) is None
    assert find_compact("code", pl.Series(many)) is not None
    assert find_compact("day", pl.Series(["20261331", "20250101"])) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)), min_size=1, max_size=6))
def test_python_writes_and_the_reader_reads(moments):
    moments = [moment.replace(second=0, microsecond=0) for moment in moments]
    for order, form in {
        "year-month-day": "%Y-%m-%d %H:%M",
        "day-month-year": "%d/%m/%Y %H:%M",
        "month-day-year": "%b %d, %Y %I:%M %p",
    }.items():
        cells = pl.Series([moment.strftime(form) for moment in moments])
        assert DateFormat(order).read(cells).to_list() == moments
