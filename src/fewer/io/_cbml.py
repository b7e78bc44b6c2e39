"""CBML, case bases as XML (Coyle, Hayes and Cunningham, 2003): the format of the data behind Loughrey's thesis.

A `<casebase>` holds `<case name="…">` elements; inside a case each element is a feature with its value as text, and an
element with elements inside groups features. What type a feature has stands in another file, so that cells are
understood as those of any text table. A feature that a case leaves out, or leaves empty, is missing there.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ParseError, fromstring

from fewer.io._polars import pl
from fewer.io._text import Sheet
from fewer.problem import InputError

CASE = "case"
NAME = "case name"
"""The column that holds the names of the cases, where they have any."""

_FIRST = re.compile(rb"\s*(<\?xml[^>]*\?>\s*|<!--.*?-->\s*)*<(?:\w+:)?casebase[\s>/]", re.DOTALL)


def is_cbml(content: bytes, name: str) -> bool:
    """Tell CBML from other text by its name or by its first element.

    Examples
    --------
    >>> is_cbml(b'<?xml version="1.0"?><casebase name="pets">', "pets.xml"), is_cbml(b"a,b", "pets.csv")
    (True, False)
    """
    return name.lower().removesuffix(".gz").endswith(".cbml") or _FIRST.match(content[:65536]) is not None


def read_cbml(content: bytes, name: str) -> Sheet:
    """Read a case base: a row for each case, a column for each feature in the order of their first appearance.

    A feature inside a group is named by its path, such as `owner/age`. Where cases have names, they are the column
    `case name`.

    Examples
    --------
    >>> first, second = b'<case name="a"><x>4</x></case>', b'<case name="b"><x>2</x><y>owl</y></case>'
    >>> text = b"<casebase>" + first + second + b"</casebase>"
    >>> read_cbml(text, "pets.cbml").frame.rows()
    [('a', '4', None), ('b', '2', 'owl')]
    """
    root = _parsed(content, name)
    if _tag(root) != "casebase":
        raise InputError(f"{name} begins with <{_tag(root)}>; a CBML case base begins with <casebase>.")
    cases = [element for element in root if _tag(element) == CASE]
    if not cases:
        raise InputError(f"{name} has no <case>; give a case base with cases.")
    rows = [_cells(case, f"{name}, case {number}") for number, case in enumerate(cases, 1)]
    columns = dict.fromkeys(column for row in rows for column in row)
    if not columns:
        raise InputError(f"{name} has cases without any feature inside.")
    named = any(case.get("name") for case in cases)
    if named and NAME in columns:
        raise InputError(f"{name} has cases with a name and a feature {NAME!r}; rename the feature.")
    cells: dict[str, list[str | None]] = {NAME: [case.get("name") for case in cases]} if named else {}
    cells |= {column: [row.get(column) for row in rows] for column in columns}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String))
    return Sheet(frame, lambda row: f"case {row + 1}", is_text=True)


def _parsed(content: bytes, name: str) -> Element:
    # Entities are of no use in data, and some of them grow without end.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError(f"{name} declares a document type or entities, which are not read; take them out.")
    try:
        return fromstring(content)
    except ParseError as error:
        raise InputError(f"{name} is not well-formed XML ({error}); a CBML case base is expected.") from None


def _cells(case: Element, where: str, above: str = "") -> dict[str, str | None]:
    """Return the values of the features of a case, those of groups under their paths."""
    found: dict[str, str | None] = {}
    for element in case:
        path = above + _tag(element)
        inside = _cells(element, where, f"{path}/") if len(element) else {path: (element.text or "").strip() or None}
        twice = next((column for column in inside if column in found), None)
        if twice is not None:
            raise InputError(f"{where}: feature {twice!r} stands there twice; a table has one value in a cell.")
        found |= inside
    return found


def _tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]
