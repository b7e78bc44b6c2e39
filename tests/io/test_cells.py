from datetime import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.io import calendar_groups, read_table
from fewer.io._cells import DateFormat, NumberFormat, find_compact, find_date_format, find_number_format
from fewer.io._kinds import typed_columns


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,188", "987", "12,500"], [1188, 987, 12500]),
        (["1,188", "1234"], [1188, 1234]),
        (["$19,819.39", "$5.00", "($7.10)"], [19819.39, 5, -7.1]),
        (["-$5", "$-6", "$7-"], [-5, -6, -7]),
        (["1,5", "2"], [1.5, 2]),
        (["0,188", "1,234"], [0.188, 1.234]),
        (["1.188,50 €", "3,20 €"], [1188.5, 3.2]),
        (["1.234.567", "2.345"], [1234567, 2345]),
        (["45%", "3 %"], [45, 3]),
        (["72 kg", "68.5 kg"], [72, 68.5]),
        (["10 mg/dL", "11 mg/dL"], [10, 11]),
        (["20 m2", "30 m2"], [20, 30]),
        (["1e5 Pa", "2 Pa"], [1e5, 2]),
        (["1'200", "3’400.5"], [1200, 3400.5]),
        (["1 188", "2\u202f300,5"], [1188, 2300.5]),
        (["1,00,000", "20,000"], [100000, 20000]),
        (["US$5", "US$6"], [5, 6]),
        (["−5", "3"], [-5, 3]),
    ],
)
def test_formats_are_found_by_the_whole_column(cells, numbers):
    found = find_number_format(pl.Series(cells))
    assert found.cells.to_list() == pytest.approx(numbers)
    assert not found.mixed
    assert found.rival is None


@pytest.mark.parametrize(
    "cells",
    [
        ["3-5", "6-7"],
        ["12:30", "13:00"],
        ["2020-01-31", "2020-01-30"],
        ["31/01/2026", "1/2/2026"],
        ["10.1.2.3", "10.1.2.4"],
        ["v1", "v2"],
        ["abc", "1"],
        ["(5", "6)"],
    ],
)
def test_what_is_no_number_stays_none(cells):
    found = find_number_format(pl.Series(cells))
    assert found is None or found.cells.null_count() == len(cells)


@pytest.mark.parametrize(
    "cells", [["72 kg", "150 lb"], ["45%", "0.45"], ["$5", "€6"], ["5k", "3M", "2k"], ["$1", "2", "3"]]
)
def test_two_units_in_one_column_are_never_mixed(cells):
    assert len(find_number_format(pl.Series(cells)).mixed) == 2


def test_one_mark_that_could_be_either_has_a_rival():
    found = find_number_format(pl.Series(["1,188", "2,345"]))
    assert found.cells.to_list() == [1188, 2345]
    assert found.rival.read(pl.Series(["1,188"])).to_list() == [1.188]
    assert find_number_format(pl.Series(["1,188", "2,345"]), ",").cells.to_list() == [1.188, 2.345]


def slow_twin(cell, decimal, thousands):
    """Read a number letter by letter."""
    negative = cell.startswith("(") or "-" in cell
    cell = cell.strip("()-")
    whole, _, fraction = cell.partition(decimal)
    if thousands:
        whole = whole.replace(thousands, "")
    return (-1 if negative else 1) * float(whole + "." + (fraction or "0"))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 99), st.booleans()), min_size=1, max_size=8),
    st.sampled_from([(".", ","), (",", "."), (".", " "), (",", "'")]),
    st.booleans(),
)
def test_numbers_are_read_as_they_were_written(values, marks, accounting):
    decimal, thousands = marks
    cells = []
    for whole, cents, negative in values:
        body = f"{whole:,}".replace(",", thousands) + decimal + f"{cents:02d}"
        cells.append((f"({body})" if accounting else f"-{body}") if negative else body)
    form = NumberFormat(decimal, thousands)
    assert form.read(pl.Series(cells)).to_list() == [slow_twin(cell, decimal, thousands) for cell in cells]
    assert find_number_format(pl.Series(cells)).cells.to_list() == form.read(pl.Series(cells)).to_list()


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
    assert found.cells[0] == first
    assert found.cells.null_count() == cells.count(None)


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
    cells = {"created_at": seconds, "timestamp": 1000 * seconds, "count": seconds, "date": seconds + 0.5}
    texts = pl.DataFrame(cells | {"birth": [5.0, 1.7e9]}).cast(pl.String)
    readings = typed_columns(texts, str).readings
    assert {name: reading.format.order for name, reading in readings.items() if reading.kind == "date"} == {
        "created_at": "seconds",
        "timestamp": "milliseconds",
    }
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


@pytest.mark.parametrize("cells", [["0001-01-01", "0050-12-31"], ["0001-1-1", "0050-12-31 10:00:00+00:00"]])
def test_years_of_four_digits_are_years_as_they_stand(cells):
    assert DateFormat("year-month-day").read(pl.Series(cells[:1])).dt.year().to_list() == [1]
    assert DateFormat("year-month-day").read(pl.Series(cells[1:])).dt.year().to_list() == [50]
    assert DateFormat("day-month-year").read(pl.Series(["1/2/50", "1/2/70"])).dt.year().to_list() == [2050, 1970]


def test_dates_as_programs_write_them_are_those_of_python():
    texts = ["2024-02-29", "1969-12-31T23:59:59.5", "2024-02-30", None, "9999-12-31 00:00:01.000001"]
    expected = [datetime.fromisoformat(text) if text not in (None, texts[2]) else None for text in texts]
    form = DateFormat("year-month-day")
    assert form.read(pl.Series(texts)).to_list() == expected
    assert form.read(pl.Series([*texts, "2024-1-1"])).to_list() == [*expected, datetime(2024, 1, 1)]


def test_weekday_and_month_are_nominal_and_one_group(tmp_path):
    (tmp_path / "t.csv").write_text("a,day,y\n1,2026-01-31,0\n2,2026-02-02,1\n3,,1\n")
    problem = read_table(tmp_path / "t.csv", "y", calendar=True)
    assert problem.names == ("a", "day", "day: weekday", "day: month")
    assert problem.kinds == ("numeric", "numeric", "nominal", "nominal")
    assert problem.levels == {2: ("Mon", "Sat"), 3: ("Feb", "Jan")}
    np.testing.assert_array_equal(problem.X[:, 2], [1, 0, np.nan])
    assert calendar_groups(problem.names) == [["day: weekday", "day: month"]]
    assert calendar_groups(["a"]) == []
