import pytest
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import NearestCentroid

from engine_twin import rows, scores


@pytest.mark.parametrize(
    "estimator", [BernoulliNB(), BernoulliNB(alpha=0.3, binarize=0.5, fit_prior=False), NearestCentroid()], ids=repr
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_over_columns_score_as_scikit_learns(estimator, n_classes):
    X, y = rows(n_classes=n_classes)
    name, ours, truth = scores(estimator, X, y)
    assert name in ("BernoulliEngine", "CentroidEngine")
    assert ours == pytest.approx(truth)


def test_cells_that_are_taken_as_they_are_stay_with_scikit_learn():
    X, y = rows()
    name, ours, truth = scores(BernoulliNB(binarize=None), (X > 0).astype(float), y)
    assert name == "NoneType"
    assert ours == pytest.approx(truth)
