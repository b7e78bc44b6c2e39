"""Relief: nearest rows of each class, and how far apart each feature is from them.

Distances are mean absolute differences over the features that both rows have. A first pass takes them coarsely, numeric
features in steps of 1 / 4095 as 16-bit integers (sixteen at a time in a vector), over blocks of rows that stay in the
cache; what its rounding leaves undecided is decided by a second one in float64 over the few rows near the k-th.

SURF and MultiSURF: rows within a radius, and how far apart each feature is from them.

Where no cell is missing and no feature nominal, their distances are taken in whole numbers first: features in steps of
2⁻ᵇ, whose sums are exact. A whole-number distance is off by one step at most, and so are the mean and the standard
deviation of many; what that leaves undecided is decided in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import add_16, add_32, gap_16, gap_32, least_float
from fewer.kernels.votes import enter

BLOCK = 1024
QUERIES = 16
FAR = np.float32(1e30)
GRID = 2.0**32
STEPS = 4095
LANES = 64
HALVES = 13


class ReliefTable(NamedTuple):
    """The rows, sorted by class.

    rows : (n, p) float64
        Numeric features scaled to 0 … 1, nominal ones as level codes; NaN where missing.
    steps : (number of plain features, n) int16
        Numeric features without missing cells, one after the other, as whole numbers 0 … 4095.
    columns : (number of other features, n) float32
        Nominal features and those with missing cells, one after the other.
    nominal, others : (p,) uint8 and int64
        Which features are nominal; which features `columns` holds.
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
    columns: Any
    nominal: Any
    others: Any
    numbers: Any
    places: Any
    slack: Any
    groups: Any


class Classes(NamedTuple):
    """How rows count: votes and codes (n,), where classes begin (c + 1,), their shares (c,), misses together or not."""

    votes: Any
    codes: Any
    bounds: Any
    shares: Any
    pooled: Any


class ReliefRoom(NamedTuple):
    """Room: coarse distances of some queries, sums, counts; minima of lanes, near lanes; k nearest, lists, means."""

    d: Any
    total: Any
    count: Any
    minima: Any
    near: Any
    found: Any
    far: Any
    lists: Any
    mean: Any

    @classmethod
    def of(cls, n: int, p: int, k: int, n_lists: int) -> ReliefRoom:
        """Make it for n rows, p features and k neighbors of each class, or hits and misses."""
        single, n_lanes = np.float32, max(LANES, 4 * k, n // LANES) + 1
        return cls(
            np.empty((QUERIES, n), single), np.empty(n, np.int32), np.empty(n, single),
            np.empty(n_lanes, single), np.empty(n_lanes, np.int32), np.empty(k, np.int64), np.empty(k),
            np.empty((QUERIES, n_lists, k), np.int32), np.empty(p),
        )  # fmt: skip


@inner()
def coarse_distances(first, last, room, table):
    """Write the distances of rows first … last − 1 to all rows, in float32.

    Complete numeric features go eight at a time: eight differences fit into 16 bits (8 · 4095 < 2¹⁵).
    """
    d, total, count, steps, others = room.d, room.total, room.count, table.steps, table.others
    n_plain, n = steps.shape[0], d.shape[1]
    n_eights, unit = n_plain // 8 * 8, np.float32(1.0 / (STEPS * (1 if others.shape[0] else max(n_plain, 1))))
    for start in range(0, n, BLOCK):
        low, high = np.uint64(start), np.uint64(min(start + BLOCK, n))
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
            if others.shape[0] == 0:
                continue
            for j in range(low, high):
                count[j] = np.float32(n_plain)
            for g in range(others.shape[0]):
                column, nominal = table.columns[g], table.nominal[others[g]] > 0
                x = column[i]
                if x != x:  # missing, so that nothing is known
                    continue
                for j in range(low, high):
                    c = column[j]
                    gap = np.float32(c != x) if nominal else abs(c - x)
                    d[q, j] += gap if c == c else np.float32(0.0)
                    count[j] += np.float32(1.0) if c == c else np.float32(0.0)
            for j in range(low, high):
                d[q, j] = d[q, j] / count[j] if count[j] > 0 else FAR


@inner()
def difference(x, z, nominal):
    """Return the difference of two cells, NaN if one is missing."""
    gap = abs(x - z)
    return 1.0 if nominal and gap > 0.0 else gap


@inner(fastmath={"reassoc"}, forceinline=True)
def row_difference(rows, i, j):
    """Return the mean difference of two complete rows, which are not taken out: that would count references."""
    total, i, j = 0.0, np.uint64(i), np.uint64(j)
    for f in range(np.uint64(rows.shape[1])):
        total += abs(rows[i, f] - rows[j, f])
    return total / rows.shape[1]


@inner()
def mixed_distance(x, z, nominal):
    """Return the mean difference of two rows over the cells that both have, NaN if there is none."""
    total, seen = 0.0, 0
    for f in range(x.shape[0]):
        gap = difference(x[f], z[f], nominal[f])
        if gap == gap:  # false for NaN
            total += gap
            seen += 1
    return total / seen if seen else np.nan


@inner(forceinline=True)
def bound_of_nearest(d, q, first, last, minima, n_lanes, k):
    """Return a coarse distance that k of the rows first … last − 1 do not exceed, and few others.

    Rows are dealt to lanes. k lanes whose minima lie within a bound hold k rows within it; it is found by halving the
    range of distances, down to their rounding, where minima are counted a whole vector at a time. Differences are
    shares of a range, so that all rows in reach lie within 2, which is the bound if there are fewer than k.
    """
    n_lanes = np.uint64(n_lanes)
    for lane in range(n_lanes):
        minima[lane] = FAR
    for start in range(np.uint64(first), np.uint64(last), n_lanes):
        for lane in range(min(n_lanes, np.uint64(last) - start)):
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


@inner()
def list_nearest(start, stop, classes, room, table):
    """List the k rows of each class that are nearest to each of the rows start … stop − 1, in room.lists (q, c, k).

    They come nearest first, equally near ones in the order of `numbers`; −1 ends a list. Pooled misses are one class.
    Whoever the bound on coarse distances leaves is measured in float64, on a grid so fine that only rounding is lost:
    ties stay ties. One function, since a call counts a reference for each array that it is given.
    """
    d, minima, near, lists, found, far = room.d, room.minima, room.near, room.lists, room.found, room.far
    rows, numbers, places, groups, bounds = table.rows, table.numbers, table.places, table.groups, classes.bounds
    codes, pooled, nominal = classes.codes, classes.pooled, table.nominal
    k, plain = found.shape[0], table.others.shape[0] == 0
    for i in range(start, stop):
        q, own, group = np.uint64(i - start), codes[i], groups[i]
        if classes.votes[i] == 0.0:
            continue
        for j in range(np.uint64(groups.shape[0])):  # every cell is written, so that whole vectors are
            d[q, j] = FAR if groups[j] == group else d[q, j]
        for c in range(lists.shape[1]):
            low, high = bounds[c], bounds[c + 1]
            if pooled:
                low, high = (bounds[own], bounds[own + 1]) if c == 0 else (0, rows.shape[0])
                for j in range(bounds[own] if c == 1 else 0, bounds[own + 1] if c == 1 else 0):
                    d[q, j] = FAR
            n_lanes = np.uint64(max(min(max(LANES, 4 * k, (high - low) // LANES), high - low), 1))
            limit = bound_of_nearest(d, q, low, high, minima, n_lanes, k) + table.slack
            n_near, size = np.uint64(0), 0
            for lane in range(n_lanes):  # without a branch, which would often be guessed wrong
                near[n_near] = lane
                n_near += np.uint64(minima[lane] <= limit)
            for a in range(n_near):
                for j in range(np.uint64(low) + np.uint64(near[a]), np.uint64(high), n_lanes):
                    if d[q, j] <= limit:
                        distance = row_difference(rows, i, j) if plain else mixed_distance(rows[i], rows[j], nominal)
                        size = enter(found, far, size, numbers[j], np.rint(distance * GRID) / GRID)
            for m in range(k):
                lists[q, c, m] = places[found[m]] if m < size else -1


@inner(forceinline=True)
def add_means(scores, weight, i, lists, q, c, mean, rows, nominal, plain):
    """Add each feature's mean difference between row i and the rows listed, over cells present, by a weight."""
    size, q, c = 0, np.uint64(q), np.uint64(c)
    while size < lists.shape[2] and lists[q, c, size] >= 0:
        size += 1
    if plain:
        for f in range(np.uint64(mean.shape[0])):
            mean[f] = 0.0
        for m in range(np.uint64(size)):
            j = lists[q, c, m]
            for f in range(np.uint64(mean.shape[0])):
                mean[f] += abs(rows[i, f] - rows[j, f])
        for f in range(np.uint64(mean.shape[0])):
            scores[f] += weight * (mean[f] / float(max(size, 1)))
        return
    for f in range(rows.shape[1]):
        total, seen = 0.0, 0
        for m in range(size):
            gap = difference(rows[i, f], rows[lists[q, c, m], f], nominal[f])
            if gap == gap:  # false for NaN
                total += gap
                seen += 1
        scores[f] += weight * (total / seen if seen else 0.0)


@kernel()
def relief_scores(first, last, lists, classes, table, room, scores):
    """Add, over rows first … last − 1, the differences to misses less those to hits, times the row's votes.

    The misses of each class count by its share among the other classes, or all are pooled. The nearest rows are looked
    for, or taken from lists (n, c, k), −1 where there is none; of pooled misses, hits first.
    """
    votes, shares, pooled, codes = classes.votes, classes.shares, classes.pooled, classes.codes
    rows, nominal, mean = table.rows, table.nominal, room.mean
    given, plain = lists.shape[0] > 0, table.others.shape[0] == 0
    for start in range(first, last, QUERIES):
        stop = min(start + QUERIES, last)
        if not given:
            coarse_distances(start, stop, room, table)
            list_nearest(start, stop, classes, room, table)
        near = lists if given else room.lists
        for i in range(start, stop):
            if votes[i] == 0.0:
                continue
            q, own = i if given else i - start, codes[i]
            hits = 0 if pooled else own
            for turn in range(near.shape[1] + 1):  # hits first
                c, weight = hits if turn == 0 else turn - 1, -votes[i]
                if turn > 0:
                    if c == hits or (not pooled and shares[c] <= 0.0):
                        continue
                    weight = votes[i] if pooled else votes[i] * shares[c] / (1.0 - shares[own])
                add_means(scores, weight, i, near, q, c, mean, rows, nominal, plain)


@kernel()
def regression_sums(first, last, lists, classes, influence, target, table, room, sums):
    """Add, over rows first … last − 1 and their neighbors, what RReliefF needs of each feature to sums (4, p).

    Four rows: weight of the pairs in which it is present, their difference of target, of the feature, and the product.
    The neighbors are looked for, or taken from lists (n, 1, k), −1 where there is none. All rows are of one class.
    """
    rows, given, votes, k = table.rows, lists.shape[0] > 0, classes.votes, influence.shape[0]
    for start in range(first, last, QUERIES):
        stop = min(start + QUERIES, last)
        if not given:
            coarse_distances(start, stop, room, table)
            list_nearest(start, stop, classes, room, table)
        near = lists if given else room.lists
        for i in range(start, stop):
            q, size, whole = i if given else i - start, 0, 0.0
            while votes[i] > 0.0 and size < k and near[q, 0, size] >= 0:
                whole += influence[size]
                size += 1
            for m in range(size):
                j = near[q, 0, m]
                weight, apart = votes[i] * influence[m] / whole, abs(target[i] - target[j])
                for f in range(rows.shape[1]):
                    gap = difference(rows[i, f], rows[j, f], table.nominal[f])
                    if gap == gap:  # false for NaN
                        sums[0, f] += weight
                        sums[1, f] += weight * apart
                        sums[2, f] += weight * gap
                        sums[3, f] += weight * apart * gap


SURF_BLOCK = 2048


@inner()
def whole_distances(d, steps, i):
    """Write the distances of row i to all rows into d, summed over features, in steps (int32)."""
    n_features, n = steps.shape
    n_fours = n_features // 4 * 4
    for start in range(0, n, SURF_BLOCK):
        stop = min(start + SURF_BLOCK, n)
        out = d[start:stop]
        out[:] = 0
        for f in range(0, n_fours, 4):
            x0, x1, x2, x3 = steps[f, i], steps[f + 1, i], steps[f + 2, i], steps[f + 3, i]
            c0, c1 = steps[f][start:stop], steps[f + 1][start:stop]
            c2, c3 = steps[f + 2][start:stop], steps[f + 3][start:stop]
            for j in range(out.shape[0]):
                low = add_32(gap_32(c0[j], x0), gap_32(c1[j], x1))
                high = add_32(gap_32(c2[j], x2), gap_32(c3[j], x3))
                out[j] = add_32(out[j], add_32(low, high))
        for f in range(n_fours, n_features):
            x, c = steps[f, i], steps[f][start:stop]
            for j in range(out.shape[0]):
                out[j] = add_32(out[j], gap_32(c[j], x))


@inner()
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


@inner()
def near_rows(found, i, radius, d, whole, table):
    """List the rows of other groups nearer to row i than a radius (NaN: its own, by its distances); count them.

    `d` and `whole` are room for distances; `table` is that of `surf_scores`.
    """
    rows, steps, step, _, slack, groups = table
    n, n_features = rows.shape
    whole_distances(whole, steps, i)
    own = radius != radius
    limit = radius * n_features / step
    if own:
        limit = _whole_radius(whole, i, groups)
    band = (2.5 if own else 1.0) * slack + 1e-9 * abs(limit)
    most = 2.0**31 - 1.0
    sure, perhaps = np.int32(max(np.floor(limit - band), 0.0)), np.int32(min(np.ceil(limit + band), most))
    size, undecided = 0, 0
    for j in range(n):
        if whole[j] < perhaps and groups[j] != groups[i]:
            found[size] = j
            size += 1
            undecided += whole[j] >= sure
    if undecided == 0:
        return size
    if own:
        for j in range(n):
            d[j] = row_difference(rows, i, j)
        radius = radius_of(d, i, groups)
    kept = 0
    for m in range(size):
        j = found[m]
        if whole[j] < sure or row_difference(rows, i, j) < radius:
            found[kept] = j
            kept += 1
    return kept


@inner(fastmath={"reassoc"})
def _whole_radius(whole, i, groups):
    """Return the radius of row i in steps, from whole-number distances to rows of other groups."""
    own, total, seen, square = groups[i], 0.0, 0, 0.0
    for j in range(whole.shape[0]):
        other = groups[j] != own
        total += whole[j] if other else 0.0
        seen += other
    mean = total / max(seen, 1)
    for j in range(whole.shape[0]):
        square += (whole[j] - mean) ** 2 if groups[j] != own else 0.0
    return mean - 0.5 * np.sqrt(square / max(seen, 1))


@inner()
def near_mixed_rows(found, i, radius, d, table):
    """List the rows of other groups nearer to row i than a radius (NaN: its own); cells may be missing or nominal."""
    rows, _, _, nominal, _, groups = table
    n = rows.shape[0]
    for j in range(n):
        d[j] = mixed_distance(rows[i], rows[j], nominal)
    limit = radius_of(d, i, groups) if radius != radius else radius
    size = 0
    for j in range(n):
        if groups[j] != groups[i] and d[j] < limit:  # false for NaN
            found[size] = j
            size += 1
    return size


@inner()
def relations(kind, i, found, size, codes, y, bound):
    """Say what each row found is to row i: 0 a hit, 1 + c a miss of class c; quantities have one class of misses."""
    for m in range(size):
        j = found[m]
        if bound > 0.0:
            kind[m] = 0 if abs(y[i] - y[j]) < bound else 1
        else:
            kind[m] = 0 if codes[i] == codes[j] else 1 + codes[j]


@inner()
def add_plain(scores, vote, i, found, kind, size, shares, rows):
    """Add one row's part to the scores: mean differences to misses, class by class, less that to hits.

    Rows are taken in pairs, so that the scores are read and written half as often.
    """
    counts = np.zeros(shares.shape[0] + 1)
    for m in range(size):
        counts[kind[m]] += 1.0
    met = 0.0
    for c in range(shares.shape[0]):
        if counts[1 + c] > 0.0:
            met += shares[c]
    counts[0] = -vote / max(counts[0], 1.0)
    for c in range(shares.shape[0]):
        counts[1 + c] = vote * shares[c] / (met * counts[1 + c]) if counts[1 + c] > 0.0 else 0.0
    x = rows[i]
    n_pairs = size // 2 * 2
    for m in range(0, n_pairs, 2):
        one, two = counts[kind[m]], counts[kind[m + 1]]
        y, z = rows[found[m]], rows[found[m + 1]]
        for f in range(scores.shape[0]):
            scores[f] += one * abs(x[f] - y[f]) + two * abs(x[f] - z[f])
    if n_pairs < size:
        z = rows[found[n_pairs]]
        for f in range(scores.shape[0]):
            scores[f] += counts[kind[n_pairs]] * abs(x[f] - z[f])


@inner()
def add_mixed(scores, vote, i, found, kind, size, shares, rows, nominal):
    """Add one row's part to the scores, over the cells that are present."""
    n_kinds = shares.shape[0] + 1
    counts, sums = np.empty(n_kinds), np.empty(n_kinds)
    for f in range(scores.shape[0]):
        counts[:], sums[:] = 0.0, 0.0
        for m in range(size):
            gap = difference(rows[i, f], rows[found[m], f], nominal[f])
            if gap == gap:  # false for NaN
                counts[kind[m]] += 1.0
                sums[kind[m]] += gap
        met, total = 0.0, 0.0
        for c in range(shares.shape[0]):
            if counts[1 + c] > 0.0:
                met += shares[c]
                total += shares[c] * sums[1 + c] / counts[1 + c]
        if met > 0.0:
            scores[f] += vote * total / met
        if counts[0] > 0.0:
            scores[f] -= vote * sums[0] / counts[0]


@kernel()
def surf_scores(first, last, votes, radius, target, table):
    """Sum the scores of rows first … last − 1, each times its votes.

    target : (codes, y, bound, shares)
        Classes of rows and their shares; or, with a bound above 0, quantities that are alike within it.
    table : (rows, steps, step, nominal, slack, groups)
        Rows (n, p) scaled to 0 … 1, NaN where missing; the same as whole numbers, (p, n), or none of those where cells
        are missing or nominal; the size of a step; which features are nominal; how many steps a distance may be off;
        the group of each row (n,): rows of one group are never each other's neighbors.
    """
    codes, y, bound, shares = target
    rows, steps, _, nominal, _, _ = table
    n, n_features = rows.shape
    scores = np.zeros(n_features)
    found, kind = np.empty(n, np.int64), np.empty(n, np.int64)
    d, whole = np.empty(n), np.empty(n, np.int32)
    for i in range(first, last):
        if votes[i] == 0.0:
            continue
        if steps.shape[0]:
            size = near_rows(found, i, radius, d, whole, table)
        else:
            size = near_mixed_rows(found, i, radius, d, table)
        relations(kind, i, found, size, codes, y, bound)
        if steps.shape[0]:
            add_plain(scores, votes[i], i, found, kind, size, shares, rows)
        else:
            add_mixed(scores, votes[i], i, found, kind, size, shares, rows, nominal)
    return scores


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
