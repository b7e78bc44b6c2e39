"""Case bases as XML are read as the same table in CSV is."""

import gzip

import numpy as np
import pytest

from fewer.io import read_table
from fewer.io._cbml import is_cbml, read_cbml
from fewer.problem import InputError

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
