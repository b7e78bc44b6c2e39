import polars as pl
import pytest

from fewer.errors import InputError
from fewer.serve._work import in_words, inspect, schema_name, table_options


def test_choices_become_options_of_the_reader():
    options = table_options(
        {"kinds": {"a": "numeric", "b": "nominal", "c": "left out"}, "missing": ["-"], "weights": "w", "groups": ""}
    )
    assert (options["numeric"], options["nominal"], options["missing"]) == (["a"], ["b"], ["-"])
    assert options["schema"].columns["c"].kind == "left out"
    assert (options["sample_weight"], options["groups"], options["time"]) == ("w", None, None)
    assert table_options({})["missing"] is None


def test_notes_speak_of_the_page():
    assert in_words("Codes; --numeric says otherwise.") == "Codes; choose number below if they are not."
    assert in_words("Nothing to say.") == "Nothing to say."


def test_a_table_is_told_and_a_column_that_is_gone_is_named(tmp_path):
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "y": ["u", "v", "u", "v"]}).write_csv(path)
    told = inspect(str(path), {"target": "y"})
    assert '"a"' in told["schema"]
    with pytest.raises(InputError, match="t.csv has no column 'gone'; load the page again"):
        inspect(str(path), {"target": "y", "kinds": {"gone": "left out"}})


def test_a_schema_is_named_after_its_table_and_content():
    assert schema_name("{}", "t.csv") == schema_name("{}", "t.csv")
    assert schema_name("{}", "t.csv") != schema_name("{ }", "t.csv")
    assert schema_name("{}", "t.csv").startswith("t.csv.")
