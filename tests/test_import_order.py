"""A package may use those above it in this list, never one below; components meet only in the contracts."""

import ast
from pathlib import Path

import pytest

import fewer

ROOT = Path(fewer.__file__).parent
ORDER = """
errors text markup files _index columns registry problem trace contracts logs parallel io kernels statistics differences
validate estimators models criteria rankers search control roc callbacks selectors evaluate datasets plots budget runs
selection planning scripts running streaming api report papers serve cli __main__
""".split()
STRANGERS = {"criteria", "rankers", "search"}
FILES = sorted(ROOT.rglob("*.py"))


def package_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported_packages(path: Path) -> set[str]:
    packages = set()
    guarded = set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            guarded.update(ast.walk(node))
    for node in ast.walk(tree):
        if node in guarded:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "fewer":
            packages.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fewer."):
            packages.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            packages.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("fewer."))
    return packages - {"__version__"}


def test_every_package_has_its_place():
    assert {package_of(path) for path in FILES} - {"__init__"} <= set(ORDER)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_upwards(path):
    package = package_of(path)
    if package == "__init__":
        return
    for other in imported_packages(path) - {package}:
        assert ORDER.index(other) < ORDER.index(package), f"{package} must not import {other}"
        assert not {package, other} <= STRANGERS, f"{package} and {other} meet only in the contracts"
