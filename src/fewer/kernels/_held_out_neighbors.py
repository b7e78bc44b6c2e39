"""The k nearest training rows of held-out rows, fold by fold, for one column more at a time.

Distances are first computed in single precision, with a bound on their error: it rules most training rows out. Those
that are left are computed in double precision, columns in order, as scikit-learn's trees do.

Arguments that the kernels share: `i` is a test row, `fold` its fold, `q` the place of a column among those added,
`members` the columns that are there already; `base` holds the (n, t) single-precision squared distances of these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fewer.kernels._compiling import inner
from fewer.kernels._intrinsics import least_float
from fewer.problem import BoolArray, FloatArray, IntArray

LANES = 32
FAR = np.float32(3e38)
NEAR = 1e-10
"""Distances nearer to each other than this share count as equal."""
SLACK = 1e-9
"""More than rounding can add to what is lost."""
MOST = 256
"""More rows than this in reach of the k-th distance are left to scikit-learn."""


class Tables(NamedTuple):
    """Test rows, and the training rows of each fold: columns in rows, once in double and once in single precision."""

    tests: FloatArray
    """(p, n)."""
    tests_32: NDArray[np.float32]
    trains: FloatArray
    """(f, p, t), of which `sizes[fold]` rows are there."""
    trains_32: NDArray[np.float32]
    sizes: IntArray
    folds: IntArray
    """(n,): the fold of each test row."""
    lows: FloatArray
    """(f, p): the ends of each column in each fold."""
    highs: FloatArray
    errors: FloatArray
    """(p,): how far a number of a column may be off in single precision."""


class Rule(NamedTuple):
    """How the k nearest vote."""

    targets: FloatArray
    """(f, t): class codes, or quantities."""
    k: int
    classes: bool
    shares: bool
    """Whether shares count, not only which class has most."""


class Race(NamedTuple):
    """When a column is given up."""

    visits: IntArray
    """Test rows in the order in which they are visited."""
    y: IntArray
    costs: FloatArray
    """What a row costs whose class `y` surely loses."""
    most: float
    """Beyond this, or what another column lost in the end, a column is given up."""


class Votes(NamedTuple):
    """What comes out."""

    out: FloatArray
    """(q, n, c): shares of classes, or means."""
    open_rows: BoolArray
    """(q, n): whether the answer hangs on which of several equally near rows is taken."""
    lost: FloatArray
    """(q,): what each column lost; of one that was given up, with a minus sign, what it lost so far."""


class Standing(NamedTuple):
    """What is known of the members by themselves."""

    base: NDArray[np.float32]
    """(n, t): distances of the test rows to the training rows of their fold."""
    gap: FloatArray
    """(n,): squared differences of another column below which the nearest rows stay the same."""
    before: FloatArray
    """(n, c): what the nearest rows say."""


class Lanes(NamedTuple):
    """Arrays to work in: distances to all training rows, the least of every 32nd, and the k least of these."""

    line: NDArray[np.float32]
    least: NDArray[np.float32]
    best: NDArray[np.float32]


class Found(NamedTuple):
    """Arrays to work in: exact distances and numbers of training rows, and the votes near and at the k-th distance."""

    distances: FloatArray
    rows: IntArray
    near: IntArray
    tied: IntArray


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


@inner(no_cpython_wrapper=True)
def reach(base, trains, place, x, size, k, error, scratch):
    """Write the distances with one column added; return how far the k nearest can be, errors included.

    `place` holds the test row, its fold and the column, and `x` the row's cell there.
    """
    line, lanes, best = scratch
    i, fold, new = place
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
            lanes[lane] = least_float(lanes[lane], total)
    for t in range(whole, np.uint64(size)):
        d = trains[where, column, t] - x
        line[t] = base[row, t] + d * d
        lanes[t - whole] = least_float(lanes[t - whole], line[t])
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


@inner(no_cpython_wrapper=True)
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


@inner(no_cpython_wrapper=True, inline="always")
def agree(rows, n, targets, fold):
    """Say whether all rows have one target, so that it does not matter which of them are the nearest."""
    first = targets[fold, rows[0]]
    a = 1
    while a < n and targets[fold, rows[a]] == first:
        a += 1
    return a == n


@inner(no_cpython_wrapper=True)
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


@inner(no_cpython_wrapper=True)
def share_out(found, n, k, targets, fold, out, q, i):
    """Write the shares of the classes among the k nearest; say whether the winner is the same whatever a tie does."""
    distances, rows, near, tied = found
    c = out.shape[2]
    near[:], tied[:] = 0, 0
    edge = distances[k - 1]
    width = NEAR * edge
    n_near, n_tied = 0, 0
    for a in range(n):
        kind = int(targets[fold, rows[a]])
        if distances[a] < edge - width:
            near[kind] += 1
            n_near += 1
        elif distances[a] <= edge + width:
            tied[kind] += 1
            n_tied += 1
    left = k - n_near
    for j in range(c):
        out[q, i, j] = near[j] + tied[j] * left / n_tied
    winner = first_largest(out, q, i)
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


@inner(no_cpython_wrapper=True)
def average(found, n, k, targets, fold, out, q, i):
    """Write the mean of the k nearest; say whether it is the same whatever a tie does."""
    distances, rows = found.distances, found.rows
    width = NEAR * distances[k - 1]
    total = 0.0
    for a in range(k):
        total += targets[fold, rows[a]]
    out[q, i, 0] = total / k
    return 0 if n > k and distances[k] <= distances[k - 1] + width else 2


@inner(no_cpython_wrapper=True, inline="always")
def first_largest(out, q, i):
    """Return the class with most votes, the first of equals."""
    winner = 0
    for j in range(1, out.shape[2]):
        if out[q, i, j] > out[q, i, winner]:
            winner = j
    return winner


@inner(no_cpython_wrapper=True)
def gaps(base, sizes, folds, rule, error, gap, out):
    """Write how much farther the next row is than the k nearest, at least, and what these say: (n, c).

    A column whose squared differences are all smaller than that cannot change which rows are the nearest.
    """
    targets, k, classes, _ = rule
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


@inner(no_cpython_wrapper=True, inline="always")
def insert(members, new, columns):
    """Write the members with one more column, in ascending order."""
    place = members.shape[0]
    while place > 0 and members[place - 1] > new:
        columns[place] = members[place - 1]
        place -= 1
    columns[place] = new
    for a in range(place):
        columns[a] = members[a]


@njit(nogil=True, cache=True)
def stand(members, tables, rule, bounds, standing):
    """Write what is known of the members: into distances of 0, gaps of −1 and what the nearest rows say."""
    base, gap, before = standing
    add_squares(base, members, tables.tests_32, tables.trains_32, tables.sizes, bounds)
    squared = 0.0
    for a in range(members.shape[0]):
        squared += tables.errors[members[a]] ** 2
    if members.shape[0]:
        gaps(base, tables.sizes, tables.folds, rule, np.sqrt(squared), gap, before)


@njit(nogil=True, cache=True)
def vote(standing, members, added, tables, rule, race, votes):
    """Vote with the members and each of `added`, one at a time."""
    base, gap, before = standing
    tests, tests_32, trains, trains_32, sizes, folds, lows, highs, errors = tables
    targets, k, classes, shares = rule
    visits, y, costs, most = race
    out, open_rows, lost = votes
    scratch = Lanes(np.empty(trains.shape[2], np.float32), np.empty(LANES, np.float32), np.empty(k, np.float32))
    rows, kinds = np.empty(MOST, np.int64), max(out.shape[2], 1)
    found = Found(np.empty(MOST), rows, np.zeros(kinds, np.int64), np.zeros(kinds, np.int64))
    columns = np.empty(members.shape[0] + 1, np.int64)
    squared = 0.0
    for a in range(members.shape[0]):
        squared += errors[members[a]] ** 2
    for q in range(added.shape[0]):
        new = added[q]
        insert(members, new, columns)
        error = np.sqrt(squared + errors[new] ** 2)
        total, is_open, given_up = 0.0, False, False
        for visit in range(visits.shape[0]):
            i = visits[visit]
            fold = folds[i]
            sure, n = 2, 0
            farthest = max(tests[new, i] - lows[fold, new], highs[fold, new] - tests[new, i])
            unchanged = farthest * farthest < gap[i]
            if not unchanged:
                limit = reach(base, trains_32, (i, fold, new), tests_32[new, i], sizes[fold], k, error, scratch)
                n = collect(scratch.line, scratch.least, sizes[fold], limit, rows)
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
                order(tests, trains, fold, columns, i, found.distances, rows, n)
                if classes:
                    sure = share_out(found, n, k, targets, fold, out, q, i)
                else:
                    sure = average(found, n, k, targets, fold, out, q, i)
            if sure < (2 if shares else 1):
                open_rows[q, i] = True
                is_open = True
            elif costs[i] > 0.0 and first_largest(out, q, i) != y[i]:
                total += costs[i]
                if total > most:
                    given_up = True
                    break
        lost[q] = -total if given_up else total
        if not is_open and not given_up:
            most = min(most, total + SLACK)
