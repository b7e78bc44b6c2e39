"""The tests mirror the tree: `src/fewer/search/_floating.py` has `tests/search/test_floating.py`."""

from pathlib import Path

import pytest

import fewer

SOURCES = Path(fewer.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_tests_of_its_own(module):
    mirror = TESTS / module.parent / f"test_{module.stem.strip('_')}.py"
    assert mirror.exists(), f"{mirror.relative_to(TESTS.parent)} is missing"
    assert "def test_" in mirror.read_text()


def test_there_are_modules():
    assert len(MODULES) > 250
