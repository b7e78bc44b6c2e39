"""Nearest-neighbor judgements over distances with fresh noise on every training value.

See `bundles` for the shared arguments. Noise is read from a pool of values in random order: the distances from one
query row in one feature take a run of it that starts at a random place. So each value of the pool is as likely as the
other for every distance, without a random number for each of them, and what is drawn depends on the seed alone, not on
threads. Distances are float32: noise leaves no ties to keep.

pool : (2^POOL_BITS + n,) float32
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.distances import CLIPPED, FAR, PLAIN
from fewer.kernels.votes import judge

POOL_BITS = 16


class NoisyRows(NamedTuple):
    """Rows laid out for distances with noise.

    columns : (p, n) float32
        Values shifted and scaled to 0 … 1, level codes of nominal features; NaN where missing.
    kinds : (p,) uint8
        PLAIN, CLIPPED (here: numeric with missing cells) or NOMINAL.
    root, scale, gap : (k, p) float32
        For queries of fold k: the factor on a difference of numbers, on a nominal one, and the term of a missing cell.
    fold : (n,) int64
    """

    columns: Any
    kinds: Any
    root: Any
    scale: Any
    gap: Any
    fold: Any


@inner(counted=False)
def mixed(x):
    """Scramble 64 bits (splitmix64), so that neighboring numbers start unrelated streams."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) | np.uint64(1)


@inner(counted=False)
def place(bits):
    """Go on in a stream of random bits (xorshift64): its new state, and a place in the pool."""
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    bits ^= bits << np.uint64(17)
    return bits, bits >> np.uint64(64 - POOL_BITS)


@kernel(counted=False, fastmath={"contract"})
def score_noisy(mask, used, seed, pool, noisy, rules, room, gains):
    """Judge all rows under one mask with noise from the pool; gains (t,).

    used : (u,) uint64
        The columns with a weight.
    room : two arrays for n distances, in single and in double precision, and a ballot
    """
    # Unsigned indices into whole arrays: slices handed to a function cost more than the loop over a hundred rows.
    columns, kinds, gap, fold = noisy.columns, noisy.kinds, noisy.gap, noisy.fold
    n = np.uint64(columns.shape[1])
    d, far, ballot = room
    none = np.float32(0.0)
    for i in range(n):
        k = np.uint64(fold[i])
        bits = mixed(seed + i * np.uint64(0x9E3779B97F4A7C15))
        for j in range(n):
            d[j] = none
        for f in used:
            x, weight, absent = columns[f, i], np.float32(mask[f]), gap[k, f]
            bits, start = place(bits)
            if kinds[f] == PLAIN:
                factor = noisy.root[k, f]
                for j in range(n):
                    part = factor * (columns[f, j] - x) + pool[start + j]
                    d[j] += weight * part * part
            elif kinds[f] == CLIPPED:
                factor = noisy.root[k, f]
                for j in range(n):
                    part = factor * (columns[f, j] - x) + pool[start + j]
                    d[j] += weight * (part * part if part == part else absent)
            else:
                unequal = noisy.scale[k, f]
                for j in range(n):
                    difference = columns[f, j] - x
                    square = unequal if difference != none else none
                    d[j] += weight * (square if difference == difference else absent)
        for j in range(n):
            far[j] = FAR if fold[j] == fold[i] else np.float64(d[j])
        judge(far, i, rules, ballot, gains)
