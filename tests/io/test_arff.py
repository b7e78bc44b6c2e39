import gzip

import numpy as np
import pytest
from scipy.io import arff as scipy_arff

from fewer.io import read_table
from fewer.io._formats import is_cbml, read_cbml
from fewer.problem import InputError

HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c {no,yes}\n@data\n"
REPAIR = "; correct the cell or the declaration."


@pytest.fixture
def read(tmp_path):
    def read(text, target=-1, name="t.arff", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_table(path, target, **options)

    return read


def test_a_table_with_all_that_the_format_has(read):
    problem = read(
        """% a comment
@RELATION 'a relation'

@attribute   'long name'  REAL
@Attribute "it's" {red, 'dark blue', "gr\\"een", 'a,b'}  % trailing words
@attribute code {1,2,10}
@attribute flag {true, FALSE}
@attribute free string
@attribute when date "yyyy-MM-dd"
@attribute n integer
@attribute class {no,yes}
@DATA
% another
1.5,'dark blue',10,true,'some text',2026-01-31,3,no
?, "gr\\"een", 2, FALSE, other, ?, -4, yes

1e3,'a,b',?,?,'?',1970-01-02,5,'yes'
"""
    )
    assert problem.names == ("long name", "it's", "code", "flag", "free", "when", "n")
    assert problem.kinds == ("numeric", "nominal", "nominal", "boolean", "nominal", "numeric", "numeric")
    assert problem.levels == {1: ("a,b", "dark blue", 'gr"een'), 2: ("2", "10"), 4: ("?", "other", "some text")}
    nan = np.nan
    expected = [[1.5, 1, 1, 1, 2, 20484, 3], [nan, 2, 0, 0, 1, nan, -4], [1000, 0, nan, nan, 0, 1, 5]]
    np.testing.assert_array_equal(problem.X, expected)
    assert problem.classes == ("no", "yes")


def test_rows_with_and_without_quotes_are_read_alike(read):
    rows = "1, x , no\n\n ?,y,yes\n3.5,?,yes\n"
    plain, careful = read(HEADER + rows), read(HEADER + "% words\n" + rows)
    np.testing.assert_array_equal(plain.X, careful.X)
    np.testing.assert_array_equal(plain.X, [[1, 0], [np.nan, 1], [3.5, np.nan]])
    assert plain.y.tolist() == careful.y.tolist() == [0, 1, 1]
    for extra, line in (("", 9), ("% words\n", 10)):
        with pytest.raises(InputError, match=f"t.arff, line {line}: 'z' in attribute 'b'"):
            read(HEADER + extra + rows.replace("3.5,?", "3.5,z"))


def test_sparse_rows(read):
    problem = read(HEADER + "{}\n{0 2.5, 2 yes}\n{ 1 y , 2 'yes' } % words\n1,?,no\n")
    nan = np.nan
    np.testing.assert_array_equal(problem.X, [[0, 0], [2.5, 0], [0, 1], [1, nan]])
    assert problem.y.tolist() == [0, 1, 1, 0]


def test_the_content_tells_and_a_target_can_stand_anywhere(read):
    text = HEADER + "1,x,no\n2,y,yes\n3,x,yes\n"
    assert read(text, target="b", name="t.txt").names == ("a", "c")


def test_declared_levels_can_be_overruled(read):
    text = "@relation r\n@attribute a {1,2,3}\n@attribute b numeric\n@attribute c {0,1}\n@data\n1,7,0\n2,8,1\n3,9,1\n"
    assert read(text).kinds == ("nominal", "numeric")
    assert read(text).classes == (0, 1)
    assert read(text, numeric=["a"], nominal=["b"]).kinds == ("numeric", "nominal")


def test_scipy_reads_the_same_numbers(read, tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(
        f"{x!r},{y!r},{'xy'[k]}\n"
        for x, y, k in zip(*rng.normal(size=(2, 50)).tolist(), rng.integers(0, 2, 50), strict=True)
    )
    text = "@relation r\n@attribute a numeric\n@attribute b real\n@attribute c {x,y}\n@data\n" + rows
    problem = read(text)
    data, _ = scipy_arff.loadarff(tmp_path / "t.arff")
    np.testing.assert_array_equal(problem.X, np.column_stack([data["a"], data["b"]]))
    assert [problem.classes[code].encode() for code in problem.y] == data["c"].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "t.arff has no rows below @data; give a table with rows."),
        ("@relation r\n@attribute a numeric\n", "t.arff has no @data line; is it an ARFF file?"),
        ("@relation r\n@data\n", "t.arff has no @attribute line; is it an ARFF file?"),
        (HEADER + "\n% only words\n", "t.arff has no rows below @data; give a table with rows."),
        ("1,2\n", "t.arff, line 1: '1,2' is no ARFF declaration; @attribute or @data is expected."),
        (HEADER + "1,x,no\n2,y\n", "t.arff, line 7 has 2 cells, but 3 attributes are declared; correct the line."),
        (HEADER + "one,x,no\n", "t.arff, line 6: 'one' in attribute 'a' is not a number" + REPAIR),
        (HEADER + "1,z,no\n", "t.arff, line 6: 'z' in attribute 'b' is none of its levels" + REPAIR),
        (
            HEADER + "1,'x,no\n",
            "t.arff, line 6: a quote is not closed, or a cell with a comma, % or brace is not quoted.",
        ),
        (HEADER + "{0 1, 7 x}\n", "t.arff, line 6: the sparse row names attribute 7, but the last is 2."),
        (HEADER + "{0 1, x}\n", "t.arff, line 6: 'x' is not 'NUMBER VALUE' in a sparse row."),
        (HEADER + "{0 1\n", "t.arff, line 6: the sparse row has no closing brace."),
        (
            HEADER.replace("@attribute b", "@attribute a"),
            "t.arff: 2 columns are named 'a'; give every column a unique name.",
        ),
        ("@relation r\n@attribute a {x\n", "t.arff, line 2: the levels of 'a' have no closing brace."),
        (
            "@relation r\n@attribute a relational\n",
            "t.arff, line 2: attribute 'a' is of type 'relational', which is not read; drop it.",
        ),
        (
            '@relation r\n@attribute a date "dd.MM.yy"\n',
            "t.arff, line 2: the dates of 'a' are written as 'dd.MM.yy'; write them as yyyy-MM-dd, or as numbers.",
        ),
        (
            HEADER + "1,x,no\n\n2,y,?\n",
            "The target is missing in line 8; fill the cell, delete the row, or skip such rows "
            "(--skip-rows-without-target).",
        ),
        ("", "t.arff has no @attribute line; is it an ARFF file?"),
    ],
)
def test_refusals_name_the_line_and_the_cure(read, text, message):
    with pytest.raises(InputError) as error:
        read(text)
    assert str(error.value) == message


HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<!-- drawn -->\n'


def written(rows, names=None):
    cases = []
    for number, row in enumerate(rows):
        name = "" if names is None else f' name="{names[number]}"'
        cells = "".join(f"<{column}>{value}</{column}>" for column, value in row.items() if value is not None)
        cases.append(f"<case{name}>{cells}</case>")
    return HEAD + f'<casebase name="d">{"".join(cases)}</casebase>'.encode()


def test_a_case_base_is_the_table_that_csv_gives(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = [
        {
            "a": f"{rng.normal() + 2 * c:.3f}",
            "b": f"{rng.normal():.3f}",
            "kind": "xyz"[int(rng.integers(3))],
            "y": "np"[c],
        }
        for c in y
    ]
    rows[4]["b"] = None
    (tmp_path / "t.cbml").write_bytes(written(rows))
    (tmp_path / "t.xml.gz").write_bytes(gzip.compress(written(rows)))
    lines = [",".join(rows[0])] + [",".join(v or "" for v in row.values()) for row in rows]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    csv, *others = (read_table(tmp_path / f"t.{end}", "y") for end in ("csv", "cbml", "xml.gz"))
    for other in others:
        np.testing.assert_array_equal(other.X, csv.X)
        np.testing.assert_array_equal(other.y, csv.y)
        assert (other.names, other.kinds, other.classes) == (csv.names, csv.kinds, csv.classes)
    assert np.isnan(csv.X).sum() == 1


def test_names_groups_namespaces_and_what_is_left_out():
    text = (
        b'<c:casebase xmlns:c="u"><c:case name="first"><c:owner><c:age>41</c:age><c:town/></c:owner></c:case>'
        b"<c:case><c:price> 3 </c:price></c:case></c:casebase>"
    )
    assert is_cbml(text, "x.xml")
    sheet = read_cbml(text, "x.xml")
    assert sheet.frame.columns == ["case name", "owner/age", "owner/town", "price"]
    assert sheet.frame.rows() == [("first", "41", None, None), (None, None, None, "3")]
    assert sheet.place(1) == "case 2"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"<casebase><case><a>1</a></case>", "x.cbml is not well-formed XML"),
        (b"<cases/>", "x.cbml begins with <cases>"),
        (b"<casebase/>", "x.cbml has no <case>"),
        (b"<casebase><case/></casebase>", "x.cbml has cases without any feature"),
        (b"<casebase><case><a>1</a><a>2</a></case></casebase>", "x.cbml, case 1: feature 'a' stands there twice"),
        (b'<!DOCTYPE x [<!ENTITY e "1">]><casebase/>', "x.cbml declares a document type"),
    ],
)
def test_what_is_no_case_base_is_refused_in_one_line(tmp_path, text, told):
    (tmp_path / "x.cbml").write_bytes(text)
    with pytest.raises(InputError) as error:
        read_table(tmp_path / "x.cbml", "y")
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_text_tables_are_not_taken_for_case_bases():
    assert not is_cbml(b"a,b\n<casebase>,1\n", "t.csv")
    assert not is_cbml(b"<casebases>", "t.txt")
