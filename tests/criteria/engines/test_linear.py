import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
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
