import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from fewer.problem import Problem
from fewer.rankers._bins import FeatureBins, count_information, to_codes
from fewer.rankers._mutual_information import class_information

RNG = np.random.default_rng(0)


def test_few_values_keep_a_code_each_and_missing_cells_have_their_own():
    codes, n_levels = to_codes(np.array([3.0, 1.0, np.nan, 3.0]), 5, False)
    assert codes.tolist() == [1, 0, 2, 1]
    assert n_levels == 3


def test_many_values_are_cut_into_bins_of_about_as_many_rows():
    codes, n_levels = to_codes(RNG.normal(size=1000), 5, False)
    assert n_levels == 5
    assert np.bincount(codes) == pytest.approx(np.full(5, 200), abs=2)


def test_counts_are_scikit_learns():
    one, other = RNG.integers(0, 4, 200), RNG.integers(0, 3, 200)
    other[:80] = one[:80] % 3
    found = count_information(one.astype(float), other.astype(float), np.ones(200))
    assert found == pytest.approx(mutual_info_score(one, other))


def test_classes_far_apart_are_told_completely():
    classes = np.repeat([0.0, 1.0], 100)
    values = RNG.normal(size=200) + 100 * classes
    share = np.full(200, 1 / 200)
    assert class_information(values, classes, share) == pytest.approx(np.log(2), abs=1e-6)
    assert class_information(RNG.normal(size=200), classes, share) < 0.05
    assert class_information(np.ones(200), classes, share) == 0.0


def test_entropies_and_information_of_bins():
    X = RNG.integers(0, 3, size=(150, 3)).astype(float)
    y = (X[:, 0] + RNG.integers(0, 2, 150)).astype(int)
    bins = FeatureBins(Problem.from_arrays(X, y), 5)
    assert bins.entropies == pytest.approx([entropy(np.bincount(column.astype(int))) for column in X.T])
    assert bins.relevance() == pytest.approx([mutual_info_score(column, y) for column in X.T])
    assert bins.redundancy(1)[1] == pytest.approx(bins.entropies[1])
    pair = X[:, 0] * 10 + y
    given = mutual_info_score(X[:, 2], pair) - mutual_info_score(X[:, 2], X[:, 0])
    assert bins.conditional(0)[2] == pytest.approx(given)


@pytest.mark.parametrize("n", [2, 9, 10, 11, 60, 97])
def test_columns_coded_together_equal_columns_coded_one_by_one(n, monkeypatch):
    rng = np.random.default_rng(n)
    X = np.column_stack([
        rng.normal(size=(n, 4)), rng.integers(0, 4, (n, 3)), np.full(n, 2.0), rng.normal(size=n).round(1),
        np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)), np.where(np.arange(n) % 2, 0.0, -0.0),
    ])  # fmt: skip
    problem = Problem.from_arrays(X, rng.integers(0, 2, n), kinds=["nominal"] + ["numeric"] * 10)
    monkeypatch.setattr("fewer.rankers._bins.ORDERED_CELLS", 3 * n)
    for n_bins in (2, 5, 10):
        bins = FeatureBins(problem, n_bins)
        for f in range(problem.n_features):
            codes, n_levels = to_codes(problem.X[:, f], n_bins, bool(problem.nominal[f]))
            np.testing.assert_array_equal(bins.codes[f], codes)
            assert bins.levels[f] == n_levels
