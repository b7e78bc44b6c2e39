"""Who is near whom: nearest distances and neighborhood counts of many subsets at once; the minimum spanning tree.

A squared distance is a sum of quantised terms, exact in double precision (see `fewer.kernels.differences`), so that the
order in which features were added does not matter. Rows come sorted by one feature that all candidates share, the
pivot: no squared distance is below the pivot's own term, so a row looks only at the rows near it in the pivot.

Arguments that the kernels share:

start, stop : int
    The rows to judge.
exact : Exact
    As in `bundles`, the rows sorted by the pivot and all in one fold.
candidates, targets
    See `Candidates` and `SurfaceTargets`.

The spanning tree is grown by Prim's rule over the same distances.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.distances import FAR, add_terms, term
from fewer.kernels.intrinsics import least_float

DISTANCES_AT_ONCE = 512

HARD_CLASSES, SOFT_CLASSES, HARD_VALUES, SOFT_VALUES = 0, 1, 2, 3


class Candidates(NamedTuple):
    """Subsets that have much in common.

    weights : (p,) float64
        What they have in common: the weight of each feature's term.
    pivot : int
        The feature that the rows are sorted by, or −1.
    extra, offsets, changes : (e,), (m + 1,), (e,)
        Candidate c adds the terms of extra[offsets[c]:offsets[c + 1]], weighted by `changes`; a negative weight takes
        away a term that the candidates have in common, to the bit.
    """

    weights: Any
    pivot: Any
    extra: Any
    offsets: Any
    changes: Any


class SurfaceTargets(NamedTuple):
    """What rows agree on: one of the four modes; class codes or values, weights and groups (n,).

    A row is never a neighbor of another of its group (no groups: an empty array); if it counts itself, its copies in
    the group count as itself.
    """

    mode: Any
    with_self: Any
    codes: Any
    values: Any
    row_weights: Any
    groups: Any
    n_classes: Any


@inner()
def add_feature(d, i, low, f, weight, exact):
    """Add feature f's terms to the squared distances from row i to the rows from `low` on."""
    add_terms(d, low, exact.columns[f, i], exact.missing[f, i], f, 0, weight, exact)


@inner()
def pivot_term(i, j, exact, candidates):
    """Return the term of the feature that the rows are sorted by: no distance is below it."""
    f = candidates.pivot
    x, z = exact.columns[f, i], exact.columns[f, j]
    return term(x, 0, z, 0, 0, exact.scale[0, f], 0.0, candidates.weights[f], exact.quantum)


@inner()
def common_terms(common, i, low, high, candidates, exact):
    """Write what all candidates have in common of the distances to rows low … high − 1; return it and a lower bound."""
    chunk = common[: high - low]
    chunk[:] = 0.0
    for f in range(candidates.weights.shape[0]):
        if candidates.weights[f] != 0.0:
            add_feature(chunk, i, low, f, candidates.weights[f], exact)
    if candidates.pivot < 0 or low <= i < high:
        return chunk, 0.0
    return chunk, pivot_term(i, low if low > i else high - 1, exact, candidates)


@inner()
def add_changes(d, common, i, low, c, candidates, exact):
    """Write a candidate's squared distances: what the candidates have in common, and what is its own."""
    first, end = candidates.offsets[c], candidates.offsets[c + 1]
    f = candidates.extra[first] if first < end else -1
    if f < 0 or exact.nominal[f] or exact.holes[f]:
        copy(common, d)
    else:  # a sum that is written beside the other saves the copy, and terms of these rows never reach the cut
        column, scale, weight = exact.columns[f][low : low + d.shape[0]], exact.scale[0, f], candidates.changes[first]
        x, shift = exact.columns[f, i], 1.5 * 2.0**52 * exact.quantum
        for j in range(d.shape[0]):
            d[j] = common[j] + ((weight * (scale * (x - column[j]) * (x - column[j])) + shift) - shift)
        first += 1
    for e in range(first, end):
        add_feature(d, i, low, candidates.extra[e], candidates.changes[e], exact)


@inner()
def put_group_far(d, low, i, groups, with_copies):
    """Put the rows of row i's group out of reach; where copies count, those at distance 0 stay."""
    if groups.shape[0] == 0:  # without groups one row is to be put away, not a whole chunk to be looked through
        if low <= i < low + d.shape[0] and not with_copies:
            d[i - low] = FAR
        return
    group = groups[i]
    for j in range(d.shape[0]):
        if groups[low + j] == group and not (with_copies and d[j] == 0.0):
            d[j] = FAR


@inner()
def smallest(d):
    """Return the smallest distance of a chunk."""
    best = FAR
    for j in range(d.shape[0]):
        best = least_float(best, d[j])
    return best


@kernel()
def nearest(start, stop, exact, candidates, groups, out):
    """Write the squared distance from each row to the nearest row of another group into out (m, n)."""
    n, m, pivot = exact.columns.shape[1], candidates.offsets.shape[0] - 1, candidates.pivot
    common, d = np.empty(DISTANCES_AT_ONCE), np.empty(DISTANCES_AT_ONCE)
    best = np.empty(m)
    for i in range(start, stop):
        best[:] = FAR
        left = max(i - DISTANCES_AT_ONCE // 2, 0)
        right = min(left + DISTANCES_AT_ONCE, n)
        low, high = left, right
        while low < high:
            chunk, bound = common_terms(common, i, low, high, candidates, exact)
            for c in range(m):
                if best[c] <= bound:
                    continue
                whole = d[: high - low]
                add_changes(whole, chunk, i, low, c, candidates, exact)
                put_group_far(whole, low, i, groups, np.bool_(False))
                best[c] = min(best[c], smallest(whole))
            # The next chunk lies on the side where the pivot is nearer; stop when it is beyond every candidate's best.
            below, above = FAR, FAR
            if left > 0:
                below = 0.0 if pivot < 0 else pivot_term(i, left - 1, exact, candidates)
            if right < n:
                above = 0.0 if pivot < 0 else pivot_term(i, right, exact, candidates)
            farthest = 0.0
            for c in range(m):
                farthest = max(farthest, best[c])
            if min(below, above) >= farthest:
                break
            if below <= above:
                low, high = max(left - DISTANCES_AT_ONCE, 0), left
                left = low
            else:
                low, high = right, min(right + DISTANCES_AT_ONCE, n)
                right = high
        copy(best, out[:, i])


@inner()
def first_within(i, limit, exact, candidates):
    """Return the first row whose pivot term to row i is within a limit."""
    low, high = 0, i
    while low < high:
        middle = (low + high) // 2
        if pivot_term(i, middle, exact, candidates) <= limit:
            high = middle
        else:
            low = middle + 1
    return low


@inner()
def end_within(i, limit, exact, candidates):
    """Return the row after the last one whose pivot term to row i is within a limit."""
    low, high = i + 1, exact.columns.shape[1]
    while low < high:
        middle = (low + high) // 2
        if pivot_term(i, middle, exact, candidates) <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@inner(fastmath={"reassoc"})
def count_classes(d, limit, code, codes, row_weights):
    """Sum the weights of the rows within a limit, and of those of one class among them."""
    everyone, same = 0.0, 0.0
    for j in range(d.shape[0]):
        weight = row_weights[j] if d[j] <= limit else 0.0
        everyone += weight
        same += weight if codes[j] == code else 0.0
    return everyone, same


class Tallies(NamedTuple):
    """What one row's neighborhoods hold for each candidate (m,): weight, agreement, sums of values; votes (m, c)."""

    size: Any
    agree: Any
    total: Any
    square: Any
    votes: Any


@inner()
def count_chunk(d, c, i, low, limit, targets, tallies):
    """Add the rows from `low` on that lie within a limit of row i to candidate c's tallies."""
    mode, row_weights, values, high = targets.mode, targets.row_weights, targets.values, low + d.shape[0]
    if mode == HARD_CLASSES:
        everyone, same = count_classes(d, limit, targets.codes[i], targets.codes[low:high], row_weights[low:high])
        tallies.size[c] += everyone
        tallies.agree[c] += same
        return
    for j in range(low, high):
        if d[j - low] > limit:
            continue
        tallies.size[c] += row_weights[j]
        if mode == SOFT_CLASSES:
            tallies.votes[c, targets.codes[j]] += row_weights[j]
        elif mode == HARD_VALUES:
            tallies.agree[c] += row_weights[j] * (1.0 - (values[i] - values[j]) ** 2)
        else:
            tallies.total[c] += row_weights[j] * values[j]
            tallies.square[c] += row_weights[j] * values[j] ** 2


@inner()
def agreement(c, targets, tallies):
    """Return how much of candidate c's neighborhood agrees."""
    size, agree = tallies.size[c], tallies.agree[c]
    if size > 0.0 and targets.mode == SOFT_CLASSES:
        for k in range(targets.n_classes):
            agree += tallies.votes[c, k] ** 2
        agree /= size
    elif size > 0.0 and targets.mode == SOFT_VALUES:
        agree = size - 2.0 * (tallies.square[c] - tallies.total[c] ** 2 / size)
    return agree


@kernel()
def neighborhoods(start, stop, exact, candidates, limits, targets, sizes, agreeing):
    """Write how many rows lie within each candidate's limit of each row, and how many of them agree with it, (m, n).

    Agreement: hard classes, the weight of the own class; soft classes, Σ q² times the size; values (divided by
    twice their spread), the size less the sum of squared differences, hard to the row itself, soft to each other.
    """
    n, m, pivot = exact.columns.shape[1], candidates.offsets.shape[0] - 1, candidates.pivot
    common, d = np.empty(DISTANCES_AT_ONCE), np.empty(DISTANCES_AT_ONCE)
    tallies = Tallies(
        np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty((m, max(targets.n_classes, 1)))
    )  # fmt: skip
    widest = 0.0
    for c in range(m):
        widest = max(widest, limits[c])
    for i in range(start, stop):
        first, end = 0, n
        if pivot >= 0:
            first = first_within(i, widest, exact, candidates)
            end = end_within(i, widest, exact, candidates)
        tallies.size[:] = 0.0
        tallies.agree[:] = 0.0
        tallies.total[:] = 0.0
        tallies.square[:] = 0.0
        tallies.votes[:] = 0.0
        for low in range(first, end, DISTANCES_AT_ONCE):
            high = min(low + DISTANCES_AT_ONCE, end)
            chunk, bound = common_terms(common, i, low, high, candidates, exact)
            for c in range(m):
                if bound > limits[c]:
                    continue
                whole = d[: high - low]
                add_changes(whole, chunk, i, low, c, candidates, exact)
                if low <= i < high:  # a row with missing cells is 0 from itself, too
                    whole[i - low] = 0.0
                put_group_far(whole, low, i, targets.groups, targets.with_self)
                count_chunk(whole, c, i, low, limits[c], targets, tallies)
        copy(tallies.size, sizes[:, i])
        for c in range(m):
            agreeing[c, i] = agreement(c, targets, tallies)


@kernel()
def spanning_tree(exact, weights, groups):
    """Return the parent of each row in the tree that grows from row 0 (−1 there); of equal edges the earlier row's.

    No edge joins two rows of one group.
    """
    n = exact.columns.shape[1]
    used = np.flatnonzero(weights)
    parent = np.full(n, -1)
    best = np.full(n, FAR)
    outside = np.ones(n, dtype=np.bool_)
    d = np.empty(n)
    newest = 0
    for _ in range(n - 1):
        outside[newest] = False
        d[:] = 0.0
        for f in used:
            add_feature(d, newest, 0, f, weights[f], exact)
        nearest, distance = -1, 2.0 * FAR
        for j in range(n):
            if outside[j]:
                if d[j] < best[j] and groups[j] != groups[newest]:
                    best[j] = d[j]
                    parent[j] = newest
                if best[j] < distance:
                    nearest, distance = j, best[j]
        newest = nearest
    return parent
