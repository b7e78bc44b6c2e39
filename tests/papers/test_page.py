import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from fewer_papers import Document, Rerun, _page, judge, reproduce
from fewer_papers._page import _cells, _pictures, reproduction_report, small_picture, write_reproduction_report
from pages import EVIL


def cell(verdict, reason, **more):
    return {"table": "1", "verdict": verdict, "reason": reason, **more}


def test_cells_of_all_documents_share_their_reasons():
    cells = [
        cell("matches", ""),
        cell("differs", "Other folds."),
        cell("better", "More rows.", tested="ten seeds"),
        cell("differs", "Other folds."),
    ]
    made, reasons = _cells([{"document": "a", "cells": cells}, {"document": "b", "cells": cells[:2]}])
    assert reasons == ["Other folds.", "More rows. Tested by: ten seeds."]
    assert [shown["note"] for shown in made] == [None, 1, 2, 1, None, 1]
    assert [shown["document"] for shown in made] == [*"aaaabb"]


def test_pictures_shrink_to_a_width_and_never_grow(tmp_path):
    Image.new("RGB", (400, 100), "navy").save(tmp_path / "wide.png")
    small = small_picture(tmp_path / "wide.png", 200, 8)
    assert (small["name"], small["width"], small["height"]) == ("wide", 200, 50)
    assert small_picture(tmp_path / "wide.png", 900, 8)["width"] == 400


@pytest.fixture
def page_of(tmp_path):
    """A page of one document with two cells and a picture."""
    picture = tmp_path / "1.png"
    Image.new("RGB", (2000, 1000), "navy").save(picture)

    def table(run):
        return [
            judge("1", EVIL, "L", 0.6, 0.61, sd=0.1),
            judge("1", "b", "features", [1, 3], [1, 2], reason="Another sample."),
        ]

    result = reproduce(Document("nobody", "Nobody, Nothing (2000)", {"1": table}), Rerun(quick=True))
    return {**result.to_json(), "claims": [EVIL], "figures": [str(picture), str(tmp_path / "gone.png")]}


def test_a_reproduction_shows_cells_reasons_and_figures(page_of):
    page = reproduction_report([page_of])
    assert page.index("2 printed values have a verdict: 1 matching, 1 unexplained.") < page.index("All 2 cells")
    assert "Another sample." in page
    assert "0.6 ± 0.1" in page
    assert ">1 2<" in page
    assert page.count("<script") == 1  # our own
    assert "<script>alert" not in page
    (shown,) = re.findall(r"data:image/png;base64,([^\"]+)", page)
    assert Image.open(io.BytesIO(base64.b64decode(shown))).size == (900, 450)
    assert 'alt="Figure 1 of Nobody, Nothing (2000), drawn again"' in page


def test_the_table_of_all_cells_is_searched_and_sorted(page_of, tmp_path, browser):
    place = write_reproduction_report(tmp_path / "page.html", [page_of])
    browser.open(place, 1280)
    shown = "[...document.querySelectorAll('#all tbody tr')].filter(r => !r.hidden).map(r => r.cells[2].textContent)"
    assert browser.run(shown) == ["L", "features"]
    browser.run("document.querySelectorAll('#all th button')[2].click()")
    assert browser.run(shown) == ["features", "L"]
    browser.run("document.querySelectorAll('#all th button')[2].click()")
    assert browser.run(shown) == ["L", "features"]
    for _ in range(2):  # a cell without a number comes last in both directions
        browser.run("document.querySelectorAll('#all th button')[6].click()")
        assert browser.run(shown) == ["L", "features"]
    find = "document.getElementById('find')"
    browser.run(f"{find}.value = 'b unexplained'; {find}.dispatchEvent(new Event('input'))")
    assert browser.run(shown) == ["features"]
    assert browser.run("document.getElementById('found').textContent") == "1 of 2"
    assert browser.complaints == []


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
