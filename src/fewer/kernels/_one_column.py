"""One column by itself, judged by any number of neighbors: all rows of a value at once.

Rows are sorted by the column once. From there the neighbors of a value are the rows of the next values on both sides,
and all rows of a value and a fold have the same ones. Distances, order and votes are those of `_neighbors.score_flips`,
to the bit, which looks at all rows for each row, and several times where many are tied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fewer.kernels._bundles import Exact, Rules
from fewer.kernels._compiling import inner
from fewer.kernels._distances import CLIP, FAR
from fewer.kernels._votes import ballot_for, count_votes, gain
from fewer.problem import FloatArray


class Sorted(NamedTuple):
    """A column's rows by value: those of value v are order[bounds[v]:bounds[v + 1]], earlier rows first.

    order, fold : (n,) int64
    bounds : (v + 1,) int64
    values : (v,) float64
    lacking : int
        Which of the values, the last, stands for missing cells; −1 if there are none.
    nominal : bool
    scale, gap : (k,) float64
        As in `Exact`, for this column.
    weight, quantum : float
    """

    order: Any
    fold: Any
    bounds: Any
    values: Any
    lacking: Any
    nominal: Any
    scale: Any
    gap: Any
    weight: Any
    quantum: Any


@inner(no_cpython_wrapper=True)
def _distance(a, b, k, rows):
    """Return how far rows of two values are apart, for queries of fold k."""
    if a == rows.lacking or b == rows.lacking:
        square = rows.gap[k]
    elif rows.nominal:
        square = 0.0 if a == b else rows.scale[k]
    else:
        square = rows.scale[k] * (rows.values[a] - rows.values[b]) * (rows.values[a] - rows.values[b])
        square = CLIP if square > CLIP else square
    shift = 1.5 * 2.0**52 * rows.quantum
    return (rows.weight * square + shift) - shift


@inner(no_cpython_wrapper=True)
def _take(v, k, distance, rows, near, near_d, count):
    """List the rows of a value that are not of fold k; return how many are listed then."""
    for q in range(rows.bounds[v], rows.bounds[v + 1]):
        if rows.fold[rows.order[q]] != k:
            near[count], near_d[count] = rows.order[q], distance
            count += 1
    return count


@inner(no_cpython_wrapper=True)
def _sort(near, low, high):
    """Bring near[low:high] into ascending order."""
    step = (high - low) // 2
    while step > 0:
        for q in range(low + step, high):
            row, place = near[q], q
            while place >= low + step and near[place - step] > row:
                near[place] = near[place - step]
                place -= step
            near[place] = row
        step //= 2


@inner(no_cpython_wrapper=True)
def _judge_value(a, k, rows, rules, scratch, ballot):
    """Let the neighbors of rows of value a and fold k vote."""
    near, near_d, d = scratch
    top = rows.values.shape[0] if rows.lacking < 0 else rows.lacking
    low, high, lacking = a, a + 1, a != rows.lacking and rows.lacking >= 0
    count, level, wanted = 0, 0, rules.ks[-1]
    while True:
        distance, first, n_values = FAR, count, 0
        if low >= 0:
            distance = min(distance, _distance(a, low, k, rows))
        if high < top:
            distance = min(distance, _distance(a, high, k, rows))
        if lacking:
            distance = min(distance, _distance(a, rows.lacking, k, rows))
        while low >= 0 and _distance(a, low, k, rows) == distance:
            count, low, n_values = _take(low, k, distance, rows, near, near_d, count), low - 1, n_values + 1
        while high < top and _distance(a, high, k, rows) == distance:
            count, high, n_values = _take(high, k, distance, rows, near, near_d, count), high + 1, n_values + 1
        if lacking and _distance(a, rows.lacking, k, rows) == distance:
            count, lacking, n_values = _take(rows.lacking, k, distance, rows, near, near_d, count), False, n_values + 1
        if n_values > 1 and (rules.by_rows or rules.n_classes == 0):  # else votes are sums that are exact in any order
            _sort(near, first, count)
        level += count > first
        if distance >= FAR:
            d[:] = FAR
            for q in range(count):
                d[near[q]] = near_d[q]
            count_votes(near[:count], near_d[:count], FAR, d, rules, ballot)
            return
        if (count if rules.by_rows else level) >= wanted:
            if count_votes(near[:count], near_d[:count], distance, d[:0], rules, ballot):
                return
            wanted *= 2  # votes are tied


@njit(nogil=True, cache=True)
def score_column(rows, rules, scratch, judged, votes, means, gains):
    """Judge all rows by one column; gains (t,). `judged` is −1 for each fold, `votes` and `means` are (k, t)."""
    ballot = ballot_for(rules)
    for a in range(rows.values.shape[0]):
        for q in range(rows.bounds[a], rows.bounds[a + 1]):
            i = rows.order[q]
            k = rows.fold[i]
            fresh, judged[k] = judged[k] != a, a
            if fresh:
                _judge_value(a, k, rows, rules, scratch, ballot)
            for t in range(gains.shape[0]):
                if fresh:
                    votes[k, t], means[k, t] = ballot.votes[t], ballot.means[t]
                ballot.votes[t], ballot.means[t] = votes[k, t], means[k, t]
                gains[t] += gain(i, t, rules, ballot)


def column_gains(exact: Exact, f: int, weight: float, rules: Rules) -> FloatArray:
    """Sum what the rows gain by column f with a weight: (t,).

    Parameters
    ----------
    exact : Exact
    f : int
    weight : float
        With 0 all rows are equally far from each other, as they are without any column.
    rules : Rules
    """
    n, missing = exact.columns.shape[1], (exact.missing[f] != 0) & (weight > 0)
    values = np.where(missing, 0.0, exact.columns[f]) if weight > 0 else np.zeros(n)
    order = np.lexsort((values, missing))
    column, absent = values[order], missing[order]
    starts = np.flatnonzero(np.append(True, ((column[1:] != column[:-1]) & ~absent[1:]) | (absent[1:] & ~absent[:-1])))
    rows = Sorted(
        order, exact.fold, np.append(starts, n), column[starts], len(starts) - 1 if missing.any() else -1,
        bool(exact.nominal[f]), exact.scale[:, f].copy(), exact.gap[:, f].copy(), float(weight), float(exact.quantum),
    )  # fmt: skip
    n_folds, t = len(exact.scale), len(rules.ks)
    scratch = np.empty(n, dtype=np.uint32), np.empty(n), np.empty(n)
    gains = np.zeros(t)
    score_column(
        rows, rules, scratch, np.full(n_folds, -1), np.zeros((n_folds, t), dtype=np.int64), np.zeros((n_folds, t)),
        gains,
    )  # fmt: skip
    return gains
