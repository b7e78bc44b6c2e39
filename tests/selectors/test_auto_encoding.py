import numpy as np

from fewer.problem import Problem
from fewer.selectors.auto import _encoding as encoding
from fewer.selectors.auto._encoding import MISSING_LEVEL, MOST_LEVELS, coded, encoded, f_scores

RNG = np.random.default_rng(0)


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
    share = between / ((y - y.mean()) ** 2).sum()
    assert np.isclose(found[3], (share - 3 / 79) / (1 - 3 / 79))  # less what four levels explain by chance
    assert found[4] == 0
    monkeypatch.setattr(encoding, "BLOCK_CELLS", 100)
    assert np.allclose(f_scores(problem, np.arange(80), y[:, None], np.ones(80)), found)


def test_levels_are_coded_by_the_mean_target_of_other_rows():
    levels = np.array([0.0, 0.0, 1.0, 0.0, 1.0, MISSING_LEVEL, 0.0])
    target, weights = np.arange(7.0)[:, None], np.ones(7)
    train, test = coded(levels, np.array([0.0, 7.0, MISSING_LEVEL]), target, weights)
    others = [0, 1, 3]  # of row 6's level, outside its fold: row 1 is in it
    rest = [0, 2, 3, 4, 5]
    assert np.isclose(train[6, 0], (0 + 3 + 10 * np.mean(rest)) / (2 + 10))
    assert np.isclose(test[0, 0], (sum(others) + 6 + 10 * 3.0) / 14)
    assert test[1, 0] == 3.0
    assert train[5, 0] == np.mean([1, 2, 3, 4, 6])  # nobody else outside its fold lacks the level
    assert np.isclose(test[2, 0], (5 + 10 * 3.0) / 11)


def test_a_missing_level_is_a_level_and_a_missing_number_is_at_the_mean():
    X = np.array([[0.0, 1.0], [np.nan, 3.0], [0.0, np.nan], [1.0, 5.0]])
    train, test, columns = encoded(X, X[1:3], np.array([True, False]), np.arange(4.0)[:, None], np.ones(4))
    assert columns.tolist() == [0, 0, 0, 1]
    assert (train[:, 0] > 0).tolist() == [False, True, False, False]
    assert train[2, 3] == 0.0
    assert np.array_equal(test, train[1:3])


def test_many_levels_that_say_nothing_look_like_noise():
    X = np.column_stack([RNG.integers(150, size=300), RNG.integers(3, size=300), RNG.normal(size=300)])
    y = RNG.normal(size=300)
    train, test, columns = encoded(X[:200], X[200:], np.array([True, True, False]), y[:200, None], np.ones(200))
    assert columns.tolist() == [0, 1, 1, 1, 2]
    assert len(test) == 100
    assert np.corrcoef(train[:, 0], y[:200])[0, 1] < 0.15
    assert MOST_LEVELS < 150
