"""The page as a person sees it: in a real browser where one is installed."""

import json
import os
import re
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

from fewer.roc import Parcel
from fewer.roc._page import hull_page, page_data, write_hull_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NASTY = [
    "<script>document.title='run'</script>",
    "\"quoted\" & 'single' </script>",
    "naïve 🩺 <img src=x onerror=\"document.title='run'\">",
    "@@DATA@@ ${1+1} {{7*7}}",
]


@pytest.fixture(scope="module")
def parcel():
    rng = np.random.default_rng(0)
    y = (rng.random(1200) < 0.3).astype(int)
    X = rng.normal(size=(1200, 4)) + np.outer(y, [1.2, 1.0, 0.8, 0.6])
    return Parcel(random_state=0).fit(pl.DataFrame(X, schema=NASTY), y)


def island(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_data_on_the_page_are_those_of_the_parcel(parcel):
    data = island(hull_page(parcel, command="fewer select cases.csv --method parcel"))
    assert data == json.loads(json.dumps(page_data(parcel, 0.95, "fewer select cases.csv --method parcel")))
    assert data["names"] == NASTY
    assert [v["fpr"] for v in data["vertices"]] == parcel.hull_.fpr.tolist()
    for row in data["guarantee"]["points"][::20]:
        point = parcel.operating_point(max_fpr=row["limit"], guarantee=0.95)
        assert (row["low"], row["share"]) == (point.promised_.low, point.promised_.share)


def test_nothing_is_loaded_and_nothing_breaks_out(parcel):
    page = hull_page(parcel, title=NASTY[0])
    assert "<script>document.title" not in page
    assert page.count("<script") == 2
    assert not re.search(r'(src|href)\s*=\s*["\']?(https?:)?//', page)
    assert "default-src 'none'" in page


def test_without_calibration_rows_nothing_is_offered():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    parcel = Parcel(random_state=0, calibration=0.0).fit(rng.normal(size=(200, 2)) + y[:, None], y)
    data = island(hull_page(parcel))
    assert data["guarantee"] is None
    assert not data["calibrated"]


class Browser:
    """Chromium over its debugging pipe."""

    def __init__(self, folder):
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        def wire():
            os.dup2(to_read, 3)
            os.dup2(from_write, 4)

        flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
        flags += " --disable-sync --no-first-run --remote-debugging-pipe"
        self.process = subprocess.Popen(
            [CHROMIUM, *flags.split(), f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        self._rest, self._number, self._session = b"", 0, None
        targets = self.ask("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests = []
        self.ask("Page.enable")
        self.ask("Network.enable")

    def ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self):
        while b"\0" not in self._rest:
            got = os.read(self._from, 1 << 16)
            assert got, "the browser went away"
            self._rest += got
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Page.navigate", url=path.as_uri())
        while not self.run("document.readyState === 'complete' && location.protocol === 'file:'"):
            pass

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self._to)
        os.close(self._from)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_in_a_browser(parcel, browser, width, tmp_path):
    path = write_hull_page(parcel, tmp_path / "page.html", title=NASTY[2], command="fewer select x.csv --method parcel")
    browser.requests.clear()
    browser.open(path, width)
    # Names appear as they are and run nothing.
    assert browser.run("document.title") == NASTY[2]
    assert browser.run("document.querySelector('h1').textContent") == NASTY[2]
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.run("document.querySelectorAll('.vertex').length") == len(parcel.vertices_)
    labels = browser.run("[...document.querySelectorAll('.vertex')].map(v => v.getAttribute('aria-label')).join()")
    assert any(name in labels for name in NASTY)
    # Nothing sticks out sideways, nothing is fetched.
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    # By keyboard: the first slider moves the point along the hull.
    browser.run("document.getElementById('limit').focus()")
    for _ in range(10):
        browser.press("ArrowRight", 39)
    assert browser.run("document.getElementById('limit').value") == "0.15"
    truth = parcel.operating_point(max_fpr=0.15)
    cells = browser.run("[...document.querySelectorAll('#rates td')].slice(0, 3).map(c => c.textContent)")
    assert cells == ["promised by the hull", "15.0 %", f"{100 * truth.promised_.tpr:.1f} %"]
    needs = browser.run("[...document.querySelectorAll('#needs li')].map(c => c.textContent)")
    assert needs == list(truth.features_)
    assert "operating_point(max_fpr=0.15)" in browser.run("document.getElementById('code').textContent")
    assert browser.run("document.getElementById('command').textContent").endswith("--max-fpr 0.15")
    # The guarantee, with the space bar.
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.id") == "sure"
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", text=" ", windowsVirtualKeyCode=32)
    browser.ask("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space", windowsVirtualKeyCode=32)
    sure = parcel.operating_point(max_fpr=0.15, guarantee=0.95)
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    assert cells[1:3] == [f"{100 * sure.promised_.fpr:.1f} %", f"{100 * sure.promised_.tpr:.1f} %"]
    assert "at most 15.0 %" in cells
    # The costs.
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.id") == "cost"
    for _ in range(20):
        browser.press("ArrowRight", 39)
    truth = parcel.operating_point(cost_fp=1, cost_fn=4)
    cells = browser.run("[...document.querySelectorAll('#rates td')].map(c => c.textContent)")
    assert cells[1:3] == [f"{100 * truth.promised_.fpr:.1f} %", f"{100 * truth.promised_.tpr:.1f} %"]
    assert "cost_fp=1, cost_fn=4" in browser.run("document.getElementById('code').textContent")
    # A vertex tells what it is when it has the focus, and is chosen by Enter.
    browser.run("document.querySelectorAll('.vertex')[2].focus()")
    assert browser.run("getComputedStyle(document.getElementById('tip')).visibility") == "visible"
    assert parcel.vertices_[2].names[0] in browser.run("document.getElementById('tip').textContent")
    browser.press("Enter", 13)
    assert browser.run("[...document.querySelectorAll('#rates td')][2].textContent") == (
        f"{100 * parcel.vertices_[2].tpr:.1f} %"
    )
    if os.environ.get("FEWER_SCREENSHOTS"):
        import base64

        shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(os.path.join(os.environ["FEWER_SCREENSHOTS"], f"parcel-{width}.png"), "wb") as file:
            file.write(base64.b64decode(shot))
