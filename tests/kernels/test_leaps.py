import numpy as np
import pytest

from fewer.kernels.leaps import drop_losses, without_unit


@pytest.fixture
def fit():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 6)), rng.normal(size=(40, 2))
    return X, Y, np.linalg.inv(X.T @ X), np.linalg.lstsq(X, Y, rcond=None)[0]


def residual(X, Y):
    return ((Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]) ** 2).sum()


def test_losses_are_rises_of_the_residual_sum_of_squares(fit):
    X, Y, inverse, coefficients = fit
    starts, out = np.array([0, 1, 3, 6]), np.empty(3)
    drop_losses(inverse, coefficients, starts, np.array([0, 1, 2]), np.empty((3, 4)), out)
    truth = [residual(np.delete(X, range(starts[u], starts[u + 1]), axis=1), Y) - residual(X, Y) for u in range(3)]
    assert out == pytest.approx(truth)


def test_without_some_inputs_the_rest_is_their_own_fit(fit):
    X, Y, inverse, coefficients = fit
    less, fewer = np.empty((6, 6)), np.empty((6, 2))
    without_unit(inverse, coefficients, 2, 4, less, fewer)
    kept = [0, 1, 4, 5]
    assert less[np.ix_(kept, kept)] == pytest.approx(np.linalg.inv(X[:, kept].T @ X[:, kept]))
    assert fewer[kept] == pytest.approx(np.linalg.lstsq(X[:, kept], Y, rcond=None)[0])
    assert (fewer[2:4] == 0).all()
