"""The held-out column cannot be fooled."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.criteria import KNN
from fewer.evaluate import nested
from fewer.evaluate._nested import choose
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.search import Forward
from making import make_problem


def noise(seed=0, n_rows=60, n_features=300):
    rng = np.random.default_rng(seed)
    return Problem.from_arrays(rng.normal(size=(n_rows, n_features)), np.arange(n_rows) % 2)


class Peeker(BaseEstimator):
    """Takes the features that fit best whatever rows it can lay hands on: those of an earlier fit, or behind a view."""

    def __init__(self, k=5, peek=True):
        self.k = k
        self.peek = peek

    def fit(self, X, y):
        rows = [(X, y)]
        if self.peek:
            rows += [(X.base, y.base)] if X.base is not None and y.base is not None else []
            rows += getattr(self, "seen_", [])
        self.seen_ = rows
        X, y = max(rows, key=lambda pair: len(pair[1]))
        order = np.argsort(-np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)))
        self.support_ = np.isin(np.arange(X.shape[1]), order[: self.k])
        return self

    def fit_problem(self, problem):
        return self.fit(problem.X, problem.y)


class ForeignPeeker(Peeker):
    fit_problem = property()  # only fit(X, y), as other libraries have it


@pytest.mark.parametrize("kind", [Peeker, ForeignPeeker])
def test_a_selector_that_peeks_gains_nothing(kind):
    scores, peeked, leaked = [], [], []
    for seed in range(8):
        problem = noise(seed)
        informed = kind().fit(problem.X, problem.y)
        scores.append(nested(kind(peek=False), problem, GaussianNB()).score)
        peeked.append(nested(informed, problem, GaussianNB()).score)
        chosen = Problem.from_arrays(problem.X[:, informed.support_], problem.y)
        leaked.append(nested(None, chosen, GaussianNB()).score)
    assert peeked == scores
    assert np.mean(leaked) > 0.75
    assert abs(np.mean(peeked) - 0.5) < 0.12


def test_only_training_rows_reach_the_selector():
    problem = make_problem(n_rows=50)
    numbered = Problem.from_arrays(np.column_stack([problem.X, np.arange(50)]), problem.y)
    seen = []

    class Witness(fewer.RankSelector):
        def fit_problem(self, rows):
            seen.append(set(rows.X[:, -1].astype(int)))
            return super().fit_problem(rows)

    nested(Witness(Fisher(), n_features_to_select=2), numbered, cv=5)
    assert len(seen) == 5
    left_out = [set(range(50)) - rows for rows in seen]
    assert sorted(row for rows in left_out for row in rows) == list(range(50))


def test_optimism_of_a_search_on_noise():
    selector = fewer.SubsetSelector(KNN(), Forward(), n_features_to_select=5)
    result = nested(selector, noise(), GaussianNB())
    assert result.search_score > 0.75
    assert result.optimism > 0.2
    assert result.interval.low < 0.5 < result.interval.high


def test_optimism_of_a_filter_on_noise():
    result = nested(SelectKBest(k=10), noise(), GaussianNB(), scoring="roc_auc")
    assert result.search_score > 0.8
    assert result.optimism == pytest.approx(result.search_score - result.score)
    assert result.interval.low < 0.5 < result.interval.high


def test_no_selection_has_no_optimism_to_speak_of():
    result = nested(None, make_problem(n_rows=200), GaussianNB())
    assert abs(result.optimism) < 0.04
    assert np.isnan(result.stability.estimate)


def test_frequency_consensus_and_stability():
    problem = make_problem(n_rows=100, n_features=8)
    result = nested(fewer.RankSelector(Fisher(), n_features_to_select=2), problem)
    assert np.array_equal(result.consensus, np.arange(8) < 2)
    assert result.frequency[:2].min() == 1.0
    assert result.stability.estimate == 1.0
    assert result.masks.shape == (5, 8)


def test_repeats_and_time_order():
    problem = make_problem(n_rows=60)
    repeated = nested(SelectKBest(k=2), problem, n_repeats=3)
    assert len(repeated.fold_scores) == 15
    ordered = nested(SelectKBest(k=2), problem, cv=TimeSeriesSplit(4))
    assert len(ordered.fold_scores) == 4
    assert "4 models on about" in ordered.interval.estimand


def test_it_resumes_to_the_same_result():
    selector = fewer.SubsetSelector(KNN(), Forward())
    problem, kept = make_problem(), []
    whole = nested(selector, problem, on_fold=lambda records: kept.append(json.dumps(records)))
    again = nested(selector, problem, done=json.loads(kept[2]))
    assert again.interval == whole.interval
    assert np.array_equal(again.masks, whole.masks)


def test_seeds():
    selector = SelectFromModel(DecisionTreeClassifier(max_features=1), threshold="mean")
    problem = noise(n_rows=40, n_features=20)
    first, second, other = (nested(selector, problem, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.masks, second.masks)
    assert first.interval == second.interval
    assert not np.array_equal(first.masks, other.masks)


def test_selectors_of_others_get_a_missing_level_as_one_more():
    class Looks(BaseEstimator):
        def fit(self, X, y):
            assert X[:2].tolist() == [[3.0, 0.5], [2.0, 0.5]]  # level 2 is the last, 0.5 the median
            self.support_ = np.array([True, False])
            return self

    X = np.array([[np.nan, np.nan], [2.0, 0.5], *[[i % 2, i % 2] for i in range(40)]], dtype=float)
    problem = Problem.from_arrays(X, np.arange(42) % 2, kinds=["nominal", "numeric"])
    assert choose(Looks(), problem, 0)[0].tolist() == [True, False]
