"""Tables in other files than plain text: packed ones, workbooks, JSON, Arrow, Stata, databases, ARFF, CBML."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError, fromstring

import numpy as np

from fewer.io._kinds import short
from fewer.io._text import Sheet, plain_cells, sheet_of_rows
from fewer.io.frames import pl, reading, refuse_repeated_names
from fewer.io.memory import refuse_too_large
from fewer.problem import InputError, IntArray
from fewer.text import counted

_SPACE = re.compile(r"\s*")
ZIP, ZSTD = b"PK\x03\x04", b"(\xb5/\xfd"
SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"  # the latter eight bytes later
BYTES_AT_A_TIME = 1 << 20
# Files packed in packed files in packed files: more is an accident or an attack.
MOST_LAYERS = 3
# A cell of a workbook or of a database while it is read, as an object.
BYTES_OF_OBJECT = 120
STRANGERS = {
    b"%PDF": "a PDF document; save the table as CSV",
    b"\x93NUMPY": "a NumPy array; give the array to fewer.select, or save it as CSV",
    b"<!DOCTYPE HTML": "a web page; download the table itself",
    b"FEA1": "a Feather file of version 1; write it again with a newer Arrow",
}
NO_RECORDS = "it is no list of records, as orient='records' of pandas writes it"
# Between the address of a database and the name of a table in it.
SEPARATOR = "::"


def needed(module: str, extra: str, what: str) -> Any:
    """Import a library that not everybody has, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f'{what} need one more package: pip install "fewer[{extra}]".') from None


# ------------------------------------------------------------------------------------------------ packed files


def unpacked(content: bytes, name: str, limit: int) -> bytes:
    """Unpack a file, however it is packed, but not beyond the limit; others stay as they are.

    Examples
    --------
    >>> unpacked(gzip.compress(b"a,b"), "t.csv.gz", 1000)
    b'a,b'
    """
    for _ in range(MOST_LAYERS):
        opened = _opened(content, name)
        if opened is None:
            return content
        try:
            with opened() as file:
                content = read_limited(file, name, limit)
        except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as error:
            reason = "it has a password" if type(error) is RuntimeError else "it is damaged"
            raise InputError(f"{name} cannot be unpacked: {reason}; copy or pack it again.") from None
    raise InputError(f"{name} holds packed files in packed files; unpack it.")


def _opened(content: bytes, name: str) -> Callable[[], Any] | None:
    """Return what opens a packed file; None if it is not packed."""
    packed = io.BytesIO(content)
    packers: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
    if packer := next((packer for start, packer in packers.items() if content.startswith(start)), None):
        return partial(packer, packed)
    if content.startswith(ZSTD):
        zstandard = needed("zstandard", "zstd", "Files packed by zstd")

        return lambda: zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    if content.startswith(ZIP) and not is_workbook(content):
        with _archive(content, name) as archive:
            tables = [
                entry for entry in archive.infolist()
                if not entry.is_dir() and not entry.filename.startswith("__MACOSX/")
                and not Path(entry.filename).name.startswith(".")
            ]  # fmt: skip
            if len(tables) != 1:
                inside = ", ".join(Path(entry.filename).name for entry in tables[:4])
                many = f"{len(tables)} files ({inside}{', …' * (len(tables) > 4)})" if tables else "no file"
                raise InputError(f"{name} holds {many}; pack one table, or unpack it.")
        return lambda: zipfile.ZipFile(packed).open(tables[0])
    return None


def read_limited(file: IO[bytes], name: str, limit: int) -> bytes:
    """Return all that a file holds, but refuse one that is longer than the limit."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(BYTES_AT_A_TIME):
        parts.append(part)
        size += len(part)
        if size > limit:
            refuse_too_large(name, 2 * limit, limit)
    return b"".join(parts)


def _archive(content: bytes, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError):
        raise InputError(f"{name} cannot be unpacked: it is damaged; copy or pack it again.") from None


# --------------------------------------------------------------------------------------------------- workbooks


def is_workbook(content: bytes) -> bool:
    """Say whether this is a workbook: of Excel or OpenDocument, which are zip archives, or an older one."""
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        return True
    if not content.startswith(ZIP):
        return False
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return False
    return any(name.startswith("xl/") for name in names) or {"mimetype", "content.xml"} <= set(names)


def read_workbook(content: bytes, name: str, sheet: str | int | None, header: int | None, limit: int) -> Sheet:
    """Read one sheet of a workbook: the one that is named, or the first that holds something."""
    calamine = needed("python_calamine", "excel", "Excel and OpenDocument files")
    if content.startswith(ZIP):
        with _archive(content, name) as archive:
            refuse_too_large(name, sum(entry.file_size for entry in archive.infolist()), limit)
    # The library has a class of its own for each fault.
    with reading(f"The workbook {name}", Exception, cure="; save the sheet as CSV"):
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = list(book.sheet_names)
        chosen = _chosen_sheet(sheet, names, name)
        rows: list[list[Any]] = []
        for one in names if chosen is None else [chosen]:
            rows = book.get_sheet_by_name(one).to_python(skip_empty_area=False)
            if rows:
                break
    refuse_too_large(name, BYTES_OF_OBJECT * sum(map(len, rows)), limit)
    notes = []
    if chosen is None and len(names) > 1:
        others = ", ".join(repr(other) for other in names[:6])
        notes.append(f"{name} has {len(names)} sheets ({others}); {one!r} is read. --sheet names another.")
    return sheet_of_rows([_texts(row) for row in rows], name, header, notes)


def _chosen_sheet(sheet: str | int | None, names: list[str], name: str) -> str | None:
    if sheet is None or sheet in names:
        return sheet if isinstance(sheet, str) else None
    try:
        number = int(sheet)
    except ValueError:
        number = 0
    if not 1 <= number <= len(names):
        listed = ", ".join(f"{place}: {one!r}" for place, one in enumerate(names[:12], 1))
        raise InputError(f"{name} has no sheet {sheet!r}; there are {listed}.")
    return names[number - 1]


def _texts(row: Iterable[Any]) -> list[str]:
    return [_text(cell) for cell in row]


def _text(cell: Any) -> str:
    """Write a cell as a text table has it."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime):
        return str(cell.date()) if cell.time() == datetime.min.time() else cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, date) else str(cell)


# ----------------------------------------------------------------------------------------- frames of other kinds


def read_typed(content: bytes, name: str, limit: int) -> Sheet | None:
    """Read a file whose columns have types: Arrow, JSON, Stata. None if it is none of these."""
    start = content[:256].lstrip()
    with reading(name, Exception, cure="; write it again, or save it as CSV"):
        if content.startswith(b"ARROW1"):
            return typed_sheet(pl.read_ipc(io.BytesIO(content)), name)
        if start.startswith(b"<stata_dta>") or name.lower().endswith(".dta"):
            pandas = needed("pandas", "stata", "Stata files")
            return typed_sheet(pl.from_pandas(pandas.read_stata(io.BytesIO(content))), name)
        if start.startswith((b"[", b"{")) and b'"' in start:
            refuse_too_large(name, 8 * len(content), limit)
            return typed_sheet(_records_of(content), name)
    return None


def _records_of(content: bytes) -> pl.DataFrame:
    """Read a list of records, or one a line; the error says the line that is no JSON, or that there are no records."""
    is_list = content.lstrip().startswith(b"[")
    try:
        frame = (pl.read_json if is_list else pl.read_ndjson)(io.BytesIO(content), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        text, at = content.decode(errors="replace").rstrip(), 0
        try:
            while at < len(text):
                at = json.JSONDecoder().raw_decode(text, next(_SPACE.finditer(text, at)).end())[1]
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: {error.msg}") from None
        raise ValueError(NO_RECORDS) from None
    if frame.height == 1 and any(dtype.is_nested() for dtype in frame.dtypes):
        raise ValueError(NO_RECORDS)
    return frame


def typed_sheet(frame: pl.DataFrame, name: str) -> Sheet:
    """Return a table whose columns have types already; refuse one without columns or rows."""
    if not frame.width or not frame.height:
        raise InputError(f"{name} has no {'columns' if not frame.width else 'rows'}; give a table with rows.")
    return Sheet(frame)


# --------------------------------------------------------------------------------------------------- databases


def is_address(path: Path | str) -> bool:
    """Say whether this names a table of a database: an address, or a file of one with the table behind `::`.

    Examples
    --------
    >>> is_address("sqlite:///a.db::people"), is_address("a.csv")
    (True, False)
    """
    text = str(path)
    return ("://" in text and not text.startswith(("http://", "https://"))) or (
        SEPARATOR in text and not os.path.exists(text) and Path(text.partition(SEPARATOR)[0]).is_file()
    )


def read_database(address: str, header: int | None, limit: int) -> Sheet:
    """Read a table of a database: SQLite, DuckDB, or another by SQLAlchemy.

    What stands behind `::` is the name of a table, or a query that begins with SELECT.
    """
    place, _, table = address.partition(SEPARATOR)
    scheme, mark, rest = place.partition("://")
    file = Path(rest.removeprefix("/") if mark else place)
    if not mark or scheme in ("sqlite", "duckdb"):
        if not file.is_file():
            raise InputError(f"File not found: {file}; check the path.")
        names, rows = _of_file(file, table, limit)
    else:
        names, rows = _by_sqlalchemy(place, table, limit)
    if not rows:
        raise InputError(f"{table!r} has no rows; give a table with rows.")
    return sheet_of_rows([list(names), *map(_texts, rows)], table, 1 if header is None else header, [])


Rows = tuple[Sequence[str], list[Any]]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _query(table: str, tables: Sequence[str], place: str, quote: Callable[[str], str] = _quoted) -> str:
    """Return the query that reads a table: the only one, if none is named."""
    if table.lstrip().upper().startswith(("SELECT ", "WITH ")):
        return table
    if not table and len(tables) == 1:
        table = tables[0]
    if table not in tables:
        reason = f"has no table {table!r}" if table else f"holds {len(tables)} tables"
        listed = ", ".join(tables[:12]) or "none"
        example = f"{place}{SEPARATOR}{(*tables, 'people')[0]}"
        raise InputError(f"{place} {reason}; name one behind ::, as in {example} (tables: {listed}).")
    return f"SELECT * FROM {quote(table)}"


def _of_file(file: Path, table: str, limit: int) -> Rows:
    """Read a table of a file of DuckDB or SQLite."""
    with file.open("rb") as opened:
        is_duck = opened.read(12)[8:] == DUCKDB
    library: Any = needed("duckdb", "duckdb", "DuckDB files") if is_duck else import_module("sqlite3")
    if is_duck:
        listed, connect = "SELECT table_name FROM information_schema.tables", partial(library.connect, read_only=True)
    else:
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        connect = partial(library.connect, uri=True)
    address = str(file) if is_duck else f"{file.absolute().as_uri()}?mode=ro"
    with reading(str(file), library.Error), closing(connect(address)) as connection:
        tables = [name for (name,) in connection.execute(listed).fetchall()]
        cursor = connection.execute(_query(table, tables, str(file)))
        return [column[0] for column in cursor.description], _fetched(cursor, str(file), limit)


def _by_sqlalchemy(address: str, table: str, limit: int) -> Rows:
    sqlalchemy = needed("sqlalchemy", "database", "Databases")
    # Every driver has errors of its own.
    with reading("The database", Exception, cure="; check the address and its driver"):
        engine = sqlalchemy.create_engine(address)
        with engine.connect() as connection:
            inspector = sqlalchemy.inspect(connection)
            tables = [*inspector.get_table_names(), *inspector.get_view_names()]
            place, quote = engine.url.render_as_string(hide_password=True), engine.dialect.identifier_preparer.quote
            result = connection.execute(sqlalchemy.text(_query(table, tables, place, quote)))
            return list(result.keys()), _fetched(result, table, limit)


def _fetched(cursor: Any, name: str, limit: int) -> list[Any]:
    rows: list[Any] = []
    while part := cursor.fetchmany(10_000):
        rows += part
        refuse_too_large(name, BYTES_OF_OBJECT * len(rows) * len(rows[0]), limit)
    return rows


# ------------------------------------------------------------------------------------------- ARFF (WEKA)

# A token: quoted by ' or " with \ before a quote inside, or bare up to a separator.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ARFF_CELL = re.compile(rf"\s*({_QUOTED}|[^,'\"{{}}%]*?)\s*(,|$)")
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
    """Return whether a text is ARFF, by its name or its first word."""
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
            attributes.append(_arff_attribute(line, where))
        elif word == "@data" and attributes:
            refuse_repeated_names([attribute.name for attribute in attributes], f"{name}: ")
            return attributes, number, content[start:]
        elif word != "@relation" and word != "@data" and not word.startswith("%"):
            raise InputError(f"{where}: {short(line, 40)!r} is no ARFF declaration; @attribute or @data is expected.")
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
            rows.append(_arff_row(line, attributes, f"{name}, line {number + n_header_lines}"))
            numbers.append(number)
    if not rows:
        raise InputError(f"{name} has no rows below @data; give a table with rows.")
    schema = {attribute.name: pl.String for attribute in attributes}
    return pl.DataFrame(rows, schema=schema, orient="row"), np.array(numbers, dtype=np.int64)


def _arff_attribute(line: str, where: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise InputError(f"{where}: {short(line, 40)!r} is not '@attribute NAME TYPE'.")
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        inside = re.match(r"\{(.*)\}\s*(?:%.*)?$", kind)
        if inside is None:
            raise InputError(f"{where}: the levels of {name!r} have no closing brace.")
        return Attribute(name, "nominal", tuple(cell or "" for cell in _arff_cells(inside[1], where)))
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
    raise InputError(f"{where}: attribute {name!r} is of type {short(kind, 40)!r}, which is not read; drop it.")


def _arff_row(line: str, attributes: list[Attribute], where: str) -> list[str | None]:
    if line.startswith("{"):
        return _sparse_row(line, attributes, where)
    cells = _arff_cells(line, where)
    if len(cells) != len(attributes):
        there = counted(len(cells), "cell")
        raise InputError(f"{where} has {there}, but {len(attributes)} attributes are declared; correct the line.")
    return cells


def _arff_cells(text: str, where: str) -> list[str | None]:
    if "'" not in text and '"' not in text and "%" not in text and "{" not in text:
        return [_arff_value(cell.strip()) for cell in text.split(",")]
    cells: list[str | None] = []
    at = 0
    while True:
        match = _ARFF_CELL.match(text, at)
        if match is None:
            raise InputError(f"{where}: a quote is not closed, or a cell with a comma, % or brace is not quoted.")
        cells.append(_arff_value(match[1]))
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
            raise InputError(f"{where}: {short(text[at:].strip(), 40)!r} is not 'NUMBER VALUE' in a sparse row.")
        column = int(match[1])
        if column >= len(attributes):
            raise InputError(
                f"{where}: the sparse row names attribute {column}, but the last is {len(attributes) - 1}."
            )
        row[column] = _arff_value(match[2])
        at = match.end()
    return row


def _arff_value(cell: str) -> str | None:
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
            fault = "not a number"
        elif attribute.kind == "nominal":
            wrong = ~column.is_in(list(attribute.levels)) & column.is_not_null()
            fault = "none of its levels"
        else:
            continue
        if wrong.any():
            row = int(wrong.arg_true()[0])
            raise InputError(
                f"{name}, line {lines[row]}: {column[row]!r} in attribute {attribute.name!r} is {fault}; "
                "correct the cell or the declaration."
            )


# ---------------------------------------------------------------------------- CBML (case bases in XML)

CASE = "case"
# The column that holds the names of the cases, where they have any.
NAME = "case name"

_CASE_BASE = re.compile(rb"\s*(<\?xml[^>]*\?>\s*|<!--.*?-->\s*)*<(?:\w+:)?casebase[\s>/]", re.DOTALL)


def is_cbml(content: bytes, name: str) -> bool:
    """Return whether a text is CBML, by its name or its first element.

    Examples
    --------
    >>> is_cbml(b'<?xml version="1.0"?><casebase name="pets">', "pets.xml"), is_cbml(b"a,b", "pets.csv")
    (True, False)
    """
    return name.lower().removesuffix(".gz").endswith(".cbml") or _CASE_BASE.match(content[:65536]) is not None


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
    root = _parsed_xml(content, name)
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


def _parsed_xml(content: bytes, name: str) -> Element:
    # Entities are of no use in data, and some of them grow without end.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError(f"{name} declares a document type or entities, which are not read; take them out.")
    try:
        return fromstring(content)
    except ParseError as error:
        raise InputError(f"{name} is not well-formed XML ({error}); a CBML case base is expected.") from None


def _cells_of_case(case: Element, where: str, above: str = "") -> dict[str, str | None]:
    """Return the values of the features of a case, those of groups under their paths."""
    cells: dict[str, str | None] = {}
    for element in case:
        path = above + _tag(element)
        text = (element.text or "").strip() or None
        inside = _cells_of_case(element, where, f"{path}/") if len(element) else {path: text}
        twice = next((column for column in inside if column in cells), None)
        if twice is not None:
            raise InputError(f"{where}: feature {twice!r} stands there twice; a table has one value in a cell.")
        cells |= inside
    return cells


def _tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]
