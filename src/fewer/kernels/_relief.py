"""Relief: nearest rows of each class, and how far apart each feature is from them.

Distances are mean absolute differences over the features that both rows have. A first pass takes them in float32,
over blocks of rows that stay in the cache; whatever its rounding leaves undecided is settled by a second one in
float64 over the few rows near the k-th.

Arguments:

rows : (n, p) float64
    Numeric features scaled to 0 … 1, nominal ones as level codes; NaN where missing. Sorted by class.
columns : (p, n) float32
    The same, one feature after the other.
nominal : (p,) uint8
plain, others : int64
    Numeric features without holes, and all other features.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 512
QUERIES = 16
FAR = np.float32(1e30)
GRID = 2.0**32


@njit(nogil=True, cache=True)
def coarse_distances(d, count, first, columns, nominal, plain, others):  # type: ignore[no-untyped-def]
    """Write the distances of rows first, first + 1, … to all rows into d, in float32."""
    n_rows = columns.shape[1]
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        for q in range(d.shape[0]):
            out = d[q][start:stop]
            out[:] = np.float32(0.0)
            _add_plain(out, first + q, start, stop, columns, plain)
            if others.shape[0]:
                seen = count[start:stop]
                seen[:] = np.float32(plain.shape[0])
                for f in others:
                    _add_other(out, seen, columns[f, first + q], columns[f][start:stop], nominal[f])
                for j in range(out.shape[0]):
                    out[j] = out[j] / seen[j] if seen[j] > 0 else FAR
            else:
                share = np.float32(1.0 / plain.shape[0])
                for j in range(out.shape[0]):
                    out[j] *= share


@njit(nogil=True, cache=True)
def _add_plain(out, i, start, stop, columns, plain):  # type: ignore[no-untyped-def]
    """Add numeric features without holes, four at a time: the sum is then fetched and stored a quarter as often."""
    n_fours = plain.shape[0] // 4 * 4
    for g in range(0, n_fours, 4):
        f0, f1, f2, f3 = plain[g], plain[g + 1], plain[g + 2], plain[g + 3]
        x0, x1, x2, x3 = columns[f0, i], columns[f1, i], columns[f2, i], columns[f3, i]
        c0, c1 = columns[f0][start:stop], columns[f1][start:stop]
        c2, c3 = columns[f2][start:stop], columns[f3][start:stop]
        for j in range(out.shape[0]):
            out[j] += (abs(c0[j] - x0) + abs(c1[j] - x1)) + (abs(c2[j] - x2) + abs(c3[j] - x3))
    for g in range(n_fours, plain.shape[0]):
        x, c = columns[plain[g], i], columns[plain[g]][start:stop]
        for j in range(out.shape[0]):
            out[j] += abs(c[j] - x)


@njit(nogil=True, cache=True)
def _add_other(out, seen, x, column, nominal):  # type: ignore[no-untyped-def]
    """Add a nominal feature, or one with holes, and count where both cells are present."""
    if np.isnan(x):
        return
    for j in range(out.shape[0]):
        c = column[j]
        gap = np.float32(c != x) if nominal else abs(c - x)
        both = c == c  # false for NaN
        out[j] += gap if both else np.float32(0.0)
        seen[j] += np.float32(1.0) if both else np.float32(0.0)


@njit(nogil=True, cache=True)
def difference(x, z, nominal):  # type: ignore[no-untyped-def]
    """Give the difference of two cells, NaN if one is missing."""
    if np.isnan(x) or np.isnan(z):
        return np.nan
    if nominal:
        return 0.0 if x == z else 1.0
    return abs(x - z)


@njit(nogil=True, cache=True)
def exact_distance(x, z, nominal):  # type: ignore[no-untyped-def]
    """Give the distance of two rows in float64, on a grid so fine that only rounding is lost: ties stay ties."""
    total, seen = 0.0, 0
    for f in range(x.shape[0]):
        gap = difference(x[f], z[f], nominal[f])
        if gap == gap:  # false for NaN
            total += gap
            seen += 1
    return np.rint(total / seen * GRID) / GRID if seen else np.inf


@njit(nogil=True, cache=True)
def nearest(  # type: ignore[no-untyped-def]
    found, i, d, slack, low, high, skip_low, skip_high, rows, nominal, numbers, coarse, exact
):
    """Find the k rows of low … high − 1, but for skip_low … skip_high − 1 and row i, that are nearest to row i.

    They come nearest first, equally near ones in the order of `numbers`. The result is how many there are.
    """
    k, size = found.shape[0], 0
    for j in range(low, high):
        if (size == k and d[j] >= coarse[k - 1]) or j == i or d[j] >= FAR or skip_low <= j < skip_high:
            continue
        place = size if size < k else k - 1
        while place > 0 and coarse[place - 1] > d[j]:
            coarse[place] = coarse[place - 1]
            place -= 1
        coarse[place] = d[j]
        size = min(size + 1, k)
    if size == 0:
        return 0
    limit = coarse[size - 1] + slack if size == k else FAR
    size = 0
    for j in range(low, high):
        if d[j] > limit or j == i or d[j] >= FAR or skip_low <= j < skip_high:
            continue
        distance = exact_distance(rows[i], rows[j], nominal)
        place = size if size < k else k - 1
        if size == k and not _before(distance, numbers[j], exact[k - 1], numbers[found[k - 1]]):
            continue
        while place > 0 and _before(distance, numbers[j], exact[place - 1], numbers[found[place - 1]]):
            exact[place], found[place] = exact[place - 1], found[place - 1]
            place -= 1
        exact[place], found[place] = distance, j
        size = min(size + 1, k)
    return size


@njit(nogil=True, cache=True)
def _before(distance, number, other_distance, other_number):  # type: ignore[no-untyped-def]
    return distance < other_distance or (distance == other_distance and number < other_number)


@njit(nogil=True, cache=True)
def _mean_differences(mean, i, found, size, rows, nominal):  # type: ignore[no-untyped-def]
    """Give each feature's mean difference between row i and the rows found, over cells that are present."""
    for f in range(rows.shape[1]):
        total, seen = 0.0, 0
        for m in range(size):
            gap = difference(rows[i, f], rows[found[m], f], nominal[f])
            if gap == gap:  # false for NaN
                total += gap
                seen += 1
        mean[f] = total / seen if seen else 0.0


@njit(nogil=True, cache=True)
def relief_scores(  # type: ignore[no-untyped-def]
    first, last, votes, k, pooled, codes, bounds, shares, rows, columns, nominal, plain, others, numbers, slack
):
    """Sum, over rows first … last − 1, the differences to misses less those to hits, times the row's votes.

    The misses of each class count by its share among the other classes, or all are pooled.
    """
    n_rows, n_features = rows.shape
    scores, mean = np.zeros(n_features), np.empty(n_features)
    found, coarse, exact = np.empty(k, np.int64), np.empty(k, np.float32), np.empty(k)
    d, count = np.empty((QUERIES, n_rows), np.float32), np.empty(n_rows, np.float32)
    for start in range(first, last, QUERIES):
        stop = min(start + QUERIES, last)
        coarse_distances(d[: stop - start], count, start, columns, nominal, plain, others)
        for i in range(start, stop):
            if votes[i] == 0.0:
                continue
            own, row = codes[i], d[i - start]
            low, high = bounds[own], bounds[own + 1]
            size = nearest(found, i, row, slack, low, high, 0, 0, rows, nominal, numbers, coarse, exact)
            _mean_differences(mean, i, found, size, rows, nominal)
            scores -= votes[i] * mean
            if pooled:
                size = nearest(found, i, row, slack, 0, n_rows, low, high, rows, nominal, numbers, coarse, exact)
                _mean_differences(mean, i, found, size, rows, nominal)
                scores += votes[i] * mean
                continue
            for c in range(shares.shape[0]):
                if c == own or shares[c] == 0.0:
                    continue
                low, high = bounds[c], bounds[c + 1]
                size = nearest(found, i, row, slack, low, high, 0, 0, rows, nominal, numbers, coarse, exact)
                _mean_differences(mean, i, found, size, rows, nominal)
                scores += votes[i] * shares[c] / (1.0 - shares[own]) * mean
    return scores


@njit(nogil=True, cache=True)
def regression_sums(  # type: ignore[no-untyped-def]
    first, last, votes, influence, target, rows, columns, nominal, plain, others, numbers, slack
):
    """Sum, over rows first … last − 1 and their neighbors, what RReliefF needs of each feature.

    Four rows: weight of the pairs in which it is present, their difference of target, of the feature, and the product.
    """
    n_rows, n_features = rows.shape
    k = influence.shape[0]
    sums = np.zeros((4, n_features))
    found, coarse, exact = np.empty(k, np.int64), np.empty(k, np.float32), np.empty(k)
    d, count = np.empty((QUERIES, n_rows), np.float32), np.empty(n_rows, np.float32)
    for start in range(first, last, QUERIES):
        stop = min(start + QUERIES, last)
        coarse_distances(d[: stop - start], count, start, columns, nominal, plain, others)
        for i in range(start, stop):
            size = nearest(found, i, d[i - start], slack, 0, n_rows, 0, 0, rows, nominal, numbers, coarse, exact)
            whole = influence[:size].sum()
            for m in range(size):
                weight = votes[i] * influence[m] / whole
                apart = abs(target[i] - target[found[m]])
                for f in range(n_features):
                    gap = difference(rows[i, f], rows[found[m], f], nominal[f])
                    if gap == gap:  # false for NaN
                        sums[0, f] += weight
                        sums[1, f] += weight * apart
                        sums[2, f] += weight * gap
                        sums[3, f] += weight * apart * gap
    return sums
