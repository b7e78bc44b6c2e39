"""The house stays small: budgets for its lines and modules, tests for every package, one name for one thing."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import fewer

SOURCES = Path(fewer.__file__).parent
TESTS = Path(__file__).parent
MODULES = sorted(SOURCES.rglob("*.py"))
PACKAGES = sorted(path.parent.relative_to(SOURCES) for path in SOURCES.glob("*/__init__.py"))

# Only a commit that says why raises one of these.
MOST_LINES = 41_793  # of code: without docstrings, comments and blank lines
MOST_MODULES = 230
MOST_PRIVATE_IMPORTS = 24  # of another package's private modules
MOST_GUESSES = 15  # getattr with a default


def code_lines(path: Path) -> int:
    text = path.read_text()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documentation: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            documentation.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(1 for number, line in lines if line and not line.startswith("#") and number not in documentation)


def package_of(path: Path) -> str:
    return path.relative_to(SOURCES).parts[0].removesuffix(".py")


def private_imports(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{alias.name}" for alias in node.names if re.match("_[a-z]", alias.name)]
            names += [node.module] if "._" in node.module else modules
    private = [name.split(".") for name in names if name.startswith("fewer.") and "._" in name]
    return [".".join(parts) for parts in private if parts[1] != package_of(path)]


def guesses(path: Path) -> int:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return sum(isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) == 3 for call in calls)


def test_the_code_has_a_budget():
    assert sum(map(code_lines, MODULES)) <= MOST_LINES
    assert len(MODULES) <= MOST_MODULES


def test_packages_use_what_others_offer():
    assert sum(len(private_imports(path)) for path in MODULES) <= MOST_PRIVATE_IMPORTS


def test_nothing_that_a_user_gives_is_checked_by_assert():
    """`python -O` leaves assertions out: they may tell a reader what is known, and validate nothing."""
    known = re.compile(r"\w+(\.\w+)* is not None|isinstance\(.*\)|len\(signature\) == len\(arguments\)")
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert):
                assert known.fullmatch(ast.unparse(node.test)), f"{path}:{node.lineno}"
            caught = ast.unparse(node.type) if isinstance(node, ast.ExceptHandler) and node.type else ""
            assert "AssertionError" not in caught, f"{path}:{node.lineno}"


def test_objects_are_asked_not_guessed_at():
    assert sum(map(guesses, MODULES)) <= MOST_GUESSES


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_every_package_has_tests_of_its_own(package):
    assert any("def test_" in path.read_text() for path in (TESTS / package).glob("test_*.py"))


def classes_by_name() -> Counter[str]:
    trees = (ast.parse(path.read_text()) for path in MODULES)
    return Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))


MESSAGES = {"note", "notes", "notes_", "warnings", "reason", "reason_", "promise", "promise_", "verdict"}
MESSAGES |= {"sentence", "trouble", "message", "kept"}
READING = {"startswith", "endswith", "find", "index", "removeprefix", "split", "partition"}


def is_message(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in MESSAGES


def compared_texts(path: Path) -> list[str]:
    """Find comparisons with, and searches in, the words of notes, warnings and reasons."""
    places = []
    for node in ast.walk(ast.parse(path.read_text())):
        suspect = False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING:
            suspect = is_message(node.func.value)
        elif isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            texts = (side for side in sides if isinstance(side, ast.Constant | ast.JoinedStr))
            has_text = any(isinstance(side, ast.JoinedStr) or isinstance(side.value, str) for side in texts)
            suspect = has_text and any(map(is_message, sides))
        if suspect:
            places.append(f"{path.relative_to(SOURCES)}:{node.lineno}: {ast.unparse(node)}")
    return places


def test_no_decision_reads_the_text_of_a_message():
    assert [place for path in MODULES for place in compared_texts(path)] == []


def test_a_class_name_stands_for_one_thing():
    assert {name for name, n in classes_by_name().items() if n > 1} == set()


def test_a_constant_is_named_for_what_it_holds():
    bodies = [node for path in MODULES for node in ast.parse(path.read_text()).body]
    targets = [target for node in bodies if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in bodies if isinstance(node, ast.AnnAssign)]
    names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    stored = [name.id for name in names if isinstance(name.ctx, ast.Store)]
    places = Counter(name for name in stored if re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name))
    assert {name for name, n in places.items() if n >= 3} == set()


def test_a_local_variable_is_named_for_what_it_holds():
    empty_words = {"found", "own", "told", "some", "said"}
    for path in MODULES:
        functions = [
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        names = (node for function in functions for node in ast.walk(function) if isinstance(node, ast.Name))
        stored = [node for node in names if isinstance(node.ctx, ast.Store) and node.id in empty_words]
        assert [f"{path}:{node.lineno} {node.id}" for node in stored] == []
