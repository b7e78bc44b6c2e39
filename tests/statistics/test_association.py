import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from fewer.problem import Problem
from fewer.statistics import Associations, Uncertainties


def mixed(n=80, holes=0.15):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(n, 3)), rng.integers(0, 4, (n, 2)), 1e6 + rng.normal(size=n)]
    X[:, 1] += X[:, 0]
    X[:, 4] = np.where(rng.random(n) < 0.6, X[:, 3], X[:, 4])
    X[:, 5] += 0.1 * X[:, 3]
    X[rng.random(X.shape) < holes] = np.nan
    return X, ["numeric"] * 3 + ["nominal"] * 2 + ["numeric"]


def everything(problem, measure="pearson"):
    pairs = Associations(problem, measure)
    columns = np.arange(problem.n_features + 1)
    return pairs.block(columns, columns)


def ratio(levels, values):
    known = ~np.isnan(levels) & ~np.isnan(values)
    groups = pd.Series(values[known]).groupby(levels[known])
    between = (groups.size() * (groups.mean() - values[known].mean()) ** 2).sum()
    return np.sqrt(between / ((values[known] - values[known].mean()) ** 2).sum())


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_each_kind_of_pair_has_its_measure(holes):
    X, kinds = mixed(holes=holes)
    y = np.random.default_rng(1).normal(size=len(X))
    found = everything(Problem.from_arrays(X, y, task="regression", kinds=kinds))
    numbers = [0, 1, 2, 5, 6]
    table = np.c_[X, y]
    truth = np.abs(pd.DataFrame(table[:, numbers]).corr().to_numpy())
    assert found[np.ix_(numbers, numbers)] == pytest.approx(truth, abs=1e-9)
    for levels in (3, 4):
        for f in numbers:
            assert found[levels, f] == pytest.approx(ratio(X[:, levels], table[:, f]))
            assert found[f, levels] == found[levels, f]
    known = ~np.isnan(X[:, 3]) & ~np.isnan(X[:, 4])
    counts = pd.crosstab(X[known, 3], X[known, 4]).to_numpy()
    assert found[3, 4] == pytest.approx(association(counts, method="cramer"))
    assert found[3, 3] == pytest.approx(1.0)


def test_ranks_weights_and_constant_columns():
    X, kinds = mixed(holes=0.0)
    X[:, 2] = 7.0
    y = np.arange(len(X)) % 3
    found = everything(Problem.from_arrays(X, y, kinds=kinds), "spearman")
    assert found[0, 1] == pytest.approx(abs(spearmanr(X[:, 0], X[:, 1])[0]))
    assert (found[2] == 0.0).all()
    copies = np.arange(len(X)) % 3 + 1
    weighted = everything(Problem.from_arrays(X, y, kinds=kinds, sample_weight=copies))
    repeated = everything(Problem.from_arrays(np.repeat(X, copies, 0), np.repeat(y, copies), kinds=kinds))
    assert weighted == pytest.approx(repeated, abs=1e-9)


def test_many_levels_take_little_memory():
    n = 20_000
    levels = np.random.default_rng(0).integers(0, 15_000, n).astype(float)
    problem = Problem.from_arrays(np.c_[levels, levels], np.arange(n) % 2, kinds=["nominal"] * 2)
    assert everything(problem)[0, 1] == pytest.approx(1.0)


def test_uncertainty_is_between_nothing_and_all():
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]])
    pairs = Uncertainties(codes, np.ones(4))
    assert pairs.with_feature(0).tolist() == [1.0, 0.0, 0.0]
    assert pairs.with_feature(2).tolist() == [0.0, 0.0, 0.0]
