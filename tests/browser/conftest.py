"""A real browser for tests: Debian's Chromium under playwright; skipped where either is missing."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


def leaves_the_machine(url: str) -> bool:
    """Say whether an address is on another machine."""
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about", "file") and parts.hostname not in ("127.0.0.1", "localhost")


class Complaints:
    """What pages complained about, and where they wanted to go."""

    def __init__(self):
        self.errors, self.away = [], []

    def listen_to(self, page):
        page.on("console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: self.away.append(asked.url) if leaves_the_machine(asked.url) else None)


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests of a process."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        yield browser
        browser.close()


@pytest.fixture
def complaints():
    """Errors on the console and requests that leave the machine; both fail the test at its end."""
    found = Complaints()
    yield found
    assert not found.errors, found.errors
    assert not found.away, found.away


@pytest.fixture
def open_page(chromium, complaints):
    """Open a file or an address at a width and in a color scheme; each call is a browser profile of its own."""
    contexts = []

    def open_(where, width=1280, scheme="light", *, height=900, context=None):
        if context is None:
            context = chromium.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
            )
            context.set_default_timeout(60_000)
            contexts.append(context)
        page = context.new_page()
        complaints.listen_to(page)
        page.goto(where.as_uri() if isinstance(where, Path) else str(where))
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def axe():
    """Return what axe-core finds serious on a page: its rule and the elements, one line each."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    source = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

    def faults(page):
        page.evaluate(source)
        found = page.evaluate("() => axe.run(document, {resultTypes: ['violations'], iframes: false})")
        return [
            f"{fault['impact']} {fault['id']}: {[node['html'][:120] for node in fault['nodes'][:3]]}"
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
        ]

    return faults


SIZES = [(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")]


def each_look(page):
    """Go through the widths and color schemes that a page must do well in."""
    for width, scheme in SIZES:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        yield f"{width}-{scheme}"


@pytest.fixture(scope="session")
def shared_bench(tmp_path_factory):
    """One workbench for all tests that do not kill theirs; each works on tables of its own."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    from browser.workbench import Workbench

    bench = Workbench(tmp_path_factory.mktemp("bench"))
    yield bench
    bench.stop()


def overflows(page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
