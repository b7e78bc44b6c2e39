"""Tables as ARFF (WEKA) and CBML (case bases in XML)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

import numpy as np

from fewer.io._text import Sheet, plain_cells
from fewer.io.frames import pl, refuse_repeated_names
from fewer.problem import InputError, IntArray

# A token: quoted by ' or " with \ before a quote inside, or bare up to a separator.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CELL = re.compile(rf"\s*({_QUOTED}|[^,'\"{{}}%]*?)\s*(,|$)")
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"{{}}%\s]+)\s*(,|$)")
_ATTRIBUTE = re.compile(rf"(?i)@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)$")
_ISO_FORMATS = ("", "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd HH:mm:ss")
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A declared column; the levels of a nominal one."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()

    @property
    def zero(self) -> str:
        """What a sparse row means by leaving the column out."""
        return self.levels[0] if self.kind == "nominal" else "0"


def is_arff(content: bytes, name: str) -> bool:
    """Tell ARFF from other text by its name or by its first word."""
    if name.lower().removesuffix(".gz").endswith(".arff"):
        return True
    first = next((line for line in content[:65536].splitlines() if line.strip() and not line.startswith(b"%")), b"")
    return first.strip().lower().startswith(b"@relation")


def read_arff(content: bytes, name: str) -> Sheet:
    r"""Read an ARFF table: its columns as text, nominal as declared.

    Examples
    --------
    >>> text = b"@relation r\n@attribute 'a b' numeric\n@attribute c {x,y}\n@data\n1.5,x\n{1 y}\n"
    >>> read_arff(text, "r.arff").frame.rows()
    [('1.5', 'x'), ('0', 'y')]
    """
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    attributes, n_header_lines, data = _declarations(content, name)
    if not data.strip():
        raise InputError(f"{name} has no rows below @data; give a table with rows.")
    frame, numbers = _plain_rows(data, attributes, name) or _parsed_rows(data, attributes, n_header_lines, name)
    lines = numbers + n_header_lines
    _refuse_wrong_cells(frame, attributes, lines, name)
    nominal = tuple(a.name for a in attributes if a.kind in ("nominal", "string") and not _is_boolean(a))
    return Sheet(frame, lambda row: f"line {lines[row]}", nominal=nominal, is_text=True, missing=())


def _declarations(content: bytes, name: str) -> tuple[list[Attribute], int, bytes]:
    """Return the attributes, how many lines they and @data take, and what follows."""
    attributes: list[Attribute] = []
    start = number = 0
    while start < len(content):
        end = content.find(b"\n", start) % (len(content) + 1)
        line = content[start:end].decode().strip()
        start, number = end + 1, number + 1
        word = line.split(None, 1)[0].lower() if line else "%"
        where = f"{name}, line {number}"
        if word == "@attribute":
            attributes.append(_attribute(line, where))
        elif word == "@data" and attributes:
            refuse_repeated_names([attribute.name for attribute in attributes], f"{name}: ")
            return attributes, number, content[start:]
        elif word != "@relation" and word != "@data" and not word.startswith("%"):
            raise InputError(f"{where}: {_short(line)} is no ARFF declaration; @attribute or @data is expected.")
    raise InputError(f"{name} has no {'@data' if attributes else '@attribute'} line; is it an ARFF file?")


def _plain_rows(data: bytes, attributes: list[Attribute], name: str) -> tuple[pl.DataFrame, IntArray] | None:
    """Cut rows at their commas, if there is nothing in them that needs more care."""
    if any(letter in data for letter in b"'\"{}%\\"):
        return None
    try:
        cells, lines = plain_cells(data, 0, ",", [a.name for a in attributes], name)
    except InputError:
        return None
    cell = pl.all().str.strip_chars()
    return cells.select(pl.when(~cell.is_in(["?", ""])).then(cell)), lines


def _parsed_rows(
    data: bytes, attributes: list[Attribute], n_header_lines: int, name: str
) -> tuple[pl.DataFrame, IntArray]:
    rows: list[list[str | None]] = []
    numbers: list[int] = []
    for number, raw in enumerate(data.decode().split("\n"), 1):
        line = raw.strip()
        if line and not line.startswith("%"):
            rows.append(_row(line, attributes, f"{name}, line {number + n_header_lines}"))
            numbers.append(number)
    if not rows:
        raise InputError(f"{name} has no rows below @data; give a table with rows.")
    schema = {attribute.name: pl.String for attribute in attributes}
    return pl.DataFrame(rows, schema=schema, orient="row"), np.array(numbers, dtype=np.int64)


def _attribute(line: str, where: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise InputError(f"{where}: {_short(line)} is not '@attribute NAME TYPE'.")
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        inside = re.match(r"\{(.*)\}\s*(?:%.*)?$", kind)
        if inside is None:
            raise InputError(f"{where}: the levels of {name!r} have no closing brace.")
        return Attribute(name, "nominal", tuple(cell or "" for cell in _cells(inside[1], where)))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in (*_NUMERIC, "string"):
        return Attribute(name, "numeric" if word in _NUMERIC else "string")
    if word == "date":
        pattern = _unquote(kind[4:].strip())
        if pattern not in _ISO_FORMATS:
            raise InputError(
                f"{where}: the dates of {name!r} are written as {pattern!r}; write them as yyyy-MM-dd, or as numbers."
            )
        return Attribute(name, "date")
    raise InputError(f"{where}: attribute {name!r} is of type {_short(kind)}, which is not read; drop it.")


def _row(line: str, attributes: list[Attribute], where: str) -> list[str | None]:
    if line.startswith("{"):
        return _sparse_row(line, attributes, where)
    cells = _cells(line, where)
    if len(cells) != len(attributes):
        raise InputError(
            f"{where} has {len(cells)} cell{'s' * (len(cells) != 1)}, but {len(attributes)} attributes are declared; "
            "correct the line."
        )
    return cells


def _cells(text: str, where: str) -> list[str | None]:
    if "'" not in text and '"' not in text and "%" not in text and "{" not in text:
        return [_value(cell.strip()) for cell in text.split(",")]
    cells: list[str | None] = []
    at = 0
    while True:
        match = _CELL.match(text, at)
        if match is None:
            raise InputError(f"{where}: a quote is not closed, or a cell with a comma, % or brace is not quoted.")
        cells.append(_value(match[1]))
        at = match.end()
        if not match[2]:
            return cells


def _sparse_row(line: str, attributes: list[Attribute], where: str) -> list[str | None]:
    row: list[str | None] = [attribute.zero for attribute in attributes]
    inside = re.match(r"\{(.*)\}\s*(?:%.*)?$", line)
    if inside is None:
        raise InputError(f"{where}: the sparse row has no closing brace.")
    text, at = inside[1].strip(), 0
    while at < len(text):
        match = _SPARSE_CELL.match(text, at)
        if match is None:
            raise InputError(f"{where}: {_short(text[at:].strip())} is not 'NUMBER VALUE' in a sparse row.")
        column = int(match[1])
        if column >= len(attributes):
            raise InputError(
                f"{where}: the sparse row names attribute {column}, but the last is {len(attributes) - 1}."
            )
        row[column] = _value(match[2])
        at = match.end()
    return row


def _value(cell: str) -> str | None:
    """A bare ? is missing, a quoted one is a level."""
    return None if cell in ("?", "") else _unquote(cell)


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _is_boolean(attribute: Attribute) -> bool:
    return bool(attribute.levels) and {level.lower() for level in attribute.levels} <= {"true", "false"}


def _refuse_wrong_cells(frame: pl.DataFrame, attributes: list[Attribute], lines: IntArray, name: str) -> None:
    for attribute in attributes:
        column = frame[attribute.name]
        if attribute.kind == "numeric":
            wrong: Any = column.cast(pl.Float64, strict=False).is_null() & column.is_not_null()
            what = "not a number"
        elif attribute.kind == "nominal":
            wrong = ~column.is_in(list(attribute.levels)) & column.is_not_null()
            what = "none of its levels"
        else:
            continue
        if wrong.any():
            row = int(wrong.arg_true()[0])
            raise InputError(
                f"{name}, line {lines[row]}: {column[row]!r} in attribute {attribute.name!r} is {what}; "
                "correct the cell or the declaration."
            )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


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
    rows = [_cells_of_case(case, f"{name}, case {number}") for number, case in enumerate(cases, 1)]
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


def _cells_of_case(case: Element, where: str, above: str = "") -> dict[str, str | None]:
    """Return the values of the features of a case, those of groups under their paths."""
    found: dict[str, str | None] = {}
    for element in case:
        path = above + _tag(element)
        inside = (
            _cells_of_case(element, where, f"{path}/") if len(element) else {path: (element.text or "").strip() or None}
        )
        twice = next((column for column in inside if column in found), None)
        if twice is not None:
            raise InputError(f"{where}: feature {twice!r} stands there twice; a table has one value in a cell.")
        found |= inside
    return found


def _tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]
