import numpy as np
import pytest
from sklearn.datasets import load_wine

import fewer
from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.rankers import InformationGain
from fewer.search import InOrder


def slow(X, y):
    """Ten obvious lines: the order, then keep what raises the score."""
    problem = fewer.io.to_problem(X, y)
    order = InformationGain().rank(problem, np.random.default_rng(0), Resources()).order
    scorer = KNN(3, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    kept, best = np.zeros(X.shape[1], dtype=bool), -np.inf
    for feature in order:
        tried = kept.copy()
        tried[feature] = True
        score = scorer.score(tried[None])[0]
        if score > best:
            kept, best = tried, score
    return kept, best


def test_it_is_the_slow_twin():
    X, y = load_wine(return_X_y=True)
    selector = fewer.SubsetSelector(KNN(3, cv="loo"), InOrder(InformationGain()), random_state=0).fit(X, y)
    kept, best = slow(X, y)
    np.testing.assert_array_equal(selector.support_, kept)
    assert selector.score_ == pytest.approx(best)
    assert selector.trace_.n_evaluations <= X.shape[1] + 1
    assert 0 < kept.sum() < X.shape[1]


def test_sizes_and_groups_are_kept():
    X, y = load_wine(return_X_y=True)
    order = InformationGain().rank(fewer.io.to_problem(X, y), np.random.default_rng(0), Resources()).order
    two = fewer.SubsetSelector(KNN(3), InOrder(InformationGain()), n_features_to_select=2, random_state=0).fit(X, y)
    assert two.support_.sum() == 2
    assert two.support_[order[0]]
    groups = [[0, 1, 2], [5, 6]]
    selector = fewer.SubsetSelector(KNN(3), InOrder(InformationGain()), feature_groups=groups, random_state=0).fit(X, y)
    for group in groups:
        assert selector.support_[group].all() or not selector.support_[group].any()


def test_a_ranker_is_needed():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="ranker"):
        fewer.SubsetSelector(KNN(3), InOrder(3), random_state=0).fit(X, y)
