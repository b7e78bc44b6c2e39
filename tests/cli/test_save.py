import polars as pl
import pytest

from fewer.cli._options import table_options
from fewer.cli._outputs import check_save, saver
from fewer.errors import InputError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6], "y": ["u", "v", "u"]}).write_csv(path)
    return path


def test_a_place_is_refused_before_the_work(table, tmp_path):
    check_save(tmp_path / "small.tsv", table)
    with pytest.raises(InputError, match="unsupported format"):
        check_save(tmp_path / "small.xlsx", table)
    with pytest.raises(InputError, match="is the input table"):
        check_save(table, table)
    (tmp_path / "other.csv").write_text("somebody else's")
    with pytest.raises(InputError, match="already exists; choose another --save, or"):
        check_save(tmp_path / "other.csv", table)
    check_save(tmp_path / "other.csv", table, force=True)
    with pytest.raises(InputError, match="is the input table"):
        check_save(table, table, force=True)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder; name a file for --save"):
        check_save(tmp_path / "folder.csv", table)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_chosen_columns_and_the_target_are_written(table, tmp_path, suffix):
    place = tmp_path / f"small.{suffix}"
    told = saver(place, table, "y", table_options())(["b"])
    found = pl.read_csv(place) if suffix == "csv" else pl.read_parquet(place)
    assert found.columns == ["b", "y"]
    assert found["b"].to_list() == [4, 5, 6]
    assert told == f"3 rows, 2 columns in {place}"
