"""Which columns of words are levels, and which are not."""

import numpy as np
import polars as pl
import pytest

from fewer.io._words import why_left_out

rng = np.random.default_rng(0)
WORDS = "the customer called again about late delivery and wants to talk about price next week".split()


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([" ".join(rng.choice(WORDS, 8)) for _ in range(60)], "free text"),
        ([";".join(rng.choice(list("abcdef"), k, replace=False)) for k in [1, 2, 3, 4] * 15], "lists"),
        (["|".join(rng.choice(list("abcdef"), k, replace=False)) for k in [1, 2, 3, 4] * 15], "lists"),
        ([str(rng.integers(0, 9, 3).tolist()) for _ in range(60)], "lists"),
        ([f"{value:032x}" for value in range(60)], "a code for nearly each row"),
        ([f"p{i}@example.org" for i in range(60)], "a code for nearly each row"),
        (["red", "dark blue", 'the "new", one'] * 20, None),
        ([f"city {i % 25}" for i in range(60)], None),
        (["New York, NY", "Boston, MA", "Austin, TX"] * 20, None),
        ([f"Street {i % 20}, House {i % 7}" for i in range(400)], None),
        ([f"x{i}" for i in range(19)], None),
        ([None] * 60, None),
    ],
)
def test_reasons(cells, reason):
    assert why_left_out(pl.Series(cells, dtype=pl.String)) == reason


@pytest.mark.parametrize(
    ("n_distinct", "reason"),
    [(100, "a code for nearly each row"), (90, "a code for nearly each row"), (89, None), (60, None)],
)
def test_nine_in_ten_cells_that_differ_make_a_code(n_distinct, reason):
    cells = [f"q{i % n_distinct}" for i in range(100)]
    assert why_left_out(pl.Series(cells)) == reason
