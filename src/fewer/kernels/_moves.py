"""A walk that tries many changes in one call: for annealing, where all else around a move costs more than the move.

See `_distances` and `_neighbors` for the shared arguments. Coarse distances (rows sorted by class) judge all rows they
can, exact ones, which run along, the others; so a score is the one that `KNNScorer.score` gives, to the bit. Scores of
states met before are looked up in a table by two 64-bit names of the state; a newer state takes an older one's place.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fewer.kernels._distances import CLIP, change_coarse
from fewer.kernels._neighbors import error_of, judge, judge_change, scratch


@njit(nogil=True, cache=True)
def settled(score):  # type: ignore[no-untyped-def]
    """Round as `contracts.round_scores` does."""
    mantissa, exponent = math.frexp(score)
    return math.ldexp(np.rint(mantissa * 2.0**40) / 2.0**40, exponent)


@njit(nogil=True, cache=True)
def name_of(unit, code, stream):  # type: ignore[no-untyped-def]
    """Return 64 random-looking bits for a unit at a weight level; the name of a state is the XOR over its units."""
    x = (np.uint64(unit) << np.uint64(20)) ^ np.uint64(code) ^ (np.uint64(stream) << np.uint64(60))
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(nogil=True, cache=True)
def change_exact(  # type: ignore[no-untyped-def]
    d, i, f, old, new, columns, missing, nominal, scale, gap, fold, quantum
):
    """Change the weight of column f in the exact distances d (n,) of row i."""
    n, k, x = np.uint64(columns.shape[1]), np.uint64(fold[i]), columns[f, i]
    # Adding and taking off 1.5·2⁵² quanta rounds to whole quanta, as in `add_terms`.
    shift = 1.5 * 2.0**52 * quantum
    gap_change = ((new * gap[k, f] + shift) - shift) - ((old * gap[k, f] + shift) - shift)
    unequal = ((new * scale[k, f] + shift) - shift) - ((old * scale[k, f] + shift) - shift)
    if missing[f, i]:
        for j in range(n):
            d[j] += gap_change
    elif nominal[f]:
        for j in range(n):
            part = 0.0 if columns[f, j] == x else unequal
            d[j] += gap_change if missing[f, j] else part
    else:
        factor = scale[k, f]
        for j in range(n):
            square = factor * (x - columns[f, j]) * (x - columns[f, j])
            square = CLIP if square > CLIP else square
            part = ((new * square + shift) - shift) - ((old * square + shift) - shift)
            d[j] += gap_change if missing[f, j] else part


@njit(nogil=True, cache=True)
def run_moves(  # type: ignore[no-untyped-def]
    units, shifts, slack, levels, min_units, max_units, max_accepted, state, score, offset, total,
    names, remembered, members, offsets, mask, coarse, coarse_mask, coarse_layout, by_rows, errors,
    sorted_weights, order, exact, exact_mask, exact_layout, rules, accepted, scores,
):  # fmt: skip
    """Try changes one after the other; accept those that lower the score by no more than the try's slack.

    Try t sets units[t] `shifts[t]` weight levels on, around the circle. Ends after all tries, or when max_accepted were
    accepted, or before one that would leave the sizes allowed. Changes `state` (levels), `mask` (p,) and the running
    distances, which belong to coarse_mask and exact_mask before and to `mask` afterwards. Lists the accepted tries and
    the scores after them; gives how many were tried and how many accepted.
    """
    columns, kinds, factor, gap, clip, fold, starts, codes = coarse_layout
    x_columns, missing, nominal, scale, x_gap, x_fold, quantum = exact_layout
    x_codes, values, row_weights, n_classes, grain, ks, _ = rules
    n = columns.shape[1]
    row, unsure, d, gains = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n), np.zeros(1)
    nearest = np.empty(starts.shape[0] - 1, np.int32)
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for f in range(mask.shape[0]):
        if coarse_mask[f] != mask[f]:
            old, new = np.float32(coarse_mask[f]), np.float32(mask[f])
            change_coarse(0, n, coarse, f, old, new, columns, kinds, factor, gap, clip, fold)
            coarse_mask[f] = mask[f]
        if exact_mask[f] != mask[f]:
            for i in range(n):
                change_exact(
                    exact[i], i, f, exact_mask[f], mask[f], x_columns, missing, nominal, scale, x_gap, x_fold, quantum
                )  # fmt: skip
            exact_mask[f] = mask[f]
    rough, steep, used = error_of(mask, errors)
    one, two, size, n_accepted = np.uint64(0), np.uint64(0), 0, 0
    for u in range(state.shape[0]):
        one ^= name_of(u, state[u], 1)
        two ^= name_of(u, state[u], 2)
        size += state[u] > 0
    for t in range(units.shape[0]):
        u = units[t]
        was = state[u]
        will = (was + shifts[t]) % (levels + 1)
        new_size = size + (will > 0) - (was > 0)
        if new_size < min_units or new_size > max_units:
            return t, n_accepted
        low, high, value = offsets[u], offsets[u + 1], will / levels
        more_rough, more_steep, more = rough, steep, used
        for m in range(low, high):
            f = members[m]
            sign = (value > 0.0) - (mask[f] > 0.0)
            more_rough += sign * errors[f, 0]
            more_steep += sign * errors[f, 1]
            more += sign
        new_one = one ^ name_of(u, was, 1) ^ name_of(u, will, 1)
        new_two = two ^ name_of(u, was, 2) ^ name_of(u, will, 2)
        place = np.int64(new_one & np.uint64(names.shape[0] - 1))
        if names[place, 0] == new_one and names[place, 1] == new_two:
            new_score = remembered[place]
        else:
            # One unit more than the sums say covers the roundings of adding errors up and taking them off again.
            right, n_unsure = judge_change(
                0, n, low, high, members, mask, value, more_rough + 1.0, more_steep, more + 1.0, coarse,
                columns, kinds, factor, gap, clip, fold, starts, codes, by_rows, sorted_weights, row, nearest, unsure,
            )  # fmt: skip
            gains[0] = right
            for m in range(n_unsure):
                i = order[unsure[m]]
                for j in range(n):
                    d[j] = exact[i, j]
                for b in range(low, high):
                    f = members[b]
                    change_exact(
                        d, i, f, mask[f], value, x_columns, missing, nominal, scale, x_gap, x_fold, quantum
                    )  # fmt: skip
                judge(
                    d, i, x_codes, values, row_weights, n_classes, grain, ks, by_rows,
                    near, near_d, tally, votes, means, gains,
                )  # fmt: skip
            new_score = settled(offset + gains[0] / total)
            names[place, 0], names[place, 1], remembered[place] = new_one, new_two, new_score
        if score - new_score <= slack[t]:
            for m in range(low, high):
                f = members[m]
                old = mask[f]
                change_coarse(
                    0, n, coarse, f, np.float32(old), np.float32(value), columns, kinds, factor, gap, clip, fold
                )  # fmt: skip
                for i in range(n):
                    change_exact(
                        exact[i], i, f, old, value, x_columns, missing, nominal, scale, x_gap, x_fold, quantum
                    )  # fmt: skip
                mask[f] = coarse_mask[f] = exact_mask[f] = value
            state[u], size, score = will, new_size, new_score
            one, two, rough, steep, used = new_one, new_two, more_rough, more_steep, more
            accepted[n_accepted], scores[n_accepted] = t, score
            n_accepted += 1
            if n_accepted == max_accepted:
                return t + 1, n_accepted
    return units.shape[0], n_accepted
