"""A walk that tries many changes in one call: for annealing, where all else around a move costs more than the move.

See `_bundles` for the shared arguments. Coarse distances (rows sorted by class) judge all rows they
can, exact ones, which run along, the others; so a score is the one that `KNNScorer.score` gives, to the bit. Scores of
states met before are looked up in a table by two 64-bit names of the state; a newer state takes an older one's place.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fewer.kernels._bundles import Doubt
from fewer.kernels._distances import CLIP, change_coarse
from fewer.kernels._nearest import doubt_about, judge_change
from fewer.kernels._votes import ballot_for, judge


class Plan(NamedTuple):
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

    `running` has the coarse distances, `distances` (n, n) the exact ones; `names` (m, 2) and `remembered` (m,) are a
    table of scores by the names of their states.
    """

    state: Any
    mask: Any
    coarse_mask: Any
    exact_mask: Any
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


@njit(nogil=True, cache=True)
def decided(score):
    """Round as `contracts.round_scores` does."""
    mantissa, exponent = math.frexp(score)
    return math.ldexp(np.rint(mantissa * 2.0**40) / 2.0**40, exponent)


@njit(nogil=True, cache=True)
def name_of(unit, code, stream):
    """Return 64 random-looking bits for a unit at a weight level; the name of a state is the XOR over its units."""
    x = (np.uint64(unit) << np.uint64(20)) ^ np.uint64(code) ^ (np.uint64(stream) << np.uint64(60))
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(nogil=True, cache=True)
def change_exact(d, i, f, old, new, exact):
    """Change the weight of column f in the exact distances d (n,) of row i."""
    columns, missing = exact.columns, exact.missing
    n, k, x = np.uint64(columns.shape[1]), np.uint64(exact.fold[i]), columns[f, i]
    gap, factor = exact.gap[k, f], exact.scale[k, f]
    # Adding and taking off 1.5·2⁵² quanta rounds to whole quanta, as in `add_terms`.
    shift = 1.5 * 2.0**52 * exact.quantum
    absent = ((new * gap + shift) - shift) - ((old * gap + shift) - shift)
    unequal = ((new * factor + shift) - shift) - ((old * factor + shift) - shift)
    if missing[f, i]:
        for j in range(n):
            d[j] += absent
    elif exact.nominal[f]:
        for j in range(n):
            part = 0.0 if columns[f, j] == x else unequal
            d[j] += absent if missing[f, j] else part
    else:
        for j in range(n):
            square = factor * (x - columns[f, j]) * (x - columns[f, j])
            square = CLIP if square > CLIP else square
            part = ((new * square + shift) - shift) - ((old * square + shift) - shift)
            d[j] += absent if missing[f, j] else part


@njit(nogil=True, cache=True)
def catch_up(f, standing, judges):
    """Bring the running distances to the mask in one column."""
    n, value = standing.distances.shape[0], standing.mask[f]
    if standing.coarse_mask[f] != value:
        old, new = np.float32(standing.coarse_mask[f]), np.float32(value)
        change_coarse(0, n, standing.running.distances, f, old, new, judges.coarse)
        standing.coarse_mask[f] = value
    if standing.exact_mask[f] != value:
        for i in range(n):
            change_exact(standing.distances[i], i, f, standing.exact_mask[f], value, judges.exact)
        standing.exact_mask[f] = value


@njit(nogil=True, cache=True)
def doubt_after(doubt, unit, value, mask, errors):
    """Return the doubt about a mask with the columns of a unit set to a value."""
    rough, steep, used = doubt.rough, doubt.steep, doubt.used
    for f in unit:
        sign = (value > 0.0) - (mask[f] > 0.0)
        rough += sign * errors[f, 0]
        steep += sign * errors[f, 1]
        used += sign
    return Doubt(rough, steep, used)


@njit(nogil=True, cache=True)
def score_change(unit, value, doubt, standing, judges, d, ballot, gains):
    """Score the mask with the columns of a unit set to a value; d (n,) and gains (1,) are scratch."""
    # One unit more than the sums say covers the roundings of adding errors up and taking them off again.
    wide = Doubt(doubt.rough + 1.0, doubt.steep, doubt.used + 1.0)
    n, running, rules = d.shape[0], standing.running, judges.rules
    gains[0], n_unsure = judge_change(
        0, n, unit, standing.mask, value, wide, judges.coarse, rules.by_rows, running
    )  # fmt: skip
    for m in range(n_unsure):
        i = judges.order[running.unsure[m]]
        for j in range(n):
            d[j] = standing.distances[i, j]
        for f in unit:
            change_exact(d, i, f, standing.mask[f], value, judges.exact)
        judge(d, i, rules, ballot, gains)
    return decided(judges.offset + gains[0] / judges.total)


@njit(nogil=True, cache=True)
def run_moves(score, plan, units, standing, judges, accepted, scores):
    """Try moves one after the other, from a state that scores `score`.

    Changes `standing`. Lists the accepted moves and the scores after them; returns how many were tried and accepted.
    """
    state, mask, names = standing.state, standing.mask, standing.names
    d, gains, ballot = np.empty(standing.distances.shape[0]), np.zeros(1), ballot_for(judges.rules)
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
