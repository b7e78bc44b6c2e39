import numpy as np

from fewer.problem import Problem
from fewer.selectors.auto import _encoding as encoding
from fewer.selectors.auto._encoding import Encoder, f_scores

RNG = np.random.default_rng(0)


def test_numbers_have_mean_zero_and_spread_one_and_missing_cells_lie_at_the_mean():
    X = RNG.normal(3.0, 5.0, size=(50, 2))
    X[:10, 1] = np.nan
    found = Encoder.of(X, np.arange(2), np.zeros(2, dtype=bool), np.ones(50)).transform(X)
    assert np.allclose(found[:, 0], (X[:, 0] - X[:, 0].mean()) / X[:, 0].std())
    assert np.all(found[:10, 1] == 0)
    assert np.isclose(found[10:, 1].std(), 1.0)


def test_levels_become_indicators_of_spread_one_together():
    X = np.array([[0.0], [1.0], [2.0], [1.0], [np.nan]])
    encoder = Encoder.of(X, np.arange(1), np.ones(1, dtype=bool), np.ones(5))
    found = encoder.transform(X)
    assert encoder.columns.tolist() == [0, 0, 0]
    assert np.isclose(found[:4].var(axis=0).sum(), 1.0)
    assert np.all(found[4] == 0)
    assert np.allclose(encoder.transform(np.array([[7.0]])), -encoder.mean / encoder.scale)


def test_scores_alone_are_squared_correlations_and_shares_of_variance(monkeypatch):
    X = np.column_stack([RNG.normal(size=(80, 3)), RNG.integers(4, size=80), np.ones(80)])
    y = X[:, 0] + 0.5 * X[:, 3] + RNG.normal(size=80)
    kinds = ("numeric", "numeric", "numeric", "nominal", "numeric")
    problem = Problem.from_arrays(X, y, task="regression", kinds=kinds)
    found = f_scores(problem, np.arange(80), y[:, None], np.ones(80))
    for column in range(3):
        assert np.isclose(found[column], np.corrcoef(X[:, column], y)[0, 1] ** 2)
    means = [y[X[:, 3] == level].mean() for level in range(4)]
    between = sum((X[:, 3] == level).sum() * (means[level] - y.mean()) ** 2 for level in range(4))
    assert np.isclose(found[3], between / ((y - y.mean()) ** 2).sum())
    assert found[4] == 0
    monkeypatch.setattr(encoding, "BLOCK_CELLS", 100)
    assert np.allclose(f_scores(problem, np.arange(80), y[:, None], np.ones(80)), found)
