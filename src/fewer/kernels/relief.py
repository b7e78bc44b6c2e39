"""Relief: the nearest rows of each class, or all rows within a radius, and how far apart each feature is from them.

Distances are mean absolute differences over the features that both rows have.

Relief, ReliefF and RReliefF: a first pass takes them coarsely, numeric features in steps of 1 / 4095 as 16-bit integers
(sixteen at a time in a vector), over blocks of rows that stay in the cache; what its rounding leaves undecided is
decided by a second one in float64 over the few rows near the k-th.

SURF and MultiSURF: where no cell is missing and no feature nominal, distances are taken in whole numbers first:
features in steps of 2⁻ᵇ, whose sums are exact. Such a distance is off by one step for each feature at most, and so are
the mean and the standard deviation of many; what that leaves undecided is decided in float64.

What a kernel is given as None, or does without, is not compiled: most tables have no missing cells and no levels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import add_16, add_32, gap_16, gap_32, least_float
from fewer.kernels.votes import enter

BLOCK = 1024
QUERIES = 16
NO_DISTANCE = np.float32(1e30)
GRID = 2.0**32
STEPS = 4095
LANES = 64
HALVES = 13
SURF_BLOCK = 2048


class ReliefTable(NamedTuple):
    """The rows, sorted by class.

    rows : (n, p) float64
        Numeric features scaled to 0 … 1, nominal ones as level codes; NaN where missing.
    steps : (number of plain features, n) int16
        Numeric features without missing cells, one after the other, as whole numbers 0 … 4095.
    nominal : (p,) uint8
    numbers, places : (n,) int64
        The rows' numbers before they were sorted, of which the smaller comes first among equally near rows; and where
        each number is now.
    groups : (n,) int64
        Rows of one group are never each other's neighbors.
    slack : float
        How far coarse distances can be off.
    """

    rows: Any
    steps: Any
    nominal: Any
    numbers: Any
    places: Any
    slack: Any
    groups: Any


class Mixed(NamedTuple):
    """Features that are nominal or have missing cells: (m, n) float32, one after the other; which of them are nominal.

    Kernels take None where there are none.
    """

    columns: Any
    nominal: Any


class Classes(NamedTuple):
    """How rows count: votes and codes (n,), where classes begin (c + 1,), their shares (c,), misses together or not."""

    votes: Any
    codes: Any
    bounds: Any
    shares: Any
    pooled: Any


class ReliefRoom(NamedTuple):
    """Room: coarse distances of some queries, sums, counts; minima of lanes, near lanes; k nearest rows, distances."""

    d: Any
    total: Any
    count: Any
    minima: Any
    near: Any
    nearest: Any
    far: Any

    @classmethod
    def of(cls, n: int, k: int) -> ReliefRoom:
        """Make it for n rows and k neighbors of each class, or hits and misses."""
        single, n_lanes = np.float32, max(LANES, 4 * k, n // LANES) + 1
        return cls(
            np.empty((QUERIES, n), single), np.empty(n, np.int32), np.empty(n, single),
            np.empty(n_lanes, single), np.empty(n_lanes, np.int32), np.empty(k, np.int64), np.empty(k),
        )  # fmt: skip


@inner(counted=False)
def coarse_distances(first, last, room, table, mixed):
    """Write the distances of rows first … last − 1 to all rows, in float32.

    Complete numeric features go eight at a time: eight differences fit into 16 bits (8 · 4095 < 2¹⁵).
    """
    d, total, count, steps = room.d, room.total, room.count, table.steps
    n_plain, n = steps.shape[0], d.shape[1]
    n_eights, n_averaged = n_plain // 8 * 8, n_plain if n_plain > 0 else 1
    if mixed is not None:
        n_averaged = 1
    unit = np.float32(1.0 / (STEPS * n_averaged))
    for start in range(0, n, BLOCK):
        low, high = np.uint64(start), np.uint64(start + BLOCK if start + BLOCK < n else n)
        for i in range(first, last):
            q = np.uint64(i - first)
            for j in range(low, high):
                total[j] = 0
            for g in range(0, n_eights, 8):
                c0, c1, c2, c3 = steps[g], steps[g + 1], steps[g + 2], steps[g + 3]
                c4, c5, c6, c7 = steps[g + 4], steps[g + 5], steps[g + 6], steps[g + 7]
                x0, x1, x2, x3, x4, x5, x6, x7 = c0[i], c1[i], c2[i], c3[i], c4[i], c5[i], c6[i], c7[i]
                for j in range(low, high):
                    s01 = add_16(gap_16(c0[j], x0), gap_16(c1[j], x1))
                    s23 = add_16(gap_16(c2[j], x2), gap_16(c3[j], x3))
                    s45 = add_16(gap_16(c4[j], x4), gap_16(c5[j], x5))
                    s67 = add_16(gap_16(c6[j], x6), gap_16(c7[j], x7))
                    total[j] = add_32(total[j], np.int32(add_16(add_16(s01, s23), add_16(s45, s67))))
            for g in range(n_eights, n_plain):
                c0 = steps[g]
                x0 = c0[i]
                for j in range(low, high):
                    total[j] = add_32(total[j], np.int32(gap_16(c0[j], x0)))
            for j in range(low, high):
                d[q, j] = np.float32(total[j]) * unit
            if mixed is not None:
                for j in range(low, high):
                    count[j] = np.float32(n_plain)
                for g in range(mixed.columns.shape[0]):
                    column, nominal = mixed.columns[g], mixed.nominal[g] > 0
                    x = column[i]
                    if x != x:  # missing, so that nothing is known
                        continue
                    for j in range(low, high):
                        c = column[j]
                        gap = np.float32(c != x) if nominal else abs(c - x)
                        d[q, j] += gap if c == c else np.float32(0.0)
                        count[j] += np.float32(1.0) if c == c else np.float32(0.0)
                for j in range(low, high):
                    d[q, j] = d[q, j] / count[j] if count[j] > 0 else NO_DISTANCE


@inner(counted=False)
def difference(x, z, nominal):
    """Return the difference of two cells, NaN if one is missing."""
    gap = abs(x - z)
    return 1.0 if nominal and gap > 0.0 else gap


@inner(counted=False, fastmath={"reassoc"}, forceinline=True)
def row_difference(rows, i, j):
    """Return the mean difference of two complete rows, which are not taken out: that would count references."""
    total, i, j = 0.0, np.uint64(i), np.uint64(j)
    for f in range(np.uint64(rows.shape[1])):
        total += abs(rows[i, f] - rows[j, f])
    return total / rows.shape[1]


@inner(counted=False)
def mixed_distance(x, z, nominal):
    """Return the mean difference of two rows over the cells that both have, NaN if there is none."""
    total, seen = 0.0, 0
    for f in range(x.shape[0]):
        gap = difference(x[f], z[f], nominal[f])
        if gap == gap:  # false for NaN
            total += gap
            seen += 1
    return total / seen if seen else np.nan


@inner(counted=False, forceinline=True)
def bound_of_nearest(d, q, first, last, minima, n_lanes, k):
    """Return a coarse distance that k of the rows first … last − 1 do not exceed, and few others.

    Rows are dealt to lanes. k lanes whose minima lie within a bound hold k rows within it; it is found by halving the
    range of distances, down to their rounding, where minima are counted a whole vector at a time. Differences are
    shares of a range, so that all rows in reach lie within 2, which is the bound if there are fewer than k.
    """
    n_lanes = np.uint64(n_lanes)
    for lane in range(n_lanes):
        minima[lane] = NO_DISTANCE
    for start in range(np.uint64(first), np.uint64(last), n_lanes):
        rest = np.uint64(last) - start
        for lane in range(n_lanes if n_lanes < rest else rest):
            minima[lane] = least_float(minima[lane], d[np.uint64(q), start + lane])
    low, high, known = np.float32(0.0), np.float32(2.0), np.int32(n_lanes)
    for _ in range(HALVES):
        middle, count = np.float32(0.5) * (low + high), np.int32(0)
        for lane in range(n_lanes):
            count = add_32(count, np.int32(minima[lane] <= middle))
        low, high, known = (middle, high, known) if count < k else (low, middle, count)
        if known <= k + 1:
            break
    return high


@kernel(counted=False)
def list_nearest(first, last, classes, table, mixed, room, lists):
    """List the k rows of each class that are nearest to each of the rows first … last − 1 in (last − first, c, k).

    They come nearest first, equally near ones in the order of `numbers`; −1 ends a list. Pooled misses are one class,
    after the hits. Whoever the bound on coarse distances leaves is measured in float64, on a grid so fine that only
    rounding is lost: ties stay ties.
    """
    d, minima, near, nearest, far = room.d, room.minima, room.near, room.nearest, room.far
    rows, numbers, groups, bounds, codes = table.rows, table.numbers, table.groups, classes.bounds, classes.codes
    pooled, k = classes.pooled, nearest.shape[0]
    for i in range(first, last):
        q, code, group = np.uint64((i - first) % QUERIES), codes[i], groups[i]
        if q == 0:
            coarse_distances(i, i + QUERIES if i + QUERIES < last else last, room, table, mixed)
        if classes.votes[i] == 0.0:
            continue
        for j in range(np.uint64(groups.shape[0])):  # every cell is written, so that whole vectors are
            d[q, j] = NO_DISTANCE if groups[j] == group else d[q, j]
        for c in range(lists.shape[1]):
            low, high = bounds[c], bounds[c + 1]
            if pooled:
                low, high = (bounds[code], bounds[code + 1]) if c == 0 else (0, rows.shape[0])
                for j in range(bounds[code] if c == 1 else 0, bounds[code + 1] if c == 1 else 0):
                    d[q, j] = NO_DISTANCE
            n_rows, lanes = high - low, (high - low) // LANES
            lanes = 4 * k if lanes < 4 * k else lanes  # so many at least, where there are as many rows
            lanes = LANES if lanes < LANES else lanes
            n_lanes = np.uint64((lanes if lanes < n_rows else n_rows) or 1)
            limit = bound_of_nearest(d, q, low, high, minima, n_lanes, k) + table.slack
            n_near, size = np.uint64(0), np.int64(0)
            for lane in range(n_lanes):  # without a branch, which would often be guessed wrong
                near[n_near] = lane
                n_near += np.uint64(minima[lane] <= limit)
            for a in range(n_near):
                for j in range(np.uint64(low) + np.uint64(near[a]), np.uint64(high), n_lanes):
                    if d[q, j] <= limit:
                        if mixed is None:
                            distance = row_difference(rows, i, j)
                        else:
                            distance = mixed_distance(rows[i], rows[j], table.nominal)
                        size = enter(nearest, far, size, numbers[j], np.rint(distance * GRID) / GRID)
            for m in range(k):
                lists[i - first, c, m] = table.places[nearest[m]] if m < size else -1


@kernel(counted=False)
def relief_scores(first, last, lists, classes, table, mixed, mean, scores):
    """Add, over rows first … last − 1, the differences to misses less those to hits, times the row's votes.

    The misses of each class count by its share among the other classes, or all are pooled. Of each list of near rows,
    (last − first, c, k), each feature's mean difference is taken over the cells that are present.

    mean : (p,) float64
        Room.
    """
    votes, shares, pooled, codes = classes.votes, classes.shares, classes.pooled, classes.codes
    rows, nominal = table.rows, table.nominal
    for i in range(first, last):
        if votes[i] == 0.0:
            continue
        q, code = np.uint64(i - first), codes[i]
        hits = 0 if pooled else code
        for turn in range(lists.shape[1] + 1):  # hits first
            c, weight, size = hits if turn == 0 else turn - 1, -votes[i], 0
            if turn > 0:
                if c == hits or (not pooled and shares[c] <= 0.0):
                    continue
                weight = votes[i] if pooled else votes[i] * shares[c] / (1.0 - shares[code])
            while size < lists.shape[2] and lists[q, c, size] >= 0:
                size += 1
            if mixed is None:
                for f in range(np.uint64(mean.shape[0])):
                    mean[f] = 0.0
                for m in range(np.uint64(size)):
                    j = lists[q, c, m]
                    for f in range(np.uint64(mean.shape[0])):
                        mean[f] += abs(rows[i, f] - rows[j, f])
                for f in range(np.uint64(mean.shape[0])):
                    scores[f] += weight * (mean[f] / float(size if size > 0 else 1))
            else:
                for f in range(mean.shape[0]):
                    total, seen = 0.0, 0
                    for m in range(size):
                        gap = difference(rows[i, f], rows[lists[q, c, m], f], nominal[f])
                        if gap == gap:  # false for NaN
                            total += gap
                            seen += 1
                    scores[f] += weight * (total / seen if seen else 0.0)


@kernel(counted=False)
def regression_sums(first, last, lists, votes, influence, target, table, sums):
    """Add, over rows first … last − 1 and their neighbors, what RReliefF needs of each feature to sums (4, p).

    Four rows: weight of the pairs in which it is present, their difference of target, of the feature, and the product.
    The neighbors are those of the lists (last − first, 1, k), −1 where there is none.
    """
    rows, nominal = table.rows, table.nominal
    for i in range(first, last):
        q, size, whole = i - first, 0, 0.0
        while votes[i] > 0.0 and size < influence.shape[0] and lists[q, 0, size] >= 0:
            whole += influence[size]
            size += 1
        for m in range(size):
            j = lists[q, 0, m]
            weight, apart = votes[i] * influence[m] / whole, abs(target[i] - target[j])
            for f in range(rows.shape[1]):
                gap = difference(rows[i, f], rows[j, f], nominal[f])
                if gap == gap:  # false for NaN
                    sums[0, f] += weight
                    sums[1, f] += weight * apart
                    sums[2, f] += weight * gap
                    sums[3, f] += weight * apart * gap


class Whole(NamedTuple):
    """Rows in whole numbers, where no cell is missing and no feature nominal.

    steps : (p, n) int32, or (0, n) elsewhere
    step, slack : float
        The size of a step, and how many steps a distance may be off.
    d : (n,) int32
        Room for the distances of one row.
    """

    steps: Any
    step: Any
    slack: Any
    d: Any


class SurfRoom(NamedTuple):
    """Room: rows that are near and what each is (n,), int64; distances (n,); counts and sums of hits and each class."""

    near: Any
    kinds: Any
    d: Any
    counts: Any
    sums: Any

    @classmethod
    def of(cls, n: int, n_classes: int) -> SurfRoom:
        """Make it for n rows."""
        (near, kinds), (counts, sums) = np.empty((2, n), np.int64), np.empty((2, n_classes + 1))
        return cls(near, kinds, np.empty(n), counts, sums)


@inner(counted=False)
def whole_distances(whole, i):
    """Write the distances of row i to all rows, summed over features, in steps."""
    d, steps = whole.d, whole.steps
    n_features, n = steps.shape
    n_fours = n_features // 4 * 4
    for start in range(0, n, SURF_BLOCK):
        low, high = np.uint64(start), np.uint64(min(start + SURF_BLOCK, n))
        for j in range(low, high):
            d[j] = 0
        for f in range(0, n_fours, 4):
            c0, c1, c2, c3 = steps[f], steps[f + 1], steps[f + 2], steps[f + 3]
            x0, x1, x2, x3 = c0[i], c1[i], c2[i], c3[i]
            for j in range(low, high):
                one = add_32(gap_32(c0[j], x0), gap_32(c1[j], x1))
                other = add_32(gap_32(c2[j], x2), gap_32(c3[j], x3))
                d[j] = add_32(d[j], add_32(one, other))
        for f in range(n_fours, n_features):
            c0 = steps[f]
            x0 = c0[i]
            for j in range(low, high):
                d[j] = add_32(d[j], gap_32(c0[j], x0))


@inner(counted=False, fastmath={"reassoc"})
def whole_radius(whole, i, groups):
    """Return the radius of row i in steps, from whole-number distances to rows of other groups."""
    group, total, seen, square = groups[i], 0.0, 0, 0.0
    for j in range(whole.shape[0]):
        other = groups[j] != group
        total += whole[j] if other else 0.0
        seen += other
    mean = total / max(seen, 1)
    for j in range(whole.shape[0]):
        square += (whole[j] - mean) ** 2 if groups[j] != group else 0.0
    return mean - 0.5 * np.sqrt(square / max(seen, 1))


@inner(counted=False)
def radius_of(d, i, groups):
    """Return the mean of row i's known distances to rows of other groups less half their standard deviation."""
    total, seen = 0.0, 0
    for j in range(d.shape[0]):
        if groups[j] != groups[i] and d[j] == d[j]:
            total += d[j]
            seen += 1
    if seen == 0:
        return 0.0
    mean, square = total / seen, 0.0
    for j in range(d.shape[0]):
        if groups[j] != groups[i] and d[j] == d[j]:
            square += (d[j] - mean) ** 2
    return mean - 0.5 * np.sqrt(square / seen)


@inner(counted=False)
def near_rows(near, i, radius, d, rows, groups, whole):
    """List the rows of other groups nearer to row i than a radius (NaN: its own, by its distances); count them.

    Distances in steps leave out most rows and are sure of most others.
    """
    whole_distances(whole, i)
    by_row = radius != radius
    limit = whole_radius(whole.d, i, groups) if by_row else radius * rows.shape[1] / whole.step
    band = (2.5 if by_row else 1.0) * whole.slack + 1e-9 * abs(limit)
    most = 2.0**31 - 1.0
    sure, perhaps = np.int32(max(np.floor(limit - band), 0.0)), np.int32(min(np.ceil(limit + band), most))
    size, undecided = 0, 0
    for j in range(d.shape[0]):
        if whole.d[j] < perhaps and groups[j] != groups[i]:
            near[size] = j
            size += 1
            undecided += whole.d[j] >= sure
    if undecided == 0:
        return size
    if by_row:
        for j in range(d.shape[0]):
            d[j] = row_difference(rows, i, j)
        radius = radius_of(d, i, groups)
    kept = 0
    for m in range(size):
        j = near[m]
        if whole.d[j] < sure or row_difference(rows, i, j) < radius:
            near[kept] = j
            kept += 1
    return kept


@inner(counted=False)
def near_mixed_rows(near, i, radius, d, rows, groups, nominal):
    """List the rows of other groups nearer to row i than a radius (NaN: its own); cells may be missing or nominal."""
    for j in range(d.shape[0]):
        d[j] = mixed_distance(rows[i], rows[j], nominal)
    limit = radius_of(d, i, groups) if radius != radius else radius
    size = 0
    for j in range(d.shape[0]):
        if groups[j] != groups[i] and d[j] < limit:  # false for NaN
            near[size] = j
            size += 1
    return size


@inner(counted=False)
def add_plain(scores, vote, i, size, shares, rows, room):
    """Add one row's part to the scores: mean differences to misses, class by class, less that to hits.

    Rows are taken in pairs, so that the scores are read and written half as often.
    """
    near, kinds, weights, met = room.near, room.kinds, room.counts, 0.0
    for c in range(shares.shape[0] + 1):
        weights[c] = 0.0
    for m in range(size):
        weights[kinds[m]] += 1.0
    for c in range(shares.shape[0]):
        if weights[1 + c] > 0.0:
            met += shares[c]
    weights[0] = -vote / max(weights[0], 1.0)
    for c in range(shares.shape[0]):
        weights[1 + c] = vote * shares[c] / (met * weights[1 + c]) if weights[1 + c] > 0.0 else 0.0
    x = rows[i]
    n_pairs = size // 2 * 2
    for m in range(0, n_pairs, 2):
        one, two = weights[kinds[m]], weights[kinds[m + 1]]
        y, z = rows[near[m]], rows[near[m + 1]]
        for f in range(scores.shape[0]):
            scores[f] += one * abs(x[f] - y[f]) + two * abs(x[f] - z[f])
    if n_pairs < size:
        z = rows[near[n_pairs]]
        for f in range(scores.shape[0]):
            scores[f] += weights[kinds[n_pairs]] * abs(x[f] - z[f])


@inner(counted=False)
def add_mixed(scores, vote, i, size, shares, rows, nominal, room):
    """Add one row's part to the scores, over the cells that are present."""
    near, kinds, counts, sums = room.near, room.kinds, room.counts, room.sums
    for f in range(scores.shape[0]):
        for c in range(shares.shape[0] + 1):
            counts[c] = sums[c] = 0.0
        for m in range(size):
            gap = difference(rows[i, f], rows[near[m], f], nominal[f])
            if gap == gap:  # false for NaN
                counts[kinds[m]] += 1.0
                sums[kinds[m]] += gap
        met, total = 0.0, 0.0
        for c in range(shares.shape[0]):
            if counts[1 + c] > 0.0:
                met += shares[c]
                total += shares[c] * sums[1 + c] / counts[1 + c]
        if met > 0.0:
            scores[f] += vote * total / met
        if counts[0] > 0.0:
            scores[f] -= vote * sums[0] / counts[0]


@kernel(counted=False)
def surf_scores(first, last, votes, radius, target, rows, nominal, groups, whole, room, scores):
    """Add the scores of rows first … last − 1, each times its votes.

    A row near to another is a hit, 0, or a miss of class c, 1 + c; quantities have one class of misses.

    target : (codes, y, bound, shares)
        Classes of rows and their shares; or, with a bound above 0, quantities that are alike within it.
    rows : (n, p) float64
        Scaled to 0 … 1, NaN where missing.
    nominal : (p,) uint8, or None
        Which features are nominal; None where none is and no cell is missing.
    groups : (n,) int64
        Rows of one group are never each other's neighbors.
    """
    codes, y, bound, shares = target
    near, kinds = room.near, room.kinds
    for i in range(first, last):
        if votes[i] == 0.0:
            continue
        if nominal is None:
            size = near_rows(near, i, radius, room.d, rows, groups, whole)
        else:
            size = near_mixed_rows(near, i, radius, room.d, rows, groups, nominal)
        for m in range(size):
            j = near[m]
            miss = 1 if bound > 0.0 else 1 + codes[j]
            kinds[m] = 0 if (abs(y[i] - y[j]) < bound if bound > 0.0 else codes[i] == codes[j]) else miss
        if nominal is None:
            add_plain(scores, votes[i], i, size, shares, rows, room)
        else:
            add_mixed(scores, votes[i], i, size, shares, rows, nominal, room)


@kernel()
def mixed_distance_sum(first, last, rows, nominal):
    """Sum and count the known distances of rows first … last − 1 to all rows."""
    total = np.zeros(2)
    for i in range(first, last):
        for j in range(rows.shape[0]):
            distance = mixed_distance(rows[i], rows[j], nominal) if j != i else 0.0
            if distance == distance:  # false for NaN
                total[0] += distance
                total[1] += 1.0
    return total
