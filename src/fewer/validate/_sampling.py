"""A sample of the rows: exactly as many as it says, rare classes kept.

Choose training rows that cover the table (asked for by Chen, chapter 7; after Liu, Motoda and Yu, 2004).

Rows at random leave regions out by chance. Here the rows of each class are cut into boxes, again and
again across the feature that spreads most, until there are as many boxes as rows are wanted; each box gives one.

Rows that are near-copies of each other: several measurements of one patient, one machine, one day.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils.validation import _num_samples

from fewer.io import to_problem
from fewer.problem import FloatArray, InputError, IntArray, Problem

KEPT = 20
"""Rows of a class that a sample keeps, or all of them where there are fewer."""
WHOLE = 10
"""Groups that must fit as a whole into a sample of some size; else rows of all groups are drawn."""


def stratified_sample(problem: Problem, n_samples: int, rng: np.random.Generator) -> IntArray:
    """Draw rows in proportion to the classes; a rare class keeps up to 20 rows.

    Parameters
    ----------
    problem : Problem
        Row groups are drawn whole where ten of them fit, so that there may be fewer rows than asked for; otherwise
        there are exactly so many.
    n_samples : int
        How many rows are drawn.
    rng : Generator
        Draws all that is random.

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
    few = fits.sum() < min(WHOLE, len(names))
    if few and n_samples >= 10 * WHOLE:  # rows of all groups say more than all rows of a few
        return np.sort(rng.permutation(len(groups))[:n_samples])
    fits[0] = True
    return np.flatnonzero(np.isin(groups, names[order[fits]]))


def active_rows(problem: Any, n_rows: int, rng: np.random.Generator, y: Any = None) -> IntArray:
    """Choose rows that stand for the others: one from each box of a tree that cuts across the widest spread.

    Parameters
    ----------
    problem : Problem, array or data frame of shape (n_samples, n_features)
        Numbers, standardized for the cuts; a missing cell counts as the mean. Nominal columns cut nothing. Classes keep
        their shares, rare ones up to 20 rows, as in `stratified_sample`.
    n_rows : int
        How many rows; all if there are no more.
    rng : Generator
        Draws the row of each box.
    y : array of shape (n_samples,), optional
        The target of an array or a frame; without it no class has a share to keep.

    Returns
    -------
    int array of shape (n_rows,)
        Row numbers, in order.

    See Also
    --------
    stratified_sample : At random.

    Examples
    --------
    One row from each fifth of a line:

    >>> (active_rows(np.arange(100.0)[:, None], 5, np.random.default_rng(0)) // 20).tolist()
    [0, 1, 2, 3, 4]
    """
    if n_rows < 1:
        raise InputError(f"n_rows={n_rows}: choose at least one row.")
    if not isinstance(problem, Problem):
        target = np.arange(_num_samples(problem)) if y is None else y
        problem = to_problem(problem, target, task="regression" if y is None else None)
    if n_rows >= problem.n_samples:
        return np.arange(problem.n_samples)
    cells = _standardized(problem.as_dense())
    is_class = problem.task == "classification" and problem.y.ndim == 1
    codes = problem.y if is_class else np.zeros(problem.n_samples, dtype=np.int64)
    classes, counts = np.unique(codes, return_counts=True)
    chosen = [
        box[rng.integers(len(box))]
        for code, share in zip(classes, _quotas(counts, n_rows), strict=True)
        for box in boxes(cells, np.flatnonzero(codes == code), int(share))
    ]
    return np.sort(np.array(chosen, dtype=np.int64))


def boxes(cells: FloatArray, rows: IntArray, n_boxes: int) -> list[IntArray]:
    """Cut rows into boxes of nearly equal size, each time across the column that spreads most among them.

    Examples
    --------
    >>> [box.tolist() for box in boxes(np.array([[0.0], [9.0], [1.0], [8.0], [2.0]]), np.arange(5), 2)]
    [[0, 2], [4, 3, 1]]
    """
    if n_boxes <= 1:
        return [rows] if n_boxes == 1 else []
    own = cells[rows]
    column = int(own.var(axis=0).argmax()) if cells.shape[1] else 0
    order = rows[np.argsort(own[:, column], kind="stable")] if cells.shape[1] else rows
    lower = n_boxes // 2
    cut = len(rows) * lower // n_boxes
    return [*boxes(cells, order[:cut], lower), *boxes(cells, order[cut:], n_boxes - lower)]


def _standardized(problem: Problem) -> FloatArray:
    X = problem.X[:, ~problem.nominal & ~problem.constant]
    present = ~np.isnan(X)
    n = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, X, 0.0).sum(axis=0) / n
    apart = np.where(present, X - mean, 0.0)
    spread = np.sqrt((apart**2).sum(axis=0) / n)
    return np.asarray(apart / np.where(spread > 0, spread, 1.0))


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
        The rows.

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
