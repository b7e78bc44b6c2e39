"""The page of all good subsets in a real browser: ticks show the best subset that remains."""

import numpy as np
import pytest

import fewer
from fewer.criteria import KNN
from fewer.evaluate import good_subsets
from fewer.problem import Problem
from fewer.report import write_alternatives_report, write_selection_report
from fewer.run.selection import Selection


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 9)), rng.integers(0, 2, 120)
    X[:, :3] += 1.5 * y[:, None]
    return X, y


@pytest.fixture(scope="module")
def found(rows):
    return good_subsets(KNN(3, cv="loo"), Problem.from_arrays(*rows))


def remaining(found, out, inside):
    """The best that remain, by hand: their score, and how many there are."""
    left = ~found.masks[:, out].any(axis=1) & found.masks[:, inside].all(axis=1)
    return f"score {found.scores[left].max():.3f}", f"{left.sum():,} good subsets remain"


def test_ticks_show_the_best_that_remains(found, tmp_path, open_page):
    page = open_page(write_alternatives_report(tmp_path / "good.html", found))
    status = page.locator("#choice")
    status.filter(has_text=remaining(found, [], [])[1]).wait_for()
    best = found.masks[0].nonzero()[0].tolist()
    page.check(f"input[data-out='{best[0]}']")
    page.check(f"input[data-in='{best[1]}']")
    for words in remaining(found, [best[0]], [best[1]]):
        assert words in status.text_content()
    page.check(f"input[data-out='{best[1]}']")
    assert status.text_content() == "No good subset remains."


def test_ticks_on_the_page_of_a_selection(rows, tmp_path, open_page):
    selection = fewer.select(*rows, criterion=KNN(3), search="forward", cv=0, alternatives=1000, random_state=0)
    page = open_page(write_selection_report(tmp_path / "page.html", Selection.from_json(selection.to_json())))
    found = good_subsets(KNN(3), Problem.from_arrays(*rows), seed=0)
    status = page.locator("#choice")
    status.filter(has_text=remaining(found, [], [])[1]).wait_for()
    best = found.masks[0].nonzero()[0].tolist()
    page.check(f"input[data-out='{best[0]}']")
    for words in remaining(found, [best[0]], []):
        assert words in status.text_content()
