"""Running squared distances: add, remove or re-weight one feature of the distances from one row to all rows.

A squared distance is a sum of terms, one for each feature in use. There are two kinds of sums:

*Exact* ones, in float64: each term is rounded to a multiple of a power of two (`quantum`), so every sum is exact,
adding and removing features in any order gives the same bits, and ties stay ties.

*Coarse* ones, in int32: the same terms in coarser units, off by a known number of units each. Integer sums do not
drift either. They are half as wide, and decide all comparisons whose outcome the error cannot change.

See `bundles` for the arguments that the kernels share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.compiling import inner
from fewer.kernels.intrinsics import add_32, least_32

FAR = 1e300
CLIP = 64.0
PLAIN, CLIPPED, NOMINAL = 0, 1, 2
FAR_32 = np.int32(1 << 30)


# ---------------------------------------------------------------------------------------------------- exact


@inner(counted=False)
def term(x, x_missing, z, z_missing, nominal, scale, gap, weight, quantum):
    """Return one feature's part of a squared distance."""
    if x_missing or z_missing:
        square = gap
    elif nominal:
        square = 0.0 if x == z else scale
    else:
        square = min(scale * (x - z) * (x - z), CLIP)
    # Adding and taking off 1.5·2⁵² quanta rounds to whole quanta, half to even, as `rint` does.
    shift = 1.5 * 2.0**52 * quantum
    return (weight * square + shift) - shift


@inner(counted=False)
def add_terms(d, low, x, x_missing, f, k, weight, exact):
    """Add feature f's terms to the distances from one query of fold k to the rows from `low` on."""
    high, scale = low + d.shape[0], exact.scale[k, f]
    column, missing = exact.columns[f][low:high], exact.missing[f][low:high]
    # Rounded to whole quanta as in `term`, but in vectors.
    shift = 1.5 * 2.0**52 * exact.quantum
    absent = (weight * exact.gap[k, f] + shift) - shift
    if x_missing:
        for j in range(d.shape[0]):
            d[j] += absent
    elif exact.nominal[f]:
        unequal = (weight * scale + shift) - shift
        for j in range(d.shape[0]):
            part = 0.0 if column[j] == x else unequal
            d[j] += absent if missing[j] else part
    elif not exact.holes[f]:  # a look at what is missing costs a quarter of the time
        for j in range(d.shape[0]):
            square = scale * (x - column[j]) * (x - column[j])
            square = CLIP if square > CLIP else square
            d[j] += (weight * square + shift) - shift
    else:
        for j in range(d.shape[0]):
            square = scale * (x - column[j]) * (x - column[j])
            square = CLIP if square > CLIP else square
            part = (weight * square + shift) - shift
            d[j] += absent if missing[j] else part


@inner(counted=False)
def fill_terms(out, i, f, weight, exact):
    """Write feature f's terms of the distances from row i to all rows."""
    out[:] = 0.0
    add_terms(out, 0, exact.columns[f, i], exact.missing[f, i], f, exact.fold[i], weight, exact)


@inner(counted=False)
def add_masks(d, i, weights, exact):
    """Sum the distances of row i over the features with a weight: FAR to rows that may not be used."""
    k = exact.fold[i]
    for j in range(d.shape[0]):
        d[j] = FAR if exact.fold[j] == k else 0.0
    for f in range(weights.shape[0]):
        if weights[f] > 0.0:
            add_terms(d, 0, exact.columns[f, i], exact.missing[f, i], f, k, weights[f], exact)


@inner(counted=False)
def change_column(d, i, f, old, new, exact):
    """Change the weight of feature f from old to new in the distances of row i."""
    for turn in range(2):  # off with the old, on with the new: rounded terms with opposite signs are opposite
        weight = new if turn else -old
        if weight != 0.0:
            add_terms(d, 0, exact.columns[f, i], exact.missing[f, i], f, exact.fold[i], weight, exact)


def first_distances(rows: Any, far: Any) -> NDArray[Any]:
    """Return distances (n, n) without any column: `far` between rows of one fold, 0 between others."""
    return np.where(rows.fold[:, None] == rows.fold, far, far - far)


# --------------------------------------------------------------------------------------------------- coarse
#
# Some loops run over whole arrays with unsigned indices: a slice that is made and handed on costs 10 to 50 ns, as much
# as a pass over a hundred rows.


@inner(counted=False)
def coarse_terms(out, x, column, kind, factor, gap, clip):
    """Write one feature's coarse terms from one query to all rows; factor, gap and clip include its weight."""
    if kind == PLAIN:
        for j in range(out.shape[0]):
            out[j] = np.int32(factor * (x - column[j]) * (x - column[j]))
    elif kind == CLIPPED:
        for j in range(out.shape[0]):
            square = factor * (x - column[j]) * (x - column[j])
            square = clip if abs(square) > abs(clip) else square
            out[j] = np.int32(square if square == square else gap)
    else:
        for j in range(out.shape[0]):
            difference = x - column[j]
            square = factor if difference != np.float32(0.0) else np.float32(0.0)
            out[j] = np.int32(square if difference == difference else gap)


@inner(counted=False, forceinline=True)
def add_column(d, part, i, f, weight, coarse):
    """Add a column with a weight to the coarse distances of row i, or take it off with one below 0; `part` is scratch.

    Terms are cut to whole units towards 0, so that those of opposite weights are opposite.
    """
    k = coarse.fold[i]
    coarse_terms(
        part, coarse.columns[f, i], coarse.columns[f], coarse.kinds[f],
        weight * coarse.factor[k, f], weight * coarse.gap[k, f], weight * coarse.clip,
    )  # fmt: skip
    for j in range(d.shape[0]):
        d[j] = add_32(d[j], part[j])


@inner(counted=False)
def change_coarse(low, high, distances, f, old, new, coarse, part):
    """Change the weight of column f in the coarse distances (n, n) of rows low … high−1; `part` is scratch."""
    columns, factor = coarse.columns, coarse.factor
    n, plain = np.uint64(columns.shape[1]), coarse.kinds[f] == PLAIN and (old == 0.0 or new == 0.0)
    for i in range(np.uint64(low), np.uint64(high)):
        if plain:
            x, signed = columns[f, i], (new - old) * factor[np.uint64(coarse.fold[i]), f]
            for j in range(n):
                distances[i, j] = add_32(distances[i, j], np.int32(signed * (x - columns[f, j]) * (x - columns[f, j])))
            continue
        for weight in (-old, new):
            if weight != 0.0:
                add_column(distances[i], part, np.int64(i), f, weight, coarse)


@inner(counted=False)
def coarse_start(d, k, fold):
    """Start the coarse distances of a row of fold k: 0 to rows that may be used, FAR_32 to the others."""
    for j in range(d.shape[0]):
        d[j] = FAR_32 if fold[j] == k else np.int32(0)


@inner(counted=False)
def least(d):
    """Return the smallest coarse distance, FAR_32 if there is none."""
    smallest = FAR_32
    for j in range(d.shape[0]):
        smallest = least_32(smallest, d[j])
    return smallest
