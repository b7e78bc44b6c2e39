import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.errors import InputError
from fewer.evaluate._compare import is_same
from fewer.evaluate._nested import choose, describe, support_of
from fewer.problem import Problem
from fewer.rankers import Fisher
from making import make_problem


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=2),
        RFE(LogisticRegression(), n_features_to_select=2),
        SequentialFeatureSelector(KNeighborsClassifier(3), n_features_to_select=2),
        SelectFromModel(LogisticRegression(), max_features=2, threshold=-np.inf),
        make_pipeline(StandardScaler(), SelectKBest(k=2)),
        fewer.RankSelector(Fisher(), n_features_to_select=2),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_selectors_of_any_kind(selector):
    mask, _ = choose(selector, make_problem(n_rows=100), 0)
    assert mask.tolist() == [True, True, False, False, False, False]


class Indices(BaseEstimator):
    """Says what it chose as mlxtend does."""

    def fit(self, X, y):
        self.k_feature_idx_ = (0, 3)
        return self


class Silent(BaseEstimator):
    def fit(self, X, y):
        return self


def test_other_ways_to_say_what_was_chosen():
    problem = make_problem()
    assert np.flatnonzero(choose(Indices(), problem, 0)[0]).tolist() == [0, 3]
    with pytest.raises(InputError, match="does not say which"):
        choose(Silent(), problem, 0)
    fitted = SelectKBest(k=1).fit(problem.X, problem.y)
    with pytest.raises(InputError, match="among 6 features"):
        support_of(fitted, 7)


def test_foreign_selectors_get_complete_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 2] = rng.integers(0, 3, 60)
    y = np.arange(60) % 2
    X[y == 1, 1] += 2
    X[rng.random((60, 3)) < 0.1] = np.nan
    problem = Problem.from_arrays(X, y, kinds=["numeric", "numeric", "nominal"])
    mask, _ = choose(SelectKBest(k=1), problem, 0)
    assert mask.tolist() == [False, True, False]


def test_whoever_has_no_seed_gets_one():
    selector = SelectFromModel(DecisionTreeClassifier(max_features=1), threshold="mean")
    problem = make_problem(n_rows=40, n_features=20, n_informative=0)
    masks = [choose(selector, problem, seed)[0] for seed in (1, 1, 2)]
    assert np.array_equal(masks[0], masks[1])
    assert not np.array_equal(masks[0], masks[2])


def test_descriptions_are_the_same_in_every_process():
    assert "0x" not in describe(SelectKBest())
    assert is_same(fewer.RankSelector(Fisher(), random_state=3), fewer.RankSelector(Fisher()))
    assert not is_same(fewer.RankSelector(Fisher(), n_features_to_select=3), fewer.RankSelector(Fisher()))
    assert not is_same(SelectKBest(), fewer.RankSelector(Fisher()))
