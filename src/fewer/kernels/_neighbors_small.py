"""Classes judged by one number of neighbors, in two short functions: `_neighbors` compiles for three times as long."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fewer.kernels._bundles import Flips
from fewer.kernels._compiling import inner
from fewer.kernels._distances import CLIP, FAR


@inner(no_cpython_wrapper=True, error_model="numpy")
def _vote(d, codes, row_weights, k, near, near_d, tally):
    """Return the class of most rows at the k smallest distinct distances, as `_votes.vote` does."""
    n, most_near, count, reach = d.shape[0], near.shape[0], 0, FAR
    for j in range(n):
        if d[j] < reach:
            place = count if count < most_near else most_near - 1
            while place > 0 and d[j] < near_d[place - 1]:
                near_d[place], near[place] = near_d[place - 1], near[place - 1]
                place -= 1
            near_d[place], near[place] = d[j], j
            count += count < most_near
            if count == most_near:
                reach = near_d[count - 1]
    place, level, distance = 0, 0, -1.0
    for c in range(tally.shape[0]):
        tally[c] = 0.0
    while True:
        if place < count and near_d[place] < reach:  # farther off the list may lack rows
            distance = near_d[place]
            while place < count and near_d[place] == distance:
                tally[codes[near[place]]] += row_weights[near[place]]
                place += 1
        else:
            below, distance = distance, FAR
            for j in range(n):
                if d[j] > below and d[j] < distance:
                    distance = d[j]
            for j in range(n):
                if d[j] == distance and distance < FAR:
                    tally[codes[j]] += row_weights[j]
        level += 1
        if level < k and distance < FAR:
            continue
        best, alone = 0, True
        for c in range(1, tally.shape[0]):
            if tally[c] >= tally[best]:
                alone = tally[c] > tally[best]
                best = c if alone else best
        if alone:
            return best
        if distance >= FAR:
            for j in range(n):
                if d[j] < FAR and tally[codes[j]] == tally[best]:
                    return codes[j]
            return 0


@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy")
def small_flips(low, high, changes, exact, voters, scratch, gains):
    """Judge rows low … high−1 under masks that differ in one unit, by the rows at the k smallest distinct distances.

    Distances, votes and ties are those of `_neighbors.score_flips`, to the bit. `gains` is (u,).

    changes : columns, weights and bounds
        The columns between the first two bounds make up the mask; those between the next two, with their weights, are
        what a unit adds to its distances, and so on.
    exact : Exact
    voters : class codes (n,), row weights (n,) and k
    scratch : two arrays for n distances, two for k + 2 neighbors (numbers and distances), one for a tally of classes
    """
    columns, weights, bounds = changes
    codes, row_weights, k = voters
    base, d, near, near_d, tally = scratch
    n, shift = base.shape[0], 1.5 * 2.0**52 * exact.quantum
    for i in range(low, high):
        fold = exact.fold[i]
        for j in range(n):
            base[j] = FAR if exact.fold[j] == fold else 0.0
        for u in range(bounds.shape[0] - 1):
            for j in range(n):
                d[j] = base[j]
            for m in range(bounds[u], bounds[u + 1]):
                f, weight = columns[m], weights[m]
                x, scale, nominal = exact.columns[f, i], exact.scale[fold, f], exact.nominal[f] != 0
                absent, unequal = (weight * exact.gap[fold, f] + shift) - shift, (weight * scale + shift) - shift
                lacking = exact.missing[f, i] != 0
                for j in range(n):
                    z = exact.columns[f, j]
                    square = scale * (x - z) * (x - z)
                    square = CLIP if square > CLIP else square
                    part = (weight * square + shift) - shift
                    if nominal:
                        part = 0.0 if x == z else unequal
                    d[j] += absent if lacking or exact.missing[f, j] else part
            if u == 0:
                for j in range(n):
                    base[j] = d[j]
            elif _vote(d, codes, row_weights, k, near, near_d, tally) == codes[i]:
                gains[u - 1] += row_weights[i]


def changes_of(flips: Flips) -> tuple[Any, Any, Any]:
    """Return what `small_flips` wants to know of a mask and its changes: off with the old weights, on with the new.

    Examples
    --------
    >>> from fewer.kernels._bundles import Units
    >>> units = Units.of([np.array([0]), np.array([1, 2])])
    >>> changes = changes_of(Flips(np.array([1.0, 0.0, 0.5]), np.array([0, 2]), units, np.array([0.0, 1.0])))
    >>> [part.tolist() for part in changes]
    [[0, 2, 0, 1, 2, 2], [1.0, 0.5, -1.0, 1.0, -0.5, 1.0], [0, 2, 3, 6]]
    """
    members, offsets = flips.units
    weights = np.empty((len(members), 2))
    weights[:, 0], weights[:, 1] = -flips.mask[members], np.repeat(flips.new, np.diff(offsets))
    changed = weights.ravel() != 0
    before = np.append(0, np.cumsum(changed))[2 * offsets]
    columns, weights = np.repeat(members, 2)[changed], weights.ravel()[changed]
    used = flips.used
    return (
        np.concatenate([used, columns]), np.concatenate([flips.mask[used], weights]), np.append(0, len(used) + before)
    )  # fmt: skip


def scratch_for(n: int, k: int, n_classes: int) -> tuple[Any, ...]:
    """Make the scratch that `small_flips` works in.

    Examples
    --------
    >>> [part.size for part in scratch_for(9, 3, 2)]
    [9, 9, 5, 5, 2]
    """
    return np.empty(n), np.empty(n), np.empty(k + 2, dtype=np.int64), np.empty(k + 2), np.empty(n_classes)
