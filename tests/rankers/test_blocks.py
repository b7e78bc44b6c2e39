"""Columns in blocks."""

import tracemalloc

import numpy as np
import pytest

from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import Chi2, Fisher, FTest
from fewer.rankers._by_moments import BLOCK, CELLS, FEWEST, column_blocks


@pytest.mark.parametrize("n_rows", [1, 100, CELLS // 20, CELLS, 10 * CELLS])
@pytest.mark.parametrize("n_columns", [1, 2, 8, 9, 17, 20, 21, 100, BLOCK, BLOCK + 1, 3 * BLOCK + 2])
def test_blocks_cover_all_columns_once_and_none_is_one_column(n_rows, n_columns):
    blocks = list(column_blocks(n_rows, n_columns))
    assert np.concatenate([np.arange(n_columns)[block] for block in blocks]).tolist() == list(range(n_columns))
    widths = [block.stop - block.start for block in blocks]
    assert n_columns == 1 or min(widths) > 1
    assert max(widths) <= 1 + max(FEWEST, min(CELLS // n_rows, BLOCK))


def test_scores_of_blocks_are_those_of_the_whole_to_the_bit(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 22)) * rng.uniform(0.1, 1e4, 22)
    X[rng.random(X.shape) < 0.05] = np.nan
    problem = Problem.from_arrays(X, rng.integers(0, 3, 300), sample_weight=rng.random(300))
    whole = Fisher().rank(problem, rng, Resources())
    monkeypatch.setattr("fewer.rankers._by_moments.BLOCK", 3)
    parts = Fisher().rank(problem, rng, Resources())
    assert parts.scores.tolist() == whole.scores.tolist()
    assert parts.order.tolist() == whole.order.tolist()


@pytest.mark.parametrize("ranker", [Fisher(), FTest(), Chi2()])
def test_a_long_table_is_not_copied_on_the_way(ranker, monkeypatch):
    monkeypatch.setattr("fewer.rankers._by_moments.CELLS", 1 << 16)
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 80))
    problem = Problem.from_arrays(X, (X[:, 0] > 0.5).astype(int))
    assert not problem.has_missing
    assert not problem.constant.any()
    tracemalloc.start()
    ranker.rank(problem, rng, Resources())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes
