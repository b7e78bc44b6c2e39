"""Nearest-neighbor judgements over distances with fresh noise on every training value.

See `_neighbors` for the shared arguments. Noise is drawn from a table, one entry as likely as the other, by a stream of
random bits for each query row and feature: what is drawn depends on the seed alone, not on threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._distances import FAR
from fewer.kernels._neighbors import judge, scratch

TABLE_BITS = 12


@njit(nogil=True, cache=True)
def mixed(x):  # type: ignore[no-untyped-def]
    """Scramble 64 bits (splitmix64), so that neighboring numbers start unrelated streams."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) | np.uint64(1)


@njit(nogil=True, cache=True)
def add_noisy_terms(  # type: ignore[no-untyped-def]
    d, bits, x, x_hole, column, holes, nominal, scale, gap, weight, table
):
    """Add one feature's terms to the distances from one query to all rows, with noise on the rows' numbers."""
    root = np.sqrt(scale)
    for j in range(d.shape[0]):
        if x_hole or holes[j]:
            d[j] += weight * gap
        elif nominal:
            d[j] += 0.0 if column[j] == x else weight * scale
        else:
            bits ^= bits << np.uint64(13)
            bits ^= bits >> np.uint64(7)
            bits ^= bits << np.uint64(17)
            part = root * (column[j] - x) + table[bits >> np.uint64(64 - TABLE_BITS)]
            d[j] += weight * part * part


@njit(nogil=True, cache=True)
def score_noisy(  # type: ignore[no-untyped-def]
    mask, seed, table, columns, holes, nominal, scale, gap, fold, quantum,
    codes, values, row_weights, n_classes, grain, ks, by_rows, gains,
):  # fmt: skip
    """Judge all rows under one mask with noise drawn from `table`; gains (t,)."""
    n, p = columns.shape[1], columns.shape[0]
    d = np.empty(n)
    near, near_d, tally, votes, means = scratch(n_classes, ks)
    for i in range(n):
        k = fold[i]
        for j in range(n):
            d[j] = 0.0
        for f in range(p):
            if mask[f] > 0.0:
                bits = mixed(seed + np.uint64(i * p + f) * np.uint64(0x9E3779B97F4A7C15))
                add_noisy_terms(
                    d, bits, columns[f, i], holes[f, i], columns[f], holes[f], nominal[f],
                    scale[k, f], gap[k, f], mask[f], table,
                )  # fmt: skip
        for j in range(n):
            if fold[j] == k:
                d[j] = FAR
        judge(
            d, i, codes, values, row_weights, n_classes, grain, ks, by_rows,
            near, near_d, tally, votes, means, gains,
        )  # fmt: skip
