"""Who is near whom: nearest-neighbor distances and neighborhood counts of many subsets at once.

A squared distance is a sum of quantised terms, exact in double precision (see `fewer.differences`), so that the
order in which features were added does not matter. Rows come sorted by one feature that all candidates share, the
pivot: no squared distance is below the pivot's own term, so a row looks only at the rows near it in the pivot.

Arguments that the kernels share:

start, stop : int
    The rows to judge.
columns, missing : (p, n) float64 and uint8
    One row for each feature: its values, and where they are missing.
plain : (p,) int64
    0: numbers without missing cells. 1: levels without missing cells. 2: anything else.
nominal, scale, gap : (p,)
    As in `fewer.differences`, with ranges over all rows: a term is at most its weight.
weights : (p,) float64
    What the candidates have in common: the weight of each feature's term.
pivot : int
    The feature that the rows are sorted by, or −1.
extra, offsets, changes : (e,), (m + 1,), (e,)
    Candidate c adds the terms of extra[offsets[c]:offsets[c + 1]], weighted by `changes`; a negative weight takes
    away a term that the candidates have in common, to the bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from fewer.kernels._neighbors import term

FAR = 1e300
CHUNK = 512

HARD_CLASSES, SOFT_CLASSES, HARD_VALUES, SOFT_VALUES = 0, 1, 2, 3


@intrinsic
def smaller(typing_context, x, y):  # type: ignore[no-untyped-def]
    """Return the smaller of two numbers that are not NaN, in a form that vectorises inside a reduction."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        a, b = arguments
        flags = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered("<", a, b, flags=flags), a, b, flags=flags)

    return types.float64(types.float64, types.float64), generate


@njit(nogil=True, cache=True, error_model="numpy")
def add_terms(  # type: ignore[no-untyped-def]
    d, base, i, low, f, weight, columns, missing, plain, nominal, scale, gap, quantum
):
    """Write squared distances: those of `base` and one feature's terms, from row i to the rows from `low` on."""
    n = d.shape[0]
    x = columns[f, i]
    column = columns[f][low : low + n]
    factor = scale[f]
    if plain[f] == 0:
        # Adding a large number and taking it away again rounds to multiples of the quantum, ties to even.
        large = 1.5 * 2.0**52 * quantum
        if weight == 1.0:
            for j in range(n):
                difference = x - column[j]
                d[j] = base[j] + ((factor * difference * difference + large) - large)
        else:
            for j in range(n):
                difference = x - column[j]
                d[j] = base[j] + ((weight * (factor * difference * difference) + large) - large)
    elif plain[f] == 1:
        mismatch = np.rint(weight * factor / quantum) * quantum
        for j in range(n):
            d[j] = base[j] + (0.0 if column[j] == x else mismatch)
    else:
        absent = missing[f][low : low + n]
        for j in range(n):
            d[j] = base[j] + term(x, missing[f, i], column[j], absent[j], nominal[f], scale[f], gap[f], weight, quantum)


@njit(nogil=True, cache=True, error_model="numpy")
def pivot_term(i, j, f, weight, columns, scale, quantum):  # type: ignore[no-untyped-def]
    """Return the term of the feature that the rows are sorted by: no distance is below it."""
    difference = columns[f, i] - columns[f, j]
    return np.rint(weight * (scale[f] * difference * difference) / quantum) * quantum


@njit(nogil=True, cache=True, error_model="numpy")
def add_changes(  # type: ignore[no-untyped-def]
    d, common, i, low, first, end, extra, changes, columns, missing, plain, nominal, scale, gap, quantum
):
    """Write a candidate's squared distances: what the candidates have in common, and what is its own."""
    if first == end:
        d[:] = common
    for e in range(first, end):
        base = common if e == first else d
        add_terms(d, base, i, low, extra[e], changes[e], columns, missing, plain, nominal, scale, gap, quantum)


@njit(nogil=True, cache=True, error_model="numpy")
def smallest(d, low, i):  # type: ignore[no-untyped-def]
    """Return the smallest distance of a chunk, row i itself apart."""
    own = i - low
    best = FAR
    if 0 <= own < d.shape[0]:
        d[own] = FAR
    for j in range(d.shape[0]):
        best = smaller(best, d[j])
    return best


@njit(nogil=True, cache=True, error_model="numpy")
def nearest(  # type: ignore[no-untyped-def]
    start, stop, columns, missing, plain, nominal, scale, gap, quantum, weights, pivot, extra, offsets, changes, out
):
    """Write the squared distance from each row to its nearest other row into out (m, n)."""
    n = columns.shape[1]
    m = offsets.shape[0] - 1
    used = np.flatnonzero(weights)
    common, d = np.empty(CHUNK), np.empty(CHUNK)
    best = np.empty(m)
    for i in range(start, stop):
        best[:] = FAR
        left = max(i - CHUNK // 2, 0)
        right = min(left + CHUNK, n)
        low, high = left, right
        while low < high:
            chunk = common[: high - low]
            chunk[:] = 0.0
            for f in used:
                add_terms(chunk, chunk, i, low, f, weights[f], columns, missing, plain, nominal, scale, gap, quantum)
            bound = 0.0
            if pivot >= 0 and (low > i or high <= i):
                edge = low if low > i else high - 1
                bound = pivot_term(i, edge, pivot, weights[pivot], columns, scale, quantum)
            for c in range(m):
                if best[c] <= bound:
                    continue
                whole = d[: high - low]
                add_changes(
                    whole, chunk, i, low, offsets[c], offsets[c + 1], extra, changes, columns, missing, plain, nominal,
                    scale, gap, quantum,
                )  # fmt: skip
                best[c] = min(best[c], smallest(whole, low, i))
            # The next chunk lies on the side where the pivot is nearer; stop when it is beyond every candidate's best.
            below, above = FAR, FAR
            if left > 0:
                below = 0.0 if pivot < 0 else pivot_term(i, left - 1, pivot, weights[pivot], columns, scale, quantum)
            if right < n:
                above = 0.0 if pivot < 0 else pivot_term(i, right, pivot, weights[pivot], columns, scale, quantum)
            if min(below, above) >= best.max():
                break
            if below <= above:
                low, high = max(left - CHUNK, 0), left
                left = low
            else:
                low, high = right, min(right + CHUNK, n)
                right = high
        out[:, i] = best


@njit(nogil=True, cache=True, error_model="numpy")
def first_within(i, limit, f, weight, columns, scale, quantum):  # type: ignore[no-untyped-def]
    """Return the first row whose pivot term to row i is within a limit."""
    low, high = 0, i
    while low < high:
        middle = (low + high) // 2
        if pivot_term(i, middle, f, weight, columns, scale, quantum) <= limit:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True, cache=True, error_model="numpy")
def end_within(i, limit, f, weight, columns, scale, quantum):  # type: ignore[no-untyped-def]
    """Return the row after the last one whose pivot term to row i is within a limit."""
    low, high = i + 1, columns.shape[1]
    while low < high:
        middle = (low + high) // 2
        if pivot_term(i, middle, f, weight, columns, scale, quantum) <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc"})
def count_classes(d, limit, code, codes, row_weights):  # type: ignore[no-untyped-def]
    """Sum the weights of the rows within a limit, and of those of one class among them."""
    everyone, same = 0.0, 0.0
    for j in range(d.shape[0]):
        weight = row_weights[j] if d[j] <= limit else 0.0
        everyone += weight
        same += weight if codes[j] == code else 0.0
    return everyone, same


@njit(nogil=True, cache=True, error_model="numpy")
def neighborhoods(  # type: ignore[no-untyped-def]
    start, stop, columns, missing, plain, nominal, scale, gap, quantum, weights, pivot, extra, offsets, changes,
    limits, mode, with_self, codes, values, row_weights, n_classes, sizes, agreeing,
):  # fmt: skip
    """Write how many rows lie within each candidate's limit of each row, and how many of them agree with it, (m, n).

    Agreement: hard classes, the weight of the own class; soft classes, Σ q² times the size; values (divided by
    twice their spread), the size less the sum of squared differences, hard to the row itself, soft to each other.
    """
    n = columns.shape[1]
    m = offsets.shape[0] - 1
    used = np.flatnonzero(weights)
    common, d = np.empty(CHUNK), np.empty(CHUNK)
    tally = np.empty((m, max(n_classes, 1)))
    size, agree, total, square = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    widest = limits.max()
    for i in range(start, stop):
        first, end = 0, n
        if pivot >= 0:
            first = first_within(i, widest, pivot, weights[pivot], columns, scale, quantum)
            end = end_within(i, widest, pivot, weights[pivot], columns, scale, quantum)
        size[:] = 0.0
        agree[:] = 0.0
        tally[:] = 0.0
        total[:] = 0.0
        square[:] = 0.0
        for low in range(first, end, CHUNK):
            high = min(low + CHUNK, end)
            chunk = common[: high - low]
            chunk[:] = 0.0
            for f in used:
                add_terms(chunk, chunk, i, low, f, weights[f], columns, missing, plain, nominal, scale, gap, quantum)
            bound = 0.0
            if pivot >= 0 and (low > i or high <= i):
                edge = low if low > i else high - 1
                bound = pivot_term(i, edge, pivot, weights[pivot], columns, scale, quantum)
            for c in range(m):
                if bound > limits[c]:
                    continue
                whole = d[: high - low]
                add_changes(
                    whole, chunk, i, low, offsets[c], offsets[c + 1], extra, changes, columns, missing, plain, nominal,
                    scale, gap, quantum,
                )  # fmt: skip
                if low <= i < high:
                    whole[i - low] = 0.0 if with_self else FAR
                if mode == HARD_CLASSES:
                    everyone, same = count_classes(whole, limits[c], codes[i], codes[low:high], row_weights[low:high])
                    size[c] += everyone
                    agree[c] += same
                    continue
                for j in range(low, high):
                    if whole[j - low] > limits[c]:
                        continue
                    size[c] += row_weights[j]
                    if mode == SOFT_CLASSES:
                        tally[c, codes[j]] += row_weights[j]
                    elif mode == HARD_VALUES:
                        agree[c] += row_weights[j] * (1.0 - (values[i] - values[j]) ** 2)
                    else:
                        total[c] += row_weights[j] * values[j]
                        square[c] += row_weights[j] * values[j] ** 2
        for c in range(m):
            if size[c] <= 0.0:
                continue
            if mode == SOFT_CLASSES:
                for k in range(n_classes):
                    agree[c] += tally[c, k] ** 2
                agree[c] /= size[c]
            elif mode == SOFT_VALUES:
                agree[c] = size[c] - 2.0 * (square[c] - total[c] ** 2 / size[c])
        sizes[:, i] = size
        agreeing[:, i] = agree
