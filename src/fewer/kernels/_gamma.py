"""Sums over near neighbors for the Gamma Test: how far they lie, and how much their targets differ.

Squared distances are sums of quantised terms, exact in double precision (see `_distances`), so adding and removing
features in any order gives the same bits, and every route to a subset gives the same sums.

Arguments that the kernels share:

columns, holes, nominal, scale, gap, quantum
    As in `_distances`; scale and gap are those of one casebase, (p,) arrays.
group : (n,) int64
    Row i may use row j when their groups differ.
values : (n,) float64
    Class codes or quantities.
discrete : bool
    Targets compare as equal or not (0 or 1), not by their squared difference.
share : bool
    Rows at the same distance share their places: each counts the mean of their target differences. Otherwise the
    earlier rows come first.
row_weights : (n,) float64
sums : (…, 2, k) float64
    For the j-th neighbor: the sums over rows of the squared distance, and of the squared target difference.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._distances import term

FAR = 1e300
N_BUCKETS = 128


@njit(nogil=True, cache=True)
def fill_part(part, i, f, weight, columns, holes, nominal, scale, gap, quantum):  # type: ignore[no-untyped-def]
    """Write feature f's part of the squared distances from row i."""
    column, hole = columns[f], holes[f]
    x, x_hole = column[i], hole[i]
    for j in range(part.shape[0]):
        part[j] = term(x, x_hole, column[j], hole[j], nominal[f], scale[f], gap[f], weight, quantum)


@njit(nogil=True, cache=True)
def add_part(d, part, sign):  # type: ignore[no-untyped-def]
    """Add or take off one part."""
    for j in range(d.shape[0]):
        d[j] += sign * part[j]


@njit(nogil=True, cache=True)
def start_row(d, i, group):  # type: ignore[no-untyped-def]
    """Start a row of distances: 0 to rows that may be used, FAR to the others."""
    for j in range(d.shape[0]):
        d[j] = FAR if group[j] == group[i] else 0.0


@njit(nogil=True, cache=True)
def span(d):  # type: ignore[no-untyped-def]
    """Give the smallest and the largest distance to a row that may be used."""
    low, high = FAR, 0.0
    for j in range(d.shape[0]):
        if d[j] < FAR:
            low, high = min(low, d[j]), max(high, d[j])
    return low, high


@njit(nogil=True, cache=True)
def reach(d, k, near):  # type: ignore[no-untyped-def]
    """Give the smallest and the largest distance to the k rows that were nearest before the last change.

    The largest bounds the k-th smallest distance of all, mostly closely.
    """
    low, high = FAR, 0.0
    for t in range(k):
        x = d[near[t]]
        low, high = min(low, x), max(high, x)
    return low, high


@njit(nogil=True, cache=True)
def select(d, low, high, k, near, near_d, found, bucket, start):  # type: ignore[no-untyped-def]
    """Write the k nearest rows in order, and all rows as near as the k-th; give their number.

    No row farther than `high` is looked at; at least k must lie within it. Rows are dealt into buckets by distance,
    those nearer than `low` into the first, and only the buckets that hold the first k are put in order. Equally near
    rows keep the order of the table.
    """
    n_found = 0
    for j in range(d.shape[0]):
        found[n_found] = j
        n_found += d[j] <= high
    start[:] = 0
    factor = (N_BUCKETS - 0.5) / (high - low) if high > low else 0.0
    for t in range(n_found):
        b = max(int((d[found[t]] - low) * factor), 0)
        bucket[t] = b
        start[b] += 1
    total, n_near = 0, n_found
    for b in range(N_BUCKETS):
        before = total
        total += start[b]
        start[b] = before
        if before < k <= total:
            n_near = total
    for t in range(n_found):
        b, j = bucket[t], found[t]
        place = start[b]
        start[b] = place + 1
        near[place] = j
        near_d[place] = d[j]
    for t in range(1, n_near):
        x, j = near_d[t], near[t]
        place = t
        while place > 0 and near_d[place - 1] > x:
            near_d[place], near[place] = near_d[place - 1], near[place - 1]
            place -= 1
        near_d[place], near[place] = x, j
    return n_near


@njit(nogil=True, cache=True)
def gather(i, k, n_near, near, near_d, values, discrete, share, weight, sums):  # type: ignore[no-untyped-def]
    """Add what the near rows of row i say to the sums."""
    y, far, apart = values[i], sums[0], sums[1]
    for t in range(k):
        far[t] += weight * near_d[t]
    t = 0
    while t < k:
        z = values[near[t]]
        gap = (1.0 if y != z else 0.0) if discrete else (y - z) * (y - z)
        if not share or t + 1 >= n_near or near_d[t + 1] > near_d[t]:
            apart[t] += weight * gap
            t += 1
            continue
        stop = t + 1
        while stop < n_near and near_d[stop] == near_d[t]:
            z = values[near[stop]]
            gap += (1.0 if y != z else 0.0) if discrete else (y - z) * (y - z)
            stop += 1
        gap *= weight / (stop - t)
        while t < min(stop, k):
            apart[t] += gap
            t += 1


@njit(nogil=True, cache=True)
def sum_masks(  # type: ignore[no-untyped-def]
    masks, columns, holes, nominal, scale, gap, quantum, group, values, discrete, share, row_weights, k, sums
):
    """Sum for each of (m, p) masks or weights; sums (m, 2, k)."""
    n, p = columns.shape[1], columns.shape[0]
    d, part, parts = np.empty(n), np.empty(n), np.empty((p, n))
    near, near_d, found = np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int64)
    bucket, start = np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    whole = np.zeros(p, np.bool_)
    for f in range(p):
        for m in range(masks.shape[0]):
            whole[f] |= masks[m, f] == 1.0
    for i in range(n):
        if row_weights[i] <= 0.0:
            continue
        for f in range(p):
            if whole[f]:
                fill_part(parts[f], i, f, 1.0, columns, holes, nominal, scale, gap, quantum)
        for m in range(masks.shape[0]):
            start_row(d, i, group)
            for f in range(p):
                weight = masks[m, f]
                if weight == 1.0:
                    add_part(d, parts[f], 1.0)
                elif weight > 0.0:
                    fill_part(part, i, f, weight, columns, holes, nominal, scale, gap, quantum)
                    add_part(d, part, 1.0)
            low, high = span(d) if m == 0 else reach(d, k, near)
            n_near = select(d, low, high, k, near, near_d, found, bucket, start)
            gather(i, k, n_near, near, near_d, values, discrete, share, row_weights[i], sums[m])


@njit(nogil=True, cache=True)
def sum_flips(  # type: ignore[no-untyped-def]
    mask, members, offsets, new, columns, holes, nominal, scale, gap, quantum, group, values, discrete, share,
    row_weights, k, sums,
):  # fmt: skip
    """Sum with unit u (columns members[offsets[u]:offsets[u+1]]) set to new[u], each in turn; sums (u, 2, k)."""
    n = columns.shape[1]
    d, changed, part = np.empty(n), np.empty(n), np.empty(n)
    near, near_d, found = np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int64)
    bucket, start = np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    for i in range(n):
        if row_weights[i] <= 0.0:
            continue
        start_row(d, i, group)
        for f in range(mask.shape[0]):
            if mask[f] > 0.0:
                fill_part(part, i, f, mask[f], columns, holes, nominal, scale, gap, quantum)
                add_part(d, part, 1.0)
        for u in range(offsets.shape[0] - 1):
            changed[:] = d
            for f in members[offsets[u] : offsets[u + 1]]:
                if mask[f] > 0.0:
                    fill_part(part, i, f, mask[f], columns, holes, nominal, scale, gap, quantum)
                    add_part(changed, part, -1.0)
                if new[u] > 0.0:
                    fill_part(part, i, f, new[u], columns, holes, nominal, scale, gap, quantum)
                    add_part(changed, part, 1.0)
            low, high = span(changed) if u == 0 else reach(changed, k, near)
            n_near = select(changed, low, high, k, near, near_d, found, bucket, start)
            gather(i, k, n_near, near, near_d, values, discrete, share, row_weights[i], sums[u])


@njit(nogil=True, cache=True)
def sum_gray(  # type: ignore[no-untyped-def]
    first, last, base, members, offsets, columns, holes, nominal, scale, gap, quantum, group, values, discrete, share,
    row_weights, k, sums,
):  # fmt: skip
    """Sum for the Gray-code subsets first … last−1 of the units beside the base columns; sums (last−first, 2, k)."""
    n, q = columns.shape[1], offsets.shape[0] - 1
    d, part, parts = np.empty(n), np.empty(n), np.empty((q, n))
    near, near_d, found = np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int64)
    bucket, start = np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    for i in range(n):
        if row_weights[i] <= 0.0:
            continue
        start_row(d, i, group)
        for f in range(base.shape[0]):
            if base[f] > 0.0:
                fill_part(part, i, f, base[f], columns, holes, nominal, scale, gap, quantum)
                add_part(d, part, 1.0)
        code = first ^ (first >> 1)
        for u in range(q):
            parts[u] = 0.0
            for f in members[offsets[u] : offsets[u + 1]]:
                fill_part(part, i, f, 1.0, columns, holes, nominal, scale, gap, quantum)
                add_part(parts[u], part, 1.0)
            if code >> u & 1:
                add_part(d, parts[u], 1.0)
        for g in range(first, last):
            low, high = span(d) if g == first else reach(d, k, near)
            n_near = select(d, low, high, k, near, near_d, found, bucket, start)
            gather(i, k, n_near, near, near_d, values, discrete, share, row_weights[i], sums[g - first])
            u = 0
            while (g + 1) >> u & 1 == 0:
                u += 1
            if g + 1 < last:
                add_part(d, parts[u], -1.0 if code >> u & 1 else 1.0)
            code ^= 1 << u


@njit(nogil=True, cache=True)
def list_near(  # type: ignore[no-untyped-def]
    mask, columns, holes, nominal, scale, gap, quantum, group, k, near_rows, near_squares
):
    """Write the k nearest rows of every row under one mask, and how far they are; both (n, k)."""
    n = columns.shape[1]
    d, part = np.empty(n), np.empty(n)
    near, near_d, found = np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int64)
    bucket, start = np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    for i in range(n):
        start_row(d, i, group)
        for f in range(mask.shape[0]):
            if mask[f] > 0.0:
                fill_part(part, i, f, mask[f], columns, holes, nominal, scale, gap, quantum)
                add_part(d, part, 1.0)
        low, high = span(d)
        select(d, low, high, k, near, near_d, found, bucket, start)
        near_rows[i] = near[:k]
        near_squares[i] = near_d[:k]
