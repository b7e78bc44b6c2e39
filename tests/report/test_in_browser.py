"""The pages of the command line as a browser shows them, where Chromium is installed."""

import os
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer

from browsing import CHROMIUM
from fewer.cli import main
from fewer.plots._style import new_figure, style
from fewer_papers import Document, Rerun, judge, reproduce
from fewer_papers._page import write_reproduction_report
from pages import EVIL

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

PAGES = ("demo", "comparison", "parcel", "reproduction", "hostile")

CONTRAST = """
(() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parts = color => color.match(/[\\d.]+/g).map(Number);
  const ground = node => {
    for (; node; node = node.parentElement) {
      const color = parts(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || node.closest("script, style")) continue;
    const style = getComputedStyle(node);
    const ink = parts(node.closest("svg") ? style.fill : style.color);
    const [one, other] = [light(ink), light(ground(node))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${node.tagName} ${walker.currentNode.data.slice(0, 40)}`);
  }
  return poor;
})()
"""


def fewer(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    assert stop.value.code == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory, hostile_page):
    """Write all the pages once."""
    folder = tmp_path_factory.mktemp("pages")
    X, y = (part[:200] for part in load_breast_cancer(return_X_y=True))
    table = folder / "table.csv"
    names = [f"x{i}" for i in range(8)] + [f"<b>x{i}</b>" for i in range(8, 10)]
    pl.DataFrame({name: X[:, i] for i, name in enumerate(names)} | {"y": y}).write_csv(table)
    fewer("demo", "--report", folder / "demo.html")
    fewer("compare", table, "--target", "y", "--methods", "knn-forward,fisher", "--report", folder / "comparison.html")
    fewer("select", table, "--target", "y", "--method", "parcel", "--report", folder / "parcel.html")
    (folder / "hostile.html").write_text(hostile_page, encoding="utf-8")
    write_reproduction_report(folder / "reproduction.html", [document(folder)])
    return folder


def document(folder):
    with style():
        figure, axes = new_figure()
        axes.plot([1, 2, 3])
    figure.savefig(folder / "figure.png")
    cell = judge("1", EVIL, "L", 0.6, 0.61, reason=f"A reason with {EVIL}.")
    result = reproduce(Document("nobody", "Nobody, Nothing (2000)", {"1": lambda run: [cell]}), Rerun())
    return {**result.to_json(), "claims": [f"A claim with {EVIL}."], "figures": [str(folder / "figure.png")]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", PAGES)
def test_a_page(page, width, scheme, folder, browser):
    browser.open(folder / f"{page}.html", width, scheme=scheme)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:image/png"))] == []
    assert browser.run("document.title") != "run"
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(CONTRAST) == []
    if shots := os.environ.get("FEWER_SCREENSHOTS"):
        browser.shoot(Path(shots) / f"{page}-{width}-{scheme}.png")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_for_those_who_do_not_see_it(page, folder, browser):
    browser.open(folder / f"{page}.html", 1280)
    pictures = "[...document.querySelectorAll('img, body svg:not(svg svg, [aria-hidden])')]"
    labels = browser.run(f"{pictures}.map(p => p.getAttribute(p.tagName === 'IMG' ? 'alt' : 'aria-label'))")
    assert labels
    assert all(label and len(label) > 15 for label in labels)
    levels = browser.run("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert browser.run("document.documentElement.lang") == "en"
    for landmark in ("header", "main", "footer"):
        assert browser.run(f"document.querySelectorAll('{landmark}').length") == 1
    assert browser.run("[...document.querySelectorAll('th:not([scope])')].length") == 0


@pytest.mark.parametrize("page", PAGES)
def test_a_page_by_keyboard(page, folder, browser):
    """Every stop of the tabulator can be seen, and what scrolls is one of them."""
    browser.open(folder / f"{page}.html", 390)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    stops = browser.run("[...document.querySelectorAll('a, input, summary, [tabindex]')].length")
    assert stops
    for _ in range(min(stops, 12)):
        browser.press("Tab", 9)
        seen = browser.run(
            "(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 || parseFloat(s.strokeWidth) >= 4)"
            "(getComputedStyle(document.activeElement))"
        )
        assert seen, browser.run("document.activeElement.outerHTML.slice(0, 200)")
    scrolling = (
        "[...document.querySelectorAll('*')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth"
        " && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.tabIndex < 0).length"
    )
    assert browser.run(scrolling) == 0


@pytest.mark.parametrize("page", ["demo", "hostile"])
def test_the_chosen_features_need_no_scrolling_on_a_phone(page, folder, browser):
    browser.open(folder / f"{page}.html", 390)
    assert browser.run(
        "[...document.querySelectorAll('[aria-label=\"Chosen features\"]')].every(e => e.scrollWidth <= e.clientWidth)"
    )


@pytest.mark.parametrize("page", PAGES)
def test_paper_is_white(page, folder, browser):
    """Print ignores a dark screen."""
    browser.open(folder / f"{page}.html", 1280, scheme="dark")
    dark = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.ask(
        "Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.ask("Emulation.setEmulatedMedia", media="")
    assert dark != paper == "rgb(255, 255, 255)"
