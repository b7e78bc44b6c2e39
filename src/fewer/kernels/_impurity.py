"""Gini impurity of a target that a pair of codes takes away."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def impurity_with(block, columns, other, target, weights, out):
    """Write Σ p(f, s, c)² / p(f, s) − Σ p(c)² of some features f, one other column s and the target c.

    block : (first, one after the last) feature
    columns : (codes (p, n) int32, number of levels (p,))
    other, target : (codes (n,) int32, number of levels)
    weights : (n,) float64, how much each row counts
    """
    low, high = block
    codes, levels = columns
    beside, n_other = other
    aim, n_target = target
    n = aim.shape[0]
    most = 1
    for f in range(low, high):
        most = max(most, levels[f])
    table = np.empty(most * n_other * n_target)
    down = np.zeros(n_target)
    total = 0.0
    for j in range(n):
        down[aim[j]] += weights[j]
        total += weights[j]
    before = 0.0
    for t in range(n_target):
        before += (down[t] / total) ** 2
    for f in range(low, high):
        size = levels[f] * n_other * n_target
        table[:size] = 0.0
        code = codes[f]
        for j in range(n):
            table[(code[j] * n_other + beside[j]) * n_target + aim[j]] += weights[j]
        after = 0.0
        for cell in range(levels[f] * n_other):
            mass, square = 0.0, 0.0
            for t in range(n_target):
                share = table[cell * n_target + t]
                mass += share
                square += share * share
            if mass > 0.0:
                after += square / mass
        out[f] = max(after / total - before, 0.0)
