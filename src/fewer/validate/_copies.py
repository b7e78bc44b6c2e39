"""Rows that are near-copies of each other: several measurements of one patient, one machine, one day."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from fewer.problem import Problem

MOST_COLUMNS, MOST_ROWS, QUERIES = 30, 20_000, 400
NEIGHBORS = 16
JUMP = 2.0
"""How much farther the next row must be for those before it to count as copies."""
ROUNDED = 0.5
"""Columns in which a smaller share of the cells is distinct are too coarse to tell copies from neighbors."""


def near_copies(problem: Problem) -> float:
    """Return the share of rows that have near-copies: a few rows much closer to them than all others.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    float
        0 where the columns are too coarse, or too few, to tell.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(40, 6)), 5, axis=0) + rng.normal(scale=0.01, size=(200, 6))
    >>> near_copies(Problem.from_arrays(X, np.arange(200) % 2))
    1.0
    >>> near_copies(Problem.from_arrays(rng.normal(size=(200, 6)), np.arange(200) % 2)) < 0.1
    True
    """
    fine = [i for i in np.flatnonzero(~problem.nominal & ~problem.constant) if _is_fine(problem.X[:, i])]
    if len(fine) < 3 or problem.n_samples < 2 * NEIGHBORS:
        return 0.0
    step = max(len(fine) // MOST_COLUMNS, 1)
    X = problem.X[:MOST_ROWS, fine[::step][:MOST_COLUMNS]]
    X = (X - np.nanmean(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-300)
    X = np.where(np.isnan(X), 0.0, X)
    asked = X[:: max(len(X) // QUERIES, 1)]
    distances = cKDTree(X).query(asked, k=NEIGHBORS)[0][:, 1:]
    ahead = distances[:, 1:] > JUMP * np.maximum(distances[:, :-1], 1e-12)
    return float(np.mean(ahead.any(axis=1)))


def _is_fine(column: np.ndarray) -> bool:
    present = column[~np.isnan(column)]
    return len(present) > 0 and len(np.unique(np.round(present, 12))) > ROUNDED * len(present)
