"""The recipes of CONTRIBUTING.md run as they stand there, and each is short."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
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
KERNELS = "kernels"  # compiled; nothing in them changes


def apply(diff, root):
    """Do what a diff says to the files below a folder; return their names."""
    parts = re.split(r"^--- .*\n\+\+\+ b/(.*)\n", diff, flags=re.M)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        text = (root / name).read_text(encoding="utf-8")
        for hunk in re.split(r"^@@ .*\n", body, flags=re.M)[1:]:
            lines = hunk.splitlines(keepends=True)
            before, after = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
            assert text.count(before) == 1, f"{name}: {before}"
            text = text.replace(before, after)
        (root / name).unlink()
        (root / name).write_text(text, encoding="utf-8")
    return parts[1::2]


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """The package with all three diffs, in a folder of its own."""
    root, source = tmp_path_factory.mktemp("clone"), ROOT / "src" / "fewer"
    aside = shutil.ignore_patterns("__pycache__", KERNELS)
    shutil.copytree(source, root / "src" / "fewer", ignore=aside, copy_function=os.symlink)
    (root / "src" / "fewer" / KERNELS).symlink_to(source / KERNELS)
    os.replace(shutil.copy(source / "index.json", root), root / "src" / "fewer" / "index.json")  # it is written again
    for diff in DIFFS:
        assert 1 <= len(apply(diff, root)) <= 2
    (root / "src" / "fewer" / "criteria" / "_correlation.py").write_text(f'"""Correlation."""\n\n{RECIPES[0]}')
    return root


REFUSED = """
import fewer
try:
    fewer.select([[0], [1]], [0, 1], standins="no")
except fewer.InputError as error:
    print(error)
"""


def python(changed, *words):
    done = subprocess.run(
        [sys.executable, *words], env=os.environ | {"PYTHONPATH": str(changed / "src")}, cwd=changed, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_first_task_touches_at_most_two_files_and_works(changed):
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 10, "b": [1.5, 0.5, 1.0, 0.0] * 10, "y": list("uuvv") * 10})
    table.write_avro(changed / "table.avro")
    python(changed, "-m", "fewer.registry")
    call = "select table.avro -t y --folds 0 --json".split()
    by_criterion = json.loads(python(changed, "-m", "fewer", *call, "--criterion", "correlation:price=0.5"))
    assert (by_criterion["features"], by_criterion["criterion"]) == (["a"], "Correlation(price=0.5)")
    assert "standins=False" in json.loads(python(changed, "-m", "fewer", *call, "--no-standins"))["code"]
    assert "The 'standins' parameter of select must be" in python(changed, "-c", REFUSED)
