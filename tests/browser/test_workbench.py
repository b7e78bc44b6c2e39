"""The whole way in a real browser: from a messy file to a reduced table, as a person goes it."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fewer
from browser.conftest import each_look, overflows
from browser.workbench import Workbench, picture
from fewer.run.selection import Selection
from fewer.selectors import KeepFeatures
from fewer.serve._server import opener
from fewer.text import score_text
from making import xlsx
from messy import make_messy

LONG = pytest.mark.skipif(os.environ.get("FEWER_BROWSER") != "all", reason="make test-browser runs it")
EVIL = "<img src=x onerror=alert(1)>{{7*7}}'\"&"
DROP = """
([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
  const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
  document.getElementById("drop").dispatchEvent(drop);
}
"""


@pytest.fixture
def workbench(tmp_path):
    """A workbench that a test may kill."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    bench = Workbench(tmp_path)
    yield bench
    bench.stop()


def simple(n=90):
    """Return a table whose first column says almost everything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).round(3)
    rows = [f"{a},{b},{c},{d},{'ill' if a + 0.2 * b > 0 else 'well'}" for a, b, c, d in X]
    return "\n".join(["marker,second,noise,more,state", *rows]) + "\n"


def messy(n=150):
    """Return the first rows of a messy table."""
    return "\n".join(make_messy()[0].splitlines()[: n + 1]) + "\n"


def drop(page, name, content):
    content = content if isinstance(content, bytes) else content.encode()
    page.evaluate(DROP, [name, base64.b64encode(content).decode()])
    page.wait_for_url("**/table?**")
    page.wait_for_selector("#columns tbody tr")


def choose(page, target, **more):
    page.select_option("#target", target)
    page.get_by_role("row", name=target).get_by_text("to predict").wait_for()
    if more:
        page.click("#more > summary")
    for name, value in more.items():
        field = page.locator(f"[name={name}]")
        field.select_option(value) if field.evaluate("node => node.tagName") == "SELECT" else field.fill(value)


def start(page):
    page.click("#start")
    page.wait_for_url("**/run?**")


def finished(page):
    page.wait_for_selector("#verdict, main > .trouble:not([hidden])", timeout=240_000)
    assert page.locator("#verdict").count(), page.inner_text("main")


def shown(page):
    return page.locator("#features li").all_inner_texts()


def download(page, name):
    with page.expect_download() as got:
        page.get_by_role("link", name=name, exact=True).click()
    return got.value


def look(page, axe, name):
    """Look at a screen in all widths and colors: nothing sticks out, nothing serious for who cannot see or point."""
    for frame in page.locator("#page").all():  # what was never in sight is not painted
        frame.scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, 0)")
    for number, look in enumerate(each_look(page)):
        picture(page, f"{name}-{look}")
        assert overflows(page) <= 0, (name, look)
        if number < 2:  # both widths, both schemes
            assert axe(page) == [], (name, look)


def by_command_line(page, folder):
    """Return the answer of the command that a run amounts to, as JSON."""
    command = page.locator("pre").text_content().split(" ")
    words = [word for word in command[1:] if word != "--resume"]
    words = [*words[: words.index("--out")], "--json"]
    done = subprocess.run([sys.executable, "-m", "fewer", *words], cwd=folder, capture_output=True, check=True)
    return json.loads(done.stdout)


def test_from_a_file_to_a_reduced_table(shared_bench, open_page, tmp_path):
    """The shortest way: drop, choose the target, press the button, download."""
    page = open_page(shared_bench.address)
    drop(page, "patients.csv", simple())
    choose(page, "state", method="fisher", folds="2")
    start(page)
    finished(page)
    assert shown(page)[0] == "marker"
    got = download(page, "Download reduced table (CSV)")
    got.save_as(tmp_path / "got.csv")
    assert pl.read_csv(tmp_path / "got.csv").columns == [*shown(page), "state"]


@LONG
def test_the_whole_way(shared_bench, open_page, axe, tmp_path):
    page, folder = open_page(shared_bench.address), shared_bench.folder
    look(page, axe, "home-empty")
    drop(page, "customers.csv", messy())
    look(page, axe, "table")

    # correct a column, say which cells are missing
    page.get_by_label("Read plan as").select_option("left out")
    page.locator("tr.out td.name", has_text="plan").wait_for()
    choose(page, "churn", seed="3", folds="4")
    page.fill("[name=missing]", "NA, ?")
    page.locator("[name=missing]").blur()
    look(page, axe, "choices")
    start(page)

    # watch, stop, resume
    page.wait_for_selector("#folds:has-text('1 of 4')", timeout=240_000)
    page.wait_for_selector("#best:has-text('feature')")
    picture(page, "live-1280-light")
    page.click("#stop")
    page.wait_for_selector("#resume", timeout=120_000)
    assert "best result so far" in page.inner_text("main")
    look(page, axe, "stopped")
    page.click("#resume")
    page.locator("#resume").wait_for(state="detached")
    finished(page)

    # the numbers are those of the command line
    truth = by_command_line(page, folder)
    assert shown(page) == truth["features"]
    assert page.inner_text("#verdict") == Selection.from_json(json.dumps(truth)).verdict
    assert truth["seed"] == 3
    assert "plan" not in truth["frequency"]
    inner = page.frame_locator("#page")
    inner.locator("h1").wait_for(timeout=120_000)
    tiles = inner.locator("dl.numbers dd").all_inner_texts()
    ends = truth["heldout"]["low"], truth["heldout"]["high"]
    assert tiles[0].split()[0] == score_text(truth["score_heldout"], *ends)
    look(page, axe, "run")

    # another preference and another size, at once, above and on the page alike
    for prefer, features in truth["curve"]["answers"].items():
        page.get_by_role("radio", name=prefer).check()
        assert shown(page) == features
        inner.locator(f"#size:text-is('{len(features)}')").wait_for()
        got = download(page, "Download reduced table (CSV)")
        got.save_as(tmp_path / "got.csv")
        assert pl.read_csv(tmp_path / "got.csv", infer_schema=False).columns == [*features, "churn"]
    slide_both(page, inner, truth)
    for link, name in (("Parquet", "customers-1.parquet"), ("Report (HTML)", "customers-1.html"),
                       ("Python code", "customers-1.py"), ("All results (JSON)", "customers-1.json")):  # fmt: skip
        assert download(page, link).suggested_filename == name
    got = download(page, "Pipeline (JSON)")
    step = KeepFeatures.from_json(Path(got.path()).read_text(encoding="utf-8"))
    assert set(step.about_["features"]) == set(shown(page))

    # the list, and away with it
    page.click(".brand")
    page.get_by_role("link", name="customers-1").wait_for()
    look(page, axe, "home")
    page.get_by_role("link", name="customers-1").click()
    page.click("#delete")
    look(page, axe, "delete")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url("**/")
    page.get_by_role("link", name="customers-1").wait_for(state="detached")
    assert not (folder / "customers-1").exists()
    assert (folder / "customers.csv").exists()


def slide_both(page, inner, truth):
    """Move the workbench's slider and see the page follow; then the other way round."""
    answers, names = truth["evidence"]["answers"], truth["evidence"]["features"]
    page.locator("#size").press("Home")
    assert shown(page) == [names[place] for place in answers[0]["places"]]
    inner.locator(f"#size:text-is('{answers[0]['size']}')").wait_for()
    inner.locator("#stop").press("ArrowRight")
    page.locator(f"#size-value:text-is('{answers[1]['size']}')").wait_for()
    assert shown(page) == [names[place] for place in answers[1]["places"]]


@LONG
def test_compare_and_choose_an_operating_point(shared_bench, open_page, axe):
    page = open_page(shared_bench.address)
    drop(page, "t.csv", simple())
    choose(page, "state", folds="3")
    page.get_by_label("Compare methods").check()
    for method in ("auto", "knn-forward", "linear-forward"):
        page.locator(f"[name=methods][value={method}]").uncheck()
    page.locator("[name=methods][value=fisher]").check()
    page.locator("[name=methods][value=f-test]").check()
    look(page, axe, "compare-choices")
    start(page)
    finished(page)
    page.frame_locator("#page").get_by_text("f-test").first.wait_for(timeout=120_000)
    look(page, axe, "compare")
    place = shared_bench.folder / "t-1"
    result = json.loads((place / "result.json").read_text())
    assert {row["name"] for row in result["methods"]} >= {"fisher", "f-test", "all features"}
    n_cells = len((place / "cells.jsonl").read_text().splitlines()) - 1
    assert json.loads((place / "total.json").read_text()) == {"total": n_cells}

    page.get_by_role("link", name="Change settings and run again").click()
    page.wait_for_selector("#columns tbody tr")
    page.get_by_label("Build a detector").check()
    page.get_by_label("Class to detect").select_option("ill")
    page.get_by_label("Maximum false-positive rate").fill("0.2")
    look(page, axe, "detector-choices")
    start(page)
    finished(page)
    frame = page.frame_locator("#page")
    frame.locator("h1").wait_for(timeout=60_000)
    frame.locator("input[type=range]").first.press("ArrowRight")
    look(page, axe, "detector")
    answer = json.loads((shared_bench.folder / "t-2" / "result.json").read_text())
    assert answer["operating_point"]
    assert download(page, "All results (JSON)").suggested_filename == "t-2.json"
    assert download(page, "Download reduced table (CSV)").suggested_filename == "t-2.csv"


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=LONG)])
def test_with_the_keyboard_alone(shared_bench, open_page, tmp_path, width):
    path = tmp_path / f"keys{width}.csv"
    path.write_text(simple())
    page = open_page(shared_bench.address, width)

    def tab_to(selector, key="Tab"):
        for _ in range(80):
            page.keyboard.press(key)
            if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached with the keyboard")

    page.on("filechooser", lambda _: None)  # asked for before the key, so that none is opened unseen
    tab_to("#file")
    with page.expect_file_chooser() as asked:
        page.keyboard.press("Space")
    asked.value.set_files(path)
    page.wait_for_url("**/table?**")
    page.wait_for_selector("#columns tbody tr")
    tab_to("#target")
    page.keyboard.type("sta")
    assert page.input_value("#target") == "state"
    tab_to("#more > summary")
    page.keyboard.press("Enter")
    tab_to("[name=method]")
    page.keyboard.type("fish")
    assert page.input_value("[name=method]") == "fisher"
    tab_to("#start", "Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/run?**")
    finished(page)
    tab_to("#size")
    page.keyboard.press("Home")
    assert shown(page) == ["marker"]
    page.keyboard.press("End")
    assert len(shown(page)) == 4
    tab_to("[data-download=table]")
    with page.expect_download() as got:
        page.keyboard.press("Enter")
    assert got.value.suggested_filename == f"keys{width}-1.csv"
    tab_to("#delete")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # "Keep it" has the focus
    assert (shared_bench.folder / f"keys{width}-1").exists()


@LONG
def test_hostile_names_are_only_text(shared_bench, open_page):
    page = open_page(shared_bench.address)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    rows = "\n".join(f"{i % 9},{'<b>x</b>' if i % 2 else EVIL.replace(',', '')},{i % 2}" for i in range(40))
    quoted = EVIL.replace('"', '""')
    drop(page, "<b>evil<.csv", f'"{quoted}",label,y\n' + rows.replace('"', ""))
    assert page.locator("td.name").first.inner_text() == EVIL
    assert page.locator("main img, main b img").count() == 0
    choose(page, "y", method="fisher", folds="2")
    start(page)
    finished(page)
    page.frame_locator("#page").locator("h1").wait_for(timeout=60_000)
    assert "49" not in page.inner_text("#features")


@LONG
def test_paste_and_a_wrong_choice(shared_bench, open_page):
    page = open_page(shared_bench.address)
    page.click("#paste > summary")
    page.click("#use-cells")
    assert "Nothing pasted yet" in page.inner_text("#trouble")
    page.fill("#cells", simple().replace(",", "\t"))
    page.click("#use-cells")
    page.wait_for_url("**/table?name=pasted.tsv")
    page.wait_for_selector("#columns tbody tr")
    page.click("#start")
    assert "Choose the column" in page.inner_text(".wrong")
    assert page.evaluate("document.activeElement.id") == "target"


@LONG
def test_a_killed_server_loses_nothing(workbench, open_page, complaints, tmp_path):
    page = open_page(workbench.address)
    drop(page, "patients.csv", simple())
    choose(page, "state", folds="3")
    start(page)
    page.wait_for_selector("#folds:has-text('of 3')", timeout=120_000)
    workbench.kill()
    page.get_by_text("Lost the connection").wait_for()
    workbench.start()
    page.wait_for_selector("#verdict", timeout=240_000)
    assert shown(page)
    complaints.errors.clear()  # the browser tells that the server was away


@LONG
def test_two_tabs_see_the_same(shared_bench, open_page):
    one = open_page(shared_bench.address)
    drop(one, "tabs.csv", messy())
    choose(one, "churn")
    start(one)
    other = open_page(one.url, context=one.context)
    other.wait_for_selector("#live")
    one.close()
    other.click("#stop")
    other.wait_for_selector("#resume, #live-title:has-text('Stopping')", timeout=120_000)
    other.wait_for_selector("#resume, main > .trouble", timeout=120_000)


def test_a_red_column_is_fixed_and_a_leak_is_left_out_by_its_button(shared_bench, open_page):
    rng = np.random.default_rng(0)
    rows = []
    for i in range(90):
        left = rng.random() < 0.4
        income = "about 4O" if i == 5 else round(rng.normal(40, 10), 1)
        rows.append(
            f"{income},{rng.poisson(4 + 3 * left)},{rng.integers(1, 90) if left else 0},{'yes' if left else 'no'}"
        )
    page = open_page(shared_bench.address, width=390)
    drop(page, "refunds.csv", "\n".join(["income,visits,refund,churned", *rows]) + "\n")
    choose(page, "churned", method="fisher", folds="3")
    assert page.is_disabled("#start")
    assert page.inner_text("#start") == "Fix one column first"
    assert page.locator("#head tbody tr").count() == 5
    assert page.locator("td.bars rect").count() > 12
    page.get_by_role("button", name="Treat “about 4O” as missing").click()
    page.wait_for_selector("#blocked", state="hidden")
    start(page)
    finished(page)
    assert "Possible leak: 'refund'" in page.inner_text("#alarm")
    assert "knowing nothing" in page.inner_text("#scores")
    assert overflows(page) <= 0
    page.get_by_role("button", name="Run again without refund").click()
    page.wait_for_url("**/run?id=refunds-2")
    finished(page)
    assert page.locator("#alarm").count() == 0
    assert "refund" not in shown(page)
    code = Path(download(page, "Python code").path()).read_text()
    assert ".fewer-serve" not in code
    words, folder = [sys.executable, "-c", f"{code}\nprint(selection.features)"], shared_bench.folder
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == [str(shown(page))], done.stderr
    rows = Path(download(page, "CSV for spreadsheets").path()).read_text().splitlines()
    assert (rows[0].split(","), len(rows)) == ([*shown(page), "churned"], 91)


def test_a_workbook_is_dropped_and_a_wrong_sheet_is_refused_at_its_field(shared_bench, open_page, complaints):
    pytest.importorskip("python_calamine")
    cells = [line.split(",") for line in simple().splitlines()]
    table = [cells[0], *([*map(float, row[:-1]), row[-1]] for row in cells[1:])]
    page = open_page(shared_bench.address, width=390)
    drop(page, "study.xlsx", xlsx({"About": [["what", "who"], ["a", "b"]], "Data": table}))
    assert page.locator("#columns tbody tr").count() == 2
    page.click("#noted > summary")
    assert "Name another under More options, Sheet." in page.inner_text("#notes")
    assert "--" not in page.inner_text("main")
    page.click("#more > summary")
    field = page.get_by_label("Sheet of a workbook")
    field.fill("Dta")
    field.blur()
    wrong = page.locator(".wrong")
    wrong.wait_for()
    assert "has no sheet 'Dta'" in wrong.inner_text()
    assert page.evaluate("document.activeElement.name") == "sheet"
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("Data")
    field.blur()
    page.locator("#columns td.name", has_text="marker").wait_for()
    assert wrong.count() == 0
    page.select_option("#target", "state")
    page.fill("[name=folds]", "several")
    page.click("#start")
    wrong.wait_for()
    assert wrong.inner_text() == "'several' is not a number."
    assert page.evaluate("document.activeElement.name") == "folds"
    assert overflows(page) <= 0
    picture(page, "workbook-390")
    complaints.errors.clear()  # the browser tells of the two refusals


def test_the_page_that_opens_the_browser_leads_to_the_workbench(shared_bench, open_page, tmp_path):
    page = open_page(opener(tmp_path, shared_bench.address))
    page.get_by_role("heading", name="Which columns of your table matter?").wait_for()
    assert "token" not in page.url


def test_what_cannot_be_measured_is_ticked_in_the_report_of_a_run(shared_bench, open_page):
    page = open_page(shared_bench.address)
    drop(page, "ticks.csv", simple())
    choose(page, "state", method="knn-forward", folds="2", alternatives="100")
    start(page)
    finished(page)
    report = page.frame_locator("#page")
    status = report.locator("#choice")
    rows = pl.read_csv(shared_bench.folder / "ticks.csv")
    selection = Selection.from_json(Path(download(page, "All results (JSON)").path()).read_text(encoding="utf-8"))
    found = fewer.alternatives(selection, rows.drop("state"), rows["state"], max_subsets=100)
    status.filter(has_text=f"{found.n_good} good subsets remain").wait_for()
    out, inside = found.names.index("more"), found.names.index("marker")
    report.get_by_label("more cannot be measured").check()
    report.get_by_label("marker must be in").check()
    left = ~found.masks[:, out] & found.masks[:, inside]
    assert 0 < left.sum() < found.n_good
    status.filter(has_text=f"{left.sum()} good subset").wait_for()
    assert f"score {found.scores[left].max():.3f}" in status.text_content()
    report.get_by_label("marker cannot be measured").check()
    status.filter(has_text="No good subset remains.").wait_for()
    picture(page, "ticks")
