"""Every page of the guide that has code, as a notebook that is run while the site is built."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
MADE = DOCS / "_generated" / "notebooks"
PART = re.compile(r"^```python\n(.*?)^```\n?", re.S | re.M)


def notebook_of(page):
    """Return a page as a notebook: its words and its code, in their order."""
    parts = PART.split(page.read_text(encoding="utf-8"))
    cells = [_cell(f"{page.stem}-{i}", "code" if i % 2 else "markdown", text) for i, text in enumerate(parts)]
    return {
        "cells": [cell for cell in cells if cell["source"]],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(name, kind, text):
    cell = {"id": name, "cell_type": kind, "metadata": {}, "source": text.strip()}
    return cell if kind == "markdown" else {**cell, "outputs": [], "execution_count": None}


def run_notebook(notebook, folder):
    """Run a notebook and return it with what its cells gave; a cell that fails ends the build."""
    import nbformat
    from nbclient import NotebookClient

    made = nbformat.from_dict(notebook)
    NotebookClient(made, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return made


def make_notebooks(app, config):
    """Write and run the notebooks."""
    import tempfile

    MADE.mkdir(parents=True, exist_ok=True)
    for page in pages():
        with tempfile.TemporaryDirectory() as folder:
            made = run_notebook(notebook_of(page), folder)
        (MADE / f"{page.stem}.ipynb").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def pages():
    """Return the pages of the guide that have code."""
    return [page for page in sorted((DOCS / "guide").glob("*.md")) if PART.search(page.read_text(encoding="utf-8"))]


def offer(app, docname, source):
    """End a page with its notebook."""
    name = docname.removeprefix("guide/")
    if docname.startswith("guide/") and (MADE / f"{name}.ipynb").exists():
        source[0] += (
            f"\n\n{{download}}`This page as a notebook, with its results <../_generated/notebooks/{name}.ipynb>`\n"
        )


def setup(app):
    app.connect("config-inited", make_notebooks, priority=600)  # after generated_pages has cleared its folder
    app.connect("source-read", offer, priority=900)
