import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from fewer.criteria.engines._engine import Folds
from fewer.problem import Problem

SPLITS = [(np.arange(5, 15), np.arange(5)), (np.arange(8), np.arange(10, 15))]


def folds(transformers=(), weighted=False):
    X = np.random.default_rng(0).normal(size=(15, 3))
    problem = Problem.from_arrays(X, np.arange(15) % 2, sample_weight=np.arange(1.0, 16.0))
    return X, Folds(problem, SPLITS, transformers, weighted)


def test_test_rows_stand_fold_after_fold():
    X, made = folds()
    list(made.training())
    assert (made.n_folds, made.n_tests) == (2, 10)
    assert made.bounds.tolist() == [0, 5, 10]
    assert np.array_equal(made.tests(1), X[10:15])
    assert made.weights.tolist() == [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]
    made.put(1, np.zeros((5, 3)))
    assert not made.tests(1).any()
    assert np.array_equal(made.tests(0), X[:5])


def test_transformers_learn_from_training_rows_alone():
    X, made = folds([StandardScaler()])
    for (train, _), (rows, y, weights) in zip(SPLITS, made.training(), strict=True):
        assert rows.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
        assert len(y) == len(train)
        assert weights is None
    truth = StandardScaler().fit(X[SPLITS[1][0]]).transform(X[10:15])
    assert made.tests(1) == pytest.approx(truth)


def test_weights_reach_the_fit_only_where_it_takes_them():
    _, made = folds(weighted=True)
    assert [weights.sum() for _, _, weights in made.training()] == [sum(range(6, 16)), sum(range(1, 9))]
