"""Texts that people read are plain: no words of a private dialect in any string of the package, its pages or help."""

import ast
import re
from pathlib import Path

import pytest

from fewer.evaluate.grading import Verdict
from fewer.text import score_text, signed

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


TABLE = {
    "about 660 rows would tell a difference of 2.0 points": r"rows would tell",
    "No difference in held-out accuracy was found": r"No difference (in held-out \S+ )?was found",
    "Selection helps: +0.000 (+0.000 to +0.000)": r"Selection helps: \{?\+?",
    "No difference … -0.0 points": r"-0\.0 points",
    "The order of … is little behind the best of 7 orders": r"little behind the best",
    "from 25 on these rows see no difference": r"these rows see",
    "keep 98% of what these tell": r"of what these tell",
    "chosen by auto (CrossValidated(estimator=": r"chosen by auto \(",
    "tells the target by itself, value by value": r"tells the target by itself|value by value",
    "Left out, being no features": r"being no features",
    "is no table that can be read; there are .csv…": r"is no table that can be read",
    "Lanes from the top: benign, malignant": r"Lanes from the top",
    "1 shows how the run goes on": r"shows how the run goes on",
    "preferring balanced": r"\bpreferring \{|\bpreferring balanced",
    "on the rows held out in the race, which chose the size": r"held out in the race",
    "Or so many features: 1": r"Or so many features",
    "membership given to malignant": r"membership given",
    "Rows count as much as · Folds that judge · Time it may take": r"Folds that judge|Time it may take|count as much",
    "Cures:": r"\bCures:",
    "auto lets rankings and searches race before three judges": r"race before three judges",
    "The search itself believed 0.9663, on the rows that it chose by.": r"search (itself )?believed",
    "Return some classes a common name · Return a seed to whatever has none": r"Return some classes|Return a seed to",
    "From so many different numbers on, words beside them are told of.": r"From so many|are told of",
    "Rows from which on nothing is said of a budget": r"Rows from which on nothing is said",
    "Rows that were only met in passing cannot be predicted again": r"met in passing",
    "A detector is not kept halfway": r"kept halfway",
    "learns its rows by heart": r"rows by heart",
    "Some unit costs something. · Those of the criterion. · Row weights count.": (
        r"Some unit costs something|^\s*Those of the criterion\.|[ \n]Row weights count\.$"
    ),
}
"""The table of sentences of the style guide: what was said, and what gives it away."""


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


@pytest.fixture(scope="module")
def all_pages(all_texts):
    """All texts, the docstrings and the pages of the guide."""
    found = list(all_texts)
    for path in sorted(SOURCE.rglob("*.py")):
        said = [node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Expr)]
        found += [(f"{path.name}:{node.lineno}", str(node.value)) for node in said if isinstance(node, ast.Constant)]
    return found + [(path.name, path.read_text("utf-8")) for path in sorted((ROOT / "docs" / "guide").glob("*.md"))]


@pytest.mark.parametrize("sentence", TABLE)
def test_no_sentence_of_the_table_is_left(sentence, all_pages):
    assert not [f"{where}: {text[:100]!r}" for where, text in all_pages if re.search(TABLE[sentence], text)]


@pytest.mark.parametrize("value", [-0.0, -0.04, 0.04, -1e-12])
def test_a_difference_that_rounds_to_nothing_has_no_sign(value):
    assert signed(value, 1) == "0.0"
    assert score_text(value / 100) == "0.00"


@pytest.mark.parametrize(
    ("score_name", "n_features", "said"),
    [("R²", 10, "1 of 10"), ("accuracy", 30, "1 of 30")],
)
def test_a_verdict_on_no_difference_does_not_say_that_selection_helps(score_name, n_features, said):
    told = Verdict.of(0.0, 0.0, 0.0, n_chosen=1, n_features=n_features, score_name=score_name)
    assert said in told.sentence
    assert not re.search(r"\+0\.0|-0\.0|−0\.0|[Hh]elps|[Bb]etter", told.sentence)


def test_help_texts_have_none_either():
    """Docstrings of commands are what `--help` prints."""
    for path in sorted((SOURCE / "cli").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
                assert not [word for word in WORDS if re.search(word, text)], f"{path.name}: {node.name}"


def test_a_score_is_never_written_with_four_digits():
    """Four digits suggest a precision that no interval allows: `score_text` decides."""
    found = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sorted(SOURCE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"(score|area|cost|estimate|fall)[^{}]*:[+,]?\.4f\}", line)
    ]
    assert not found
