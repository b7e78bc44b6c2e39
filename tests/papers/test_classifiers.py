"""The judges of printed tables against scikit-learn and hand-made trees."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fewer.datasets import make_monk
from fewer.io import to_problem
from fewer_papers._classifiers import ID3, NaiveBayes, _grow


def test_naive_bayes_on_numbers_is_scikit_learns():
    X, y = load_iris(return_X_y=True)
    ours = NaiveBayes().fit(X[::2], y[::2]).predict(X[1::2])
    np.testing.assert_array_equal(ours, GaussianNB().fit(X[::2], y[::2]).predict(X[1::2]))


def test_naive_bayes_on_levels_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, 200) > 3).astype(int)
    ours = NaiveBayes(np.ones(3, dtype=bool)).fit(X, y).predict(X)
    np.testing.assert_array_equal(ours, CategoricalNB(alpha=1.0).fit(X, y).predict(X))


def test_naive_bayes_skips_holes():
    X = np.array([[0.0, 0.0], [0.2, 0.0], [1.0, 1.0], [1.2, 1.0], [np.nan, 1.0], [1.1, np.nan]])
    y = np.array(["a", "a", "b", "b", "b", "b"])
    fitted = NaiveBayes(np.array([False, True])).fit(X, y)
    assert fitted.predict(np.array([[0.1, np.nan], [np.nan, 1.0], [np.nan, np.nan]])).tolist() == ["a", "b", "b"]


def test_id3_on_numbers_is_the_entropy_tree():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X[::2], y[::2])
    np.testing.assert_array_equal(ID3().fit(X[::2], y[::2]).predict(X), tree.predict(X))


def test_our_thresholds_agree_with_scikit_learns_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0.3).astype(int)
    root = _grow(X, y, np.zeros(3, dtype=bool), 2, frozenset())
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y).tree_
    assert root.feature == tree.feature[0]
    assert root.threshold == pytest.approx(tree.threshold[0])


def test_id3_branches_on_levels():
    """MONK-1 by a5, a1, a2 alone: the tree holds the rule, so it makes no mistake."""
    X, y = make_monk(1)
    problem = to_problem(X, y)
    cells = problem.X[:, [0, 1, 4]]
    fitted = ID3(np.ones(3, dtype=bool)).fit(cells, y)
    np.testing.assert_array_equal(fitted.predict(cells), y)
    assert fitted._tree.feature == 2
    assert len(fitted._tree.branches) == 4


def test_id3_follows_holes_and_strange_levels():
    X = np.array([[0.0, 5.0], [0.0, 6.0], [1.0, 5.0], [1.0, 6.0], [1.0, 7.0], [2.0, 1.0]])
    y = np.array([0, 0, 1, 1, 1, 1])
    fitted = ID3(np.array([True, False])).fit(X, y)
    assert fitted.predict(np.array([[0.0, np.nan], [np.nan, 5.5], [9.0, 5.0]])).tolist() == [0, 1, 1]
