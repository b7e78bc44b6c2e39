"""Sums over near neighbors for the Gamma Test: how far they lie, and how much their targets differ.

A squared distance is a whole number of quanta (see `distances`). Here it is kept in a *key* of 64 bits, above the
number of the row that it leads to, and a last bit that says whether the targets differ:

    key = distance · 2^shift + 2 · row + (values differ)

Keys add up exactly, in any order. To sort them is to sort by distance and then by row, and a sorted key still says
which row it is, so nothing has to be carried along.

Arguments that the kernels share:

exact : Exact
    As in `bundles`, all rows in one fold. All distances together with `shift` bits must stay below 2^61.
targets : Targets
sums : (…, 2, k) float64
    For the j-th neighbor: the sums over rows of the squared distance in quanta, and of the squared target difference.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.distances import fill_terms

FAR_KEY = 1 << 62
BUCKET_BITS = 7
N_BUCKETS = 1 << BUCKET_BITS
# Up to this multiple of k, keys are sorted directly instead of being dealt into buckets again.
CROWD = 4

# How many units make a tree of subsets: more trees take longer to begin, fewer keep more rows.
TREE = 6


class Targets(NamedTuple):
    """Whom a row may use, and what its neighbors' targets say.

    shift : int
        Bits of a key below the distance: one more than row numbers need.
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
    """

    shift: Any
    group: Any
    values: Any
    discrete: Any
    share: Any
    row_weights: Any


class Room(NamedTuple):
    """Room: terms, keys and a part of them (n,); the near keys, those found, their buckets, where these begin."""

    terms: Any
    d: Any
    part: Any
    near: Any
    found: Any
    bucket: Any
    start: Any


@inner()
def scratch_for(n):
    """Make the arrays that a row needs."""
    return Room(
        np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64),
        np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64),
    )  # fmt: skip


@inner()
def fill_part(part, terms, i, f, weight, exact, shift):
    """Write feature f's part of the keys from row i; `terms` is scratch."""
    fill_terms(terms, i, f, weight, exact)
    factor = 1.0 / exact.quantum
    for j in range(part.shape[0]):
        part[j] = np.int64(terms[j] * factor) << shift


@inner()
def add_feature(d, i, f, weight, scratch, exact, shift):
    """Add feature f's part to the keys from row i, or take it off with a weight below 0: terms are opposite then."""
    fill_part(scratch.part, scratch.terms, i, f, weight, exact, shift)
    add_part(d, scratch.part, 1)


@inner()
def add_part(d, part, sign):
    """Add or take off one part; products of 64 bits are slow."""
    if sign > 0:
        for j in range(d.shape[0]):
            d[j] += part[j]
    else:
        for j in range(d.shape[0]):
            d[j] -= part[j]


@inner()
def start_row(d, i, targets):
    """Start a row of keys: distance 0 to rows that may be used, FAR_KEY to the others."""
    group, values = targets.group, targets.values
    for j in range(d.shape[0]):
        d[j] = FAR_KEY if group[j] == group[i] else 2 * j + (values[j] != values[i])


@inner()
def span(d):
    """Return the smallest and the largest key of a row that may be used."""
    low, high = FAR_KEY, 0
    for j in range(d.shape[0]):
        if d[j] < FAR_KEY:
            low, high = min(low, d[j]), max(high, d[j])
    return low, high


@inner()
def reach(d, k, near, shift):
    """Return the smallest and the largest key of the k rows that were nearest before the last change.

    The largest bounds the k-th smallest of all, mostly closely.
    """
    low, high = FAR_KEY, 0
    below = (1 << shift) - 1
    for t in range(k):
        x = d[(near[t] & below) >> 1]
        low, high = min(low, x), max(high, x)
    return low, high


@inner()
def select(d, low, high, k, shift, scratch):
    """Write the k smallest keys in order, and at least all as near as the k-th; give their number.

    No row farther than `high` is looked at; at least k must lie within it. Keys are dealt into buckets by distance,
    those nearer than `low` into the first, and only the buckets that hold the first k are put in order.
    """
    near, keys, bucket, start = scratch.near, scratch.found, scratch.bucket, scratch.start
    # Keys of one distance share a bucket, and the range takes up at least half of the buckets if it has so many.
    low, high = low >> shift << shift, high | ((1 << shift) - 1)
    while True:
        n_found = 0
        for j in range(d.shape[0]):
            keys[n_found] = d[j]
            n_found += d[j] <= high
        width = max(math.frexp(float(high - low))[1] - BUCKET_BITS, shift)
        n_buckets = ((high - low) >> width) + 1
        start[:n_buckets] = 0
        for t in range(n_found):
            b = max((keys[t] - low) >> width, 0)
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
            near[place] = keys[t]
        last = max((near[k - 1] - low) >> width, 0)
        n_near = start[last]
        if n_near <= CROWD * k or width == shift:
            sort(near, n_near)
            return n_near
        # One far row can crowd all others into a bucket: that of the k-th is dealt out alone.
        low += last << width
        high = low + (1 << width) - 1


@inner()
def sort(near, n_near):
    """Put the first keys in order, of which few are far from their places."""
    # A pass without branches decides most neighbors; what is left is seldom, so that branches are foreseen.
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


@inner()
def find_near(i, mask, k, scratch, exact, targets):
    """Write the keys of row i under one mask, and the near ones in order; give the number of these."""
    start_row(scratch.d, i, targets)
    for f in range(mask.shape[0]):
        if mask[f] > 0.0:
            add_feature(scratch.d, i, f, mask[f], scratch, exact, targets.shift)
    low, high = span(scratch.d)
    return select(scratch.d, low, high, k, targets.shift, scratch)


@inner()
def gather(i, k, n_near, near, targets, sums):
    """Add what the near rows of row i say to the sums."""
    far, apart, shift, weight = sums[0], sums[1], targets.shift, targets.row_weights[i]
    for t in range(k):
        far[t] += weight * (near[t] >> shift)
    tied = False
    if targets.share:
        for t in range(min(k, n_near - 1)):
            tied |= near[t] >> shift == near[t + 1] >> shift
    if targets.discrete and not tied:
        for t in range(k):
            apart[t] += weight * (near[t] & 1)
        return
    t = 0
    while t < k:
        gap, stop = target_gap(i, near[t], targets), t + 1
        while tied and stop < n_near and near[stop] >> shift == near[t] >> shift:
            gap += target_gap(i, near[stop], targets)
            stop += 1
        gap *= weight / (stop - t)
        while t < min(stop, k):
            apart[t] += gap
            t += 1


@inner()
def target_gap(i, key, targets):
    """Return the squared difference of the targets of row i and the row that a key leads to."""
    if targets.discrete:
        return float(key & 1)
    gap = targets.values[i] - targets.values[(key & ((1 << targets.shift) - 1)) >> 1]
    return gap * gap


@kernel()
def sum_changes(changes, exact, targets, k, sums):
    """Sum for several masks, given as `bundles.changes_of` lays them out; sums (m, 2, k)."""
    columns, weights, bounds = changes
    n, p, shift = exact.columns.shape[1], exact.columns.shape[0], targets.shift
    scratch, base, parts, times = scratch_for(n), np.empty(n, np.int64), np.empty((p, n), np.int64), np.zeros(p)
    d = scratch.d
    for m in range(columns.shape[0]):
        times[columns[m]] += abs(weights[m]) == 1.0
    for i in range(n):
        if targets.row_weights[i] <= 0.0:
            continue
        for f in range(p):
            if times[f] > 1.0:  # used again and again
                fill_part(parts[f], scratch.terms, i, f, 1.0, exact, shift)
        start_row(base, i, targets)
        for u in range(bounds.shape[0] - 1):  # the first is what all have in common
            copy(base, d)
            for m in range(bounds[u], bounds[u + 1]):
                f, weight = columns[m], weights[m]
                if times[f] > 1.0 and abs(weight) == 1.0:
                    add_part(d, parts[f], np.int64(weight))
                else:
                    add_feature(d, i, f, weight, scratch, exact, shift)
            if u == 0:
                copy(d, base)
                continue
            low, high = span(d) if u == 1 else reach(d, k, scratch.near, shift)
            n_near = select(d, low, high, k, shift, scratch)
            gather(i, k, n_near, scratch.near, targets, sums[u - 1])


@kernel()
def sum_listed(found, distance, masks, exact, targets, k, sums):
    """Sum as `sum_changes` for (m, p) masks, from lists of the nearest rows and of their distances, (m, capacity, n).

    Where rows as far as the k-th may be missing from a list, all rows are looked at.
    """
    n, shift, capacity = exact.columns.shape[1], targets.shift, found.shape[1]
    scratch, factor, values = scratch_for(n), 1.0 / exact.quantum, targets.values
    for m in range(masks.shape[0]):
        for i in range(n):
            if targets.row_weights[i] <= 0.0:
                continue
            n_near = 0
            while n_near < capacity and found[m, n_near, i] >= 0:
                j = found[m, n_near, i]
                far = np.int64(distance[m, n_near, i] * factor)
                scratch.near[n_near] = (far << shift) + 2 * j + (values[j] != values[i])
                n_near += 1
            if n_near == capacity and scratch.near[k - 1] >> shift == scratch.near[n_near - 1] >> shift:
                n_near = find_near(i, masks[m], k, scratch, exact, targets)
            gather(i, k, n_near, scratch.near, targets, sums[m])


@inner()
def fill_row(fixed, parts, i, base, units, scratch, exact, targets):
    """Write the keys of row i under the base columns, and what each unit adds to them."""
    start_row(fixed, i, targets)
    for f in range(base.shape[0]):
        if base[f] > 0.0:
            add_feature(fixed, i, f, base[f], scratch, exact, targets.shift)
    for u in range(parts.shape[0]):
        parts[u] = 0
        for f in units.members[units.offsets[u] : units.offsets[u + 1]]:
            add_feature(parts[u], i, f, 1.0, scratch, exact, targets.shift)


@inner()
def free_units(block, last, order, free):
    """List the units that a block of subsets leaves free, in an order; return how many they are."""
    q, n_free, t = order.shape[0], 0, 0
    while n_free < q and block & (1 << n_free) == 0 and block + (2 << n_free) <= last:
        n_free += 1
    for u in order:
        if u < n_free:
            free[t] = u
            t += 1
    return n_free


class Grove(NamedTuple):
    """For trees of subsets: what units add to keys; keys under a trunk and under all of it; kept rows, their parts."""

    parts: Any
    trunk: Any
    upper: Any
    kept: Any
    kept_parts: Any


@inner()
def sum_tree(i, code, first, free, grove, scratch, targets, sums, fresh):
    """Sum for all combinations of the free units beside the trunk; `code` is the subset of the trunk.

    Rows that are too far whatever the units of the tree add are dropped.
    """
    shift, near, d, n_tree, k, parts = targets.shift, scratch.near, scratch.d, free.shape[0], sums.shape[2], grove.parts
    for j in range(grove.upper.shape[0]):
        grove.upper[j] = grove.trunk[j]
    for z in range(n_tree):
        add_part(grove.upper, parts[free[z]], 1)
    low, high = span(grove.upper) if fresh else reach(grove.upper, k, near, shift)
    select(grove.upper, low, high, k, shift, scratch)
    n_kept = keep(grove.trunk, near[k - 1] | ((1 << shift) - 1), grove.kept)
    for place in range(n_kept):
        d[place] = grove.trunk[grove.kept[place]]
    for z in range(n_tree):
        for place in range(n_kept):
            grove.kept_parts[z, place] = parts[free[z], grove.kept[place]]
    for leaf in range(1 << n_tree):
        if leaf > 0:
            z = lowest_bit(leaf)
            sign = -1 if code >> free[z] & 1 else 1
            add_part(d[:n_kept], grove.kept_parts[z], sign)
            low, high = reach_after(near, k, parts[free[z]], sign, shift)
            code ^= 1 << free[z]
        else:
            low, high = reach(grove.trunk, k, near, shift)
        n_near = select(d[:n_kept], low, high, k, shift, scratch)
        gather(i, k, n_near, near, targets, sums[gray_place(code) - first])


@kernel()
def sum_gray(first, last, base, units, order, exact, targets, k, sums):
    """Sum for the Gray-code subsets first … last−1 of the units beside the base columns; sums (last−first, 2, k).

    order : (q,) int64
        Units, those whose parts are smallest first.

    A range of 2^m subsets that starts at a multiple of 2^m leaves its first m units free. It is taken in trees: all
    combinations of the smallest units beside one subset of the others. Their parts being small, they keep few rows.
    """
    n, q = exact.columns.shape[1], order.shape[0]
    scratch, parts, fixed = scratch_for(n), np.empty((q, n), np.int64), np.empty(n, np.int64)
    grove = Grove(
        parts, np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty((TREE, n), np.int64)
    )  # fmt: skip
    free = np.empty(q, np.int64)
    for i in range(n):
        if targets.row_weights[i] <= 0.0:
            continue
        fill_row(fixed, parts, i, base, units, scratch, exact, targets)
        block = first
        while block < last:
            n_free = free_units(block, last, order, free)
            code = (block ^ (block >> 1)) >> n_free << n_free
            copy(fixed, grove.trunk)
            for u in range(n_free, q):
                if code >> u & 1:
                    add_part(grove.trunk, parts[u], 1)
            n_tree = min(TREE, n_free)
            for tree in range(1 << (n_free - n_tree)):
                if tree > 0:
                    u = free[n_tree + lowest_bit(tree)]
                    add_part(grove.trunk, parts[u], -1 if code >> u & 1 else 1)
                    code ^= 1 << u
                sum_tree(i, code, first, free[:n_tree], grove, scratch, targets, sums, tree == 0)
            block += 1 << n_free


@inner()
def lowest_bit(x):
    """Return the place of the lowest bit that is set."""
    place = 0
    while x >> place & 1 == 0:
        place += 1
    return place


@inner()
def gray_place(code):
    """Return the number of a subset in Gray-code order."""
    for step in (1, 2, 4, 8, 16, 32):
        code ^= code >> step
    return code


@inner()
def keep(d, high, kept):
    """Write the rows with keys up to `high`, and give their number."""
    n_kept = 0
    for j in range(d.shape[0]):
        kept[n_kept] = j
        n_kept += d[j] <= high
    return n_kept


@inner()
def reach_after(near, k, part, sign, shift):
    """Return the smallest and the largest of k keys when a part is added or taken off."""
    below = (1 << shift) - 1
    low, high = FAR_KEY, 0
    for t in range(k):
        key = near[t] + sign * part[(near[t] & below) >> 1]
        low, high = min(low, key), max(high, key)
    return low, high


@kernel()
def list_near(mask, exact, targets, k, near_rows, near_squares):
    """Write the k nearest rows of every row under one mask, and how far they are in quanta; both (n, k)."""
    n, shift = exact.columns.shape[1], targets.shift
    scratch = scratch_for(n)
    for i in range(n):
        find_near(i, mask, k, scratch, exact, targets)
        for t in range(k):
            near_rows[i, t] = (scratch.near[t] & ((1 << shift) - 1)) >> 1
            near_squares[i, t] = scratch.near[t] >> shift
