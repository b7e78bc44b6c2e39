"""Relief on small tables, in one short function: `_relief` pays on large ones, but compiles for six times as long."""

from __future__ import annotations

import numpy as np
from numba import njit

GRID = 2.0**32  # as in `_relief`: distances on a grid so fine that only rounding is lost, ties stay ties


@njit(nogil=True, cache=True, no_cfunc_wrapper=True)
def small_scores(first, last, classes, rows, nominal, near, found, scores):
    """Add, over rows first … last − 1, the differences to misses less those to hits, times the row's votes.

    See `_relief` for what `classes` (without its last entry: misses of each class count by themselves), `rows` and
    `nominal` are. The room in `near` and `found` is the number of neighbors; among equally near rows the first counts.
    """
    votes, codes, bounds, shares = classes
    n_features, k = rows.shape[1], near.shape[0]
    for i in range(first, last):
        for turn in range(shares.shape[0] + 1):  # own class first
            own, c = codes[i], codes[i] if turn == 0 else turn - 1
            weight = -votes[i] if turn == 0 else votes[i] * shares[c] / (1.0 - shares[own])
            if weight == 0.0 or (turn > 0 and c == own):
                continue
            size = 0
            for j in range(bounds[c], bounds[c + 1]):
                total, seen = 0.0, n_features
                for f in range(n_features):
                    gap = abs(rows[i, f] - rows[j, f])
                    if nominal[f]:
                        gap = 1.0 if gap > 0.0 else gap
                    seen -= gap != gap  # a cell is missing
                    total += gap if gap == gap else 0.0
                if j == i or seen == 0:
                    continue
                distance, place = np.rint(total / seen * GRID) / GRID, size
                while place > 0 and distance < near[place - 1]:
                    place -= 1
                if place < k:
                    size = min(size + 1, k)
                    for later in range(size - 1, place, -1):
                        near[later], found[later] = near[later - 1], found[later - 1]
                    near[place], found[place] = distance, j
            for f in range(n_features):
                total, seen = 0.0, 0
                for m in range(size):
                    gap = abs(rows[i, f] - rows[found[m], f])
                    if gap == gap:
                        total += 1.0 if nominal[f] and gap > 0.0 else gap
                        seen += 1
                scores[f] += weight * (total / seen) if seen else 0.0
