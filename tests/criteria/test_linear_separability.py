import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import fewer
from fewer.criteria import LinearSeparability, linear_separability


def test_classes_that_a_plane_separates_score_one():
    X, y = load_iris(return_X_y=True)
    assert linear_separability(X[:100], y[:100]) == pytest.approx(1.0)
    assert linear_separability(X[50:], y[50:]) < 1.0
    assert linear_separability(X, y) == pytest.approx(linear_separability(X[50:], y[50:]), abs=0.2)


def test_the_plane_is_that_of_a_hinge_loss_without_penalty():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2)) + y[:, None]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SVC(C=1e3, kernel="linear", tol=1e-6).fit(Z, y)
    distance = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(Z)).mean()
    assert linear_separability(X, y) == pytest.approx(1.0 - distance, abs=5e-3)


def test_it_chooses_the_features_that_separate():
    rng = np.random.default_rng(1)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 4))
    X[:, 2] += 3.5 * y
    selector = fewer.SubsetSelector(LinearSeparability(), fewer.search.Forward()).fit(X, y)
    assert selector.support_[2]
    assert selector.score_ > 0.9
