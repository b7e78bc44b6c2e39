"""Tables in other files than text and Parquet: packed ones, workbooks, JSON, Arrow, Stata, databases."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from fewer.io._text import Sheet, sheet_of_rows
from fewer.io.frames import pl
from fewer.io.memory import refuse_too_large
from fewer.problem import InputError

ZIP, ZSTD = b"PK\x03\x04", b"(\xb5/\xfd"
BLOCK = 1 << 20
MOST_LAYERS = 3
"""Files packed in packed files in packed files: more is an accident or an attack."""
BYTES_PER_CELL = 120
"""A cell of a workbook or of a database while it is read, as an object."""
STRANGERS = {
    b"%PDF": "a PDF document; save the table as CSV",
    b"\x93NUMPY": "a NumPy array; give the array to fewer.select, or save it as CSV",
    b"FEA1": "a Feather file of version 1; write it again with a newer Arrow",
}
SEPARATOR = "::"
"""Between the address of a database and the name of a table in it."""


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
            what = "it has a password" if "encrypted" in str(error) else "it is damaged"
            raise InputError(f"{name} cannot be unpacked: {what}; copy or pack it again.") from None
    raise InputError(f"{name} holds packed files in packed files; unpack it.")


def _opened(content: bytes, name: str) -> Callable[[], Any] | None:
    """Return what opens a packed file; None if it is not packed."""
    packed = io.BytesIO(content)
    if content.startswith(b"\x1f\x8b"):
        return lambda: gzip.GzipFile(fileobj=packed)
    if content.startswith(b"BZh"):
        return lambda: bz2.BZ2File(packed)
    if content.startswith(b"\xfd7zXZ"):
        return lambda: lzma.LZMAFile(packed)
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
    while part := file.read(BLOCK):
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
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = list(book.sheet_names)
        chosen = _chosen_sheet(sheet, names, name)
        rows: list[list[Any]] = []
        for one in names if chosen is None else [chosen]:
            rows = book.get_sheet_by_name(one).to_python(skip_empty_area=False)
            if rows:
                break
    except InputError:
        raise
    except Exception as error:  # the library has a class of its own for each fault
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{name} is a workbook that cannot be read ({reason}); save the sheet as CSV.") from None
    refuse_too_large(name, BYTES_PER_CELL * sum(map(len, rows)), limit)
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
    try:
        if content.startswith(b"ARROW1"):
            return _typed(pl.read_ipc(io.BytesIO(content)), name)
        if start.startswith(b"<stata_dta>") or name.lower().endswith(".dta"):
            pandas = needed("pandas", "stata", "Stata files")
            return _typed(pl.from_pandas(pandas.read_stata(io.BytesIO(content))), name)
        if start.startswith((b"[", b"{")) and b'"' in start:
            refuse_too_large(name, 8 * len(content), limit)
            return _typed(_read_json(content, start), name)
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name} cannot be read ({reason}); write it again, or save it as CSV.") from None
    return None


def _read_json(content: bytes, start: bytes) -> pl.DataFrame:
    """Read records: a list of them, or one a line."""
    if start.startswith(b"["):
        return pl.read_json(io.BytesIO(content), infer_schema_length=None)
    return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)


def _typed(frame: pl.DataFrame, name: str) -> Sheet:
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
        SEPARATOR in text and not Path(text).exists() and Path(text.partition(SEPARATOR)[0]).is_file()
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
        with file.open("rb") as opened:
            is_duck = opened.read(12)[8:] == b"DUCK"
        names, rows = _duckdb(file, table, limit) if is_duck else _sqlite(file, table, limit)
    else:
        names, rows = _by_sqlalchemy(place, table, limit)
    if not rows:
        raise InputError(f"{table!r} has no rows; give a table with rows.")
    return sheet_of_rows([list(names), *map(_texts, rows)], table, 1 if header is None else header, [])


Rows = tuple[Sequence[str], list[Any]]


def is_database(content: bytes) -> bool:
    """Say whether a file is a database of SQLite or DuckDB."""
    return content.startswith(b"SQLite format 3\0") or content[8:12] == b"DUCK"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _query(table: str, tables: Sequence[str], place: str, quote: Callable[[str], str] = _quoted) -> str:
    """Return the query that reads a table: the only one, if none is named."""
    if table.lstrip().upper().startswith(("SELECT ", "WITH ")):
        return table
    if not table and len(tables) == 1:
        table = tables[0]
    if table not in tables:
        asked = f"has no table {table!r}" if table else f"holds {len(tables)} tables"
        listed = ", ".join(tables[:12]) or "none"
        example = f"{place}{SEPARATOR}{(*tables, 'people')[0]}"
        raise InputError(f"{place} {asked}; name one behind ::, as in {example} (tables: {listed}).")
    return f"SELECT * FROM {quote(table)}"


def _sqlite(file: Path, table: str, limit: int) -> Rows:
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            tables = [name for (name,) in connection.execute(listed)]
            cursor = connection.execute(_query(table, tables, str(file)))
            return [column[0] for column in cursor.description], _fetched(cursor, str(file), limit)
    except sqlite3.Error as error:
        raise InputError(f"{file} cannot be read ({error}).") from None


def _duckdb(file: Path, table: str, limit: int) -> Rows:
    duckdb = needed("duckdb", "duckdb", "DuckDB files")
    try:
        with duckdb.connect(str(file), read_only=True) as connection:
            listed = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
            found = connection.execute(_query(table, [name for (name,) in listed], str(file)))
            return [column[0] for column in found.description], _fetched(found, str(file), limit)
    except duckdb.Error as error:
        raise InputError(f"{file} cannot be read ({str(error).splitlines()[0]}).") from None


def _by_sqlalchemy(address: str, table: str, limit: int) -> Rows:
    sqlalchemy = needed("sqlalchemy", "database", "Databases")
    try:
        engine = sqlalchemy.create_engine(address)
        with engine.connect() as connection:
            inspector = sqlalchemy.inspect(connection)
            tables = [*inspector.get_table_names(), *inspector.get_view_names()]
            place, quote = engine.url.render_as_string(hide_password=True), engine.dialect.identifier_preparer.quote
            query = _query(table, tables, place, quote)
            found = connection.execute(sqlalchemy.text(query))
            return list(found.keys()), _fetched(found, table, limit)
    except InputError:
        raise
    except Exception as error:  # every driver has classes of its own
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"The database cannot be read ({reason}); check the address and its driver.") from None


def _fetched(cursor: Any, name: str, limit: int) -> list[Any]:
    rows: list[Any] = []
    while part := cursor.fetchmany(10_000):
        rows += part
        refuse_too_large(name, BYTES_PER_CELL * len(rows) * len(rows[0]), limit)
    return rows
