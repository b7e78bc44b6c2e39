"""How the house stands, in numbers: `python tools/counts.py`; `--list` names what is counted.

`--since COMMIT` tells instead which commits since then took lines of code away, and which added some.

Lines are counted as they stand; a function's length and its number of arguments without its docstring and without
`self`. Constructors of components and estimators, whose arguments are their parameters, are counted apart.
"""

import argparse
import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "fewer"
MANY_ARGUMENTS = 10
LONG = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name what is counted")
    parser.add_argument("--since", metavar="COMMIT", help="commits that took lines of code away, and that added some")
    arguments = parser.parse_args()
    if arguments.since:
        tell_history(arguments.since)
        return
    listed = arguments.list
    functions = [(path, *function) for path in sources() for function in functions_of(ast.parse(path.read_text()))]
    public, complete = docstrings()
    wide = [name(path, owner, node) for path, owner, node in functions if n_arguments(node) >= MANY_ARGUMENTS]
    plain = [text for text in wide if not text.endswith(".__init__")]
    rows: list[tuple[str, object, list[str]]] = [
        ("lines of src", sum(len(path.read_text().splitlines()) for path in sources()), []),
        ("lines of src without docstrings", sum(len(without_docstrings(path)) for path in sources()), []),
        ("public names", public, []),
        ("public names with full docstrings", public - len(complete), complete),
        (f"functions of {MANY_ARGUMENTS} or more arguments", len(plain), plain),
        (
            f"constructors of {MANY_ARGUMENTS} or more parameters",
            len(wide) - len(plain),
            sorted(set(wide) - set(plain)),
        ),
        *long_functions(functions),
        *mirrors(),
        *ignores(),
        *duplicates(),
    ]
    for what, number, names in rows:
        print(f"{number:>7,}  {what}" if isinstance(number, int) else f"{number!s:>7}  {what}")
        if listed:
            print(*(f"         {text}" for text in names), sep="\n", end="\n" if names else "")


def sources() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def functions_of(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        inner = owner
        if isinstance(node, ast.FunctionDef):
            yield owner, node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{owner}{node.name}."
        yield from functions_of(node, inner)


def name(path: Path, owner: str, node: ast.FunctionDef) -> str:
    return f"{path.relative_to(SOURCE)}: {owner}{node.name}"


def n_arguments(node: ast.FunctionDef) -> int:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def docstring_lines(node: ast.AST) -> set[int]:
    first = node.body[0] if getattr(node, "body", None) else None
    text = first.value if isinstance(first, ast.Expr) else None
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        return set()
    return set(range(text.lineno, (text.end_lineno or 0) + 1))


def without_docstrings(path: Path) -> list[str]:
    return lines_of(path.read_text())


def lines_of(text: str) -> list[str]:
    gone: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            gone |= docstring_lines(node)
    return [line for number, line in enumerate(text.splitlines(), 1) if number not in gone]


def tell_history(since: str) -> None:
    """Print what each commit changed in the code lines of `src`, those that took most first, and both sums."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout

    @cache
    def n_lines(blob: str) -> int:
        code = lines_of(git("cat-file", "blob", blob)) if blob.strip("0") else []
        return sum(bool(line.strip()) and not line.strip().startswith("#") for line in code)

    changes = []
    for entry in git("log", "--first-parent", "--format=%h %s", f"{since}..HEAD").splitlines():
        changed = git("diff-tree", "-r", "--no-renames", *(entry.split()[0] + end for end in ("^", "")), "--", "src")
        blobs = [row.split()[2:4] for row in changed.splitlines() if row.endswith(".py")]
        changes.append((sum(n_lines(after) - n_lines(before) for before, after in blobs), entry))
    print(*(f"{n:>+7,}  {entry}" for n, entry in sorted(changes) if n), sep="\n")
    print(
        f"{sum(min(n, 0) for n, _ in changes):>+7,}  taken away",
        f"{sum(max(n, 0) for n, _ in changes):>+7,}  added",
        sep="\n",
    )


def long_functions(functions: list[tuple[Path, str, ast.FunctionDef]]) -> Iterator[tuple[str, int, list[str]]]:
    with_all, bare = [], []
    for path, owner, node in functions:
        n_lines = (node.end_lineno or 0) - node.lineno + 1
        if n_lines > LONG:
            with_all.append(f"{name(path, owner, node)} ({n_lines})")
        if n_lines - len(docstring_lines(node)) > LONG:
            bare.append(f"{name(path, owner, node)} ({n_lines - len(docstring_lines(node))})")
    yield f"functions over {LONG} lines", len(bare), bare
    yield f"functions over {LONG} lines, docstrings counted", len(with_all), with_all


def docstrings() -> tuple[int, list[str]]:
    """Ask the gate of the test suite."""
    spec = importlib.util.spec_from_file_location("gate", ROOT / "tests" / "test_docstrings.py")
    assert spec is not None
    assert spec.loader is not None
    gate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gate)
    problems = {name: gate.problems_of(*thing) for name, thing in gate.public_objects().items()}
    return len(problems), [f"{name}: {', '.join(troubles)}" for name, troubles in problems.items() if troubles]


def mirrors() -> Iterator[tuple[str, int, list[str]]]:
    lonely = []
    for path in sources():
        part = path.relative_to(SOURCE)
        if path.name == "__init__.py" or path.name.startswith("__"):
            continue
        if not (ROOT / "tests" / part.parent / f"test_{path.stem.removeprefix('_')}.py").exists():
            lonely.append(str(part))
    yield "modules without a mirror test", len(lonely), lonely


def ignores() -> Iterator[tuple[str, int, list[str]]]:
    places = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"#\s*type:\s*ignore", line)
    ]
    yield "type ignores", len(places), places


KINDS = {
    "constructors and declared parameters": r"def __init__|self\.\w+ = \w+$|_parameter_constraints|\"\w+\": \["
    r"|CV_OBJECT|\) -> None:$|command_name",
    "signatures": r"^\w+: [^=]+( = .+)?,$|^\w+,$|^\*,$|^self,$|^cls,$|^def |^\) -> ",
    "fields of records": r"^\w+: [^=]+( = .+)?$|^@dataclass|^class ",
    "names that are exported": r"^\"\w+\",$",
}
"""What most lines of a pair are; the first kind of the list that at least half of them belong to."""


def duplicates() -> Iterator[tuple[str, object, list[str]]]:
    """Count pairs of six or more like lines in the sources without their docstrings, where there is a finder."""
    finder, title = shutil.which("duplicates"), "duplicate pairs in the code of src"
    if finder is None:
        yield title, "–", []
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in sources():
            place = Path(folder) / path.relative_to(SOURCE)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("\n".join(without_docstrings(path)))
        output = subprocess.run(
            [finder, "--repo", folder, "--most", "200", "--seconds", "120"], capture_output=True, text=True, check=True
        ).stdout
        pairs = [line for line in output.splitlines() if re.match(r"D\d+ ", line)]
        kinds = [kind_of(pair, Path(folder)) for pair in pairs]
    count = re.match(r"(\d+) pairs", output)
    yield title, int(count[1]) if count else output.splitlines()[0], []
    for kind in dict.fromkeys([*KINDS, "loops of kernels", "other code"]):
        members = [pair for pair, one in zip(pairs, kinds, strict=True) if one == kind]
        yield f"… of them {kind}", len(members), members


def kind_of(pair: str, folder: Path) -> str:
    """Say what most lines of a pair's first side are."""
    match = re.match(r"D\d+ (\S+):(\d+)-(\d+)", pair)
    assert match is not None
    lines = (folder / match[1]).read_text().splitlines()[int(match[2]) - 1 : int(match[3])]
    code = [line.strip() for line in lines if line.strip()]
    for kind, pattern in KINDS.items():
        if 2 * sum(bool(re.search(pattern, line)) for line in code) >= len(code):
            return kind
    return "loops of kernels" if match[1].startswith("kernels/") else "other code"


if __name__ == "__main__":
    sys.exit(main())
