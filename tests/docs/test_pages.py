"""The code on the pages runs, and every public name has its place in the reference."""

import csv
import html
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from fewer.cli import app

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "_generated"} & set(path.relative_to(DOCS).parts))
README = DOCS.parent / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s#]+)(?:#[^)]*)?\)|^!\[[^\]]*\]\(([^)\s]+)\)", re.M)


def blocks_of(path):
    return BLOCK.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [p for p in PAGES if blocks_of(p)], ids=lambda p: p.relative_to(DOCS).as_posix())
def test_the_code_of_a_page_runs(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    space = {"__name__": "page"}
    for block in blocks_of(path):
        exec(compile(block, str(path), "exec"), space)
    sys.modules["matplotlib.pyplot"].close("all") if "matplotlib.pyplot" in sys.modules else None


COMMANDS = [
    (page, line.removeprefix("$ fewer "))
    for page in ("costs", "does-it-help", "how-many", "published", "which-method")
    for block in re.findall(
        r"^```console\n(.*?)^```", (DOCS / "guide" / f"{page}.md").read_text(encoding="utf-8"), re.S | re.M
    )
    for line in block.splitlines()
    if line.startswith("$ fewer ")
]


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_of_the_guide_runs(page, command, monkeypatch, tmp_path):
    """On a table of two classes, with prices of two of its columns."""
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = ["area", "texture", "noise", "smoothness"]
    table = X.iloc[::4, [3, 1, 9, 4]].set_axis(names, axis=1)
    table.assign(y=["benign" if code else "malignant" for code in y[::4]]).to_csv("t.csv", index=False)
    Path("prices.csv").write_text("feature,price\narea,3\nnoise,0.5\n", encoding="utf-8")
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert result.stdout.strip()
    assert Path("page.html").exists() == ("page.html" in command)


def test_the_code_of_the_readme_runs():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True, as_frame=True)
    space = {"X": X.iloc[::3], "y": y.iloc[::3]}
    for block in blocks_of(README):
        exec(compile(block, "README.md", "exec"), space)
    assert space["selection"].features
    assert 3 <= space["X_small"].shape[1] <= 10


def test_the_tables_of_models_are_those_of_the_benchmark(monkeypatch):
    monkeypatch.syspath_prepend(DOCS.parent / "benchmarks")
    from rows_models import KEPT, PAGE, as_tables, page_with

    rows, page = json.loads(KEPT.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    assert page_with(rows, page) == page, "run `python benchmarks/rows_models.py --table`"
    assert as_tables(rows).count("\n| ") >= len(rows) / 2
    assert all(row["alike"] is not False for row in rows)  # None: the same is tested elsewhere


@pytest.mark.parametrize("path", [*PAGES, README], ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for match in LINK.finditer(text):
        address = match[1] or match[2]
        if re.match(r"[a-z]+:", address) or "_generated/" in address or address.endswith("_static/reruns.html"):
            continue
        assert (path.parent / address).exists(), f"{path.name} links to {address}"


def test_two_clicks_lead_to_the_four_questions():
    start = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in ("guide/own-models", "guide/groups-and-time", "guide/paper", "guide/own-components"):
        assert f":link: {page}" in start


def test_the_page_of_all_cells_is_made_of_what_is_recorded(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import rerun_tables

    rerun_tables.write_all_cells(tmp_path / "reruns.html")
    page = (tmp_path / "reruns.html").read_text(encoding="utf-8")
    cells = (rerun_tables.FOLDER / "cells.csv").read_text(encoding="utf-8")
    n_cells = len(list(csv.DictReader(cells.splitlines())))
    assert f"All {n_cells} cells" in page
    assert "Tested by: " in page
    for name in rerun_tables.NAMES:
        run = rerun_tables.recorded_run(name)
        assert run["conclusion"] in html.unescape(page)
        counts = rerun_tables.counts_table([{**run, "other_counts": {}}])[2:]
        assert set(counts) <= set((rerun_tables.FOLDER / "counts.md").read_text(encoding="utf-8").splitlines())
        assert run["claims"]


def test_every_public_name_has_a_page(tmp_path, monkeypatch):
    import fewer

    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    import generated_pages

    monkeypatch.setattr(generated_pages, "MADE", tmp_path)
    generated_pages.make_api()
    made = {path.stem for path in (tmp_path / "api").glob("*.rst")}
    modules = [f"fewer.{name}" for name in fewer.__all__ if f"fewer.{name}" in sys.modules]
    assert set(modules) <= set(generated_pages.MODULES)
    for module in generated_pages.MODULES:
        assert module in made
    names = [f"fewer.{name}" for name in fewer.__all__ if name[0].isupper() or name in ("select", "compare")]
    assert set(names) <= made
    shutil.rmtree(tmp_path / "api")


def test_a_page_with_code_becomes_a_notebook_with_the_same_code(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    import notebooks

    guide = [path for path in PAGES if path.parent.name == "guide" and blocks_of(path)]
    assert notebooks.pages() == guide
    for path in guide:
        cells = notebooks.notebook_of(path)["cells"]
        assert [cell["source"] for cell in cells if cell["cell_type"] == "code"] == [b.strip() for b in blocks_of(path)]
        words = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
        assert path.read_text(encoding="utf-8").splitlines()[0] in words
        assert "```python" not in words
        assert len({cell["id"] for cell in cells}) == len(cells)
