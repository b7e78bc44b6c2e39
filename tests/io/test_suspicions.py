"""Columns that are too good to be true are reported; ordinary measurements are not."""

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


def found_in(column, y):
    frame = pl.DataFrame({"plain": NOISE, "suspect": column, "other": RNG.integers(0, 9, N)})
    problem = to_problem(frame, y)
    assert problem.notes == tuple(one.evidence for one in problem.suspicions)
    return problem.suspicions


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_names_and_counters_of_rows(name):
    (one,) = found_in(IDENTIFIERS[name], np.random.default_rng(1).permutation(CLASSES))
    rising = name in ("steps of seven", "random numbers sorted by class", "tenths")
    assert (one.kind, one.column) == ("row number" if rising else "identifier", "suspect")
    assert "with the row number" in one.evidence if rising else "looks like an identifier" in one.evidence


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_the_class(name):
    order = np.random.default_rng(1).permutation(N)
    (one,) = found_in(np.asarray(COPIES[name])[order], CLASSES[order])
    assert (one.kind, one.column) == ("copy of the target" if name in ("exact", "words") else "leak", "suspect")


@pytest.mark.parametrize("name", QUANTITIES)
def test_copies_of_a_quantity(name):
    (one,) = found_in(QUANTITIES[name], QUANTITY)
    assert (one.kind, one.column) == ("copy of the target" if name == "exact" else "leak", "suspect")


def test_what_is_there_for_one_class_alone_is_a_leak():
    refund = np.where(CLASSES, RNG.uniform(5, 90, N).round(2), 0.0)
    (one,) = found_in(refund, CLASSES)
    assert one.kind == "leak"
    assert one.evidence == (
        "Possible leak: 'suspect' alone predicts the target (each of its values belongs to one class). Exclude it "
        "unless its value is known before the prediction is made."
    )


@pytest.mark.parametrize("name", ["customer_id", "tx_id", "CustomerID", "Patient ID"])
def test_identifiers_that_several_rows_share(name):
    ids = np.random.default_rng(5).integers(1000, 1060, N)
    problem = to_problem(pl.DataFrame({name: ids, "plain": NOISE}), CLASSES)
    assert [(one.kind, one.column) for one in problem.suspicions] == [("identifier", name)]
    assert to_problem(pl.DataFrame({"visits": ids, "plain": NOISE}), CLASSES).suspicions == ()


def test_dates_after_the_time_of_the_row():
    rng = np.random.default_rng(0)
    seen = np.datetime64("2024-01-01") + rng.integers(0, 300, N).astype("timedelta64[D]")
    born = seen - rng.integers(5000, 9000, N).astype("timedelta64[D]")
    closed = seen + rng.integers(-2, 40, N).astype("timedelta64[D]")
    frame = pl.DataFrame({"born": born, "closed": closed, "plain": NOISE})
    found = to_problem(frame, CLASSES, time=seen).suspicions
    assert [(one.kind, one.column) for one in found] == [("known afterwards", "closed")]
    assert f"in {(closed > seen).sum()} of 200 rows" in found[0].evidence
    assert to_problem(frame, CLASSES, time=seen.tolist()).suspicions == found
    assert to_problem(frame, CLASSES).suspicions == ()


def test_rows_that_stand_there_twice():
    table = np.column_stack([NOISE, RNG.integers(0, 3, N)]).astype(float)
    table[3, 1] = np.nan
    again = np.r_[np.arange(N), [3, 3, 8, 20]]
    (one,) = to_problem(table[again], CLASSES[again]).suspicions
    assert (one.kind, one.column) == ("duplicated rows", None)
    assert one.evidence.startswith("4 of 204 rows are exact copies of other rows.")
    assert to_problem(table[again], CLASSES[again], groups=again).suspicions == ()
    assert to_problem(table[again][:, [1]].repeat(2, axis=1), CLASSES[again]).suspicions == ()  # few values: chance


def test_a_large_table_is_looked_at_in_part_first_and_whole_where_that_is_suspect():
    n = 30_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    almost = y.copy()
    almost[: n // 5] = rng.integers(0, 2, n // 5)
    ids = rng.permutation(n)
    table = np.column_stack([rng.normal(size=n), y, almost, ids])
    notes = suspicions(to_problem(table, y))
    assert [(one.kind, one.column) for one in notes] == [("copy of the target", "x1"), ("identifier", "x3")]


def test_ordinary_tables_draw_no_warning():
    told = {}
    for line in info():
        if line.bundled and line.way != "view":
            data = load(line.name)
            notes = suspicions(to_problem(data.X, data.y))
            if notes:
                told[line.name] = [one.kind for one in notes]
    assert told == {"segment": ["duplicated rows"]}  # 2,310 rows, 224 of them copies of others


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
    assert any("'leak' is a copy of the target" in note for note in selection.warnings)
    comparison = fewer.compare(frame, CLASSES, ["fisher"], ["knn"], cv=2, random_state=0)
    assert any("'leak' is a copy of the target" in found.evidence for found in comparison.suspicions)


@pytest.mark.parametrize("seed", range(10))
def test_columns_passed_over_at_once_are_innocent_one_by_one(seed, monkeypatch):
    """Counts with every share of exceptions, so that some lie just on either side of what is called a near copy."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.choice([40, 300, 3000])), int(rng.integers(2, 4))
    y = rng.integers(0, n_classes, n)
    wrong = rng.random((n, 40)) < np.linspace(0.0, 0.15, 40)
    X = np.where(wrong, rng.integers(0, n_classes, (n, 40)), y[:, None]) + n_classes * rng.integers(0, 4, (n, 40))
    problem = to_problem(X.astype(float), y)
    assert any(one.kind == "leak" for one in problem.suspicions)
    monkeypatch.setattr("fewer.io._suspicions._Classes.worth_a_look", lambda self, rows, columns, part: columns)
    assert problem.suspicions == tuple(suspicions(problem))
