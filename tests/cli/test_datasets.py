"""`fewer datasets`."""

import json

import polars as pl
import pytest

from fewer.cli import main
from fewer.datasets import info, load, names


@pytest.fixture
def run(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as leaving:
            main(["datasets", *arguments])
        captured = capsys.readouterr()
        return leaving.value.code or 0, captured.out, captured.err

    return run


def test_the_list_has_a_line_for_each_set(run):
    code, out, _ = run()
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split() == ["name", "rows", "columns", "task", "kinds", "where", "licence", "source"]
    assert [line.split()[0] for line in lines[1:]] == names()
    sonar = next(line for line in lines if line.startswith("sonar"))
    for text in ("208", "60 numeric", "classification", "CC BY 4.0", "Sejnowski", "in this package"):
        assert text in sonar


def test_the_list_as_json(run):
    _, out, _ = run("--json")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == names()
    assert {"rows", "columns", "task", "kinds", "source", "licence", "bundled", "sha256"} <= rows[0].keys()


def test_one_set_in_full(run):
    code, out, _ = run("Grey")
    assert code == 0
    assert "licence:   CC BY 4.0" in out
    assert f"rows:      {info('grey').rows}" in out


def test_one_set_to_a_file(run, tmp_path):
    code, out, _ = run("crx", "--save", str(tmp_path / "crx.csv"))
    assert (code, out) == (0, f"crx: 690 rows and 15 features in {tmp_path / 'crx.csv'}\n")
    frame = pl.read_csv(tmp_path / "crx.csv", infer_schema_length=None)
    assert frame.columns == [*load("crx").X.columns, "target"]
    assert frame.drop("target").equals(load("crx").X)


def test_the_ending_of_the_file_says_its_kind(run, tmp_path):
    assert run("glass", "--save", str(tmp_path / "glass.parquet"))[0] == 0
    assert pl.read_parquet(tmp_path / "glass.parquet").shape == (214, 10)
    assert "unsupported extension" in run("glass", "--save", str(tmp_path / "glass.xlsx"))[2]


def test_a_set_to_a_file_and_json_to_a_pipe(run, tmp_path):
    code, out, error = run("glass", "--save", str(tmp_path / "glass.csv"), "--json")
    assert code == 0
    assert [row["name"] for row in json.loads(out)] == ["glass"]
    assert error.startswith("glass: 214 rows")
    assert (tmp_path / "glass.csv").stat().st_size > 0


def test_refusals(run, tmp_path):
    assert run("sonr") == (2, "", "fewer: Unknown data set 'sonr'; did you mean 'sonar'?\n")
    assert run("--save", "x.csv") == (
        2,
        "",
        "fewer: --save needs the name of a data set: fewer datasets sonar --save sonar.csv\n",
    )
    path = tmp_path / "there.csv" / "x.csv"
    there = tmp_path / "there.csv"
    there.write_text("mine")
    assert run("glass", "--save", str(there)) == (2, "", f"fewer: {there} already exists; choose another --save.\n")
    assert there.read_text() == "mine"
    assert run("glass", "--save", str(path)) == (
        2,
        "",
        f"fewer: {path} cannot be written (Not a directory); choose another place for --save.\n",
    )


@pytest.mark.parametrize("width", [60, 80, 120, 400])
def test_the_list_fits_between_the_edges_and_shows_rows_columns_and_task(width):
    from fewer.cli._datasets import laid_out
    from fewer.datasets import info

    lines = laid_out(info(), width).splitlines()
    assert lines[0].split()[:4] == ["name", "rows", "columns", "task"]
    assert max(map(len, lines)) <= width
    assert len(lines) == 1 + len(info())
