import pytest
from sklearn.linear_model import LogisticRegression

from engine_twin import rows, scores


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_logistic_regression_scores_as_scikit_learns(scoring):
    X, y = rows()
    name, ours, truth = scores(LogisticRegression(C=0.5), X, y, scoring)
    assert name == "LogisticEngine"
    assert ours == pytest.approx(truth, abs=1e-6)
