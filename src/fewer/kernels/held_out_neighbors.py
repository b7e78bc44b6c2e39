"""The k nearest training rows of held-out rows, fold by fold, for one column more at a time.

Distances are first computed in single precision, with a bound on their error: it rules most training rows out. Those
that are left are computed in double precision, columns in order, as scikit-learn's trees do. The rows that are nearest
by the members alone are kept in order: where one column more cannot bring others near, only these are looked at.

Arguments that the kernels share: `i` is a test row, `fold` its fold, `q` the place of a column among those added,
`members` the columns that are there already; `base` holds the (n, t) single-precision squared distances of these. There
are t training rows in every fold, a whole number of blocks of 32; those beyond the fold's own are infinitely far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import add_32, largest_float, least_float
from fewer.kernels.votes import enter
from fewer.problem import BoolArray, FloatArray, IntArray

LANES = 32
FARTHEST = np.float32(3e38)
# Distances nearer to each other than this share count as equal.
TIED = 1e-10
# More than rounding can add to what is lost.
SLACK = 1e-9
# More rows than this in reach of the k-th distance are left to scikit-learn.
MOST_IN_REACH = 256
# Nearest rows that are kept in order, at most.
LONGEST = 40
# Smallest number of nearest rows that are kept.
AT_LEAST = 12
# What one column more can do to the ratio of two squared distances in single precision, and twice as much.
ROUNDING = 2.0**-22


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


class FoldRace(NamedTuple):
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
    wrong: BoolArray
    """(q, n): whether a row that costs something was surely given another class than its own."""


class FoldStanding(NamedTuple):
    """What is known of the members by themselves."""

    base: NDArray[np.float32]
    """(n, t): distances of the test rows to the training rows of their fold."""
    gap: FloatArray
    """(n,): squared differences of another column below which the nearest rows stay the same."""
    before: FloatArray
    """(n, c): what the nearest rows say."""
    near_rows: NDArray[np.int32]
    """(n, 40): the nearest training rows, in order."""
    near: NDArray[np.float32]
    """(n, 40): their distances."""
    lengths: IntArray
    """(n,): how many they are; 0 where nothing is known."""
    beyond: NDArray[np.float32]
    """(n,): no other row is nearer than this."""


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


class VotingRoom(NamedTuple):
    """All arrays to work in, and one for the members and a column: made outside, since that compiles in no time."""

    lanes: Lanes
    found: Found
    columns: IntArray

    @classmethod
    def of(cls, standing: FoldStanding, n_members: int) -> VotingRoom:
        """Make them for some members."""
        width, kinds = standing.base.shape[1], max(standing.before.shape[1], 1)
        line, least = np.empty((2, width), dtype=np.float32)
        rows, (near, tied) = np.empty(MOST_IN_REACH + LANES + 1, dtype=np.int64), np.zeros((2, kinds), dtype=np.int64)
        lanes = Lanes(line, least, np.empty(LANES, dtype=np.float32))
        return cls(lanes, Found(np.empty(MOST_IN_REACH), rows, near, tied), np.empty(n_members + 1, dtype=np.int64))


@inner(counted=False)
def measure(base, trains, place, x, size, scratch):
    """Write the distances with one column added, and the least of every 32nd.

    `place` holds the test row, its fold and the column, and `x` the row's cell there.
    """
    line, least = scratch.line, scratch.least
    row, fold, new = np.uint64(place[0]), np.uint64(place[1]), np.uint64(place[2])
    one, width = np.uint64(1), np.uint64(LANES)
    blocks = np.uint64((size + LANES - 1) // LANES)
    half = (blocks + one) >> one
    shift, paired = half * width, (blocks - half) * width
    for t in range(paired):
        a = trains[fold, new, t] - x
        b = trains[fold, new, t + shift] - x
        first = base[row, t] + a * a
        second = base[row, t + shift] + b * b
        line[t] = first
        line[t + shift] = second
        least[t] = least_float(first, second)
    for t in range(paired, shift):
        a = trains[fold, new, t] - x
        first = base[row, t] + a * a
        line[t] = first
        least[t] = first
    while half > one:
        blocks = half
        half = (blocks + one) >> one
        shift = half * width
        for t in range((blocks - half) * width):
            least[t] = least_float(least[t], least[t + shift])


@inner(counted=False)
def insert_least(best, k, value):
    """Keep the k smallest values, in order; without a branch, which would be guessed wrong every other time."""
    for a in range(np.uint64(k)):
        smaller = least_float(best[a], value)
        value = largest_float(best[a], value)
        best[a] = smaller


@inner(counted=False)
def least_of_lanes(least, k):
    """Return the k-th smallest of the lanes' minima: k rows are that near at least."""
    smallest = np.float32(0.0)
    for lane in range(np.uint64(LANES)):
        value, smaller = least[lane], np.int32(0)
        for other in range(np.uint64(LANES)):
            smaller = add_32(smaller, np.int32(least[other] < value))
        smallest = largest_float(smallest, value if smaller < k else np.float32(0.0))
    return smallest


@inner(inline="always")
def widen(value, doubt):
    """Return how far the k nearest can be in single precision, if k rows are as near as `value`."""
    error, slack = doubt
    root = np.sqrt(np.float64(value)) + 2.0 * error
    return root * root * slack + 1e-37


@inner(counted=False)
def collect(line, least, size, limit, rows):
    """Collect the rows within reach; −1 if they are too many. What is written beyond the last one means nothing."""
    cut, step = np.float32(limit), np.uint64(LANES)
    n, m, last = np.uint64(0), np.uint64(0), np.uint64(MOST_IN_REACH)
    lanes = last  # the lanes with a row in reach are noted behind the rows
    for lane in range(step):
        rows[lanes + m] = lane
        m += np.uint64(least[lane] <= cut)
    for a in range(m):
        for t in range(np.uint64(rows[lanes + a]), np.uint64(size), step):
            rows[n] = t
            n += np.uint64(line[t] <= cut)
            if n == last:
                return -1
    return np.int64(n)


@inner(inline="always")
def agree(rows, n, targets, fold):
    """Say whether all rows have one target, so that it does not matter which of them are the nearest."""
    first = targets[fold, rows[0]]
    a = 1
    while a < n and targets[fold, rows[a]] == first:
        a += 1
    return a == n


@inner(counted=False)
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


@inner(counted=False)
def share_out(found, n, k, targets, fold, out, q, i):
    """Write the shares of the classes among the k nearest; say whether the winner is the same whatever a tie does."""
    distances, rows, near, tied = found
    c = out.shape[2]
    for j in range(c):
        near[j] = tied[j] = 0
    edge = distances[k - 1]
    width = TIED * edge
    n_near, n_tied = 0, 0
    for a in range(n):
        kind = np.int64(targets[fold, rows[a]])
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
    sure = left - (n_tied - tied[winner])
    fewest = near[winner] + (sure if sure > 0 else 0)
    for j in range(c):
        most = near[j] + (tied[j] if tied[j] < left else left)
        if j != winner and (most > fewest or (most == fewest and j < winner)):
            return 0
    return 1


@inner(counted=False)
def average(found, n, k, targets, fold, out, q, i):
    """Write the mean of the k nearest; say whether it is the same whatever a tie does."""
    distances, rows = found.distances, found.rows
    width = TIED * distances[k - 1]
    total = 0.0
    for a in range(k):
        total += targets[fold, rows[a]]
    out[q, i, 0] = total / k
    return 0 if n > k and distances[k] <= distances[k - 1] + width else 2


@inner(inline="always")
def first_largest(out, q, i):
    """Return the class with most votes, the first of equals."""
    winner = 0
    for j in range(1, out.shape[2]):
        if out[q, i, j] > out[q, i, winner]:
            winner = j
    return winner


@inner(counted=False)
def keep_nearest(standing, i, size, k, scratch, rows):
    """Keep the training rows in order that are nearest to row i by the distances in `scratch`."""
    line, near_rows, near = scratch.line, standing.near_rows, standing.near
    cut = least_of_lanes(scratch.least, min(max(k + 4, AT_LEAST), LANES))
    n = collect(line, scratch.least, size, np.float64(cut), rows)
    standing.lengths[i] = 0
    if n < k:
        return
    for a in range(n):
        value, place = line[rows[a]], min(a, LONGEST - 1)
        if a >= LONGEST and value >= near[i, place]:
            continue
        while place > 0 and near[i, place - 1] > value:
            near[i, place] = near[i, place - 1]
            near_rows[i, place] = near_rows[i, place - 1]
            place -= 1
        near[i, place] = value
        near_rows[i, place] = rows[a]
    standing.lengths[i] = min(n, LONGEST)
    standing.beyond[i] = cut if n <= LONGEST else near[i, LONGEST - 1]


@inner(counted=False)
def gap_of(standing, i, fold, rule, doubt):
    """Write how much farther the next row is than the k nearest, at least, and what these say.

    A column whose squared differences are all smaller than that cannot change which rows are the nearest.
    """
    k, near, before = rule.k, standing.near, standing.before
    error, slack = doubt
    standing.gap[i] = -1.0
    n = standing.lengths[i]
    if n < k:
        return
    last = near[i, k] if n > k else standing.beyond[i]
    outside = np.sqrt(np.float64(last)) - 2.0 * error
    outside = outside if outside > 0.0 else 0.0
    standing.gap[i] = outside * outside / slack - widen(near[i, k - 1], doubt)
    for j in range(before.shape[1]):
        before[i, j] = 0.0
    for a in range(k):
        target = rule.targets[fold, standing.near_rows[i, a]]
        if rule.classes:
            before[i, np.int64(target)] += 1.0
        else:
            before[i, 0] += target
    for j in range(before.shape[1]):
        before[i, j] /= k


@inner(inline="always")
def insert(members, new, columns):
    """Write the members with one more column, in ascending order."""
    place = members.shape[0]
    while place > 0 and members[place - 1] > new:
        columns[place] = members[place - 1]
        place -= 1
    columns[place] = new
    for a in range(place):
        columns[a] = members[a]


@inner(counted=False)
def doubt_of(errors, members, new):
    """Return how far distances by the members and one column more may be off: an error of roots, and a factor."""
    squared = errors[new] ** 2
    for a in range(members.shape[0]):
        squared += errors[members[a]] ** 2
    return np.sqrt(squared), 1.000001 + (members.shape[0] + 1) * ROUNDING


@kernel(counted=False)
def stand(before, new, tables, rule, bounds, standing, room):
    """Add the column `new` to what is known of the members before it."""
    base, sizes, scratch, rows = standing.base, tables.sizes, room.lanes, room.found.rows
    doubt = doubt_of(tables.errors, before, new)
    for fold in range(bounds.shape[0] - 1):
        for i in range(bounds[fold], bounds[fold + 1]):
            measure(base, tables.trains_32, (i, fold, new), tables.tests_32[new, i], sizes[fold], scratch)
            for a in range(sizes[fold]):
                base[i, a] = scratch.line[a]
            keep_nearest(standing, i, sizes[fold], rule.k, scratch, rows)
            gap_of(standing, i, fold, rule, doubt)


@inner(counted=False)
def look_nearby(standing, trains, place, x, k, doubt, scratch, rows):
    """Collect the rows within reach from those that are nearest by the members; −1 if others may be in reach."""
    i, fold, new = place
    near, line, best = standing.near, scratch.line, scratch.best
    length = standing.lengths[i]
    if length < k:
        return -1
    farthest = np.float32(0.0)
    for a in range(k):
        d = trains[fold, new, standing.near_rows[i, a]] - x
        line[a] = near[i, a] + d * d
        farthest = largest_float(farthest, line[a])
    after = near[i, k] if length > k else standing.beyond[i]
    if after > widen(farthest, doubt):  # the nearest by the members stay the nearest
        for a in range(k):
            rows[a] = standing.near_rows[i, a]
        return k
    for a in range(k):
        best[a] = FARTHEST
    for a in range(k):
        insert_least(best, k, line[a])
    seen = k
    while seen < length:
        value = near[i, seen]
        if value > best[k - 1] and value > widen(best[k - 1], doubt):
            break
        d = trains[fold, new, standing.near_rows[i, seen]] - x
        value += d * d
        line[seen] = value
        insert_least(best, k, value)
        seen += 1
    limit = widen(best[k - 1], doubt)
    if seen == length and limit >= standing.beyond[i]:
        return -1
    n = 0
    for a in range(seen):
        if line[a] <= limit:
            rows[n] = standing.near_rows[i, a]
            n += 1
    return n


@inner(counted=False)
def find_rows(standing, tables, place, k, doubt, scratch, rows):
    """Collect the rows that may be among the k nearest; −1 if they are too many."""
    i, fold, new = place
    x, size = tables.tests_32[new, i], tables.sizes[fold]
    n = look_nearby(standing, tables.trains_32, place, x, k, doubt, scratch, rows)
    if n >= 0:
        return n
    measure(standing.base, tables.trains_32, place, x, size, scratch)
    n = collect(scratch.line, scratch.least, size, widen(least_of_lanes(scratch.least, k), doubt), rows)
    return tighten(scratch.line, rows, n, k, doubt, scratch.best) if n > k else n


@inner(counted=False)
def tighten(line, rows, n, k, doubt, best):
    """Keep of n collected rows those in reach of the k nearest of them, in the same order."""
    for a in range(k):
        best[a] = FARTHEST
    for a in range(n):
        insert_least(best, k, line[rows[a]])
    limit = widen(best[k - 1], doubt)
    left = 0
    for a in range(n):
        row = rows[a]
        rows[left] = row
        left += line[row] <= limit
    return left


@inner(counted=False)
def say(rule, tables, columns, place, n, found, q, out):
    """Write what the k nearest of n rows say; return 2 if that is sure, 1 if only the winner is, 0 if nothing is."""
    i, fold, _ = place
    targets, rows = rule.targets, found.rows
    if n < rule.k:
        return 0
    if n == rule.k and rule.classes:
        near = found.near
        for j in range(out.shape[2]):
            near[j] = 0
        for a in range(n):
            near[np.int64(targets[fold, rows[a]])] += 1
        for j in range(out.shape[2]):
            out[q, i, j] = near[j] / n
        return 2
    if agree(rows, n, targets, fold):
        if rule.classes:
            for j in range(out.shape[2]):
                out[q, i, j] = 0.0
            out[q, i, np.int64(targets[fold, rows[0]])] = 1.0
        else:
            out[q, i, 0] = targets[fold, rows[0]]
        return 2
    order(tables.tests, tables.trains, fold, columns, i, found.distances, rows, n)
    if rule.classes:
        return share_out(found, n, rule.k, targets, fold, out, q, i)
    return average(found, n, rule.k, targets, fold, out, q, i)


@kernel(counted=False)
def vote(standing, members, added, tables, rule, race, votes, room):
    """Vote with the members and each of `added`, one at a time."""
    lows, highs, folds = tables.lows, tables.highs, tables.folds
    out, most, scratch, in_reach, columns = votes.out, race.most, room.lanes, room.found, room.columns
    needed = 2 if rule.shares else 1
    for q in range(added.shape[0]):
        new = added[q]
        insert(members, new, columns)
        doubt = doubt_of(tables.errors, members, new)
        total, is_open, given_up = 0.0, False, False
        for visit in range(race.visits.shape[0]):
            i = race.visits[visit]
            fold = folds[i]
            sure, x = 2, tables.tests[new, i]
            farthest = x - lows[fold, new] if x - lows[fold, new] > highs[fold, new] - x else highs[fold, new] - x
            if farthest * farthest < standing.gap[i]:
                for j in range(out.shape[2]):
                    out[q, i, j] = standing.before[i, j]
            else:
                place = (i, fold, new)
                n = find_rows(standing, tables, place, rule.k, doubt, scratch, in_reach.rows)
                sure = say(rule, tables, columns, place, n, in_reach, q, out)
            if sure < needed:
                votes.open_rows[q, i] = True
                is_open = True
            elif race.costs[i] > 0.0 and first_largest(out, q, i) != race.y[i]:
                votes.wrong[q, i] = True
                total += race.costs[i]
                if total > most:
                    given_up = True
                    break
        votes.lost[q] = -total if given_up else total
        if not is_open and not given_up:
            most = most if most < total + SLACK else total + SLACK


@kernel(counted=False)
def list_with(base, cells, column, squared, near, near_d):
    """List the nearest training rows of each test row when a column's differences are added to the distances (m, t).

    near, near_d : (m, c) int64 and float64
        Written: the nearest rows in order, earlier ones first among equally near ones, and their distances.
    """
    capacity = near.shape[1]
    for i in range(base.shape[0]):
        near_d[i] = np.inf
        for t in range(base.shape[1]):
            a = cells[i] - column[t]
            d = base[i, t] + (a * a if squared else abs(a))
            if d < near_d[i, capacity - 1]:
                enter(near[i], near_d[i], capacity, t, d)
