import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from fewer import RankSelector
from fewer.contracts import Resources
from fewer.models import GMLVQClassifier
from fewer.problem import InputError, Problem
from fewer.rankers import GMLVQRelevance


def rank(ranker, X, y, seed=0, n_jobs=1, **options):
    problem = Problem.from_arrays(X, y, **options)
    return ranker.rank(problem, np.random.default_rng(seed), Resources(n_jobs=n_jobs))


def test_the_nine_features_of_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    ranking = rank(GMLVQRelevance(12), X, y)
    assert {23, 21, 28, 24, 8, 3, 1, 4, 7} <= set((ranking.order[:10] + 1).tolist())
    assert ranking.extra["frequency"][ranking.order[0]] > 0.9
    assert ranking.extra["relevance"].sum() == pytest.approx(1)


def test_one_round_is_one_classifier():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)
    problem = Problem.from_arrays(X, y)
    train, held = rows[:100], rows[100:]
    ranker = GMLVQRelevance(alpha=1.0, delete_rate=0.25, max_iter=30)
    ranking, round_ = ranker.rank_with(problem.take(train), problem.take(held), np.random.default_rng(0))
    alone = GMLVQClassifier(alpha=1.0, delete_rate=0.25, max_iter=30)
    alone.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    assert ranking.extra["relevance"] == pytest.approx(alone.relevances_)
    assert round_.scores(X, [0, 3]) == pytest.approx(alone.restricted([0, 3]).predict_proba(X))


def test_mean_rank_spread_and_frequency_are_over_rounds():
    ranker = GMLVQRelevance(top=1)
    ranking = ranker.ranking_of([np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.5, 0.2]), np.array([0.6, 0.2, 0.2])], 3)
    assert ranking.extra["mean_rank"] == pytest.approx([4 / 3, 5.5 / 3, 8.5 / 3])
    assert ranking.extra["spread"] == pytest.approx(
        [np.std([1, 2, 1], ddof=1), np.std([2, 1, 2.5], ddof=1), np.std([3, 3, 2.5], ddof=1)]
    )
    assert ranking.extra["frequency"] == pytest.approx([2 / 3, 1 / 3, 0])
    assert ranking.order.tolist() == [0, 1, 2]
    assert ranking.scores == pytest.approx(3 - ranking.extra["mean_rank"])


def test_constant_and_duplicate_columns_and_tiny_classes_do_not_break_it():
    rng = np.random.default_rng(0)
    y = np.array([0] * 20 + [1] * 20 + [2])
    x = rng.normal(size=41) + 2 * (y == 1)
    X = np.column_stack([np.full(41, 0.1 + 0.2), x, x, rng.normal(size=41)])
    X[3:6, 3] = np.nan
    ranking = rank(GMLVQRelevance(5), X, y)
    assert ranking.extra["relevance"][0] == 0
    assert ranking.order[-1] == 0
    assert ranking.extra["relevance"][1] == pytest.approx(ranking.extra["relevance"][2])
    assert ranking.extra["mean_rank"][0] == 4
    assert ranking.extra["mean_rank"][1] == ranking.extra["mean_rank"][2]
    assert rank(GMLVQRelevance(2), X[:4], [0, 0, 1, 1]).extra["relevance"].sum() == pytest.approx(1)
    assert rank(GMLVQRelevance(2), np.ones((6, 2)), [0, 1] * 3).scores == pytest.approx([0.5, 0.5])
    assert np.isfinite(rank(GMLVQRelevance(2), X[:3], [0, 1, 2]).scores).all()


def test_nominal_features_stand_as_indicators_whatever_their_codes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    codes = np.where(rng.random(120) < 0.8, y, 2 + rng.integers(0, 2, 120))
    X = np.column_stack([rng.normal(size=120), codes, rng.integers(0, 4, 120), rng.normal(size=120)]).astype(float)
    X[:4, 1] = np.nan
    kinds = ["numeric", "nominal", "nominal", "numeric"]
    ranking = rank(GMLVQRelevance(4), X, y, kinds=kinds)
    assert ranking.order[0] == 1
    recoded = X.copy()
    recoded[:, 1] = np.array([3.0, 0.0, 1.0, 2.0, np.nan])[np.nan_to_num(X[:, 1], nan=4).astype(int)]
    assert rank(GMLVQRelevance(4), recoded, y, kinds=kinds).extra["relevance"] == pytest.approx(
        ranking.extra["relevance"], rel=1e-3
    )


def test_a_boolean_column_counts_the_same_as_a_nominal_one_of_two_levels_at_the_start():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = np.column_stack([(y + (rng.random(80) < 0.2)) % 2, rng.normal(size=80)]).astype(float)
    problem = Problem.from_arrays(X, y, kinds=["nominal", "numeric"])
    columns = GMLVQRelevance().learn(problem, problem).table.encode(X)
    assert columns.var(axis=0) == pytest.approx([0.5, 0.5, 1.0])


def test_processes_and_seeds():
    X, y = load_iris(return_X_y=True)
    ranker = GMLVQRelevance(3, max_iter=10)
    assert (rank(ranker, X, y).scores == rank(ranker, X, y, n_jobs=2).scores).all()
    assert (rank(ranker, X, y).extra["relevance"] != rank(ranker, X, y, seed=1).extra["relevance"]).any()


def test_row_groups_stay_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 8)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 2
    seen = []

    class Spy(GMLVQRelevance):
        def learn(self, train, validation, seed=0):
            seen.append(np.intersect1d(train.groups, validation.groups))
            return super().learn(train, validation, seed)

    rank(Spy(4, max_iter=2), X, y, groups=groups)
    assert len(seen) == 4
    assert all(len(common) == 0 for common in seen)


def test_selects_in_a_selector():
    X, y = load_breast_cancer(return_X_y=True)
    selector = RankSelector(GMLVQRelevance(3, max_iter=40), n_features_to_select=5, random_state=0).fit(X, y)
    assert selector.support_.sum() == 5
    assert selector.transform(X).shape == (569, 5)


def test_no_round_is_refused():
    with pytest.raises(InputError, match="The 'n_rounds' parameter of GMLVQRelevance must be an int in the range"):
        rank(GMLVQRelevance(0), np.ones((4, 1)), [0, 1] * 2)


def test_small_relevances_keep_their_order_and_copies_tie():
    shares = np.array([3e-13, 1 - 1e-9, 2e-13, 0.0, 3e-13 * (1 + 1e-8), 1e-9])
    ranking = GMLVQRelevance().ranking_of([shares], 6)
    assert ranking.extra["mean_rank"].tolist() == [3.5, 1, 5, 6, 3.5, 2]
    edge = np.array([0.5, np.nextafter(0.5, 0), 0.25 * (1 - 1e-9), 0.25])  # either side of a power of two
    assert GMLVQRelevance().ranking_of([edge], 4).extra["mean_rank"].tolist() == [1.5, 1.5, 3.5, 3.5]


def test_the_delete_rate_is_chosen_where_there_are_validation_rows():
    X, y = load_iris(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    ranker = GMLVQRelevance(delete_rate="auto", max_iter=20)
    _, chosen = ranker.rank_with(
        problem.take(np.arange(0, 150, 2)), problem.take(np.arange(1, 150, 2)), np.random.default_rng(0)
    )
    assert 0 <= chosen.model.delete_rate_ < 1
    _, alone = ranker.rank_with(
        problem.take(np.arange(100)), problem.take(np.arange(100, 150)), np.random.default_rng(0)
    )
    assert alone.model.delete_rate_ == 0
