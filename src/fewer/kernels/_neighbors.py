"""Nearest-neighbor judgements over running squared distances.

Rows judge themselves against the rows of other folds. A squared distance is a sum of quantised terms, one for each
feature in use; such sums are exact in double precision, so adding and removing features in any order gives the
same bits and ties stay ties.

Arguments that all kernels share:

columns, holes : (p, n) float64 and uint8
    One row for each feature: its values, and where they are missing.
nominal : (p,) uint8
scale, gap : (k, p) float64
    For queries of fold k: the factor on a squared difference, and the squared difference of a missing cell.
fold : (n,) int64
    Row i may use row j when their folds differ.
quantum : float
    Terms are multiples of this power of two.
codes, values, row_weights : (n,)
    Class codes, regression targets, and weights of the rows. `n_classes` 0 means regression.
ks : (t,) int64, ascending
    The numbers of neighbors to judge with.
by_rows : bool
    True: k counts rows. False: k counts distinct distances, and a tied vote takes in the next distance.
gains : (…, t) float64
    What each row adds to the score: its weight if it is judged right, or minus its weighted squared error.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FAR = 1e300
CLIP = 64.0


@njit(nogil=True, cache=True)
def term(x, x_hole, z, z_hole, nominal, scale, gap, weight, quantum):  # type: ignore[no-untyped-def]
    """Give one feature's part of a squared distance."""
    if x_hole or z_hole:
        square = gap
    elif nominal:
        square = 0.0 if x == z else scale
    else:
        square = min(scale * (x - z) * (x - z), CLIP)
    return np.rint(weight * square / quantum) * quantum


@njit(nogil=True, cache=True)
def fill_terms(  # type: ignore[no-untyped-def]
    out, x, x_hole, column, holes, nominal, scale, gap, weight, quantum
):
    """Write one feature's parts of the squared distances from one query to all rows."""
    for j in range(out.shape[0]):
        out[j] = term(x, x_hole, column[j], holes[j], nominal, scale, gap, weight, quantum)


@njit(nogil=True, cache=True)
def start_row(d, i, fold):  # type: ignore[no-untyped-def]
    """Start a row of distances: 0 to rows that may be used, FAR to the others."""
    for j in range(d.shape[0]):
        d[j] = FAR if fold[j] == fold[i] else 0.0


@njit(nogil=True, cache=True)
def leader(tally):  # type: ignore[no-untyped-def]
    """Give the class with the most votes, or −1 if several share the lead."""
    best, alone = 0, True
    for c in range(1, tally.shape[0]):
        if tally[c] > tally[best]:
            best, alone = c, True
        elif tally[c] == tally[best]:
            alone = False
    return best if alone else -1


@njit(nogil=True, cache=True)
def first_leader(tally, order, codes):  # type: ignore[no-untyped-def]
    """Among the classes that share the lead, give that of the first row in an order."""
    most = tally.max()
    for j in order:
        if j >= 0 and tally[codes[j]] == most:
            return codes[j]
    return 0


@njit(nogil=True, cache=True)
def judge_levels(  # type: ignore[no-untyped-def]
    d, codes, values, row_weights, n_classes, ks, tally, votes, means
):
    """Judge one query by neighborhoods of similarity: all rows at the k smallest distinct distances vote."""
    n = d.shape[0]
    tally[:] = 0.0
    level, t, below, total, weighted = 0, 0, -1.0, 0.0, 0.0
    while t < ks.shape[0]:
        nearest = FAR
        for j in range(n):
            if d[j] > below and d[j] < nearest:
                nearest = d[j]
        exhausted = nearest >= FAR
        if not exhausted:
            for j in range(n):
                if d[j] == nearest:
                    total += row_weights[j]
                    if n_classes:
                        tally[codes[j]] += row_weights[j]
                    else:
                        weighted += row_weights[j] * values[j]
            level += 1
            below = nearest
        while t < ks.shape[0] and (level >= ks[t] or exhausted):
            if n_classes:
                winner = leader(tally)
                if winner < 0:
                    if not exhausted:
                        break
                    winner = majority(d, codes, row_weights, tally)
                votes[t] = winner
            else:
                means[t] = weighted / total if total > 0 else 0.0
            t += 1


@njit(nogil=True, cache=True)
def majority(d, codes, row_weights, tally):  # type: ignore[no-untyped-def]
    """Give the most frequent class of the usable rows; of several, the one met first."""
    tally[:] = 0.0
    for j in range(d.shape[0]):
        if d[j] < FAR:
            tally[codes[j]] += row_weights[j]
    most = tally.max()
    for j in range(d.shape[0]):
        if d[j] < FAR and tally[codes[j]] == most:
            return codes[j]
    return 0


@njit(nogil=True, cache=True)
def judge_rows(  # type: ignore[no-untyped-def]
    d, codes, values, row_weights, n_classes, ks, near, near_d, tally, votes, means
):
    """Judge one query by its k nearest rows; of equally near rows the earlier ones count."""
    k_most = ks[-1]
    near[:] = -1
    near_d[:] = FAR
    for j in range(d.shape[0]):
        if d[j] < near_d[k_most - 1]:
            place = k_most - 1
            while place > 0 and d[j] < near_d[place - 1]:
                near_d[place] = near_d[place - 1]
                near[place] = near[place - 1]
                place -= 1
            near_d[place] = d[j]
            near[place] = j
    tally[:] = 0.0
    t, total, weighted = 0, 0.0, 0.0
    for place in range(k_most):
        j = near[place]
        if j >= 0:
            total += row_weights[j]
            if n_classes:
                tally[codes[j]] += row_weights[j]
            else:
                weighted += row_weights[j] * values[j]
        if place + 1 == ks[t]:
            if n_classes:
                winner = leader(tally)
                votes[t] = winner if winner >= 0 else first_leader(tally, near, codes)
            else:
                means[t] = weighted / total if total > 0 else 0.0
            t += 1


@njit(nogil=True, cache=True)
def judge(  # type: ignore[no-untyped-def]
    d, i, codes, values, row_weights, n_classes, ks, by_rows, near, near_d, tally, votes, means, gains
):
    """Judge row i by its distances and add what it gains to the score."""
    if by_rows:
        judge_rows(d, codes, values, row_weights, n_classes, ks, near, near_d, tally, votes, means)
    else:
        judge_levels(d, codes, values, row_weights, n_classes, ks, tally, votes, means)
    for t in range(ks.shape[0]):
        if n_classes:
            if votes[t] == codes[i]:
                gains[t] += row_weights[i]
        else:
            error = means[t] - values[i]
            gains[t] -= row_weights[i] * error * error


@njit(nogil=True, cache=True)
def add_masks(  # type: ignore[no-untyped-def]
    d, i, weights, columns, holes, nominal, scale, gap, fold, quantum
):
    """Sum the distances of row i over the features with a weight."""
    start_row(d, i, fold)
    k = fold[i]
    for f in range(weights.shape[0]):
        if weights[f] > 0.0:
            column, hole = columns[f], holes[f]
            x, x_hole = column[i], hole[i]
            for j in range(d.shape[0]):
                d[j] += term(x, x_hole, column[j], hole[j], nominal[f], scale[k, f], gap[k, f], weights[f], quantum)


@njit(nogil=True, cache=True)
def score_masks(  # type: ignore[no-untyped-def]
    low, high, masks, columns, holes, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 under each of (m, p) masks; gains (m, t)."""
    n = columns.shape[1]
    d, near, near_d = np.empty(n), np.empty(ks[-1], np.int64), np.empty(ks[-1])
    tally, votes, means = np.empty(max(n_classes, 1)), np.empty(len(ks), np.int64), np.empty(len(ks))
    for m in range(masks.shape[0]):
        for i in range(low, high):
            add_masks(d, i, masks[m], columns, holes, nominal, scale, gap, fold, quantum)
            judge(
                d, i, codes, values, row_weights, n_classes, ks, by_rows,
                near, near_d, tally, votes, means, gains[m],
            )  # fmt: skip


@njit(nogil=True, cache=True)
def score_flips(  # type: ignore[no-untyped-def]
    low, high, mask, members, offsets, new, columns, holes, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 with unit u (columns members[offsets[u]:offsets[u+1]]) set to new[u]; gains (u, t)."""
    n = columns.shape[1]
    d, changed, part = np.empty(n), np.empty(n), np.empty(n)
    near, near_d = np.empty(ks[-1], np.int64), np.empty(ks[-1])
    tally, votes, means = np.empty(max(n_classes, 1)), np.empty(len(ks), np.int64), np.empty(len(ks))
    for i in range(low, high):
        add_masks(d, i, mask, columns, holes, nominal, scale, gap, fold, quantum)
        k = fold[i]
        for u in range(offsets.shape[0] - 1):
            changed[:] = d
            for f in members[offsets[u] : offsets[u + 1]]:
                for sign, weight in ((-1.0, mask[f]), (1.0, new[u])):
                    if weight > 0.0:
                        fill_terms(
                            part, columns[f, i], holes[f, i], columns[f], holes[f], nominal[f],
                            scale[k, f], gap[k, f], weight, quantum,
                        )  # fmt: skip
                        for j in range(n):
                            changed[j] += sign * part[j]
            judge(
                changed, i, codes, values, row_weights, n_classes, ks, by_rows,
                near, near_d, tally, votes, means, gains[u],
            )  # fmt: skip


@njit(nogil=True, cache=True)
def fill_distances(  # type: ignore[no-untyped-def]
    low, high, mask, columns, holes, nominal, scale, gap, fold, quantum, out
):
    """Write the distances of rows low … high−1 under one mask into out (n, n)."""
    for i in range(low, high):
        add_masks(out[i], i, mask, columns, holes, nominal, scale, gap, fold, quantum)


@njit(nogil=True, cache=True)
def move(  # type: ignore[no-untyped-def]
    low, high, mask, unit, value, columns, holes, nominal, scale, gap, fold, quantum, current, proposed
):
    """Write into proposed the distances in which the columns of one unit have another weight."""
    n = columns.shape[1]
    part = np.empty(n)
    for i in range(low, high):
        k = fold[i]
        proposed[i] = current[i]
        for f in unit:
            for sign, weight in ((-1.0, mask[f]), (1.0, value)):
                if weight > 0.0:
                    fill_terms(
                        part, columns[f, i], holes[f, i], columns[f], holes[f], nominal[f],
                        scale[k, f], gap[k, f], weight, quantum,
                    )  # fmt: skip
                    for j in range(n):
                        proposed[i, j] += sign * part[j]


@njit(nogil=True, cache=True)
def score_distances(  # type: ignore[no-untyped-def]
    low, high, distances, codes, values, row_weights, n_classes, ks, by_rows, gains
):
    """Judge rows low … high−1 by given distances; gains (t,)."""
    near, near_d = np.empty(ks[-1], np.int64), np.empty(ks[-1])
    tally, votes, means = np.empty(max(n_classes, 1)), np.empty(len(ks), np.int64), np.empty(len(ks))
    for i in range(low, high):
        judge(
            distances[i], i, codes, values, row_weights, n_classes, ks, by_rows,
            near, near_d, tally, votes, means, gains,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def score_gray(  # type: ignore[no-untyped-def]
    low, high, first, last, base, members, offsets, columns, holes, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 under the Gray-code subsets first … last−1 of the units; gains (last−first, t)."""
    n, q = columns.shape[1], offsets.shape[0] - 1
    d, parts, part = np.empty(n), np.zeros((q, n)), np.empty(n)
    near, near_d = np.empty(ks[-1], np.int64), np.empty(ks[-1])
    tally, votes, means = np.empty(max(n_classes, 1)), np.empty(len(ks), np.int64), np.empty(len(ks))
    for i in range(low, high):
        k = fold[i]
        add_masks(d, i, base, columns, holes, nominal, scale, gap, fold, quantum)
        code = first ^ (first >> 1)
        for u in range(q):
            parts[u] = 0.0
            for f in members[offsets[u] : offsets[u + 1]]:
                fill_terms(
                    part, columns[f, i], holes[f, i], columns[f], holes[f], nominal[f],
                    scale[k, f], gap[k, f], 1.0, quantum,
                )  # fmt: skip
                for j in range(n):
                    parts[u, j] += part[j]
            if code >> u & 1:
                for j in range(n):
                    d[j] += parts[u, j]
        for g in range(first, last):
            judge(
                d, i, codes, values, row_weights, n_classes, ks, by_rows,
                near, near_d, tally, votes, means, gains[g - first],
            )  # fmt: skip
            following = (g + 1) ^ ((g + 1) >> 1)
            bit, u = code ^ following, 0
            while bit > 1:
                bit >>= 1
                u += 1
            if g + 1 < last:
                sign = 1.0 if following > code else -1.0
                for j in range(n):
                    d[j] += sign * parts[u, j]
            code = following


@njit(nogil=True, cache=True)
def predict_rows(  # type: ignore[no-untyped-def]
    queries, query_holes, query_fold, weights, columns, holes, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, ks, by_rows, out,
):  # fmt: skip
    """Predict query rows (q, p): vote shares into out (q, c), or means into out (q, 1), with the last k."""
    n = columns.shape[1]
    d, near, near_d = np.empty(n), np.empty(ks[-1], np.int64), np.empty(ks[-1])
    tally, votes, means = np.empty(max(n_classes, 1)), np.empty(len(ks), np.int64), np.empty(len(ks))
    for i in range(queries.shape[0]):
        k = query_fold[i]
        for j in range(n):
            d[j] = FAR if fold[j] == k else 0.0
        k = max(k, 0)
        for f in range(weights.shape[0]):
            if weights[f] > 0.0:
                column, hole = columns[f], holes[f]
                for j in range(n):
                    d[j] += term(
                        queries[i, f], query_holes[i, f], column[j], hole[j], nominal[f],
                        scale[k, f], gap[k, f], weights[f], quantum,
                    )  # fmt: skip
        if by_rows:
            judge_rows(d, codes, values, row_weights, n_classes, ks, near, near_d, tally, votes, means)
        else:
            judge_levels(d, codes, values, row_weights, n_classes, ks, tally, votes, means)
        if n_classes:
            total = tally.sum()
            for c in range(n_classes):
                out[i, c] = tally[c] / total if total > 0 else 0.0
            out[i, votes[-1]] += 1e-9
        else:
            out[i, 0] = means[-1]
