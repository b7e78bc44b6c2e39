"""A workbench in a process of its own, for tests in a browser."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

TOKEN = "a-token-for-the-browser-tests"


class Workbench:
    """Start, kill and restart `fewer serve` on one folder and one port."""

    def __init__(self, folder: Path):
        self.folder, self.port, self.process = folder, 0, None
        self.start()

    def start(self):
        words = ["serve", "--folder", str(self.folder), "--port", str(self.port), "--token", TOKEN, "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fewer", *words], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        line = self.process.stderr.readline()
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)/", line)[1])
        self.process.stderr.readline()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/?token={TOKEN}"

    def kill(self):
        self.process.kill()
        self._gone()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self._gone()

    def _gone(self):
        self.process.wait(30)
        self.process.stderr.close()


def picture(page, name):
    """Keep a picture of a screen where `FEWER_PICTURES` names a folder."""
    if folder := os.environ.get("FEWER_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
