"""Files as they come: each gives the problem that the same table gives as CSV."""

import bz2
import functools
import gzip
import http.server
import io
import lzma
import sqlite3
import sys
import threading
import zipfile
from xml.sax.saxutils import escape

import numpy as np
import polars as pl
import pytest

from fewer.cli import main
from fewer.io import read_table
from fewer.io._formats import is_address, is_workbook, unpacked
from fewer.io._source import TextSource, in_chunks, names_many
from fewer.problem import InputError
from making import xlsx

RNG = np.random.default_rng(0)
N = 30
FRAME = pl.DataFrame(
    {
        "size": RNG.normal(size=N).round(3),
        "count": RNG.integers(0, 99, N),
        "color": RNG.choice(["red", "blue"], N),
        "gap": [None if i % 7 == 0 else float(i * i % 11) for i in range(N)],
        "y": ["no", "yes"] * (N // 2),
    }
)
CSV = FRAME.write_csv().encode()


def ods(rows):
    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
        about = f'office:value-type="float" office:value="{value}"'
        return f"<table:table-cell {about}><text:p>{value}</text:p></table:table-cell>"

    body = "".join("<table:table-row>" + "".join(map(cell, row)) + "</table:table-row>" for row in rows)
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name='One'>{body}"
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
        book.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
    return out.getvalue()


def rows():
    return [list(FRAME.columns), *map(list, FRAME.rows())]


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def written(write):
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def stata():
    out = io.BytesIO()
    FRAME.to_pandas().to_stata(out, write_index=False)
    return out.getvalue()


def zstd():
    return pytest.importorskip("zstandard").compress(CSV)


FILES = {
    "t.xlsx": lambda: xlsx({"Data": rows()}),
    "t.ods": lambda: ods(rows()),
    "t.json": lambda: FRAME.write_json().encode(),
    "t.jsonl": lambda: FRAME.write_ndjson().encode(),
    "t.feather": lambda: written(FRAME.write_ipc),
    "t.dta": stata,
    "t.csv.gz": lambda: gzip.compress(CSV),
    "t.csv.bz2": lambda: bz2.compress(CSV),
    "t.csv.xz": lambda: lzma.compress(CSV),
    "t.csv.zst": zstd,
    "t.zip": lambda: zipped({"folder/t.csv": CSV, "__MACOSX/._t.csv": b"x", "folder/.hidden": b"x"}),
    "t.parquet.gz": lambda: gzip.compress(written(FRAME.write_parquet)),
}


def same(problem, other):
    np.testing.assert_array_equal(problem.X, other.X)
    np.testing.assert_array_equal(problem.y, other.y)
    assert (problem.names, problem.kinds, problem.levels, problem.classes) == (
        other.names, other.kinds, other.levels, other.classes,
    )  # fmt: skip


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_bytes(CSV)
    return read_table(path, "y")


def test_a_damaged_packed_text_in_chunks_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    packed = bytearray(gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 500))
    packed[20:24] = b"\xff\xff\xff\xff"
    path.write_bytes(packed)
    with pytest.raises(InputError, match="t.csv.gz cannot be unpacked: it is damaged"):
        TextSource([path])


@pytest.mark.parametrize("name", FILES)
def test_every_file_gives_the_same_problem(name, tmp_path, plain):
    if name.endswith((".xlsx", ".ods")):
        pytest.importorskip("python_calamine")
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    same(read_table(path, "y"), plain)


def test_sheets_by_name_and_number(tmp_path, plain):
    pytest.importorskip("python_calamine")
    path = tmp_path / "t.xlsx"
    path.write_bytes(xlsx({"Empty": [], "About": [["what", "who"], ["a", "b"]], "Data": [["Export"], [], *rows()]}))
    for sheet in ("Data", "3", 3):
        problem = read_table(path, "y", sheet=sheet)
        same(problem, plain)
        assert problem.notes[0] == "The header of t.xlsx is row 3; what stands above it is passed over."
    same(read_table(path, "y", sheet="Data", header=3), plain)
    with pytest.raises(InputError, match="t.xlsx has no sheet 'Dta'; there are 1: 'Empty', 2: 'About', 3: 'Data'."):
        read_table(path, "y", sheet="Dta")
    with pytest.raises(InputError, match="has no column 'y'"):
        read_table(path, "y")  # the first sheet that holds something


def test_the_command_line_reads_and_reduces_the_sheet_that_is_named(tmp_path, capsys):
    pytest.importorskip("python_calamine")
    path, run, out = tmp_path / "t.xlsx", tmp_path / "run", tmp_path / "out.csv"
    path.write_bytes(xlsx({"About": [["what", "who"], ["a", "b"]], "Data": [["Export", "of", "May"], *rows()]}))
    where = ["--sheet", "Data", "--header", "2"]
    select = ["select", str(path), "-t", "y", "--method", "fisher", "-f", "1", "--folds", "0"]
    for command in (
        [*select, "--out", str(run), "--save", str(out), *where],
        ["transform", str(run), str(path), *where],
    ):
        with pytest.raises(SystemExit) as leaving:
            main(command)
        assert not leaving.value.code, capsys.readouterr().err
    chosen = out.read_text().splitlines()
    assert len(chosen) == N + 1
    assert chosen[0].split(",")[0] in FRAME.columns[:4]
    assert capsys.readouterr().out.splitlines()[-N] == chosen[1].split(",")[0]


def databases(tmp_path):
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute('CREATE TABLE "my table" (size REAL, count INTEGER, color TEXT, gap REAL, y TEXT)')
        connection.executemany('INSERT INTO "my table" VALUES (?, ?, ?, ?, ?)', FRAME.rows())
    connection.close()
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute('CREATE TABLE "my table" (size DOUBLE, count INTEGER, color TEXT, gap DOUBLE, y TEXT)')
        connection.executemany('INSERT INTO "my table" VALUES (?, ?, ?, ?, ?)', FRAME.rows())


def test_tables_of_databases_by_their_addresses(tmp_path, plain, monkeypatch):
    databases(tmp_path)
    monkeypatch.chdir(tmp_path)
    addresses = [
        "sqlite:///a.db::my table", f"sqlite:///{tmp_path}/a.db::my table", "a.db", "a.db::my table",
        "a.db::SELECT * FROM \"my table\"", "a.db::SELECT * FROM \"my table\"" + 300 * " ",  # longer than a path may be
        "duckdb:///a.duckdb::my table", "a.duckdb",
    ]  # fmt: skip
    for address in addresses:
        same(read_table(address, "y"), plain)
        assert not in_chunks(address)
        assert not names_many(address)
    with pytest.raises(InputError, match=r"a.db has no table 'people'; name one behind ::, as in a.db::my table"):
        read_table("a.db::people", "y")
    with pytest.raises(InputError, match="File not found: b.db"):
        read_table("sqlite:///b.db::t", "y")


def test_other_databases_are_read_by_sqlalchemy(tmp_path, plain):
    pytest.importorskip("sqlalchemy")
    databases(tmp_path)
    same(read_table(f"sqlite+pysqlite:///{tmp_path}/a.db::my table", "y"), plain)
    with pytest.raises(InputError, match="The database cannot be read"):
        read_table("nosuch://host/db::t", "y")


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = tmp_path / "t.xlsx"
    path.write_bytes(xlsx({"Data": rows()}))
    with pytest.raises(
        InputError, match=r'Excel and OpenDocument files need one more package: pip install "fewer\[excel\]"'
    ):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({"a.csv": CSV, "b.csv": CSV}), r"holds 2 files \(a.csv, b.csv\); pack one table"),
        (zipped({"folder/": b""}), "holds no file"),
        (b'{"a": 1, "y": 0}\n{"a": 2, "y": \n', r"cannot be read \(line 2: Expecting value\); write it again"),
        (b'[{"a": 1, "y": 0},\n{"a": 2 "y": 1}]', r"cannot be read \(line 2: Expecting ',' delimiter\)"),
        (b'{"a": {"0": 1, "1": 2}, "y": {"0": 0, "1": 1}}', "no list of records, as orient='records' of pandas"),
        (b'{\n"columns": ["a", "y"], "data": [[1, 0], [2, 1]]}', "no list of records"),
        (bz2.compress(CSV)[:-9], "cannot be unpacked: it is damaged"),
        (lzma.compress(CSV)[:-9], "cannot be unpacked: it is damaged"),
        (functools.reduce(lambda inner, _: gzip.compress(inner), range(5), CSV), "packed files in packed files"),
        (b'[{"a": 1, ', "cannot be read"),
        (b"ARROW1 but not really", "cannot be read"),
        (b"SQLite format 3\0" + b"x" * 100, "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(content, message, tmp_path):
    path = tmp_path / "t.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read_table(path, "y")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda text: zipped({"t.csv": text})])
def test_a_packed_file_is_not_unpacked_beyond_the_limit(pack):
    packed = pack(b"a,y\n" + b"0,1\n" * 500_000)
    with pytest.raises(InputError, match="t.csv.gz needs about .* of memory, but .* is free"):
        unpacked(packed, "t.csv.gz", 1_500_000)
    assert len(unpacked(packed, "t.csv.gz", 4_000_000)) == 2_000_004


def test_a_small_file_that_becomes_a_large_table_is_refused_before_its_cells_are_cut(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b,y\n" + b"0,1,1\n" * 1_000_000))
    assert path.stat().st_size < 20_000
    with pytest.raises(InputError, match="bomb.csv.gz needs about .* of memory, but 19.1 MiB is free"):
        read_table(path, "y", memory=20_000_000)


def test_what_is_an_address_and_a_workbook(tmp_path):
    assert is_address("postgresql://host/db::t")
    assert not is_address("https://host/t.csv")
    assert not is_address(tmp_path / "t.csv")
    assert is_workbook(xlsx({"Data": rows()}))
    assert not is_workbook(zipped({"t.csv": CSV}))


def test_the_command_line_fetches_a_table_and_reads_addresses(tmp_path, capsys, monkeypatch):
    (tmp_path / "t.csv").write_bytes(CSV)
    databases(tmp_path)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_address[1]}"
        for table in (f"{place}/t.csv", f"sqlite:///{tmp_path}/a.db::my table"):
            with pytest.raises(SystemExit) as leaving:
                main(["rank", table, "-t", "y", "--method", "fisher"])
            assert not leaving.value.code, capsys.readouterr().err
            assert "size" in capsys.readouterr().out
        with pytest.raises(SystemExit) as leaving:
            main(["rank", f"{place}/no.csv", "-t", "y"])
        assert leaving.value.code == 2
        assert "cannot be fetched" in capsys.readouterr().err
        server.shutdown()
    with pytest.raises(InputError, match="File not found"):
        read_table("https://127.0.0.1/t.csv", "y")  # only the command line fetches
