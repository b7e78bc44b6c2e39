import polars as pl
import pytest

from fewer.cli._streamed import jobs_on, open_chunks, resources_of, wants_stream
from fewer.cli._table import Columns, FeatureColumns, Rows, table_options
from fewer.contracts import Resources
from fewer.errors import InputError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"a": [1.5, 2.5, 3.5], "y": ["u", "v", "u"]}).write_csv(path)
    return path


def test_chunks_if_asked_or_if_there_are_many_files(table):
    assert wants_stream(table, True)
    assert not wants_stream(table, None)
    assert wants_stream(table.parent, None)
    assert not wants_stream(table.parent, False)


def test_options_become_resources():
    assert resources_of(2, 5000) == Resources(2, 5000)
    assert resources_of(1, 1000).memory == 1000
    assert jobs_on(None, 3) == 3
    assert jobs_on("tcp://there:1", 3) == -1


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"encoding": "latin-1"}, "--encoding"),
        ({"decimal": ","}, "--decimal"),
        ({"missing": "NA"}, "--missing"),
        ({"calendar": True}, "--calendar"),
        ({"skip": True}, "--skip-rows-without-target needs"),
    ],
)
def test_what_only_a_whole_table_is_read_with(table, options, word):
    with pytest.raises(InputError, match=word):
        open_chunks(table, "y", None, table_options(FeatureColumns(**options)))


@pytest.mark.parametrize("word", ["groups", "time"])
def test_rows_that_belong_together_need_the_whole_table(table, word):
    with pytest.raises(InputError, match=f"--{word} needs"):
        open_chunks(table, "y", None, table_options(rows=Rows(**{word: "a"})))


def test_a_table_is_opened_in_chunks(table):
    stream = open_chunks(table, "y", None, table_options(Columns(decimal=".")))
    assert (stream.like.names, stream.n_samples) == (("a",), 3)
