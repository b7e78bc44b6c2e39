"""Choose training rows that cover the table (asked for by Chen, chapter 7; after Liu, Motoda and Yu, 2004).

Rows at random leave regions out by chance. Here the rows of each class are cut into boxes, again and
again across the feature that spreads most, until there are as many boxes as rows are wanted; each box gives one.
"""

from __future__ import annotations

import numpy as np

from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.validate._sampling import _quotas


def active_rows(problem: Problem, n_rows: int, rng: np.random.Generator) -> IntArray:
    """Choose rows that stand for the others: one from each box of a tree that cuts across the widest spread.

    Parameters
    ----------
    problem : Problem
        Numbers, standardized for the cuts; a missing cell counts as the mean. Nominal columns cut nothing. Classes keep
        their shares, rare ones up to 20 rows, as in `stratified_sample`.
    n_rows : int
        How many rows; all if there are no more.
    rng : Generator
        Draws the row of each box.

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

    >>> problem = Problem.from_arrays(np.arange(100.0)[:, None], np.arange(100.0), task="regression")
    >>> (active_rows(problem, 5, np.random.default_rng(0)) // 20).tolist()
    [0, 1, 2, 3, 4]
    """
    if n_rows < 1:
        raise InputError(f"n_rows={n_rows}: choose at least one row.")
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
