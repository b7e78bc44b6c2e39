from pathlib import Path

from PIL import Image

from fewer.report._reproduction import _document, _small


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
