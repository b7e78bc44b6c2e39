import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from engine_twin import rows, scores


@pytest.mark.parametrize("k", [1, 4, 5])
@pytest.mark.parametrize("decimals", [0, 5])
def test_neighbors_score_as_scikit_learns_also_where_distances_tie(k, decimals):
    X, y = rows(n_classes=3)
    name, ours, truth = scores(KNeighborsClassifier(k), X.round(decimals), y)
    assert name == "NeighborsEngine"
    assert ours == pytest.approx(truth)


def test_quantities():
    X, y = rows("regression")
    name, ours, truth = scores(KNeighborsRegressor(3), X, y, "r2", "regression")
    assert name == "NeighborsEngine"
    assert ours == pytest.approx(truth)
