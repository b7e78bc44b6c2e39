"""Pages as people see them: Chromium over its debugging pipe, where it is installed."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run --remote-debugging-pipe"
)


class Browser:
    """One tab. Remembers what the page asked for, and what it complained about."""

    def __init__(self, folder):
        to_read, self._to = os.pipe()
        self._from, from_write = os.pipe()

        def wire():
            # By way of high numbers: the pipes may have been given 3 and 4 themselves.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, from_write)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS.split(), f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        self._rest, self._number, self._session = b"", 0, None
        targets = self.ask("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests, self.complaints = [], []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            self._notice(answer)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _notice(self, answer):
        what, about = answer.get("method"), answer.get("params", {})
        if what == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"]["text"])
        elif what == "Runtime.consoleAPICalled":
            self.complaints.append(str(about["args"]))
        elif what == "Log.entryAdded":
            self.complaints.append(about["entry"]["text"])

    def _next(self):
        while b"\0" not in self._rest:
            got = os.read(self._from, 1 << 16)
            assert got, "the browser went away"
            self._rest += got
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width, *, height=900, scheme="light", scale=1):
        """Open a file at a width; below 500 pixels as a phone does."""
        self.requests.clear()
        self.complaints.clear()
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 500,
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=Path(path).as_uri())
        while not self.run("document.readyState === 'complete' && location.protocol === 'file:'"):
            time.sleep(0.01)

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def shoot(self, path, *, whole=True, clip=None):
        """Take a picture of the page, or of a rectangle of it."""
        options = {} if clip is None else {"clip": {**clip, "scale": 1}}
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole, **options)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def print(self, path):
        """Print the page to PDF."""
        Path(path).write_bytes(base64.b64decode(self.ask("Page.printToPDF", printBackground=False)["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self._to)
        os.close(self._from)
