"""Mutual information of integer codes."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def information_with(low, high, codes, levels, target, n_target, weights, out):
    """Write the mutual information in nats of features low … high−1 and one target.

    codes : (p, n) int32, each row from 0 to levels − 1
    target : (n,) int32, from 0 to n_target − 1
    weights : (n,) float64, how much each row counts
    """
    n = target.shape[0]
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
