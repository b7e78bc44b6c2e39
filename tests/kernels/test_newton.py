import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fewer.kernels.bundles import HeldOut, Training
from fewer.kernels.newton import fit_members, predict_one_more


def setting():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=60) > 0).astype(float)
    weights = rng.random(60) + 0.5
    parts = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    fit = Training(
        np.array([X[train].T for train, _ in parts]),
        np.array([30, 30]),
        np.array([y[train] for train, _ in parts]),
        np.array([weights[train] for train, _ in parts]),
        np.array([weights[train].sum() for train, _ in parts]),
        2.0,
    )
    return X, y, weights, parts, fit, HeldOut(np.ascontiguousarray(X.T), np.array([0, 30, 60]))


def truth(X, y, weights, train, columns):
    model = LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000)
    return model.fit(X[train][:, columns], y[train], sample_weight=weights[train])


def test_coefficients_are_scikit_learns():
    X, y, weights, parts, fit, _ = setting()
    start = np.empty((2, 3))
    fit_members(np.array([0, 2]), fit, start)
    for fold, (train, _) in enumerate(parts):
        model = truth(X, y, weights, train, [0, 2])
        assert start[fold] == pytest.approx([model.intercept_[0], *model.coef_[0]], abs=1e-6)


def test_one_column_more_from_the_fit_before_it():
    X, y, weights, parts, fit, rows = setting()
    members, added = np.array([0, 2]), np.array([1, 3])
    start = np.empty((2, 3))
    fit_members(members, fit, start)
    out = np.empty((2, 60, 2))
    open_rows, sure = np.zeros((2, 60), dtype=bool), np.zeros((2, 2), dtype=bool)
    predict_one_more(members, added, rows, fit, 0.0, start, out, open_rows, sure)
    assert sure.all()
    assert not open_rows.any()
    for place, column in enumerate(added):
        for train, test in parts:
            model = truth(X, y, weights, train, [0, 2, column])
            assert out[place, test, 1] == pytest.approx(model.decision_function(X[test][:, [0, 2, column]]), abs=1e-6)
    assert (out[:, :, 0] == 0).all()
