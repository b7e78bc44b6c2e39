"""Nearest-neighbor judgements over running squared distances.

Rows judge themselves against the rows of other folds. See `_distances` for the distances and their arguments; these
are shared by the kernels here:

codes, values, row_weights : (n,)
    Class codes, regression targets, and weights of the rows. `n_classes` 0 means regression.
grain : float
    Gains of regression are rounded to multiples of this power of two, and row weights are given in whole multiples
    of one, so that sums of gains do not depend on the order of the rows either.
ks : (t,) int64, ascending
    The numbers of neighbors to judge with.
by_rows : bool
    True: k counts rows. False: k counts distinct distances, and a tied vote takes in the next distance.
gains : (…, t) float64
    What each row adds to the score: its weight if it is judged right, or minus its weighted squared error.
verdicts : (…, n) uint8
    WRONG, RIGHT or UNSURE for each row: what coarse distances say about the nearest neighbor's class.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._distances import (
    CLIPPED,
    FAR,
    FAR_32,
    PLAIN,
    add_32,
    add_masks,
    add_terms,
    change_coarse,
    change_row,
    coarse_add,
    coarse_cell,
    coarse_start,
    coarse_take,
    fill_distances,
    fill_terms,
    least,
    least_32,
    least_64,
    least_sum,
    start_row,
    subtract_32,
    term,
)

__all__ = ["FAR", "add_masks", "fill_distances", "fill_terms", "start_row", "term"]

WRONG, RIGHT, UNSURE = np.uint8(0), np.uint8(1), np.uint8(2)
SPARE = 2  # rows listed beyond the k nearest, for tied distances and tied votes


# ---------------------------------------------------------------------------------------------------- votes


@njit(nogil=True, cache=True)
def leader(tally):  # type: ignore[no-untyped-def]
    """Return the class with the most votes, or −1 if several share the lead."""
    best, alone = 0, True
    for c in range(1, tally.shape[0]):
        if tally[c] > tally[best]:
            best, alone = c, True
        elif tally[c] == tally[best]:
            alone = False
    return best if alone else -1


@njit(nogil=True, cache=True)
def most_votes(tally):  # type: ignore[no-untyped-def]
    """Return the largest number of votes."""
    most = tally[0]
    for c in range(1, tally.shape[0]):
        most = max(most, tally[c])
    return most


@njit(nogil=True, cache=True)
def first_leader(tally, order, codes):  # type: ignore[no-untyped-def]
    """Among the classes that share the lead, give that of the first row in an order."""
    most = most_votes(tally)
    for j in order:
        if tally[codes[j]] == most:
            return codes[j]
    return 0


@njit(nogil=True, cache=True)
def majority(d, codes, row_weights, tally):  # type: ignore[no-untyped-def]
    """Return the most frequent class of the usable rows; of several, the one met first."""
    tally[:] = 0.0
    for j in range(d.shape[0]):
        if d[j] < FAR:
            tally[codes[j]] += row_weights[j]
    most = most_votes(tally)
    for j in range(d.shape[0]):
        if d[j] < FAR and tally[codes[j]] == most:
            return codes[j]
    return 0


@njit(nogil=True, cache=True)
def list_nearest(d, near, near_d):  # type: ignore[no-untyped-def]
    """List the nearest rows, earlier rows first among equally near ones; give how many there are."""
    room, count = near.shape[0], 0
    threshold = FAR
    for j in range(d.shape[0]):
        if d[j] < threshold:
            place = count if count < room else room - 1
            while place > 0 and d[j] < near_d[place - 1]:
                near_d[place] = near_d[place - 1]
                near[place] = near[place - 1]
                place -= 1
            near_d[place] = d[j]
            near[place] = j
            if count < room:
                count += 1
            if count == room:
                threshold = near_d[room - 1]
    return count


@njit(nogil=True, cache=True)
def vote_by_rows(  # type: ignore[no-untyped-def]
    near, codes, values, row_weights, n_classes, ks, tally, votes, means
):
    """Let the k nearest rows of a list vote, for each k."""
    tally[:] = 0.0
    t, total, weighted = 0, 0.0, 0.0
    for place in range(ks[-1]):
        if place < near.shape[0]:
            j = near[place]
            total += row_weights[j]
            if n_classes:
                tally[codes[j]] += row_weights[j]
            else:
                weighted += row_weights[j] * values[j]
        if place + 1 == ks[t]:
            if n_classes:
                winner = leader(tally)
                votes[t] = winner if winner >= 0 else first_leader(tally, near, codes)
            else:
                means[t] = weighted / total if total > 0 else 0.0
            t += 1


@njit(nogil=True, cache=True)
def vote_by_levels(  # type: ignore[no-untyped-def]
    near, near_d, reach, codes, values, row_weights, n_classes, ks, tally, votes, means
):
    """Let all rows at the k smallest distinct distances vote, for each k.

    The list is complete up to the distance `reach`; gives False if that is not far enough.
    """
    tally[:] = 0.0
    place, level, t, total, weighted = 0, 0, 0, 0.0, 0.0
    while t < ks.shape[0]:
        if place >= near.shape[0] or near_d[place] > reach:
            return False
        distance = near_d[place]
        while place < near.shape[0] and near_d[place] == distance:
            j = near[place]
            total += row_weights[j]
            if n_classes:
                tally[codes[j]] += row_weights[j]
            else:
                weighted += row_weights[j] * values[j]
            place += 1
        level += 1
        while t < ks.shape[0] and level >= ks[t]:
            if n_classes:
                winner = leader(tally)
                if winner < 0:
                    break
                votes[t] = winner
            else:
                means[t] = weighted / total if total > 0 else 0.0
            t += 1
    return True


@njit(nogil=True, cache=True)
def vote_level_by_level(  # type: ignore[no-untyped-def]
    d, codes, values, row_weights, n_classes, ks, tally, votes, means
):
    """Vote as `vote_by_levels`, looking for each next distance among all rows, until there is none."""
    n = d.shape[0]
    tally[:] = 0.0
    level, t, below, total, weighted = 0, 0, -1.0, 0.0, 0.0
    while t < ks.shape[0]:
        nearest = FAR
        for j in range(n):
            if d[j] > below and d[j] < nearest:
                nearest = d[j]
        exhausted = nearest >= FAR
        if not exhausted:
            for j in range(n):
                if d[j] == nearest:
                    total += row_weights[j]
                    if n_classes:
                        tally[codes[j]] += row_weights[j]
                    else:
                        weighted += row_weights[j] * values[j]
            level += 1
            below = nearest
        while t < ks.shape[0] and (level >= ks[t] or exhausted):
            if n_classes:
                winner = leader(tally)
                if winner < 0:
                    if not exhausted:
                        break
                    winner = majority(d, codes, row_weights, tally)
                votes[t] = winner
            else:
                means[t] = weighted / total if total > 0 else 0.0
            t += 1


@njit(nogil=True, cache=True)
def farthest_complete(near_d, room):  # type: ignore[no-untyped-def]
    """Return the distance up to which a list with limited room holds all rows."""
    count = near_d.shape[0]
    if count < room:
        return FAR
    for place in range(count - 1, 0, -1):
        if near_d[place - 1] < near_d[count - 1]:
            return near_d[place - 1]
    return -1.0


@njit(nogil=True, cache=True)
def vote(  # type: ignore[no-untyped-def]
    d, codes, values, row_weights, n_classes, ks, by_rows, near, near_d, tally, votes, means
):
    """Let the neighbors vote, given the distances to all rows: votes (t,) or means (t,)."""
    count = list_nearest(d, near, near_d)
    near_d = near_d[:count]
    if by_rows:
        vote_by_rows(near[:count], codes, values, row_weights, n_classes, ks, tally, votes, means)
    elif not vote_by_levels(
        near[:count], near_d, farthest_complete(near_d, near.shape[0]),
        codes, values, row_weights, n_classes, ks, tally, votes, means,
    ):  # fmt: skip
        vote_level_by_level(d, codes, values, row_weights, n_classes, ks, tally, votes, means)


@njit(nogil=True, cache=True)
def gain(i, t, codes, values, row_weights, n_classes, grain, votes, means):  # type: ignore[no-untyped-def]
    """Return what row i adds to the score with the t-th number of neighbors."""
    if n_classes:
        return row_weights[i] if votes[t] == codes[i] else 0.0
    error = means[t] - values[i]
    return -np.rint(row_weights[i] * error * error / grain) * grain


@njit(nogil=True, cache=True)
def judge(  # type: ignore[no-untyped-def]
    d, i, codes, values, row_weights, n_classes, grain, ks, by_rows, near, near_d, tally, votes, means, gains
):
    """Judge row i by its distances and add what it gains to the score."""
    vote(d, codes, values, row_weights, n_classes, ks, by_rows, near, near_d, tally, votes, means)
    for t in range(ks.shape[0]):
        gains[t] += gain(i, t, codes, values, row_weights, n_classes, grain, votes, means)


@njit(nogil=True, cache=True)
def scratch(n_classes, ks):  # type: ignore[no-untyped-def]
    """Make the arrays that voting needs."""
    room = ks[-1] + SPARE
    return (
        np.empty(room, np.uint32), np.empty(room), np.empty(max(n_classes, 1)),
        np.empty(len(ks), np.int64), np.empty(len(ks)),
    )  # fmt: skip


# -------------------------------------------------------------------------------------------- any neighbors


@njit(nogil=True, cache=True)
def score_masks(  # type: ignore[no-untyped-def]
    low, high, masks, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 under each of (m, p) masks; gains (m, t)."""
    d = np.empty(columns.shape[1])
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for i in range(low, high):
        for m in range(masks.shape[0]):
            add_masks(d, i, masks[m], columns, missing, nominal, scale, gap, fold, quantum)
            judge(
                d, i, codes, values, row_weights, n_classes, grain, ks, by_rows,
                near, near_d, tally, votes, means, gains[m],
            )  # fmt: skip


@njit(nogil=True, cache=True)
def score_listed(  # type: ignore[no-untyped-def]
    rows, mask, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge the listed rows under one mask; gains (t,)."""
    d = np.empty(columns.shape[1])
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for i in rows:
        add_masks(d, i, mask, columns, missing, nominal, scale, gap, fold, quantum)
        judge(
            d, i, codes, values, row_weights, n_classes, grain, ks, by_rows,
            near, near_d, tally, votes, means, gains,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def score_flips(  # type: ignore[no-untyped-def]
    low, high, mask, members, offsets, new, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 with unit u (columns members[offsets[u]:offsets[u+1]]) set to new[u]; gains (u, t)."""
    n = columns.shape[1]
    d, changed, part, flipped = np.empty(n), np.empty(n), np.empty(n), mask.copy()
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for i in range(low, high):
        add_masks(d, i, mask, columns, missing, nominal, scale, gap, fold, quantum)
        for u in range(offsets.shape[0] - 1):
            unit = members[offsets[u] : offsets[u + 1]]
            for f in unit:
                flipped[f] = new[u]
            for j in range(n):
                changed[j] = d[j]
            change_row(
                changed, part, i, unit, mask, flipped, columns, missing, nominal, scale, gap, fold, quantum
            )  # fmt: skip
            judge(
                changed, i, codes, values, row_weights, n_classes, grain, ks, by_rows,
                near, near_d, tally, votes, means, gains[u],
            )  # fmt: skip
            for f in unit:
                flipped[f] = mask[f]


@njit(nogil=True, cache=True)
def score_unsure_flips(  # type: ignore[no-untyped-def]
    rows, verdicts, mask, members, offsets, new, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge as `score_flips` the rows and units of which verdicts (u, r) on the listed rows (r,) are unsure."""
    n = columns.shape[1]
    d, changed, part, flipped = np.empty(n), np.empty(n), np.empty(n), mask.copy()
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for r in range(rows.shape[0]):
        i, fresh = rows[r], False
        for u in range(offsets.shape[0] - 1):
            if verdicts[u, r] != UNSURE:
                continue
            if not fresh:
                add_masks(d, i, mask, columns, missing, nominal, scale, gap, fold, quantum)
                fresh = True
            unit = members[offsets[u] : offsets[u + 1]]
            for f in unit:
                flipped[f] = new[u]
            for j in range(n):
                changed[j] = d[j]
            change_row(
                changed, part, i, unit, mask, flipped, columns, missing, nominal, scale, gap, fold, quantum
            )  # fmt: skip
            judge(
                changed, i, codes, values, row_weights, n_classes, grain, ks, by_rows,
                near, near_d, tally, votes, means, gains[u],
            )  # fmt: skip
            for f in unit:
                flipped[f] = mask[f]


@njit(nogil=True, cache=True)
def score_move(  # type: ignore[no-untyped-def]
    low, high, distances, masks, before, unit, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 under a proposed mask, by running distances (n, n); gains (t,).

    The distances belong to masks[0]. They are first brought to the accepted mask, masks[1], which differs in the
    columns `before`. The proposed one, masks[2], differs from that in the columns `unit` and leaves no mark.
    """
    settled, accepted, proposed = masks[0], masks[1], masks[2]
    n = columns.shape[1]
    changed, part = np.empty(n), np.empty(n)
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for i in range(low, high):
        d = distances[i]
        change_row(d, part, i, before, settled, accepted, columns, missing, nominal, scale, gap, fold, quantum)
        for j in range(n):
            changed[j] = d[j]
        change_row(changed, part, i, unit, accepted, proposed, columns, missing, nominal, scale, gap, fold, quantum)
        judge(
            changed, i, codes, values, row_weights, n_classes, grain, ks, by_rows,
            near, near_d, tally, votes, means, gains,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def predict_rows(  # type: ignore[no-untyped-def]
    queries, query_missing, query_fold, weights, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, ks, by_rows, out,
):  # fmt: skip
    """Predict query rows (q, p): vote shares into out (q, c), or means into out (q, 1), with the last k."""
    n = columns.shape[1]
    d = np.empty(n)
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for i in range(queries.shape[0]):
        k = query_fold[i]
        for j in range(n):
            d[j] = FAR if fold[j] == k else 0.0
        k = max(k, 0)
        for f in range(weights.shape[0]):
            if weights[f] > 0.0:
                add_terms(
                    d, queries[i, f], query_missing[i, f], columns[f], missing[f], nominal[f],
                    scale[k, f], gap[k, f], weights[f], quantum,
                )  # fmt: skip
        vote(d, codes, values, row_weights, n_classes, ks, by_rows, near, near_d, tally, votes, means)
        if n_classes:
            total = tally.sum()
            for c in range(n_classes):
                out[i, c] = tally[c] / total if total > 0 else 0.0
            out[i, votes[-1]] += 1e-9
        else:
            out[i, 0] = means[-1]


# ---------------------------------------------------------------------------- the nearest neighbor's class
#
# With one neighbor and classes, a row is judged right when the nearest row of its own class is nearer than the
# nearest row of any other. Rows sorted by class make that two minima over contiguous coarse distances. Where they
# lie closer together than the error of coarse distances, ties included, the verdict is UNSURE, and exact distances
# decide (`score_listed`).


@njit(nogil=True, cache=True)
def nearer(a, b, rough, steep, used):  # type: ignore[no-untyped-def]
    """Say whether coarse distance a must be smaller than b; the bound of the error is in `differences.Coarse`."""
    if a >= FAR_32 or b >= FAR_32:
        return a < FAR_32
    if a + rough < b:
        return True
    if a >= b:
        return False
    far = b + rough
    error = 2.0 * (2.0**-22 * np.sqrt(steep * far) + 3.0 * 2.0**-46 * steep + 2.0**-22 * far + used) + used
    return a + error < b


@njit(nogil=True, cache=True)
def verdict(nearest, own, by_rows, rough, steep, used):  # type: ignore[no-untyped-def]
    """Compare the coarse distances to the nearest rows of each class (c,) with that of the own class.

    By rows, the nearest row decides. By distances, rows of two other classes may tie for the nearest, and then the
    next distance may turn the vote; so these two must be told apart too.
    """
    mine, other, another = nearest[own], FAR_32, FAR_32
    for c in range(nearest.shape[0]):
        if c != own:
            if nearest[c] < other:
                other, another = nearest[c], other
            elif nearest[c] < another:
                another = nearest[c]
    if nearer(mine, other, rough, steep, used):
        return RIGHT
    if nearer(other, mine, rough, steep, used) and (
        by_rows or another >= FAR_32 or nearer(other, another, rough, steep, used)
    ):
        return WRONG
    return UNSURE


@njit(nogil=True, cache=True)
def nearest_sums(d, part, starts, nearest):  # type: ignore[no-untyped-def]
    """Find the nearest row of each class when a part is added to the coarse distances."""
    for c in range(nearest.shape[0]):
        nearest[c] = least_sum(d[starts[c] : starts[c + 1]], part[starts[c] : starts[c + 1]])


@njit(nogil=True, cache=True)
def error_of(mask, errors):  # type: ignore[no-untyped-def]
    """Sum the errors (p, 2) of the features with a weight, and count these."""
    rough, steep, used = 0.0, 0.0, 0.0
    for f in range(mask.shape[0]):
        if mask[f] > 0.0:
            rough += errors[f, 0]
            steep += errors[f, 1]
            used += 1.0
    return rough, steep, used


# The loops over a unit's columns are written out in each kernel, over whole arrays with unsigned indices: a slice that
# is made and handed on costs 10 to 50 ns, as much as a pass over a hundred rows.


@njit(nogil=True, cache=True)
def least_by_class(  # type: ignore[no-untyped-def]
    i, f, weight, d, columns, kinds, factor, gap, clip, k, starts, nearest
):
    """Find the nearest row of each class after adding column f to (or, with weight < 0, taking it off) distances d."""
    i, f, k, kind = np.uint64(i), np.uint64(f), np.uint64(k), kinds[f]
    x, signed, absent, most = columns[f, i], weight * factor[k, f], weight * gap[k, f], weight * clip
    none = np.float32(0.0)
    for c in range(nearest.shape[0]):
        smallest = FAR_32
        places = range(np.uint64(starts[c]), np.uint64(starts[c + 1]))
        if kind == PLAIN:
            for j in places:
                part = np.int32(signed * (x - columns[f, j]) * (x - columns[f, j]))
                smallest = least_32(smallest, add_32(d[j], part))
        elif kind == CLIPPED:
            for j in places:
                square = signed * (x - columns[f, j]) * (x - columns[f, j])
                square = most if abs(square) > abs(most) else square
                smallest = least_32(smallest, add_32(d[j], np.int32(square if square == square else absent)))
        else:
            for j in places:
                difference = x - columns[f, j]
                square = signed if difference != none else none
                part = np.int32(square if difference == difference else absent)
                smallest = least_32(smallest, add_32(d[j], part))
        nearest[c] = smallest


@njit(nogil=True, cache=True)
def coarse_flips(  # type: ignore[no-untyped-def]
    low, high, mask, used, members, offsets, new, columns, kinds, factor, gap, clip, fold, starts, codes, by_rows,
    errors, verdicts,
):  # fmt: skip
    """Return verdicts (u, high−low) on rows low … high−1 with unit u set to new[u]."""
    n = columns.shape[1]
    d, part, change = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    nearest = np.empty(starts.shape[0] - 1, np.int32)
    rough, steep, n_used = error_of(mask, errors)
    for i in range(low, high):
        k = fold[i]
        coarse_start(d, k, fold)
        for m in range(used.shape[0]):
            f = used[m]
            w = np.float32(mask[f])
            coarse_add(d, part, columns[f, i], columns[f], kinds[f], w * factor[k, f], w * gap[k, f], w * clip)
        for u in range(offsets.shape[0] - 1):
            w_new, more_rough, more_steep = np.float32(new[u]), rough, steep
            f = members[offsets[u]]
            if offsets[u + 1] - offsets[u] == 1 and (mask[f] > 0.0) != (w_new > 0.0):
                least_by_class(
                    i, f, w_new - np.float32(mask[f]), d, columns, kinds, factor, gap, clip, k, starts, nearest
                )
                verdicts[u, i - low] = verdict(
                    nearest, codes[i], by_rows, rough + errors[f, 0], steep + errors[f, 1], n_used + 1.0
                )
                continue
            for j in range(n):
                change[j] = 0
            for m in range(offsets[u], offsets[u + 1]):
                f = members[m]
                x, kind, w_old = columns[f, i], kinds[f], np.float32(mask[f])
                if w_old > 0.0:
                    coarse_take(
                        change, part, x, columns[f], kind, w_old * factor[k, f], w_old * gap[k, f], w_old * clip
                    )
                if w_new > 0.0:
                    coarse_add(change, part, x, columns[f], kind, w_new * factor[k, f], w_new * gap[k, f], w_new * clip)
                more_rough += errors[f, 0]
                more_steep += errors[f, 1]
            nearest_sums(d, change, starts, nearest)
            n_more = n_used + offsets[u + 1] - offsets[u]
            verdicts[u, i - low] = verdict(nearest, codes[i], by_rows, more_rough, more_steep, n_more)


@njit(nogil=True, cache=True)
def coarse_rows(  # type: ignore[no-untyped-def]
    low, high, distances, mask, columns, kinds, factor, gap, clip, fold, starts, codes
):
    """Write the coarse distances of rows low … high−1 under one mask into distances (n, n)."""
    part = np.empty(columns.shape[1], np.int32)
    for i in range(low, high):
        d, k = distances[i], fold[i]
        coarse_start(d, k, fold)
        for f in range(columns.shape[0]):
            w = np.float32(mask[f])
            if w > 0.0:
                coarse_add(d, part, columns[f, i], columns[f], kinds[f], w * factor[k, f], w * gap[k, f], w * clip)


@njit(nogil=True, cache=True)
def judge_change(  # type: ignore[no-untyped-def]
    first, last, low, high, members, mask, value, rough, steep, used, distances,
    columns, kinds, factor, gap, clip, fold, starts, codes, by_rows, row_weights, row, nearest, unsure,
):  # fmt: skip
    """Judge rows first … last−1 with the columns members[low:high] set to a value, by coarse distances.

    Gives what the rows judged right weigh, and how many unsure ones were listed.
    """
    n, right, n_unsure = np.uint64(columns.shape[1]), 0.0, 0
    f, new = np.uint64(members[low]), np.float32(value)
    old, single = np.float32(mask[f]), high - low == 1
    plain = single and kinds[f] == PLAIN and (old == 0.0 or new == 0.0)
    for i in range(np.uint64(first), np.uint64(last)):
        k = np.uint64(fold[i])
        if plain:
            x, signed = columns[f, i], (new - old) * factor[k, f]
            for c in range(nearest.shape[0]):
                smallest = FAR_32
                for j in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
                    part = np.int32(signed * (x - columns[f, j]) * (x - columns[f, j]))
                    smallest = least_32(smallest, add_32(distances[i, j], part))
                nearest[c] = smallest
        else:
            for j in range(n):
                row[j] = distances[i, j]
            for m in range(low, high):
                f = np.uint64(members[m])
                old, kind, x = np.float32(mask[f]), kinds[f], columns[f, i]
                was, will = old * factor[k, f], new * factor[k, f]
                gap_was, gap_will, clip_was, clip_will = old * gap[k, f], new * gap[k, f], old * clip, new * clip
                for j in range(n):
                    z = columns[f, j]
                    d = subtract_32(row[j], coarse_cell(x, z, kind, was, gap_was, clip_was))
                    row[j] = add_32(d, coarse_cell(x, z, kind, will, gap_will, clip_will))
            for c in range(nearest.shape[0]):
                smallest = FAR_32
                for j in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
                    smallest = least_32(smallest, row[j])
                nearest[c] = smallest
        found = verdict(nearest, codes[i], by_rows, rough, steep, used)
        if found == RIGHT:
            right += row_weights[i]
        elif found == UNSURE:
            unsure[first + n_unsure] = i
            n_unsure += 1
    return right, n_unsure


@njit(nogil=True, cache=True)
def coarse_move(  # type: ignore[no-untyped-def]
    low, high, distances, masks, before, unit, columns, kinds, factor, gap, clip, fold, starts, codes, by_rows,
    errors, row_weights, unsure,
):  # fmt: skip
    """Judge rows low … high−1 under a proposed mask, by running coarse distances (n, n).

    The rows of `masks` are those that the distances belong to, the accepted and the proposed one, as in `score_move`.
    Gives what the rows judged right weigh, and how many unsure ones were listed.
    """
    for f in before:
        old, new = np.float32(masks[0, f]), np.float32(masks[1, f])
        change_coarse(low, high, distances, f, old, new, columns, kinds, factor, gap, clip, fold)
    rough, steep, n_used = error_of(masks[2], errors)
    row, nearest = np.empty(columns.shape[1], np.int32), np.empty(starts.shape[0] - 1, np.int32)
    return judge_change(
        low, high, 0, unit.shape[0], unit, masks[1], masks[2, unit[0]], rough, steep, n_used, distances,
        columns, kinds, factor, gap, clip, fold, starts, codes, by_rows, row_weights, row, nearest, unsure,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def coarse_masks(  # type: ignore[no-untyped-def]
    low, high, picks, used, levels, n_digits, margins, width, room,
    columns, kinds, factor, gap, clip, fold, starts, codes, by_rows, verdicts,
):  # fmt: skip
    """Return verdicts (m, high−low) on rows low … high−1 under many masks at once.

    The used features come in groups of n_digits; picks (m, g) holds the levels of a group's features as one number
    (levels[0] is 0). The sums for all combinations of a group are tabulated once for a row, up to `width` columns and
    as many groups as `room` numbers hold, so that a mask costs one addition a group.
    """
    n, n_masks, n_groups, base = columns.shape[1], picks.shape[0], picks.shape[1], levels.shape[0]
    size = base**n_digits
    width = min(width, n)
    at_once = max(min(room // (size * width), n_groups), 1)
    tables = np.empty((at_once, size, width), np.int32)
    sums = np.empty((n_masks if at_once < n_groups else 1, width), np.int32)
    start, total = np.empty(n, np.int32), np.empty(width, np.int32)
    nearest = np.empty((n_masks, starts.shape[0] - 1), np.int32)
    for i in range(low, high):
        k = fold[i]
        coarse_start(start, k, fold)
        nearest[:] = FAR_32
        for place in range(0, n, width):
            stop = min(place + width, n)
            w = np.uint64(stop - place)
            for first in range(0, n_groups, at_once):
                last = min(first + at_once, n_groups)
                for g in range(first, last):
                    tabulate(
                        tables, g - first, i, place, w, used, g * n_digits, n_digits, levels,
                        columns, kinds, factor, gap, clip, k,
                    )  # fmt: skip
                for m in range(n_masks):
                    row = np.uint64(m if at_once < n_groups else 0)
                    if first == 0:
                        for j in range(w):
                            total[j] = start[np.uint64(place) + j]
                    else:
                        for j in range(w):
                            total[j] = sums[row, j]
                    add_tables(total, w, tables, picks, m, first, last)
                    if last < n_groups:
                        for j in range(w):
                            sums[row, j] = total[j]
                        continue
                    for c in range(starts.shape[0] - 1):
                        smallest = nearest[m, c]
                        for j in range(
                            np.uint64(max(starts[c], place) - place),
                            np.uint64(max(min(starts[c + 1], stop), place) - place),
                        ):
                            smallest = least_32(smallest, total[j])
                        nearest[m, c] = smallest
        for m in range(n_masks):
            verdicts[m, i - low] = verdict(nearest[m], codes[i], by_rows, margins[m, 0], margins[m, 1], margins[m, 2])


@njit(nogil=True, cache=True)
def tabulate(  # type: ignore[no-untyped-def]
    tables, g, i, place, w, used, start, n_digits, levels, columns, kinds, factor, gap, clip, k
):
    """Sum the coarse terms of up to n_digits used features for every combination of their levels into tables[g]."""
    g, i, k, place = np.uint64(g), np.uint64(i), np.uint64(k), np.uint64(place)
    for j in range(w):
        tables[g, np.uint64(0), j] = np.int32(0)
    size = 1
    for digit in range(start, min(start + n_digits, used.shape[0])):
        f = np.uint64(used[digit])
        x, kind = columns[f, i], kinds[f]
        for value in range(1, levels.shape[0]):
            weight = np.float32(levels[value])
            scaled, absent, most = weight * factor[k, f], weight * gap[k, f], weight * clip
            one = np.uint64(value * size)
            if kind == PLAIN:
                for j in range(w):
                    z = columns[f, place + j]
                    tables[g, one, j] = np.int32(scaled * (x - z) * (x - z))
            elif kind == CLIPPED:
                for j in range(w):
                    square = scaled * (x - columns[f, place + j]) * (x - columns[f, place + j])
                    square = most if square > most else square
                    tables[g, one, j] = np.int32(square if square == square else absent)
            else:
                for j in range(w):
                    difference = x - columns[f, place + j]
                    square = scaled if difference != np.float32(0.0) else np.float32(0.0)
                    tables[g, one, j] = np.int32(square if difference == difference else absent)
            for c in range(1, size):
                source, target = np.uint64(c), np.uint64(value * size + c)
                for j in range(w):
                    tables[g, target, j] = add_32(tables[g, source, j], tables[g, one, j])
        size *= levels.shape[0]


@njit(nogil=True, cache=True)
def add_tables(total, w, tables, picks, m, first, last):  # type: ignore[no-untyped-def]
    """Add one row of each of the tables first … last−1 to the totals of mask m."""
    g = first
    while last - g >= 8:
        t = np.uint64(g - first)
        a, b, c, d = (
            np.uint64(picks[m, g]),
            np.uint64(picks[m, g + 1]),
            np.uint64(picks[m, g + 2]),
            np.uint64(picks[m, g + 3]),
        )
        e, f, h, i = (
            np.uint64(picks[m, g + 4]),
            np.uint64(picks[m, g + 5]),
            np.uint64(picks[m, g + 6]),
            np.uint64(picks[m, g + 7]),
        )
        u1, u2, u3, u4, u5, u6, u7 = (
            t + np.uint64(1), t + np.uint64(2), t + np.uint64(3), t + np.uint64(4),
            t + np.uint64(5), t + np.uint64(6), t + np.uint64(7),
        )  # fmt: skip
        for j in range(w):
            one = add_32(add_32(tables[t, a, j], tables[u1, b, j]), add_32(tables[u2, c, j], tables[u3, d, j]))
            two = add_32(add_32(tables[u4, e, j], tables[u5, f, j]), add_32(tables[u6, h, j], tables[u7, i, j]))
            total[j] = add_32(total[j], add_32(one, two))
        g += 8
    while g < last:
        t, a = np.uint64(g - first), np.uint64(picks[m, g])
        for j in range(w):
            total[j] = add_32(total[j], tables[t, a, j])
        g += 1


@njit(nogil=True, cache=True)
def coarse_few(  # type: ignore[no-untyped-def]
    low, high, masks, margins, columns, kinds, factor, gap, clip, fold, starts, codes, by_rows, verdicts
):
    """Return verdicts (m, high−low) on rows low … high−1 under a few masks, or masks with few features."""
    n = columns.shape[1]
    d, part, nearest = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(starts.shape[0] - 1, np.int32)
    for i in range(low, high):
        k = fold[i]
        for m in range(masks.shape[0]):
            coarse_start(d, k, fold)
            for f in range(columns.shape[0]):
                w = np.float32(masks[m, f])
                if w > 0.0:
                    coarse_add(d, part, columns[f, i], columns[f], kinds[f], w * factor[k, f], w * gap[k, f], w * clip)
            for c in range(nearest.shape[0]):
                nearest[c] = least(d[starts[c] : starts[c + 1]])
            verdicts[m, i - low] = verdict(
                nearest, codes[i], by_rows, margins[m, 0], margins[m, 1], margins[m, 2]
            )  # fmt: skip


# ---------------------------------------------------------------------------------------------- all subsets
#
# The subsets of a range of Gray-code numbers form binary trees: at each node one more unit is decided to be in or
# out. A row's distances under all subsets below a node lie between `least`, the sum over the units decided in, and
# `most`, that plus the sum over all undecided ones. Rows whose least exceeds the most of k others can never be
# neighbors below that node, and are dropped; the few that remain make the rest of the tree cheap. Where the
# remaining rows leave no doubt about the vote, all subsets below the node are done at once. Units that separate the
# rows most are decided first.


@njit(nogil=True, cache=True)
def certain(n_own, rows, codes, n_classes, ks, by_rows, even, positive):  # type: ignore[no-untyped-def]
    """Say whether the votes among these rows must go right (1) or wrong (0), or can go either way (−1).

    `n_own` rows are of the right class. `even`: all rows weigh the same; `positive`: all rows weigh something.
    """
    n_all = rows.shape[0]
    if n_classes == 0 or n_all == 0 or not (by_rows or (ks[-1] == 1 and positive)):
        return -1
    if n_own == n_all:
        return 1
    if n_own == 0:
        if not by_rows and n_classes > 2:
            for j in rows:
                if codes[j] != codes[rows[0]]:
                    return -1
        return 0
    if even and n_all >= ks[-1]:
        if 2 * (n_all - n_own) < ks[0]:
            return 1
        if n_classes == 2 and 2 * n_own < ks[0]:
            return 0
    return -1


@njit(nogil=True, cache=True)
def kth_smallest(x, k, small):  # type: ignore[no-untyped-def]
    """Return the k-th smallest number, FAR if there are fewer; `small` is scratch."""
    if x.shape[0] < k:
        return FAR
    if k == 1:
        smallest = FAR
        for c in range(x.shape[0]):
            smallest = least_64(smallest, x[c])
        return smallest
    small[:k] = FAR
    worst = FAR
    for c in range(x.shape[0]):
        if x[c] < worst:
            place = k - 1
            while place > 0 and x[c] < small[place - 1]:
                small[place] = small[place - 1]
                place -= 1
            small[place] = x[c]
            worst = small[k - 1]
    return worst


@njit(nogil=True, cache=True)
def keep(rows, low, high, limit, own, new_rows, new_low, new_high):  # type: ignore[no-untyped-def]
    """Copy the rows whose least distance is within a limit; give how many, and how many of the own class."""
    kept, n_own = 0, 0
    for c in range(rows.shape[0]):
        j = rows[c]
        new_rows[kept], new_low[kept], new_high[kept] = j, low[c], high[c]
        # Without a branch, which would be mispredicted half of the time.
        within = int(low[c] <= limit)
        kept += within
        n_own += within & own[j]
    return kept, n_own


@njit(nogil=True, cache=True)
def judge_leaf(  # type: ignore[no-untyped-def]
    rows, d, limit, codes, values, row_weights, n_classes, ks, by_rows, near, near_d, listed, tally, votes, means
):
    """Let the rows that remain for one subset vote; gives False if they do not suffice."""
    if ks[-1] == 1:
        # Only the rows at the smallest distance remain.
        if by_rows and rows.shape[0]:
            vote_by_rows(rows, codes, values, row_weights, n_classes, ks, tally, votes, means)
            return True
        return vote_by_levels(
            rows, d, limit, codes, values, row_weights, n_classes, ks, tally, votes, means
        )  # fmt: skip
    count = list_nearest(d, near, near_d)
    for c in range(count):
        listed[c] = rows[near[c]]
    if by_rows:
        vote_by_rows(listed[:count], codes, values, row_weights, n_classes, ks, tally, votes, means)
        return True
    return vote_by_levels(
        listed[:count], near_d[:count], farthest_complete(near_d[:count], near.shape[0]),
        codes, values, row_weights, n_classes, ks, tally, votes, means,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def tree_at(begin, end, q):  # type: ignore[no-untyped-def]
    """Return the height of the largest tree that starts at a number and ends before another."""
    height = 0
    while height < q and begin & ((2 << height) - 1) == 0 and begin + (2 << height) <= end:
        height += 1
    return height


@njit(nogil=True, cache=True)
def order_by(sizes, order):  # type: ignore[no-untyped-def]
    """Order the first units by size, the smallest first."""
    for u in range(order.shape[0]):
        place = u
        while place > 0 and sizes[u] < sizes[order[place - 1]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = u


@njit(nogil=True, cache=True)
def score_gray(  # type: ignore[no-untyped-def]
    low, high, begin, end, base, members, offsets, columns, missing, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge rows low … high−1 under the Gray-code subsets begin … end−1 of the units; gains (end−begin, t)."""
    n, q = columns.shape[1], offsets.shape[0] - 1
    parts, base_d, d = np.empty((q, n)), np.empty(n), np.empty(n)
    # Two lists of rows at each height of the tree: without and with the unit that was decided last.
    rows, least_d, most_d = np.empty((q + 1, 2, n), np.uint32), np.empty((q + 1, 2, n)), np.empty((q + 1, 2, n))
    counts, n_owns, limits = np.empty((q + 1, 2), np.int64), np.empty((q + 1, 2), np.int64), np.empty((q + 1, 2))
    side, visits, scanned = np.empty(q + 1, np.int64), np.empty(q + 1, np.int64), np.empty(n)
    own = np.empty(n, np.uint8)
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    listed, small, mask = np.empty(near.shape[0], np.uint32), np.empty(near.shape[0]), np.empty(base.shape[0])
    steps = np.zeros((end - begin + 1, ks.shape[0]))
    room = ks[-1] if by_rows or ks[-1] == 1 else near.shape[0]
    positive, even = True, True
    for j in range(n):
        positive = positive and row_weights[j] > 0.0
        even = even and row_weights[j] == row_weights[0]
    even = even and positive
    typical, order = np.zeros(q), np.empty(q, np.int64)
    for u in range(q):
        for m in range(offsets[u], offsets[u + 1]):
            typical[u] += gap[0, members[m]]
    for i in range(low, high):
        k = fold[i]
        add_masks(base_d, i, base, columns, missing, nominal, scale, gap, fold, quantum)
        for j in range(n):
            own[j] = codes[j] == codes[i]
        for u in range(q):
            parts[u, :] = 0.0
            for m in range(offsets[u], offsets[u + 1]):
                f = members[m]
                add_terms(
                    parts[u], columns[f, i], missing[f, i], columns[f], missing[f], nominal[f],
                    scale[k, f], gap[k, f], 1.0, quantum,
                )  # fmt: skip
        start = begin
        while start < end:
            top = tree_at(start, end, q)
            order_by(typical, order[:top])
            code = start ^ (start >> 1)
            for j in range(n):
                d[j] = base_d[j]
            for u in range(top, q):
                if code >> u & 1:
                    for j in range(n):
                        d[j] += parts[u, j]
            for j in range(n):
                scanned[j] = d[j]
            for u in range(top):
                for j in range(n):
                    scanned[j] += parts[u, j]
            count = 0
            for j in range(n):
                if d[j] < FAR:
                    rows[top, 0, count], least_d[top, 0, count], most_d[top, 0, count] = j, d[j], scanned[j]
                    count += 1
            limit = kth_smallest(most_d[top, 0, :count], room, small)
            limits[top, 0] = limit
            counts[top, 0], n_owns[top, 0] = keep(
                rows[top, 0, :count], least_d[top, 0], most_d[top, 0], limit, own,
                rows[top, 0], least_d[top, 0], most_d[top, 0],
            )  # fmt: skip
            level, number = top, 0
            side[top], visits[top] = 0, 0
            while level <= top:
                here = side[level]
                count, limit = counts[level, here], limits[level, here]
                if visits[level] == 0:
                    some = rows[level, here, :count]
                    sure = certain(n_owns[level, here], some, codes, n_classes, ks, by_rows, even, positive)
                    if sure < 0 and (level == 0 or (count == 1 and ks[-1] == 1)):
                        sure = 2
                        if not judge_leaf(
                            some, least_d[level, here, :count], FAR if level else limit,
                            codes, values, row_weights, n_classes, ks, by_rows,
                            near, near_d, listed, tally, votes, means,
                        ):  # fmt: skip
                            if level:
                                sure = -1
                            else:
                                for f in range(base.shape[0]):
                                    mask[f] = base[f]
                                code = start ^ (start >> 1)
                                for b in range(q):
                                    u = order[b] if b < top else b
                                    if (number if b < top else code) >> b & 1:
                                        for m in range(offsets[u], offsets[u + 1]):
                                            mask[members[m]] = 1.0
                                add_masks(d, i, mask, columns, missing, nominal, scale, gap, fold, quantum)
                                vote(
                                    d, codes, values, row_weights, n_classes, ks, by_rows,
                                    near, near_d, tally, votes, means,
                                )  # fmt: skip
                    if sure >= 0:
                        place = start - begin + number
                        for t in range(ks.shape[0]):
                            amount = row_weights[i] if sure == 1 else 0.0
                            if sure == 2:
                                amount = gain(i, t, codes, values, row_weights, n_classes, grain, votes, means)
                            steps[place, t] += amount
                            steps[place + (1 << level), t] -= amount
                        level += 1
                        continue
                    below = level - 1
                    part = parts[order[below]]
                    low_here, high_here = least_d[level, here], most_d[level, here]
                    # With the unit the most stays what it is, and so does the limit; without it the least stays.
                    for c in range(count):
                        scanned[c] = low_here[c] + part[some[c]]
                    limits[below, 1] = limit
                    counts[below, 1], n_owns[below, 1] = keep(
                        some, scanned, high_here, limit, own, rows[below, 1], least_d[below, 1], most_d[below, 1]
                    )
                    for c in range(count):
                        scanned[c] = high_here[c] - part[some[c]]
                    limit = kth_smallest(scanned[:count], room, small)
                    limits[below, 0] = limit
                    counts[below, 0], n_owns[below, 0] = keep(
                        some, low_here, scanned, limit, own, rows[below, 0], least_d[below, 0], most_d[below, 0]
                    )
                if visits[level] == 2:
                    level += 1
                    continue
                below = level - 1
                side[below] = visits[level]
                number = (number >> level << level) | (visits[level] << below)
                visits[level] += 1
                visits[below] = 0
                level = below
            start += 1 << top
    # Sum up, and go from the numbers of the trees' leaves to Gray-code numbers.
    for t in range(ks.shape[0]):
        for g in range(1, end - begin):
            steps[g, t] += steps[g - 1, t]
    start = begin
    while start < end:
        top = tree_at(start, end, q)
        order_by(typical, order[:top])
        for g in range(start, start + (1 << top)):
            code, number = g ^ (g >> 1), 0
            for b in range(top):
                number |= (code >> order[b] & 1) << b
            for t in range(ks.shape[0]):
                gains[g - begin, t] += steps[start - begin + number, t]
        start += 1 << top
