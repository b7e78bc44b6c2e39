"""Mutual information of sparse columns: stored cells are counted, the others are what is left."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Stored(NamedTuple):
    """Binned columns of a CSC array.

    starts, rows : index pointers and row numbers
    codes : (nnz,) uint16, the bin of each stored cell
    empty : (p,) int64, the bin of the cells that are not stored
    levels : (p,) int64, how many bins each column has
    """

    starts: Any
    rows: Any
    codes: Any
    empty: Any
    levels: Any


class Other(NamedTuple):
    """The code that columns are compared with.

    codes : (n,) int64, from 0 to len(mass) − 1
    mass : (n_other,) float64, the weight of each code
    weights : (n,) float64, those of the rows
    """

    codes: Any
    mass: Any
    weights: Any


@njit(nogil=True, cache=True)
def information_with_sparse(low, high, stored, told, out, own):
    """Write the mutual information in nats of columns low … high−1 and one other code, and each column's own entropy.

    `stored` are the columns (`Stored`), `told` is the other code (`Other`).
    """
    starts, rows, codes, empty, levels = stored
    other, other_mass, weights = told
    n_other = other_mass.shape[0]
    total = other_mass.sum()
    apart_other = 0.0
    for t in range(n_other):
        if other_mass[t] > 0.0:
            apart_other += other_mass[t] * np.log(other_mass[t])
    most = 1
    for f in range(low, high):
        most = max(most, levels[f])
    table, across = np.empty((most, n_other)), np.empty(most)
    left = np.empty(n_other)
    for f in range(low, high):
        size = levels[f]
        table[:size] = 0.0
        left[:] = other_mass
        for place in range(starts[f], starts[f + 1]):
            row = rows[place]
            table[codes[place], other[row]] += weights[row]
            left[other[row]] -= weights[row]
        for t in range(n_other):
            # What rounding leaves of nothing is nothing.
            if left[t] > 1e-9 * other_mass[t]:
                table[empty[f], t] += left[t]
        joint, apart = 0.0, 0.0
        across[:size] = 0.0
        for c in range(size):
            for t in range(n_other):
                mass = table[c, t]
                if mass > 0.0:
                    joint += mass * np.log(mass)
                    across[c] += mass
        for c in range(size):
            if across[c] > 0.0:
                apart += across[c] * np.log(across[c])
        own[f] = np.log(total) - apart / total if total > 0.0 else 0.0
        out[f] = max((joint - apart - apart_other) / total + np.log(total), 0.0) if total > 0.0 else 0.0
