import pytest
from sklearn.naive_bayes import GaussianNB

from engine_twin import rows, scores


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss"])
def test_naive_bayes_scores_as_scikit_learns(scoring):
    X, y = rows()
    name, ours, truth = scores(GaussianNB(var_smoothing=1e-3), X * [1, 100, 1, 1], y, scoring)
    assert name == "GaussianEngine"
    assert ours == pytest.approx(truth)


def test_without_smoothing_it_is_left_to_scikit_learn():
    X, y = rows()
    name, ours, truth = scores(GaussianNB(var_smoothing=0.0), X, y)
    assert name == "NoneType"
    assert ours == pytest.approx(truth)
