"""The nearest neighbor's class, from coarse distances; and nearest neighbors on a line and in the plane.

With one neighbor and classes, a row is judged right when the nearest row of its own class is nearer than the nearest
row of any other. Rows sorted by class make that two minima over contiguous coarse distances. Where they lie closer
together than the error of coarse distances, ties included, the verdict is UNSURE, and exact distances decide
(`neighbors.judge_rows`). See `bundles` for the arguments that the kernels share.

verdicts : (…, n) uint8
    WRONG, RIGHT or UNSURE for each row.
errors : (p, 2) float64
    What each feature adds to the error of a comparison, as in `Doubt`.

Those on a line and in the plane are for mutual information (Kraskov; Ross). Counts follow scikit-learn's trees to the
bit: on the line it compares squares of differences, in the plane (largest difference of two coordinates) the
differences themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.bundles import Doubt
from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.distances import (
    CLIPPED,
    FAR_32,
    PLAIN,
    add_column,
    change_coarse,
    coarse_start,
    least,
)
from fewer.kernels.intrinsics import add_32, least_32

WRONG, RIGHT, UNSURE = np.uint8(0), np.uint8(1), np.uint8(2)


class Running(NamedTuple):
    """Running coarse distances (n, n), the weights of the rows, and room: two times distances, classes, rows."""

    distances: Any
    row_weights: Any
    row: Any
    part: Any
    nearest: Any
    unsure: Any


@inner(counted=False)
def nearer(a, b, doubt):
    """Say whether coarse distance a must be smaller than b; the bound of the error is in `differences.CoarseRows`."""
    if a >= FAR_32 or b >= FAR_32:
        return a < FAR_32
    if a + doubt.rough < b:
        return True
    if a >= b:
        return False
    far = b + doubt.rough
    steep, used = doubt.steep, doubt.used
    error = 2.0 * (2.0**-22 * np.sqrt(steep * far) + 3.0 * 2.0**-46 * steep + 2.0**-22 * far + used) + used
    return a + error < b


@inner(counted=False)
def verdict(nearest, own, by_rows, doubt):
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
    if nearer(mine, other, doubt):
        return RIGHT
    if nearer(other, mine, doubt) and (by_rows or another >= FAR_32 or nearer(other, another, doubt)):
        return WRONG
    return UNSURE


@inner(counted=False)
def doubt_about(mask, errors):
    """Sum the errors (p, 2) of the features with a weight, and count these."""
    rough, steep, used = 0.0, 0.0, 0.0
    for f in range(mask.shape[0]):
        if mask[f] > 0.0:
            rough += errors[f, 0]
            steep += errors[f, 1]
            used += 1.0
    return Doubt(rough, steep, used)


# The loops over a unit's columns are written out in each kernel, over whole arrays with unsigned indices: a slice that
# is made and handed on costs 10 to 50 ns, as much as a pass over a hundred rows.


@inner(counted=False, inline="always")  # a call would take as long as the pass over 500 rows
def least_by_class(i, f, weight, d, coarse, nearest):
    """Find the nearest row of each class after adding column f to (or, with weight < 0, taking it off) distances d."""
    columns, starts = coarse.columns, coarse.starts
    i, f, k, kind = np.uint64(i), np.uint64(f), np.uint64(coarse.fold[i]), coarse.kinds[f]
    x, signed = columns[f, i], weight * coarse.factor[k, f]
    absent, most, none = weight * coarse.gap[k, f], weight * coarse.clip, np.float32(0.0)
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


@kernel(counted=False)
def coarse_flips(low, high, changes, coarse, by_rows, errors, scratch, verdicts):
    """Write verdicts (u, high−low) on rows low … high−1 under masks that differ in one unit.

    `changes` are those of `bundles.changes_of`, with weights in single precision. `scratch`: three arrays for n
    distances, one for classes.
    """
    columns, weights, bounds = changes
    d, changed, part, nearest = scratch
    n, starts, mask = d.shape[0], coarse.starts, Doubt(0.0, 0.0, 0.0)
    for i in range(low, high):
        coarse_start(d, coarse.fold[i], coarse.fold)
        for u in range(bounds.shape[0] - 1):  # the first is the mask itself
            first, last = bounds[u], bounds[u + 1]
            rough, steep, used = (mask.rough, mask.steep, mask.used) if u > 0 else (0.0, 0.0, 0.0)
            for m in range(first, last):
                rough += errors[columns[m], 0]
                steep += errors[columns[m], 1]
                used += 1.0
            doubt = Doubt(rough, steep, used)
            if u > 0 and last - first == 1:
                least_by_class(i, columns[first], weights[first], d, coarse, nearest)
                verdicts[u - 1, i - low] = verdict(nearest, coarse.codes[i], by_rows, doubt)
                continue
            for j in range(n):
                changed[j] = d[j]
            for m in range(first, last):
                add_column(changed, part, i, columns[m], weights[m], coarse)
            if u == 0:
                mask = doubt
                for j in range(n):
                    d[j] = changed[j]
                continue
            for c in range(nearest.shape[0]):
                nearest[c] = least(changed[starts[c] : starts[c + 1]])
            verdicts[u - 1, i - low] = verdict(nearest, coarse.codes[i], by_rows, doubt)


# -------------------------------------------------------------------------------------- running distances


@inner(counted=False)
def judge_change(first, last, unit, mask, value, doubt, coarse, by_rows, running):
    """Judge rows first … last−1 with the weights of a unit's columns set to a value, by coarse distances.

    Returns what the rows judged right weigh, and how many unsure ones were listed.
    """
    starts, distances = coarse.starts, running.distances
    row, nearest, right, n_unsure = running.row, running.nearest, 0.0, 0
    old, new = np.float32(mask[unit[0]]), np.float32(value)
    single = unit.shape[0] == 1 and (old == 0.0 or new == 0.0)
    for i in range(np.uint64(first), np.uint64(last)):
        if single:
            least_by_class(np.int64(i), unit[0], new - old, distances[i], coarse, nearest)
        else:
            copy(distances[i], row)
            for g in unit:
                for weight in (-np.float32(mask[g]), new):
                    if weight != 0.0:
                        add_column(row, running.part, np.int64(i), g, weight, coarse)
            for c in range(nearest.shape[0]):
                nearest[c] = least(row[starts[c] : starts[c + 1]])
        outcome = verdict(nearest, coarse.codes[i], by_rows, doubt)
        if outcome == RIGHT:
            right += running.row_weights[i]
        elif outcome == UNSURE:
            running.unsure[first + n_unsure] = i
            n_unsure += 1
    return right, n_unsure


@kernel(counted=False)
def coarse_move(low, high, moved, coarse, by_rows, errors, running):
    """Judge rows low … high−1 under a proposed mask, by running coarse distances (n, n), as in `score_move`.

    Returns what the rows judged right weigh, and how many unsure ones were listed.
    """
    masks, distances = moved.masks, running.distances
    for f in moved.before:
        old, new = np.float32(masks[0, f]), np.float32(masks[1, f])
        change_coarse(low, high, distances, f, old, new, coarse, running.part)
    doubt = doubt_about(masks[2], errors)
    return judge_change(low, high, moved.unit, masks[1], masks[2, moved.unit[0]], doubt, coarse, by_rows, running)


@kernel()
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


@kernel()
def split_by_class(places, codes, bounds):
    """Write the places of rows class after class, each class in the order of the rows; `bounds` say where."""
    following = bounds[:-1].copy()
    for i in range(codes.shape[0]):
        places[following[codes[i]]] = i
        following[codes[i]] += 1


@kernel()
def line_counts(counts, values, radii):
    """Count, for each of some ascending values, those whose squared difference is at most that of its radius."""
    for i in range(values.shape[0]):
        counts[i] = count_around(values, i, radii[i] * radii[i], True)


@inner()
def count_around(values, i, reach, squared):
    """Count the ascending values whose differences from the i-th, or squares of these, are at most so large.

    On both sides the steps to the farthest of them double first and halve then.
    """
    count = 1
    for side in (-1, 1):
        last, step, halving = i, 1, False
        while step:
            place = last + side * step
            within = 0 <= place < values.shape[0]
            if within:
                gap = side * (values[place] - values[i])
                within = (gap * gap if squared else gap) <= reach
            last = place if within else last
            halving = halving or not within
            step = step // 2 if halving else 2 * step
        count += abs(last - i)
    return count


@inner()
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


@inner()
def _first_above(ys, low, high, y):
    while low < high:
        middle = (low + high) // 2
        if ys[middle] < y:
            low = middle + 1
        else:
            high = middle
    return low


@kernel()
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
        home = u // size
        best[:] = np.inf
        _scan(best, xs[u], ys[u], xs, ys, u + 1, min((home + 1) * size, n), 1)
        _scan(best, xs[u], ys[u], xs, ys, u - 1, home * size - 1, -1)
        for side in (-1, 1):
            strip = home + side
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
        near_x[u] = count_around(x, places[u], radius, False)
        near_y[u] = count_around(ordered_y, ranks[u], radius, False)
