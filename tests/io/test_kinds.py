import re
import shlex

import numpy as np
import polars as pl
import pytest

from fewer.cli import main
from fewer.contracts import Resources
from fewer.errors import InputError
from fewer.io import TableError, read_table
from fewer.io._kinds import ReadOptions, _looks_of, typed_columns, why_left_out
from fewer.io.frames import row_number
from fewer.rankers import (
    CMIM,
    DISR,
    JIM,
    JMI,
    MIFS,
    MRMR,
    SURF,
    Fisher,
    InformationGain,
    MultiSURF,
    MutualInformation,
    ReliefF,
)
from messy import make_messy

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
    assert "Cells that cannot be read: 'abc', 'n.d.', 'soon', 'inf'." in str(error.value)
    assert error.value.options == {"--skip-rows-without-target": [], "--missing": ["abc", "n.d.", "soon", "inf"]}


def test_the_cures_cure(broken):
    cures = {"missing": ["abc", "n.d.", "soon", "inf"], "skip_rows_without_target": True}
    problem = read_table(broken, "y", **cures)
    assert problem.n_samples == 41
    assert problem.notes[0].startswith("Read as missing: 'abc' in 'score' (1 cell), 'n.d.' in 'age' (2 cells)")
    assert problem.notes[1] == "1 row has no target; skipped."
    excluded = ["score", "age", "day"]
    others = read_table(broken, "y", exclude=excluded, missing=["inf"], skip_rows_without_target=True)
    assert others.names == ("size",)


def test_the_command_line_prints_a_table_of_at_most_100_columns(broken, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(broken), "-t", "y"])
    assert leaving.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fewer: 5 columns cannot be read:"
    assert lines[2].split() == ["score", "line", "42", "1", "'abc'", "not", "a", "number"]
    assert all(len(line) <= 100 for line in lines[:-1])
    with pytest.raises(SystemExit) as leaving:
        main(shlex.split(lines[-1])[1:])  # the command as it is printed
    assert not leaving.value.code


def test_words_among_many_numbers_are_asked_about_and_not_taken_for_levels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{'lost' if i % 3 else i / 8},{i % 2}\n" for i in range(90)))
    assert read_table(path, "y", missing=["lost"]).kinds == ("numeric",)
    path.write_text("a,y\n" + "".join(f"{'lost' if i % 3 == 0 else i / 8},{i % 2}\n" for i in range(90)))
    with pytest.raises(TableError, match="Column 'a' holds numbers, but line 2 is 'lost'"):
        read_table(path, "y")


@pytest.mark.parametrize("word", ["none", "-", "NULL", "n/a", "?", "None", "#DIV/0!"])
def test_words_that_mean_missing_among_numbers_are_understood_and_reported(word, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{word if i % 3 == 0 else i / 8},{i % 7},{i % 2}\n" for i in range(90)))
    problem = read_table(path, "y", missing=["6"])  # adds to the list
    assert problem.kinds == ("numeric", "numeric")
    assert np.isnan(problem.X).sum(axis=0).tolist() == [30, 12]
    assert problem.notes[0] == f"Read as missing: {word!r} in 'a' (30 cells), '6' in 'b' (12 cells)."


def test_such_words_are_levels_among_words(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{['none', 'one', 'two'][i % 3]},{i},{i % 2}\n" for i in range(30)))
    assert read_table(path, "y").levels == {0: ("none", "one", "two")}


rng = np.random.default_rng(0)
WORDS = "the customer called again about late delivery and wants to talk about price next week".split()


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([" ".join(rng.choice(WORDS, 8)) for _ in range(60)], "free text"),
        ([";".join(rng.choice(list("abcdef"), k, replace=False)) for k in [1, 2, 3, 4] * 15], "lists"),
        (["|".join(rng.choice(list("abcdef"), k, replace=False)) for k in [1, 2, 3, 4] * 15], "lists"),
        ([str(rng.integers(0, 9, 3).tolist()) for _ in range(60)], "lists"),
        ([f"{value:032x}" for value in range(60)], "nearly all values unique"),
        ([f"p{i}@example.org" for i in range(60)], "nearly all values unique"),
        (["red", "dark blue", 'the "new", one'] * 20, None),
        ([f"city {i % 25}" for i in range(60)], None),
        (["New York, NY", "Boston, MA", "Austin, TX"] * 20, None),
        ([f"Street {i % 20}, House {i % 7}" for i in range(400)], None),
        ([f"x{i}" for i in range(19)], None),
        ([None] * 60, None),
    ],
)
def test_reasons(cells, reason):
    assert why_left_out(pl.Series(cells, dtype=pl.String)) == reason


@pytest.mark.parametrize(
    ("n_distinct", "reason"),
    [(100, "nearly all values unique"), (90, "nearly all values unique"), (89, None), (60, None)],
)
def test_nine_in_ten_cells_that_differ_make_a_code(n_distinct, reason):
    cells = [f"q{i % n_distinct}" for i in range(100)]
    assert why_left_out(pl.Series(cells)) == reason


def read(options=None, **columns):
    return typed_columns(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)), row_number, options)


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    text, truth = make_messy()
    path = tmp_path_factory.mktemp("messy") / "customers.csv"
    path.write_text(text, encoding="utf-8")
    return path, truth


def test_a_messy_table_is_read_as_it_was_meant(messy):
    path, truth = messy
    problem = read_table(path, "churn")
    for name, values in truth.items():
        np.testing.assert_allclose(problem.X[:, problem.names.index(name)], values, rtol=1e-12)
    kinds = dict(zip(problem.names, problem.kinds, strict=True))
    assert kinds["zip"] == "nominal"
    assert "01067" in problem.levels[problem.names.index("zip")]
    assert kinds["visits"] == "nominal"
    left_out = {"customer", "comment", "tags", "height", "visited", "member", "price"}
    assert not left_out & set(problem.names)
    assert {*problem.names} == {*truth, "zip", "visits", "rare", "plan"}


def test_nothing_is_converted_or_left_out_without_a_word_on_one_screen(messy):
    notes = read_table(messy[0], "churn").notes
    told = " ".join(notes)
    columns = ["customer", "income", "spent", "share", "weight", "height", "zip", "signup", "seen", "created_at"]
    columns += ["comment", "tags", "rare", "paid", "opened", "called", "event", "visited", "member", "visits", "price"]
    for name in columns:
        assert repr(name) in told
    assert "negatives in parentheses ('($1,058.63)' is -1058.63)" in told
    assert "'visited' (inconsistent date formats)" in told
    assert "'event' is read as numbers, but could be timestamps" in told
    assert "'visits' is read as categories: most cells are numbers, but some, such as 'x', are not" in told
    assert "'rare' (97 %)" in told
    assert "identifier" not in told
    assert "--decimal" not in told
    assert sum(1 + len(note) // 80 for note in notes) <= 30


@pytest.mark.parametrize(
    "ranker", [Fisher, InformationGain, MutualInformation, MIFS, MRMR, JMI, CMIM, DISR, JIM, ReliefF, SURF, MultiSURF]
)
def test_the_planted_signals_are_found_and_a_column_of_7_cells_is_last(messy, ranker):
    problem = read_table(messy[0], "churn")
    ranking = ranker().rank(problem, np.random.default_rng(0), Resources())
    order = [problem.names[i] for i in ranking.order]
    assert {"income", "share"} <= set(order[:3])
    assert order[-1] == "rare"


def test_a_pipe_of_the_messy_table_gives_the_same_problem(messy, monkeypatch):
    import io

    class Stdin:
        buffer = io.BytesIO(messy[0].read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    piped, read = read_table("-", "churn"), read_table(messy[0], "churn")
    np.testing.assert_array_equal(piped.X, read.X)
    assert piped.notes == read.notes


def test_other_columns_settle_what_one_column_leaves_open():
    sure, unsure = ["1,5", "2,25", "3"], ["1,188", "2,345", "9,999"]
    assert read(a=unsure).frame["a"].to_list() == [1188, 2345, 9999]
    assert "--decimal ," in read(a=unsure).notes[0]
    both = read(a=unsure, b=sure)
    assert both.frame["a"].to_list() == [1.188, 2.345, 9.999]
    assert read(ReadOptions(decimal=","), a=unsure).frame["a"].to_list() == [1.188, 2.345, 9.999]
    dotted = read(a=["1.188", "987", "2.345"], b=sure)
    assert dotted.frame["a"].to_list() == [1188, 987, 2345]
    assert read(a=["1.188", "987", "2.345"]).frame["a"].to_list() == [1.188, 987, 2.345]
    assert read(a=["1.188", "98.7", "2.345"], b=sure).frame["a"].to_list() == [1.188, 98.7, 2.345]
    said = read(ReadOptions(decimal=","), a=["1.188", "987", "2.345"])
    assert said.frame["a"].to_list() == [1188, 987, 2345]
    assert "--decimal" not in said.notes[0]
    with pytest.raises(InputError, match="Column 'b' holds numbers with decimal points, not commas; omit --decimal"):
        read(ReadOptions(decimal=","), a=sure, b=["1.5", "2.25", "3"])
    order = read(d=["1/2/2026", "3/4/2026"], e=["1/31/2026", "2/1/2026"])
    assert order.frame["d"].dt.month().to_list() == [1, 3]
    assert "No day is above 12" in read(d=["1/2/2026", "3/4/2026"]).notes[0]


def test_times_of_day_count_as_hours_and_come_back_from_a_schema():
    from fewer.io._inspect import Schema

    cells = ["8:30", "12:15:36", "11:45 pm", None, "12:00 AM"]
    found = read(t=cells)
    assert found.frame["t"].to_list() == [8.5, 12.26, 23.75, None, 0.0]
    assert found.notes == ["Column 't' is read as hours since midnight ('12:15:36' is 12.26)."]
    schema = Schema.from_json(Schema(found.readings).to_json())
    assert schema.columns["t"] == found.readings["t"]
    again = read(ReadOptions(readings=schema.columns), t=cells)
    assert again.frame["t"].to_list() == found.frame["t"].to_list()
    assert read(t=[*["8:30", "9:40"] * 10, "25:00"]).problems[0].trouble == "not a time (12:30)"
    assert read(t=["3:2", "2:1"] * 10).frame["t"].dtype == pl.String  # results of games


def test_numbers_that_could_be_moments_are_told_of():
    moments = [str(1_700_000_000_000 + 86_400_000 * i) for i in range(30)]
    for first in ("", "NA"):  # the example is the first number
        assert "(1700000000000 would be 2023-11-14)" in " ".join(read(e=[first, *moments]).notes)
    assert read(e=moments).notes == [
        "Column 'e' is read as numbers, but could be timestamps (1700000000000 would be 2023-11-14); use a "
        "schema to read dates."
    ]
    assert not read(ReadOptions(numeric=frozenset("e")), e=moments).notes
    assert not read(e=[str(i) for i in range(30)]).notes


def test_codes_of_single_rows_are_left_out_also_with_leading_zeros():
    codes = [f"{i:04d}" for i in range(40)]
    found = read(ReadOptions(leave_out=True), a=codes, b=["01", "02"] * 20)
    assert found.readings["a"].reason == "nearly all values unique"
    assert found.readings["b"].reason == "leading zeros"
    assert read(ReadOptions(leave_out=True, nominal=frozenset("a")), a=codes).frame["a"].to_list() == codes


def test_leading_zeros_stay_codes_unless_overruled():
    assert read(a=["01067", "10115"]).frame["a"].to_list() == ["01067", "10115"]
    assert read(a=["0", "10"]).frame["a"].to_list() == [0, 10]
    assert read(a=["0.5", "00.5"]).frame["a"].to_list() == [0.5, 0.5]
    assert read(ReadOptions(numeric=frozenset("a")), a=["01067", "10115"]).frame["a"].to_list() == [1067, 10115]


def test_half_a_column_is_never_converted():
    cells = [f"{i} kg" if i % 2 else f"{i} lb" for i in range(40)]
    whole = read(ReadOptions(leave_out=True), a=cells, b=["1"] * 40)
    assert whole.readings["a"].kind == "left out"
    assert read(a=cells).frame["a"].to_list() == cells


def test_numbers_among_many_words_are_levels_and_said_so(tmp_path):
    path = tmp_path / "strewn.csv"
    cells = [f"{i / 7:.3f}" if i % 4 else f"w{'abcdefgh'[i // 4 % 8]}x" for i in range(80)]
    path.write_text("a,y\n" + "\n".join(f"{cell},{i % 2}" for i, cell in enumerate(cells)))
    problem = read_table(path, target="y")
    assert problem.kinds[0] == "nominal"
    assert any("'a' is read as categories: most cells are numbers" in note for note in problem.notes)


def test_looks_of_columns_are_those_of_each_cell():
    columns = {
        "fraction": ["0.5", "12", "03"], "codes": ["0213", "44", None], "wide": ["7", " 008 ", "12"],
        "dates": ["20260131", "20251224", None], "later": ["20260131", "x", "1"], "none": [None, None, None],
        "one": ["5", "6", "7"], "signed": ["-05", "01", "02"], "words": ["a", "01", "20260131"],
    }  # fmt: skip
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    for (name, cells), found in zip(columns.items(), _looks_of(frame), strict=True):
        known = [cell for cell in cells if cell is not None]
        digits = all(re.fullmatch(r"\d+", cell.strip()) for cell in known)
        assert found.codes == (digits and any(cell.startswith("0") and len(cell) > 1 for cell in known)), name
        assert found.compact == all(re.fullmatch(r"(19|20)\d{6}", cell) for cell in known), name
