import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import fewer
from fewer.problem import InputError
from fewer.validate import Bootstrap, accuracy_632


def test_rows_are_drawn_with_replacement_and_the_others_test():
    y = np.arange(400) % 2
    shares = []
    for train, test in Bootstrap(50, random_state=0).split(np.zeros((400, 1)), y):
        assert len(train) == 400
        assert not set(train.tolist()) & set(test.tolist())
        shares.append(len(test) / 400)
    # (1 − 1/n)ⁿ of the rows are left.
    assert np.mean(shares) == pytest.approx(np.exp(-1), abs=0.005)


def test_whole_groups_are_drawn():
    groups = np.repeat(np.arange(20), 5)
    for train, test in Bootstrap(10, random_state=0).split(np.zeros((100, 1)), groups=groups):
        assert not set(groups[train]) & set(groups[test])


def test_a_slow_twin_of_the_estimate():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(1)
    outside = []
    for train, test in Bootstrap(15, random_state=3).split(X, y):
        outside.append((KNeighborsClassifier(1).fit(X[train], y[train]).predict(X[test]) == y[test]).mean())
    # One neighbor knows its training rows by heart.
    assert accuracy_632(model, X, y, n_splits=15, random_state=3) == pytest.approx(0.368 + 0.632 * np.mean(outside))
    guess = DummyClassifier(strategy="constant", constant=0)
    assert accuracy_632(guess, X, y, n_splits=30, random_state=0) == pytest.approx(1 / 3, abs=0.03)


def test_it_judges_inside_a_wrapper():
    X, y = load_iris(return_X_y=True)
    criterion = fewer.criteria.CrossValidated(KNeighborsClassifier(5), cv=Bootstrap(5, random_state=0))
    selector = fewer.SubsetSelector(criterion, fewer.search.Forward()).fit(X[50:], y[50:])
    assert selector.score_ > 0.9


def test_a_class_of_one_row_cannot_always_be_drawn():
    with pytest.raises(InputError, match="holds every class and leaves a row out"):
        list(Bootstrap(1, random_state=0).split(np.zeros((2, 1)), np.array(["a", "b"])))
