"""Texts that people read are plain: no words of a private dialect in any string of the package, its pages or help."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "fewer"
WORDS = {
    r"\bLanes from the top\b": "histograms from top to bottom",
    r"\bCures?:": "How to fix:",
    r"\bby heart\b": "overfits",
    r"\bpolite kill\b": "SIGTERM",
    r"\bbeing no features\b": "not used as features",
    r"\bmembership given\b": "predicted probability",
    r"\bOr so many features\b": "Number of features",
    r"\bbest so many\b": "this many",
    r"\bat most so many\b": "up to that number",
    r"\bFolds that judge\b": "Test folds",
    r"\bRows count as much\b": "Row weights",
    r"\bitself believed\b|\bsearch believed\b": "search score",
    r"\bcan hardly see\b|\bsee no difference\b": "barely measurable",
    r"\bof what these tell\b": "predictive information",
    r"\brows would tell\b": "would narrow the interval",
    r"\blittle behind the best\b": "close to the best",
    r"\bnear copies\b": "near-duplicates",
    r"\bis no (table|number|class|column|whole|quantity|JSON|answer)\b": "is not a …",
    r"\bleave it out\b": "omit it, drop it",
    r"\bGo on with\b|\bgoes on from there\b": "resume, continue",
    r"\bended from outside\b": "was killed",
    r"\bfor want of memory\b": "for lack of memory",
    r"\bmistake in fewer\b": "bug in fewer",
    r"\bchosen again\b": "selected in",
    r"\bcan be replaced by\b": "substitutes",
    r"\bHow it came about\b": "Details",
    r"\bWho judges\b|\brace before three judges\b": "which model is used",
    r"\bwritten anew\b|\bwrite it anew\b|\bfold anew\b": "again",
    r"\bstop believing\b": "guards against overfitting",
    r"\bTold by\b|\bis told of\b|\bare told of\b": "reported",
}


def strings_of(path):
    """Return the texts of a module that are not docstrings: (line, text)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def texts():
    """Return every text that people may read: where it stands, and itself."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name != "_index.py":
            for line, text in strings_of(path):
                yield f"{path.relative_to(ROOT)}:{line}", text
    for kind in ("html", "js"):
        for path in sorted(SOURCE.rglob(f"*.{kind}")):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "start.md"]:
        yield path.name, path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def all_texts():
    return list(texts())


@pytest.mark.parametrize("word", WORDS)
def test_no_text_has_a_word_of_the_list(word, all_texts):
    found = [f"{where}: {text[:100]!r}" for where, text in all_texts if re.search(word, text)]
    assert not found, f"say {WORDS[word]!r} instead:\n" + "\n".join(found)


def test_help_texts_have_none_either():
    """Docstrings of commands are what `--help` prints."""
    for path in sorted((SOURCE / "cli").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
                assert not [word for word in WORDS if re.search(word, text)], f"{path.name}: {node.name}"


def test_a_score_is_never_written_with_four_digits():
    """Four digits suggest a precision that no interval allows: `score_text` decides."""
    allowed = {"validate/_intervals.py", "control/_early_stopping.py", "roc/_operating_point.py", "roc/_parcel.py"}
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).as_posix() not in allowed and "plots" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"score[^{}]*:[+,]?\.4f\}", line)
    ]
    assert not found
