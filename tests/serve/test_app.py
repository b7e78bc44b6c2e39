import asyncio
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.requests import ClientDisconnect

from fewer.serve._folder import ENDINGS, OURS
from fewer.text import printable
from making import xlsx

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}"


def put(client, name, content, **more):
    return client.put("/api/upload", params={"name": name}, content=content, **more)


def files(folder):
    return sorted(name for name in os.listdir(folder) if name != OURS)


def test_a_table_arrives_whole_and_replaces_nothing(client, tmp_path):
    assert put(client, "../../t.csv", b"a,b\n1,2\n").json() == {"name": "t.csv"}
    assert put(client, "t.csv", b"c\n3\n").json() == {"name": "t-2.csv"}
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n1,2\n"
    assert files(tmp_path) == ["t-2.csv", "t.csv"]


def test_what_is_too_large_is_refused_before_and_while_it_arrives(open_bench, tmp_path):
    client = open_bench(max_upload=1000)

    def blocks():
        for _ in range(10):
            yield b"x" * 500

    for content in (b"x" * 1001, blocks()):
        answer = put(client, "t.csv", content)
        assert answer.status_code == 400
        assert "larger than" in answer.json()["error"]
    assert files(tmp_path) == []
    assert os.listdir(tmp_path / OURS) == []


def test_what_arrives_in_part_is_not_kept(client, tmp_path):
    async def torn():
        yield b"a,b\n1,"
        raise ClientDisconnect

    async def short():
        yield b"a,b\n1,"

    folder = client.bench.folder
    for parts, error in ((torn(), ClientDisconnect), (short(), ValueError)):
        with pytest.raises(error, match="only in part" if error is ValueError else None):
            asyncio.run(folder.receive("t.csv", parts, 1000, 500))
    assert files(tmp_path) == os.listdir(tmp_path / OURS) == []
    assert "empty" in put(client, "t.csv", b"").json()["error"]


def test_only_tables_arrive(client, tmp_path):
    for name in ("t.exe", "", "x", "t.csv/../../x", "run.py"):
        assert put(client, name, b"a\n1\n").status_code == 400
    assert files(tmp_path) == []


def test_the_start_page_offers_the_files_that_are_taken(client):
    page = client.get("/").text
    assert re.search(r'id="file"[^>]*accept="([^"]*)"', page)[1].split(",") == list(ENDINGS)
    assert "CSV, Excel, JSON, Parquet" in page


def test_a_workbook_and_records_are_read_as_the_table_that_they_hold(client, tmp_path):
    pytest.importorskip("python_calamine")
    table = [["a", "b", "y"], *([i % 7, i * 37 % 11, "yes" if i % 7 > 3 else "no"] for i in range(30))]
    book = xlsx({"About": [["what"], ["nothing"]], "Data": table})
    records = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    for name, content, sheet in (("t.xlsx", book, "Data"), ("t.json", json.dumps(records).encode(), None)):
        assert put(client, name, content).status_code == 200
        about = {"table": name, "target": "y", **({"sheet": sheet} if sheet else {})}
        found = client.post("/api/inspect", json=about).json()
        assert [column["name"] for column in found["columns"]] == ["a", "b", "y"]
        assert found["n_rows"] == 30
    first = client.post("/api/inspect", json={"table": "t.xlsx"}).json()
    assert "Name another under More options, Sheet." in first["notes"][0]
    wrong = client.post("/api/inspect", json={"table": "t.xlsx", "sheet": "Dta"}).json()
    assert "no sheet 'Dta'" in wrong["error"]


@pytest.mark.parametrize(
    ("field", "value"), [("folds", "many"), ("seed", -1), ("features", "some"), ("budget", "soon"), ("method", "magic")]
)
def test_an_error_names_its_field(client, table, field, value):
    answer = client.post("/api/start", json={"table": "t.csv", "target": "y", field: value})
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_names_labels_and_cells_are_escaped(client, tmp_path):
    (tmp_path / "e.csv").write_text(f'"{EVIL.replace(chr(34), chr(34) * 2)}",y\n' + "<b>1</b>,a\n<i>2</i>,b\n" * 20)
    found = client.post("/api/inspect", json={"table": "e.csv", "target": "y"})
    assert found.json()["columns"][0]["name"] == EVIL
    assert found.headers["content-type"] == "application/json"
    (tmp_path / "<b>x<").mkdir()
    (tmp_path / "<b>x<" / "run.json").write_text(json.dumps({"fingerprint": EVIL, "components": {"method": EVIL}}))
    (tmp_path / "<b>x<" / "result.json").write_text(json.dumps({
        "features": [EVIL], "method": EVIL, "command": f"fewer select '{EVIL}.csv' -t '<u>'", "score_heldout": 0.5,
        "score_heldout_all_features": 0.5, "score_name": EVIL, "support": [True], "n_features": 1, "seconds": 1.0,
        "prefer": "fewest", "curve": {"answers": {"fewest": [EVIL]}, "order": [EVIL], "size": [1, 2]},
    }))  # fmt: skip
    for page in (client.get("/"), client.get("/run", params={"id": "<b>x<"}), client.get("/run", params={"id": EVIL})):
        assert "<b>" not in page.text.replace("<b>fewest</b>", "").replace('<b id="', "")
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
        assert "&amp;49" not in page.text


@pytest.mark.parametrize("route", ["/run", "/page", "/download", "/api/run", "/api/events"])
def test_ids_of_runs_that_are_none(client, table, route):
    for bad in ("../t", "/etc", "..", "t.csv", "a\0b", "", "%2e%2e", OURS, "x" * 3000):
        answer = client.get(route, params={"id": bad})
        assert answer.status_code == 400
        assert "Traceback" not in answer.text
        assert len(answer.text) < 2000


@pytest.mark.parametrize("route", ["/api/stop", "/api/resume", "/api/delete"])
def test_nothing_is_done_to_what_is_no_run(client, table, tmp_path, route):
    before = files(tmp_path)
    for bad in ("../t", "/etc", "..", "", OURS, None, 3, {"a": 1}, "t.csv"):
        assert client.post(route, json={"id": bad}).status_code == 400
        assert files(tmp_path) == before


def test_questions_that_are_none(client):
    for content in (b"", b"{", b"[]", b"3", b"[" * 100_000, b'{"id": "\\ud800"}'):
        answer = client.post("/api/start", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["error"]


def test_a_question_must_say_that_it_is_json(client):
    assert client.post("/api/start", content=b"{}", headers={"content-type": "text/plain"}).status_code == 400
    assert "too large" in client.post("/api/start", json={"x": "y" * (9 << 20)}).json()["error"]


def test_corrections_become_a_schema(client, tmp_path):
    rows = "\n".join(f"0{i % 5}067,{i % 9},-,{'ab'[i % 2]}" for i in range(40))
    (tmp_path / "t.csv").write_text(f"zip,n,gap,y\n{rows}\n")

    def columns(**more):
        found = client.post("/api/inspect", json={"table": "t.csv", **more}).json()
        return {column["name"]: column for column in found["columns"]}

    assert columns()["zip"]["kind"] == "nominal"
    assert columns(kinds={"zip": "numeric"})["zip"]["kind"] == "numeric"
    assert columns(kinds={"n": "left out"})["n"]["role"] == "left out"
    assert columns(missing=["-"])["gap"]["missing"] == 1.0
    assert columns(target="y")["y"]["role"] == "target"
    wrong = client.post("/api/inspect", json={"table": "t.csv", "kinds": {"absent": "numeric"}})
    assert "absent" in wrong.json()["error"]


def test_a_table_that_changed_is_read_again(client, table):
    def rows(**more):
        return client.post("/api/inspect", json={"table": "t.csv", "target": "y", **more}).json()["n_rows"]

    calls = []
    one = client.bench.workers.call

    async def counted(*arguments):
        calls.append(arguments)
        return await one(*arguments)

    client.bench.workers.call = counted
    assert [rows(), rows(), rows(seed=3)] == [60, 60, 60]
    assert len(calls) == 1
    table.write_text(table.read_text() + "1,2,no\n")
    assert rows() == 61
    assert rows(kinds={"a": "left out"}) == 61
    assert len(calls) == 3


def test_cells_that_cannot_be_read_are_told_before_the_run(client, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,x\n1\n" * 20)
    for route in ("/api/inspect", "/api/start"):
        answer = client.post(route, json={"table": "t.csv", "target": "y"})
        assert answer.status_code == 400 or answer.json()["problems"]
    truncated = tmp_path / "t.parquet"
    truncated.write_bytes(b"PAR1" + b"\0" * 50)
    answer = client.post("/api/inspect", json={"table": "t.parquet"})
    assert answer.status_code == 400
    assert "t.parquet" in answer.json()["error"]


def test_two_hundred_requests_at_once(client, table):
    def one(i):
        if i % 4 == 0:
            return put(client, "many.csv", b"a,y\n" + b"1,2\n" * i).status_code
        if i % 4 == 1:
            return client.post("/api/inspect", json={"table": "t.csv", "target": "y"}).status_code
        return client.get(["/", "/api/state"][i % 2]).status_code

    with ThreadPoolExecutor(40) as pool:
        assert list(pool.map(one, range(200))) == [200] * 200
    kept = [name for name in files(table.parent) if name.startswith("many")]
    assert len(kept) == 50
    assert sorted((table.parent / name).stat().st_size for name in kept) == [4 + 4 * i for i in range(0, 200, 4)]


def test_no_sentence_tells_control_characters(client):
    answer = client.get("/run", params={"id": "\x1b[31m\u202e"})
    assert "\x1b" not in answer.text
    assert printable("\x1b") in answer.text.replace("&#39;", "'").replace("\\\\", "\\")


def test_a_mistake_of_ours_is_told_to_both_sides(client, monkeypatch, caplog):
    def broken(self):
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr("fewer.serve._app._Bench._listing", broken)
    answer = client.get("/api/state")
    assert answer.status_code == 500
    assert answer.json()["error"].endswith("please report it: ZeroDivisionError: by hand")
    assert "GET /api/state failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_run_is_started_again_without_the_columns_that_leak(open_bench, tmp_path):
    client = open_bench(program="import sys; sys.exit(0)")
    rows = "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("number,x,y\n" + rows)
    run = client.post("/api/start", json={"table": "t.csv", "target": "y", "seed": 3}).json()["id"]
    again = client.post("/api/again", json={"id": run, "without": ["number"]}).json()["id"]
    choices = client.bench.folder.job(again)["choices"]
    assert (choices["kinds"], choices["seed"]) == ({"number": "left out"}, 3)
    assert choices["schema"] is None
    assert " --exclude number " in " ".join(client.bench.folder.job(again)["command"])
    for odd in ("number", [1], None):
        assert client.post("/api/again", json={"id": run, "without": odd}).status_code == 400
