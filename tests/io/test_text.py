"""Text tables: separators, quotes, line ends, encodings, missing cells, and what is wrong on which line."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.io import read_table
from fewer.io._text import find_separator, read_text
from fewer.problem import InputError

PLAIN = "a,b,y\n1,x,no\n2,y,yes\n3,x,no\n4,y,yes\n"
RAGGED = "; correct the line, and quote cells that hold the separator."
TOO_LARGE = "; read it in chunks (--stream), drop columns (--exclude), or sample its rows."


@pytest.fixture
def read(tmp_path):
    def read(text, target="y", name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_table(path, target, **options)

    return read


def same(one, other):
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    assert (one.kinds, one.levels, one.task, one.classes, one.names) == (
        other.kinds,
        other.levels,
        other.task,
        other.classes,
        other.names,
    )


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (PLAIN, None),
        (PLAIN.rstrip("\n"), None),
        (PLAIN.replace("\n", "\r\n"), None),
        (PLAIN.replace("\n", "\r"), None),
        ("\ufeff" + PLAIN, None),
        (PLAIN.replace("\n", "\n\n") + "  \n", None),
        ("\n\n" + PLAIN, None),
        (PLAIN.replace(",", " , "), None),
        ('"a","b","y"\r\n"1","x","no"\r\n2,"y",yes\r\n\r\n3,x,"no"\r\n4,y,yes', None),
        (PLAIN.replace(",", ";"), "t.csv: cells are separated by semicolons."),
        (PLAIN.replace(",", "\t"), "t.csv: cells are separated by tabs."),
        (PLAIN.replace(",", "|"), "t.csv: cells are separated by bars."),
        (PLAIN.replace(",", "   "), "t.csv: cells are separated by spaces."),
        (
            "".join(f"  {line}\n" for line in PLAIN.replace(",", " ").split("\n") if line),
            "t.csv: cells are separated by spaces.",
        ),
    ],
)
def test_every_way_of_writing_a_table_gives_the_same_problem(read, text, note):
    problem = read(text)
    same(problem, read(PLAIN))
    assert problem.kinds == ("numeric", "nominal")
    assert problem.notes == (() if note is None else (note,))


TABLE = "a,b,c,y\n" + "".join(f"{i},{i % 7}.5,{i % 3},{i % 2}\n" for i in range(12))


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Export of customers\n", 2),
        ("Export of customers\nmade 2024-05-01, by hand\n\n", 4),
        ('"Customers, all"\n', 2),
        ("Customers,,,\n,,,\n", 3),
    ],
)
def test_what_stands_above_the_header_is_passed_over(read, above, line):
    problem = read(above + TABLE)
    same(problem, read(TABLE))
    note = f"The header of t.csv is line {line}; what stands above it is passed over."
    assert problem.notes == (note, *read(TABLE).notes)
    same(read(above + TABLE, header=line), read(TABLE))
    with pytest.raises(InputError, match="t.csv has no header in line 99"):
        read(above + TABLE, header=99)
    bad = (above + TABLE).replace("\n3,", "\n3,,")
    with pytest.raises(InputError, match=f"t.csv, line {line + 4} has 5 cells"):
        read(bad)


def test_two_header_rows_are_joined(read):
    problem = read(
        TABLE.replace("y\n", "y\nkg,cm,years,class\n", 1).replace(",0\n", ",no\n").replace(",1\n", ",yes\n"), -1
    )
    assert problem.names == ("a kg", "b cm", "c years")
    assert problem.n_samples == 12
    groups = read("size,,age,\n" + TABLE.replace("a,b,c,y", "low,high,low,y"), "age y")
    assert groups.names == ("size low", "size high", "age low")


@pytest.mark.parametrize("first", ["NA,NA,NA,0", "-1,2,3,0", "?,1,,1"])
def test_a_first_row_of_missing_cells_is_no_header(read, first):
    assert read(TABLE.replace("y\n", f"y\n{first}\n", 1)).n_samples == 13


def test_an_index_without_a_name_keeps_its_header(read):
    assert read(",y\n" + "".join(f"{i * i},{i % 2}\n" for i in range(12))).names == ("column 1",)


def test_names_that_stand_there_twice_become_distinct(read):
    problem = read(TABLE.replace("a,b,c,y", "a,a,a (2),y"))
    assert problem.names == ("a", "a (3)", "a (2)")
    assert problem.notes[0] == "2 columns are named 'a'; the others are called 'a (3)'; rename them in your table."


def test_gzip_with_any_name_and_several_members(read):
    packed = gzip.compress(PLAIN[:20].encode()) + gzip.compress(PLAIN[20:].encode())
    same(read(packed, name="t.csv.gz"), read(PLAIN))
    same(read(packed, name="t"), read(PLAIN))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings_are_read_when_named(read, encoding):
    text = "größe,y\n1,schön\n2,übel\n3,schön\n"
    same(read(text.encode(encoding), encoding=encoding), read(text))


@pytest.mark.parametrize("token", ["", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL", " ? "])
@pytest.mark.parametrize("quote", ["", '"'])
def test_missing_cells(read, token, quote):
    problem = read(f"a,b,c,y\n1,x,true,0\n{quote}{token}{quote},{token},{token},1\n2,z,false,1\n")
    assert problem.kinds == ("numeric", "nominal", "boolean")
    np.testing.assert_array_equal(problem.X, [[1, 0, 1], [np.nan] * 3, [2, 1, 0]])


def test_truth_values_in_any_letters_and_dates(read):
    problem = read("t,d,m,y\nTRUE,2026-01-31,2026-01-31 12:00:00,0\nfalse,1970-01-02,1970-01-01T06:00:00.0,1\n,,,1\n")
    assert problem.kinds == ("boolean", "numeric", "numeric")
    np.testing.assert_array_equal(problem.X, [[1, 20484, 20484.5], [0, 1, 0.25], [np.nan] * 3])
    assert problem.notes[0] == "Columns 'd', 'm' hold dates, used as days since 1970-01-01."


def test_dates_that_do_not_exist_are_words(read):
    assert read("d,y\n2026-02-30,0\n2026-01-31,1\n2026-01-31,1\n").kinds == ("nominal",)


def test_targets_by_name_and_by_number(read):
    for target in ("y", -1, 2, "-1", "2"):
        assert read(PLAIN, target).names == ("a", "b")
    assert read(PLAIN, 0, task="regression").names == ("b", "y")
    assert read("-1,y,z\n0,1,5\n1,2,6\n1,3,7\n", "-1").names == ("y", "z")


def test_numbers_that_are_codes(read):
    text = "zip,b,y\n02134,1,0\n10001,2,1\n2134,3,0\n9,4,1\n"
    problem = read(text)
    assert problem.levels[0] == ("02134", "10001", "2134", "9")
    assert problem.notes == (
        "Column 'zip' is read as codes because of leading zeros ('02134'); use --numeric for numbers.",
    )
    same(read(text, nominal=["zip"]), problem)
    assert read(text, nominal=["zip"]).notes == ()
    np.testing.assert_array_equal(read(text, numeric=["zip"]).X[:, 0], [2134, 10001, 2134, 9])
    assert read(text.replace("02134", "5"), nominal=["zip"]).levels[0] == ("5", "9", "2134", "10001")
    assert read(text, nominal=["zip", "y"]).classes == (0, 1)
    assert read(text, nominal=[0]).kinds == ("nominal", "numeric")


def test_decimal_commas(read):
    text = "a;b;y\n1,5;2;0\n2;3;1\n-0,25;4;0\n"
    for options in ({}, {"decimal": ","}):
        problem = read(text, **options)
        np.testing.assert_array_equal(problem.X, [[1.5, 2], [2, 3], [-0.25, 4]])
    assert problem.notes[1] == "Column 'a' is read as numbers with decimal commas ('-0,25' is -0.25)."
    assert read(text, nominal=["a"]).levels[0] == ("-0,25", "1,5", "2")


def test_cells_with_separators_quotes_and_line_ends(read):
    problem = read('a,b,y\n"x, ""1""\nz",1,0\nplain,2,1\n"x, ""1""\nz",3,1\n')
    assert problem.levels[0] == ("plain", 'x, "1"\nz')


def test_a_table_of_classes_that_mix_numbers_and_words(read):
    text = "a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(40)) + "9,other\n8,other\n"
    assert read(text, task="classification").classes == ("0", "1", "other")


def test_names_that_are_missing_get_one(read):
    problem = read(",b,y\n0,5,0\n1,6,1\n2,7,1\n")
    assert problem.names == ("column 1", "b")


def test_a_first_line_of_numbers_draws_a_note(read):
    problem = read("0.5,1.5,1\n1,2,0\n2,3,1\n3,4,1\n", "1")
    assert problem.notes == ("The first line of t.csv looks like data; add a header row.",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "t.csv is empty; a table with a header row is needed."),
        (b" \n\r\n", "t.csv is empty; a table with a header row is needed."),
        (b"\x1f", "t.csv is empty; a table with a header row is needed."),
        ("a,b,y\n", "t.csv has a header (line 1), but no rows below it; give a table with rows."),
        ("a,b,y\n\n \n", "t.csv has a header (line 1), but no rows below it; give a table with rows."),
        ("y\n1\n2\n", "t.csv has only the target column 'y'; there is nothing to select."),
        (
            "a,b,y\n1,2,3\n\n1,2\n",
            "t.csv, line 4 has 2 cells, but the header has 3" + RAGGED,
        ),
        (
            "a,b,y\n1,2,3\n1,2,3,4\n",
            "t.csv, line 3 has 4 cells, but the header has 3" + RAGGED,
        ),
        (
            'a,b,y\n"1\n\n2",2,3\n1\n',
            "t.csv, line 5 has 1 cell, but the header has 3" + RAGGED,
        ),
        (
            'a,b,y\n1,2,3\n1,"2,3\n4,5,6\n',
            "t.csv, line 3: a quote is not closed, or not followed by the separator; "
            'write a quote inside a cell as "".',
        ),
        (
            b"a,y\n1,\x00\n",
            "t.csv is not a text table (line 2 holds a zero byte); see fewer help tables.",
        ),
        (b"PK\x03\x04xx", "t.csv cannot be unpacked: it is damaged; copy or pack it again."),
        (b"%PDF-1.7", "t.csv is a PDF document; save the table as CSV."),
        (b"\x1f\x8b\x08\x00junk", "t.csv cannot be unpacked: it is damaged; copy or pack it again."),
        (
            gzip.compress(PLAIN.encode(), mtime=0)[:-9],
            "t.csv cannot be unpacked: it is damaged; copy or pack it again.",
        ),
        ("a,y\n1,0\ninf,1\n", "Column 'a' is infinite in line 3; correct the cell, or clear it if unknown."),
        (
            "a,y\n1,0\n\n2,\n3,NA\n",
            "The target is missing in line 4 and 1 more; fill the cell, delete the row, or skip such rows "
            "(--skip-rows-without-target).",
        ),
        ("a,y\n1,0\n2,0\n", "The target has only one class, 0; at least two are needed."),
        ("a,b,y\n1,x,0\n1,x,1\n", "Every column is constant or empty; at least one must vary."),
        (
            "age,y\n" + "".join(f"{i},{i % 2}\n" for i in range(30)) + "abc,1\n",
            "Column 'age' holds numbers, but line 32 is 'abc'; correct or clear the cell, or make the column "
            "nominal (--nominal age).",
        ),
        (
            "a,y\n" + "".join(f"{i},{i}.5\n" for i in range(30)) + "9,?x\n",
            "Column 'y' holds numbers, but line 32 is '?x'; correct or clear the cell, or give --task classification.",
        ),
    ],
)
def test_refusals_name_the_line_and_the_cure(read, text, message):
    with pytest.raises(InputError) as error:
        read(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("Y", {}, "t.csv has no column 'Y'; did you mean 'y'?"),
        ("outcome", {}, "t.csv has no column 'outcome'; the columns are 'a', 'b', 'y'."),
        (3, {}, "t.csv has no column 3; its 3 columns are numbered 0 to 2, or -3 to -1 from the end."),
        ("y", {"encoding": "nonsense"}, "Encoding 'nonsense' is not known; use for example utf-8, latin-1 or cp1252."),
        ("y", {"memory": 90}, "t.csv needs about 0.3 KiB of memory, but 0.1 KiB is free" + TOO_LARGE),
        ("y", {"memory": 9}, "t.csv needs about 0.0 KiB of memory, but 0.0 KiB is free" + TOO_LARGE),
        ("y", {"nominal": ["c"]}, "nominal names 'c', not a feature; the columns are 'a', 'b', 'y'."),
    ],
)
def test_choices_that_do_not_fit_are_refused(read, target, options, message):
    with pytest.raises(InputError) as error:
        read(PLAIN, target, **options)
    assert str(error.value) == message


def test_a_packed_file_is_not_unpacked_beyond_memory(read):
    bomb = gzip.compress(b"a,y\n" + b"0,1\n" * 100_000, mtime=0)
    with pytest.raises(InputError, match="needs about"):
        read(bomb, memory=len(bomb) + 1000)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("cp1252", "Windows text (cp1252)"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16-LE"), ("utf-16-be", "UTF-16-BE")],
)
def test_encodings_are_guessed_and_reported(encoding, shown, read):
    text = "größe,y\n" + "1,5 €,café\n2,6 €,thé\n".replace(",5", ".5").replace(",6", ".6") * 4
    problem = read(text.encode(encoding))
    assert problem.names == ("größe",)
    assert problem.classes == ("café", "thé")
    assert problem.notes[0] == f"t.csv is read as {shown}, which is a guess; --encoding says otherwise."
    late = b"a,y\n" + b"1,0\n2,1\n" * 200_000 + "3,é\n4,é\n".encode("cp1252")  # beyond the first chunk
    assert "é" in read(late).classes


def test_an_encoding_that_was_asked_for_is_not_guessed(read):
    with pytest.raises(InputError, match="t.csv is not utf-8 text"):
        read("a,y\n1,é\n".encode("cp1252"), encoding="utf-8")


def test_separators_are_found():
    assert find_separator(b"a,b\n1,2\n") == ","
    assert find_separator(b"a\tb c\n1,5\t2\n") == "\t"
    assert find_separator(b'"a;b",c\n"1;2",3\n') == ","
    assert find_separator(b"single\n1\n") == ","
    assert find_separator(b"a b  c\n1 2  3\n 4 5 6\n") == " "
    assert find_separator(b"Report of May\n\na;b\n1,5;2\n2,5;3\n") == ";"


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], include_characters='\n\t,"'), max_size=5)


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 4).flatmap(lambda p: st.lists(st.lists(cells, min_size=p, max_size=p), min_size=1, max_size=6)))
def test_cells_are_those_that_the_csv_module_reads(rows):
    """The fast way, where no quotes are, and the slow way give what Python's own reader gives."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([[f"c{i}" for i in range(len(rows[0]))], *rows])
    records = csv.reader(io.StringIO(file.getvalue(), newline=""))
    expected = [row for row in records if len(row) > 1 or (row and row[0].strip())]
    try:
        sheet = read_text(file.getvalue().encode(), "t.csv", ",", 1, 1 << 40, [])
    except InputError:
        assert len(expected) == 1
        return
    found = [[cell or "" for cell in row] for row in sheet.frame.rows()]
    assert found == expected[1:]
