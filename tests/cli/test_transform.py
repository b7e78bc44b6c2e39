"""`fewer transform`: a new table with what a run chose."""

import json

import polars as pl
import pytest

from fewer.cli import main

TABLE = (
    'id,income,zip,seen,y\n1,"1,188",01067,31/01/2026,no\n2,987,10115,02/02/2026,yes\n3,"2,345",01067,03/02/2026,no\n'
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").write_text(json.dumps({"features": ["zip", "income"]}))
    return tmp_path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as leaving:
        main([*map(str, arguments)])
    told = capsys.readouterr()
    return leaving.value.code or 0, told.out, told.err


def test_cells_stay_as_they_are_written(folder, capsys):
    code, _, _ = run(
        capsys, "transform", folder / "run", folder / "t.csv", "--save", folder / "small.csv", "--keep", "y"
    )
    assert code == 0
    assert (folder / "small.csv").read_text() == 'y,zip,income\nno,01067,"1,188"\nyes,10115,987\nno,01067,"2,345"\n'


def test_parquet_gets_numbers_and_dates(folder, capsys):
    (folder / "run" / "result.json").write_text(json.dumps({"features": ["income", "seen", "seen: weekday"]}))
    code, out, _ = run(capsys, "transform", folder / "run", folder / "t.csv", "--save", folder / "small.parquet")
    assert code == 0
    assert "3 rows, 3 columns" in out
    small = pl.read_parquet(folder / "small.parquet")
    assert small["income"].to_list() == [1188, 987, 2345]
    assert small["seen"].dtype == pl.Date
    assert small["seen: weekday"].to_list() == ["Sat", "Mon", "Tue"]


def test_the_answer_as_json_will_do_and_the_table_goes_to_standard_output(folder, capfdbinary):
    (folder / "answer.json").write_text(json.dumps({"features": ["zip"]}))
    with pytest.raises(SystemExit):
        main(["transform", str(folder / "answer.json"), str(folder / "t.csv")])
    assert capfdbinary.readouterr().out == b"zip\n01067\n10115\n01067\n"


@pytest.mark.parametrize(
    ("result", "save", "message"),
    [
        ('{"features": ["zap"]}', "s.csv", "t.csv has no column 'zap'; did you mean 'zip'?"),
        ('{"features": []}', "s.csv", "selected no features"),
        ('{"features": 5}', "s.csv", "is not a result of fewer select"),
        ("{", "s.csv", "is not a result of fewer select"),
        ('{"features": ["zip"]}', "t.csv", "is the input table"),
        ('{"features": ["zip"]}', "s.xlsx", "use .csv, .tsv or .parquet"),
    ],
)
def test_refusals(folder, capsys, result, save, message):
    (folder / "run" / "result.json").write_text(result)
    code, _, err = run(capsys, "transform", folder / "run", folder / "t.csv", "--save", folder / save)
    assert code == 2
    assert message in err
    assert (folder / "t.csv").read_text() == TABLE


def test_another_file_is_replaced_only_by_force(folder, capsys):
    (folder / "other.csv").write_text("somebody else's")
    command = ["transform", folder / "run", folder / "t.csv", "--save", folder / "other.csv"]
    code, _, err = run(capsys, *command)
    assert (code, err.count("\n")) == (2, 1)
    assert (folder / "other.csv").read_text() == "somebody else's"
    assert run(capsys, *command, "--force")[0] == 0
    assert (folder / "other.csv").read_text() != "somebody else's"


def test_a_run_that_is_not_there(folder, capsys):
    code, _, err = run(capsys, "transform", folder, folder / "t.csv")
    assert code == 2
    assert "There is no finished run" in err
