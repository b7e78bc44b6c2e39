"""Linear predictions of held-out rows, fold by fold, by bordering a Cholesky factor.

Arguments that the kernels share:

columns : (p, n) float64
    Test rows, each without the mean and in the units of its own fold's training rows.
bounds : (f + 1,) int64
    Test rows bounds[k] … bounds[k + 1] − 1 belong to fold k.
gram : (f, p, p) float64
    Products of training columns, the ridge on the diagonal.
moments : (f, p, c) float64
    Products of training columns with the targets, or means of the classes.
constant : (f, c) float64
    Predictions without any column.
half : float64
    0 for a regression; 1/2 where each coordinate also takes half of its squared mean off (linear discriminants).
sure : (m, f) bool
    False where a column is so nearly a combination of the others that digits are lost.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def factor(gram, members, lower, least):  # type: ignore[no-untyped-def]
    """Write the Cholesky factor of the members' products; say whether every pivot is large enough."""
    for a in range(members.shape[0]):
        for b in range(a + 1):
            total = gram[members[a], members[b]]
            for k in range(b):
                total -= lower[a, k] * lower[b, k]
            if a == b:
                if total <= least * gram[members[a], members[a]] or total <= 0.0:
                    return False
                lower[a, a] = np.sqrt(total)
            else:
                lower[a, b] = total / lower[b, b]
    return True


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def predict_added(members, added, columns, bounds, gram, moments, constant, half, least, out, sure):  # type: ignore[no-untyped-def]
    """Predict from the members and each of `added`, one at a time: (q, n, c)."""
    k, c = members.shape[0], moments.shape[2]
    lower, shares, v, gain = np.empty((k, k)), np.empty((k, c)), np.empty(k), np.empty(c)
    for fold in range(bounds.shape[0] - 1):
        low, high = bounds[fold], bounds[fold + 1]
        if not factor(gram[fold], members, lower, least):
            sure[:, fold] = False
            continue
        coordinates = np.empty((k, high - low))
        base = np.empty((c, high - low))
        for j in range(c):
            base[j, :] = constant[fold, j]
        for a in range(k):
            line = coordinates[a]
            line[:] = columns[members[a], low:high]
            for b in range(a):
                factor_ab = lower[a, b]
                for i in range(high - low):
                    line[i] -= factor_ab * coordinates[b, i]
            for i in range(high - low):
                line[i] /= lower[a, a]
            for j in range(c):
                total = moments[fold, members[a], j]
                for b in range(a):
                    total -= lower[a, b] * shares[b, j]
                shares[a, j] = total / lower[a, a]
                for i in range(high - low):
                    base[j, i] += shares[a, j] * line[i]
                base[j, :] -= half * shares[a, j] ** 2
        rest = np.empty(high - low)
        for q in range(added.shape[0]):
            new = added[q]
            length = gram[fold, new, new]
            for a in range(k):
                total = gram[fold, new, members[a]]
                for b in range(a):
                    total -= lower[a, b] * v[b]
                v[a] = total / lower[a, a]
                length -= v[a] * v[a]
            if length <= least * gram[fold, new, new] or length <= 0.0:
                sure[q, fold] = False
                continue
            root = np.sqrt(length)
            rest[:] = columns[new, low:high]
            for a in range(k):
                for i in range(high - low):
                    rest[i] -= v[a] * coordinates[a, i]
            for j in range(c):
                total = moments[fold, new, j]
                for a in range(k):
                    total -= v[a] * shares[a, j]
                gain[j] = total / root
            for j in range(c):
                scale, shift = gain[j] / root, half * gain[j] ** 2
                for i in range(high - low):
                    out[q, low + i, j] = base[j, i] + scale * rest[i] - shift


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def predict_members(members, columns, bounds, gram, moments, constant, half, least, out, sure):  # type: ignore[no-untyped-def]
    """Predict from the members: (n, c)."""
    k, c = members.shape[0], moments.shape[2]
    lower, shares = np.empty((k, k)), np.empty((k, c))
    for fold in range(bounds.shape[0] - 1):
        low, high = bounds[fold], bounds[fold + 1]
        if not factor(gram[fold], members, lower, least):
            sure[fold] = False
            continue
        for j in range(c):
            start = constant[fold, j]
            for a in range(k):
                total = moments[fold, members[a], j]
                for b in range(a):
                    total -= lower[a, b] * shares[b, j]
                shares[a, j] = total / lower[a, a]
                start -= half * shares[a, j] ** 2
            for a in range(k - 1, -1, -1):
                total = shares[a, j]
                for b in range(a + 1, k):
                    total -= lower[b, a] * shares[b, j]
                shares[a, j] = total / lower[a, a]
            for i in range(low, high):
                out[i, j] = start
            for a in range(k):
                weight = shares[a, j]
                line = columns[members[a]]
                for i in range(low, high):
                    out[i, j] += weight * line[i]
