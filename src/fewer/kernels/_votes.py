"""Votes of neighbors, given the exact distances from one row to all rows. See `_bundles` for `Rules`.

gains : (t,) float64
    What each row adds to the score: its weight if it is judged right, or minus its weighted squared error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fewer.kernels._compiling import inner
from fewer.kernels._distances import FAR

SPARE = 2  # rows listed beyond the k nearest, for tied distances and tied votes


class Ballot(NamedTuple):
    """The arrays that voting needs: the nearest rows, how far they are, votes for each class; results for each k."""

    near: Any
    near_d: Any
    tally: Any
    votes: Any
    means: Any


@njit(nogil=True, cache=True)
def ballot_for(rules):
    """Make the arrays that voting needs."""
    room, t = rules.ks[-1] + SPARE, len(rules.ks)
    return Ballot(
        np.empty(room, np.uint32), np.empty(room), np.empty(max(rules.n_classes, 1)), np.empty(t, np.int64), np.empty(t)
    )


@inner()
def leader(tally):
    """Return the class with the most votes, or −1 if several share the lead."""
    best, alone = 0, True
    for c in range(1, tally.shape[0]):
        if tally[c] > tally[best]:
            best, alone = c, True
        elif tally[c] == tally[best]:
            alone = False
    return best if alone else -1


@inner()
def most_votes(tally):
    """Return the largest number of votes."""
    most = tally[0]
    for c in range(1, tally.shape[0]):
        most = max(most, tally[c])
    return most


@inner()
def first_leader(tally, order, codes):
    """Among the classes that share the lead, return that of the first row in an order."""
    most = most_votes(tally)
    for j in order:
        if tally[codes[j]] == most:
            return codes[j]
    return 0


@inner()
def majority(d, rules, tally):
    """Return the most frequent class of the usable rows; of several, the one met first."""
    tally[:] = 0.0
    for j in range(d.shape[0]):
        if d[j] < FAR:
            tally[rules.codes[j]] += rules.row_weights[j]
    most = most_votes(tally)
    for j in range(d.shape[0]):
        if d[j] < FAR and tally[rules.codes[j]] == most:
            return rules.codes[j]
    return 0


@inner()
def list_nearest(d, near, near_d):
    """List the nearest rows, earlier rows first among equally near ones; return how many there are."""
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


@inner()
def vote_by_rows(near, rules, ballot):
    """Let the k nearest rows of a list vote, for each k."""
    ks, tally = rules.ks, ballot.tally
    tally[:] = 0.0
    t, total, weighted = 0, 0.0, 0.0
    for place in range(ks[-1]):
        if place < near.shape[0]:
            j = near[place]
            total += rules.row_weights[j]
            if rules.n_classes:
                tally[rules.codes[j]] += rules.row_weights[j]
            else:
                weighted += rules.row_weights[j] * rules.values[j]
        if place + 1 == ks[t]:
            if rules.n_classes:
                winner = leader(tally)
                ballot.votes[t] = winner if winner >= 0 else first_leader(tally, near, rules.codes)
            else:
                ballot.means[t] = weighted / total if total > 0 else 0.0
            t += 1


@inner()
def vote_by_levels(near, near_d, reach, rules, ballot):
    """Let all rows at the k smallest distinct distances vote, for each k.

    The list is complete up to the distance `reach`; returns False if that is not far enough.
    """
    ks, tally = rules.ks, ballot.tally
    tally[:] = 0.0
    place, level, t, total, weighted = 0, 0, 0, 0.0, 0.0
    while t < ks.shape[0]:
        if place >= near.shape[0] or near_d[place] > reach:
            return False
        distance = near_d[place]
        while place < near.shape[0] and near_d[place] == distance:
            j = near[place]
            total += rules.row_weights[j]
            if rules.n_classes:
                tally[rules.codes[j]] += rules.row_weights[j]
            else:
                weighted += rules.row_weights[j] * rules.values[j]
            place += 1
        level += 1
        while t < ks.shape[0] and level >= ks[t]:
            if rules.n_classes:
                winner = leader(tally)
                if winner < 0:
                    break
                ballot.votes[t] = winner
            else:
                ballot.means[t] = weighted / total if total > 0 else 0.0
            t += 1
    return True


@inner()
def vote_level_by_level(d, rules, ballot):
    """Vote as `vote_by_levels`, looking for each next distance among all rows, until there is none."""
    n, ks, tally = d.shape[0], rules.ks, ballot.tally
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
                    total += rules.row_weights[j]
                    if rules.n_classes:
                        tally[rules.codes[j]] += rules.row_weights[j]
                    else:
                        weighted += rules.row_weights[j] * rules.values[j]
            level += 1
            below = nearest
        while t < ks.shape[0] and (level >= ks[t] or exhausted):
            if rules.n_classes:
                winner = leader(tally)
                if winner < 0:
                    if not exhausted:
                        break
                    winner = majority(d, rules, tally)
                ballot.votes[t] = winner
            else:
                ballot.means[t] = weighted / total if total > 0 else 0.0
            t += 1


@inner()
def farthest_complete(near_d, room):
    """Return the distance up to which a list with limited room holds all rows."""
    count = near_d.shape[0]
    if count < room:
        return FAR
    for place in range(count - 1, 0, -1):
        if near_d[place - 1] < near_d[count - 1]:
            return near_d[place - 1]
    return -1.0


@njit(nogil=True, cache=True)
def vote(d, rules, ballot):
    """Let the neighbors vote, given the distances to all rows: votes (t,) or means (t,) of the ballot."""
    count = list_nearest(d, ballot.near, ballot.near_d)
    near, near_d = ballot.near[:count], ballot.near_d[:count]
    if rules.by_rows:
        vote_by_rows(near, rules, ballot)
    elif not vote_by_levels(near, near_d, farthest_complete(near_d, ballot.near.shape[0]), rules, ballot):
        vote_level_by_level(d, rules, ballot)


@inner()
def gain(i, t, rules, ballot):
    """Return what row i adds to the score with the t-th number of neighbors."""
    if rules.n_classes:
        return rules.row_weights[i] if ballot.votes[t] == rules.codes[i] else 0.0
    error = ballot.means[t] - rules.values[i]
    return -np.rint(rules.row_weights[i] * error * error / rules.grain) * rules.grain


@inner()
def judge(d, i, rules, ballot, gains):
    """Judge row i by its distances and add what it gains to the score."""
    vote(d, rules, ballot)
    for t in range(rules.ks.shape[0]):
        gains[t] += gain(i, t, rules, ballot)
