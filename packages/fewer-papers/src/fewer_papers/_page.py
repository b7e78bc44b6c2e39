"""The page of the documents' tables, ours beside the printed."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fewer.report._page import render, write_page

MOST = 2_300_000
"""Characters of all pictures together, so that a page with a hundred of them stays under 3 MB."""

FINENESS = ((900, 48), (780, 32), (640, 24), (480, 16), (320, 8))
"""Points of width and colors, finest first. A phone's 390 points are 780 of its screen."""


def write_reproduction_report(path: Path | str, documents: Sequence[dict[str, Any]]) -> Path:
    """Write one page of re-run documents.

    Parameters
    ----------
    path : path
        Where to write.
    documents : sequence of dict
        Each as `Reproduction.to_json` returns it.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> write_reproduction_report(tempfile.mkdtemp() + "/page.html", []).name
    'page.html'
    """
    return write_page(path, reproduction_report(documents))


def reproduction_report(documents: Sequence[dict[str, Any]]) -> str:
    """Return one page with every table, the figures, the share that matches and what was learnt.

    Parameters
    ----------
    documents : sequence of dict
        Each as `Reproduction.to_json` returns it.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "</html>" in reproduction_report([])
    True
    """
    files = [Path(file) for document in documents for file in document["figures"] if file.endswith(".png")]
    pictures = _pictures([file for file in files if file.exists()])
    shown = [{**d, "pictures": [pictures[Path(f)] for f in d["figures"] if Path(f) in pictures]} for d in documents]
    cells, reasons = _cells(documents)
    minutes = sum(document["seconds"] for document in documents) / 60
    content = {"documents": shown, "cells": cells, "reasons": reasons, "minutes": minutes}
    return render("reproduction.html", package="fewer_papers", **content)


def _cells(documents: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the cells of all documents, each with the number of its reason, and the reasons, each once."""
    reasons: dict[str, int] = {}
    cells = []
    for document in documents:
        for cell in document["cells"]:
            told = cell["reason"] + (f" Tested by: {cell['tested']}." if cell.get("tested") else "")
            note = reasons.setdefault(told, len(reasons) + 1) if told else None
            cells.append({"document": document["document"], **cell, "note": note})
    return cells, list(reasons)


def _pictures(files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Turn pictures into text, as fine as all of them together may be."""
    for width, colors in FINENESS:
        pictures = {file: small_picture(file, width, colors) for file in files}
        if sum(len(picture["data"]) for picture in pictures.values()) <= MOST:
            break
    return pictures


def small_picture(path: Path, width: int, colors: int) -> dict[str, Any]:
    """Return a picture of limited width, in pixels, and number of colors."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB")
    small.thumbnail((width, 2 * width))
    buffer = io.BytesIO()
    # Maximum coverage keeps rare colors, such as one marked point, and is the smallest too.
    small.quantize(colors, Image.Quantize.MAXCOVERAGE).save(buffer, format="PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return {"name": path.stem, "data": data, "width": small.width, "height": small.height}
