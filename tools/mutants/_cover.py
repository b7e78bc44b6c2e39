"""Which tests see which line: one run of the tests under coverage, remembered per test file."""

import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from mutants._sample import scopes

PACKAGES = ["search", "control", "validate", "evaluate"]
TESTS = [
    *(f"tests/{name}" for name in PACKAGES),
    *(f"tests/test_{name}.py" for name in "api budget callbacks contracts differences parameters properties".split()),
    *(f"tests/test_{name}.py" for name in "refusals registry selection_shown trace parallel selection runs".split()),
    *(f"src/fewer/{name}" for name in [*PACKAGES, "selectors"]),
    *(f"tests/{name}" for name in ["selectors", "roc", "criteria/test_cross_validated.py"]),
]
HOUSE = ["tests/test_records.py", "tests/test_limits.py", "tests/test_defaults.py"]
"""Tests of what stands at the top of classes: decorators, limits, defaults."""
UNKNOWN = 20.0  # seconds of tests that were not timed


def place(lines: list[str], where: list[str], line: int) -> str:
    """A line under a name that stays when lines above it come or go."""
    return f"{where[line]}|{lines[line - 1].strip()}"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


class Map:
    """{test: its seconds, its file's digest and the lines it runs}, kept in one JSON file."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder, self.path = root, folder, folder / "cover.json"
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.files: dict[str, dict] = {
            name: entry
            for name, entry in known.items()
            if (root / name).exists() and entry["digest"] == digest(root / name)
        }

    def test_files(self) -> list[str]:
        found = []
        for name in TESTS:
            path = self.root / name
            if path.is_dir():
                found += [str(p.relative_to(self.root)) for p in sorted(path.rglob("*.py"))]
            elif path.exists():
                found.append(name)
        return [name for name in found if name.startswith("src/") or Path(name).name.startswith("test_")]

    def bring_up_to_date(self) -> None:
        wanted = self.test_files()
        stale = [name for name in wanted if self.files.get(name, {}).get("digest") != digest(self.root / name)]
        for first in range(0, len(stale), 3):  # in parts, so that a stop loses little
            self._run(stale[first : first + 3])
            self.path.write_text(json.dumps(self.files))
        self.files = {name: self.files[name] for name in wanted}

    def _run(self, names: list[str]) -> None:
        print(f"coverage of {', '.join(names)}", flush=True)
        data, settings, times = (self.folder / name for name in ("coverage.db", "coverage.ini", "times.json"))
        settings.write_text(
            "[run]\nsource_pkgs =\n" + "".join(f"    fewer.{name}\n" for name in PACKAGES) + f"data_file = {data}\n"
        )
        environment = {**os.environ, "MUTANTS_TIMES": str(times)}
        environment["PYTHONPATH"] = os.pathsep.join([str(self.root / "src"), str(self.root / "tools")])
        environment.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mutants._times", "--cov"]
        command += [f"--cov-config={settings}", "--cov-context=test", "--cov-report=", *names]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1, 5):
            sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
        for name in names:
            self.files[name] = {"digest": digest(self.root / name), "tests": {}}
        runs = json.loads(times.read_text())
        for test, row in runs.items():
            if not row["passed"]:
                print(f"  not used, since it does not pass: {test}", flush=True)
                continue
            self.files[test.split("::")[0]]["tests"][test] = {"seconds": row["seconds"], "sees": {}}
        self._read(data)

    def _read(self, data: Path) -> None:
        import coverage

        stored = coverage.CoverageData(basename=str(data))
        stored.read()
        for path in stored.measured_files():
            file = str(Path(path).relative_to(self.root))
            source = Path(path).read_text()
            lines, where = source.splitlines(), scopes(source)
            seen = defaultdict(set)
            for line, contexts in stored.contexts_by_lineno(path).items():
                for context in contexts:
                    if context:
                        seen[context.rsplit("|", 1)[0]].add(place(lines, where, line))
            for test, places in seen.items():
                tests = self.files.get(test.split("::")[0], {}).get("tests", {})
                if test in tests:
                    tests[test]["sees"][file] = sorted(places)

    def tests_of(self, file: str, line: int) -> list[tuple[str, float, bool]]:
        """Return the tests that run a line: the mirror image and doctests first, the quick before the slow.

        With each stand its seconds and whether it is a test of another module.
        """
        source = (self.root / file).read_text()
        lines, where = source.splitlines(), scopes(source)
        wanted, at_import = place(lines, where, line), not inside_function(source, line)
        package, name = file.split("/")[2:4]
        mirror = f"tests/{package}/test_{name.lstrip('_')}"
        found = [
            (False, UNKNOWN, name)  # whole, as long as it is not known which of its tests see the line
            for name in (mirror, file, *(HOUSE if at_import else ()))
            if name not in self.files and (self.root / name).exists()
        ]
        for test_file, entry in self.files.items():
            for test, row in entry["tests"].items():
                sees = row["sees"].get(file, [])
                if wanted in sees or (at_import and any(is_in_function(seen) for seen in sees)):
                    found.append((test_file not in (mirror, file), row["seconds"], test))
                elif at_import and test_file == "tests/test_parameters.py":
                    found.append((True, row["seconds"], test))
        return [(test, seconds, other) for other, seconds, test in sorted(found)]


def inside_function(source: str, line: int) -> bool:
    import ast

    return any(
        node.body[0].lineno <= line <= node.end_lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    )


def is_in_function(seen: str) -> bool:
    scope = seen.split("|")[0]
    return bool(scope) and not scope.split(".")[-1].lstrip("_")[:1].isupper()
