import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fewer.kernels.bundles import Training
from fewer.kernels.softmax import shares_of


def test_chances_and_loss_are_scikit_learns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += y
    weights = rng.random(60) + 0.5
    model = LogisticRegression(C=0.5).fit(X, y, sample_weight=weights)
    theta = np.column_stack([model.intercept_, model.coef_])
    fit = Training(X.T[None].copy(), np.array([60]), y[None].astype(float), weights[None], weights.sum()[None], 2.0)
    shares = np.empty((3, 60))
    loss = shares_of(fit.trains[0], np.array([0, 1, 2]), fit, 0, theta, shares)
    truth = model.predict_proba(X)
    assert pytest.approx(truth) == shares.T
    own = -(weights * np.log(truth[np.arange(60), y])).sum() + (model.coef_**2).sum()
    assert loss == pytest.approx(own)
