"""One format for a whole column of numbers, or none."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.io._numbers import NumberFormat, find_number_format


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
    assert found.numbers.to_list() == pytest.approx(numbers)
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
    assert found is None or found.numbers.null_count() == len(cells)


@pytest.mark.parametrize(
    "cells", [["72 kg", "150 lb"], ["45%", "0.45"], ["$5", "€6"], ["5k", "3M", "2k"], ["$1", "2", "3"]]
)
def test_two_units_in_one_column_are_never_mixed(cells):
    assert len(find_number_format(pl.Series(cells)).mixed) == 2


def test_one_mark_that_could_be_either_has_a_rival():
    found = find_number_format(pl.Series(["1,188", "2,345"]))
    assert found.numbers.to_list() == [1188, 2345]
    assert found.rival.read(pl.Series(["1,188"])).to_list() == [1.188]
    assert find_number_format(pl.Series(["1,188", "2,345"]), ",").numbers.to_list() == [1.188, 2.345]


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
    assert find_number_format(pl.Series(cells)).numbers.to_list() == form.read(pl.Series(cells)).to_list()
