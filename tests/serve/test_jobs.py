import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fewer.files import FolderLock
from fewer.serve._jobs import _is_same, _stamp

BEGIN = """
import json, os, signal, sys, time
from pathlib import Path
out = Path(sys.argv[sys.argv.index("--out") + 1])
about = {"fingerprint": "x", "components": {"method": "fisher", "folds": 5}}
(out / "run.json").write_text(json.dumps(about))
"""
SLEEPS = f"{BEGIN}\ntime.sleep(120)"
STOPS = f"""{BEGIN}
def stop(*_):
    (out / "result.json").write_text(json.dumps({{"features": ["a"], "interrupted": True, "n_features": 2}}))
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
(out / "ready").touch()
time.sleep(120)
"""
REFUSES = "import sys; print('noise'); sys.stderr.write('fewer: t.csv has no column 5.\\n'); sys.exit(2)"
RARE = REFUSES.replace("t.csv has no column 5.", "1 row; use fewer folds (cv=3, --folds 3), or (--task regression).")
FINISHES = f"""{BEGIN}
(out / "result.json").write_text(json.dumps({{"features": ["a"], "n_features": 2, "resumed": "--resume" in sys.argv}}))
"""


def start(client, **more):
    answer = client.post("/api/start", json={"table": "t.csv", "target": "y", **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def act(client, what, run):
    return client.post(f"/api/{what}", json={"id": run})


def pid_of(client, run):
    return client.bench.folder.job(run)["pid"]


def written(path):
    """Wait for a file."""
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.02)


def test_a_killed_job_is_told_and_can_go_on(open_bench, table):
    client = open_bench(SLEEPS)
    run = start(client)
    assert client.state(run)["state"] == "running"
    written(table.parent / run / "run.json")
    os.kill(pid_of(client, run), signal.SIGKILL)
    ended = client.wait(run, "failed", "unfinished")
    assert ended["state"] == "failed"
    assert "killed (SIGKILL" in ended["message"]
    assert "killed (SIGKILL" in client.get("/run", params={"id": run}).text
    client.bench.jobs.program = (*client.bench.jobs.program[:2], FINISHES)
    assert act(client, "resume", run).status_code == 200
    client.wait(run, "finished")
    assert json.loads((table.parent / run / "result.json").read_text())["resumed"]


def test_a_refusal_is_the_command_lines_own_sentence(open_bench, table):
    client = open_bench(REFUSES)
    ended = client.wait(start(client), "failed")
    assert ended["message"] == "t.csv has no column 5."


def test_a_refusal_names_the_fields_of_the_page_and_offers_to_change_them(open_bench, table):
    client = open_bench(RARE)
    run = start(client)
    ended = client.wait(run, "failed")
    assert ended["message"] == (
        "1 row; use fewer folds (More options, Test folds: 3), or (More options, Target type: number)."
    )
    shown = client.get("/run", params={"id": run}).text
    assert 'id="resume"' not in shown  # it would be refused again
    assert '<a class="primary" href="/table?name=t.csv' in shown


def test_a_stopped_run_keeps_its_best(open_bench, table):
    client = open_bench(STOPS)
    run = start(client)
    while not (table.parent / run / "ready").exists():
        time.sleep(0.02)
    assert "Stop it first" in act(client, "delete", run).json()["error"]
    assert act(client, "stop", run).status_code == 200
    ended = client.wait(run, "stopped")
    assert ended["features"] == ["a"]
    assert "already ended" in act(client, "stop", run).json()["error"]


def test_another_server_finds_what_the_first_began(open_bench, table):
    first = open_bench(SLEEPS)
    run = start(first)
    child = first.bench.jobs._processes.pop(run)  # as if it had been killed: nobody waits for the child any more
    second = open_bench(SLEEPS)
    assert second.state(run)["state"] == "running"
    assert second.state(run)["target"] == "y"
    written(table.parent / run / "run.json")
    os.kill(pid_of(second, run), signal.SIGKILL)
    child.wait()
    assert second.wait(run, "unfinished")["message"].endswith("Resume it to continue.")
    second.bench.jobs.program = (*second.bench.jobs.program[:2], FINISHES)
    act(second, "resume", run)
    second.wait(run, "finished")
    third = open_bench()
    assert third.state(run)["state"] == "finished"


def test_the_end_of_a_server_lets_runs_keep_their_best(open_bench, table):
    first = open_bench(STOPS)
    run = start(first)
    while not (table.parent / run / "ready").exists():
        time.sleep(0.02)
    first.leave()
    assert open_bench().state(run)["state"] == "stopped"


def test_two_tabs(open_bench, table):
    client = open_bench(SLEEPS, max_jobs=3)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post("/api/start", json={"table": "t.csv", "target": "y"}), range(8)))
    runs = [answer.json()["id"] for answer in answers if answer.status_code == 200]
    assert len(set(runs)) == len(runs) == 3
    assert all("already in progress" in a.json()["error"] for a in answers if a.status_code != 200)
    assert len(list(table.parent.glob("t-*"))) == 3  # what was refused left nothing
    assert "already running" in act(client, "resume", runs[0]).json()["error"]
    for run in runs:
        os.kill(pid_of(client, run), signal.SIGKILL)
        client.wait(run, "failed")
    assert act(client, "delete", runs[0]).status_code == 200
    assert "may have been deleted" in act(client, "delete", runs[0]).json()["error"]
    assert not (table.parent / runs[0]).exists()
    assert client.get("/run", params={"id": runs[0]}).status_code == 400


def test_a_run_of_a_terminal_shows_up(client, table):
    place = table.parent / "mine"
    place.mkdir()
    (place / "run.json").write_text(json.dumps({"fingerprint": "x", "components": {"method": "auto", "folds": 5}}))
    lock = FolderLock(place)
    assert client.state("mine")["state"] == "running"
    assert [run["id"] for run in client.get("/api/state").json()["runs"]] == ["mine"]
    assert "Stop it first" in act(client, "delete", "mine").json()["error"]
    lock.release()
    assert client.state("mine")["state"] == "unfinished"
    assert "terminal" in act(client, "resume", "mine").json()["error"]
    command = "fewer select data/t.csv --target y --seed 4 --out mine"
    answer = {"features": ["a"], "n_features": 2, "command": command, "interrupted": True}
    (place / "result.json").write_text(json.dumps(answer))
    assert client.state("mine")["table"] == "t.csv"
    reduced = client.get("/download", params={"id": "mine", "what": "table"})
    assert reduced.text.splitlines()[:2] == ["a,y", "0,no"]
    client.bench.jobs.program = (sys.executable, "-c", FINISHES)
    assert act(client, "resume", "mine").status_code == 200
    client.wait("mine", "finished")
    assert client.bench.folder.job("mine")["choices"]["seed"] == 4
    assert act(client, "delete", "mine").status_code == 200
    assert not place.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"choices": 3}', '{"choices": {"table": "t.csv", "out": "/etc"}}'])
def test_a_damaged_record_of_a_job(client, table, content):
    run = client.bench.folder.new_run("t.csv")
    (table.parent / run / "run.json").write_text('{"fingerprint": "x", "components": {}}')
    (table.parent / ".fewer-serve" / f"{run}.json").write_text(content)
    assert client.state(run)["state"] == "unfinished"
    assert act(client, "resume", run).status_code == 400
    assert client.get("/").status_code == 200


def test_a_number_that_another_process_got_is_not_taken_for_ours():
    assert _is_same(os.getpid(), _stamp(os.getpid()))
    assert not _is_same(os.getpid(), "1")
    assert not _is_same(1, _stamp(1))
    assert not _is_same(None, None)


def test_a_whole_run_in_processes(open_bench, table):
    """Started, watched, finished, another answer, everything downloaded; nothing is replaced by something easier."""
    client = open_bench(inline=False)
    run = start(client, method="fisher", folds=2, seed=3, kinds={"b": "nominal"})
    with client.stream("GET", "/api/events", params={"id": run}) as events:
        told = [json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: ")]
    assert told[0]["state"] == "running"
    assert told[-1]["state"] == "finished", told[-1]
    result = json.loads((table.parent / run / "result.json").read_text())
    assert (result["seed"], result["method"], result["features"]) == (3, "fisher", ["a"])
    assert " --nominal b " in result["command"]
    assert ".fewer-serve" not in result["command"] + result["code"]
    page = client.get("/run", params={"id": run}).text
    assert "of held-out" in page
    report = client.get("/page", params={"id": run})
    assert report.text.startswith("<!DOCTYPE html>")
    assert report.headers["content-security-policy"].startswith("sandbox")
    got = {
        what: client.get("/download", params={"id": run, "what": what})
        for what in ("table", "parquet", "page", "code", "answer")
    }
    assert {what: answer.status_code for what, answer in got.items()} == dict.fromkeys(got, 200)
    assert all("attachment" in answer.headers["content-disposition"] for answer in got.values())
    assert got["table"].text.splitlines()[0] == "a,y"
    assert got["parquet"].content.startswith(b"PAR1")
    assert got["answer"].json() == result
    compile(got["code"].text, "code", "exec")
    assert client.get("/download", params={"id": run, "what": "table", "prefer": "fewest"}).status_code == 400
    assert client.get("/download", params={"id": run, "what": "../x"}).status_code == 400
