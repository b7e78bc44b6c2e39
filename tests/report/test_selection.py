"""The page of a selection: complete, safe, and readable with nothing but the file."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from fewer.api import Selection, make_plan, run_plan
from fewer.io import to_problem
from fewer.report import selection_report, write_selection_report
from making import make_problem

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)> & \'quoted\' "name"'


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def run(problem, **words):
    kept = {}
    plan = make_plan(problem, **words)
    selection = run_plan(plan, problem, folds=3, on_step=lambda trace: kept.update(trace=trace))
    return selection, kept["trace"]


@pytest.fixture(scope="module")
def hostile():
    """5,000 columns with markup, right-to-left text and control characters for names, and a very long class."""
    problem = make_problem(n_rows=60, n_features=5000, seed=1)
    names = [f"{i} {EVIL}" for i in range(5000)]
    names[0], names[1] = EVIL, "\u202eעברית\u0000 🙂 $x^2$"
    frame = pl.DataFrame({name: problem.X[:, i] for i, name in enumerate(names)})
    labels = np.where(problem.y == 1, EVIL, "long" * 2500)
    return run(to_problem(frame, labels), n_features_to_select=(2, 6), include=[0, 1])


def test_everything_that_was_asked_is_on_the_page():
    selection, trace = run(make_problem(n_rows=80), method="knn-floating")
    page = selection_report(selection, trace)
    for part in (selection.verdict, selection.features[0], "How to repeat it", "Seed 0", "chosen again in"):
        assert part in page.replace("&#39;", "'")
    assert page.count('<svg role="img" aria-label="') == 3


def test_a_page_can_be_made_of_the_json_alone():
    selection, _ = run(make_problem(n_rows=80), method="knn-forward")
    again = Selection.from_json(selection.to_json())
    assert selection_report(again) == selection_report(selection)


def test_hostile_names_appear_literally_and_run_nothing(hostile):
    page = selection_report(*hostile)
    tags = Tags(page).seen
    assert not [tag for tag, _ in tags if tag in ("script", "img", "iframe", "object", "link")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in page
    assert len(page.encode()) < 3_000_000


def test_no_request_leaves_the_file(hostile):
    page = selection_report(*hostile)
    for _, attributes in Tags(page).seen:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    assert not re.findall(r"@import|url\((?!#)", page)


def test_every_picture_has_an_alternative_text(hostile):
    pictures = [attributes for tag, attributes in Tags(selection_report(*hostile)).seen if tag == "svg"]
    assert pictures
    assert all(picture["role"] == "img" and len(picture["aria-label"]) > 20 for picture in pictures)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_opens_in_a_browser_without_complaint(hostile, tmp_path):
    page = write_selection_report(tmp_path / "page.html", *hostile)
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "How to repeat it" in done.stdout
    assert "CONSOLE" not in done.stderr
