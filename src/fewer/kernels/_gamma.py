"""Sums over near neighbors for the Gamma Test: how far they lie, and how much their targets differ.

A squared distance is a whole number of quanta (see `_distances`). Here it is kept in a *key* of 64 bits, above the
number of the row that it leads to, and a last bit that says whether the targets differ:

    key = distance · 2^shift + 2 · row + (values differ)

Keys add up exactly, in any order. To sort them is to sort by distance and then by row, and a sorted key still says
which row it is, so nothing has to be carried along.

Arguments that the kernels share:

columns, missing, nominal, scale, gap, quantum
    As in `_distances`; scale and gap are (p,) arrays. All distances together with `shift` bits
    must stay below 2^61.
shift : int
    Bits below the distance: one more than row numbers need.
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
    For the j-th neighbor: the sums over rows of the squared distance in quanta, and of the squared target difference.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fewer.kernels._distances import fill_terms

FAR = 1 << 62
BUCKET_BITS = 7
N_BUCKETS = 1 << BUCKET_BITS
CROWD = 4
"""So many times k keys are put in order without dealing them out again."""

TREE = 6
"""How many units make a tree of subsets: more trees take longer to begin, fewer keep more rows."""


@njit(nogil=True, cache=True)
def fill_part(part, scratch, i, f, weight, columns, missing, nominal, scale, gap, quantum, shift):  # type: ignore[no-untyped-def]
    """Write feature f's part of the keys from row i."""
    fill_terms(
        scratch, columns[f, i], missing[f, i], columns[f], missing[f], nominal[f], scale[f], gap[f], weight, quantum
    )
    factor = 1.0 / quantum
    for j in range(part.shape[0]):
        part[j] = np.int64(scratch[j] * factor) << shift


@njit(nogil=True, cache=True)
def add_part(d, part, sign):  # type: ignore[no-untyped-def]
    """Add or take off one part."""
    for j in range(d.shape[0]):
        d[j] += sign * part[j]


@njit(nogil=True, cache=True)
def start_row(d, i, group, values):  # type: ignore[no-untyped-def]
    """Start a row of keys: distance 0 to rows that may be used, FAR to the others."""
    for j in range(d.shape[0]):
        d[j] = FAR if group[j] == group[i] else 2 * j + (values[j] != values[i])


@njit(nogil=True, cache=True)
def span(d):  # type: ignore[no-untyped-def]
    """Return the smallest and the largest key of a row that may be used."""
    low, high = FAR, 0
    for j in range(d.shape[0]):
        if d[j] < FAR:
            low, high = min(low, d[j]), max(high, d[j])
    return low, high


@njit(nogil=True, cache=True)
def reach(d, k, near, shift):  # type: ignore[no-untyped-def]
    """Return the smallest and the largest key of the k rows that were nearest before the last change.

    The largest bounds the k-th smallest of all, mostly closely.
    """
    low, high = FAR, 0
    below = (1 << shift) - 1
    for t in range(k):
        x = d[(near[t] & below) >> 1]
        low, high = min(low, x), max(high, x)
    return low, high


@njit(nogil=True, cache=True)
def select(d, low, high, k, shift, near, found, bucket, start):  # type: ignore[no-untyped-def]
    """Write the k smallest keys in order, and at least all as near as the k-th; give their number.

    No row farther than `high` is looked at; at least k must lie within it. Keys are dealt into buckets by distance,
    those nearer than `low` into the first, and only the buckets that hold the first k are put in order.
    """
    # Keys of one distance share a bucket, and the range takes up at least half of the buckets if it has so many.
    low, high = low >> shift << shift, high | ((1 << shift) - 1)
    while True:
        n_found = 0
        for j in range(d.shape[0]):
            found[n_found] = d[j]
            n_found += d[j] <= high
        width = max(math.frexp(float(high - low))[1] - BUCKET_BITS, shift)
        n_buckets = ((high - low) >> width) + 1
        start[:n_buckets] = 0
        for t in range(n_found):
            b = max((found[t] - low) >> width, 0)
            bucket[t] = b
            start[b] += 1
        total = 0
        for b in range(n_buckets):
            size = start[b]
            start[b] = total
            total += size
        for t in range(n_found):
            place = start[bucket[t]]
            start[bucket[t]] = place + 1
            near[place] = found[t]
        last = max((near[k - 1] - low) >> width, 0)
        n_near = start[last]
        if n_near <= CROWD * k or width == shift:
            sort(near, n_near)
            return n_near
        # One far row can crowd all others into a bucket: that of the k-th is dealt out alone.
        low += last << width
        high = low + (1 << width) - 1


@njit(nogil=True, cache=True)
def sort(near, n_near):  # type: ignore[no-untyped-def]
    """Put the first keys in order, of which few are far from their places."""
    # A pass without branches settles most neighbors; what is left is seldom, so that branches are foreseen.
    for t in range(n_near - 1, 0, -1):
        x, y = near[t], near[t - 1]
        near[t - 1], near[t] = min(x, y), max(x, y)
    for t in range(1, n_near):
        x = near[t]
        if near[t - 1] > x:
            place = t
            while place > 0 and near[place - 1] > x:
                near[place] = near[place - 1]
                place -= 1
            near[place] = x


@njit(nogil=True, cache=True)
def gather(i, k, n_near, near, shift, values, discrete, share, weight, sums):  # type: ignore[no-untyped-def]
    """Add what the near rows of row i say to the sums."""
    far, apart = sums[0], sums[1]
    for t in range(k):
        far[t] += weight * (near[t] >> shift)
    tied = False
    if share:
        for t in range(min(k, n_near - 1)):
            tied |= near[t] >> shift == near[t + 1] >> shift
    if discrete and not tied:
        for t in range(k):
            apart[t] += weight * (near[t] & 1)
        return
    t = 0
    while t < k:
        gap, stop = target_gap(i, near[t], shift, values, discrete), t + 1
        while tied and stop < n_near and near[stop] >> shift == near[t] >> shift:
            gap += target_gap(i, near[stop], shift, values, discrete)
            stop += 1
        gap *= weight / (stop - t)
        while t < min(stop, k):
            apart[t] += gap
            t += 1


@njit(nogil=True, cache=True)
def target_gap(i, key, shift, values, discrete):  # type: ignore[no-untyped-def]
    """Return the squared difference of the targets of row i and the row that a key leads to."""
    if discrete:
        return float(key & 1)
    gap = values[i] - values[(key & ((1 << shift) - 1)) >> 1]
    return gap * gap


@njit(nogil=True, cache=True)
def sum_masks(  # type: ignore[no-untyped-def]
    masks, columns, missing, nominal, scale, gap, quantum, shift, group, values, discrete, share, row_weights, k, sums
):
    """Sum for each of (m, p) masks or weights; sums (m, 2, k)."""
    n, p = columns.shape[1], columns.shape[0]
    scratch, d, part, parts = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty((p, n), np.int64)
    near, found, bucket = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    start = np.empty(N_BUCKETS, np.int64)
    whole = np.zeros(p, np.bool_)
    for f in range(p):
        for m in range(masks.shape[0]):
            whole[f] |= masks[m, f] == 1.0
    for i in range(n):
        if row_weights[i] <= 0.0:
            continue
        for f in range(p):
            if whole[f]:
                fill_part(parts[f], scratch, i, f, 1.0, columns, missing, nominal, scale, gap, quantum, shift)
        for m in range(masks.shape[0]):
            start_row(d, i, group, values)
            for f in range(p):
                weight = masks[m, f]
                if weight == 1.0:
                    add_part(d, parts[f], 1)
                elif weight > 0.0:
                    fill_part(part, scratch, i, f, weight, columns, missing, nominal, scale, gap, quantum, shift)
                    add_part(d, part, 1)
            low, high = span(d) if m == 0 else reach(d, k, near, shift)
            n_near = select(d, low, high, k, shift, near, found, bucket, start)
            gather(i, k, n_near, near, shift, values, discrete, share, row_weights[i], sums[m])


@njit(nogil=True, cache=True)
def sum_flips(  # type: ignore[no-untyped-def]
    mask, members, offsets, new, columns, missing, nominal, scale, gap, quantum, shift, group, values, discrete, share,
    row_weights, k, sums,
):  # fmt: skip
    """Sum with unit u (columns members[offsets[u]:offsets[u+1]]) set to new[u], each in turn; sums (u, 2, k)."""
    n = columns.shape[1]
    scratch, d, changed, part = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    near, found, bucket = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    start = np.empty(N_BUCKETS, np.int64)
    for i in range(n):
        if row_weights[i] <= 0.0:
            continue
        start_row(d, i, group, values)
        for f in range(mask.shape[0]):
            if mask[f] > 0.0:
                fill_part(part, scratch, i, f, mask[f], columns, missing, nominal, scale, gap, quantum, shift)
                add_part(d, part, 1)
        for u in range(offsets.shape[0] - 1):
            changed[:] = d
            for f in members[offsets[u] : offsets[u + 1]]:
                if mask[f] > 0.0:
                    fill_part(part, scratch, i, f, mask[f], columns, missing, nominal, scale, gap, quantum, shift)
                    add_part(changed, part, -1)
                if new[u] > 0.0:
                    fill_part(part, scratch, i, f, new[u], columns, missing, nominal, scale, gap, quantum, shift)
                    add_part(changed, part, 1)
            low, high = span(changed) if u == 0 else reach(changed, k, near, shift)
            n_near = select(changed, low, high, k, shift, near, found, bucket, start)
            gather(i, k, n_near, near, shift, values, discrete, share, row_weights[i], sums[u])


@njit(nogil=True, cache=True)
def sum_gray(  # type: ignore[no-untyped-def]
    first, last, base, members, offsets, order, columns, missing, nominal, scale, gap, quantum, shift, group, values,
    discrete, share, row_weights, k, sums,
):  # fmt: skip
    """Sum for the Gray-code subsets first … last−1 of the units beside the base columns; sums (last−first, 2, k).

    order : (q,) int64
        Units, those whose parts are smallest first.

    A range of 2^m subsets that starts at a multiple of 2^m leaves its first m units free. It is taken in trees: all
    combinations of the smallest units beside one subset of the others. Rows that are too far whatever the units of a
    tree add are dropped for it, which are many, their parts being small.
    """
    n, q = columns.shape[1], offsets.shape[0] - 1
    scratch, part, parts = np.empty(n), np.empty(n, np.int64), np.empty((q, n), np.int64)
    fixed, trunk, upper, d = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    near, found, bucket = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    start = np.empty(N_BUCKETS, np.int64)
    free, kept, kept_parts = np.empty(q, np.int64), np.empty(n + 1, np.int64), np.empty((TREE, n), np.int64)
    for i in range(n):
        if row_weights[i] <= 0.0:
            continue
        start_row(fixed, i, group, values)
        for f in range(base.shape[0]):
            if base[f] > 0.0:
                fill_part(part, scratch, i, f, base[f], columns, missing, nominal, scale, gap, quantum, shift)
                add_part(fixed, part, 1)
        for u in range(q):
            parts[u] = 0
            for f in members[offsets[u] : offsets[u + 1]]:
                fill_part(part, scratch, i, f, 1.0, columns, missing, nominal, scale, gap, quantum, shift)
                add_part(parts[u], part, 1)
        block = first
        while block < last:
            n_free = 0
            while n_free < q and block & (1 << n_free) == 0 and block + (2 << n_free) <= last:
                n_free += 1
            code = (block ^ (block >> 1)) >> n_free << n_free
            trunk[:] = fixed
            for u in range(n_free, q):
                if code >> u & 1:
                    add_part(trunk, parts[u], 1)
            t = 0
            for u in order:
                if u < n_free:
                    free[t] = u
                    t += 1
            n_tree = min(TREE, n_free)
            for tree in range(1 << (n_free - n_tree)):
                if tree > 0:
                    u = free[n_tree + lowest_bit(tree)]
                    add_part(trunk, parts[u], -1 if code >> u & 1 else 1)
                    code ^= 1 << u
                upper[:] = trunk
                for z in range(n_tree):
                    add_part(upper, parts[free[z]], 1)
                if tree == 0:
                    low, high = span(upper)
                else:
                    low, high = reach(upper, k, near, shift)
                select(upper, low, high, k, shift, near, found, bucket, start)
                n_kept = keep(trunk, near[k - 1] | ((1 << shift) - 1), kept)
                for place in range(n_kept):
                    d[place] = trunk[kept[place]]
                for z in range(n_tree):
                    for place in range(n_kept):
                        kept_parts[z, place] = parts[free[z], kept[place]]
                for leaf in range(1 << n_tree):
                    if leaf > 0:
                        z = lowest_bit(leaf)
                        sign = -1 if code >> free[z] & 1 else 1
                        add_part(d[:n_kept], kept_parts[z], sign)
                        low, high = reach_after(near, k, parts[free[z]], sign, shift)
                        code ^= 1 << free[z]
                    else:
                        low, high = reach(trunk, k, near, shift)
                    n_near = select(d[:n_kept], low, high, k, shift, near, found, bucket, start)
                    g = gray_place(code) - first
                    gather(i, k, n_near, near, shift, values, discrete, share, row_weights[i], sums[g])
                for z in range(n_tree):
                    code &= ~(1 << free[z])
            block += 1 << n_free


@njit(nogil=True, cache=True)
def lowest_bit(x):  # type: ignore[no-untyped-def]
    """Return the place of the lowest bit that is set."""
    place = 0
    while x >> place & 1 == 0:
        place += 1
    return place


@njit(nogil=True, cache=True)
def gray_place(code):  # type: ignore[no-untyped-def]
    """Return the number of a subset in Gray-code order."""
    for step in (1, 2, 4, 8, 16, 32):
        code ^= code >> step
    return code


@njit(nogil=True, cache=True)
def keep(d, high, kept):  # type: ignore[no-untyped-def]
    """Write the rows with keys up to `high`, and give their number."""
    n_kept = 0
    for j in range(d.shape[0]):
        kept[n_kept] = j
        n_kept += d[j] <= high
    return n_kept


@njit(nogil=True, cache=True)
def reach_after(near, k, part, sign, shift):  # type: ignore[no-untyped-def]
    """Return the smallest and the largest of k keys when a part is added or taken off."""
    below = (1 << shift) - 1
    low, high = FAR, 0
    for t in range(k):
        key = near[t] + sign * part[(near[t] & below) >> 1]
        low, high = min(low, key), max(high, key)
    return low, high


@njit(nogil=True, cache=True)
def list_near(  # type: ignore[no-untyped-def]
    mask, columns, missing, nominal, scale, gap, quantum, shift, group, values, k, near_rows, near_squares
):
    """Write the k nearest rows of every row under one mask, and how far they are in quanta; both (n, k)."""
    n = columns.shape[1]
    scratch, d, part = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    near, found, bucket = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    start = np.empty(N_BUCKETS, np.int64)
    for i in range(n):
        start_row(d, i, group, values)
        for f in range(mask.shape[0]):
            if mask[f] > 0.0:
                fill_part(part, scratch, i, f, mask[f], columns, missing, nominal, scale, gap, quantum, shift)
                add_part(d, part, 1)
        low, high = span(d)
        select(d, low, high, k, shift, near, found, bucket, start)
        for t in range(k):
            near_rows[i, t] = (near[t] & ((1 << shift) - 1)) >> 1
            near_squares[i, t] = near[t] >> shift
