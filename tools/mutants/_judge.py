"""One mutant after the other: a child process of this one, in which the libraries are imported and `fewer` is not.

The child imports `fewer` from a copy of the sources, and one module of it from changed text in memory: nothing on disk
is ever touched, and several runs can go on beside each other.
"""

import json
import os
import resource
import signal
import sys
import time
import traceback
from importlib.abc import MetaPathFinder
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

STAGE = 30.0  # seconds of tests that a mutant meets beyond its mirror image
LIBRARIES = """
numpy scipy.stats scipy.optimize scipy.sparse.linalg sklearn.ensemble sklearn.linear_model sklearn.model_selection
sklearn.neighbors sklearn.svm sklearn.naive_bayes sklearn.datasets sklearn.utils.estimator_checks numba pytest
hypothesis pandas joblib narwhals rich jinja2
""".split()


def import_libraries() -> None:
    import importlib

    for name in LIBRARIES:
        importlib.import_module(name)


class Recorder:
    """A pytest plugin that writes down the first test that failed, and ends when enough was tried."""

    def __init__(self, path: Path, most: float) -> None:
        self.path, self.most, self.ended = path, most, False

    def pytest_runtest_logreport(self, report) -> None:
        if report.failed:
            self.path.write_text(json.dumps(report.nodeid))

    def pytest_collectreport(self, report) -> None:
        if report.failed and not self.path.exists():
            self.path.write_text(json.dumps(f"collecting {report.nodeid}"))

    def pytest_collection_modifyitems(self, items) -> None:
        items.reverse()  # the newest tests of a file, its last, were written for faults that others did not notice

    def pytest_runtest_teardown(self, item) -> None:
        if time.process_time() > self.most:
            self.ended = True
            item.session.shouldstop = "enough"


class Changed(SourceFileLoader, MetaPathFinder):
    """Serves one module from other text than its file's."""

    def __init__(self, fullname: str, path: str, code: str) -> None:
        super().__init__(fullname, path)
        self.text = code

    def find_spec(self, fullname, path=None, target=None):
        return spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None

    def get_code(self, fullname):
        return compile(self.text, self.path, "exec", dont_inherit=True)


class Judge:
    """Runs the tests on the copy under `folder`; one child at a time."""

    def __init__(self, root: Path, folder: Path, most: float) -> None:
        self.root, self.folder, self.tree, self.most = root, folder, folder / "tree", most
        self.log, self.killer = (folder / f"{name}-{os.getpid()}" for name in ("log.txt", "killer.json"))

    def stages(self, tests: list[tuple[str, float, bool]]) -> list[list[tuple[str, float]]]:
        """Earlier killers first, then the mirror image; then others, the quick ones first, up to a sum of seconds."""
        first = [(test, seconds) for test, seconds, other in tests if not other and "::" in test]
        near = [(test, seconds) for test, seconds, other in tests if not other and "::" not in test]
        far, total = [], 0.0
        for test, seconds, other in tests:
            if other and total + seconds <= STAGE:
                far.append((test, seconds))
                total += seconds
        return [stage for stage in (list(dict.fromkeys(first)), near, far) if stage]

    def judge(self, file: str, code: str, tests: list[tuple[str, float, bool]]) -> dict:
        """Let the code stand for the file's and run the tests until one fails."""
        stages = self.stages(tests)
        started = time.perf_counter()
        self.killer.unlink(missing_ok=True)
        module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        outcome, seconds = self._child(stages, Changed(module, str(self.tree / file), code))
        killer = json.loads(self.killer.read_text()) if self.killer.exists() else None
        row = {"outcome": outcome, "killer": killer, "tests": sum(len(stage) for stage in stages)}
        return {**row, "cpu": round(seconds, 2), "wall": round(time.perf_counter() - started, 2)}

    def _child(self, stages: list[list[tuple[str, float]]], changed: Changed) -> tuple[str, float]:
        clean = sum(seconds for stage in stages for _, seconds in stage)
        limit = int(3 * min(clean, self.most) + 12)
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            status = 99
            try:
                status = self._run_tests(stages, limit, changed)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        deadline = time.monotonic() + 30 * limit + 300
        done = 0
        try:
            while not done and time.monotonic() < deadline:
                done, status, usage = os.wait4(child, os.WNOHANG)
                time.sleep(0 if done else 0.02)
        finally:
            if not done:
                os.kill(child, signal.SIGKILL)
                _, status, usage = os.wait4(child, 0)
        seconds = usage.ru_utime + usage.ru_stime
        if os.WIFSIGNALED(status):
            return "timeout" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "killed", seconds
        code = os.WEXITSTATUS(status)
        return {0: "survived", 1: "killed", 2: "killed"}.get(code, f"error {code}"), seconds

    def _run_tests(self, stages: list[list[tuple[str, float]]], limit: int, changed: Changed) -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.root)
        sys.path[:0] = [str(self.tree / "src")]
        sys.meta_path[:0] = [changed]
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ["PYTHONPATH"] = str(self.tree / "src")
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(self.folder / f"hypothesis-{os.getpid()}")
        import pytest

        options = [
            "-x",
            "-q",
            "--assert=plain",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-p",
            "no:cov",
            "--hypothesis-seed=0",
        ]
        for stage in stages:
            names = [f"{self.tree}/{test}" if test.startswith("src/") else test for test, _ in stage]
            recorder = Recorder(self.killer, self.most)
            status = int(pytest.main([*options, *names], plugins=[recorder]))
            if status and not (recorder.ended and not self.killer.exists()):
                return status
            if recorder.ended:
                break
        return 0
