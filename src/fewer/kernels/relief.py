"""Relief: nearest rows of each class, and how far apart each feature is from them.

Distances are mean absolute differences over the features that both rows have. A first pass takes them coarsely, numeric
features in steps of 1 / 4095 as 16-bit integers (sixteen at a time in a vector), over blocks of rows that stay in the
cache; what its rounding leaves undecided is decided by a second one in float64 over the few rows near the k-th.

Relief on small tables, in one short function: `_relief` pays on large ones, but compiles for six times as long.

SURF and MultiSURF: rows within a radius, and how far apart each feature is from them.

Distances are mean absolute differences over the features that both rows have. Where no cell is missing and no feature
nominal, they are taken in whole numbers first: features in steps of 2⁻ᵇ, whose sums are exact. A whole-number distance
is off by one step at most, and so are the mean and the standard deviation of many; what that leaves undecided is
decided in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import add_16, add_32, gap_16, gap_32

BLOCK = 1024
QUERIES = 16
FAR = np.float32(1e30)
GRID = 2.0**32
STEPS = 4095
STRIDE = 32


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
    numbers, groups : (n,) int64
        Among equally near rows the smaller number comes first; rows of one group are never each other's neighbors.
    slack : float
        How far coarse distances can be off.
    """

    rows: Any
    steps: Any
    columns: Any
    nominal: Any
    others: Any
    numbers: Any
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
    """Room: coarse distances of some queries, sums and counts (n,), minima of stretches, the k nearest."""

    d: Any
    total: Any
    count: Any
    minima: Any
    found: Any
    coarse: Any
    exact: Any


@inner()
def scratch_for(n_rows, k):
    """Make the arrays that queries need."""
    return ReliefRoom(
        np.empty((QUERIES, n_rows), np.float32), np.empty(n_rows, np.int32), np.empty(n_rows, np.float32),
        np.empty(n_rows // STRIDE + 1, np.float32), np.empty(k, np.int64), np.empty(k, np.float32), np.empty(k),
    )  # fmt: skip


@inner()
def coarse_distances(d, first, scratch, table):
    """Write the distances of rows first, first + 1, … to all rows into d, in float32."""
    steps, others, total, count = table.steps, table.others, scratch.total, scratch.count
    n_plain, n_rows = steps.shape[0], d.shape[1]
    unit = np.float32(1.0 / STEPS)
    share = np.float32(1.0 / (STEPS * max(n_plain, 1)))
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        for q in range(d.shape[0]):
            out, sums = d[q][start:stop], total[start:stop]
            sums[:] = 0
            _add_plain(sums, first + q, start, stop, steps)
            if others.shape[0] == 0:
                for j in range(out.shape[0]):
                    out[j] = np.float32(sums[j]) * share
                continue
            seen = count[start:stop]
            seen[:] = np.float32(n_plain)
            for j in range(out.shape[0]):
                out[j] = np.float32(sums[j]) * unit
            for g in range(others.shape[0]):
                _add_other(
                    out, seen, table.columns[g, first + q], table.columns[g][start:stop], table.nominal[others[g]]
                )
            for j in range(out.shape[0]):
                out[j] = out[j] / seen[j] if seen[j] > 0 else FAR


@inner()
def _add_plain(sums, i, start, stop, steps):
    """Add complete numeric features, eight at a time: eight differences fit into 16 bits (8 · 4095 < 2¹⁵)."""
    n_eights = steps.shape[0] // 8 * 8
    for g in range(0, n_eights, 8):
        x0, x1, x2, x3 = steps[g, i], steps[g + 1, i], steps[g + 2, i], steps[g + 3, i]
        x4, x5, x6, x7 = steps[g + 4, i], steps[g + 5, i], steps[g + 6, i], steps[g + 7, i]
        c0, c1 = steps[g][start:stop], steps[g + 1][start:stop]
        c2, c3 = steps[g + 2][start:stop], steps[g + 3][start:stop]
        c4, c5 = steps[g + 4][start:stop], steps[g + 5][start:stop]
        c6, c7 = steps[g + 6][start:stop], steps[g + 7][start:stop]
        for j in range(sums.shape[0]):
            a = add_16(add_16(gap_16(c0[j], x0), gap_16(c1[j], x1)), add_16(gap_16(c2[j], x2), gap_16(c3[j], x3)))
            b = add_16(add_16(gap_16(c4[j], x4), gap_16(c5[j], x5)), add_16(gap_16(c6[j], x6), gap_16(c7[j], x7)))
            sums[j] += np.int32(add_16(a, b))
    for g in range(n_eights, steps.shape[0]):
        x, c = steps[g, i], steps[g][start:stop]
        for j in range(sums.shape[0]):
            sums[j] += np.int32(gap_16(c[j], x))


@inner()
def _add_other(out, seen, x, column, nominal):
    """Add a nominal feature, or one with missing cells, and count where both cells are present."""
    if np.isnan(x):
        return
    for j in range(out.shape[0]):
        c = column[j]
        gap = np.float32(c != x) if nominal else abs(c - x)
        both = c == c  # false for NaN
        out[j] += gap if both else np.float32(0.0)
        seen[j] += np.float32(1.0) if both else np.float32(0.0)


@inner()
def difference(x, z, nominal):
    """Return the difference of two cells, NaN if one is missing."""
    if np.isnan(x) or np.isnan(z):
        return np.nan
    if nominal:
        return 0.0 if x == z else 1.0
    return abs(x - z)


@inner(fastmath={"reassoc"})
def exact_distance(x, z, nominal, plain):
    """Return the distance of two rows in float64, on a grid so fine that only rounding is lost: ties stay ties."""
    total, seen = 0.0, x.shape[0]
    if plain:
        for f in range(x.shape[0]):
            total += abs(x[f] - z[f])
    else:
        seen = 0
        for f in range(x.shape[0]):
            gap = difference(x[f], z[f], nominal[f])
            if gap == gap:  # false for NaN
                total += gap
                seen += 1
    return np.rint(total / seen * GRID) / GRID if seen else np.inf


@inner()
def nearest(i, d, low, high, scratch, table):
    """Find the k rows (scratch.found) of low … high − 1 that are nearest to row i by d, if nearer than FAR.

    They come nearest first, equally near ones in the order of `numbers`. The result is how many there are. A stretch of
    rows whose minimum is too far is not looked at: the k-th smallest minimum already bounds the k-th distance.
    """
    found, minima, coarse, exact, numbers = scratch.found, scratch.minima, scratch.coarse, scratch.exact, table.numbers
    k, plain = found.shape[0], table.others.shape[0] == 0
    n_stretches = _minima_of_stretches(minima, d[low:high])
    limit = FAR
    if n_stretches >= k:
        limit = np.nextafter(_kth_smallest(coarse, minima[:n_stretches]), FAR)
    size = 0
    for s in range(n_stretches):
        if minima[s] < limit:
            start = low + s * STRIDE
            for j in range(start, min(start + STRIDE, high)):
                if d[j] < limit:
                    size = _insert(coarse, size, d[j])
                    limit = coarse[k - 1] if size == k else limit
    if size == 0:
        return 0
    limit = min(limit + table.slack, FAR)
    size = 0
    for s in range(n_stretches):
        if minima[s] >= limit:
            continue
        start = low + s * STRIDE
        for j in range(start, min(start + STRIDE, high)):
            if d[j] >= limit:
                continue
            distance = exact_distance(table.rows[i], table.rows[j], table.nominal, plain)
            if size == k and not _before(distance, numbers[j], exact[k - 1], numbers[found[k - 1]]):
                continue
            place = size if size < k else k - 1
            while place > 0 and _before(distance, numbers[j], exact[place - 1], numbers[found[place - 1]]):
                exact[place], found[place] = exact[place - 1], found[place - 1]
                place -= 1
            exact[place], found[place] = distance, j
            size = min(size + 1, k)
    return size


@inner()
def _minima_of_stretches(minima, d):
    """Write the smallest distance of each stretch of rows; give the number of stretches.

    Floating-point numbers from 0 on are ordered as their bits are, and smallest whole numbers are found in vectors.
    """
    bits, out = d.view(np.int32), minima.view(np.int32)
    n_stretches = (d.shape[0] + STRIDE - 1) // STRIDE
    for s in range(n_stretches):
        part = bits[s * STRIDE : (s + 1) * STRIDE]
        smallest = part[0]
        for j in range(part.shape[0]):
            smallest = min(smallest, part[j])
        out[s] = smallest
    return n_stretches


@inner()
def _kth_smallest(smallest, values):
    """Return the k-th smallest of k values or more, k being the length of `smallest`."""
    size = 0
    for value in values:
        if size < smallest.shape[0] or value < smallest[-1]:
            size = _insert(smallest, size, value)
    return smallest[-1]


@inner()
def _insert(smallest, size, value):
    """Put a value among the smallest so far, in order; the largest of them falls out if they are enough."""
    place = size if size < smallest.shape[0] else smallest.shape[0] - 1
    while place > 0 and smallest[place - 1] > value:
        smallest[place] = smallest[place - 1]
        place -= 1
    smallest[place] = value
    return min(size + 1, smallest.shape[0])


@inner()
def _before(distance, number, other_distance, other_number):
    return distance < other_distance or (distance == other_distance and number < other_number)


@inner()
def _mean_differences(mean, i, found, size, table):
    """Return each feature's mean difference between row i and the rows found, over cells that are present."""
    rows, nominal = table.rows, table.nominal
    if table.others.shape[0] == 0:
        mean[:] = 0.0
        x = rows[i]
        for m in range(size):
            z = rows[found[m]]
            for f in range(mean.shape[0]):
                mean[f] += abs(x[f] - z[f])
        mean /= max(size, 1)
        return
    for f in range(rows.shape[1]):
        total, seen = 0.0, 0
        for m in range(size):
            gap = difference(rows[i, f], rows[found[m], f], nominal[f])
            if gap == gap:  # false for NaN
                total += gap
                seen += 1
        mean[f] = total / seen if seen else 0.0


@inner()
def _put_group_far(row, i, groups):
    """Put row i and the others of its group out of reach."""
    own = groups[i]
    for j in range(row.shape[0]):
        if groups[j] == own:
            row[j] = FAR


@inner()
def _add_nearest(scores, mean, weight, i, d, low, high, scratch, table):
    """Add the mean differences to the nearest of rows low … high − 1, times a weight."""
    size = nearest(i, d, low, high, scratch, table)
    _mean_differences(mean, i, scratch.found, size, table)
    for f in range(scores.shape[0]):
        scores[f] += weight * mean[f]


@kernel()
def relief_scores(first, last, k, classes, table):
    """Sum, over rows first … last − 1, the differences to misses less those to hits, times the row's votes.

    The misses of each class count by its share among the other classes, or all are pooled.
    """
    n_rows, n_features = table.rows.shape
    scores, mean, scratch = np.zeros(n_features), np.empty(n_features), scratch_for(n_rows, k)
    votes, bounds, shares = classes.votes, classes.bounds, classes.shares
    for start in range(first, last, QUERIES):
        stop = min(start + QUERIES, last)
        coarse_distances(scratch.d[: stop - start], start, scratch, table)
        for i in range(start, stop):
            if votes[i] == 0.0:
                continue
            own, row = classes.codes[i], scratch.d[i - start]
            _put_group_far(row, i, table.groups)
            # One call for all, own class first: each call would be compiled anew.
            for turn in range(2 if classes.pooled else shares.shape[0] + 1):
                c = own if turn == 0 else turn - 1
                low, high, weight = bounds[c], bounds[c + 1], -votes[i]
                if turn > 0 and classes.pooled:
                    row[bounds[own] : bounds[own + 1]] = FAR
                    low, high, weight = bounds[0], bounds[0] + n_rows, votes[i]
                elif turn > 0:
                    if c == own or shares[c] <= 0.0:
                        continue
                    weight = votes[i] * shares[c] / (1.0 - shares[own])
                _add_nearest(scores, mean, weight, i, row, low, high, scratch, table)
    return scores


@kernel()
def listed_scores(first, last, lists, classes, table):
    """Sum as `relief_scores`, of nearest rows that are known: lists (n, c, k), −1 where there is none.

    Where misses are pooled, lists[:, 0] are the hits and lists[:, 1] the misses.
    """
    n_features = table.rows.shape[1]
    scores, mean = np.zeros(n_features), np.empty(n_features)
    votes, shares = classes.votes, classes.shares
    for i in range(first, last):
        if votes[i] == 0.0:
            continue
        own = classes.codes[i]
        _add_listed(scores, mean, -votes[i], i, lists[i, 0 if classes.pooled else own], table)
        if classes.pooled:
            _add_listed(scores, mean, votes[i], i, lists[i, 1], table)
            continue
        for c in range(shares.shape[0]):
            if c != own and shares[c] > 0.0:
                weight = votes[i] * shares[c] / (1.0 - shares[own])
                _add_listed(scores, mean, weight, i, lists[i, c], table)
    return scores


@inner()
def _size_of(found):
    """Count the rows of a list."""
    size = 0
    while size < found.shape[0] and found[size] >= 0:
        size += 1
    return size


@inner()
def _add_listed(scores, mean, weight, i, found, table):
    """Add the mean differences to the rows of a list, times a weight."""
    _mean_differences(mean, i, found, _size_of(found), table)
    for f in range(scores.shape[0]):
        scores[f] += weight * mean[f]


@kernel()
def regression_sums(first, last, votes, influence, target, table):
    """Sum, over rows first … last − 1 and their neighbors, what RReliefF needs of each feature.

    Four rows: weight of the pairs in which it is present, their difference of target, of the feature, and the product.
    """
    rows = table.rows
    n_rows, n_features = rows.shape
    sums, scratch = np.zeros((4, n_features)), scratch_for(n_rows, influence.shape[0])
    for start in range(first, last, QUERIES):
        stop = min(start + QUERIES, last)
        coarse_distances(scratch.d[: stop - start], start, scratch, table)
        for i in range(start, stop):
            row = scratch.d[i - start]
            _put_group_far(row, i, table.groups)
            size = nearest(i, row, 0, n_rows, scratch, table)
            _add_pairs(sums, i, scratch.found, size, votes, influence, target, table)
    return sums


@kernel()
def listed_sums(first, last, lists, votes, influence, target, table):
    """Sum as `regression_sums`, of nearest rows that are known: lists (n, k), −1 where there is none."""
    sums = np.zeros((4, table.rows.shape[1]))
    for i in range(first, last):
        _add_pairs(sums, i, lists[i], _size_of(lists[i]), votes, influence, target, table)
    return sums


@inner()
def _add_pairs(sums, i, found, size, votes, influence, target, table):
    """Add what row i and the rows found say."""
    rows = table.rows
    whole = 0.0
    for m in range(size):
        whole += influence[m]
    for m in range(size):
        j = found[m]
        weight = votes[i] * influence[m] / whole
        apart = abs(target[i] - target[j])
        for f in range(rows.shape[1]):
            gap = difference(rows[i, f], rows[j, f], table.nominal[f])
            if gap == gap:  # false for NaN
                sums[0, f] += weight
                sums[1, f] += weight * apart
                sums[2, f] += weight * gap
                sums[3, f] += weight * apart * gap


@inner()
def _small_distances(d, seen, i, columns, nominal, whole):
    """Write the distances of row i to all rows, columns (p, n) summed one after the other: whole ones, then others."""
    n_fours = whole // 4 * 4
    d[:] = 0.0
    for f in range(0, n_fours, 4):
        c0, c1, c2, c3 = columns[f], columns[f + 1], columns[f + 2], columns[f + 3]
        x0, x1, x2, x3 = c0[i], c1[i], c2[i], c3[i]
        for j in range(d.shape[0]):
            d[j] = (((d[j] + abs(c0[j] - x0)) + abs(c1[j] - x1)) + abs(c2[j] - x2)) + abs(c3[j] - x3)
    seen[:] = n_fours
    for f in range(n_fours, columns.shape[0]):
        column, x, is_code = columns[f], columns[f][i], nominal[f] > 0
        for j in range(d.shape[0]):
            gap = abs(column[j] - x)
            known = 1.0 if gap == gap else 0.0  # no cell is missing
            gap = (1.0 if gap > 0.0 else 0.0) if is_code else gap
            d[j] += gap if known > 0.0 else 0.0
            seen[j] += known
    for j in range(d.shape[0]):
        d[j] = np.rint(d[j] / seen[j] * GRID) / GRID if seen[j] > 0.0 else np.inf


@kernel()
def small_scores(first, last, classes, table, k, scores):
    """Add, over rows first … last − 1, the differences to misses less those to hits, times the row's votes.

    See `relief_scores` for what `classes` are, without the last entry: misses of each class count by themselves.
    `table` is (columns (p, n), the same as rows, nominal, whole, groups); columns begin with `whole` numeric ones
    without missing cells. Of equally near rows the first counts.
    """
    votes, codes, bounds, shares = classes
    columns, rows, nominal, whole, groups = table
    n_features, n = columns.shape
    d, seen, near, found = np.empty(n), np.empty(n), np.empty(k), np.empty(k, np.int64)
    totals = np.empty(whole)
    for i in range(first, last):
        _small_distances(d, seen, i, columns, nominal, whole)
        for turn in range(shares.shape[0] + 1):  # own class first
            own, c = codes[i], codes[i] if turn == 0 else turn - 1
            weight = -votes[i] if turn == 0 else votes[i] * shares[c] / (1.0 - shares[own])
            if weight == 0.0 or (turn > 0 and c == own):
                continue
            size, limit = 0, np.inf
            for j in range(bounds[c], bounds[c + 1]):
                if d[j] >= limit or groups[j] == groups[i]:
                    continue
                place = min(size, k - 1)
                size = place + 1
                while place > 0 and d[j] < near[place - 1]:
                    near[place], found[place] = near[place - 1], found[place - 1]
                    place -= 1
                near[place], found[place] = d[j], j
                limit = near[k - 1] if size == k else np.inf
            x, totals[:] = rows[i], 0.0
            for m in range(size):
                z = rows[found[m]]
                for f in range(whole):
                    totals[f] += abs(x[f] - z[f])
            for f in range(whole):
                scores[f] += weight * (totals[f] / size) if size else 0.0
            for f in range(whole, n_features):
                column, total, known = columns[f], 0.0, 0
                for m in range(size):
                    gap = abs(column[i] - column[found[m]])
                    if gap == gap:
                        total += 1.0 if nominal[f] and gap > 0.0 else gap
                        known += 1
                scores[f] += weight * (total / known) if known else 0.0


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


@inner(fastmath={"reassoc"})
def mean_difference(x, z):
    """Return the mean absolute difference of two rows without missing cells."""
    total = 0.0
    for f in range(x.shape[0]):
        total += abs(x[f] - z[f])
    return total / x.shape[0]


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
            d[j] = mean_difference(rows[i], rows[j])
        radius = radius_of(d, i, groups)
    kept = 0
    for m in range(size):
        j = found[m]
        if whole[j] < sure or mean_difference(rows[i], rows[j]) < radius:
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
