"""The page as a person sees it: in a real browser where one is installed."""

import json
import os
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewer.models import DiscreteNaiveBayes
from fewer.report import parcel_report, write_parcel_report
from fewer.report._parcel import page_data
from fewer.roc import Parcel
from fewer.text import score_text

NASTY = [
    "<script>document.title='run'</script>",
    "\"quoted\" & 'single' </script>",
    "naïve 🩺 <img src=x onerror=\"document.title='run'\">",
    "@@DATA@@ ${1+1} {{7*7}}",
]


@pytest.fixture(scope="module")
def parcel():
    rng = np.random.default_rng(0)
    y = (rng.random(1200) < 0.3).astype(int)
    X = rng.normal(size=(1200, 4)) + np.outer(y, [1.2, 1.0, 0.8, 0.6])
    return Parcel(random_state=0).fit(pl.DataFrame(X, schema=NASTY), y)


def island(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_data_on_the_page_are_those_of_the_parcel(parcel):
    data = island(parcel_report(parcel, command="fewer select cases.csv --method parcel"))
    assert data == json.loads(json.dumps(page_data(parcel, 0.95, "fewer select cases.csv --method parcel")))
    assert data["names"] == [name for name, used in zip(NASTY, parcel.support_, strict=True) if used]
    assert [v["fpr"] for v in data["vertices"]] == parcel.hull_.fpr.tolist()
    for row in data["guarantee"]["points"][::20]:
        point = parcel.operating_point(max_fpr=row["limit"], guarantee=0.95)
        assert (row["low"], row["share"]) == (point.promised_.low, point.promised_.share)


def test_nothing_is_loaded_and_nothing_breaks_out(parcel):
    page = parcel_report(parcel, title=NASTY[0])
    assert "<script>document.title" not in page
    assert page.count("<script") == 2
    assert not re.search(r'(src|href)\s*=\s*["\']?(https?:)?//', page)
    assert "default-src 'none'" in page


def test_without_calibration_rows_nothing_is_offered():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    parcel = Parcel(random_state=0, calibration=0.0).fit(rng.normal(size=(200, 2)) + y[:, None], y)
    data = island(parcel_report(parcel))
    assert data["guarantee"] is None
    assert not data["calibrated"]


def test_a_very_long_name_is_cut():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    frame = pl.DataFrame(rng.normal(size=(200, 2)) + y[:, None], schema=["x" * 10_000, "y" * 200])
    page = parcel_report(Parcel(size_penalty=0.0, random_state=0).fit(frame, y))
    assert island(page)["names"] == ["x" * 199 + "…", "y" * 200]
    assert "x" * 200 not in page


def percent(share, low=0.0, high=0.0):
    """A tenth of a percent, or a whole one where the interval is wider than two."""
    return f"{100 * share:.{int(high - low < 0.02)}f}\N{NO-BREAK SPACE}%"


def in_brackets(band, write):
    value, low, high = (write(x, band.low, band.high) for x in (band.estimate, band.low, band.high))
    return f"{value} ({low} to {high})"


def assert_same_numbers(browser, point):
    """The page computes for itself what the Python object says."""
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    right, wrong = point.predictive_values()
    assert cells[4:6] == [in_brackets(point.expected_.fpr, percent), in_brackets(point.expected_.tpr, percent)]
    assert cells[7:9] == [f"negative {in_brackets(wrong, percent)}", f"positive {in_brackets(right, percent)}"]
    if point.cost_ is not None:
        assert cells[10] == in_brackets(point.cost_, score_text)
    height = browser.run("1 - (document.querySelector('#sizes .here').getAttribute('cy') - 12) / 100")
    assert height * browser.run("most") == pytest.approx(len(point.features_))
    count = point.per_thousand()
    words = browser.run("document.getElementById('thousand').textContent")
    for what in ("found", "missed", "false alarms", "left alone"):
        assert f"{count[what]:.0f} {what}" in words


@pytest.mark.parametrize(
    "question",
    [
        {"max_fpr": 0.037},
        {"max_fpr": 0.2, "guarantee": 0.9},
        {"cost_fp": 2.0, "cost_fn": 7.0, "prevalence": 0.1},
        {"cost_fp": 1.0, "cost_fn": 3.0, "guarantee": 0.9},
    ],
)
def test_it_opens_at_the_point_that_was_asked_for(parcel, browser, question, tmp_path):
    point = parcel.operating_point(**question)
    browser.open(write_parcel_report(tmp_path / "page.html", parcel, point=point), 1280)
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    assert cells[1:3] == [percent(point.promised_.fpr), percent(point.promised_.tpr)]
    assert_same_numbers(browser, point)
    if "guarantee" in question:
        assert "guaranteed with probability 0.9" in cells
        limit, word = point.guaranteed_.limit, "at most" if "max_fpr" in question else "a cost of at most"
        assert f"{word} {percent(limit) if 'max_fpr' in question else f'{limit:.3g}'}" in cells
    code = browser.run("document.getElementById('code').textContent")
    for name, value in question.items():
        assert f"{name}={value:g}" in code
    assert browser.complaints == []


def test_the_code_on_the_page_runs(browser, tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 3)) + y[:, None]
    learners = [DiscreteNaiveBayes(), ("linear", make_pipeline(StandardScaler(), LogisticRegression(C=0.5)))]
    parcel = Parcel(learners, random_state=0).fit(X, y)
    point = parcel.operating_point(max_fpr=0.1)
    browser.open(write_parcel_report(tmp_path / "page.html", parcel, point=point), 1280)
    exec(browser.run("document.getElementById('code').textContent"), {"X": X, "y": y})
    assert capsys.readouterr().out.strip() == point.summary()


GUARANTEED_COSTS = (
    (-70, {"cost_fp": 128, "cost_fn": 1}),
    (50, {"cost_fp": 4, "cost_fn": 1}),
    (70, {"cost_fp": 1, "cost_fn": 32}),
    (-30, {"cost_fp": 1, "cost_fn": 4}),
)
"""Steps of the slider of costs, and the costs there: from one end, where a constant answer is best, to 4."""


def assert_same_guarantee(browser, parcel, costs):
    """The page bounds the cost of the same point by the same number, and asks for it in code and command."""
    sure = parcel.operating_point(**costs, guarantee=0.95)
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    assert cells[1:3] == [percent(sure.promised_.fpr), percent(sure.promised_.tpr)]
    assert f"a cost of at most {sure.guaranteed_.limit:.3g}" in cells
    code = browser.run("document.getElementById('code').textContent")
    assert ", ".join(f"{name}={value}" for name, value in costs.items()) + ", guarantee=0.95" in code
    assert browser.run("document.getElementById('command').textContent").endswith("--guarantee 0.95")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_in_a_browser(parcel, browser, width, tmp_path):
    path = write_parcel_report(
        tmp_path / "page.html", parcel, title=NASTY[2], command="fewer select x.csv --method parcel"
    )
    browser.open(path, width)
    # Names appear as they are and run nothing.
    assert browser.run("document.title") == NASTY[2]
    assert browser.run("document.querySelector('h1').textContent") == NASTY[2]
    assert browser.run("document.querySelectorAll('img').length") == 0
    for figure in ("plot", "sizes"):
        assert browser.run(f"document.querySelectorAll('#{figure} .vertex').length") == len(parcel.vertices_)
    labels = browser.run(
        "[...document.querySelectorAll('#plot .vertex')].map(v => v.getAttribute('aria-label')).join()"
    )
    assert any(name in labels for name in NASTY)
    # Nothing sticks out sideways, nothing is fetched.
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    # By keyboard: the first slider moves the point along the hull.
    browser.run("document.getElementById('limit').focus()")
    for _ in range(10):
        browser.press("ArrowRight", 39)
    assert browser.run("document.getElementById('limit').value") == "0.15"
    truth = parcel.operating_point(max_fpr=0.15)
    cells = browser.run("[...document.querySelectorAll('#rates td')].slice(0, 3).map(c => c.textContent)")
    assert cells == ["read off the hull", percent(0.15), percent(truth.promised_.tpr)]
    needs = browser.run("[...document.querySelectorAll('#needs li')].map(c => c.textContent)")
    assert needs == list(truth.features_)
    assert_same_numbers(browser, truth)
    assert "operating_point(max_fpr=0.15)" in browser.run("document.getElementById('code').textContent")
    assert browser.run("document.getElementById('command').textContent").endswith("--max-fpr 0.15")
    # The guarantee, with the space bar.
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.id") == "sure"
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", text=" ", windowsVirtualKeyCode=32)
    browser.ask("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space", windowsVirtualKeyCode=32)
    sure = parcel.operating_point(max_fpr=0.15, guarantee=0.95)
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    assert cells[1:3] == [percent(sure.promised_.fpr), percent(sure.promised_.tpr)]
    assert f"at most {percent(0.15)}" in cells
    # The costs, first with the guarantee, which every point keeps, then without.
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.id") == "cost"
    for n_steps, costs in GUARANTEED_COSTS:
        for _ in range(abs(n_steps)):
            browser.press(*(("ArrowRight", 39) if n_steps > 0 else ("ArrowLeft", 37)))
        assert_same_guarantee(browser, parcel, costs)
    browser.run("document.getElementById('sure').click()")
    truth = parcel.operating_point(cost_fp=1, cost_fn=4)
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    assert cells[1:3] == [percent(truth.promised_.fpr), percent(truth.promised_.tpr)]
    assert_same_numbers(browser, truth)
    assert "cost_fp=1, cost_fn=4" in browser.run("document.getElementById('code').textContent")
    # A vertex tells what it is when it has the focus, and is chosen by Enter.
    # On an edge the highest vertex of its rate is taken, so one beyond the edge is chosen here.
    number = next(i for i, vertex in enumerate(parcel.vertices_) if vertex.fpr > 0)
    browser.run(f"document.querySelectorAll('.vertex')[{number}].focus()")
    assert browser.run("getComputedStyle(document.getElementById('tip')).visibility") == "visible"
    assert parcel.vertices_[number].names[0] in browser.run("document.getElementById('tip').textContent")
    browser.press("Enter", 13)
    assert browser.run("[...document.querySelectorAll('#rates td')][2].textContent") == percent(
        parcel.vertices_[number].tpr
    )
    assert browser.complaints == []
    if folder := os.environ.get("FEWER_SCREENSHOTS"):
        browser.shoot(Path(folder) / f"parcel-{width}.png")
