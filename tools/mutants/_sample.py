"""Which faults: a random sample of places in the code, one fault at each, by the operators of cosmic-ray.

A place is drawn by a hash of the seed and of the text there, so the sample stays the same when other lines change.
"""

import ast
import hashlib
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# of the replacements of one operator those that do not fail on the types at once
NEAR = {
    "Add": "Sub Mul",
    "Sub": "Add Mul",
    "Mul": "Div Add",
    "Div": "Mul FloorDiv",
    "FloorDiv": "Div Mul",
    "Mod": "FloorDiv",
    "Pow": "Mul",
    "BitOr": "BitAnd BitXor",
    "BitAnd": "BitOr",
    "BitXor": "BitOr",
    "LShift": "RShift",
    "RShift": "LShift",
}
SKIPPED = {"NoOp", "VariableReplacer", "VariableInserter"}  # the two need a name each


@dataclass(frozen=True)
class Mutant:
    """One fault: the operator's so-manieth occurrence in a file (relative to the root)."""

    key: str
    file: str
    line: int
    scope: str
    text: str
    operator: str
    occurrence: int

    def code(self, root: Path) -> str:
        source = (root / self.file).read_text()
        return mutate_code(source, get_operator(self.operator)(), self.occurrence)

    def record(self) -> dict:
        return asdict(self)


def is_wanted(operator: str) -> bool:
    """A fault that a hand could have made: `+` for `-`, not `<<` for `/`, not `is` for `<`."""
    name = operator.removeprefix("core/")
    if name in SKIPPED:
        return False
    if name.startswith("ReplaceBinaryOperator_"):
        old, new = name.split("_")[1:]
        return new in NEAR[old].split()
    if name.startswith("ReplaceComparisonOperator_"):
        old, new = name.split("_")[1:]
        return old.startswith("Is") == new.startswith("Is")
    return True


def never_run(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Spans that no test can reach: annotations (they stay text) and what stands under TYPE_CHECKING."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            spans.append(node)
        spans.extend(
            part for name in ("annotation", "returns") if (part := getattr(node, name, None)) is not None
        )  # parameters, attributes; results
    return [((span.lineno, span.col_offset), (span.end_lineno, span.end_col_offset)) for span in spans]


def scopes(source: str) -> list[str]:
    """For each line the innermost class or function; "" at the top of the file."""
    lines = [""] * (source.count("\n") + 2)

    def walk(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{name}.{child.name}".strip(".")
                for line in range(child.lineno, child.end_lineno + 1):
                    lines[line] = inner
            walk(child, inner)

    walk(ast.parse(source), "")
    return lines


def in_file(root: Path, file: str) -> list[Mutant]:
    source = (root / file).read_text()
    tree, lines, where, dead = get_ast(source), source.splitlines(), scopes(source), never_run(source)
    nodes, found, seen = list(ast_nodes(tree)), [], Counter()
    for operator in sorted(name for name in operator_names() if is_wanted(name)):
        finder = get_operator(operator)()
        spots = [start for node in nodes for start, _ in finder.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(spots):
            text = lines[line - 1]
            if any(start <= (line, column) < end for start, end in dead):
                continue
            indent = len(text) - len(text.lstrip())
            place = f"{file}|{where[line]}|{text.strip()}|{column - indent}"
            seen[place, operator] += 1
            key = f"{place}|{operator.removeprefix('core/')}|{seen[place, operator]}"
            found.append(Mutant(key, file, line, where[line], text.strip(), operator, occurrence))
    return found


def draw(root: Path, files: list[str], n: int, seed: int) -> tuple[list[Mutant], int]:
    """Return n mutants, each at a place of its own, and how many places there are."""
    places = defaultdict(list)
    for file in files:
        for mutant in in_file(root, file):
            places[mutant.key.rsplit("|", 2)[0]].append(mutant)

    def rank(key: str) -> str:
        return hashlib.sha256(f"{seed}|{key}".encode()).hexdigest()

    chosen = sorted(places, key=rank)[:n]
    return [min(places[place], key=lambda mutant: rank(mutant.key)) for place in chosen], len(places)
