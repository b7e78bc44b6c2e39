"""Naive Bayes on integer codes: class scores are sums of table entries, one for each feature.

The score of class c is log P(c) + Σ_f log P(level of f | c), less that of class 0, in fixed point: whole numbers of
2⁻²⁴. Their sums are exact in any order, so a feature that comes and goes leaves no trace, and ties stay ties.

Arguments that the kernels share:

columns : Columns
base : (n, c − 1) int64
    Sums so far. Class 0 has 0; the lowest class among equals wins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.roc import N_BUCKETS, pack, pairs_won, sort_keys


class Columns(NamedTuple):
    """Codes and tables.

    codes : (p, n) int32
        Which row of its feature's table a cell picks; (0, n) for a sparse table.
    tables : (t, c − 1) int64
        Fixed-point log-likelihoods of classes 1 … c−1 less that of class 0, all tables below each other.
    start : (s, p) int64
        Where the table of each feature begins, for each part of the rows.
    bounds : (s + 1,) int64
        Rows bounds[k] … bounds[k + 1] − 1 belong to part k: they were not used for its tables.
    prior : (n, c − 1) int64
        What the rows begin with: fixed-point logarithms of the shares of classes 1 … c−1 less that of class 0.
    zero : (s, p) int32
        Of a sparse table: which row of its feature's table the cells pick that are not stored.
    ends, rows, stored : (p + 1,) int64, (z,) int32, (z,) int32
        Cells ends[f] … ends[f + 1] − 1 are those of feature f that pick another row: where they are, and which.
    """

    codes: Any
    tables: Any
    start: Any
    bounds: Any
    prior: Any
    zero: Any = np.empty((0, 0), dtype=np.int32)
    ends: Any = np.zeros(1, dtype=np.int64)
    rows: Any = np.empty(0, dtype=np.int32)
    stored: Any = np.empty(0, dtype=np.int32)


class Judge(NamedTuple):
    """Classes and weights of the rows (n,); are pairs of rows judged, by rank? Does some row weigh other than 1?"""

    y: Any
    weights: Any
    by_rank: Any
    weighted: Any


@kernel()
def count_codes(codes, y, weights, counts, there):
    """Sum the weights of each code (row) and class (column), and mark the codes that occur; −1 is left out."""
    for i in range(codes.shape[0]):
        code = codes[i]
        if code >= 0:
            counts[code, y[i]] += weights[i]
            there[code] = True


@inner()
def add_sparse_feature(base, f, sign, columns):
    """Add (or take off) the part of one feature of a sparse table: what a zero says to all rows, then what differs."""
    tables, start, bounds = columns.tables, columns.start, columns.bounds
    place = columns.ends[f]
    for part in range(bounds.shape[0] - 1):
        first = start[part, f]
        zero = first + columns.zero[part, f]
        for i in range(bounds[part], bounds[part + 1]):
            for k in range(base.shape[1]):
                base[i, k] += sign * tables[zero, k]
        while place < columns.ends[f + 1] and columns.rows[place] < bounds[part + 1]:
            row = first + columns.stored[place]
            for k in range(base.shape[1]):
                base[columns.rows[place], k] += sign * (tables[row, k] - tables[zero, k])
            place += 1


@kernel()
def add_feature(base, f, sign, columns):
    """Add (or take off) the part of one feature."""
    if columns.codes.shape[0] == 0:
        add_sparse_feature(base, f, sign, columns)
        return
    # Whole numbers add up exactly, so features come and go in any order without a trace.
    column, tables, start, bounds = columns.codes[f], columns.tables, columns.start, columns.bounds
    for part in range(bounds.shape[0] - 1):
        first = start[part, f]
        for i in range(bounds[part], bounds[part + 1]):
            row = first + column[i]
            for k in range(base.shape[1]):
                base[i, k] += sign * tables[row, k]


@inner()
def weight_right(base, y, weights):
    """Sum the weights of the rows whose class wins."""
    total = 0.0
    for i in range(base.shape[0]):
        best = np.int64(0)
        winner = 0
        for k in range(base.shape[1]):
            if base[i, k] > best:
                best = base[i, k]
                winner = k + 1
        if winner == y[i]:
            total += weights[i]
    return total


@inner()
def weight_of_pairs(base, y, weights, bounds):
    """Sum the weights of the pairs within one part that the scores rank rightly, ties by half (two classes)."""
    total = 0.0
    for part in range(bounds.shape[0] - 1):
        low, high = bounds[part], bounds[part + 1]
        order = np.argsort(base[low:high, 0])
        below = 0.0
        i = 0
        while i < order.shape[0]:
            score = base[low + order[i], 0]
            positive = 0.0
            negative = 0.0
            while i < order.shape[0] and base[low + order[i], 0] == score:
                row = low + order[i]
                if y[row] == 1:
                    positive += weights[row]
                else:
                    negative += weights[row]
                i += 1
            # Mann and Whitney: a positive row beats the negative ones below it, and by half those at its level.
            total += positive * (below + negative / 2)
            below += negative
    return total


@inner()
def count_of_pairs(base, y, bounds):
    """Do the same where every row weighs 1."""
    n = base.shape[0]
    keys, spare, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    total = np.int64(0)
    for part in range(bounds.shape[0] - 1):
        low, high = bounds[part], bounds[part + 1]
        if high > low:
            pack(base[low:high, 0], y[low:high], keys[low:high])
            sort_keys(keys[low:high], spare[low:high], counts, 1)
            total += pairs_won(keys[low:high])
    return total / 2


@inner()
def weigh(base, columns, judge):
    """Return the weight of what is right: rows, or pairs of rows."""
    if not judge.by_rank:
        return weight_right(base, judge.y, judge.weights)
    if judge.weighted:
        return weight_of_pairs(base, judge.y, judge.weights, columns.bounds)
    return count_of_pairs(base, judge.y, columns.bounds)


@kernel()
def score_masks(masks, columns, judge, out):
    """Judge (m, p) masks."""
    base = np.empty_like(columns.prior)
    for m in range(masks.shape[0]):
        copy(columns.prior.ravel(), base.ravel())
        for f in range(masks.shape[1]):
            if masks[m, f]:
                add_feature(base, f, 1, columns)
        out[m] = weigh(base, columns, judge)


@kernel()
def score_flips(mask, base, units, values, columns, judge, out):
    """Judge the masks that differ in one unit: unit u set to values[u]."""
    child = np.empty_like(base)
    for u in range(values.shape[0]):
        copy(base.ravel(), child.ravel())
        for f in units.members[units.offsets[u] : units.offsets[u + 1]]:
            if mask[f] != values[u]:
                add_feature(child, f, 1 if values[u] else -1, columns)
        out[u] = weigh(child, columns, judge)


@kernel()
def fill_children(parent, base, masks, columns, out):
    """Write the scores of class 1 over class 0 under masks near a parent whose sums are at hand: (m, n)."""
    child = np.empty_like(base)
    for m in range(masks.shape[0]):
        copy(base.ravel(), child.ravel())
        for f in range(masks.shape[1]):
            if masks[m, f] != parent[f]:
                add_feature(child, f, 1 if masks[m, f] else -1, columns)
        copy(child[:, 0], out[m])
