import numpy as np
import pytest

import fewer
from fewer.contracts import SearchSpace
from fewer.control import Correlated
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.rankers import AUC, FTest
from fewer.search import Forward
from fewer.statistics import Associations


def table(seed=0, n=120, p=12):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, p // 3))
    X = np.hstack([base, base + 0.2 * rng.normal(size=base.shape), base + 0.6 * rng.normal(size=base.shape)])
    return X[:, rng.permutation(X.shape[1])], (base[:, 0] + rng.normal(size=n) > 0).astype(int)


def slow_clusters(X, order, threshold):
    """Whoever comes first stays and takes all later ones like it."""
    r = np.abs(np.corrcoef(X.T))
    cluster = np.full(X.shape[1], -1)
    for f in order:
        if cluster[f] == -1:
            cluster[[g for g in order if cluster[g] == -1 and (g == f or r[f, g] >= threshold)]] = f
    return cluster


@pytest.mark.parametrize("threshold", [0.7, 0.85, 0.95])
def test_clusters_are_those_of_the_slow_way(threshold):
    X, y = table()
    selector = fewer.RankSelector(FTest(), control=Correlated(threshold)).fit(X, y)
    truth = slow_clusters(X, np.argsort(-selector.scores_, kind="stable"), threshold)
    assert selector.trace_.extra["cluster"].tolist() == truth.tolist()
    assert np.flatnonzero(selector.support_).tolist() == sorted(set(truth.tolist()))


def test_blocks_change_nothing(monkeypatch):
    X, y = table(3, p=60)
    problem, space = Problem.from_arrays(X, y), SearchSpace.of(60)
    once = Correlated(0.8)._clusters(Associations(problem), problem, space)
    monkeypatch.setattr("fewer.control._prefilter.COLUMNS_AT_A_TIME", 7)
    assert Correlated(0.8)._clusters(Associations(problem), problem, space).tolist() == once.tolist()
    assert len(set(once.tolist())) < 45


def test_the_more_relevant_cheaper_or_more_complete_one_stays():
    X, y = table(1, p=3)
    X = np.c_[X[:, 0], X[:, 0] + 1e-3 * np.arange(len(y)) % 7, np.arange(len(y)) % 5]
    X[:4, 1] = np.nan
    y = (X[:, 0] > 0).astype(int)
    problem = Problem.from_arrays(X, y)
    assert Correlated()._clusters(Associations(problem), problem, SearchSpace.of(3))[:2].tolist() == [0, 0]
    priced = SearchSpace.of(3, prices=np.array([2.0, 1.0, 1.0]))
    assert Correlated(keep="cheap")._clusters(Associations(problem), problem, priced)[0] == 1
    assert Correlated(keep="complete")._clusters(Associations(problem), problem, SearchSpace.of(3))[1] == 0


def test_duplicates_constants_and_levels():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, 200).astype(float)
    number = rng.normal(size=200)
    rare = np.zeros(200)
    rare[0] = 1.0
    X = np.c_[levels, 2 - levels, number, number, rare, levels * 10]
    kinds = ["nominal", "nominal", "numeric", "numeric", "numeric", "numeric"]
    problem = Problem.from_arrays(X, rng.integers(0, 2, 200), kinds=kinds)
    found = Correlated(1.0, constant=0.99)._clusters(Associations(problem), problem, SearchSpace.of(6))
    assert found[0] == found[1] == found[5] in (0, 1, 5)
    assert found[2] == found[3] == 2
    assert found[4] == -1
    assert Correlated(1.0, constant=1.0)._clusters(Associations(problem), problem, SearchSpace.of(6))[4] == 4


def test_forced_features_stay_and_rule_out_what_is_like_them():
    X, y = table(2)
    like = 5
    X[:, like] = X[:, 0] + 0.1 * y  # closer to the target, and not forced in
    selector = fewer.SubsetSelector(KNN(), Forward(), control=Correlated(0.9), include=[0], random_state=0).fit(X, y)
    assert selector.support_[0]
    assert selector.trace_.extra["cluster"][like] == 0
    assert any("'x0' stands for" in note for note in selector.trace_.notes)


def test_a_search_meets_one_column_of_each_cluster_and_sizes_are_kept():
    X, y = table(4)
    selector = fewer.SubsetSelector(KNN(), Forward(), control=Correlated(0.6), random_state=0).fit(X, y)
    cluster = selector.trace_.extra["cluster"]
    assert (cluster[selector.support_] == np.flatnonzero(selector.support_)).all()
    ranked = fewer.RankSelector(AUC(), control=Correlated(0.6), n_features_to_select=2).fit(X, y)
    assert ranked.support_.sum() == 2
    assert np.abs(np.corrcoef(X[:, ranked.support_].T))[0, 1] < 0.6


def test_constant_columns_belong_to_no_cluster():
    X, y = table(5)
    X[:, 3] = 1.0
    ranked = fewer.RankSelector(AUC(), control=Correlated(0.99)).fit(X, y)
    assert ranked.trace_.extra["cluster"][3] == -1
    assert not any("hardly vary" in note for note in ranked.trace_.notes)


def test_columns_that_are_all_forced_in_stay():
    X, y = table(6)
    ranked = fewer.RankSelector(AUC(), control=Correlated(0.9), include=[0]).fit(X[:, :1], y)
    assert ranked.support_.tolist() == [True]
