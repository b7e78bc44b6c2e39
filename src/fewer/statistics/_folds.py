"""Folds of rows that are read in chunks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.statistics import mix
from fewer.problem import IntArray


def row_keys(part: int, start: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Return one number a row that looks drawn at random, for rows start … of a part.

    It depends on the seed, the part and the row's place in it, not on how the part is cut into chunks.
    """
    keys = (np.uint64(part) << np.uint64(40)) + np.arange(start, start + n_rows, dtype=np.uint64)
    return np.asarray(mix(keys, mix(np.array([seed], dtype=np.uint64), np.uint64(1))[0]))


def row_folds(part: int, start: int, n_rows: int, n_folds: int, seed: int) -> IntArray:
    """Deal rows out to folds at random, each by its place alone, so that no pass is needed before.

    Parameters
    ----------
    part : int
        The part of the table.
    start : int
        The place of the first row in it.
    n_rows : int
        How many rows.
    n_folds : int
        How many folds.
    seed : int
        Of the deal.

    Returns
    -------
    int array of shape (n_rows,)
        From 0.

    Examples
    --------
    >>> folds = row_folds(0, 0, 1000, 5, seed=1)
    >>> bool((folds[300:] == row_folds(0, 300, 700, 5, seed=1)).all()), sorted(set(folds.tolist()))
    (True, [0, 1, 2, 3, 4])
    """
    return (row_keys(part, start, n_rows, seed) % np.uint64(n_folds)).astype(np.int64)
