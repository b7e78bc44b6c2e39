"""The page of a selection in a real browser: its numbers, its slider, its rows, by mouse and by keyboard."""

import json

import numpy as np
import pytest

import fewer
from browser.conftest import each_look, overflows
from fewer.datasets import make_rdg1
from fewer.report import write_selection_report
from fewer.report._selection import in_units
from fewer.text import in_folds, score_text


def tables():
    """Return small tables: two classes, several, a quantity, noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 8))
    return {
        "two": (
            np.column_stack([X, X[:, 0] + 0.1 * rng.normal(size=160)]),  # the last one can stand in for the first
            np.where(X[:, 0] + X[:, 3] + X[:, 5] + 0.4 * rng.normal(size=160) > 0, "ill", "well"),
        ),
        "several": (X, np.digitize(X[:, 1] + 0.3 * rng.normal(size=160), [-0.5, 0.5])),
        "quantity": (X, 3 * X[:, 2] - X[:, 5] + rng.normal(size=160)),
        "noise": (X[:, 4:], rng.integers(2, size=160)),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Select once from each table, and write its page."""
    folder, made = tmp_path_factory.mktemp("pages"), {}
    for name, (X, y) in tables().items():
        selection = fewer.select(X, y, random_state=0, cv=3)
        made[name] = selection, write_selection_report(folder / f"{name}.html", selection)
    return made


@pytest.mark.parametrize("name", ["two", "several", "quantity", "noise"])
def test_numbers_are_those_of_the_json(name, made, open_page):
    selection, path = made[name]
    told = json.loads(selection.to_json())
    page = open_page(path)
    tiles = page.locator("dl.numbers dd").all_inner_texts()
    ends = told["heldout"]["low"], told["heldout"]["high"]
    assert tiles[0].split()[0] == score_text(told["score_heldout"], *ends)
    assert tiles[1].split()[0] == score_text(told["score_heldout_all_features"], *ends)
    assert tiles[2].split()[0] == in_units(told["heldout"]["difference"], told["score_name"])
    if told["nothing_found"]:
        assert page.locator("tr.feature:visible").count() == 0
        return
    rows = page.locator("tr.feature:visible")
    assert [row.split("\n")[0] for row in rows.locator("td.name").all_inner_texts()] == told["features"]
    shares = [text.strip() for text in rows.locator("td.again").all_inner_texts()]
    n_folds = told["heldout"]["n_folds"]
    assert shares == [in_folds(told["frequency"].get(feature, 0), n_folds) for feature in told["features"]]
    counts = told["evidence"]["predictions"]["chosen"].get("confusion")
    if counts:
        cells = page.locator("table.confusion").first.locator("td").all_inner_texts()
        assert [int(cell.replace(",", "")) for cell in cells] == [n for row in counts for n in row]


def losses_of(selection, answer):
    """Return what must stand in the column of losses at one size."""
    evidence, own = selection.evidence, answer["size"] == len(selection.features)
    told = evidence["without"] if own else evidence["without_at"].get(str(answer["size"]), {})
    names = [evidence["features"][place] for place in answer["places"]]
    minus = "\N{MINUS SIGN}"
    texts = [f"{100 * told[name]['loss']:+.1f}".replace("-", minus) if name in told else "–" for name in names]
    return ["0.0" if text in ("+0.0", f"{minus}0.0") else text for text in texts]


def losses_shown(page):
    return [text.strip().split()[0] for text in page.locator("tr.feature:visible td.lost").all_inner_texts()]


def replacements_of(selection, answer):
    """Return what must stand in the column of stand-ins at one size."""
    evidence, own = selection.evidence, answer["size"] == len(selection.features)
    told = selection.stand_ins if own else evidence["stand_ins_at"].get(str(answer["size"]), {})
    names = [evidence["features"][place] for place in answer["places"]]
    return [", ".join(told.get(name, [])) or "–" for name in names]


def replacements_shown(page):
    return page.locator("tr.feature:visible td.others").all_inner_texts()


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
        assert f"{selection.curve['score'][place]:.2f}" in told
        assert page.locator("#size").inner_text() == str(answer["size"])
        shown = [text.split("\n")[0] for text in page.locator("tr.feature:visible td.name").all_inner_texts()]
        assert shown == [selection.evidence["features"][i] for i in answer["places"]]
        assert slider.get_attribute("aria-valuetext") in told
        assert losses_shown(page) == losses_of(selection, answer)
        assert replacements_shown(page) == replacements_of(selection, answer)
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
    views = [key for key in ("plane", "directions") if selection.evidence.get(key)]
    assert page.locator("svg.rows:visible").count() == 1
    for key in views:
        if len(views) > 1:
            page.locator(f"#views [value={key}-figure]").check()
        told, points = page.locator(f"#{key}-told"), page.locator(f"#{key} [data-told]")
        assert points.count() == len(selection.evidence[key]["row"])
        points.nth(3).click(force=True)
        assert told.inner_text().startswith("Row ")
        before = told.inner_text()
        page.keyboard.press("ArrowRight")
        assert told.inner_text() != before
        assert page.locator(f"#{key} [tabindex='0']").count() == 1


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


@pytest.mark.parametrize("name", ["two", "several", "quantity", "noise"])
def test_nothing_sticks_out_and_axe_finds_nothing(name, made, open_page, axe):
    page = open_page(made[name][1])
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for look in each_look(page):
        assert overflows(page) <= 0, look
        assert axe(page) == [], look
    page.set_viewport_size({"width": 1600, "height": 900})
    assert overflows(page) <= 0


def test_sixty_features_stay_small(tmp_path, open_page):
    X, y, _ = make_rdg1(200, 60, 20, random_state=0)
    selection = fewer.select(X, y, "fisher", n_features_to_select=60, cv=3, random_state=0)
    path = write_selection_report(tmp_path / "sixty.html", selection)
    assert path.stat().st_size < 600_000
    page = open_page(path)
    assert page.locator("tr.feature:visible").count() == 60
    assert page.locator("td.picture svg").count() == 60
