"""Associations between columns, numeric and nominal: how far features repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from fewer.problem import BoolArray, FloatArray, IntArray, Problem

SAMPLED_ROWS = 5_000


def redundancy(problem: Problem, columns: Sequence[int]) -> dict[str, Any]:
    """Measure how far some features of a problem repeat each other.

    Two columns of numbers: the absolute rank correlation. A nominal column and numbers: the correlation ratio of
    the ranks. Two nominal columns: Cramér's V. The last two are corrected for what chance gives to columns with many
    levels. Rows with a missing cell in either column are left out; of more than 5,000 rows an even sample is taken.

    Read more in the guide: :doc:`/guide/correlated`.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns : sequence of int
        Numbers of the features.

    Returns
    -------
    dict
        `names`, a list of str, and `values`, a symmetric list of lists with ones on its diagonal: plain JSON data.

    Examples
    --------
    >>> problem = Problem.from_arrays([[1.0, 9.0], [2.0, 4.0], [3.0, 1.0]], [0, 1, 1])
    >>> redundancy(problem, [0, 1])
    {'names': ['x0', 'x1'], 'values': [[1.0, 1.0], [1.0, 1.0]]}
    """
    step = -(-problem.n_samples // SAMPLED_ROWS)
    values = associations(problem.X[::step, columns], problem.nominal[list(columns)])
    return {"names": [problem.names[column] for column in columns], "values": values.round(4).tolist()}


def associations(table: FloatArray, nominal: BoolArray) -> FloatArray:
    """Return the association of every pair of columns."""
    n_columns = table.shape[1]
    result = np.eye(n_columns)
    for i in range(n_columns):
        for j in range(i):
            both = ~np.isnan(table[:, i]) & ~np.isnan(table[:, j])
            # A nominal column goes first, so that a mixed pair comes in one order only.
            first, second = (i, j) if nominal[i] else (j, i)
            measure = (rank_correlation, correlation_ratio, cramers_v)[int(nominal[i]) + int(nominal[j])]
            result[i, j] = result[j, i] = abs(measure(table[both, first], table[both, second]))
    return result


def rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's correlation of two columns of numbers, 0 if one of them does not vary."""
    if len(one) < 2:
        return 0.0
    first, second = rankdata(one), rankdata(other)
    spread = first.std() * second.std()
    return float(((first - first.mean()) * (second - second.mean())).mean() / spread) if spread > 0 else 0.0


def correlation_ratio(levels: FloatArray, numbers: FloatArray) -> float:
    """Return how much of the ranks of numbers a nominal column explains, as a correlation (the root of Kelley's ε²)."""
    codes, counts = _codes(levels)
    n_rows, n_levels = len(codes), len(counts)
    ranks = rankdata(numbers)
    total = n_rows * float(ranks.var()) if n_rows else 0.0
    if n_levels < 2 or n_levels == n_rows or total == 0:
        return 0.0
    means = np.bincount(codes, ranks) / counts
    within = float(((ranks - means[codes]) ** 2).sum())
    return float(np.sqrt(max(0.0, 1.0 - within / total * (n_rows - 1) / (n_rows - n_levels))))


def cramers_v(one: FloatArray, other: FloatArray) -> float:
    """Return Cramér's V of two nominal columns, corrected for chance as Bergsma (2013) does."""
    (first, in_first), (second, in_second) = _codes(one), _codes(other)
    n_rows = len(first)
    if min(len(in_first), len(in_second)) < 2:
        return 0.0
    pairs, counts = np.unique(first * len(in_second) + second, return_counts=True)
    expected = in_first[pairs // len(in_second)] * in_second[pairs % len(in_second)]
    phi = float((counts**2 / expected).sum()) - 1.0
    free = np.array([len(in_first) - 1, len(in_second) - 1])
    levels = free + 1 - free**2 / (n_rows - 1)
    spare = float(levels.min()) - 1.0
    return float(np.sqrt(max(0.0, phi - float(free.prod()) / (n_rows - 1)) / spare)) if spare > 0 else 0.0


def _codes(levels: FloatArray) -> tuple[IntArray, IntArray]:
    """Number the levels that occur, and count them."""
    _, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
    return codes.astype(np.int64), counts.astype(np.int64)
