from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import fewer
from fewer.contracts import IncompatibleError, Resources
from fewer.problem import Problem
from fewer.rankers import AUC, KendallTau, KolmogorovSmirnov, KruskalWallis, MannWhitney, Spearman


def table(n_classes, seed, n=60):
    """Columns with a signal, ties, holes and a constant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 5)) + 0.4 * y[:, None] * np.array([1, 0, 1, 0, 0])
    X[:, 2:4] = X[:, 2:4].round()
    X[rng.random((n, 5)) < 0.1] = np.nan
    X[:, 4] = 3.0
    return X, y


def ranked(ranker, X, y, **options):
    return ranker.rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources())


def one_by_one(X, y, test):
    return np.array([test(X[~np.isnan(X[:, f]), f], y[~np.isnan(X[:, f])]) for f in range(4)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ranker", "test"),
    [
        (MannWhitney(), lambda x, y: stats.mannwhitneyu(x[y == 1], x[y == 0], method="asymptotic")),
        (KolmogorovSmirnov(), lambda x, y: stats.ks_2samp(x[y == 1], x[y == 0], method="asymp")),
        (KruskalWallis(), lambda x, y: stats.kruskal(x[y == 1], x[y == 0])),
        (Spearman(), lambda x, y: stats.spearmanr(x, y)),
    ],
)
def test_two_classes_get_the_statistic_and_p_value_of_scipy(ranker, test, seed):
    X, y = table(2, seed)
    ranking = ranked(ranker, X, y)
    truth = one_by_one(X, y, lambda x, codes: tuple(test(x, codes))[:2])
    assert ranking.extra["statistic"][:4] == pytest.approx(truth[:, 0])
    assert ranking.extra["p_value"][:4] == pytest.approx(truth[:, 1])
    assert ranking.scores[4] == 0.0
    assert ranking.extra["p_value"][4] == 1.0
    assert ranking.order[-1] == 4


def test_more_classes_and_quantities_are_those_of_scipy():
    X, y = table(4, 7)
    truth = one_by_one(X, y, lambda x, codes: stats.kruskal(*(x[codes == c] for c in range(4))))
    assert ranked(KruskalWallis(), X, y).extra["p_value"][:4] == pytest.approx(truth[:, 1])
    quantity = X[:, 1] * 0.5 + np.random.default_rng(0).normal(size=len(y))
    quantity[np.isnan(quantity)] = 0.0
    found = ranked(Spearman(), X, quantity, task="regression")
    truth = one_by_one(X, quantity, stats.spearmanr)
    assert found.extra["statistic"][:4] == pytest.approx(truth[:, 0])
    assert found.extra["p_value"][:4] == pytest.approx(truth[:, 1])


def slow_tau(x, y):
    """τ-b: concordant less discordant pairs, over the pairs that are not tied in x, and in y."""
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    apart = np.array(signs)
    return (apart[:, 0] * apart[:, 1]).sum() / np.sqrt((apart[:, 0] != 0).sum() * (apart[:, 1] != 0).sum())


def test_kendall_counts_pairs():
    X, y = table(2, 3, n=40)
    quantity = np.random.default_rng(1).integers(0, 9, len(y)).astype(float)
    found = ranked(KendallTau(), X, quantity, task="regression")
    truth = [slow_tau(x[~np.isnan(x)], quantity[~np.isnan(x)]) for x in X.T[:4]]
    assert found.extra["statistic"][:4] == pytest.approx(truth)
    assert found.scores[:4] == pytest.approx(np.abs(truth))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_area_is_that_of_scikit_learn_over_pairs_of_classes(n_classes):
    X, y = table(n_classes, 5)
    scores = ranked(AUC(), X, y).scores
    for f in range(4):
        there = ~np.isnan(X[:, f])
        areas = []
        for low, high in combinations(range(n_classes), 2):
            rows = there & np.isin(y, [low, high])
            area = roc_auc_score(y[rows] == high, X[rows, f])
            areas.append(max(area, 1 - area))
        assert scores[f] == pytest.approx(np.mean(areas))


def test_levels_are_refused_by_name():
    rng = np.random.default_rng(0)
    X, y = np.c_[rng.normal(size=50), rng.integers(0, 3, 50)], rng.integers(0, 2, 50)
    for ranker in (Spearman(), KendallTau(), KruskalWallis(), MannWhitney(), KolmogorovSmirnov(), AUC()):
        with pytest.raises(IncompatibleError, match="'town' is nominal"):
            ranked(ranker, X, y, names=["age", "town"], kinds=["numeric", "nominal"])


def test_what_orders_the_rows_as_the_target_does_is_sure():
    y = np.arange(9.0)
    found = ranked(Spearman(), np.c_[y**3, -y], y, task="regression")
    assert found.extra["statistic"].tolist() == [1.0, -1.0]
    assert found.extra["p_value"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("ranker", [Spearman(), KendallTau(), MannWhitney(), KolmogorovSmirnov()])
def test_three_classes_are_refused_where_two_are_compared(ranker):
    X, y = table(3, 0)
    with pytest.raises(IncompatibleError, match="there are 3; use KruskalWallis"):
        ranked(ranker, X, y)


def test_row_weights_are_refused_and_groups_have_a_note():
    X, y = table(2, 0)
    selector = fewer.RankSelector(AUC(), n_features_to_select=1)
    with pytest.raises(IncompatibleError, match="AUC cannot use row weights"):
        selector.fit(X, y, sample_weight=1.0 + np.arange(len(y)))
    notes = selector.fit(X, y, groups=np.arange(len(y)) // 2).notes_
    assert any("AUC takes rows as independent" in note for note in notes)
