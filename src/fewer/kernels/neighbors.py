"""Subsets judged by any number of neighbors, over exact distances; one column by itself; a few columns by a tree.

Rows judge themselves against the rows of other folds. See `bundles` for the arguments that the kernels share.

gains : (…, t) float64
    What the rows add to the score, for each number of neighbors.

One column by itself, judged by any number of neighbors: all rows of a value at once.

Rows are sorted by the column once. From there the neighbors of a value are the rows of the next values on both sides,
and all rows of a value and a fold have the same ones. Distances, order and votes are those of `judge_rows`,
to the bit, which looks at all rows for each row, and several times where many are tied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.bundles import Exact, Queries, Rules, changes_from_none
from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.distances import CLIP, FAR, change_column, term
from fewer.kernels.nearest import UNSURE
from fewer.kernels.votes import count_votes, enter, gain, judge, list_nearest, make_ballot
from fewer.problem import BoolArray, FloatArray, IntArray

# Rows in a leaf of a tree, at most.
ROWS_OF_A_LEAF = 16


@kernel(counted=False)
def judge_rows(rows, queries, verdicts, changes, exact, rules, room, gains, out):
    """Judge or predict the listed rows (r,) under several masks where verdicts (u, r) are unsure.

    A row's distances under what the masks have in common are summed once; each change is made on a copy of them. Terms
    are whole quanta, so that the sums, and with them ties, are those of any other order of columns.

    queries : Queries
        The rows that are listed: the table's own, or new ones.
    changes : columns, weights and bounds
        As `bundles.changes_of` lays them out.
    room : two arrays for n distances, and a ballot
        Made outside: what a kernel makes takes time to compile.
    gains : (u, t)
        What the rows gain is added to it, unless `out` has rows.
    out : (q, c) or (q, 1), or (0, 0)
        Vote shares or means by the last k, written under the last mask; the class that wins a tie has 1e-9 more.
    """
    cells, lacking, folds = queries.columns, queries.missing, queries.fold
    columns, weights, bounds = changes
    base, d, ballot = room
    n, shift = base.shape[0], 1.5 * 2.0**52 * exact.quantum
    for r in range(rows.shape[0]):
        i, n_unsure = rows[r], 0
        for u in range(verdicts.shape[0]):
            n_unsure += verdicts[u, r] == UNSURE
        for j in range(n):
            base[j] = FAR if exact.fold[j] == folds[i] else 0.0
        k = max(folds[i], 0)
        for u in range(verdicts.shape[0] + 1 if n_unsure else 0):  # the first is what all have in common
            if u > 0 and verdicts[u - 1, r] != UNSURE:
                continue
            copy(base, d)
            for m in range(bounds[u], bounds[u + 1]):  # as in `add_terms`, whose call would take as long as the loop
                f, weight = columns[m], weights[m]
                x, scale, nominal = cells[f, i], exact.scale[k, f], exact.nominal[f] != 0
                if not (nominal or exact.holes[f] or lacking[f, i]):
                    for j in range(n):
                        z = exact.columns[f, j]
                        square = scale * (x - z) * (x - z)
                        square = CLIP if square > CLIP else square
                        d[j] += (weight * square + shift) - shift
                    continue
                absent, unequal = (weight * exact.gap[k, f] + shift) - shift, (weight * scale + shift) - shift
                for j in range(n):
                    z = exact.columns[f, j]
                    square = scale * (x - z) * (x - z)
                    square = CLIP if square > CLIP else square
                    part = (weight * square + shift) - shift
                    if nominal:
                        part = 0.0 if x == z else unequal
                    d[j] += absent if lacking[f, i] or exact.missing[f, j] else part
            if u == 0:
                copy(d, base)
                continue
            count, reach = list_nearest(d, ballot.near, ballot.near_d)
            count_votes(ballot.near, ballot.near_d, count, reach, d, rules, ballot)
            if out.shape[0] == 0:
                for t in range(rules.ks.shape[0]):
                    gains[u - 1, t] += gain(i, t, rules, ballot)
            elif rules.n_classes == 0:
                out[i, 0] = ballot.means[-1]
            else:
                total = 0.0
                for c in range(rules.n_classes):
                    total += ballot.tally[c]
                for c in range(rules.n_classes):
                    out[i, c] = ballot.tally[c] / total if total > 0 else 0.0
                out[i, ballot.votes[-1]] += 1e-9


def predicted(queries: Queries, weights: FloatArray, exact: Exact, rules: Rules) -> FloatArray:
    """Predict rows by the rows of other folds: vote shares (q, c), or means (q, 1), with the last k.

    Parameters
    ----------
    queries : Queries
        The rows to predict.
    weights : array of shape (p,)
        Weights of the columns, 0 where they are not used.
    exact : Exact
        The rows that are neighbors.
    rules : Rules
        How they vote.
    """
    n, n_rows = exact.columns.shape[1], len(queries.fold)
    out, room = np.empty((n_rows, max(rules.n_classes, 1))), (np.empty(n), np.empty(n), make_ballot(rules))
    judge_rows(
        np.arange(n_rows), queries, np.full((1, n_rows), UNSURE), changes_from_none(weights[None]), exact, rules, room,
        np.empty((0, 0)), out,
    )  # fmt: skip
    return out


@kernel(counted=False)
def score_move(low, high, distances, moved, exact, rules, room, gains):
    """Judge rows low … high−1 under a proposed mask, by running distances (n, n); gains (t,).

    The distances are first brought to the accepted mask. The proposed one leaves no mark. `room` is for n distances,
    and a ballot.
    """
    changed, ballot = room
    for i in range(low, high):
        d = distances[i]
        for f in moved.before:
            change_column(d, i, f, moved.masks[0, f], moved.masks[1, f], exact)
        copy(d, changed)
        for f in moved.unit:
            change_column(changed, i, f, moved.masks[1, f], moved.masks[2, f], exact)
        judge(changed, i, rules, ballot, gains)


class Sorted(NamedTuple):
    """A column's rows by value: those of value v are order[bounds[v]:bounds[v + 1]], earlier rows first.

    order, fold : (n,) int64
    bounds : (v + 1,) int64
    values : (v,) float64
    lacking : int
        Which of the values, the last, stands for missing cells; −1 if there are none.
    nominal : bool
    scale, gap : (k,) float64
        As in `Exact`, for this column.
    weight, quantum : float
    """

    order: Any
    fold: Any
    bounds: Any
    values: Any
    lacking: Any
    nominal: Any
    scale: Any
    gap: Any
    weight: Any
    quantum: Any


@inner(counted=False)
def _sort(near, low, high):
    """Bring near[low:high] into ascending order."""
    step = (high - low) // 2
    while step > 0:
        for q in range(low + step, high):
            row, place = near[q], q
            while place >= low + step and near[place - step] > row:
                near[place] = near[place - step]
                place -= step
            near[place] = row
        step //= 2


@inner(counted=False)
def _judge_value(a, k, rows, rules, scratch, ballot):
    """Let the neighbors of rows of value a and fold k vote."""
    near, near_d, d = scratch
    top = rows.values.shape[0] if rows.lacking < 0 else rows.lacking
    low, high, lacking = a, a + 1, a != rows.lacking and rows.lacking >= 0
    count, level, wanted = 0, 0, rules.ks[-1]
    while True:
        distance, first, n_values = FAR, count, 0
        for turn in range(2):  # first how far the next rows are, then who they are
            for side in range(3):  # below, above, missing
                while True:
                    v = low if side == 0 else high if side == 1 else rows.lacking
                    if v < 0 or (side == 1 and v >= top) or (side == 2 and not lacking):
                        break
                    apart = term(
                        rows.values[a], a == rows.lacking, rows.values[v], v == rows.lacking, rows.nominal,
                        rows.scale[k], rows.gap[k], rows.weight, rows.quantum,
                    )  # fmt: skip
                    if turn == 0 and apart < distance:
                        distance = apart
                    if turn == 0 or apart != distance:
                        break
                    for q in range(rows.bounds[v], rows.bounds[v + 1]):
                        if rows.fold[rows.order[q]] != k:
                            near[count], near_d[count] = rows.order[q], distance
                            count += 1
                    low, high, lacking = low - (side == 0), high + (side == 1), lacking and side != 2
                    n_values += 1
        if n_values > 1 and (rules.by_rows or rules.n_classes == 0):  # else votes are sums that are exact in any order
            _sort(near, first, count)
        level += count > first
        far = distance >= FAR
        if far:
            for j in range(d.shape[0]):
                d[j] = FAR
            for q in range(count):
                d[near[q]] = near_d[q]
        if far or (count if rules.by_rows else level) >= wanted:
            if count_votes(near, near_d, count, FAR, d[: d.shape[0] if far else 0], rules, ballot) or far:
                return
            wanted *= 2  # votes are tied


@kernel(counted=False)
def score_column(rows, rules, scratch, ballot, judged, votes, means, gains):
    """Judge all rows by one column; gains (t,). `judged` is −1 for each fold, `votes` and `means` are (k, t)."""
    for a in range(rows.values.shape[0]):
        for q in range(rows.bounds[a], rows.bounds[a + 1]):
            i = rows.order[q]
            k = rows.fold[i]
            fresh, judged[k] = judged[k] != a, a
            if fresh:
                _judge_value(a, k, rows, rules, scratch, ballot)
            for t in range(gains.shape[0]):
                if fresh:
                    votes[k, t], means[k, t] = ballot.votes[t], ballot.means[t]
                ballot.votes[t], ballot.means[t] = votes[k, t], means[k, t]
                gains[t] += gain(i, t, rules, ballot)


def column_gains(exact: Exact, f: int, weight: float, rules: Rules) -> FloatArray:
    """Sum what the rows gain by column f with a weight: (t,).

    Parameters
    ----------
    exact : Exact
        The rows' distances on the columns so far.
    f : int
        The number of the column.
    weight : float
        With 0 all rows are equally far from each other, as they are without any column.
    rules : Rules
        How neighbors vote.
    """
    n, missing = exact.columns.shape[1], (exact.missing[f] != 0) & (weight > 0)
    values = np.where(missing, 0.0, exact.columns[f]) if weight > 0 else np.zeros(n)
    order = np.lexsort((values, missing))
    column, absent = values[order], missing[order]
    starts = np.flatnonzero(np.append(True, ((column[1:] != column[:-1]) & ~absent[1:]) | (absent[1:] & ~absent[:-1])))
    rows = Sorted(
        order, exact.fold, np.append(starts, n), column[starts], len(starts) - 1 if missing.any() else -1,
        bool(exact.nominal[f]), exact.scale[:, f].copy(), exact.gap[:, f].copy(), float(weight), float(exact.quantum),
    )  # fmt: skip
    n_folds, t = len(exact.scale), len(rules.ks)
    scratch = np.empty(n, dtype=np.uint32), np.empty(n), np.empty(n)
    gains = np.zeros(t)
    score_column(
        rows, rules, scratch, make_ballot(rules), np.full(n_folds, -1), np.zeros((n_folds, t), dtype=np.int64),
        np.zeros((n_folds, t)), gains,
    )  # fmt: skip
    return gains


class RowTree(NamedTuple):
    """Rows in a balanced tree: node 1 is the root, 2v and 2v + 1 are the halves of v, the last nodes are the leaves.

    order, fold : (n,) int64
        The rows of leaf after leaf, and their folds.
    bounds : (leaves + 1,) int64
    low, high : (2 leaves, q) float64
        What the rows of each node range over, in the columns of the tree.
    used, cells : (q,) int64, (n, q) float64
        The columns of the tree, and their cells in this order of rows.
    tried, new, values : (u,) int64, (u,) float64, (n, u) float64
        Columns that are tried beside those, each with its weight, and their cells.
    """

    order: Any
    fold: Any
    bounds: Any
    low: Any
    high: Any
    used: Any
    cells: Any
    tried: Any
    new: Any
    values: Any


def tree_of(exact: Exact, used: Any, tried: Any, new: Any) -> RowTree:
    """Halve the rows again and again, each part in the column in which it is widest.

    Parameters
    ----------
    exact : Exact
        The rows.
    used : array of shape (q,)
        Columns of numbers without missing cells.
    tried, new : arrays of shape (u,)
        Such columns that are tried beside them, and with which weight.
    """
    points, scale = exact.columns[used].T, np.sqrt(exact.scale[:, used].max(axis=0))
    n, depth = len(points), max(int(np.ceil(np.log2(exact.columns.shape[1] / ROWS_OF_A_LEAF))), 0)
    order, bounds = np.arange(n), np.array([0, n])
    low, high = np.empty((2, 2 << depth, len(used)))
    for level in range(depth + 1):
        cells, nodes = points[order], slice(1 << level, 2 << level)
        low[nodes], high[nodes] = np.minimum.reduceat(cells, bounds[:-1]), np.maximum.reduceat(cells, bounds[:-1])
        if level < depth:
            widest = ((high[nodes] - low[nodes]) * scale).argmax(axis=1)
            part = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            order = order[np.lexsort((cells[np.arange(n), widest[part]], part))]
            bounds = np.sort(np.append(bounds, (bounds[:-1] + bounds[1:]) // 2))
    columns = (np.ascontiguousarray(exact.columns[features][:, order].T) for features in (used, tried))
    return RowTree(order, exact.fold[order], bounds, low, high, used, next(columns), tried, new, next(columns))


@inner(counted=False)
def _search(place, tree, factors, shift, room, near, near_d):
    """List the nearest rows of a row for each column that is tried; return how many rows were looked at.

    A row's distance in the columns of the tree is part of its distance with any column beside them. So nodes and rows
    are passed over whose part alone is beyond the last row of every list.
    """
    nodes, ahead, sums, last = room
    base, (scale, weight) = factors
    x, y, k = tree.cells[place], tree.values[place], tree.fold[place]
    first_leaf, slack = tree.bounds.shape[0] - 1, (x.shape[0] + 1) * shift * 2.0**-52
    n_seen, top, bound, nodes[0], ahead[0] = 0, 1, FAR, 1, 0.0
    for u in range(last.shape[0]):
        last[u] = FAR
    while top > 0:
        top -= 1
        node = nodes[top]
        if ahead[top] > bound:
            continue
        if node < first_leaf:
            one = other = 0.0  # no row of a child is closer than that, but for roundings
            for child in range(2 * node, 2 * node + 2):
                one, other = other, 0.0
                for f in range(x.shape[0]):
                    gap = max(max(tree.low[child, f] - x[f], x[f] - tree.high[child, f]), 0.0)
                    other += min(base[f, 0] * gap * gap, CLIP) * base[f, 1]
            nearer = 2 * node if one <= other else 2 * node + 1
            nodes[top], ahead[top] = 4 * node + 1 - nearer, max(one, other) * (1.0 - 1e-12) - slack
            nodes[top + 1], ahead[top + 1] = nearer, min(one, other) * (1.0 - 1e-12) - slack
            top += 2
            continue
        for r in range(tree.bounds[node - first_leaf], tree.bounds[node - first_leaf + 1]):
            if tree.fold[r] == k:
                continue
            n_seen += 1
            total = 0.0
            for f in range(x.shape[0]):
                d = x[f] - tree.cells[r, f]
                total += (min(base[f, 0] * d * d, CLIP) * base[f, 1] + shift) - shift
            if total > bound:
                continue
            closer, z = 0, tree.values[r]
            for u in range(y.shape[0]):
                d = y[u] - z[u]
                square = scale[u] * d * d
                square = CLIP if square > CLIP else square
                part = total + ((weight[u] * square + shift) - shift)
                sums[u] = part
                closer += part <= last[u]
            if closer:
                for u in range(y.shape[0]):
                    if sums[u] <= last[u]:
                        enter(near[u], near_d[u], near.shape[1], tree.order[r], sums[u])
                        last[u] = near_d[u, near.shape[1] - 1]
                bound = last[0]
                for u in range(1, last.shape[0]):
                    bound = max(bound, last[u])
    return n_seen


@kernel(counted=False)
def score_tree(places, tree, exact, rules, room, gains, left):
    """Judge the rows at some places of a tree with each of the columns that are tried; gains (u, t).

    room : see `tree_gains`
        Factors and weights of the columns of the tree, factors of those that are tried, arrays for `_search`, the
        nearest rows and their distances (u, k + 1), a ballot.
    left : (u, places) bool, set where the lists do not suffice, as more rows are equally near than they hold
    """
    base, scale, searching, near, near_d, ballot = room
    shift, n_seen = 1.5 * 2.0**52 * exact.quantum, 0
    for p in range(places.shape[0]):
        i, k = tree.order[places[p]], tree.fold[places[p]]
        for f in range(base.shape[0]):
            base[f, 0] = exact.scale[k, tree.used[f]]
        for u in range(scale.shape[0]):
            scale[u] = exact.scale[k, tree.tried[u]]
            for c in range(near.shape[1]):
                near[u, c], near_d[u, c] = 0, FAR
        n_seen += _search(places[p], tree, (base, (scale, tree.new)), shift, searching, near, near_d)
        for u in range(scale.shape[0]):
            count, reach = 0, near_d[u, near.shape[1] - 1]
            while count < near.shape[1] and near_d[u, count] < FAR:
                count += 1
            left[u, p] = not count_votes(near[u], near_d[u], count, reach, near_d[u, :0], rules, ballot)
            if not left[u, p]:
                for t in range(rules.ks.shape[0]):
                    gains[u, t] += gain(i, t, rules, ballot)
    return n_seen


def tree_gains(
    places: IntArray, tree: RowTree, weights: FloatArray, exact: Exact, rules: Rules
) -> tuple[FloatArray, BoolArray, int]:
    """Judge rows with each of the columns that are tried: gains (u, t), rows left (u, places), and rows looked at.

    Parameters
    ----------
    places : array of shape (places,)
        Where the rows stand in the tree.
    tree : RowTree
        All rows.
    weights : array of shape (p,)
        Weights of the columns of the tree.
    exact, rules
        Their distances, and how they vote.
    """
    n_used, n_tried, c = len(tree.used), len(tree.tried), rules.ks[-1] + 1
    gains, left = np.zeros((n_tried, len(rules.ks))), np.empty((n_tried, len(places)), dtype=bool)
    base = np.column_stack([np.empty(n_used), weights[tree.used]])
    searching = np.empty(128, dtype=np.int64), np.empty(128), np.empty(n_tried), np.empty(n_tried)
    near, near_d = np.empty((n_tried, c), dtype=np.uint32), np.empty((n_tried, c))
    room = base, np.empty(n_tried), searching, near, near_d, make_ballot(rules)
    return gains, left, score_tree(places, tree, exact, rules, room, gains, left)
