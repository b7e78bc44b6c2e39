"""The nearest neighbor's class under many changes or many masks in one call.

*A walk* tries one change after the other: for annealing, where all else around a move costs more than the move. Coarse
distances (rows sorted by class) judge all rows they can, exact ones, which run along, the others; so a score is the one
that `KNNScorer.score` gives, to the bit. Scores of states met before are looked up in a table by two 64-bit names of
the state; a newer state takes an older one's place.

*Many masks at once* are judged from tables of sums.

See `nearest` for the verdicts and `bundles` for the arguments that the kernels share.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.bundles import Doubt
from fewer.kernels.compiling import inner, kernel
from fewer.kernels.distances import FAR_32, change_coarse, change_column, coarse_start, coarse_terms
from fewer.kernels.intrinsics import add_32, least_32
from fewer.kernels.nearest import doubt_about, judge_change, verdict
from fewer.kernels.votes import judge


class MovePlan(NamedTuple):
    """Moves to try: move t sets units[t] `shifts[t]` weight levels on, around the circle.

    It is accepted if it lowers the score by no more than slack[t]. The walk ends after max_accepted accepted moves,
    and before one that would leave the allowed numbers of units.
    """

    units: Any
    shifts: Any
    slack: Any
    levels: Any
    min_units: Any
    max_units: Any
    max_accepted: Any


class Standing(NamedTuple):
    """Where a walk stands: its state (levels) and mask (p,), running distances with the masks they belong to, scores.

    `running` has the coarse distances, `distances` (n, n) the exact ones, each row of them for its own mask
    (`exact_masks`, (n, p)): few rows need them. `names` (m, 2) and `remembered` (m,) are a table of scores by the names
    of their states.
    """

    state: Any
    mask: Any
    coarse_mask: Any
    exact_masks: Any
    running: Any
    distances: Any
    names: Any
    remembered: Any


class Judges(NamedTuple):
    """What judges a mask: coarse rows and their errors, the order that sorted them; exact rows; rules; score units."""

    coarse: Any
    errors: Any
    order: Any
    exact: Any
    rules: Any
    offset: Any
    total: Any


@inner(counted=False)
def decided(score):
    """Round as `contracts.round_scores` does."""
    mantissa, exponent = math.frexp(score)
    return math.ldexp(np.rint(mantissa * 2.0**40) / 2.0**40, exponent)


@inner(counted=False)
def name_of(unit, code, stream):
    """Return 64 random-looking bits for a unit at a weight level; the name of a state is the XOR over its units."""
    x = (np.uint64(unit) << np.uint64(20)) ^ np.uint64(code) ^ (np.uint64(stream) << np.uint64(60))
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inner(counted=False)
def catch_up(f, standing, judges):
    """Bring the coarse distances to the mask in one column."""
    n, value = standing.distances.shape[0], standing.mask[f]
    if standing.coarse_mask[f] != value:
        old, new = np.float32(standing.coarse_mask[f]), np.float32(value)
        change_coarse(np.int64(0), n, standing.running.distances, f, old, new, judges.coarse, standing.running.part)
        standing.coarse_mask[f] = value


@inner(counted=False)
def catch_up_row(i, standing, exact):
    """Bring the exact distances of one row to the mask."""
    mask, row_mask = standing.mask, standing.exact_masks[i]
    for f in range(mask.shape[0]):
        if row_mask[f] != mask[f]:
            change_column(standing.distances[i], i, f, row_mask[f], mask[f], exact)
            row_mask[f] = mask[f]


@inner(counted=False)
def doubt_after(doubt, unit, value, mask, errors):
    """Return the doubt about a mask with the columns of a unit set to a value."""
    rough, steep, used = doubt.rough, doubt.steep, doubt.used
    for f in unit:
        sign = (value > 0.0) - (mask[f] > 0.0)
        rough += sign * errors[f, 0]
        steep += sign * errors[f, 1]
        used += sign
    return Doubt(rough, steep, used)


@inner(counted=False)
def score_change(unit, value, doubt, standing, judges, d, ballot, gains):
    """Score the mask with the columns of a unit set to a value; d (n,) and gains (1,) are scratch."""
    # One unit more than the sums say covers the roundings of adding errors up and taking them off again.
    wide = Doubt(doubt.rough + 1.0, doubt.steep, doubt.used + 1.0)
    n, running, rules = d.shape[0], standing.running, judges.rules
    gains[0], n_unsure = judge_change(
        np.int64(0), n, unit, standing.mask, value, wide, judges.coarse, rules.by_rows, running
    )  # fmt: skip
    for m in range(n_unsure):
        i = judges.order[running.unsure[m]]
        catch_up_row(i, standing, judges.exact)
        for j in range(n):
            d[j] = standing.distances[i, j]
        for f in unit:
            change_column(d, i, f, standing.mask[f], value, judges.exact)
        judge(d, i, rules, ballot, gains)
    return decided(judges.offset + gains[0] / judges.total)


@kernel(counted=False)
def run_moves(score, plan, units, standing, judges, room, accepted, scores):
    """Try moves one after the other, from a state that scores `score`; `room` is for n distances, a gain, and a ballot.

    Changes `standing`. Lists the accepted moves and the scores after them; returns how many were tried and accepted.
    """
    state, mask, names = standing.state, standing.mask, standing.names
    d, gains, ballot = room
    for f in range(mask.shape[0]):
        catch_up(f, standing, judges)
    doubt = doubt_about(mask, judges.errors)
    one, two, size, n_accepted = np.uint64(0), np.uint64(0), 0, 0
    for u in range(state.shape[0]):
        one ^= name_of(u, state[u], 1)
        two ^= name_of(u, state[u], 2)
        size += state[u] > 0
    for t in range(plan.units.shape[0]):
        u = plan.units[t]
        was = state[u]
        will = (was + plan.shifts[t]) % (plan.levels + 1)
        new_size = size + (will > 0) - (was > 0)
        if new_size < plan.min_units or new_size > plan.max_units:
            return t, n_accepted
        unit, value = units.members[units.offsets[u] : units.offsets[u + 1]], will / plan.levels
        new_doubt = doubt_after(doubt, unit, value, mask, judges.errors)
        new_one = one ^ name_of(u, was, 1) ^ name_of(u, will, 1)
        new_two = two ^ name_of(u, was, 2) ^ name_of(u, will, 2)
        place = np.int64(new_one & np.uint64(names.shape[0] - 1))
        if names[place, 0] == new_one and names[place, 1] == new_two:
            new_score = standing.remembered[place]
        else:
            new_score = score_change(unit, value, new_doubt, standing, judges, d, ballot, gains)
            names[place, 0], names[place, 1], standing.remembered[place] = new_one, new_two, new_score
        if score - new_score <= plan.slack[t]:
            for f in unit:
                mask[f] = value
                catch_up(f, standing, judges)
            state[u], size, score = will, new_size, new_score
            one, two, doubt = new_one, new_two, new_doubt
            accepted[n_accepted], scores[n_accepted] = t, score
            n_accepted += 1
            if n_accepted == plan.max_accepted:
                return t + 1, n_accepted
    return plan.units.shape[0], n_accepted


class Picks(NamedTuple):
    """Masks as rows of tables.

    numbers : (m, g) int64
        The used features come in groups of n_digits; this holds the levels of a group's features as one number.
    used : (u,) int64
    levels : (l,) float64
        The weights in use; levels[0] is 0.
    n_digits : int
    margins : (m, 3) float64
        The `Doubt` of each mask.
    """

    numbers: Any
    used: Any
    levels: Any
    n_digits: Any
    margins: Any


@kernel()
def coarse_masks(low, high, picks, width, capacity, coarse, by_rows, verdicts):
    """Write verdicts (m, high−low) on rows low … high−1 under many masks at once.

    The sums for all combinations of a group of features are tabulated once for a row, up to `width` columns and as many
    groups as `capacity` numbers hold, so that a mask costs one addition a group.
    """
    n, n_masks, n_groups = coarse.columns.shape[1], picks.numbers.shape[0], picks.numbers.shape[1]
    starts, size = coarse.starts, picks.levels.shape[0] ** picks.n_digits
    width = min(width, n)
    at_once = max(min(capacity // (size * width), n_groups), 1)
    tables = np.empty((at_once, size, width), np.int32)
    sums = np.empty((n_masks if at_once < n_groups else 1, width), np.int32)
    start, total = np.empty(n, np.int32), np.empty(width, np.int32)
    nearest = np.empty((n_masks, starts.shape[0] - 1), np.int32)
    for i in range(low, high):
        coarse_start(start, coarse.fold[i], coarse.fold)
        nearest[:] = FAR_32
        for place in range(0, n, width):
            stop = min(place + width, n)
            w = np.uint64(stop - place)
            for first in range(0, n_groups, at_once):
                last = min(first + at_once, n_groups)
                for g in range(first, last):
                    tabulate(tables, g - first, i, place, w, g * picks.n_digits, picks, coarse)
                for m in range(n_masks):
                    row = np.uint64(m if at_once < n_groups else 0)
                    if first == 0:
                        for j in range(w):
                            total[j] = start[np.uint64(place) + j]
                    else:
                        for j in range(w):
                            total[j] = sums[row, j]
                    add_tables(total, w, tables, picks.numbers, m, first, last)
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
            doubt = Doubt(picks.margins[m, 0], picks.margins[m, 1], picks.margins[m, 2])
            verdicts[m, i - low] = verdict(nearest[m], coarse.codes[i], by_rows, doubt)


@inner(counted=False)
def tabulate(tables, g, i, place, w, start, picks, coarse):
    """Sum the coarse terms of up to n_digits used features for every combination of their levels into tables[g]."""
    used, levels, columns = picks.used, picks.levels, coarse.columns
    g, i, k, place = np.uint64(g), np.uint64(i), np.uint64(coarse.fold[i]), np.uint64(place)
    for j in range(w):
        tables[g, np.uint64(0), j] = np.int32(0)
    size = 1
    for digit in range(start, min(start + picks.n_digits, used.shape[0])):
        f = np.uint64(used[digit])
        x, kind = columns[f, i], coarse.kinds[f]
        for value in range(1, levels.shape[0]):
            weight = np.float32(levels[value])
            scaled, absent = weight * coarse.factor[k, f], weight * coarse.gap[k, f]
            one = np.uint64(value * size)
            column = columns[f, np.int64(place) : np.int64(place + w)]
            coarse_terms(tables[g, one, : np.int64(w)], x, column, kind, scaled, absent, weight * coarse.clip)
            for c in range(1, size):
                source, target = np.uint64(c), np.uint64(value * size + c)
                for j in range(w):
                    tables[g, target, j] = add_32(tables[g, source, j], tables[g, one, j])
        size *= levels.shape[0]


@inner(inline="always")
def add_tables(total, w, tables, picks, m, first, last):
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
