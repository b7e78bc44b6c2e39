"""Mutual information of integer codes."""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._compiling import inner

FEW_ROWS = 256
"""Up to so many rows, each of which counts once, x log x of all counts is computed beforehand."""


@inner()
def information_of_counts(low, high, codes, levels, target, n_target, out):
    """Write the mutual information where each row counts once and there are few: the same sums without logarithms.

    Empty cells add nothing, so that no branch has to be guessed.
    """
    n, size = target.shape[0], 1
    logs = np.zeros(n + 1)
    for j in range(1, n + 1):
        logs[j] = j * np.log(j)
    for f in range(low, high):
        size = max(size, levels[f] * n_target)
    counts, down = np.zeros(size, np.int64), np.zeros(n_target, np.int64)
    for j in range(n):
        down[target[j]] += 1
    for f in range(low, high):
        for place in range(levels[f] * n_target):
            counts[place] = 0
        for j in range(n):
            counts[codes[f, j] * n_target + target[j]] += 1
        joint, apart = 0.0, 0.0
        for c in range(levels[f]):
            across = 0
            for t in range(n_target):
                count = counts[c * n_target + t]
                joint += logs[count]
                across += count
            apart += logs[across]
        for t in range(n_target):
            apart += logs[down[t]]
        out[f] = max((joint - apart) / n + np.log(n), 0.0)


@njit(nogil=True, cache=True)
def information_with(low, high, codes, levels, target, n_target, weights, out):
    """Write the mutual information in nats of features low … high−1 and one target.

    codes : (p, n) int32, each row from 0 to levels − 1
    target : (n,) int32, from 0 to n_target − 1
    weights : (n,) float64, how much each row counts
    """
    n = target.shape[0]
    if 0 < n <= FEW_ROWS and (weights == 1.0).all():
        information_of_counts(low, high, codes, levels, target, n_target, out)
        return
    most = 1
    for f in range(low, high):
        most = max(most, levels[f])
    # Four tables, so that a row need not wait until the one before it has been counted.
    tables = np.empty((4, most * n_target))
    across, down = np.empty(most), np.empty(n_target)
    for f in range(low, high):
        size = levels[f] * n_target
        one, two, three, four = tables[0, :size], tables[1, :size], tables[2, :size], tables[3, :size]
        one[:], two[:], three[:], four[:] = 0.0, 0.0, 0.0, 0.0
        code = codes[f]
        last = n - n % 4
        for j in range(0, last, 4):
            one[code[j] * n_target + target[j]] += weights[j]
            two[code[j + 1] * n_target + target[j + 1]] += weights[j + 1]
            three[code[j + 2] * n_target + target[j + 2]] += weights[j + 2]
            four[code[j + 3] * n_target + target[j + 3]] += weights[j + 3]
        for j in range(last, n):
            one[code[j] * n_target + target[j]] += weights[j]
        total, joint = 0.0, 0.0
        across[:], down[:] = 0.0, 0.0
        for c in range(levels[f]):
            for t in range(n_target):
                place = c * n_target + t
                mass = (one[place] + two[place]) + (three[place] + four[place])
                if mass > 0.0:
                    joint += mass * np.log(mass)
                    across[c] += mass
                    down[t] += mass
                    total += mass
        apart = 0.0
        for c in range(levels[f]):
            if across[c] > 0.0:
                apart += across[c] * np.log(across[c])
        for t in range(n_target):
            if down[t] > 0.0:
                apart += down[t] * np.log(down[t])
        out[f] = max((joint - apart) / total + np.log(total), 0.0) if total > 0.0 else 0.0
