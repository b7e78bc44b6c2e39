"""ROC points of whole-number scores: sorting, area, and the points that lie outside a hull.

Scores are whole numbers (fixed-point log-ratios, or ranks), so sums do not depend on their order and equal scores tie.
Rates are counts: false positives up to the number of negatives, true positives up to the number of positives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel

BITS = 11
N_BUCKETS = 1 << BITS
# Bits of a key that hold a row or cell number.
ROW_BITS = 24


class Groups(NamedTuple):
    """Rows by a parent's score, as `group_equal` writes them: their order, where each score ends, and the scores."""

    order: Any
    ends: Any
    values: Any


class Cells(NamedTuple):
    """Rows that share a score and a code: keys and counts of each such cell; scratch for counting."""

    keys: Any
    totals: Any
    local: Any
    touched: Any


@inner()
def pack(scores, positive, keys):
    """Write keys that grow as scores fall, with the class in the lowest bit; give the highest score."""
    highest = scores[0]
    for i in range(scores.shape[0]):
        highest = max(highest, scores[i])
    for i in range(scores.shape[0]):
        keys[i] = ((highest - scores[i]) << 1) | positive[i]
    return highest


@inner()
def sort_keys(keys, spare, counts, shift):
    """Sort keys of at least 0 upwards by their bits from `shift` on, by digits; the result is in the first array."""
    n = keys.shape[0]
    largest = np.int64(0)
    for i in range(n):
        largest = max(largest, keys[i])
    swapped = False
    while (largest >> shift) > 0:
        source, target = (spare, keys) if swapped else (keys, spare)
        counts[:] = 0
        for i in range(n):
            counts[(source[i] >> shift) & (N_BUCKETS - 1)] += 1
        place = 0
        for b in range(N_BUCKETS):
            size = counts[b]
            counts[b] = place
            place += size
        for i in range(n):
            digit = (source[i] >> shift) & (N_BUCKETS - 1)
            target[counts[digit]] = source[i]
            counts[digit] += 1
        swapped = not swapped
        shift += BITS
    if swapped:
        copy(spare, keys)


@inner()
def pairs_won(keys):
    """Count twice the pairs of a positive and a negative that sorted keys rank rightly, ties once."""
    won = np.int64(0)
    n_positive = np.int64(0)
    i = 0
    while i < keys.shape[0]:
        score = keys[i] >> 1
        positive = np.int64(0)
        negative = np.int64(0)
        while i < keys.shape[0] and (keys[i] >> 1) == score:
            if keys[i] & 1:
                positive += 1
            else:
                negative += 1
            i += 1
        won += negative * (2 * n_positive + positive)
        n_positive += positive
    return won


@kernel()
def group_equal(scores, order, ends, values, keys, spare, counts):
    """Sort rows by their scores, from the highest down; give how many distinct scores there are.

    Rows order[ends[g − 1]:ends[g]] have the score values[g]. Row numbers share a word with the scores, so that scores
    must differ by less than 2³⁹ and rows be fewer than 2²⁴.
    """
    n = scores.shape[0]
    highest = scores[0]
    for i in range(n):
        highest = max(highest, scores[i])
    for i in range(n):
        keys[i] = ((highest - scores[i]) << ROW_BITS) | i
    sort_keys(keys, spare, counts, ROW_BITS)
    size = 0
    last = np.int64(-1)
    for i in range(n):
        key = keys[i] >> ROW_BITS
        if key != last:
            values[size] = highest - key
            size += 1
            last = key
        ends[size - 1] = i + 1
        order[i] = keys[i] & ((1 << ROW_BITS) - 1)
    return size


@inner()
def push_vertex(fp, tp, size, false, true):
    """Add the next point to an upper hull of `size` vertices, without those that it hides; return the new size."""
    while size >= 2 and (fp[size - 1] - fp[size - 2]) * (true - tp[size - 2]) >= (tp[size - 1] - tp[size - 2]) * (
        false - fp[size - 2]
    ):
        size -= 1
    fp[size] = false
    tp[size] = true
    return size + 1


@kernel()
def upper_chain(fp, tp):
    """Number the vertices of the upper hull of points in order; collinear ones and repetitions are left out."""
    chain = np.empty(fp.shape[0], np.int64)
    size = 0
    for c in range(fp.shape[0]):
        if size > 0 and fp[c] == fp[chain[size - 1]] and tp[c] == tp[chain[size - 1]]:
            continue
        while size >= 2:
            a, b = chain[size - 2], chain[size - 1]
            if (fp[b] - fp[a]) * (tp[c] - tp[a]) < (tp[b] - tp[a]) * (fp[c] - fp[a]):
                break
            size -= 1
        chain[size] = c
        size += 1
    return chain[:size]


@inner()
def hull_of_sorted(keys, shift, totals, fp, tp, last):
    """Return the upper hull of the ROC points of sorted keys: scores from bit `shift` on, below them a number.

    totals[key & (2^shift − 1)] counts a key's rows, negatives in its lower half and positives in its upper one. Writes
    the counts of each vertex, and the score of the last key that it calls positive; gives the number of vertices,
    (0, 0) and the end among them.
    """
    size, below = 1, (1 << shift) - 1
    fp[0], tp[0], last[0] = 0, 0, -1
    false, true = np.int64(0), np.int64(0)
    i = 0
    while i < keys.shape[0]:
        score = keys[i] >> shift
        while i < keys.shape[0] and (keys[i] >> shift) == score:
            total = totals[keys[i] & below]
            true += total >> 32
            false += total & 0xFFFFFFFF
            i += 1
        size = push_vertex(fp, tp, size, false, true)
        last[size - 1] = score
    return size


@inner()
def keep_outside(fp, tp, size, price, hull_fp, hull_tp, kept):
    """Number the inner vertices that are not below a hull, less their price; give how many there are.

    The hull is given by counts with growing false positives, the highest true positives at each.
    """
    n = 0
    segment = 0
    for v in range(1, size - 1):
        while segment < hull_fp.shape[0] - 2 and hull_fp[segment + 1] <= fp[v]:
            segment += 1
        run = hull_fp[segment + 1] - hull_fp[segment]
        rise = hull_tp[segment + 1] - hull_tp[segment]
        if (tp[v] - price - hull_tp[segment]) * run >= rise * (fp[v] - hull_fp[segment]):
            kept[n] = v
            n += 1
    return n


@inner()
def append_points(points, total, child, kept, hull, highest):
    """Write a child's kept vertices behind the first `total` points (4, m), in more room if it takes some."""
    fp, tp, last = hull
    while total + kept.shape[0] > points.shape[1]:
        longer = np.empty((4, 2 * points.shape[1]), np.int64)
        for line in range(4):
            copy(points[line, :total], longer[line])
        points = longer
    for v in kept:
        points[0, total], points[1, total], points[2, total] = child, fp[v], tp[v]
        points[3, total] = highest - last[v]
        total += 1
    return points, total


@kernel()
def outside_points(scores, positive, prices, hull_fp, hull_tp):
    """Return the ROC points of several scorings, (m, n) whole numbers, that are not below a hull.

    Returns
    -------
    owner, fp, tp, threshold : arrays
        Which scoring, its counts, and the lowest score that it calls positive.
    """
    m, n = scores.shape
    keys, spare, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    fp, tp, last = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    kept, one_each = np.empty(n + 1, np.int64), np.array([1, 1 << 32])
    points, total = np.empty((4, 64), np.int64), 0
    for child in range(m):
        highest = pack(scores[child], positive, keys)
        sort_keys(keys, spare, counts, 1)
        size = hull_of_sorted(keys, 1, one_each, fp, tp, last)
        n_kept = keep_outside(fp, tp, size, prices[child], hull_fp, hull_tp, kept)
        points, total = append_points(points, total, child, kept[:n_kept], (fp, tp, last), highest)
    return points[0, :total], points[1, :total], points[2, :total], points[3, :total]


@inner()
def fill_cells(groups, column, weight, entries, sign, highest, cells):
    """Count the rows that share a parent's score and a code; write a key and the counts of each such cell."""
    order, ends, values, local, touched = groups.order, groups.ends, groups.values, cells.local, cells.touched
    used = 0
    first = 0
    width = entries.shape[0]
    for g in range(ends.shape[0]):
        n_touched = 0
        if ends[g] - first > 2 * width:
            # Two counters a code, in turn: a row need not wait for the count of the row before it.
            for j in range(first, ends[g]):
                local[2 * column[order[j]] + (j & 1)] += weight[j]
            for code in range(width):
                if local[2 * code] + local[2 * code + 1] > 0:
                    touched[n_touched] = code
                    n_touched += 1
        else:
            for j in range(first, ends[g]):
                code = column[order[j]]
                if local[2 * code] == 0:
                    touched[n_touched] = code
                    n_touched += 1
                local[2 * code] += weight[j]
        first = ends[g]
        for t in range(n_touched):
            code = touched[t]
            cells.keys[used] = ((highest - values[g] - sign * entries[code]) << ROW_BITS) | used
            cells.totals[used] = local[2 * code] + local[2 * code + 1]
            local[2 * code] = 0
            local[2 * code + 1] = 0
            used += 1
    return used


@kernel()
def outside_one_more(groups, features, signs, levels, columns, positive, prices, hull_fp, hull_tp):
    """Return the points of children whose scores are a parent's plus (or less) one table entry, as `outside_points`.

    Rows with the same score of the parent and the same code stay together, so that cells are sorted instead of rows:
    `columns` are those of `_naive_bayes`, `levels` says how many entries each feature's table has.
    """
    n = positive.shape[0]
    keys, spare, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(N_BUCKETS, np.int64)
    fp, tp, last = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    kept, totals = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    weight = np.empty(n, np.int64)  # of each sorted row: a negative in the lower half, a positive in the upper one
    for j in range(n):
        weight[j] = 1 + positive[groups.order[j]] * 0xFFFFFFFF
    cells = Cells(keys, totals, np.zeros(2 * levels.max(), np.int64), np.empty(levels.max(), np.int64))
    points, total = np.empty((4, 64), np.int64), 0
    for child in range(features.shape[0]):
        f, sign = features[child], signs[child]
        first = columns.start[0, f]
        entries = columns.tables[first : first + levels[f], 0]
        highest = groups.values[0] + (entries.max() if sign > 0 else -entries.min())
        used = fill_cells(groups, columns.codes[f], weight, entries, sign, highest, cells)
        sort_keys(keys[:used], spare[:used], counts, ROW_BITS)
        size = hull_of_sorted(keys[:used], ROW_BITS, totals, fp, tp, last)
        n_kept = keep_outside(fp, tp, size, prices[child], hull_fp, hull_tp, kept)
        points, total = append_points(points, total, child, kept[:n_kept], (fp, tp, last), highest)
    return points[0, :total], points[1, :total], points[2, :total], points[3, :total]
