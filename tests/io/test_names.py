import pytest

from fewer.errors import InputError
from fewer.io._names import forced_kinds, refuse_repeated_names, row_number


def test_rows_are_counted_from_zero():
    assert row_number(0) == "row 0"


def test_two_columns_of_one_name():
    refuse_repeated_names(["a", "b"])
    with pytest.raises(InputError, match="In x.csv, 2 columns are named 'a'"):
        refuse_repeated_names(["a", "b", "a"], "In x.csv, ")


def test_kinds_that_were_chosen():
    names = ["a", "b", "c"]
    assert forced_kinds(["a", -1], [1], names) == {0: "nominal", 2: "nominal", 1: "numeric"}
    assert forced_kinds([], [], names) == {}
    with pytest.raises(InputError, match="Column 'b' is named as nominal and as numeric; choose one"):
        forced_kinds(["b"], [1], names)
    with pytest.raises(InputError, match="nominal names 'd', which is no feature"):
        forced_kinds(["d"], [], names)
