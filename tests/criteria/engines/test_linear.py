import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

from engine_twin import rows, scores


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(2.0)], ids=repr)
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_regressions_score_as_scikit_learns(estimator, scoring):
    X, y = rows("regression")
    name, ours, truth = scores(estimator, X, y, scoring, "regression")
    assert name == "LinearEngine"
    assert ours == pytest.approx(truth)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [RidgeClassifier(0.3), LinearDiscriminantAnalysis()], ids=repr)
def test_classifiers_score_as_scikit_learns(estimator, n_classes):
    X, y = rows(n_classes=n_classes)
    name, ours, truth = scores(estimator, X, y)
    assert name.endswith("Engine")
    assert ours == pytest.approx(truth)


@pytest.mark.parametrize("tol", [1e-6, 1e-3])
def test_directions_that_least_squares_leaves_out_for_their_units(tol):
    """A column of small numbers beside one of large ones is as nothing to scikit-learn; by itself it predicts."""
    X, y = rows("regression")
    for units in ([1e3, 1.0, 1e-4, 1.0], [1e5, 1.0, 1.0, 1.0], [1.0, 1.0, 1e-7, 1e-7]):
        name, ours, truth = scores(LinearRegression(tol=tol), X * np.array(units), y, "r2", "regression")
        assert name == "LinearEngine"
        assert ours == pytest.approx(truth, abs=1e-9)


def test_a_class_with_fewer_rows_than_columns_is_refused_as_by_scikit_learn():
    """Whatever `reg_param` adds: two folds of three have three rows of the class for four columns."""
    X, y = rows(n=40)
    y[:] = 0
    y[:5] = 1
    with pytest.warns(FitFailedWarning):
        _, ours, truth = scores(QuadraticDiscriminantAnalysis(reg_param=0.9), X, y)
    assert np.isfinite(ours[:3]).all()
    assert ours == pytest.approx(truth, nan_ok=True)
