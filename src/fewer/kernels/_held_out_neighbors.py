"""The k nearest training rows of held-out rows, fold by fold, for one column more at a time.

Distances are first computed in single precision, with a bound on their error: it rules most training rows out. Those
that are left are computed in double precision, columns in order, as scikit-learn's trees do.

Training and test rows come as `Neighbors`, how they vote as `Ballot`; `Work` is room that a thread works in. The answer
of `open_rows`, (m, n), hangs on which of several equally near rows is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Neighbors(NamedTuple):
    """Training and test rows of every fold.

    tests, tests_32 : (p, n)
        Test rows in double and in single precision; `folds` says which fold each belongs to.
    trains, trains_32 : (f, p, t)
        Training rows of each fold, `sizes[fold]` of them.
    targets : (f, t) float64
        Class codes, or quantities.
    errors : (p,) float64
        How far a number of a column may be off in single precision.
    lows, highs : (f, p) float64
        The ends of each column in the training rows.
    """

    tests: Any
    tests_32: Any
    trains: Any
    trains_32: Any
    sizes: Any
    folds: Any
    targets: Any
    errors: Any
    lows: Any
    highs: Any


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


class Work(NamedTuple):
    """Room to work in: distances to one row, the least of each lane, the k least, candidates and the classes' votes."""

    line: Any
    lanes: Any
    best: Any
    found: Any
    rows: Any
    near: Any
    tied: Any


class Ballot(NamedTuple):
    """How the k nearest vote: as classes or as numbers; whether shares count, not only which class has most.

    Shares or means are written to `out`, (q, n, c).
    """

    k: Any
    classes: Any
    shares: Any
    out: Any


class Before(NamedTuple):
    """What the members say: (n, t) distances, how much farther the next row is than the k nearest, (n, c) votes."""

    base: Any
    gap: Any
    out: Any


class Course(NamedTuple):
    """A race: the order in which rows are visited, their classes, what a wrong one costs, and the most to lose."""

    visits: Any
    y: Any
    costs: Any
    most: Any


@njit(nogil=True, cache=True, forceinline=True)
def reach(base, i, rows, new, k, error, work):
    """Write the distances with one column added; return how far the k nearest can be, errors included."""
    line, lanes, best, trains = work.line, work.lanes, work.best, rows.trains_32
    for lane in range(LANES):
        lanes[lane] = FAR
    for a in range(k):
        best[a] = FAR
    x, size = rows.tests_32[new, i], rows.sizes[rows.folds[i]]
    row, width, column = np.uint64(i), np.uint64(LANES), np.uint64(new)
    where = np.uint64(rows.folds[i])
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


@njit(nogil=True, cache=True, forceinline=True)
def collect(work, size, limit):
    """Collect the rows within reach; −1 if they are too many."""
    n = 0
    cut = np.float32(limit)
    last, step = np.uint64(size), np.uint64(LANES)
    for lane in range(LANES):
        if work.lanes[lane] <= cut:
            t = np.uint64(lane)
            while t < last:
                if work.line[t] <= cut:
                    if n == MOST:
                        return -1
                    work.rows[n] = t
                    n += 1
                t += step
    return n


@njit(nogil=True, cache=True, forceinline=True)
def agree(work, n, targets, fold):
    """Say whether all rows have one target, so that it does not matter which of them are the nearest."""
    first = targets[fold, work.rows[0]]
    a = 1
    while a < n and targets[fold, work.rows[a]] == first:
        a += 1
    return a == n


@njit(nogil=True, cache=True, forceinline=True)
def order(rows, fold, columns, i, work, n):
    """Put rows in the order of their exact distances."""
    found, kept = work.found, work.rows
    for a in range(n):
        t = kept[a]
        total = 0.0
        for b in range(columns.shape[0]):
            d = rows.tests[columns[b], i] - rows.trains[fold, columns[b], t]
            total += d * d
        place = a
        while place > 0 and found[place - 1] > total:
            found[place] = found[place - 1]
            kept[place] = kept[place - 1]
            place -= 1
        found[place] = total
        kept[place] = t


@njit(nogil=True, cache=True, forceinline=True)
def settle_classes(work, n, targets, fold, ballot, q, i):
    """Write the shares of the classes among the k nearest; say whether the winner is the same whatever a tie does."""
    found, near, tied, out, k = work.found, work.near, work.tied, ballot.out, ballot.k
    c = out.shape[2]
    near[:], tied[:] = 0, 0
    edge = found[k - 1]
    width = NEAR * edge
    n_near, n_tied = 0, 0
    for a in range(n):
        kind = int(targets[fold, work.rows[a]])
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


@njit(nogil=True, cache=True, forceinline=True)
def settle_quantities(work, n, targets, fold, ballot, q, i):
    """Write the mean of the k nearest; say whether it is the same whatever a tie does."""
    found, k = work.found, ballot.k
    width = NEAR * found[k - 1]
    total = 0.0
    for a in range(k):
        total += targets[fold, work.rows[a]]
    ballot.out[q, i, 0] = total / k
    return 0 if n > k and found[k] <= found[k - 1] + width else 2


@njit(nogil=True, cache=True)
def look_back(before, rows, ballot, error):
    """Write how much farther the next row is than the k nearest, at least, and what these say: (n, c).

    A column whose squared differences are all smaller than that cannot change which rows are the nearest.
    """
    k, base, out = ballot.k, before.base, before.out
    best, kept = np.empty(k + 1, np.float32), np.empty(k + 1, np.int64)
    for i in range(base.shape[0]):
        fold = rows.folds[i]
        for a in range(k + 1):
            best[a] = FAR
        for t in range(rows.sizes[fold]):
            value = base[i, t]
            if value < best[k]:
                place = k
                while place > 0 and best[place - 1] > value:
                    best[place] = best[place - 1]
                    kept[place] = kept[place - 1]
                    place -= 1
                best[place] = value
                kept[place] = t
        inner = np.sqrt(np.float64(best[k - 1])) * 1.000001 + 2.0 * error
        outer = max(np.sqrt(np.float64(best[k])) * 0.999999 - 2.0 * error, 0.0)
        before.gap[i] = outer * outer - inner * inner
        out[i, :] = 0.0
        for a in range(k):
            if ballot.classes:
                out[i, int(rows.targets[fold, kept[a]])] += 1.0
            else:
                out[i, 0] += rows.targets[fold, kept[a]]
        for j in range(out.shape[1]):
            out[i, j] /= k


@njit(nogil=True, cache=True, forceinline=True)
def vote_row(before, rows, ballot, columns, new, error, i, work, q):
    """Vote about one row; say how sure the answer is: 2 with its shares, 1 its winner alone, 0 not."""
    fold, out = rows.folds[i], ballot.out
    farthest = max(rows.tests[new, i] - rows.lows[fold, new], rows.highs[fold, new] - rows.tests[new, i])
    if farthest * farthest < before.gap[i]:
        out[q, i, :] = before.out[i]
        return 2
    limit = reach(before.base, i, rows, new, ballot.k, error, work)
    n = collect(work, rows.sizes[fold], limit)
    if n < ballot.k:
        return 0
    if agree(work, n, rows.targets, fold):
        if ballot.classes:
            out[q, i, :] = 0.0
            out[q, i, int(rows.targets[fold, work.rows[0]])] = 1.0
        else:
            out[q, i, 0] = rows.targets[fold, work.rows[0]]
        return 2
    order(rows, fold, columns, i, work, n)
    if ballot.classes:
        return settle_classes(work, n, rows.targets, fold, ballot, q, i)
    return settle_quantities(work, n, rows.targets, fold, ballot, q, i)


@njit(nogil=True, cache=True, forceinline=True)
def in_order(members, new, columns):
    """Write the members and a new column in the order of columns."""
    place = 0
    for a in range(members.shape[0]):
        if members[a] < new:
            place = a + 1
    columns[:place] = members[:place]
    columns[place] = new
    columns[place + 1 :] = members[place:]


@njit(nogil=True, cache=True)
def vote(base, members, added, rows, ballot, course, open_rows, lost):
    """Vote with the members and each of `added`, one at a time.

    Every row whose class surely loses costs something, `lost` in sum; beyond `most`, or what another column lost in the
    end, a column is given up, and what it lost so far is written with a minus sign.
    """
    k, c, most = ballot.k, ballot.out.shape[2], course.most
    work = Work(
        np.empty(rows.trains.shape[2], np.float32), np.empty(LANES, np.float32), np.empty(k, np.float32),
        np.empty(MOST), np.empty(MOST, np.int64), np.zeros(max(c, 1), np.int64), np.zeros(max(c, 1), np.int64),
    )  # fmt: skip
    columns = np.empty(members.shape[0] + 1, np.int64)
    squared = 0.0
    for a in range(members.shape[0]):
        squared += rows.errors[members[a]] ** 2
    before = Before(base, np.full(base.shape[0], -1.0), np.empty((base.shape[0], c)))
    if members.shape[0]:
        look_back(before, rows, ballot, np.sqrt(squared))
    for q in range(added.shape[0]):
        new = added[q]
        in_order(members, new, columns)
        error = np.sqrt(squared + rows.errors[new] ** 2)
        total, is_open, given_up = 0.0, False, False
        for visit in range(course.visits.shape[0]):
            i = course.visits[visit]
            sure = vote_row(before, rows, ballot, columns, new, error, i, work, q)
            if sure < (2 if ballot.shares else 1):
                open_rows[q, i] = True
                is_open = True
            elif course.costs[i] > 0.0:
                winner = 0
                for j in range(1, c):
                    if ballot.out[q, i, j] > ballot.out[q, i, winner]:
                        winner = j
                if winner != course.y[i]:
                    total += course.costs[i]
                    if total > most:
                        given_up = True
                        break
        lost[q] = -total if given_up else total
        if not is_open and not given_up:
            most = min(most, total + SLACK)
