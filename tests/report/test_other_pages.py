"""The pages of comparisons and of re-run documents."""

import base64
import dataclasses
import io
import re
from pathlib import Path

import numpy as np
from PIL import Image

from fewer import SubsetSelector, report
from fewer.criteria import KNN
from fewer.evaluate import compare
from fewer.report import _reproduction, comparison_report, reproduction_report
from fewer.report._reproduction import _pictures
from fewer.search import Forward
from making import make_problem

EVIL = "<script>alert(1)</script>"


def test_a_comparison_shows_every_row_and_escapes_names():
    comparison = compare(make_problem(), {EVIL: SubsetSelector(KNN(), Forward(), random_state=0)})
    page = comparison_report(comparison)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == len(comparison.methods) + 2 + 2  # and the features, with heads
    for row in comparison.methods:
        assert f"{row.score:.4f}" in page
    assert page.count('<svg role="img" aria-label="') == 2
    for feature in comparison.subsets[EVIL]["consensus"]:
        assert f"<bdi>{feature}</bdi>" in page


def test_a_comparison_says_how_to_repeat_it():
    comparison = compare(make_problem(), {"forward": SubsetSelector(KNN(), Forward(), random_state=0)})
    assert "How to repeat it" not in comparison_report(comparison)
    told = dataclasses.replace(comparison, command="fewer compare 'a<b.csv'", versions={"fewer": "9.9"})
    page = comparison_report(told)
    assert "fewer compare &#39;a&lt;b.csv&#39;" in page
    assert "fewer 9.9" in page


def test_a_reproduction_shows_cells_reasons_and_figures(tmp_path):
    picture = tmp_path / "1.png"
    Image.new("RGB", (2000, 1000), "navy").save(picture)
    cell = {"table": "1", "row": EVIL, "column": "L", "printed": 0.6, "printed_sd": 0.1, "ours": 0.61}
    document = {
        "document": "nobody",
        "title": "Nobody, Nothing (2000)",
        "quick": True,
        "seconds": 1.0,
        "counts": {"matches": 1, "better": 0, "differs": 1, "not reproducible": 0},
        "cells": [
            {**cell, "verdict": "matches", "reason": ""},
            {**cell, "ours": [1, 2], "verdict": "differs", "reason": "Another sample."},
        ],
        "claims": ["Everything holds."],
        "figures": [str(picture), str(tmp_path / "gone.png")],
    }
    page = reproduction_report([document])
    assert "Table 1: 1 of 2 cells match or are bettered" in page
    assert "1 of 2 distinct printed numbers match or are bettered (50\N{NO-BREAK SPACE}%)" in page
    assert "Another sample." in page
    assert "0.6 ± 0.1" in page
    assert ">1 2<" in page
    assert "<script" not in page
    (shown,) = re.findall(r"data:image/png;base64,([^\"]+)", page)
    assert Image.open(io.BytesIO(base64.b64decode(shown))).size == (900, 450)
    assert 'alt="Figure 1 of Nobody, Nothing (2000), drawn again"' in page


def test_many_pictures_are_told_more_coarsely(tmp_path, monkeypatch):
    noise = np.random.default_rng(0).integers(256, size=(200, 1000, 3), dtype=np.uint8)
    files = [tmp_path / f"{i}.png" for i in range(2)]
    for file in files:
        Image.fromarray(noise).save(file)
    fine = _pictures(files)
    assert {(picture["width"], picture["height"]) for picture in fine.values()} == {(900, 180)}
    total = sum(len(picture["data"]) for picture in fine.values())
    monkeypatch.setattr(_reproduction, "MOST", total - 1)
    coarse = _pictures(files)
    assert {picture["width"] for picture in coarse.values()} == {780}
    assert sum(len(picture["data"]) for picture in coarse.values()) < total


def test_every_page_is_one_of_those_with_a_policy():
    """The policy stands in the base of all pages; a page without that base would have none."""
    folder = Path(report.__file__).parent / "templates"
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    assert "Content-Security-Policy\" content=\"default-src 'none'" in pages.pop("base.html")
    assert len(pages) >= 4
    assert all(text.startswith('{% extends "base.html" %}') for text in pages.values())
