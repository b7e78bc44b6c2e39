import numpy as np
import pytest
from scipy.special import digamma
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

import matrix
from fewer.contracts import Resources
from fewer.io import to_problem
from fewer.problem import InputError, Problem
from fewer.rankers import MutualInformation


def information(X, y, k=3, seed=0, n_jobs=1, **options):
    problem = Problem.from_arrays(X, y, **options)
    return MutualInformation(k, seed).rank(problem, np.random.default_rng(9), Resources(n_jobs)).scores


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("k", [1, 3, 60])
def test_classes_equal_scikit_learn(load, k):
    X, y = load(return_X_y=True)
    assert information(X, y, k) == pytest.approx(mutual_info_classif(X, y, n_neighbors=k, random_state=0), abs=1e-12)


@pytest.mark.parametrize("k", [1, 3, 30])
def test_quantities_equal_scikit_learn(k):
    X, y = load_diabetes(return_X_y=True)
    expected = mutual_info_regression(X, y, n_neighbors=k, random_state=0)
    assert information(X, y, k, task="regression") == pytest.approx(expected, abs=1e-12)


def test_many_rows_in_strips_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=3000)
    expected = mutual_info_regression(X, y, random_state=0)
    assert information(X, y, task="regression", n_jobs=2) == pytest.approx(expected, abs=1e-12)


def test_few_rows_and_rare_classes_equal_scikit_learn():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.r_[np.zeros(50), np.ones(5), [2, 2, 2, 3, 4]]
    X[:, 1] = X[:, 1].round(1)
    assert information(X, y) == pytest.approx(mutual_info_classif(X, y, random_state=0), abs=1e-12)


def test_nominal_columns_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 4, 200), rng.normal(size=200), rng.integers(0, 3, 200)].astype(float)
    y = X[:, 0] + rng.normal(size=200)
    kinds = ["nominal", "numeric", "nominal"]
    expected = mutual_info_regression(X, y, discrete_features=[0, 2], random_state=0)
    assert information(X, y, task="regression", kinds=kinds) == pytest.approx(expected, abs=1e-12)
    expected = mutual_info_classif(X, y > 1, discrete_features=[0, 2], random_state=0)
    assert information(X, y > 1, kinds=kinds) == pytest.approx(expected, abs=1e-12)


def test_missing_cells_are_left_out():
    X, y = load_iris(return_X_y=True)
    holed = X.copy()
    holed[:30, 2] = np.nan
    assert information(holed, y)[2] == pytest.approx(information(X[30:], y[30:])[2], abs=0.05)


def test_the_seed_of_the_noise_is_the_runs_own_unless_given():
    X, y = load_iris(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    a, b, c = (MutualInformation().rank(problem, np.random.default_rng(s), Resources()).scores for s in (0, 0, 1))
    assert (a == b).all()
    assert (a != c).any()


def test_a_constant_says_nothing_and_too_few_rows_are_refused():
    X, y = np.c_[np.ones(10), np.arange(10.0)], np.arange(10.0)
    assert information(X, y, task="regression")[0] == 0
    with pytest.raises(InputError, match="only 10 known cells"):
        information(X, y, 12, task="regression")


def by_counting(column, target, classes, k=3):
    """The estimate without noise, pair by pair."""
    n, total = len(column), 0.0
    for i in range(n):
        x = np.delete(np.abs(column - column[i]), i)
        if classes:
            own = np.delete(target == target[i], i)
            reach = np.sort(x[own])[min(k, own.sum()) - 1] + 1e-9
            total += digamma((x[own] <= reach).sum()) - digamma((x <= reach).sum()) - digamma(own.sum() + 1)
            continue
        y = np.delete(np.abs(target - target[i]), i)
        both = np.maximum(x, y)
        if (same := (both == 0).sum()) >= k:
            total += digamma(same) - digamma((x == 0).sum()) - digamma((y == 0).sum())
        else:
            reach = np.sort(both)[k - 1] - 1e-9
            total += digamma(k) - digamma((x < reach).sum() + 1) - digamma((y < reach).sum() + 1)
    return max(0.0, digamma(n) + total / n)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_without_noise_equal_numbers_stay_equal_and_nothing_is_drawn(task):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=60), rng.integers(0, 4, 60), rng.integers(0, 2, 60), rng.normal(size=60).round(1)]
    )
    y = rng.integers(0, 3, 60) if task == "classification" else np.round(X[:, 0] + X[:, 1], 0)
    quiet = MutualInformation(noise=False)
    found = quiet.rank(to_problem(X, y, task=task), np.random.default_rng(0), Resources()).scores
    spread = X.std(axis=0)
    target = y if task == "classification" else y / y.std()
    slow = [by_counting(column, target, task == "classification") for column in (X / spread).T]
    assert found == pytest.approx(slow, abs=1e-9)
    assert found.max() > 0.05
    assert matrix.dependence(quiet, task) == set()
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int) if task == "classification" else X[:, 0] + rng.normal(size=80)
    with_noise, without = (
        MutualInformation(noise=noise, random_state=0).rank(to_problem(X, y, task=task), rng, Resources()).scores
        for noise in (True, False)
    )
    assert with_noise == pytest.approx(without, abs=1e-6)
