import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.feature_selection import f_classif

from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import Fisher


def fisher(X, y, **options):
    return Fisher().rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources())


def test_closed_form_of_two_classes():
    X = np.array([[0.0], [2.0], [5.0], [9.0], [7.0]])
    y = [0, 0, 1, 1, 1]
    between = 2 * (1 - 4.6) ** 2 + 3 * (7 - 4.6) ** 2
    within = 2 * 1.0 + 3 * (8 / 3)
    assert fisher(X, y).scores == pytest.approx([between / within])


def test_orders_as_the_f_statistic_does():
    X, y = load_iris(return_X_y=True)
    scores = fisher(X, y).scores
    assert scores * (150 - 3) / (3 - 1) == pytest.approx(f_classif(X, y)[0])


def test_weights_count_as_copies():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(20, 3)), rng.integers(0, 2, 20), rng.integers(1, 4, 20)
    copies = np.repeat(np.arange(20), weights)
    assert fisher(X, y, sample_weight=weights).scores == pytest.approx(fisher(X[copies], y[copies]).scores)


def test_holes_are_left_out_and_names_of_classes_do_not_matter():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    X[:5, 0] = np.nan
    assert fisher(X, y).scores[0] == pytest.approx(fisher(X[5:], y[5:]).scores[0])
    assert fisher(X, np.array(["z", "m", "a"])[y]).scores == pytest.approx(fisher(X, y).scores)


def test_nominal_columns_count_as_indicators_whatever_their_codes():
    rng = np.random.default_rng(2)
    codes, y = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    indicators = (codes[:, None] == np.arange(3)).astype(float)
    column = codes[:, None].astype(float)
    score = fisher(column, y, kinds=["nominal"]).scores[0]
    recoded = np.array([2.0, 0.0, 1.0])[codes][:, None]
    assert fisher(recoded, y, kinds=["nominal"]).scores[0] == pytest.approx(score)
    means = np.array([indicators[y == c].mean(axis=0) for c in (0, 1)])
    sizes = np.bincount(y)[:, None]
    between = (sizes * (means - indicators.mean(axis=0)) ** 2).sum()
    within = (sizes * np.array([indicators[y == c].var(axis=0) for c in (0, 1)])).sum()
    assert score == pytest.approx(between / within)


def test_constant_columns_come_last_and_perfect_ones_first():
    X = np.column_stack([np.full(6, 0.1 + 0.2), [0, 0, 0, 1, 1, 1], np.random.default_rng(0).normal(size=6)])
    ranking = fisher(X, [0, 0, 0, 1, 1, 1])
    assert ranking.scores[0] == 0.0
    assert ranking.scores[1] == np.inf
    assert ranking.order.tolist() == [1, 2, 0]
