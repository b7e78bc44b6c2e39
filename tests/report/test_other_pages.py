"""The pages of comparisons."""

import dataclasses
from pathlib import Path

from fewer import SubsetSelector, report
from fewer.criteria import KNN
from fewer.evaluate import compare
from fewer.report import comparison_report
from fewer.search import Forward
from fewer.text import score_text
from making import make_problem

EVIL = "<script>alert(1)</script>"


def test_a_comparison_shows_every_row_and_escapes_names():
    comparison = compare(make_problem(), {EVIL: SubsetSelector(KNN(), Forward(), random_state=0)})
    page = comparison_report(comparison)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == len(comparison.methods) + 2 + 2  # and the features, with heads
    for row in comparison.methods:
        assert score_text(row.score, row.low, row.high) in page
    assert page.count('<svg role="img" aria-label="') == 2
    for feature in comparison.subsets[EVIL]["consensus"]:
        assert f"<bdi>{feature}</bdi>" in page


def test_a_comparison_says_how_to_repeat_it():
    comparison = compare(make_problem(), {"forward": SubsetSelector(KNN(), Forward(), random_state=0)})
    assert "Reproduce" not in comparison_report(comparison)
    told = dataclasses.replace(comparison, command="fewer compare 'a<b.csv'", versions={"fewer": "9.9"})
    page = comparison_report(told)
    assert "fewer compare &#39;a&lt;b.csv&#39;" in page
    assert "fewer 9.9" in page


def test_every_page_is_one_of_those_with_a_policy():
    """The policy stands in the base of all pages; a page without that base would have none."""
    folder = Path(report.__file__).parent / "templates"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    assert "Content-Security-Policy\" content=\"default-src 'none'" in pages.pop("base.html")
    assert len(pages) >= 3
    assert all(text.startswith('{% extends "base.html" %}') for text in pages.values())
