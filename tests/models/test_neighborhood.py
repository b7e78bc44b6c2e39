import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.errors import InputError
from fewer.models import NeighborhoodClassifier


@parametrize_with_checks([NeighborhoodClassifier(), NeighborhoodClassifier(3, voting="neighbors", scaling="none")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def slow_vote(train, y, query, weights, k):
    """Rank the distinct distances; the rows at the nearest k vote, then the next, until one class leads."""
    span = np.ptp(train, axis=0)
    distance = np.round((weights * ((query - train) / np.where(span > 0, span, 1)) ** 2).sum(axis=1), 10)
    levels = np.unique(distance)
    for count in range(k, len(levels) + 1):
        votes = np.bincount(y[distance <= levels[count - 1]], minlength=3)
        if (votes == votes.max()).sum() == 1:
            return votes.argmax()
    votes = np.bincount(y, minlength=3)
    return next(label for label in y if votes[label] == votes.max())


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_votes_are_those_of_the_slow_twin(seed, k):
    """Coarse values, so that distances and votes tie."""
    rng = np.random.default_rng(seed)
    X, new = rng.integers(0, 3, size=(20, 3)) / 4, rng.integers(0, 3, size=(15, 3)) / 4
    y = rng.permutation(np.arange(20) % 3)
    weights = rng.integers(0, 5, 3) / 4
    k = min(k, len(np.unique(X @ np.array([1, 10, 100]))))
    model = NeighborhoodClassifier(k, weights=weights).fit(X, y)
    by_hand = [slow_vote(X, y, query, weights, min(k, 1 if not weights.any() else k)) for query in new]
    reachable = [len(np.unique(np.round((weights * ((q - X) / np.ptp(X, axis=0)) ** 2).sum(axis=1), 10))) for q in new]
    for mine, theirs, n_levels in zip(model.predict(new), by_hand, reachable, strict=True):
        if n_levels >= k:
            assert mine == theirs


def test_one_neighbor_without_ties_is_scikit_learns():
    X, y = load_wine(return_X_y=True)
    train = np.arange(len(y)) % 2 == 0
    weights = np.linspace(0, 1, 13)
    span = np.ptp(X[train], axis=0)
    theirs = KNeighborsClassifier(1).fit((X / span * np.sqrt(weights))[train], y[train])
    ours = NeighborhoodClassifier(weights=weights).fit(X[train], y[train])
    assert np.array_equal(ours.predict(X[~train]), theirs.predict((X / span * np.sqrt(weights))[~train]))
    assert np.allclose(ours.predict_proba(X[~train]).sum(axis=1), 1)


def test_no_weight_at_all_is_the_majority():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "b"])
    assert NeighborhoodClassifier(weights=[0.0]).fit(X, y).predict([[0.0]]).tolist() == ["b"]


def test_levels_of_a_frame():
    frame = pd.DataFrame({"color": ["red", "red", "blue", "blue"], "size": [0.0, 1.0, 0.0, 1.0]})
    model = NeighborhoodClassifier(weights=[1, 0.1]).fit(frame, [0, 0, 1, 1])
    assert model.predict(pd.DataFrame({"color": ["blue", "red"], "size": [0.5, np.nan]})).tolist() == [1, 0]


def test_wrong_weights():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(InputError, match=r"weights has shape \(2,\), but there are 13 features"):
        NeighborhoodClassifier(weights=[1, 0]).fit(X, y)
    with pytest.raises(InputError, match="weights must lie between 0 and 1"):
        NeighborhoodClassifier(weights=np.full(13, 2.0)).fit(X, y)
