"""No ranker puts a column with next to no cells above real signals."""

import numpy as np
import pytest

from fewer import registry
from fewer.contracts import Resources
from fewer.problem import Problem

CHEAP = [name for name in registry.COMPONENTS["ranker"] if name not in ("shap", "permutation", "gmlvq", "chi2")]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", CHEAP)
def test_few_cells_rank_behind_real_signals(name, task):
    ranker = registry.build("ranker", name, task)
    if task not in ranker.tasks:
        return
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(240, 9))
        z = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=240)
        X[:, 4] = 1.0
        for column in (5, 6, 7, 8):
            X[rng.permutation(240)[7:], column] = np.nan
        X[~np.isnan(X[:, 8]), 8] = z[~np.isnan(X[:, 8])]  # seven cells that tell the target, by chance or not
        problem = Problem.from_arrays(X, z > 0 if task == "classification" else z, task=task)
        order = ranker.rank(problem, np.random.default_rng(0), Resources()).order.tolist()
        assert max(order.index(0), order.index(1)) < min(order.index(column) for column in (5, 6, 7, 8))
        assert order[-1] == 4
