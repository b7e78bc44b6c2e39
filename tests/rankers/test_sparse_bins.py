"""Bins of stored cells say what bins of the dense table say."""

import numpy as np
import pytest
from scipy import sparse

from fewer.io import SparseProblem
from fewer.problem import Problem
from fewer.rankers._bins import FeatureBins, SparseBins


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_information_is_that_of_the_dense_table(task, n_jobs):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(120, 5)), 2) * (rng.random((120, 5)) < 0.3)
    X[7, 3] = np.nan
    y = (X[:, 0] > 0).astype(int) if task == "classification" else X[:, 0] + rng.normal(size=120)
    dense = Problem.from_arrays(X, y, task=task)
    thin = SparseProblem.of(dense, sparse.csc_array(X))
    one, other = SparseBins(thin, 5, n_jobs), FeatureBins(dense, 5)
    assert one.relevance() == pytest.approx(other.relevance(), abs=1e-12)
    for feature in (0, 3):
        assert one.redundancy(feature) == pytest.approx(other.redundancy(feature), abs=1e-12)
        assert one.conditional(feature) == pytest.approx(other.conditional(feature), abs=1e-12)
        assert one.entropy(feature) == pytest.approx(other.entropy(feature), abs=1e-12)
