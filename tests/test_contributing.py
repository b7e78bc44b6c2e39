"""The recipes of CONTRIBUTING.md run as they stand there, and each is short."""

import re
from pathlib import Path

import numpy as np
import pytest

import fewer
from making import make_problem

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)


@pytest.fixture(scope="module")
def names():
    found = {}
    for recipe in RECIPES:
        exec(recipe, found)
    return found


def test_each_recipe_is_one_short_file():
    assert len(RECIPES) == 4
    for recipe in RECIPES:
        assert len([line for line in recipe.splitlines() if line.strip()]) < 30


def test_they_work_together_and_with_ours(names):
    problem = make_problem(n_features=6)
    for criterion, search, control in (
        (names["Correlation"](), fewer.search.Floating(), None),
        (fewer.criteria.KNN(), names["Luck"](tries=20), fewer.control.Aggregate(3)),
        (names["Correlation"](0.1), names["Luck"](), names["Twice"]()),
    ):
        found = fewer.SubsetSelector(criterion, search, control=control, random_state=0).fit(problem.X, problem.y)
        assert found.support_.any()
    ranked = fewer.RankSelector(names["Spread"](), n_features_to_select=2).fit(problem.X, problem.y)
    assert set(np.flatnonzero(ranked.support_)) == set(np.argsort(-problem.X.std(axis=0))[:2])


def test_wrong_parameters_are_refused_for_free(names):
    problem = make_problem(n_features=6)
    with pytest.raises(fewer.InputError, match="The 'price' parameter of Correlation must be"):
        fewer.SubsetSelector(names["Correlation"](-1.0)).fit(problem.X, problem.y)


DIFFS = re.findall(r"```diff\n(.*?)```", TEXT, flags=re.S)
ROOT = Path(__file__).parent.parent


def files_of(diff):
    """Return, for each file of a diff, the lines that must be there already."""
    parts = re.split(r"^--- .*\n\+\+\+ b/(.*)\n", diff, flags=re.M)
    return {
        name: [line[1:] for line in body.splitlines() if line.startswith((" ", "-"))]
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_a_first_task_touches_at_most_two_files_and_they_are_as_shown():
    assert len(DIFFS) == 3
    for diff in DIFFS:
        found = files_of(diff)
        assert 1 <= len(found) <= 2
        for name, there in found.items():
            path = ROOT / name
            assert path.exists() or not there
            assert set(there) <= set(path.read_text(encoding="utf-8").splitlines() if path.exists() else ())
