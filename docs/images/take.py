"""Take the pictures in this folder anew: the reports as Chromium shows them, and what the examples draw.

Run with `.venv/bin/python docs/images/take.py`; it needs Chromium.
"""

import io
import runpy
import sys
import tempfile
from contextlib import redirect_stdout, suppress
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_breast_cancer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browsing import Browser  # noqa: E402
from fewer.cli import main  # noqa: E402
from fewer.report import write_parcel_report  # noqa: E402
from fewer.roc import Parcel  # noqa: E402


def take_reports(folder: Path) -> None:
    """Show the report of the demo and the page of a Parcel."""
    with suppress(SystemExit):
        main(["demo", "--report", str(folder / "demo.html")])
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    write_parcel_report(folder / "parcel.html", Parcel(random_state=0).fit(X, y))
    browser = Browser(folder / "profile")
    browser.ask("Emulation.setScrollbarsHidden", hidden=True)
    for page, width, height, name in (("demo", 1000, 1500, "report"), ("parcel", 1265, 904, "parcel-page")):
        browser.open(folder / f"{page}.html", width, height=height)
        browser.shoot(folder / "shot.png", whole=False)
        keep(folder / "shot.png", HERE / f"{name}.png")
    take_page(browser, folder)
    browser.close()


def take_page(browser: Browser, folder: Path) -> None:
    """Show the parts of the demo's page that the guide explains."""
    for name, heading, width in (("features", "q1", 1000), ("sizes", "q2", 1240), ("rows", "q4", 1240)):
        browser.open(folder / "demo.html", width)
        place = browser.run(
            "(({x, y, width, height}) => ({x, y: y + scrollY, width, height}))"
            f"(document.getElementById('{heading}').parentElement.getBoundingClientRect())"
        )
        browser.shoot(folder / "shot.png", clip={**place, "height": min(place["height"], 820)})
        keep(folder / "shot.png", HERE / f"page-{name}.png")


def take_examples(folder: Path) -> None:
    """Let every example draw its picture."""
    for script in sorted((ROOT / "examples").glob("*.py")):
        sys.argv = [str(script), str(folder / "picture.png")]
        with redirect_stdout(io.StringIO()):
            runpy.run_path(str(script), run_name="__main__")
        keep(folder / "picture.png", HERE / "gallery" / f"{script.stem}.png")


def keep(taken: Path, kept: Path) -> None:
    """Keep a picture in few colors."""
    Image.open(taken).convert("RGB").quantize(96, Image.Quantize.MAXCOVERAGE).save(kept, optimize=True)
    print(f"{kept.relative_to(ROOT)}: {kept.stat().st_size // 1000} kB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        take_reports(Path(temporary))
        take_examples(Path(temporary))
