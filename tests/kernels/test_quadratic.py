import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from fewer.kernels.bundles import HeldOut, Spreads
from fewer.kernels.quadratic import predict_added


def test_decisions_are_those_of_scikit_learn_up_to_what_classes_share():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) * (1 + y[:, None]) + y[:, None]
    train, test = np.arange(40), np.arange(40, 60)
    of = [X[train][y[train] == c] for c in (0, 1)]
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X[train], y[train])
    spreads = Spreads(
        np.array([model.covariance_]), np.array([[part.mean(axis=0) for part in of]]), np.log([[0.5, 0.5]]), 1e-4
    )
    rows = HeldOut(np.ascontiguousarray(X[test].T), np.array([0, 20]))
    out, sure = np.empty((1, 20, 2)), np.ones((1, 1), dtype=bool)
    predict_added(np.array([0, 2]), np.array([1]), rows, spreads, out, sure)
    assert sure.all()
    assert out[0, :, 1] - out[0, :, 0] == pytest.approx(model.decision_function(X[test]), abs=1e-8)
