"""The house stays small: budgets for its lines and modules, tests for every package, one name for one thing."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import fewer

SOURCES = Path(fewer.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(SOURCES.rglob("*.py"))
PACKAGES = sorted(path.parent.relative_to(SOURCES) for path in SOURCES.glob("*/__init__.py"))

# Only a commit that says why raises one of these.
MOST_LINES = 40_700  # of code: without docstrings, comments and blank lines
MOST_MODULES = 275
MOST_PRIVATE_IMPORTS = 170  # of another package's private modules
MOST_GUESSES = 75  # getattr with a default


def code_lines(path: Path) -> int:
    text = path.read_text()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            said.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(1 for number, line in lines if line and not line.startswith("#") and number not in said)


def package_of(path: Path) -> str:
    return path.relative_to(SOURCES).parts[0].removesuffix(".py")


def private_imports(path: Path) -> list[str]:
    names = [node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    private = [name.split(".") for name in names if name and name.startswith("fewer.") and "._" in name]
    return [".".join(parts) for parts in private if parts[1] != package_of(path)]


def guesses(path: Path) -> int:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return sum(isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) == 3 for call in calls)


def test_the_code_has_a_budget():
    assert sum(map(code_lines, MODULES)) <= MOST_LINES
    assert len(MODULES) <= MOST_MODULES


def test_packages_use_what_others_offer():
    assert sum(len(private_imports(path)) for path in MODULES) <= MOST_PRIVATE_IMPORTS


def test_objects_are_asked_not_guessed_at():
    assert sum(map(guesses, MODULES)) <= MOST_GUESSES


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_every_package_has_tests_of_its_own(package):
    assert any("def test_" in path.read_text() for path in (TESTS / package).glob("test_*.py"))


def classes_by_name() -> Counter[str]:
    trees = (ast.parse(path.read_text()) for path in MODULES)
    return Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
