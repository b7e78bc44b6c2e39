import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import SURF, MultiSURF

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import skrebate


def scores(ranker, X, y, n_jobs=1, **options):
    problem = Problem.from_arrays(X, y, **options)
    return ranker.rank(problem, np.random.default_rng(0), Resources(n_jobs)).scores


def theirs(name, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(skrebate, name)().fit(X.copy(), y).feature_importances_


def gaps_of(X, nominal):
    """(n, n, p) differences of cells, NaN where one is missing."""
    gaps = np.abs(X[:, None] - X[None])
    for f in range(X.shape[1]):
        if f in nominal:
            gaps[..., f] = np.where(np.isnan(gaps[..., f]), np.nan, gaps[..., f] != 0)
        else:
            gaps[..., f] /= np.nanmax(X[:, f]) - np.nanmin(X[:, f]) or 1.0
    return gaps


def slow(X, y, multi, nominal=(), votes=None, task="classification"):
    gaps = gaps_of(X, nominal)
    n, p = X.shape
    votes = np.ones(n) if votes is None else votes
    with np.errstate(invalid="ignore"):
        d = np.nansum(gaps, axis=2) / (~np.isnan(gaps)).sum(axis=2)
    np.fill_diagonal(d, 0.0)
    total = np.zeros(p)
    for i in range(n):
        others = np.delete(d[i], i)
        radius = np.nanmean(others) - np.nanstd(others) / 2 if multi else np.nanmean(d)
        near = [j for j in range(n) if j != i and d[i, j] < radius]
        for f in range(p):
            parts, shares = {}, {}
            for j in near:
                if task == "regression":
                    kind = "hit" if abs(y[i] - y[j]) < np.std(y, ddof=1) else "miss"
                else:
                    kind = "hit" if y[i] == y[j] else y[j]
                if not np.isnan(gaps[i, j, f]):
                    parts.setdefault(kind, []).append(gaps[i, j, f])
                    shares[kind] = 1.0 if task == "regression" else votes[y == y[j]].sum()
            if "hit" in parts:
                total[f] -= votes[i] * np.mean(parts.pop("hit"))
                del shares["hit"]
            if parts:
                total[f] += votes[i] * sum(shares[c] * np.mean(v) for c, v in parts.items()) / sum(shares.values())
    return total / votes.sum()


@pytest.mark.parametrize("name", ["SURF", "MultiSURF"])
def test_two_classes_equal_scikit_rebate(name):
    X, y = load_breast_cancer(return_X_y=True)
    ours = scores({"SURF": SURF, "MultiSURF": MultiSURF}[name](), X[::6], y[::6])
    assert ours == pytest.approx(theirs(name, X[::6], y[::6]), abs=1e-9)


@pytest.mark.parametrize("name", ["SURF", "MultiSURF"])
def test_quantities_equal_scikit_rebate(name):
    X, y = load_diabetes(return_X_y=True)
    X = X[::5][:, [0, 2, 3, 4, 5, 8]]  # columns with more than ten values, which it takes as numbers
    ours = scores({"SURF": SURF, "MultiSURF": MultiSURF}[name](), X, y[::5], task="regression")
    assert ours == pytest.approx(theirs(name, X, y[::5]), abs=1e-9)


@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_missing_and_nominal_cells_and_weights_equal_the_slow_twin(multi, task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X[:, 1] = rng.integers(0, 4, 40)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 40) if task == "classification" else rng.normal(size=40)
    votes = rng.integers(0, 4, 40).astype(float)
    kinds = ["numeric", "nominal", "numeric", "numeric", "numeric"]
    ours = scores(MultiSURF() if multi else SURF(), X, y, task=task, kinds=kinds, sample_weight=votes)
    assert ours == pytest.approx(slow(X, y, multi, (1,), votes, task), abs=1e-12)


@pytest.mark.parametrize("multi", [False, True])
def test_three_classes_count_by_their_shares(multi):
    X, y = load_wine(return_X_y=True)
    X, y = X[::2, :6], y[::2]
    assert scores(MultiSURF() if multi else SURF(), X, y) == pytest.approx(slow(X, y, multi), abs=1e-12)


def test_threads_change_nothing_and_one_class_says_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 7)), rng.integers(0, 2, 600)
    assert (scores(MultiSURF(), X, y, n_jobs=3) == scores(MultiSURF(), X, y)).all()
    assert (scores(SURF(), X[:9], np.zeros(9)) == 0).all()


def test_rows_at_the_radius_are_decided_exactly():
    """Whole numbers on a grid: many distances tie with the radius to the last step."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 2, 60)
    for multi in (False, True):
        assert scores(MultiSURF() if multi else SURF(), X, y) == pytest.approx(slow(X, y, multi), abs=1e-9)
