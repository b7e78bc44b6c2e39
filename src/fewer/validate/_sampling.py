"""A sample of the rows: exactly as many as it says, rare classes kept."""

from __future__ import annotations

import numpy as np

from fewer.problem import IntArray, Problem

KEPT = 20
"""Rows of a class that a sample keeps, or all of them where there are fewer."""


def stratified_sample(problem: Problem, n_samples: int, rng: np.random.Generator) -> IntArray:
    """Draw rows in proportion to the classes; a rare class keeps up to 20 rows.

    Parameters
    ----------
    problem : Problem
        Row groups are drawn whole, so that there may be fewer rows than asked for; otherwise there are exactly so many.
    n_samples : int
    rng : Generator

    Returns
    -------
    int array
        Row numbers, in order; all rows if there are no more.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.arange(1000.0)[:, None], np.arange(1000) < 5)
    >>> rows = stratified_sample(problem, 100, np.random.default_rng(0))
    >>> len(rows), int((rows < 5).sum())
    (100, 5)
    """
    n = problem.n_samples
    if n <= n_samples:
        return np.arange(n)
    if problem.groups is not None:
        return _whole_groups(problem.groups, n_samples, rng)
    codes = problem.y if problem.task == "classification" and problem.y.ndim == 1 else np.zeros(n, dtype=np.int64)
    _, code, counts = np.unique(codes, return_inverse=True, return_counts=True)
    quota = _quotas(counts, n_samples)
    order = rng.permutation(n)
    order = order[np.argsort(code[order], kind="stable")]
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    kept = [order[start : start + share] for start, share in zip(first, quota, strict=True)]
    return np.sort(np.concatenate(kept)).astype(np.int64)


def _quotas(counts: IntArray, n_samples: int) -> IntArray:
    """Deal a number of rows out to classes: at least KEPT where there are so many, the rest by size."""
    floor = np.minimum(counts, min(KEPT, max(n_samples // len(counts), 1)))
    left = n_samples - int(floor.sum())
    if left <= 0:
        return floor
    wanted = np.maximum(counts * (n_samples / counts.sum()) - floor, 0.0)
    wanted *= left / max(wanted.sum(), 1e-300)
    share = np.minimum(floor + np.floor(wanted).astype(np.int64), counts)
    rest = np.argsort(-(wanted - np.floor(wanted)), kind="stable")  # what rounding left, one by one
    while (missing := n_samples - int(share.sum())) > 0:
        share[[place for place in rest if share[place] < counts[place]][:missing]] += 1
    return share


def _whole_groups(groups: IntArray, n_samples: int, rng: np.random.Generator) -> IntArray:
    names, counts = np.unique(groups, return_counts=True)
    order = rng.permutation(len(names))
    fits = np.cumsum(counts[order]) <= n_samples
    fits[0] = True
    return np.flatnonzero(np.isin(groups, names[order[fits]]))
