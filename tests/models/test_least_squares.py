import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.models import LeastSquaresClassifier


@parametrize_with_checks([LeastSquaresClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_linear_regression_on_indicators(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4)) + 1000.0
    y = rng.integers(2, size=100)
    X[:, 0] += y
    weights = rng.random(100) + 0.5 if weighted else None
    truth = LinearRegression().fit(X, y, sample_weight=weights)
    model = LeastSquaresClassifier().fit(X, np.array(["a", "b"])[y], sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X), truth.predict(X) - 0.5, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X) == "b", truth.predict(X) > 0.5)


def test_several_classes_and_dependent_columns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.arange(90) % 3
    X[:, 0] += 2 * y
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    truth = LinearRegression().fit(X[:, :3], np.eye(3)[y])
    model = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), truth.predict(X[:, :3]), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), truth.predict(X[:, :3]).argmax(axis=1))
