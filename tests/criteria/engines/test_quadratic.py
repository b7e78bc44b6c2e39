import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from engine_twin import rows, scores


@pytest.mark.parametrize(
    "estimator", [QuadraticDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(reg_param=0.2)], ids=repr
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_quadratic_discriminants_score_as_scikit_learns(estimator, n_classes):
    X, y = rows(n_classes=n_classes)
    name, ours, truth = scores(estimator, X, y)
    assert name == "QuadraticEngine"
    assert ours == pytest.approx(truth)
