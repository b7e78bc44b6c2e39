"""The page of the documents' tables, ours beside the printed."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fewer.report._page import render, write_page


def write_reproduction_report(path: Path | str, documents: Sequence[dict[str, Any]]) -> Path:
    """Write one page of re-run documents, each as `Reproduction.to_json` gives it."""
    return write_page(path, reproduction_report(documents))


def reproduction_report(documents: Sequence[dict[str, Any]]) -> str:
    """Give one page with every table, the figures, the share that matches and what was learnt."""
    shown = [_document(document) for document in documents]
    n_cells = sum(len(document["cells"]) for document in documents)
    good = sum(document["counts"]["matches"] + document["counts"]["better"] for document in documents)
    return render("reproduction.html", documents=shown, n_cells=n_cells, good=good)


def _document(document: dict[str, Any]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for cell in document["cells"]:
        tables.setdefault(cell["table"], {"cells": [], "reasons": []})
        table = tables[cell["table"]]
        if cell["verdict"] != "matches" and cell["reason"] not in table["reasons"]:
            table["reasons"].append(cell["reason"])
        note = table["reasons"].index(cell["reason"]) + 1 if cell["verdict"] != "matches" else None
        table["cells"].append({**cell, "note": note})
    pictures = [
        {"name": Path(file).stem, "data": base64.b64encode(_small(Path(file))).decode()}
        for file in document["figures"]
        if file.endswith(".png") and Path(file).exists()
    ]
    return {**document, "tables": tables, "pictures": pictures}


def _small(path: Path) -> bytes:
    """Give a picture in at most 900 points of width and 48 colors, so that a page with a hundred stays small."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB")
    small.thumbnail((900, 1800))
    buffer = io.BytesIO()
    small.quantize(48).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
