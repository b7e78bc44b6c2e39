"""What lies around a fuzzed call: a table, finished and damaged runs, a stranger's folder, places that are free."""

from __future__ import annotations

import contextlib
import json
import shutil
from itertools import pairwise
from unittest import mock

from torture.forking import snapshot, write_table


class Scene:
    """A folder in which one call after another is made; each finds it as the first did."""

    def __init__(self, folder):
        from torture.fuzz import call

        self.folder, self.free, self.model = folder / "here", folder / "here" / "free", folder / "model"
        self.model.mkdir()
        table = write_table(self.model / "runtable.csv", n_rows=24, n_features=3)
        for name, words in {
            "run": ["select", "-m", "fisher", "-f", "2", "--folds", "2"],
            "comparison": ["compare", "-m", "fisher", "-e", "tree", "--folds", "2"],
        }.items():
            arguments = [words[0], str(table), "-t", "y", *words[1:], "--json", "--out", str(self.model / name)]
            code, out, error = call(arguments)
            assert code == 0, error
            (self.model / f"{name}.json").write_text(out, encoding="utf-8")
        shutil.copytree(self.model / "run", self.model / "damaged")
        (self.model / "damaged" / "result.json").write_text('{"features": ["x0"', encoding="utf-8")
        (self.model / "stranger").mkdir()
        (self.model / "stranger" / "notes.txt").write_text("not ours\n", encoding="utf-8")
        self.before = snapshot(self.model)
        shutil.copytree(self.model, self.folder)
        self.free.mkdir()

    def put(self, case):
        """Put the table of a case there."""
        path = self.free / f"table{case.suffix}"
        path.write_bytes(case.content)
        return path

    def place(self, arguments, path):
        """Put real places for the words that stand for them."""
        known = {
            "TABLE": path,
            "RUNTABLE": self.folder / "runtable.csv",
            "RUN": self.folder / "run",
            "ANSWER": self.folder / "run.json",
            "COMPARISON": self.folder / "comparison",
            "DAMAGED": self.folder / "damaged",
            "STRANGER": self.folder / "stranger",
            "OUT": self.free / "out",
            "PAGE": self.free / "page.html",
            "LATER.json": self.free / "later.json",
            "SCHEMA": self.free / "schema.json",
        }
        if "SCHEMA" in arguments:
            known["SCHEMA"].write_text(_schema(path), encoding="utf-8")
        placed = []
        for word in arguments:
            first, slash, rest = word.partition("/")
            if word.startswith("SAVE."):
                placed.append(str(self.free / f"saved{word.removeprefix('SAVE')}"))
            elif first in known and first:
                placed.append(f"{known[first]}{slash}{rest}")
            else:
                placed.append(word)
        return placed

    @contextlib.contextmanager
    def nothing_listens(self):
        """Let `fewer serve` come as far as its first request, and open no browser."""
        with mock.patch("uvicorn.Server.run"), mock.patch("webbrowser.open"):
            yield

    def trouble(self, arguments, how):
        """Say what was lost of what was there before, or is missing of what was asked for."""
        ours = {str(self.folder / "run"), str(self.folder / "comparison")}
        may_change = ours & set(arguments) if "--force" in arguments else set()
        after = snapshot(self.folder)
        for name, content in self.before.items():
            is_replaced = str(self.folder / name.split("/")[0]) in may_change
            if after.get(name) != content and not is_replaced:
                return f"{name} was changed, and the call was {how}"
        if how not in ("answered", "scored"):
            return ""
        return self._missing(arguments)

    def _missing(self, arguments):
        given = dict(pairwise(arguments))
        out, page = self.free / "out", self.free / "page.html"
        if given.get("--out") == str(out) and arguments[0] in ("select", "compare"):
            json.loads((out / "result.json").read_text(encoding="utf-8"))
        is_asked = str(page) in (given.get("--report"), given.get("--out"))
        if is_asked and "Content-Security-Policy" not in page.read_text(encoding="utf-8"):
            return "a page without a policy"
        for option in ("--save", "--write-schema"):
            if option in given and not (self.folder / given[option]).exists():
                return f"{given[option]} is missing"
        return ""

    def tidy(self):
        """Make the scene as it was."""
        shutil.rmtree(self.free)
        if snapshot(self.folder) != self.before:
            shutil.rmtree(self.folder)
            shutil.copytree(self.model, self.folder)
        self.free.mkdir()


def _schema(path):
    from fewer.errors import InputError
    from fewer.io import inspect_table

    try:
        return inspect_table(path, None).schema.to_json()
    except (InputError, ValueError, OSError):
        return "{}"
