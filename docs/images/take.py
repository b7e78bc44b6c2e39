"""Take the pictures in this folder anew: the reports as Chromium shows them, and what the examples draw.

Run with `.venv/bin/python docs/images/take.py`; it needs Chromium. With `reports`, `workbench` or `examples`
behind it, only those.
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
    browser.open(folder / "parcel.html", 1265, height=904)
    browser.shoot(folder / "shot.png", whole=False)
    keep(folder / "shot.png", HERE / "parcel-page.png")
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
        browser.shoot(folder / "shot.png", clip=place)
        keep(folder / "shot.png", HERE / f"page-{name}.png")
        if heading == "q1":  # the page's beginning, up to the end of this part
            top = {"x": 0, "y": 0, "width": width, "height": place["y"] + place["height"] + 12}
            browser.shoot(folder / "shot.png", clip=top)
            keep(folder / "shot.png", HERE / "report.png")


def take_workbench(folder: Path) -> None:
    """Go through the workbench: a messy table as it is understood, and a run that has ended."""
    from playwright.sync_api import sync_playwright

    from browser.conftest import CHROMIUM, FLAGS
    from browser.workbench import Workbench
    from messy import make_messy

    (folder / "bench").mkdir()
    (folder / "bench" / "customers.csv").write_text(make_messy()[0])
    load_breast_cancer(as_frame=True).frame.to_csv(folder / "bench" / "tumors.csv", index=False)
    bench = Workbench(folder / "bench")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1000, "height": 1100})
        page.set_default_timeout(300_000)
        page.goto(bench.address)
        for table, target, name in (("customers", "churn", "workbench-table"), ("tumors", "target", "workbench-run")):
            page.goto(f"{bench.address.split('?')[0]}table?name={table}.csv")
            page.wait_for_selector("#columns tbody tr")
            page.select_option("#target", target)
            page.get_by_role("row", name=target).get_by_text("to predict").wait_for()
            if name == "workbench-run":
                page.click("#start")
                page.wait_for_selector("#verdict")
                page.frame_locator("#page").locator("h1").wait_for()
                page.locator("#page").scroll_into_view_if_needed()
                page.wait_for_timeout(500)
                page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=folder / "shot.png")
            keep(folder / "shot.png", HERE / f"{name}.png")
        browser.close()
    bench.stop()


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
    parts = {"reports": take_reports, "workbench": take_workbench, "examples": take_examples}
    asked = sys.argv[1:] or list(parts)
    with tempfile.TemporaryDirectory() as temporary:
        for part in asked:
            parts[part](Path(temporary))
