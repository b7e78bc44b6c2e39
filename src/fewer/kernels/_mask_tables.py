"""The nearest neighbor's class under many masks at once, from tables of sums.

See `_nearest` for the verdicts and `_bundles` for the arguments that the kernels share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fewer.kernels._bundles import Doubt
from fewer.kernels._distances import CLIPPED, FAR_32, PLAIN, coarse_start
from fewer.kernels._intrinsics import add_32, least_32
from fewer.kernels._nearest import verdict


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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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
            most = weight * coarse.clip
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
