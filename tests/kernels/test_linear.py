import numpy as np
import pytest
from sklearn.linear_model import Ridge

from fewer.kernels.bundles import HeldOut, Products
from fewer.kernels.linear import factor, predict_added

ALPHA = 0.5


def setting():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + rng.normal(size=40)
    parts = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    columns = np.empty((4, 40))
    grams, moments, constants = [], [], []
    for train, test in parts:
        middle = X[train].mean(axis=0)
        columns[:, test] = (X[test] - middle).T
        centered = X[train] - middle
        grams.append(centered.T @ centered + ALPHA * np.eye(4))
        moments.append((centered.T @ (y[train] - y[train].mean()))[:, None])
        constants.append([y[train].mean()])
    rows = HeldOut(columns, np.array([0, 20, 40]))
    return X, y, parts, rows, Products(np.array(grams), np.array(moments), np.array(constants), 0.0, 1e-10)


def ridge(X, y, parts, columns):
    fits = [
        Ridge(alpha=ALPHA).fit(X[train][:, columns], y[train]).predict(X[test][:, columns]) for train, test in parts
    ]
    return np.concatenate(fits)[:, None]


def test_predictions_are_those_of_ridge_regression():
    X, y, parts, rows, products = setting()
    out, sure = np.empty((1, 40, 1)), np.ones((1, 2), dtype=bool)
    predict_added(np.array([0, 1]), np.array([3]), rows, products, out, sure)
    assert sure.all()
    assert out[0] == pytest.approx(ridge(X, y, parts, [0, 1, 3]))


def test_one_column_more():
    X, y, parts, rows, products = setting()
    out, sure = np.empty((2, 40, 1)), np.ones((2, 2), dtype=bool)
    predict_added(np.array([1]), np.array([0, 2]), rows, products, out, sure)
    assert sure.all()
    for place, column in enumerate([0, 2]):
        assert out[place] == pytest.approx(ridge(X, y, parts, [1, column]))


def test_a_combination_of_others_is_not_sure():
    *_, rows, products = setting()
    gram = products.gram.copy()
    gram[:, 3], gram[:, :, 3] = gram[:, 1], gram[:, :, 1]
    gram[:, 3, 3] = gram[:, 1, 1]
    out, sure = np.empty((2, 40, 1)), np.ones((2, 2), dtype=bool)
    predict_added(np.array([1]), np.array([3, 0]), rows, products._replace(gram=gram), out, sure)
    assert sure.tolist() == [[False, False], [True, True]]


def test_the_factor_is_choleskys():
    gram = setting()[-1].gram[0]
    lower = np.zeros((3, 3))
    assert factor(gram, np.array([2, 0, 3]), lower, 1e-12)
    part = gram[np.ix_([2, 0, 3], [2, 0, 3])]
    assert lower == pytest.approx(np.linalg.cholesky(part))
