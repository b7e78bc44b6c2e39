"""Sums over rows that merge: class moments, bin numbers, joint counts.

Moments are taken about a shift m near the mean: S₀ = Σ w, S₁ = Σ w (x − m) and S₂ = Σ w (x − m)². The mean is then
m + S₁ / S₀ and the sum of squared deviations S₂ − S₁² / S₀, of which a large mean takes no digits. Sums of chunks are
added; counts of rows are whole numbers, so that neither chunks nor their order change them.
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import kernel

SUMS = {"reassoc", "contract", "arcp"}  # Sums may be taken in any order, so that they are vectorised; NaN stays NaN.


@kernel(fastmath=SUMS)
def add_class_moments(X, shares, shift, mass, first, second):
    """Add the rows of a chunk to each class's weight and first two moments about a shift; missing cells are left out.

    X : (n, p) float64, best column by column
    shares : (n_classes, n) float64, the weight of each row in its class, 0 in the others
    shift, mass, first, second : (p, n_classes) float64
    """
    n, p = X.shape
    # The rows' weights of a block stay in the cache while all columns pass.
    block = 2048
    for low in range(0, n, block):
        high = min(low + block, n)
        for f in range(p):
            column = X[low:high, f]
            for c in range(shares.shape[0]):
                share, about = shares[c, low:high], shift[f, c]
                m, s, q = 0.0, 0.0, 0.0
                for i in range(column.shape[0]):
                    x = column[i]
                    # Only NaN is not equal to itself; selects instead of branches keep the loop vectorised.
                    there = x == x
                    d = x - about if there else 0.0
                    w = share[i] if there else 0.0
                    m += w
                    s += w * d
                    q += w * d * d
                mass[f, c] += m
                first[f, c] += s
                second[f, c] += q


@kernel(fastmath=SUMS)
def add_class_moments_by_row(X, y, weights, shift, first, second):
    """Do the same for a table row by row without missing cells.

    X : (n, p) float64, row by row; y : (n,) int64
    shift, first, second : (n_classes, p) float64
    """
    n, p = X.shape
    # Row after row: memory is read on, which for 20 to 200 columns is two to four times as fast as class after class.
    for i in range(n):
        w, row, about, sums, squares = weights[i], X[i], shift[y[i]], first[y[i]], second[y[i]]
        for f in range(p):
            x = row[f] - about[f]
            sums[f] += w * x
            squares[f] += w * x * x


@kernel(fastmath=SUMS)
def add_class_sums_by_row(X, y, weights, first):
    """Do the same for the first moments alone, about zero."""
    n, p = X.shape
    for i in range(n):
        w, row, sums = weights[i], X[i], first[y[i]]
        for f in range(p):
            sums[f] += w * row[f]


@kernel()
def add_sparse_moments(table, y, weights, sums, low, high):
    """Do the same for the stored cells of a sparse table, column by column, about zero; missing ones take mass away.

    table : starts, rows, data; compressed by columns
    y : (n,) int64; sums : mass, first and second moments, each (p, n_classes) float64
    low, high : (p,) float64, cells that are not stored being zeros
    """
    starts, rows, data = table
    mass, first, second = sums
    for f in range(mass.shape[0]):
        least, most = low[f], high[f]
        if starts[f + 1] - starts[f] < y.shape[0]:
            least, most = min(least, 0.0), max(most, 0.0)
        for k in range(starts[f], starts[f + 1]):
            x, row = data[k], rows[k]
            c, w = y[row], weights[row]
            if x == x:
                first[f, c] += w * x
                second[f, c] += w * x * x
                least, most = min(least, x), max(most, x)
            else:
                mass[f, c] -= w
        low[f], high[f] = least, most


@kernel()
def add_sparse_moments_by_row(table, y, weights, sums):
    """Do the same for a table compressed by rows, without missing cells and ranges: the same additions in their order.

    To turn such a table takes longer than to add it up. What belongs to a column lies together.

    table : starts, columns, data
    sums : (p, 2 n_classes) float64: the first and the second moments in each class
    """
    starts, columns, data = table
    flat, width, n_classes = sums.reshape(-1), np.uint64(sums.shape[1]), np.uint64(sums.shape[1] // 2)
    for i in range(y.shape[0]):
        w, c = weights[i], np.uint64(y[i])
        for k in range(starts[i], starts[i + 1]):
            x, first = data[np.uint64(k)], np.uint64(columns[np.uint64(k)]) * width + c
            flat[first] += w * x
            flat[first + n_classes] += w * x * x


@kernel()
def add_class_moments_by_code(X, y, weights, shift, mass, first, second):
    """Do the same for many classes, each row by its code.

    y : (n,) int64, from 0 to n_classes − 1
    """
    n, p = X.shape
    n_classes = mass.shape[1]
    sums = np.empty((n_classes, 3))
    for f in range(p):
        sums[:] = 0.0
        column, about = X[:, f], shift[f]
        for i in range(n):
            x = column[i]
            if x == x:
                c, w = y[i], weights[i]
                d = x - about[c]
                sums[c, 0] += w
                sums[c, 1] += w * d
                sums[c, 2] += w * d * d
        for c in range(n_classes):
            mass[f, c] += sums[c, 0]
            first[f, c] += sums[c, 1]
            second[f, c] += sums[c, 2]


@kernel(fastmath=SUMS)
def add_target_moments(X, y, weights, shift, y_shift, sums):
    """Add the rows of a chunk to each column's joint moments with the target, over the column's present cells.

    y : (n,) float64
    sums : (p, 6) float64: weight, x, x², y, y², x·y, all about the shifts
    """
    n, p = X.shape
    block = 2048
    for low in range(0, n, block):
        high = min(low + block, n)
        target, row_weights = y[low:high], weights[low:high]
        for f in range(p):
            column, about = X[low:high, f], shift[f]
            m = sx = sxx = sy = syy = sxy = 0.0
            for i in range(column.shape[0]):
                x = column[i]
                there = x == x
                d = x - about if there else 0.0
                w = row_weights[i] if there else 0.0
                t = target[i] - y_shift
                m += w
                sx += w * d
                sxx += w * d * d
                sy += w * t
                syy += w * t * t
                sxy += w * d * t
            sums[f, 0] += m
            sums[f, 1] += sx
            sums[f, 2] += sxx
            sums[f, 3] += sy
            sums[f, 4] += syy
            sums[f, 5] += sxy


@kernel()
def add_levels(X, most, values, n_values):
    """Keep the distinct values of each column as long as they are at most `most`; more are only counted as `most` + 1.

    values : (p, most) float64, the first n_values[f] of each row filled
    n_values : (p,) int64
    """
    n, p = X.shape
    for f in range(p):
        known = n_values[f]
        if known > most:
            continue
        column, mine = X[:, f], values[f]
        last = np.nan
        for i in range(n):
            x = column[i]
            if np.isnan(x) or x == last:
                continue
            last = x
            new = True
            for k in range(known):
                if mine[k] == x:
                    new = False
                    break
            if new:
                if known == most:
                    known = most + 1
                    break
                mine[known] = x
                known += 1
        n_values[f] = known


@kernel()
def code_columns(X, columns, edges, n_edges, nominal, levels, codes):
    """Write the bin of each cell: how many edges it reaches, a nominal cell as it is, a missing one as the last level.

    columns : (q,) int64, which columns of X
    edges : (p, most) float64, the first n_edges[f] of each row filled, ascending
    codes : (q, n) uint16
    """
    n = X.shape[0]
    for place in range(columns.shape[0]):
        f = columns[place]
        column, out, mine = X[:, f], codes[place], edges[f][: n_edges[f]]
        missing = np.uint16(levels[f] - 1)
        if nominal[f]:
            for i in range(n):
                x = column[i]
                out[i] = missing if np.isnan(x) else np.uint16(x)
        # A few edges: one vectorised pass for each beats a search for each cell.
        elif mine.shape[0] <= 32:
            out[:] = 0
            for k in range(mine.shape[0]):
                edge = mine[k]
                for i in range(n):
                    out[i] += column[i] >= edge
            for i in range(n):
                if np.isnan(column[i]):
                    out[i] = missing
        else:
            for i in range(n):
                x = column[i]
                out[i] = missing if np.isnan(x) else np.uint16(np.searchsorted(mine, x, side="right"))


@kernel()
def count_with(codes, levels, starts, other, n_other, weights, counts):
    """Add the rows of a chunk to the joint counts of each column and one other code.

    counts : flat float64; column f's (levels[f], n_other) table begins at starts[f]
    """
    n = other.shape[0]
    for f in range(codes.shape[0]):
        table = counts[starts[f] : starts[f] + levels[f] * n_other]
        code = codes[f]
        for i in range(n):
            table[np.int64(code[i]) * n_other + other[i]] += weights[i]


@kernel()
def count_pairs(codes, levels, starts, target, n_target, weights, counts):
    """Add the rows of a chunk to the joint counts of each pair of columns f < s with the target.

    counts : flat float64; the (levels[s], n_target, levels[f]) table of a pair begins at starts[s (s − 1) / 2 + f]
    """
    q, n = codes.shape
    block = 4096
    both = np.empty(block, dtype=np.int64)
    for low in range(0, n, block):
        size = min(block, n - low)
        # A block of rows stays in the cache while all pairs pass.
        for s in range(1, q):
            for i in range(size):
                both[i] = np.int64(codes[s, low + i]) * n_target + target[low + i]
            for f in range(s):
                begin = starts[s * (s - 1) // 2 + f]
                wide = levels[f]
                table = counts[begin : begin + levels[s] * n_target * wide]
                code = codes[f][low : low + size]
                row_weights = weights[low : low + size]
                for i in range(size):
                    table[both[i] * wide + code[i]] += row_weights[i]


@kernel()
def mix(keys, seed):
    """Turn row numbers into numbers that look drawn at random (SplitMix64), the same wherever they are computed."""
    out = np.empty(keys.shape[0], dtype=np.uint64)
    for i in range(keys.shape[0]):
        z = keys[i] * np.uint64(0x9E3779B97F4A7C15) + seed
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] = z ^ (z >> np.uint64(31))
    return out


@kernel()
def gather_shifted(X, order, columns, shift, out, about, gaps):
    """Write some columns less their shift, rows in another order and missing cells as 0, and what they range over.

    out : (n, q) float64, best column by column
    about : (q, 4) float64, added to: present cells, their sum about the shift, least, most
    gaps : (q,) int64, set to how many cells are missing
    """
    n = order.shape[0]
    for place in range(columns.shape[0]):
        f = columns[place]
        column, target, middle = X[:, f], out[:, place], shift[place]
        present, total, least, most = 0.0, 0.0, about[place, 2], about[place, 3]
        for i in range(n):
            x = column[order[i]]
            if np.isnan(x):
                target[i] = 0.0
            else:
                d = x - middle
                target[i] = d
                present += 1.0
                total += d
                least, most = min(least, x), max(most, x)
        about[place, 0] += present
        about[place, 1] += total
        about[place, 2], about[place, 3] = least, most
        gaps[place] = n - np.int64(present)


@kernel()
def gather_scaled(X, rows, columns, middle, spread, most, starts, values, out):
    """Write some columns in spreads from their middle, cut off at both ends, missing cells as 0.

    starts, values : where the values of a column's levels begin, or -1 where its cells are numbers; these values
    out : (n, q) float64, best column by column
    """
    for place in range(columns.shape[0]):
        column, target, start = X[:, columns[place]], out[:, place], starts[place]
        for i in range(rows.shape[0]):
            x = column[rows[i]]
            if start >= 0 and not np.isnan(x):
                x = values[start + np.int64(x)]
            z = (x - middle[place]) / spread[place]
            target[i] = 0.0 if np.isnan(z) else min(max(z, -most), most)
