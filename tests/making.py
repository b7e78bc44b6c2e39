"""Small problems for tests."""

import numpy as np

from fewer.problem import Problem


def make_problem(n_rows=60, n_features=6, n_informative=2, seed=0, task="classification", decimals=None):
    """Two shifted classes (or a linear target) in the first columns, noise in the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    if task == "classification":
        y = np.arange(n_rows) % 2
        X[:, :n_informative] += 1.5 * y[:, None]
    else:
        y = X[:, :n_informative].sum(axis=1) + 0.1 * rng.normal(size=n_rows)
    if decimals is not None:
        X = X.round(decimals)
    return Problem.from_arrays(X, y, task=task)
