"""Votes of neighbors, given the exact distances from one row to all rows. See `bundles` for `Rules`.

gains : (t,) float64
    What each row adds to the score: its weight if it is judged right, or minus its weighted squared error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import inner
from fewer.kernels.distances import FAR

SPARE = 2  # rows listed beyond the k nearest, for tied distances and tied votes


class Ballot(NamedTuple):
    """The arrays that voting needs: the nearest rows, how far they are, votes for each class; results for each k."""

    near: Any
    near_d: Any
    tally: Any
    votes: Any
    means: Any


def make_ballot(rules: Any) -> Ballot:
    """Make the arrays that voting needs."""
    capacity, t = rules.ks[-1] + SPARE, len(rules.ks)
    return Ballot(
        np.empty(capacity, np.uint32), np.empty(capacity), np.empty(max(rules.n_classes, 1)), np.empty(t, np.int64),
        np.empty(t),
    )  # fmt: skip


@inner(counted=False, forceinline=True)
def enter(near, near_d, size, row, distance):
    """Put a row into an ordered list of the nearest, if it belongs there; of equally near ones the smaller comes first.

    Returns how many are listed then: one more, unless the list was full.
    """
    place = size if size < near.shape[0] else near.shape[0] - 1
    if size > place and (distance > near_d[place] or (distance == near_d[place] and row > near[place])):
        return size
    while place > 0 and (distance < near_d[place - 1] or (distance == near_d[place - 1] and row < near[place - 1])):
        near_d[place], near[place] = near_d[place - 1], near[place - 1]
        place -= 1
    near_d[place], near[place] = distance, row
    return size + 1 if size < near.shape[0] else size


@inner(counted=False)
def list_nearest(d, near, near_d):
    """List the nearest rows, earlier rows first among equally near ones.

    Returns how many there are, and the distance from which on rows may be missing: that of the last place if all are
    taken.
    """
    capacity, count, threshold = near.shape[0], 0, FAR
    for j in range(d.shape[0]):
        if d[j] < threshold:  # rows come in order, so that `enter` would compare more than is needed
            place = count if count < capacity else capacity - 1
            while place > 0 and d[j] < near_d[place - 1]:
                near_d[place], near[place] = near_d[place - 1], near[place - 1]
                place -= 1
            near_d[place], near[place] = d[j], j
            count += count < capacity
            if count == capacity:
                threshold = near_d[count - 1]
    return count, threshold


@inner(counted=False, forceinline=True)
def count_votes(near, near_d, count, reach, d, rules, ballot):
    """Let the k nearest rows vote, or all rows at the k smallest distinct distances, for each k.

    They come from a list of the `count` nearest rows, which is complete below the distance `reach`, and from there on
    from the distances `d` to all rows. Without any (size 0) the result is False if they are needed. A class's votes are
    a sum of row weights, which are whole multiples of a power of two, so that it is exact in any order.
    """
    # One function on purpose: three, for each way to come by the rows, took three times as long to compile.
    ks, tally, by_rows, codes = rules.ks, ballot.tally, rules.by_rows, rules.codes
    row_weights, values = rules.row_weights, rules.values
    for c in range(tally.shape[0]):
        tally[c] = 0.0
    place, level, t, distance, total, weighted = 0, 0, 0, -1.0, 0.0, 0.0
    while t < ks.shape[0]:
        last = min(place + 1, count)
        if not by_rows and place < count and near_d[place] < reach:
            distance = near_d[place]
            while last < count and near_d[last] == distance:
                last += 1
        elif not by_rows:
            if d.shape[0] == 0:
                return False
            below, distance, last = distance, FAR, place
            for j in range(d.shape[0]):
                if d[j] > below and d[j] < distance:
                    distance = d[j]
            for j in range(d.shape[0]):
                if d[j] == distance and distance < FAR:
                    total += row_weights[j]
                    tally[codes[j]] += row_weights[j]
                    weighted += row_weights[j] * values[j]
        for q in range(place, last):
            j = int(near[q])
            total += row_weights[j]
            tally[codes[j]] += row_weights[j]
            weighted += row_weights[j] * values[j]
        place = last
        level += 1
        while t < ks.shape[0] and (level >= ks[t] or distance >= FAR):
            if rules.n_classes:
                winner, alone = 0, True
                for c in range(1, tally.shape[0]):
                    if tally[c] >= tally[winner]:
                        alone = tally[c] > tally[winner]
                        winner = c if alone else winner
                if not (alone or by_rows or distance >= FAR):
                    break
                # Of several leaders that of the first near row wins, or, where no distance is left, of all rows.
                for q in range(0 if alone else count if by_rows else d.shape[0]):
                    j = int(near[q]) if by_rows else q
                    if (by_rows or d[j] < FAR) and tally[codes[j]] == tally[winner]:
                        winner = codes[j]
                        break
                ballot.votes[t] = winner
            else:
                ballot.means[t] = weighted / total if total > 0 else 0.0
            t += 1
    return True


@inner(counted=False)
def gain(i, t, rules, ballot):
    """Return what row i adds to the score with the t-th number of neighbors."""
    if rules.n_classes:
        return rules.row_weights[i] if ballot.votes[t] == rules.codes[i] else 0.0
    error = ballot.means[t] - rules.values[i]
    return -np.rint(rules.row_weights[i] * error * error / rules.grain) * rules.grain


@inner(counted=False, forceinline=True)
def judge(d, i, rules, ballot, gains):
    """Judge row i by its distances and add what it gains to the score."""
    count, reach = list_nearest(d, ballot.near, ballot.near_d)
    count_votes(ballot.near, ballot.near_d, count, reach, d, rules, ballot)
    for t in range(rules.ks.shape[0]):
        gains[t] += gain(i, t, rules, ballot)
