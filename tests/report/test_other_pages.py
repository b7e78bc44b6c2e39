"""The pages of comparisons and of re-run documents."""

import base64
import io
import re

from PIL import Image

from fewer import SubsetSelector
from fewer.criteria import KNN
from fewer.evaluate import compare
from fewer.report import comparison_report, reproduction_report
from fewer.search import Forward
from making import make_problem

EVIL = "<script>alert(1)</script>"


def test_a_comparison_shows_every_row_and_escapes_names():
    comparison = compare(make_problem(), {EVIL: SubsetSelector(KNN(), Forward(), random_state=0)})
    page = comparison_report(comparison)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == len(comparison.methods) + 2
    for row in comparison.methods:
        assert f"{row.score:.4f}" in page
    assert page.count('<svg role="img" aria-label="') == 2


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
    assert "1 of 2 printed cells match or are bettered (50 %)" in page
    assert "Another sample." in page
    assert "0.6 ± 0.1" in page
    assert ">1 2<" in page
    assert "<script" not in page
    (shown,) = re.findall(r"data:image/png;base64,([^\"]+)", page)
    assert Image.open(io.BytesIO(base64.b64decode(shown))).size == (900, 450)
    assert 'alt="Figure 1 of Nobody, Nothing (2000), drawn again"' in page
