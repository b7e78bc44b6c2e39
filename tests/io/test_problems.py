"""All that cannot be read, at once."""

import pytest

from fewer.cli import main
from fewer.io import TableError, read_table

ROWS = "".join(f"{i},{i / 7:.3f},{i % 5}.5,2026-01-{i % 28 + 1:02d},{i % 2}\n" for i in range(40))
BROKEN = "score,age,size,day,y\n" + ROWS + "abc,n.d.,1.5,soon,1\n3,n.d.,inf,2026-01-01,\n"


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(BROKEN)
    return path


def test_every_problem_is_listed_with_its_place(broken):
    with pytest.raises(TableError) as error:
        read_table(broken, "y")
    found = {p.column: (p.place, p.cell, p.count) for p in error.value.problems}
    assert found == {
        "score": ("line 42", "abc", 1),
        "age": ("line 42", "n.d.", 2),
        "day": ("line 42", "soon", 1),
        "y": ("line 43", "", 1),
        "size": ("line 43", "inf", 1),
    }
    assert "--missing abc,n.d.,soon,inf" in str(error.value)
    assert "--exclude score,age,day,size" in str(error.value)


def test_the_cures_cure(broken):
    cures = {"missing": ["abc", "n.d.", "soon", "inf"], "skip_rows_without_target": True}
    problem = read_table(broken, "y", **cures)
    assert problem.n_samples == 41
    assert problem.notes[0] == "1 row has no target; left out."
    excluded = ["score", "age", "day"]
    others = read_table(broken, "y", exclude=excluded, missing=["inf"], skip_rows_without_target=True)
    assert others.names == ("size",)


def test_the_command_line_prints_a_table_of_at_most_100_columns(broken, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(broken), "-t", "y"])
    assert leaving.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fewer: 5 columns cannot be read:"
    assert lines[2].split() == ["score", "line", "42", "1", "'abc'", "no", "number"]
    assert all(len(line) <= 100 for line in lines[:-1])


def test_words_among_many_numbers_are_asked_about_and_not_taken_for_levels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{'-' if i % 3 else i / 8},{i % 2}\n" for i in range(90)))
    assert read_table(path, "y", missing=["-"]).kinds == ("numeric",)
    path.write_text("a,y\n" + "".join(f"{'-' if i % 3 == 0 else i / 8},{i % 2}\n" for i in range(90)))
    with pytest.raises(TableError, match="Column 'a' holds numbers, but line 2 holds '-'"):
        read_table(path, "y")
