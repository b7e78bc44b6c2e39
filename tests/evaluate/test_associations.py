"""Redundancy against other routes to the same numbers."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2_contingency, f_oneway, rankdata, spearmanr

from fewer.evaluate import redundancy
from fewer.evaluate.associations import correlation_ratio, cramers_v
from fewer.io import to_problem
from fewer.problem import Problem


def test_numbers_give_spearmans_correlation_over_the_rows_that_both_have():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(1)
    X[:, 2] -= X[:, 0]
    X[::7, 1] = np.nan
    found = redundancy(Problem.from_arrays(X, rng.integers(2, size=60)), [2, 0, 1])
    assert found["names"] == ["x2", "x0", "x1"]
    kept = ~np.isnan(X[:, 1])
    pairs = [(X[:, 2], X[:, 0]), (X[kept, 2], X[kept, 1]), (X[kept, 0], X[kept, 1])]
    truth = [abs(spearmanr(*pair).statistic) for pair in pairs]
    values = np.array(found["values"])
    assert values[np.triu_indices(3, 1)] == pytest.approx(truth, abs=5e-5)
    assert (values == values.T).all()
    assert (np.diag(values) == 1).all()


def test_a_nominal_column_and_numbers_give_the_corrected_correlation_ratio():
    rng = np.random.default_rng(1)
    levels = rng.integers(4, size=80).astype(float)
    numbers = (levels == 2) + rng.normal(size=80).round(1)
    ranks = rankdata(numbers)
    ratio = f_oneway(*(ranks[levels == level] for level in range(4))).statistic
    assert correlation_ratio(levels, numbers) == pytest.approx(np.sqrt(3 * (ratio - 1) / (3 * ratio + 76)))


def test_two_nominal_columns_give_the_corrected_cramers_v():
    rng = np.random.default_rng(2)
    one = rng.integers(3, size=90)
    other = np.where(rng.random(90) < 0.5, one, rng.integers(4, size=90))
    table = np.array([[(one[other == j] == i).sum() for j in range(4)] for i in range(3)])
    phi = chi2_contingency(table, correction=False).statistic / 90
    rows, columns = 3 - 4 / 89, 4 - 9 / 89
    truth = np.sqrt((phi - 6 / 89) / (min(rows, columns) - 1))
    assert cramers_v(one.astype(float), other.astype(float)) == pytest.approx(truth)


def test_kinds_decide_and_levels_by_chance_count_for_nothing():
    rng = np.random.default_rng(3)
    color = rng.choice(["red", "green", "blue"], size=300)
    height = np.select([color == "red", color == "green"], [5.0, 1.0], 3.0)
    frame = pl.DataFrame(
        {
            "color": color,
            "again": np.char.upper(color),
            "height": height,
            "one a row": [f"case {i}" for i in range(300)],
            "few a row": [f"house {i // 2}" for i in rng.permutation(300)],
            "same": ["x"] * 300,
        }
    )
    values = np.array(redundancy(to_problem(frame, rng.integers(2, size=300)), range(6))["values"])
    assert values[0, 1] == pytest.approx(1, abs=1e-3)  # corrected upper bound
    assert values[0, 2] == pytest.approx(1, abs=1e-3)
    assert values[2, 3] == 0
    assert values[[0, 2], 4].max() < 0.3
    assert (values[5, :5] == 0).all()


def test_many_rows_are_sampled_evenly():
    X = np.arange(24_000.0).reshape(12_000, 2)
    X[1::3, 1] = 0  # rows that an even sample of every third row leaves out
    X[2::3, 1] = 0
    assert redundancy(Problem.from_arrays(X, np.arange(12_000) % 2), [0, 1])["values"][0][1] == 1
