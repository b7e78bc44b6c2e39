import numpy as np
import pytest

from fewer.errors import InputError
from fewer.problem import column_number, column_numbers
from fewer.text import nearest

NAMES = ["height", "weight", "age"]


def test_a_name_that_was_perhaps_meant():
    assert nearest("Hieght", NAMES) == "did you mean 'height'?"
    assert nearest("AGE", NAMES) == "did you mean 'age'?"
    assert nearest("xyz", NAMES) == "the columns are 'height', 'weight', 'age'."
    many = [f"column{i:02}" for i in range(13)]
    assert nearest("q", many[:12], "methods").endswith("'column11'.")
    assert nearest("q", many, "methods").startswith("the methods are 'column00'")
    assert nearest("q", many).endswith("'column09', …, 'column12'.")


@pytest.mark.parametrize(("asked", "number"), [("age", 2), (0, 0), (2, 2), (-1, 2), (-3, 0), (np.int64(1), 1)])
def test_by_name_or_number(asked, number):
    assert column_number(asked, NAMES, "include") == number


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("wieght", "include names 'wieght', not a feature; did you mean 'weight'?"),
        (3, "include names feature 3, but features go from 0 to 2"),
        (-4, "include names feature -4, but"),
        (True, "include names True; give a column's name or its number"),
        (1.0, "include names 1.0; give"),
    ],
)
def test_what_is_no_column(asked, message):
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        column_number(asked, NAMES, "include")


def test_several_columns():
    assert column_numbers(None, NAMES, "include") == []
    assert column_numbers("age", NAMES, "include") == [2]
    assert column_numbers(["age", 0, -2], NAMES, "include") == [2, 0, 1]
    assert column_numbers([False, True, True], NAMES, "include") == [1, 2]
    assert column_numbers(np.array([True, False, False]), NAMES, "include") == [0]
    with pytest.raises(InputError, match="names True"):
        column_numbers([True, False], NAMES, "include")
