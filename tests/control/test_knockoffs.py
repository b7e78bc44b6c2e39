import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import Ridge

import fewer
from fewer.contracts import IncompatibleError, Ranker, Ranking, Resources, SearchSpace
from fewer.control import Knockoffs
from fewer.control._knockoffs import entropy_distances, gaussian_knockoffs, knockoff_cut, statistics_of
from fewer.control._ranking import RankingRun
from fewer.problem import Problem
from fewer.rankers import Fisher, FTest, Importance


def correlated(n=400, p=8, rho=0.6, seed=0):
    rng = np.random.default_rng(seed)
    covariance = rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.normal(size=(n, p)) @ np.linalg.cholesky(covariance).T, covariance


def test_swapping_a_feature_and_its_knockoff_keeps_means_and_covariances():
    X, _ = correlated(20_000)
    problem = Problem.from_arrays(X * 3 + 1, np.zeros(len(X)), task="regression")
    copies = gaussian_knockoffs(problem, np.random.default_rng(1))
    both = np.c_[problem.X, copies]
    swapped = both.copy()
    swapped[:, [2, 10, 5, 13]] = both[:, [10, 2, 13, 5]]
    assert np.cov(swapped.T) == pytest.approx(np.cov(both.T), abs=0.35)  # variances of 9
    assert copies.mean(axis=0) == pytest.approx(problem.X.mean(axis=0), abs=0.1)
    likeness = [np.corrcoef(X[:, j], copies[:, j])[0, 1] for j in range(8)]
    assert max(likeness) < 0.8


@pytest.mark.parametrize("weighted", [False, True])
def test_with_enough_rows_the_covariances_of_the_rows_are_copied_exactly(weighted):
    """Shrunk ones made knockoffs less like their neighbors than features are: 0.247 ± 0.012 were false at 0.2."""
    X, _ = correlated(100, 12, 0.4)
    weights = np.random.default_rng(2).integers(1, 4, 100) if weighted else np.ones(100)
    problem = Problem.from_arrays(X * 3 + 1, X[:, 0], task="regression", sample_weight=weights)
    both = np.c_[problem.X, gaussian_knockoffs(problem, np.random.default_rng(1))]
    swapped = both.copy()
    swapped[:, [2, 14, 5, 17]] = both[:, [14, 2, 17, 5]]
    assert np.cov(swapped.T, aweights=weights) == pytest.approx(np.cov(both.T, aweights=weights), abs=1e-9)
    assert np.average(swapped, axis=0, weights=weights) == pytest.approx(np.average(both, axis=0, weights=weights))


def false_shares(n_tables=240):
    """The share of false ones among those kept, table by table: 60 correlated columns, a quantity made of 15."""
    shares = []
    for seed in range(n_tables):
        X, _ = correlated(130, 60, 0.5, seed=[seed, 7])
        rng = np.random.default_rng([seed, 8])
        signals = rng.permutation(60)[:15]
        y = 0.5 * X[:, signals] @ rng.choice([-1.0, 1.0], 15) + rng.normal(size=130)
        support = fewer.RankSelector(FTest(), control=Knockoffs(0.2), random_state=seed).fit(X, y).support_
        shares.append((support.sum() - support[signals].sum()) / max(support.sum(), 1))
    return np.array(shares)


def test_the_false_discovery_rate_is_kept(monkeypatch):
    """A mean over tables of at most the rate, by more than three standard errors only if it is broken.

    The quantity is linear with normal noise, so that the guarantee is exact (Barber and Candès, theorem 2). Knockoffs
    of shrunk covariances, as they were, keep more than that on the same tables, which shows that these can tell.
    """

    def above(shares):
        return (shares.mean() - 0.2) / (shares.std(ddof=1) / np.sqrt(len(shares)))

    kept = false_shares()
    assert above(kept) < 3.0
    assert kept.mean() > 0.1  # by keeping enough, not by keeping nothing
    monkeypatch.setattr("fewer.control._knockoffs.LEAST_SPREAD", np.inf)
    assert above(false_shares()) > 3.0


def test_entropy_is_at_its_maximum():
    _, covariance = correlated()
    s = entropy_distances(covariance)
    inverse = np.linalg.inv(2 * covariance - np.diag(s))
    assert 1 / s == pytest.approx(np.diag(inverse), rel=1e-5)  # the derivative vanishes
    assert np.linalg.eigvalsh(2 * covariance - np.diag(s))[0] > 0


@pytest.mark.parametrize("ranker", [Fisher(), FTest(), Importance(Ridge(), cv=None)], ids=lambda r: type(r).__name__)
def test_swapping_a_pair_flips_the_sign_of_its_statistic_and_no_other(ranker):
    X, _ = correlated(200)
    rng = np.random.default_rng(0)
    classes = isinstance(ranker, Fisher)
    y = (X[:, 2] + rng.normal(size=200) > 0) if classes else X[:, 2] + rng.normal(size=200)
    problem = Problem.from_arrays(X, y, task="classification" if classes else "regression")
    copies = gaussian_knockoffs(problem, np.random.default_rng(1))
    exchanged, counterparts = X.copy(), copies.copy()
    exchanged[:, 3], counterparts[:, 3] = copies[:, 3], X[:, 3]

    def statistic(table, other):
        run = RankingRun(
            ranker,
            Problem.from_arrays(table, y, task=problem.task),
            SearchSpace.of(8),
            np.random.default_rng(0),
            Resources(),
        )
        return statistics_of(run, other, np.zeros(8, dtype=bool))

    before, after = statistic(X, copies), statistic(exchanged, counterparts)
    assert after[3] == pytest.approx(-before[3], abs=1e-8)
    assert np.delete(after, 3) == pytest.approx(np.delete(before, 3), abs=1e-8)


def test_the_cut_is_that_of_knockoff_plus():
    rng = np.random.default_rng(0)
    for seed in range(30):
        statistic = np.random.default_rng(seed).normal(1.0, 1.0, 40).round(2)
        for rate in (0.1, 0.2, 0.5):
            cut = knockoff_cut(statistic, rate)
            good = [
                t
                for t in np.abs(statistic)
                if t > 0 and (1 + (statistic <= -t).sum()) / max((statistic >= t).sum(), 1) <= rate
            ]
            assert cut == (min(good) if good else np.inf)
    assert knockoff_cut(rng.normal(size=9) ** 2, 0.1) == np.inf  # nothing, or at least ten


def test_signals_are_found_whatever_the_seed_of_the_data():
    """Data made with the selector's own seed must not come back as noise."""
    for seed in (0, 1):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 30))
        y = X[:, :12].sum(axis=1) + rng.normal(size=300)
        selector = fewer.RankSelector(Importance(cv=None), control=Knockoffs(), random_state=seed).fit(X, y)
        assert selector.support_[:12].all()
        assert selector.support_.sum() <= 14
        assert "at least 10 features" in selector.promise_
        assert "approximate" in selector.promise_


def test_groups_weights_and_forced_features():
    X, _ = correlated(300, 24, 0.3)
    y = X[:, :10].sum(axis=1) + np.random.default_rng(5).normal(size=300)
    weights = np.random.default_rng(6).random(300)
    options = {"include": [20], "feature_groups": [[0, 1], [22, 23]]}
    selector = fewer.RankSelector(Importance(cv=None), control=Knockoffs(0.2), random_state=0, **options)
    support = selector.fit(X, y, sample_weight=weights, groups=np.arange(300)).support_
    assert support[20]
    assert support[0] == support[1]
    assert support[22] == support[23]
    assert support[2:10].sum() >= 5
    assert "row groups" in selector.notes_[-1]


def test_nominal_and_missing_cells_are_refused():
    X, _ = correlated(50)
    y = np.arange(50) % 2
    for table, kinds, message in (
        (np.round(X), ["nominal"] + ["numeric"] * 7, "'x0' is nominal"),
        (np.where(X > 2, np.nan, X), None, "has missing ones"),
    ):
        problem = Problem.from_arrays(table, y, kinds=kinds)
        with pytest.raises(IncompatibleError, match=message):
            fewer.RankSelector(Importance(), control=Knockoffs()).fit_problem(problem)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95, -0.3])
def test_distances_solve_their_equation_also_for_strong_correlations(correlation):
    """At the maximum of log det(2 Σ − diag s) + Σ log s each s_j is 1 over the j-th diagonal of the inverse."""
    covariance = np.full((4, 4), correlation)
    np.fill_diagonal(covariance, 1.0)
    s = entropy_distances(covariance)
    rest = 2.0 * covariance - np.diag(s)
    assert np.linalg.eigvalsh(rest).min() > 0
    assert s == pytest.approx(1.0 / np.diag(np.linalg.inv(rest)), rel=1e-4)


class EarlierFirst(Ranker):
    """Knows nothing, and favors columns that come first, as originals would before their copies."""

    def rank(self, problem, rng, resources):
        return Ranking.by_score(-np.arange(float(problem.n_features)))


def test_a_ranker_that_favors_earlier_columns_gets_nothing_past_the_copies():
    X = np.random.default_rng(0).normal(size=(60, 30))
    selector = fewer.RankSelector(EarlierFirst(), control=Knockoffs(0.2), random_state=0).fit(X, np.arange(60) % 2)
    signs = np.sign(selector.trace_.extra["statistic"])
    assert 5 < (signs > 0).sum() < 25
    assert selector.support_.sum() < 10


def test_two_features_that_are_nearly_one_are_kept_apart_by_shrinkage():
    rng = np.random.default_rng(0)
    first = rng.normal(size=12)
    X = np.c_[first, first + 1e-9 * rng.normal(size=12)]
    problem = Problem.from_arrays(X, np.zeros(12), task="regression")
    copies = gaussian_knockoffs(problem, np.random.default_rng(1))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    shrunk = ledoit_wolf(Z)[0]  # scikit-learn's, with the mean variance, which is one
    apart = np.diag(entropy_distances(shrunk))
    expected = Z - Z @ np.linalg.solve(shrunk, apart)
    root = np.linalg.eigh(2 * apart - apart @ np.linalg.solve(shrunk, apart))
    expected += np.random.default_rng(1).standard_normal(Z.shape) @ (root[1] * np.sqrt(np.maximum(root[0], 0))).T
    assert (copies - X.mean(axis=0)) / X.std(axis=0) == pytest.approx(expected, abs=1e-6)
