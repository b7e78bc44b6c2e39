"""SURF and MultiSURF: rows within a radius, and how far apart each feature is from them.

Distances are mean absolute differences over the features that both rows have. Where no cell is missing and no feature
nominal, they are taken in whole numbers first: features in steps of 2⁻ᵇ, whose sums are exact. A whole-number distance
is off by one step at most, and so are the mean and the standard deviation of many; what that leaves undecided is
decided in float64.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._intrinsics import add_32, gap_32
from fewer.kernels._relief import difference

BLOCK = 2048


@njit(nogil=True, cache=True)
def whole_distances(d, steps, i):
    """Write the distances of row i to all rows into d, summed over features, in steps (int32)."""
    n_features, n = steps.shape
    n_fours = n_features // 4 * 4
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
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


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def exact_distance(x, z):
    """Return the mean absolute difference of two rows without missing cells."""
    total = 0.0
    for f in range(x.shape[0]):
        total += abs(x[f] - z[f])
    return total / x.shape[0]


@njit(nogil=True, cache=True)
def mixed_distance(x, z, nominal):
    """Return the mean difference of two rows over the cells that both have, NaN if there is none."""
    total, seen = 0.0, 0
    for f in range(x.shape[0]):
        gap = difference(x[f], z[f], nominal[f])
        if gap == gap:  # false for NaN
            total += gap
            seen += 1
    return total / seen if seen else np.nan


@njit(nogil=True, cache=True)
def radius_of(d, i):
    """Return the mean of row i's distances to the others less half their standard deviation, those known."""
    total, seen = 0.0, 0
    for j in range(d.shape[0]):
        if j != i and d[j] == d[j]:
            total += d[j]
            seen += 1
    if seen == 0:
        return 0.0
    mean, square = total / seen, 0.0
    for j in range(d.shape[0]):
        if j != i and d[j] == d[j]:
            square += (d[j] - mean) ** 2
    return mean - 0.5 * np.sqrt(square / seen)


@njit(nogil=True, cache=True)
def near_rows(found, i, radius, d, whole, rows, steps, step, slack):
    """List the rows nearer to row i than a radius (NaN: its own, by the spread of its distances); count them.

    `d` and `whole` are room for distances, `step` is the size of a step, `slack` how many steps a distance may be off.
    """
    n, n_features = rows.shape
    whole_distances(whole, steps, i)
    own = radius != radius
    limit = radius * n_features / step
    if own:
        limit = _whole_radius(whole, i)
    band = (2.5 if own else 1.0) * slack + 1e-9 * abs(limit)
    most = 2.0**31 - 1.0
    sure, perhaps = np.int32(max(np.floor(limit - band), 0.0)), np.int32(min(np.ceil(limit + band), most))
    size, undecided = 0, 0
    for j in range(n):
        if whole[j] < perhaps and j != i:
            found[size] = j
            size += 1
            undecided += whole[j] >= sure
    if undecided == 0:
        return size
    if own:
        for j in range(n):
            d[j] = exact_distance(rows[i], rows[j])
        radius = radius_of(d, i)
    kept = 0
    for m in range(size):
        j = found[m]
        if whole[j] < sure or exact_distance(rows[i], rows[j]) < radius:
            found[kept] = j
            kept += 1
    return kept


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def _whole_radius(whole, i):
    """Return the radius of row i in steps, from whole-number distances."""
    n = whole.shape[0]
    total = 0.0
    for j in range(n):
        total += whole[j]
    mean = total / max(n - 1, 1)  # a row is 0 from itself
    square = -mean * mean
    for j in range(n):
        square += (whole[j] - mean) ** 2
    return mean - 0.5 * np.sqrt(max(square, 0.0) / max(n - 1, 1))


@njit(nogil=True, cache=True)
def near_mixed_rows(found, i, radius, d, rows, nominal):
    """List the rows nearer to row i than a radius (NaN: its own), where cells may be missing or nominal."""
    n = rows.shape[0]
    for j in range(n):
        d[j] = mixed_distance(rows[i], rows[j], nominal)
    limit = radius_of(d, i) if radius != radius else radius
    size = 0
    for j in range(n):
        if j != i and d[j] < limit:  # false for NaN
            found[size] = j
            size += 1
    return size


@njit(nogil=True, cache=True)
def relations(kind, i, found, size, codes, y, bound):
    """Say what each row found is to row i: 0 a hit, 1 + c a miss of class c; quantities have one class of misses."""
    for m in range(size):
        j = found[m]
        if bound > 0.0:
            kind[m] = 0 if abs(y[i] - y[j]) < bound else 1
        else:
            kind[m] = 0 if codes[i] == codes[j] else 1 + codes[j]


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def surf_scores(first, last, votes, radius, target, table):
    """Sum the scores of rows first … last − 1, each times its votes.

    target : (codes, y, bound, shares)
        Classes of rows and their shares; or, with a bound above 0, quantities that are alike within it.
    table : (rows, steps, step, nominal, slack)
        Rows (n, p) scaled to 0 … 1, NaN where missing; the same as whole numbers, (p, n), or none of those where cells
        are missing or nominal; the size of a step; which features are nominal; how many steps a distance may be off.
    """
    codes, y, bound, shares = target
    rows, steps, step, nominal, slack = table
    n, n_features = rows.shape
    scores = np.zeros(n_features)
    found, kind = np.empty(n, np.int64), np.empty(n, np.int64)
    d, whole = np.empty(n), np.empty(n, np.int32)
    for i in range(first, last):
        if votes[i] == 0.0:
            continue
        if steps.shape[0]:
            size = near_rows(found, i, radius, d, whole, rows, steps, step, slack)
        else:
            size = near_mixed_rows(found, i, radius, d, rows, nominal)
        relations(kind, i, found, size, codes, y, bound)
        if steps.shape[0]:
            add_plain(scores, votes[i], i, found, kind, size, shares, rows)
        else:
            add_mixed(scores, votes[i], i, found, kind, size, shares, rows, nominal)
    return scores


@njit(nogil=True, cache=True)
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
