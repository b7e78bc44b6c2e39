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
    shown = [_document(document, pictures) for document in documents]
    n_cells = sum(sum(document["counts"].values()) for document in documents)
    good = sum(document["counts"]["matches"] + document["counts"]["better"] for document in documents)
    seconds = sum(document["seconds"] for document in documents)
    return render(
        "reproduction.html", package="fewer_papers", documents=shown, n_cells=n_cells, good=good, minutes=seconds / 60
    )


def _document(document: dict[str, Any], pictures: dict[Path, dict[str, Any]]) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for cell in document["cells"]:
        table = tables.setdefault(cell["table"], {"cells": [], "reasons": [], "good": 0})
        table["good"] += cell["verdict"] in ("matches", "better")
        told = cell["reason"] + (f" Tested by: {cell['tested']}." if cell.get("tested") else "")
        if cell["verdict"] != "matches" and told not in table["reasons"]:
            table["reasons"].append(told)
        note = table["reasons"].index(told) + 1 if cell["verdict"] != "matches" else None
        table["cells"].append({**cell, "note": note})
    own = [pictures[Path(file)] for file in document["figures"] if Path(file) in pictures]
    return {**document, "tables": tables, "pictures": own}


def _pictures(files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Turn pictures into text, as fine as all of them together may be."""
    for width, colors in FINENESS:
        pictures = {file: _small(file, width, colors) for file in files}
        if sum(len(picture["data"]) for picture in pictures.values()) <= MOST:
            break
    return pictures


def _small(path: Path, width: int, colors: int) -> dict[str, Any]:
    """Return a picture in at most so many points of width and so many colors."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB")
    small.thumbnail((width, 2 * width))
    buffer = io.BytesIO()
    # Maximum coverage keeps rare colors, such as one marked point, and is the smallest too.
    small.quantize(colors, Image.Quantize.MAXCOVERAGE).save(buffer, format="PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode()
    return {"name": path.stem, "data": data, "width": small.width, "height": small.height}
