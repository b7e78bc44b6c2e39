import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from fewer.contracts import Resources
from fewer.criteria import BoundaryShare
from fewer.kernels.classifiability import spanning_tree
from fewer.problem import Problem


@pytest.mark.parametrize("columns", [[0], [0, 2], [0, 1, 2]])
def test_the_tree_is_as_short_as_scipys(columns):
    X = np.random.default_rng(0).normal(size=(30, 3))
    problem = Problem.from_arrays(X, np.arange(30) % 2)
    table = BoundaryShare().bind(problem, np.random.default_rng(0), Resources())._exact
    weights = np.isin(np.arange(3), columns).astype(float)
    parent = spanning_tree(table, weights, np.arange(30))
    scaled = ((X - X.min(axis=0)) / np.ptp(X, axis=0))[:, columns]
    squares = cdist(scaled, scaled, "sqeuclidean")
    assert np.flatnonzero(parent < 0).tolist() == [0]
    length = squares[np.arange(1, 30), parent[1:]].sum()
    assert length == pytest.approx(minimum_spanning_tree(squares).sum(), rel=1e-6)
