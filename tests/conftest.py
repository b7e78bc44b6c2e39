import os
import sys
from pathlib import Path

import pytest

# Without this every process that a test starts compiles all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Threads of OpenMP and BLAS wait for one another where workers share the cores: a small fit takes many times as long.
for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
AT_ROOT = pytest.StashKey[set[str]]()
CACHES = {".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", "__pycache__"}


def pytest_sessionstart(session):
    session.config.stash[AT_ROOT] = set(os.listdir(ROOT))


def pytest_sessionfinish(session):
    """Fail where tests have left files at the root of the checkout."""
    left = set(os.listdir(ROOT)) - session.config.stash[AT_ROOT] - CACHES
    session.config.stash[AT_ROOT] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for name in sorted(terminalreporter.config.stash[AT_ROOT]):
        terminalreporter.line(f"ERROR a test has left {name!r} at the root of the checkout: it must write to tmp_path.")


@pytest.fixture
def problem():
    from making import make_problem

    return make_problem()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium, where it is installed."""
    from browsing import CHROMIUM, Browser

    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
