"""Some columns of a sparse table, dense: the same numbers as the criterion on those columns alone."""

import numpy as np
from scipy import sparse

from fewer.contracts import Resources
from fewer.control._prefilter import NarrowCriterion
from fewer.criteria import KNN
from fewer.io import SparseProblem
from fewer.problem import Problem

COLUMNS = np.array([1, 2, 4])


def problems():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.6)
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    dense = Problem.from_arrays(X, y)
    return SparseProblem.of(dense, sparse.csr_array(X)), Problem.from_arrays(X[:, COLUMNS], y)


def scorers():
    thin, plain = problems()
    narrow = NarrowCriterion(KNN(3), COLUMNS).bind(thin, np.random.default_rng(0), Resources())
    return narrow, KNN(3).bind(plain, np.random.default_rng(0), Resources()), plain


def mask_of(*columns):
    return np.isin(np.arange(6), columns)


def test_what_the_criterion_declares_is_declared():
    narrow, inner = NarrowCriterion(KNN(3), COLUMNS), KNN(3)
    for name in ("monotone", "supports_weights", "predictive", "multi_output", "tasks", "takes"):
        assert getattr(narrow, name) == getattr(inner, name)


def test_scores_flips_and_predictions_are_those_of_the_columns_alone():
    narrow, plain, rows = scorers()
    masks = np.array([mask_of(1), mask_of(2, 4), mask_of(1, 2, 4)])
    assert np.array_equal(narrow.score(masks), plain.score(masks[:, COLUMNS]))
    units = [np.array([2]), np.array([4])]
    values = np.ones(2, dtype=bool)
    flipped = narrow.flips(mask_of(1), units, values)
    assert np.array_equal(flipped, plain.score(np.array([[True, True, False], [True, False, True]])))
    outputs = narrow.outputs(masks[2])
    assert np.array_equal(outputs, plain.outputs(np.ones(3, dtype=bool)))
    assert narrow.grade(outputs, rows) == plain.grade(outputs, rows)
    new = np.random.default_rng(1).normal(size=(5, 6))
    assert np.array_equal(narrow.predict(masks[1], new), plain.predict(masks[1][COLUMNS], new[:, COLUMNS]))
