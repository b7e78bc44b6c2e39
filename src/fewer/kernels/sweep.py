"""All subsets, judged in trees, and given up as soon as they cannot be among the best.

The subsets of some units form a binary tree: at each node one more unit is decided to be in or out. For one row, its
distances under all subsets below a node lie between `least`, the sums over the units decided in, and `most`, those plus
the sums over all undecided ones. Rows whose least exceeds the most of k others can never be neighbors below that node,
and are dropped; the few that remain make the rest of the tree cheap. Where the remaining rows leave no doubt about the
vote, all subsets below the node are done at once. Units that separate the rows most are decided first.

A row's *loss* is what it could have gained and did not: its weight if it is judged wrong, or its squared error. Losses
only add up, so a subset whose loss passes a bound is out of the race, and with it every node below which all are. Rows
that cost most subsets most for the least work come first; those that come later meet a tree with little left of it.

See `bundles` for the arguments that the kernels share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.bundles import Rules
from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.distances import FAR, add_masks, add_terms
from fewer.kernels.intrinsics import least_float
from fewer.kernels.votes import Ballot, count_votes, gain, list_nearest, make_ballot
from fewer.problem import FloatArray

WRONG, RIGHT, JUDGED, OPEN, OUT = 0, 1, 2, 3, 4
# Work of a row's walk beside the rows that it passes over: to begin, and at each node.
TO_BEGIN, A_NODE = 3000.0, 8.0


class LossTree(NamedTuple):
    """Losses of the subsets of a tree.

    Node 1 is the root; below node v are 2v, without the next unit, and 2v + 1, with it. The losses of the subsets
    below a node are those at the nodes on the way to it, plus what is told further down.

    passed : (2·2^h, t) float64
        The loss that all subsets below a node share, beside that of the nodes above.
    fewest : (2·2^h, t) float64
        The smallest loss below a node, its own included; infinite where no subset is allowed.
    """

    passed: Any
    fewest: Any


class Lists(NamedTuple):
    """Rows that may still be neighbors, at each height h of a tree.

    List 2h is without the unit decided last, list 2h + 1 with it.

    rows, least : (2·(q + 1), n)
        The rows, and their least distances.
    counts, n_owns, limits : (2·(q + 1),)
        How many they are, how many of the own class, and the distance that none of them exceeds.
    visits : (q + 1,)
        How many of a node's two branches were visited.
    above : (q + 1, t)
        The loss told at the nodes above; none above the root.
    scanned, small, listed : scratch
    """

    rows: Any
    least: Any
    counts: Any
    n_owns: Any
    limits: Any
    visits: Any
    above: Any
    scanned: Any
    small: Any
    listed: Any


class Query(NamedTuple):
    """Room for one row's distances.

    start : (n,)
        Without any unit of the tree; FAR to rows that may not be used.
    parts : (h, n)
        What each unit of the tree adds; the last is decided first.
    rest : (h + 1, n)
        What the first units may add together; none, 0.
    own : (n,) uint8
        Which rows are of the own class.
    """

    start: Any
    parts: Any
    rest: Any
    own: Any


class Race(NamedTuple):
    """Facts about all rows.

    bound : float
        A loss beyond this is out.
    capacity : int
        So many rows must be kept to be sure of the votes.
    simple, mixed, two, single, even : bool
        Rows of one class decide a vote alone; but rows of several other classes leave it open; there are two classes;
        there is one neighbor; all rows weigh the same.
    """

    bound: Any
    capacity: Any
    simple: Any
    mixed: Any
    two: Any
    single: Any
    even: Any


# The walk hands single arrays on, whole, with unsigned indices: bundles and slices cost more than to pass over the few
# rows that remain.


@inner(counted=False, forceinline=True)
def certain(n_all, n_own, v, rows, codes, ks, race):
    """Say whether the votes among the rows of a list must go right or wrong, or can go either way (OPEN)."""
    if n_all == 0 or not race.simple:
        return OPEN
    if n_own == n_all:
        return RIGHT
    if n_own == 0:
        if race.mixed:
            for c in range(np.uint64(n_all)):
                if codes[rows[v, c]] != codes[rows[v, np.uint64(0)]]:
                    return OPEN
        return WRONG
    if race.even and n_all >= ks[-1]:
        if 2 * (n_all - n_own) < ks[0]:
            return RIGHT
        if race.two and 2 * n_own < ks[0]:
            return WRONG
    return OPEN


@inner(counted=False)
def kth_smallest(x, count, k, small):
    """Return the k-th smallest of the first numbers, FAR if there are fewer; `small` is scratch."""
    if count < k:
        return FAR
    if k == 1:
        smallest = FAR
        for c in range(np.uint64(count)):
            smallest = least_float(smallest, x[c])
        return smallest
    for place in range(k):
        small[place] = FAR
    worst = FAR
    for c in range(count):
        if x[c] < worst:
            place = k - 1
            while place > 0 and x[c] < small[place - 1]:
                small[place] = small[place - 1]
                place -= 1
            small[place] = x[c]
            worst = small[k - 1]
    return worst


@inner(counted=False, forceinline=True)
def limit_without(v, h, count, capacity, rows, least, rest, scanned, small):
    """Return the distance that capacity rows of a list do not exceed, whatever h undecided units add."""
    if capacity == 1:
        smallest = FAR
        for c in range(np.uint64(count)):
            smallest = least_float(smallest, least[v, c] + rest[h, rows[v, c]])
        return smallest
    for c in range(np.uint64(count)):
        scanned[c] = least[v, c] + rest[h, rows[v, c]]
    return kth_smallest(scanned, count, capacity, small)


@inner(counted=False, forceinline=True)
def keep_without(v, w, count, limit, rows, least, own):
    """Copy the rows of list v within a limit to list w; return how many, and how many of the own class."""
    kept, n_own = np.uint64(0), np.uint64(0)
    for c in range(np.uint64(count)):
        j, d = rows[v, c], least[v, c]
        rows[w, kept], least[w, kept] = j, d
        # Without a branch, which would be mispredicted half of the time.
        within = np.uint64(d <= limit)
        kept += within
        n_own += within & own[j]
    return kept, n_own


@inner(counted=False, forceinline=True)
def keep_with(v, w, u, count, limit, rows, least, parts, own):
    """Do the same with what unit u adds."""
    kept, n_own = np.uint64(0), np.uint64(0)
    for c in range(np.uint64(count)):
        j = rows[v, c]
        d = least[v, c] + parts[u, j]
        rows[w, kept], least[w, kept] = j, d
        within = np.uint64(d <= limit)
        kept += within
        n_own += within & own[j]
    return kept, n_own


@inner(counted=False)
def start_walk(query, lists, race):
    """Sum what undecided units may add, and list the rows that may be neighbors under some subset of the tree."""
    top, n, rest, count = query.parts.shape[0], query.start.shape[0], query.rest, 0
    v = np.uint64(2 * top)
    for b in range(top):
        for j in range(n):
            rest[b + 1, j] = rest[b, j] + query.parts[b, j]
    for j in range(n):
        if query.start[j] < FAR:
            lists.rows[v, count], lists.least[v, count] = j, query.start[j]
            count += 1
    limit = limit_without(
        v, np.uint64(top), count, race.capacity, lists.rows, lists.least, rest, lists.scanned, lists.small
    )
    lists.counts[v], lists.n_owns[v] = keep_without(v, v, count, limit, lists.rows, lists.least, query.own)
    lists.limits[v], lists.visits[top] = limit, 0


@inner(counted=False)
def judge_leaf(rows, d, listed, rules, ballot):
    """Let the rows that remain for one subset vote; returns False if they do not suffice."""
    if rules.ks[-1] == 1:
        # Only the rows at the smallest distance remain.
        return rows.shape[0] > 0 and count_votes(rows, d, rows.shape[0], FAR, d[:0], rules, ballot)
    count, reach = list_nearest(d, ballot.near, ballot.near_d)
    for c in range(count):
        listed[c] = rows[ballot.near[c]]
    return count_votes(listed, ballot.near_d, count, reach, d[:0], rules, ballot)


@inner(counted=False)
def judge_whole(number, query, d, rules, ballot):
    """Let all rows vote under one subset of the tree, by its number."""
    copy(query.start, d)
    for b in range(query.parts.shape[0]):
        if number >> b & 1:
            for j in range(d.shape[0]):
                d[j] += query.parts[b, j]
    count, reach = list_nearest(d, ballot.near, ballot.near_d)
    count_votes(ballot.near, ballot.near_d, count, reach, d, rules, ballot)


@inner(counted=False)
def judge_list(v, node, level, query, lists, rules, ballot):
    """Let the rows of a list vote for one subset, or for all below a node: JUDGED, or OPEN if that is too early."""
    count = lists.counts[v]
    if judge_leaf(lists.rows[v, :count], lists.least[v, :count], lists.listed, rules, ballot):
        return JUDGED
    if level:
        return OPEN
    judge_whole(node - (1 << query.parts.shape[0]), query, lists.scanned, rules, ballot)
    return JUDGED


@inner(counted=False, forceinline=True)
def beyond(level, node, above, fewest, bound):
    """Say whether all subsets below a node are out, whatever the number of neighbors."""
    out = True
    for t in range(fewest.shape[1]):
        out = out and above[level, t] + fewest[node, t] > bound
    return out


@inner(counted=False)
def walk_tree(i, query, lists, tree, race, rules, ballot):
    """Add row i's loss to the subsets of a tree that are still in the race.

    Returns the number of subsets looked at, the loss that they shared, and the work that it took.
    """
    top, weight = query.parts.shape[0], rules.row_weights[i]
    parts, rest, is_own, codes, ks = query.parts, query.rest, query.own, rules.codes, rules.ks
    rows, least, counts, n_owns, limits = lists.rows, lists.least, lists.counts, lists.n_owns, lists.limits
    visits, above, passed, fewest = lists.visits, lists.above, tree.passed, tree.fewest
    start_walk(query, lists, race)
    node, level, seen, lost, work = 1, top, 0.0, 0.0, TO_BEGIN
    while level <= top:
        if visits[level] == 0:
            v, sure = np.uint64(2 * level + (node & 1 if level < top else 0)), OUT
            if not beyond(level, node, above, fewest, race.bound):
                count, limit = counts[v], limits[v]
                sure = certain(count, n_owns[v], v, rows, codes, ks, race)
                if sure == OPEN and (level == 0 or (race.single and count == 1)):
                    sure = judge_list(v, node, level, query, lists, rules, ballot)
            if sure == OPEN:
                u = np.uint64(level - 1)
                work += A_NODE + count
                w = np.uint64(2) * u
                x = w + np.uint64(1)
                # With the unit no row's bounds grow closer, and the limit stays what it is.
                counts[x], n_owns[x] = keep_with(v, x, u, count, limit, rows, least, parts, is_own)
                limits[x] = limit
                limit = limit_without(v, u, count, race.capacity, rows, least, rest, lists.scanned, lists.small)
                counts[w], n_owns[w] = keep_without(v, w, count, limit, rows, least, is_own)
                limits[w] = limit
            elif sure != OUT:
                seen += 1 << level
                for t in range(ks.shape[0]):
                    loss = weight if sure == WRONG else 0.0
                    if sure == JUDGED:
                        loss = (weight if rules.n_classes else 0.0) - gain(i, t, rules, ballot)
                    passed[node, t] += loss
                    fewest[node, t] += loss
                    lost += loss * (1 << level)
            if sure != OPEN:
                level, node = level + 1, node >> 1
                continue
        elif visits[level] == 2:
            for t in range(ks.shape[0]):
                fewest[node, t] = passed[node, t] + min(fewest[2 * node, t], fewest[2 * node + 1, t])
            level, node = level + 1, node >> 1
            continue
        for t in range(ks.shape[0]):
            above[level - 1, t] = above[level, t] + passed[node, t]
        node = 2 * node + visits[level]
        visits[level] += 1
        level -= 1
        visits[level] = 0
    return seen, lost, work


@inner(counted=False)
def fill_parts(i, units, exact, parts):
    """Write what each unit adds to the distances of row i."""
    for u in range(units.offsets.shape[0] - 1):
        for j in range(parts.shape[1]):
            parts[u, j] = 0.0
        for m in range(units.offsets[u], units.offsets[u + 1]):
            f = units.members[m]
            add_terms(parts[u], 0, exact.columns[f, i], exact.missing[f, i], f, exact.fold[i], 1.0, exact)


def plant(leaves: FloatArray, t: int) -> LossTree:
    """Start a tree for t numbers of neighbors: no loss yet, but what the leaves (2^h,) already have against them."""
    n = len(leaves)
    tree = LossTree(np.zeros((2 * n, t)), np.empty((2 * n, t)))
    tree.fewest[n:] = leaves[:, None]
    while n > 1:
        tree.fewest[n // 2 : n] = np.minimum(tree.fewest[n : 2 * n : 2], tree.fewest[n + 1 : 2 * n : 2])
        n //= 2
    return tree


def harvest(tree: LossTree) -> FloatArray:
    """Sum the losses on the way to each subset, (2^h, t)."""
    losses, n = tree.passed[1:2], 1
    while 2 * n < len(tree.passed):
        n *= 2
        losses = np.repeat(losses, 2, axis=0) + tree.passed[n : 2 * n]
    return losses


def room_for(top: int, n: int, bound: float, rules: Rules) -> tuple[Query, Lists, Race, Ballot]:
    """Make what a walk of n rows down trees of a height needs: a loss beyond the bound is out."""
    weights, ballot, shape, single = rules.row_weights, make_ballot(rules), (2 * (top + 1), n), bool(rules.ks[-1] == 1)
    capacity, positive, classes = len(ballot.near), bool((weights > 0.0).all()), rules.n_classes
    lists = Lists(
        np.empty(shape, np.uint32), np.empty(shape), np.empty(shape[0], np.int64), np.empty(shape[0], np.int64),
        np.empty(shape[0]), np.empty(top + 1, np.int64), np.zeros((top + 1, len(rules.ks))),
        np.empty(n), np.empty(capacity), np.empty(capacity, np.uint32),
    )  # fmt: skip
    race = Race(
        bound, int(rules.ks[-1]) if rules.by_rows or single else capacity,
        classes > 0 and (rules.by_rows or (single and positive)), not rules.by_rows and classes > 2, classes == 2,
        single, positive and bool((weights == weights[0]).all()),
    )  # fmt: skip
    return Query(np.empty(n), np.empty((top, n)), np.zeros((top + 1, n)), np.empty(n, np.uint8)), lists, race, ballot


@kernel(counted=False)
def score_tree(rows, worth, base, units, exact, rules, tree, room):
    """Judge rows, in the order given, under all subsets of some units beside the columns in `base` (p,).

    Each adds its loss to the tree. What a row's work was worth (n,), its loss over all subsets for the work it took, is
    remembered. Returns how many pairs of a row and a subset were looked at.
    """
    query, lists, race, ballot = room
    looked, codes = 0.0, rules.codes
    for i in rows:
        if beyond(units.offsets.shape[0] - 1, 1, lists.above, tree.fewest, race.bound):
            break
        add_masks(query.start, i, base, exact)
        fill_parts(i, units, exact, query.parts)
        for j in range(codes.shape[0]):
            query.own[j] = codes[j] == codes[i]
        seen, lost, work = walk_tree(i, query, lists, tree, race, rules, ballot)
        looked += seen
        if seen > 0.0:
            worth[i] = lost / work
    return looked
