"""ARFF, the format of WEKA and OpenML: declared attributes, dense or sparse rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from fewer.io._names import refuse_repeated_names
from fewer.io._text import Sheet
from fewer.problem import InputError

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
    attributes: list[Attribute] = []
    rows: list[list[str | None]] = []
    lines: list[int] = []
    in_data = False
    for number, raw in enumerate(content.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        where = f"{name}, line {number}"
        if in_data:
            rows.append(_row(line, attributes, where))
            lines.append(number)
        elif (word := line.split(None, 1)[0].lower()) == "@attribute":
            attributes.append(_attribute(line, where))
        elif word == "@data":
            in_data = True
            refuse_repeated_names([attribute.name for attribute in attributes], f"{name}: ")
        elif word != "@relation":
            raise InputError(f"{where}: {_short(line)} is no ARFF declaration; @attribute or @data is expected.")
    if not attributes or not in_data:
        raise InputError(f"{name} has no {'@data' if attributes else '@attribute'} line; is it an ARFF file?")
    if not rows:
        raise InputError(f"{name} has no rows below @data; give a table with rows.")
    names = [attribute.name for attribute in attributes]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    _refuse_wrong_cells(frame, attributes, lines, name)
    nominal = tuple(a.name for a in attributes if a.kind in ("nominal", "string") and not _is_boolean(a))
    return Sheet(frame, lambda row: f"line {lines[row]}", nominal=nominal, is_text=True, missing=())


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
    raise InputError(f"{where}: attribute {name!r} is of type {_short(kind)}, which is not read; leave it out.")


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


def _refuse_wrong_cells(frame: pl.DataFrame, attributes: list[Attribute], lines: list[int], name: str) -> None:
    for attribute in attributes:
        column = frame[attribute.name]
        if attribute.kind == "numeric":
            wrong: Any = column.cast(pl.Float64, strict=False).is_null() & column.is_not_null()
            what = "no number"
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
