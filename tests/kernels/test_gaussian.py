import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from fewer.kernels.bundles import Gaussians, HeldOut
from fewer.kernels.gaussian import predict_added

SMOOTHING = 1e-9


def folds():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 4)) * np.array([1.0, 10.0, 0.1, 3.0]) + y[:, None]
    parts = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    return X, y, parts


def bundles(X, y, parts):
    of = [[X[train][y[train] == c] for c in (0, 1)] for train, _ in parts]
    rows = HeldOut(np.ascontiguousarray(X.T), np.array([0, 20, 40]))
    learned = Gaussians(
        np.array([[part.mean(axis=0) for part in fold] for fold in of]).transpose(0, 2, 1).copy(),
        np.array([[part.var(axis=0) for part in fold] for fold in of]).transpose(0, 2, 1).copy(),
        np.log(np.array([[len(part) / 20 for part in fold] for fold in of])),
        np.array([X[train].var(axis=0) for train, _ in parts]),
        SMOOTHING,
    )
    return rows, learned


def truth(X, y, parts, columns):
    return np.concatenate(
        [
            GaussianNB(var_smoothing=SMOOTHING)
            .fit(X[train][:, columns], y[train])
            .predict_joint_log_proba(X[test][:, columns])
            for train, test in parts
        ]
    )


def test_log_likelihoods_are_scikit_learns():
    X, y, parts = folds()
    rows, learned = bundles(X, y, parts)
    out = np.empty((1, 40, 2))
    predict_added(np.array([0, 1]), np.array([3]), rows, learned, out)
    assert out[0] == pytest.approx(truth(X, y, parts, [0, 1, 3]), rel=1e-9)


def test_one_column_more_also_where_it_varies_most():
    X, y, parts = folds()
    rows, learned = bundles(X, y, parts)
    out = np.empty((2, 40, 2))
    predict_added(np.array([0, 2]), np.array([1, 3]), rows, learned, out)
    for place, column in enumerate([1, 3]):
        assert out[place] == pytest.approx(truth(X, y, parts, [0, 2, column]), rel=1e-9)
