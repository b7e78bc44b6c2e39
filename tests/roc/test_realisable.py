import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from fewer.problem import InputError
from fewer.roc import RealisableClassifier, chord_share
from fewer.roc._realisable import joint_digests, key_digests, row_digests, shares


def test_rows_are_known_in_any_container():
    X = np.array([[1.0, 0.0, np.nan], [2.0, -0.0, 5.0], [2.0, 0.0, 5.0]])
    digests = row_digests(X)
    assert digests[1] == digests[2] != digests[0]
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns, nan_to_null=True)):
        np.testing.assert_array_equal(row_digests(frame), digests)
    texts = pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 1, 1]})
    found = row_digests(texts)
    assert found[0] == found[2] != found[1]
    np.testing.assert_array_equal(found, row_digests(texts.to_pandas()))


def test_hashes_are_spread_evenly_and_do_not_follow_the_cells():
    grid = np.array([[i, j] for i in range(200) for j in range(200)], dtype=float)
    even = shares(row_digests(grid), 0)
    counts = np.bincount((even * 100).astype(int), minlength=100)
    # Chi-square with 99 degrees of freedom.
    assert 60 < np.sum((counts - 400) ** 2 / 400) < 150
    assert abs(np.corrcoef(even, grid[:, 0])[0, 1]) < 0.02
    assert abs(np.corrcoef(even[:-1], even[1:])[0, 1]) < 0.02


def test_the_order_of_columns_and_a_sparse_table():
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    digests = row_digests(X)
    assert digests[0] != digests[1]
    assert np.array_equal(row_digests(sparse.csr_array(X)), digests)
    with pytest.raises(InputError, match="X has 1 dimension"):
        row_digests(np.arange(3.0))


def test_keys_are_known_by_their_text():
    assert np.array_equal(key_digests([1, "a", 1]), key_digests(["1", "a", "1"]))
    assert len(set(key_digests(range(1000)).tolist())) == 1000


def test_who_is_asked_first_matters_and_so_does_the_seed():
    a, b = row_digests(np.array([[1.0], [2.0]]))[:, None]
    assert joint_digests(a, b) != joint_digests(b, a)
    many = row_digests(np.arange(1000.0)[:, None])
    assert abs(np.corrcoef(shares(many, 0), shares(many, 1))[0, 1]) < 0.1
    assert np.array_equal(shares(many, 5), shares(many, 5))


class Threshold:
    """Calls a row positive if one column is above a limit."""

    classes_ = np.array([0, 1])

    def __init__(self, column, limit):
        self.column, self.limit = column, limit

    def predict(self, X):
        return (np.asarray(X)[:, self.column] > self.limit).astype(int)

    def __sklearn_is_fitted__(self):
        return True


def rates(called, y):
    return np.array([called[y == 0].mean(), called[y == 1].mean()])


def two_columns(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + np.outer(y, [1.0, 0.7, 0.0]), y


@pytest.mark.parametrize("choice", ["hash", "random"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 1.0])
def test_the_realised_rates_meet_the_chord(choice, share):
    X, y = two_columns()
    low, high = Threshold(0, 1.5), Threshold(1, 0.0)
    ends = rates(low.predict(X), y), rates(high.predict(X), y)
    chord = (1 - share) * ends[0] + share * ends[1]
    draws = [
        rates(RealisableClassifier(low, high, share, choice=choice, random_state=seed).predict(X), y)
        for seed in range(40)
    ]
    np.testing.assert_allclose(np.mean(draws, axis=0), chord, atol=0.0015)
    # One draw of 10 000 rows a class stays within four standard errors.
    assert np.all(np.abs(np.array(draws) - chord) < 0.02)


def test_the_same_case_gets_the_same_answer():
    X, _ = two_columns(500)
    classifier = RealisableClassifier(Threshold(0, 1.5), Threshold(1, 0.0), 0.5)
    whole = classifier.predict(X)
    alone = np.array([classifier.predict(row[None])[0] for row in X])
    shuffled = classifier.predict(X[::-1])[::-1]
    np.testing.assert_array_equal(whole, alone)
    np.testing.assert_array_equal(whole, shuffled)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(whole, again.predict(X))
    assert 0.3 < classifier.who_decides(X).mean() < 0.7
    other = RealisableClassifier(classifier.low, classifier.high, 0.5, random_state=1)
    assert (classifier.who_decides(X) != other.who_decides(X)).any()


def test_keys_stand_for_cells():
    X, _ = two_columns(200)
    classifier = RealisableClassifier(Threshold(0, 1.5), Threshold(1, 0.0), 0.5)
    keys = [f"case {i}" for i in range(200)]
    np.testing.assert_array_equal(classifier.who_decides(X, keys), classifier.who_decides(X + 1, keys))
    assert (classifier.predict(X, keys) != classifier.predict(X)).any()
    with pytest.raises(InputError, match="3 keys for 200 rows"):
        classifier.predict(X, keys[:3])


def test_any_classifiers_and_any_features():
    X, y = two_columns(2000)
    a, b = LogisticRegression().fit(X, y), LogisticRegression(C=1e-4).fit(X, y)
    mixed = RealisableClassifier(a, b, chord_share(0.1, 0.3, 0.15))
    called = mixed.predict(X)
    by_b = mixed.who_decides(X)
    np.testing.assert_array_equal(called, np.where(by_b, b.predict(X), a.predict(X)))
    assert mixed.classes_.tolist() == [0, 1]
    assert clone(mixed).share == mixed.share
    assert mixed.fit() is mixed


def test_a_share_is_a_share():
    with pytest.raises(ValueError, match="share"):
        RealisableClassifier(Threshold(0, 0), Threshold(0, 1), 1.5).predict(np.zeros((2, 2)))


def test_labels_stand_for_the_corners():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = np.where(X[:, 0] + rng.normal(size=4000) > 0, "ill", "well")
    model = LogisticRegression().fit(X, y)
    sometimes = RealisableClassifier("well", model, share=0.4).fit()
    called = sometimes.predict(X) == "ill"
    rates = [(model.predict(X)[y == name] == "ill").mean() for name in ("well", "ill")]
    assert [called[y == name].mean() for name in ("well", "ill")] == pytest.approx([0.4 * r for r in rates], abs=0.02)
    assert sometimes.classes_.tolist() == ["ill", "well"]
    again = RealisableClassifier("well", LogisticRegression(), share=0.4).fit(X, y)
    assert (again.predict(X) == sometimes.predict(X)).all()
    coin = RealisableClassifier("well", "ill", share=0.5)
    assert coin.classes_.tolist() == ["ill", "well"]
    assert set(coin.predict(X)) == {"ill", "well"}


def test_a_label_that_the_other_classifier_does_not_know_is_refused():
    X = two_columns(200)[0]
    for pair in (("yess", Threshold(0, 0.5)), (Threshold(0, 0.5), "yess")):
        with pytest.raises(InputError, match="'yess' is not a class of the other classifier"):
            RealisableClassifier(*pair).predict(X)
