"""The mechanism that sets ours beside the printed numbers."""

import csv
import inspect
import json
import os
import pickle
import re
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import fewer_papers as papers
from fewer.contracts import Resources
from fewer.parallel import run_tasks
from fewer.problem import InputError
from fewer_papers import Absent, Cell, Claim, Document, Rerun, backed, judge, judge_spread, prepare, reproduce
from fewer_papers._core import chance_of, order_of, with_rivals


@pytest.mark.parametrize(
    ("printed", "ours", "options", "verdict"),
    [
        (75.9, 78.0, {"sd": 1.88}, "matches"),
        (75.9, 79.66, {"sd": 1.88}, "matches"),
        (75.9, 79.67, {"sd": 1.88}, "differs"),
        (75.9, 79.67, {"sd": 1.88, "better": "higher"}, "better"),
        (75.9, 70.0, {"sd": 1.88, "better": "higher"}, "differs"),
        (75.9, 70.0, {"sd": 1.88, "better": "lower"}, "better"),
        (100.0, 100.0, {"sd": 0.0}, "matches"),
        (100.0, 99.9, {"sd": 0.0}, "differs"),
        (5, 5, {}, "matches"),
        (5, 6, {}, "differs"),
        (5, 6, {"tolerance": 1.0}, "matches"),
        ([2, 8, 1], [2, 8, 1], {}, "matches"),
        ([2, 8, 1], [8, 2, 1], {}, "differs"),
        ("worse", "worse", {}, "matches"),
        (0.5, float("nan"), {"sd": 10.0}, "differs"),
        (0.5, Absent("no data"), {}, "not reproducible"),
    ],
)
def test_verdicts(printed, ours, options, verdict):
    assert judge("1", "row", "column", printed, ours, reason="why", tested="this run", **options).verdict == verdict


def test_a_difference_that_no_run_has_tested_is_unexplained():
    cell = judge("1", "row", "column", 1.0, 2.0, reason="Perhaps the moon.")
    assert (cell.verdict, cell.tested) == ("unexplained", "")
    assert judge("1", "row", "column", 1.0, 2.0).reason == "No reading of the text that was tried explains it."
    with pytest.raises(ValueError, match="no run has tested"):
        Cell("1", "row", "column", 1.0, None, 2.0, "differs", "why")
    with pytest.raises(ValueError, match="is no role"):
        judge("1", "row", "column", 1.0, 1.0, role="extra")


def test_a_reason_stands_only_if_its_reading_matches_in_this_run():
    differs = judge("2", "row", "features", [1], [2], reason="It needs another radius.")
    right = judge("2", "row", "features (other radius)", [1], [1], role="reading")
    wrong = judge("2", "row", "features (other radius)", [1], [3], role="reading")
    absent = judge("2", "row", "features (other radius)", [1], Absent("The data are lost."), role="reading")
    told = backed(differs, right)
    assert (told.verdict, told.tested) == ("differs", "table 2, row, features (other radius)")
    assert told.reason == "It needs another radius."
    for reading in (wrong, absent):
        told = backed(differs, reading)
        assert (told.verdict, told.tested) == ("unexplained", "")
        assert "another radius" not in told.reason
    matches = judge("2", "row", "features", [1], [1])
    assert backed(matches, wrong) is matches


def test_each_printed_number_counts_once():
    def table(run):
        again = {"number": "accuracy of A"}
        return [
            judge("1", "A", "accuracy", 1.0, 1.0, **again),
            judge("2", "A", "accuracy", 1.0, 1.0, **again),
            judge("1", "A", "accuracy (other reading)", 1.0, 2.0, role="reading"),
            judge("1", "A", "gain", 0.0, 0.5, role="derived", tested="this", reason="why"),
            judge("1", "A", "p", None, 0.5, role="ours alone"),
        ]

    result = reproduce(Document("toy", "A toy", {"1": table}), Rerun())
    assert sum(result.counts.values()) == result.counts["matches"] == 1
    assert result.other_counts["reading"]["unexplained"] == 1
    assert result.other_counts["derived"]["differs"] == 1
    assert set(result.other_counts) == {"reading", "derived", "ours alone"}


def test_no_cell_without_a_verdict_and_a_reason():
    with pytest.raises(ValueError, match="no verdict"):
        Cell("1", "row", "column", 1.0, None, 1.0, "perhaps")
    with pytest.raises(ValueError, match="Table 1, row, column differs without a reason"):
        judge("1", "row", "column", 1.0, 2.0, tested="a run")
    assert judge("1", "row", "column", 1.0, Absent("the file is lost")).reason == "the file is lost"


def test_difference_in_printed_deviations():
    cell = judge("1", "row", "column", 2.0, 2.5, sd=0.25)
    assert cell.difference == 0.5
    assert cell.difference_in_sd == 2.0
    assert judge("1", "row", "column", [1], [1]).difference is None


def test_results_are_kept_by_key_seed_and_effort(tmp_path):
    calls = []

    def work():
        calls.append(1)
        return {"array": np.arange(3), "tuple": (1.5, np.float64(2.5)), 1: None}

    first = Rerun(out=tmp_path).once("a key / with signs", work)
    assert first == {"array": [0, 1, 2], "tuple": [1.5, 2.5], "1": None}
    assert Rerun(out=tmp_path).once("a key / with signs", work) == first
    assert len(calls) == 1
    Rerun(out=tmp_path, seed=1).once("a key / with signs", work)
    Rerun(out=tmp_path, quick=True).once("a key / with signs", work)
    Rerun(out=tmp_path).once("a key : with signs", work)
    assert len(calls) == 4


def test_a_failed_result_is_not_kept(tmp_path):
    run = Rerun(out=tmp_path)

    def fail():
        raise InputError("no such data")

    assert run.attempt(lambda: run.once("key", fail)) == Absent("no such data")
    assert run.once("key", lambda: 7) == 7


def test_random_numbers_depend_on_the_key_alone():
    a, b = Rerun(seed=3), Rerun(seed=3)
    b.rng("other").random(10)
    assert a.rng("key").random() == b.rng("key").random()
    assert a.rng("key").random() != a.rng("other").random()
    assert a.rng("key").random() != Rerun(seed=4).rng("key").random()


def toy_document(calls):
    from matplotlib.figure import Figure

    def first(run):
        calls.append("1")
        value = run.once("value", lambda: 0.5)
        return [judge("1", "a", "b", 0.5, value), judge("1", "a", "c", 3, 4, reason="Another rule.", tested="it")]

    def second(run):
        calls.append("2")
        return [judge("2", "a", "b", 0.5, run.attempt(lambda: run.load("no_such_set")))]

    def draw(run):
        figure = Figure()
        figure.subplots().plot([0, 1])
        return figure

    def cannot_draw(run):
        raise InputError("no data for it")

    return Document(
        "toy", "A toy", {"1": first, "2": second}, {"1": draw, "2": cannot_draw},
        lambda run: [Claim("It holds.", "holds", "the first"), Claim("So-so.", "not shown", "the second")],
    )  # fmt: skip


def test_titles_are_those_that_the_guide_cites():
    page = Path(__file__).parents[2] / "docs" / "guide" / "paper.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    cited = re.findall(r"\*([^*]+)\*", "\n".join(rows))
    assert len(cited) == len(papers.names()) == 5
    for name in papers.names():
        assert sum(title in papers.document(name).title for title in cited) == 1, name


def test_a_document_is_re_run_and_saved(tmp_path):
    calls, lines = [], []
    run = Rerun(out=tmp_path, report=lines.append)
    result = reproduce(toy_document(calls), run)
    assert calls == ["1", "2"]
    assert {v: n for v, n in result.counts.items() if n} == {"matches": 1, "differs": 1, "not reproducible": 1}
    assert [c.text for c in result.claims] == ["It holds.", "So-so.", "Figure 2 could not be drawn: no data for it"]
    assert result.conclusion.startswith(
        "Confirmed: the first; neither confirmed nor refuted: the second. 2 printed values have a verdict: "
        "1 matching, 1 different for a tested reason."
    )
    assert "toy: table 1" in lines
    saved = json.loads((tmp_path / "toy" / "cells.json").read_text())
    assert saved["cells"] == result.to_json()["cells"]
    assert set(saved["cells"][0]) == {
        "table", "row", "column", "printed", "printed_sd", "ours", "verdict", "reason", "role", "tested", "number",
        "kind", "low", "high", "others",
    }  # fmt: skip
    assert (tmp_path / "toy" / "figures" / "1.png").stat().st_size > 1000
    assert (tmp_path / "toy" / "figures" / "1.svg").exists()
    with (tmp_path / "toy" / "cells.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 3


def test_work_is_done_ahead_in_other_processes(tmp_path):
    """What a list of pieces keeps is known to the next list and to the tables; a missing set is no end of it."""

    def where(run, key):
        return run.once(key, os.getpid)

    def both(run):
        return run.once("both", lambda: [run.once("a", lambda: -1), run.once("b", lambda: -1)])

    def work(run):
        yield [lambda run: where(run, "a"), lambda run: where(run, "b"), lambda run: run.load("no_such_set")]
        yield [both, lambda run: where(run, "c")]

    def table(run):
        found = [run.once(key, lambda: 0) for key in "abc"]
        assert run.once("both", lambda: None) == found[:2]
        return [judge("1", "a", key, None, pid) for key, pid in zip("abc", found, strict=True)]

    lines: list[str] = []
    document = Document("toy", "A toy", {"1": table}, work=work)
    for out in (None, tmp_path):
        cells = reproduce(document, Rerun(out=out, n_jobs=2, report=lines.append)).cells
        assert all(cell.ours not in (-1, 0, os.getpid()) for cell in cells)
    assert "toy: 3 of 3 pieces of work" in lines
    # Alone, and for some tables, nothing is done ahead.
    some = Document("toy", "A toy", {"1": lambda run: [judge("1", "a", "b", 1, run.once("a", lambda: 1))]}, work=work)
    for options in ({"n_jobs": 1}, {"n_jobs": 2, "tables": ["1"]}):
        tables = options.pop("tables", None)
        assert reproduce(some, Rerun(**options), tables).cells[0].verdict == "matches"


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", papers.names())
def test_pieces_of_work_can_be_sent_and_called(name, quick):
    run = Rerun(quick=quick)
    pieces = [piece for some in papers.document(name).work(run) for piece in some]
    for piece in pieces:
        inspect.signature(pickle.loads(pickle.dumps(piece))).bind(run)
    assert len(set(map(repr, pieces))) == len(pieces) > 10


def test_some_tables_only():
    calls = []
    result = reproduce(toy_document(calls), Rerun(), ["2"])
    assert calls == ["2"]
    assert result.claims == []
    with pytest.raises(InputError, match="no table '9'"):
        reproduce(toy_document(calls), Rerun(), ["9"])


def test_unknown_documents_are_named():
    with pytest.raises(InputError, match="dong-kothari"):
        papers.document("nobody")


@pytest.mark.parametrize("name", papers.names())
def test_every_document_is_whole(name):
    document = papers.document(name)
    assert document.name == name
    assert document.tables


def test_all_documents_together_tell_their_time(monkeypatch):
    from typer.testing import CliRunner

    import fewer_papers as papers
    from fewer.cli import app

    monkeypatch.setattr(papers, "names", lambda: ["one", "two"])
    monkeypatch.setattr(papers, "document", lambda name: toy_document([]))
    result = CliRunner().invoke(app, ["reproduce", "all", "--jobs", "1"], catch_exceptions=False)
    assert "2 documents, 0.0 minutes with 1 jobs, 0.0 of processor time." in result.stdout


def _busy(shared, goal):
    while time.process_time() < goal:
        pass
    return os.getpid(), time.process_time()


def test_processor_time_counts_the_workers():
    """What the worker processes say of their own clocks adds up to no more than what is told."""

    def table(run):
        spent.update(run_tasks(_busy, [(0.2,), (0.3,)], Resources(2)))
        return []

    spent = {}
    result = reproduce(Document("busy", "Nobody, Nothing (2000)", {"1": table}), Rerun())
    assert sum(spent.values()) <= result.processor + 0.05  # clocks tick a hundred times a second
    assert result.to_json()["processor"] == round(result.processor, 3)


def _ten_times(run, number):
    return run.once(f"ten times {number}", lambda: 10 * number)


def test_documents_share_the_processes():
    """The work of both is done before their tables, list by list; a later list may use what an earlier one kept."""

    def work(run):
        yield [partial(_ten_times, number=number) for number in range(3)]
        assert run.once("ten times 2", lambda: 1 / 0) == 20
        yield [partial(_ten_times, number=number) for number in (3, 4)]

    def table(run):
        return [judge("1", "a", "b", 20, run.once("ten times 2", lambda: 1 / 0))]

    others = Document("other", "A. Other (2001)", {"1": table}, work=lambda run: [[partial(_ten_times, number=2)]])
    documents = [Document("one", "A. Author (2000)", {"1": table}, work=work), others]
    run = Rerun(n_jobs=2)
    prepare(documents, run)
    for document in documents:
        result = reproduce(document, run)
        assert [cell.verdict for cell in result.cells] == ["matches"]
        assert result.seconds > 0
    assert run.within("one").once("ten times 4", lambda: 1 / 0) == 40


def test_data_is_fetched_from_a_server(monkeypatch, tmp_path):
    """On the loopback: a set that OpenML has, and one that it has not."""
    import json as js
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    from fewer.datasets import _openml

    asked = []
    rows = "\n".join(f"{','.join('01'[(i >> k) & 1] for k in range(6))},{int(i % 160 < 70)}" for i in range(160))
    names = ["a0", "a1", "b0", "b1", "irrelevant", "correlated"]
    columns = "\n".join(f"@ATTRIBUTE {name} {{0, 1}}" for name in names)
    arff = f"@RELATION corral\n{columns}\n@ATTRIBUTE class {{0, 1}}\n@DATA\n{rows}\n"

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            about = {
                "data_set_description": {
                    "id": "40669",
                    "url": f"{base}/40669.arff",
                    "default_target_attribute": "class",
                }
            }
            content = {"/40669": js.dumps(about), "/40669.arff": arff}.get(self.path)
            self.send_response(200 if content else 412)
            self.end_headers()
            self.wfile.write((content or "").encode())

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    base = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(_openml, "API", f"{base}/{{number}}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FEWER_DATA", raising=False)
    lines = []
    document = Document("toy", "A toy", {}, data=("corral_file", "mofn_3_7_10_file"))
    try:
        found = document.fetch(lines.append)
        again = document.fetch(lines.append)
    finally:
        server.shutdown()
        server.server_close()
    assert found["corral_file"] == "at hand"
    assert "no data set 40680" in found["mofn_3_7_10_file"]
    assert again == found
    # What was fetched is kept; what was not there is asked for again.
    assert asked.count("/40669.arff") == 1
    assert lines[0] == "toy: corral_file: at hand"


def by_column(cell):
    """Rows are data sets, columns methods."""
    return "accuracy", cell.row, cell.column


def accuracies(rng, n_sets=6, methods=("GA", "SA", "FS"), tolerance=2.0):
    printed = rng.normal(70.0, 8.0, (n_sets, 1)) + rng.normal(0.0, 3.0, (n_sets, len(methods)))
    ours = printed + rng.normal(0.0, 1.5, printed.shape)
    return [
        judge("1", f"set {i}", method, float(printed[i, j]), float(ours[i, j]), tolerance=tolerance)
        for i in range(n_sets)
        for j, method in enumerate(methods)
    ]


def test_a_match_that_most_other_methods_would_share_is_no_verdict():
    cells = [
        judge("1", "a", m, 70.0, v, tolerance=1.0) for m, v in (("A", 70.5), ("B", 69.5), ("C", 70.9), ("D", 80.0))
    ]
    found = with_rivals(cells, by_column)
    assert [cell.verdict for cell in found] == ["no verdict"] * 3 + ["unexplained"]
    assert [cell.others for cell in found] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1.0])
    apart = [judge("1", "a", m, p, p, tolerance=1.0) for m, p in (("A", 70.0), ("B", 75.0), ("C", 80.0))]
    assert [cell.verdict for cell in with_rivals(apart, by_column)] == ["matches"] * 3
    good = [judge("1", "a", m, 70.0, v, tolerance=1.0, better="higher") for m, v in (("A", 70.5), ("B", 75.0))]
    assert [cell.verdict for cell in good] == ["matches", "better"]
    assert [cell.verdict for cell in with_rivals(good, by_column)] == ["matches", "no verdict"]


def test_chance_is_the_mean_over_permutations():
    rng = np.random.default_rng(0)
    cells = accuracies(rng)
    found = chance_of(cells, by_column, "value")
    answers = [cell.ours for cell in cells]
    drawn = []
    for _ in range(4000):  # derangements in effect: a cell never gets its own answer
        order = rng.permutation(len(cells))
        drawn += [cell.accepts(answers[j]) for i, (cell, j) in enumerate(zip(cells, order, strict=True)) if i != j]
    assert found.permuted == pytest.approx(np.mean(drawn), abs=0.01)
    assert found.inside == np.mean([cell.verdict == "matches" for cell in cells])
    middle = np.median([cell.printed for cell in cells])
    assert found.constant == np.mean([abs(middle - cell.printed) <= 2.0 for cell in cells])


def test_one_constant_passes_most_tests_of_spreads():
    """Ten numbers know their spread so badly that any constant near it is accepted."""
    rng = np.random.default_rng(1)
    samples = rng.normal(0.0, 3.0, (2, 200, 10)).std(axis=2, ddof=1)
    cells = [
        judge_spread("1", f"row {i}", "test", float(a), float(b), (10, 10))[0]
        for i, (a, b) in enumerate(samples.T)
    ]  # fmt: skip
    found = chance_of(cells, lambda cell: None, "spread")
    assert found.inside == pytest.approx(0.95, abs=0.05)
    assert found.constant > 0.95
    assert found.permuted == pytest.approx(0.95, abs=0.03)


def test_a_spread_of_zero_accepts_no_other():
    """No ratio tells what would lie inside, where ours does not vary at all."""
    (cell,) = judge_spread("1", "row", "test", 2.05, 0.0, (10, 10))
    assert cell.verdict == "unexplained"
    assert not cell.accepts(0.0)
    assert chance_of([cell], lambda cell: None, "spread").inside == 0.0


def test_the_order_of_methods_is_counted_over_pairs_on_the_same_data():
    cells = accuracies(np.random.default_rng(2))
    agree = total = 0
    for i in range(6):
        rows = [cell for cell in cells if cell.row == f"set {i}"]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            total += 1
            agree += (rows[a].printed > rows[b].printed) == (rows[a].ours > rows[b].ours)
    assert order_of(cells, by_column)[:2] == (agree, total)
    assert 0.2 < order_of(cells, by_column)[2] < 0.8


def test_nothing_printed_gets_no_verdict():
    cell = judge("1", "row", "p", None, 0.03, role="ours alone")
    assert (cell.verdict, cell.reason) == ("no verdict", "The document prints nothing here.")
