"""The k nearest training rows of held-out rows, fold by fold, for one column more at a time.

Distances are first computed in single precision, with a bound on their error: it rules most training rows out. Those
that are left are computed in double precision, columns in order, as scikit-learn's trees do.

Arguments that the kernels share:

tests : (p, n) float64
    Test rows.
trains : (f, p, t) float64
    Training rows of each fold, `sizes[fold]` of them.
bounds : (f + 1,) int64
    Test rows bounds[k] … bounds[k + 1] − 1 belong to fold k; `folds` says the same for each row.
targets : (f, t) float64
    Class codes, or quantities.
errors : (p,) float64
    How far a number of a column may be off in single precision.
open_rows : (m, n) bool
    Rows whose answer hangs on which of several equally near rows is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LANES = 32
FAR = np.float32(3e38)
NEAR = 1e-10
"""Distances nearer to each other than this share count as equal."""
SLACK = 1e-9
"""More than rounding can add to what is lost."""
MOST = 256
"""More rows than this in reach of the k-th distance are left to scikit-learn."""


@intrinsic
def least_f32(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the smaller of two single-precision numbers, neither of them NaN."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        flags = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered("<", *args, flags=flags), *args, flags=flags)

    return types.float32(types.float32, types.float32), build


@njit(nogil=True, cache=True)
def add_squares(base, members, tests, trains, sizes, bounds):
    """Add the members' squared differences to (n, t) single-precision distances."""
    for fold in range(bounds.shape[0] - 1):
        size = sizes[fold]
        for a in range(members.shape[0]):
            train = trains[fold, members[a]]
            for i in range(bounds[fold], bounds[fold + 1]):
                x = tests[members[a], i]
                line = base[i]
                for t in range(size):
                    d = train[t] - x
                    line[t] += d * d


@njit(nogil=True, cache=True)
def reach(base, i, trains, fold, new, x, size, k, error, line, lanes, best):
    """Write the distances with one column added; return how far the k nearest can be, errors included."""
    for lane in range(LANES):
        lanes[lane] = FAR
    for a in range(k):
        best[a] = FAR
    row, width, column = np.uint64(i), np.uint64(LANES), np.uint64(new)
    where = np.uint64(fold)
    whole = np.uint64(size - size % LANES)
    for start in range(np.uint64(0), whole, width):
        for lane in range(width):
            d = trains[where, column, start + lane] - x
            total = base[row, start + lane] + d * d
            line[start + lane] = total
            lanes[lane] = least_f32(lanes[lane], total)
    for t in range(whole, np.uint64(size)):
        d = trains[where, column, t] - x
        line[t] = base[row, t] + d * d
        lanes[t - whole] = least_f32(lanes[t - whole], line[t])
    # The k-th smallest of the lanes' minima: k rows are that near at least.
    for lane in range(LANES):
        value = lanes[lane]
        if value < best[k - 1]:
            place = k - 1
            while place > 0 and best[place - 1] > value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    root = np.sqrt(np.float64(best[k - 1])) + 2.0 * error
    return root * root * 1.00001 + 1e-37


@njit(nogil=True, cache=True)
def collect(line, lanes, size, limit, rows):
    """Collect the rows within reach; −1 if they are too many."""
    n = 0
    cut = np.float32(limit)
    last, step = np.uint64(size), np.uint64(LANES)
    for lane in range(LANES):
        if lanes[lane] <= cut:
            t = np.uint64(lane)
            while t < last:
                if line[t] <= cut:
                    if n == MOST:
                        return -1
                    rows[n] = t
                    n += 1
                t += step
    return n


@njit(nogil=True, cache=True)
def agree(rows, n, targets, fold):
    """Say whether all rows have one target, so that it does not matter which of them are the nearest."""
    first = targets[fold, rows[0]]
    a = 1
    while a < n and targets[fold, rows[a]] == first:
        a += 1
    return a == n


@njit(nogil=True, cache=True)
def order(tests, trains, fold, columns, i, found, rows, n):
    """Put rows in the order of their exact distances."""
    for a in range(n):
        t = rows[a]
        total = 0.0
        for b in range(columns.shape[0]):
            d = tests[columns[b], i] - trains[fold, columns[b], t]
            total += d * d
        place = a
        while place > 0 and found[place - 1] > total:
            found[place] = found[place - 1]
            rows[place] = rows[place - 1]
            place -= 1
        found[place] = total
        rows[place] = t


@njit(nogil=True, cache=True)
def settle_classes(found, rows, n, k, targets, fold, near, tied, out, q, i):
    """Write the shares of the classes among the k nearest; say whether the winner is the same whatever a tie does."""
    c = out.shape[2]
    near[:], tied[:] = 0, 0
    edge = found[k - 1]
    width = NEAR * edge
    n_near, n_tied = 0, 0
    for a in range(n):
        kind = int(targets[fold, rows[a]])
        if found[a] < edge - width:
            near[kind] += 1
            n_near += 1
        elif found[a] <= edge + width:
            tied[kind] += 1
            n_tied += 1
    left = k - n_near
    for j in range(c):
        out[q, i, j] = near[j] + tied[j] * left / n_tied
    winner = 0
    for j in range(1, c):
        if out[q, i, j] > out[q, i, winner]:
            winner = j
    kinds = 0
    for j in range(c):
        kinds += tied[j] > 0
    for j in range(c):
        out[q, i, j] /= k
    if n_tied == left or kinds == 1:
        return 2
    # With the fewest votes that it can get, and the others with the most.
    fewest = near[winner] + max(0, left - (n_tied - tied[winner]))
    for j in range(c):
        most = near[j] + min(tied[j], left)
        if j != winner and (most > fewest or (most == fewest and j < winner)):
            return 0
    return 1


@njit(nogil=True, cache=True)
def settle_quantities(found, rows, n, k, targets, fold, out, q, i):
    """Write the mean of the k nearest; say whether it is the same whatever a tie does."""
    width = NEAR * found[k - 1]
    total = 0.0
    for a in range(k):
        total += targets[fold, rows[a]]
    out[q, i, 0] = total / k
    return 0 if n > k and found[k] <= found[k - 1] + width else 2


@njit(nogil=True, cache=True)
def gaps(base, sizes, folds, targets, k, error, classes, gap, out):
    """Write how much farther the next row is than the k nearest, at least, and what these say: (n, c).

    A column whose squared differences are all smaller than that cannot change which rows are the nearest.
    """
    best, rows = np.empty(k + 1, np.float32), np.empty(k + 1, np.int64)
    for i in range(base.shape[0]):
        fold = folds[i]
        for a in range(k + 1):
            best[a] = FAR
        for t in range(sizes[fold]):
            value = base[i, t]
            if value < best[k]:
                place = k
                while place > 0 and best[place - 1] > value:
                    best[place] = best[place - 1]
                    rows[place] = rows[place - 1]
                    place -= 1
                best[place] = value
                rows[place] = t
        inner = np.sqrt(np.float64(best[k - 1])) * 1.000001 + 2.0 * error
        outer = max(np.sqrt(np.float64(best[k])) * 0.999999 - 2.0 * error, 0.0)
        gap[i] = outer * outer - inner * inner
        out[i, :] = 0.0
        for a in range(k):
            if classes:
                out[i, int(targets[fold, rows[a]])] += 1.0
            else:
                out[i, 0] += targets[fold, rows[a]]
        for j in range(out.shape[1]):
            out[i, j] /= k


@njit(nogil=True, cache=True)
def vote(
    base, members, added, tests, tests_32, trains, trains_32, sizes, folds, targets, errors, k, classes, shares, visits,
    y, costs, most, lows, highs, out, open_rows, lost,
):  # fmt: skip
    """Vote with the members and each of `added`, one at a time: (q, n, c) shares of classes, or means.

    `folds` are the test rows' folds; `shares` says that shares count, not only which class has most. Rows are visited
    in the order of `visits`. Every row whose class `y` surely loses costs something, `lost` in sum; beyond `most`, or
    what another column lost in the end, a column is given up, and what it lost so far is written with a minus sign.
    `lows` and `highs` are the ends of each column in each fold, (f, p).
    """
    width = trains.shape[2]
    line, lanes, best = np.empty(width, np.float32), np.empty(LANES, np.float32), np.empty(k, np.float32)
    found, rows = np.empty(MOST), np.empty(MOST, np.int64)
    near, tied = np.zeros(max(out.shape[2], 1), np.int64), np.zeros(max(out.shape[2], 1), np.int64)
    columns = np.empty(members.shape[0] + 1, np.int64)
    squared = 0.0
    for a in range(members.shape[0]):
        squared += errors[members[a]] ** 2
    gap, before = np.empty(base.shape[0]), np.empty((base.shape[0], out.shape[2]))
    if members.shape[0]:
        gaps(base, sizes, folds, targets, k, np.sqrt(squared), classes, gap, before)
    else:
        gap[:] = -1.0
    for q in range(added.shape[0]):
        new = added[q]
        place = 0
        for a in range(members.shape[0]):
            if members[a] < new:
                place = a + 1
        columns[:place] = members[:place]
        columns[place] = new
        columns[place + 1 :] = members[place:]
        error = np.sqrt(squared + errors[new] ** 2)
        total, is_open, given_up = 0.0, False, False
        for visit in range(visits.shape[0]):
            i = visits[visit]
            fold = folds[i]
            x = tests_32[new, i]
            sure, n = 2, 0
            farthest = max(tests[new, i] - lows[fold, new], highs[fold, new] - tests[new, i])
            unchanged = farthest * farthest < gap[i]
            if not unchanged:
                limit = reach(base, i, trains_32, fold, new, x, sizes[fold], k, error, line, lanes, best)
                n = collect(line, lanes, sizes[fold], limit, rows)
            if unchanged:
                out[q, i, :] = before[i]
            elif n < k:
                sure = 0
            elif agree(rows, n, targets, fold):
                if classes:
                    out[q, i, :] = 0.0
                    out[q, i, int(targets[fold, rows[0]])] = 1.0
                else:
                    out[q, i, 0] = targets[fold, rows[0]]
            else:
                order(tests, trains, fold, columns, i, found, rows, n)
                if classes:
                    sure = settle_classes(found, rows, n, k, targets, fold, near, tied, out, q, i)
                else:
                    sure = settle_quantities(found, rows, n, k, targets, fold, out, q, i)
            if sure < (2 if shares else 1):
                open_rows[q, i] = True
                is_open = True
            elif costs[i] > 0.0:
                winner = 0
                for j in range(1, out.shape[2]):
                    if out[q, i, j] > out[q, i, winner]:
                        winner = j
                if winner != y[i]:
                    total += costs[i]
                    if total > most:
                        given_up = True
                        break
        lost[q] = -total if given_up else total
        if not is_open and not given_up:
            most = min(most, total + SLACK)
