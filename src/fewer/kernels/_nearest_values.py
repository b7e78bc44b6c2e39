"""Nearest neighbors of numbers on a line and of points in the plane, for mutual information (Kraskov; Ross).

Counts follow scikit-learn's trees to the bit: on the line it compares squares of differences, in the plane (largest
difference of two coordinates) the differences themselves.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def nearest_on_line(out, values, k):
    """Write the distance of each of some ascending values to its k-th nearest other one (there are more than k)."""
    n = values.shape[0]
    low = 0
    for i in range(n):
        # The k nearest of i lie in a window of k + 1 values that holds i; it never moves back.
        low = max(low, i - k)
        while low + k + 1 < n and low < i and values[low + k + 1] - values[i] < values[i] - values[low]:
            low += 1
        out[i] = max(values[i] - values[low], values[low + k] - values[i])


@njit(nogil=True, cache=True)
def split_by_class(places, codes, bounds):
    """Write the places of rows class after class, each class in the order of the rows; `bounds` say where."""
    following = bounds[:-1].copy()
    for i in range(codes.shape[0]):
        places[following[codes[i]]] = i
        following[codes[i]] += 1


@njit(nogil=True, cache=True)
def line_counts(counts, values, radii):
    """Count, for each of some ascending values, those whose squared difference is at most that of its radius."""
    n = values.shape[0]
    for i in range(n):
        x, square = values[i], radii[i] * radii[i]
        low, step = i, 1
        while low - step >= 0 and (values[low - step] - x) ** 2 <= square:
            low -= step
            step *= 2
        while step:
            if low - step >= 0 and (values[low - step] - x) ** 2 <= square:
                low -= step
            step //= 2
        high, step = i, 1
        while high + step < n and (values[high + step] - x) ** 2 <= square:
            high += step
            step *= 2
        while step:
            if high + step < n and (values[high + step] - x) ** 2 <= square:
                high += step
            step //= 2
        counts[i] = high - low + 1


@njit(nogil=True, cache=True)
def count_around(values, i, radius):
    """Count the ascending values that differ from the i-th by at most a radius."""
    n, x = values.shape[0], values[i]
    low, step = i, 1
    while low - step >= 0 and x - values[low - step] <= radius:
        low -= step
        step *= 2
    while step:
        if low - step >= 0 and x - values[low - step] <= radius:
            low -= step
        step //= 2
    high, step = i, 1
    while high + step < n and values[high + step] - x <= radius:
        high += step
        step *= 2
    while step:
        if high + step < n and values[high + step] - x <= radius:
            high += step
        step //= 2
    return high - low + 1


@njit(nogil=True, cache=True)
def _scan(best, x, y, xs, ys, start, stop, step):
    """Let points of a strip, from one on in the order of y, into the list of the nearest."""
    last = best.shape[0] - 1
    for u in range(start, stop, step):
        gap = abs(ys[u] - y)
        if gap >= best[last]:
            return
        distance = max(gap, abs(xs[u] - x))
        if distance < best[last]:
            place = last
            while place > 0 and best[place - 1] > distance:
                best[place] = best[place - 1]
                place -= 1
            best[place] = distance


@njit(nogil=True, cache=True)
def _first_above(ys, low, high, y):
    while low < high:
        middle = (low + high) // 2
        if ys[middle] < y:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def plane_counts(near_x, near_y, x, ordered_y, from_y, k, size):
    """Count, for each point, those nearer than its k-th nearest by each coordinate alone, itself included.

    x ascends; `ordered_y` is y sorted, and `from_y` says where each of its values stands in x. Points are laid out in
    strips of `size` along x, by y within a strip. A point's neighbors are looked for up and down its own strip and then
    the strips beside it, until y, or the strip, is farther than the k-th nearest so far.
    """
    n = x.shape[0]
    n_strips = (n + size - 1) // size
    following = np.arange(n_strips) * size
    xs, ys, places, ranks = np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for rank in range(n):
        place = from_y[rank]
        u = following[place // size]
        following[place // size] += 1
        xs[u], ys[u], places[u], ranks[u] = x[place], ordered_y[rank], place, rank
    best = np.empty(k)
    for u in range(n):
        own = u // size
        best[:] = np.inf
        _scan(best, xs[u], ys[u], xs, ys, u + 1, min((own + 1) * size, n), 1)
        _scan(best, xs[u], ys[u], xs, ys, u - 1, own * size - 1, -1)
        for side in (-1, 1):
            strip = own + side
            while 0 <= strip < n_strips:
                low, high = strip * size, min((strip + 1) * size, n)
                gap = x[low] - xs[u] if side > 0 else xs[u] - x[high - 1]
                if gap >= best[k - 1]:
                    break
                start = _first_above(ys, low, high, ys[u])
                _scan(best, xs[u], ys[u], xs, ys, start, high, 1)
                _scan(best, xs[u], ys[u], xs, ys, start - 1, low - 1, -1)
                strip += side
        radius = np.nextafter(best[k - 1], 0.0)
        near_x[u] = count_around(x, places[u], radius)
        near_y[u] = count_around(ordered_y, ranks[u], radius)
