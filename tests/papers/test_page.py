import base64
import io
import re
from pathlib import Path

import numpy as np
from PIL import Image

from fewer_papers import _page
from fewer_papers._page import _document, _pictures, _small, reproduction_report
from pages import EVIL


def cell(verdict, reason, **more):
    return {"table": "1", "verdict": verdict, "reason": reason, **more}


def test_cells_of_a_table_share_their_reasons():
    cells = [
        cell("matches", ""),
        cell("differs", "Other folds."),
        cell("better", "More rows.", tested="ten seeds"),
        cell("differs", "Other folds."),
    ]
    made = _document({"cells": cells, "figures": ["a.png", "gone.png"]}, {Path("a.png"): {"name": "a"}})
    table = made["tables"]["1"]
    assert table["reasons"] == ["Other folds.", "More rows. Tested by: ten seeds."]
    assert [shown["note"] for shown in table["cells"]] == [None, 1, 2, 1]
    assert table["good"] == 2
    assert made["pictures"] == [{"name": "a"}]


def test_pictures_shrink_to_a_width_and_never_grow(tmp_path):
    Image.new("RGB", (400, 100), "navy").save(tmp_path / "wide.png")
    small = _small(tmp_path / "wide.png", 200, 8)
    assert (small["name"], small["width"], small["height"]) == ("wide", 200, 50)
    assert _small(tmp_path / "wide.png", 900, 8)["width"] == 400


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
    monkeypatch.setattr(_page, "MOST", total - 1)
    coarse = _pictures(files)
    assert {picture["width"] for picture in coarse.values()} == {780}
    assert sum(len(picture["data"]) for picture in coarse.values()) < total
