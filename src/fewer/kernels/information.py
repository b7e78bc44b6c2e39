"""Mutual information of integer codes, dense and sparse; Gini impurity that pairs of codes take away; kernel densities.

With w(f, t) the weight of the rows that have code f in one column and t in the other, and W that of all rows,

    I(f; t) = (Σ w(f, t) log w(f, t) − Σ w(f) log w(f) − Σ w(t) log w(t)) / W + log W   nats,

and the impurity taken away is Σ_f Σ_t w(f, t)² / w(f) / W − Σ_t (w(t) / W)². Weights of 1 make counts, which are exact;
so columns with the same table of counts have the same information, to the bit.

Of sparse columns the stored cells are counted; the others are what is left. Densities are sums of Gaussian kernels in
two dimensions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel

FEW_ROWS = 256  # Up to this number of rows of weight 1, x log x of all counts is computed beforehand.


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


@kernel()
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


@kernel()
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
        # Gini's gain: Σ_cells Σ_t n_ct² / n_c / n less Σ_t (n_t / n)².
        out[f] = max(after / total - before, 0.0)


FARTHEST = 40.0  # Kernels below exp(−40) count as that: beside a row's own kernel they are nothing.


@kernel(fastmath=True)
def sum_kernels(u, v, center_u, center_v, mass, sums):
    """Write, for each point (u, v), the sum over centers of mass · exp(−½ squared distance).

    exp(−t) is taken as the 1024th power of a polynomial in −t / 1024: products alone, which vectorize where a call of
    the exponential does not, with a relative error below 1e-8 at the far end and 1e-12 where kernels matter.
    """
    for i in range(u.shape[0]):
        x, y, total = u[i], v[i], 0.0
        for j in range(center_u.shape[0]):
            a, b = x - center_u[j], y - center_v[j]
            t = 0.5 * (a * a + b * b)
            t = (t if t < FARTHEST else FARTHEST) / -1024.0
            e = 1.0 + t * (1.0 + t * (1.0 / 2.0 + t * (1.0 / 6.0 + t * (1.0 / 24.0 + t / 120.0))))
            for _ in range(10):
                e *= e
            total += mass[j] * e
        sums[i] = total


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

    codes : (n,) int32, from 0 to len(mass) − 1
    mass : (n_other,) float64, the weight of each code
    weights : (n,) float64, those of the rows
    """

    codes: Any
    mass: Any
    weights: Any


@kernel()
def information_with_sparse(low, high, stored, compared, out, entropies):
    """Write the mutual information in nats of columns low … high−1 and one other code, and each column's own entropy.

    `stored` are the columns (`Stored`), `compared` is the other code (`Other`).
    """
    starts, rows, codes, empty, levels = stored
    other, other_mass, weights = compared
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
        copy(other_mass, left)
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
        entropies[f] = np.log(total) - apart / total if total > 0.0 else 0.0
        # I = H(f) + H(other) − H(f, other), with H = log W − Σ w log w / W; all three share the sums of w log w.
        out[f] = max((joint - apart - apart_other) / total + np.log(total), 0.0) if total > 0.0 else 0.0
