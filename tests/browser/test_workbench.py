"""The whole way in a real browser: from a messy file to a reduced table, as a person goes it."""

import base64
import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from browser.conftest import overflows
from browser.workbench import Workbench, picture
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


def drop(page, name, text):
    page.evaluate(DROP, [name, base64.b64encode(text.encode()).decode()])
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
    """Look at a screen: nothing sticks out, nothing serious for who cannot see or point."""
    for frame in page.locator("#page").all():  # what was never in sight is not painted
        frame.scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        page.evaluate("scrollTo(0, 0)")
    picture(page, name)
    assert overflows(page) <= 0, name
    assert axe(page) == [], name


def test_from_a_file_to_a_reduced_table(workbench, open_page, tmp_path):
    """The shortest way: drop, choose the target, press the button, download."""
    page = open_page(workbench.address)
    drop(page, "patients.csv", simple())
    choose(page, "state", method="fisher", folds="2")
    start(page)
    finished(page)
    assert shown(page)[0] == "marker"
    got = download(page, "Download the reduced table")
    got.save_as(tmp_path / "got.csv")
    assert pl.read_csv(tmp_path / "got.csv").columns == [*shown(page), "state"]


@LONG
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_whole_way(workbench, open_page, axe, tmp_path, width, scheme):
    name = f"{width}-{scheme}"
    page = open_page(workbench.address, width, scheme)
    look(page, axe, f"home-empty-{name}")
    drop(page, "customers.csv", make_messy()[0])
    look(page, axe, f"table-{name}")

    # correct a column, say which cells are missing
    page.get_by_label("Read plan as").select_option("left out")
    page.locator("tr.out td.name", has_text="plan").wait_for()
    choose(page, "churn", seed="3")
    page.fill("[name=missing]", "NA, ?")
    page.locator("[name=missing]").blur()
    look(page, axe, f"choices-{name}")
    start(page)

    # watch, stop, resume
    page.wait_for_selector("#folds:has-text('1 of 5')", timeout=240_000)
    page.wait_for_selector("#best:has-text('feature')")
    look(page, axe, f"live-{name}")
    page.click("#stop")
    page.wait_for_selector("#resume", timeout=120_000)
    assert "best so far" in page.inner_text("main")
    look(page, axe, f"stopped-{name}")
    page.click("#resume")
    page.wait_for_selector("#live")
    finished(page)

    # the numbers are those of the command line
    command = page.locator("pre").text_content().split(" ")
    words = [word for word in command[1:] if word not in ("--resume",)]
    words = [*words[: words.index("--out")], "--json"]
    done = subprocess.run([sys.executable, "-m", "fewer", *words], cwd=tmp_path, capture_output=True, check=True)
    truth = json.loads(done.stdout)
    assert shown(page) == truth["features"]
    assert page.inner_text("#heldout") == f"{truth['score_heldout']:.4f}"
    assert page.inner_text("#heldout-all") == f"{truth['score_heldout_all_features']:.4f}"
    assert truth["seed"] == 3
    assert "plan" not in truth["frequency"]

    # another preference and another size, at once
    for prefer, features in truth["curve"]["answers"].items():
        page.get_by_role("radio", name=prefer).check()
        assert shown(page) == features
        got = download(page, "Download the reduced table")
        got.save_as(tmp_path / "got.csv")
        assert pl.read_csv(tmp_path / "got.csv", infer_schema=False).columns == [*features, "churn"]
    if order := truth["curve"].get("order"):
        page.locator("#size").press("Home")
        assert shown(page) == order[: truth["curve"]["size"][0]]
        page.locator("#size").press("ArrowRight")
        assert shown(page) == order[: truth["curve"]["size"][1]]
    page.frame_locator("#page").locator("h1").wait_for(timeout=120_000)
    look(page, axe, f"run-{name}")
    for link, kind in (("as Parquet", "parquet"), ("Page", "html"), ("Python code", "py"), ("Answer (JSON)", "json")):
        assert download(page, link).suggested_filename == f"customers-1.{kind}"

    # the list, and away with it
    page.click(".brand")
    page.get_by_role("link", name="customers-1").wait_for()
    look(page, axe, f"home-{name}")
    page.get_by_role("link", name="customers-1").click()
    page.click("#delete")
    look(page, axe, f"delete-{name}")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("None yet.").first.wait_for()
    assert not (tmp_path / "customers-1").exists()
    assert (tmp_path / "customers.csv").exists()


@LONG
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_compare_and_choose_an_operating_point(workbench, open_page, axe, width, scheme):
    name = f"{width}-{scheme}"
    page = open_page(workbench.address, width, scheme)
    drop(page, "t.csv", simple())
    choose(page, "state")
    page.get_by_label("Methods side by side").check()
    for method in ("auto", "knn-forward", "linear-forward"):
        page.locator(f"[name=methods][value={method}]").uncheck()
    page.locator("[name=methods][value=fisher]").check()
    page.locator("[name=methods][value=f-test]").check()
    look(page, axe, f"compare-choices-{name}")
    start(page)
    finished(page)
    page.frame_locator("#page").get_by_text("f-test").first.wait_for(timeout=120_000)
    look(page, axe, f"compare-{name}")
    result = json.loads(next(workbench.folder.glob("t-1/result.json")).read_text())
    assert {row["name"] for row in result["methods"]} >= {"fisher", "f-test", "all features"}

    page.get_by_role("link", name="Change something and run again").click()
    page.wait_for_selector("#columns tbody tr")
    page.get_by_label("A detector").check()
    page.get_by_label("The class to detect").select_option("ill")
    page.get_by_label("Highest false-positive rate").fill("0.2")
    look(page, axe, f"detector-choices-{name}")
    start(page)
    finished(page)
    frame = page.frame_locator("#page")
    frame.locator("h1").wait_for(timeout=60_000)
    slider = frame.locator("input[type=range]").first
    slider.press("ArrowRight")
    look(page, axe, f"detector-{name}")
    answer = json.loads((workbench.folder / "t-2" / "result.json").read_text())
    assert answer["operating_point"]
    assert download(page, "Answer (JSON)").suggested_filename == "t-2.json"
    assert download(page, "Download the reduced table").suggested_filename == "t-2.csv"


@LONG
@pytest.mark.parametrize("width", [390, 1280])
def test_with_the_keyboard_alone(workbench, open_page, tmp_path, width):
    path = tmp_path.parent / "keys.csv"
    path.write_text(simple())
    page = open_page(workbench.address, width)

    def tab_to(selector):
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached with the keyboard")

    tab_to("#file")
    with page.expect_file_chooser() as asked:
        page.keyboard.press("Space")
    asked.value.set_files(path)
    page.wait_for_url("**/table?**")
    page.wait_for_selector("#columns tbody tr")
    tab_to("#target")
    page.keyboard.type("sta")
    assert page.input_value("#target") == "state"
    tab_to("#start")
    page.keyboard.press("Enter")
    page.wait_for_url("**/run?**")
    finished(page)
    tab_to("[name=prefer]")
    page.keyboard.press("ArrowLeft")
    assert page.is_checked("[value=fewest]")
    tab_to("[data-download=table]")
    with page.expect_download() as got:
        page.keyboard.press("Enter")
    assert got.value.suggested_filename == "keys-1.csv"
    tab_to("#delete")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # "Keep it" has the focus
    assert (tmp_path / "keys-1").exists()


@LONG
def test_hostile_names_are_only_text(workbench, open_page):
    page = open_page(workbench.address)
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
def test_paste_and_a_wrong_choice(workbench, open_page):
    page = open_page(workbench.address)
    page.click("#paste > summary")
    page.click("#use-cells")
    assert "Paste some cells" in page.inner_text("#trouble")
    page.fill("#cells", simple().replace(",", "\t"))
    page.click("#use-cells")
    page.wait_for_url("**/table?name=pasted.tsv")
    page.wait_for_selector("#columns tbody tr")
    page.click("#start")
    assert "Choose the column" in page.inner_text("#refused")
    assert page.evaluate("document.activeElement.id") == "target"


@LONG
def test_a_killed_server_loses_nothing(workbench, open_page, complaints, tmp_path):
    page = open_page(workbench.address)
    drop(page, "customers.csv", make_messy()[0])
    choose(page, "churn")
    start(page)
    page.wait_for_selector("#folds:has-text('0 of 5'), #folds:has-text('1 of 5')", timeout=120_000)
    workbench.kill()
    page.get_by_text("does not answer just now").wait_for()
    workbench.start()
    page.wait_for_selector("#verdict", timeout=240_000)
    assert shown(page)
    complaints.errors.clear()  # the browser tells that the server was away


@LONG
def test_two_tabs_see_the_same(workbench, open_page):
    one = open_page(workbench.address)
    drop(one, "customers.csv", make_messy()[0])
    choose(one, "churn")
    start(one)
    other = open_page(one.url, context=one.context)
    other.wait_for_selector("#live")
    one.close()
    other.click("#stop")
    other.wait_for_selector("#resume, #live-title:has-text('Stopping')", timeout=120_000)
    other.wait_for_selector("#resume, main > .trouble", timeout=120_000)
