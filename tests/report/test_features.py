import pytest

from fewer.report._features import _kind, in_units


@pytest.mark.parametrize(
    ("value", "score", "text"),
    [
        (0.0123, "accuracy", "+1.2"),
        (-0.05, "balanced accuracy", "−5.0"),
        (-0.00001, "accuracy", "0.0"),
        (-0.01, "R²", "−0.010"),
    ],
)
def test_differences_in_points_or_as_they_are(value, score, text):
    assert in_units(value, score) == text


def test_what_a_column_holds_in_a_line():
    told = {
        "size": {"low": 1.23456, "high": 9.0, "missing": 1200},
        "color": {"levels": ["red", "blue", "green", "grey", "pink"]},
        "few": {"levels": ["no", "yes"], "missing": 0},
    }
    evidence = {"distributions": told}
    assert _kind("size", evidence) == "1.235 to 9, 1,200 missing"
    assert _kind("color", evidence) == "red, blue, green, grey, …"
    assert _kind("few", evidence) == "no, yes"
    assert _kind("other", evidence) == ""
    assert _kind("other", {}) == ""
