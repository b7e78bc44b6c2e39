import numpy as np
import pytest
from sklearn.linear_model import Lasso

from fewer.kernels.path import descend


def test_single_inputs_are_the_lasso_and_unknown_rows_are_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 0] - 2 * X[:, 3] + rng.normal(size=80)
    y -= y.mean()
    coefficients, gradient = np.zeros((5, 1)), X.T @ y[:, None] / 80
    gram, place = np.empty((0, 5)), np.full(5, -1)
    groups = np.arange(6), np.arange(5), np.ones(5)
    penalty = np.full(5, 0.1), np.zeros(5)
    asked = 0
    while (group := descend(coefficients, gradient, gram, place, groups, penalty, 1e-10)) >= 0:
        place[group] = len(gram)
        gram = np.concatenate([gram, (X[:, [group]].T @ X) / 80])
        asked += 1
    truth = Lasso(alpha=0.1, tol=1e-12).fit(X, y).coef_
    assert coefficients[:, 0] == pytest.approx(truth, abs=1e-6)
    assert asked >= np.count_nonzero(truth)
