"""Columns that are too good to be true are told; ordinary measurements are not."""

import numpy as np
import polars as pl
import pytest

import fewer
from fewer.datasets import info, load
from fewer.io import to_problem
from fewer.io._suspicions import suspicions

N = 200
RNG = np.random.default_rng(0)
CLASSES = np.repeat([0, 1], N // 2)
QUANTITY = RNG.normal(size=N)
NOISE = RNG.normal(size=N)
FLIPPED = np.where(np.arange(N) % 67 == 0, 1 - CLASSES, CLASSES)
IDENTIFIERS = {
    "steps of seven": 7 * np.arange(N) + 3,
    "steps of seven, shuffled": 7 * RNG.permutation(N) + 3,
    "random numbers sorted by class": np.sort(RNG.choice(10**6, N, replace=False)),
    "random numbers": RNG.permutation(900_000)[:N] + 100_000,
    "words": [f"p{i * 37 % 1009}" for i in range(N)],
    "tenths": 0.1 * np.arange(N),
}
COPIES = {
    "exact": CLASSES * 3 + 1,
    "words": np.where(CLASSES, "ill", "well"),
    "a few rows off": FLIPPED,
    "with a little noise": CLASSES + 0.05 * NOISE,
    "codes": [f"c{3 * c + i % 3}" for i, c in enumerate(CLASSES)],
    "another unit, a cut": CLASSES * 100 + RNG.uniform(0, 99, N),
}
QUANTITIES = {
    "exact": QUANTITY,
    "scaled": -2.54 * QUANTITY + 7,
    "a little noise": QUANTITY + 0.001 * NOISE,
    "logarithm": np.exp(QUANTITY),
}


def notes_of(column, y):
    frame = pl.DataFrame({"plain": NOISE, "suspect": column, "other": RNG.integers(0, 9, N)})
    return to_problem(frame, y).notes


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_names_and_counters_of_rows(name):
    notes = notes_of(IDENTIFIERS[name], np.random.default_rng(1).permutation(CLASSES))
    assert len(notes) == 1
    assert "'suspect' looks like an identifier" in notes[0] or "'suspect' follows the order" in notes[0]


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_the_class(name):
    order = np.random.default_rng(1).permutation(N)
    notes = notes_of(np.asarray(COPIES[name])[order], CLASSES[order])
    assert len(notes) == 1
    assert "'suspect' tells the target by itself" in notes[0]


@pytest.mark.parametrize("name", QUANTITIES)
def test_copies_of_a_quantity(name):
    notes = notes_of(QUANTITIES[name], QUANTITY)
    assert len(notes) == 1
    assert "'suspect' tells the target by itself" in notes[0]


def test_a_large_table_is_looked_at_in_part_first_and_whole_where_that_is_suspect():
    n = 30_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    almost = y.copy()
    almost[: n // 5] = rng.integers(0, 2, n // 5)
    ids = rng.permutation(n)
    table = np.column_stack([rng.normal(size=n), y, almost, ids])
    notes = suspicions(to_problem(table, y))
    assert [note.split("'")[1] for note in notes] == ["x3", "x1"]


def test_ordinary_tables_draw_no_warning():
    told = {}
    for line in info():
        if line.bundled and line.way != "view":
            data = load(line.name)
            notes = suspicions(to_problem(data.X, data.y))
            if notes:
                told[line.name] = notes
    assert told == {}


def test_strong_but_honest_columns_draw_no_warning():
    rng = np.random.default_rng(3)
    y = np.arange(300) % 3
    strong = np.column_stack(
        [2.5 * y + rng.normal(size=300), np.where(rng.random(300) < 0.85, y, 0), rng.poisson(5, 300)]
    )
    assert suspicions(to_problem(strong, y)) == []
    quantity = 3 * strong[:, 0] + rng.normal(size=300)
    assert suspicions(to_problem(strong, quantity)) == []
    counts = rng.permutation(10**6)[: 40 * 60].reshape(40, 60)  # whole numbers, each different, in every column
    assert suspicions(to_problem(counts, np.arange(40) % 2)) == []


def test_the_warning_reaches_python():
    frame = pl.DataFrame({"plain": NOISE, "leak": CLASSES})
    selection = fewer.select(frame, CLASSES, "fisher", n_features_to_select=1, cv=0, random_state=0)
    assert any("'leak' tells the target" in note for note in selection.warnings)
    comparison = fewer.compare(frame, CLASSES, ["fisher"], ["knn"], cv=2, random_state=0)
    assert any("'leak' tells the target" in note for note in comparison.notes)
