"""A package may use those above it in this list, never one below; components meet only in the contracts."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import fewer

ROOT = Path(fewer.__file__).parent
ORDER = """
errors text files registry problem contracts logs parallel io kernels statistics validate estimators models
criteria rankers search control roc selectors evaluate datasets plots run streaming report serve cli __main__
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
    return packages - {"__version__", "undisturbed", "on_demand"}


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


def test_scripts_import_names_that_are_there():
    """Benchmarks and experiments are not run by the suite, and would be found broken only by whoever runs them."""
    root = Path(__file__).parents[1]
    lost = []
    for folder in ("benchmarks", "experiments", "tools", "docs", "examples"):
        for script in sorted((root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(script.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "fewer":
                    module = import_module(node.module)
                    lost += [
                        f"{script.relative_to(root)}: {node.module}.{alias.name}"
                        for alias in node.names
                        if not hasattr(module, alias.name) and find_spec(f"{node.module}.{alias.name}") is None
                    ]
    assert lost == []
