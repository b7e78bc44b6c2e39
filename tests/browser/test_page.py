"""The page of a selection in a real browser: its numbers, its slider, its rows, by mouse and by keyboard."""

import json
import os

import numpy as np
import pytest

import fewer
from fewer.datasets import make_rdg1
from fewer.report import write_selection_report


def tables():
    """Return small tables: two classes, several, a quantity, noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 8))
    return {
        "two": (X, np.where(X[:, 0] + X[:, 3] + 0.6 * rng.normal(size=160) > 0, "ill", "well")),
        "several": (X, np.digitize(X[:, 1] + 0.3 * rng.normal(size=160), [-0.5, 0.5])),
        "quantity": (X, 3 * X[:, 2] - X[:, 5] + rng.normal(size=160)),
        "noise": (X[:, 4:], rng.integers(2, size=160)),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Select once from each table, and write its page."""
    folder, made = tmp_path_factory.mktemp("pages"), {}
    for name, (X, y) in tables().items():
        selection = fewer.select(X, y, random_state=0, cv=3, budget=2)
        made[name] = selection, write_selection_report(folder / f"{name}.html", selection)
    return made


@pytest.mark.parametrize("name", ["two", "several", "quantity", "noise"])
def test_numbers_are_those_of_the_json(name, made, open_page):
    selection, path = made[name]
    told = json.loads(selection.to_json())
    page = open_page(path)
    tiles = page.locator("dl.numbers dd").all_inner_texts()
    assert tiles[0].split()[0] == f"{told['score_heldout']:.4f}"
    assert tiles[1].split()[0] == f"{told['score_heldout_all_features']:.4f}"
    assert tiles[2].split()[0] == f"{told['heldout']['difference']:+.4f}"
    if told["nothing_found"]:
        assert page.locator("tr.feature:visible").count() == 0
        return
    rows = page.locator("tr.feature:visible")
    assert [row.split("\n")[0] for row in rows.locator("td.name").all_inner_texts()] == told["features"]
    shares = [text.replace("\N{NO-BREAK SPACE}", "").strip() for text in rows.locator("td.again").all_inner_texts()]
    assert shares == [f"{100 * told['frequency'].get(feature, 0):.0f}%" for feature in told["features"]]
    counts = told["evidence"]["predictions"]["chosen"].get("confusion")
    if counts:
        cells = page.locator("table.confusion").first.locator("td").all_inner_texts()
        assert [int(cell.replace(",", "")) for cell in cells] == [n for row in counts for n in row]


def test_the_slider_goes_through_the_nested_answers(made, open_page):
    selection, path = made["two"]
    page = open_page(path)
    slider, answers = page.locator("#stop"), selection.evidence["answers"]
    assert page.locator("#size").inner_text() == str(len(selection.features))
    slider.focus()
    page.keyboard.press("Home")
    for number, answer in enumerate(answers):
        place = selection.curve["size"].index(answer["size"])
        told = page.locator("#told").inner_text()
        assert f"{selection.curve['score'][place]:.4f}" in told
        assert page.locator("#size").inner_text() == str(answer["size"])
        shown = [text.split("\n")[0] for text in page.locator("tr.feature:visible td.name").all_inner_texts()]
        assert shown == [selection.evidence["features"][i] for i in answer["places"]]
        assert slider.get_attribute("aria-valuetext") in told
        if number < len(answers) - 1:
            page.keyboard.press("ArrowRight")
    assert page.locator("#elsewhere").is_visible()
    page.locator("#back").click()
    assert page.locator("#size").inner_text() == str(len(selection.features))
    assert not page.locator("#elsewhere").is_visible()


def test_a_click_on_the_curve_does_the_same(made, open_page):
    _, path = made["two"]
    page = open_page(path)
    page.locator("#curve [data-size='1']").click()
    assert page.locator("#size").inner_text() == "1"
    assert page.locator("tr.feature:visible").count() == 1


@pytest.mark.parametrize("name", ["two", "quantity"])
def test_rows_are_named_by_click_and_by_keyboard(name, made, open_page):
    selection, path = made[name]
    page = open_page(path)
    told = page.locator("#row-told")
    points = page.locator("#plane [data-told]")
    assert points.count() == len(selection.evidence["plane"]["row"])
    points.nth(3).click(force=True)
    assert told.inner_text().startswith("Row ")
    before = told.inner_text()
    page.keyboard.press("ArrowRight")
    assert told.inner_text() != before
    assert page.locator("#plane [tabindex='0']").count() == 1


def test_without_script_everything_is_there_but_the_slider(made, chromium):
    selection, path = made["two"]
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("tr.feature:visible").count() == len(selection.features)
    assert not page.locator("#slider").is_visible()
    page.locator("details:has(.stops) summary").click()
    assert page.locator(".stops li").count() == len(selection.evidence["answers"])
    context.close()


def test_only_its_own_script_may_run(made, open_page, complaints):
    page = open_page(made["two"][1])
    page.evaluate(
        "() => { const s = document.createElement('script'); s.text = 'window.ran = 1'; document.body.append(s); }"
    )
    assert page.evaluate("() => window.ran") is None
    assert any("Content Security Policy" in error for error in complaints.errors)
    complaints.errors.clear()


LOOKS = [(390, "dark"), (1280, "light")]
if os.environ.get("FEWER_BROWSER") == "all":
    LOOKS += [(390, "light"), (1280, "dark"), (1600, "light"), (1600, "dark")]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", ["two", "several", "quantity", "noise"])
def test_nothing_sticks_out_and_axe_finds_nothing(name, width, scheme, made, open_page, axe):
    page = open_page(made[name][1], width, scheme)
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert axe(page) == []


def test_sixty_features_stay_small(tmp_path, open_page):
    X, y, _ = make_rdg1(200, 60, 20, random_state=0)
    selection = fewer.select(X, y, "fisher", n_features_to_select=60, cv=3, random_state=0)
    path = write_selection_report(tmp_path / "sixty.html", selection)
    assert path.stat().st_size < 600_000
    page = open_page(path)
    assert page.locator("tr.feature:visible").count() == 60
    assert page.locator("td.picture svg").count() == 60
