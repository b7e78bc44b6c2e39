"""Quadratic discriminants of held-out rows, fold by fold and class by class, by bordering a Cholesky factor.

The decision for class c is log P(c) − ½ log|Σ| − ½ (x − μ)ᵀ Σ⁻¹ (x − μ), with mean and covariance of the class in the
fold's training rows. With Σ = L Lᵀ a column more adds one row to L, and one term to each of the two.
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.linear import border as border_factor
from fewer.kernels.linear import factor

LEAST = 1e-9  # A pivot below this share of a column's variance loses too many digits.


@inner()
def stretch(lower):
    """Return the sum of squares of the inverse of a factor: the trace of the inverse matrix."""
    k = lower.shape[0]
    total = 0.0
    x = np.empty(k)
    # Column by column of L⁻¹ by forward substitution: tr((L Lᵀ)⁻¹) = ‖L⁻¹‖² (Frobenius).
    for unit in range(k):
        for a in range(unit, k):
            value = 1.0 if a == unit else 0.0
            for b in range(unit, a):
                value -= lower[a, b] * x[b]
            x[a] = value / lower[a, a]
            total += x[a] * x[a]
    return total


@inner(fastmath={"contract", "reassoc", "nsz"})
def whiten(members, columns, low, mean, lower, coordinates, base):
    """Write the members' whitened coordinates of test rows, and add minus half of their squares to the decisions."""
    n = base.shape[0]
    for a in range(members.shape[0]):
        # z_a = (x_a − μ_a − Σ_b<a L_ab z_b) / L_aa; then (x − μ)ᵀ Σ⁻¹ (x − μ) = Σ z_a² and log|Σ| = 2 Σ log L_aa.
        line = coordinates[a]
        for i in range(n):
            line[i] = columns[members[a], low + i] - mean[members[a]]
        for b in range(a):
            share = lower[a, b]
            other = coordinates[b]
            for i in range(n):
                line[i] -= share * other[i]
        inverse = 1.0 / lower[a, a]
        for i in range(n):
            line[i] *= inverse
            base[i] -= 0.5 * line[i] * line[i]
        logarithm = np.log(lower[a, a])
        for i in range(n):
            base[i] -= logarithm


@inner(fastmath={"contract", "reassoc", "nsz"})
def border(members, new, gram, lower, v):
    """Write the new column's coefficients on the whitened members.

    Return what is left of its variance, and how much the trace of the inverse grows.
    """
    k = members.shape[0]
    # v = L⁻¹ g is the factor's new row; what is left, g_new − vᵀv, is the square of its diagonal.
    left = border_factor(gram, members, new, lower, v)
    # w = L⁻ᵀ v = Σ⁻¹ g: by the bordered inverse, the trace grows by (1 + ‖w‖²) / left.
    w = v.copy()
    grown = 1.0
    for a in range(k - 1, -1, -1):
        for b in range(a + 1, k):
            w[a] -= lower[b, a] * w[b]
        w[a] /= lower[a, a]
        grown += w[a] * w[a]
    return left, grown / left if left > 0.0 else np.inf


@kernel(fastmath={"contract", "reassoc", "nsz"})
def predict_added(members, added, rows, spreads, out, sure):
    """Predict from the members and each of `added`, one at a time: (q, n, c) logarithms of chances.

    A fold is sure where no direction of a class's columns has a variance at or below `least`: the smallest is at least
    one over the trace of the inverse.
    """
    k = members.shape[0]
    lower, v = np.empty((k, k)), np.empty(k)
    for fold in range(rows.bounds.shape[0] - 1):
        low, high = rows.bounds[fold], rows.bounds[fold + 1]
        n = high - low
        coordinates, base, rest = np.empty((k, n)), np.empty(n), np.empty(n)
        for c in range(spreads.means.shape[1]):
            gram, mean = spreads.gram[fold, c], spreads.means[fold, c]
            if not factor(gram, members, lower, LEAST):
                sure[:, fold] = False
                break
            trace = stretch(lower)
            base[:] = spreads.prior[fold, c]
            whiten(members, rows.columns, low, mean, lower, coordinates, base)
            for q in range(added.shape[0]):
                new = added[q]
                left, grown = border(members, new, gram, lower, v)
                # The smallest eigenvalue is at least 1 / trace: above `least` it cannot have been raised by smoothing.
                if left <= LEAST * gram[new, new] or (trace + grown) * spreads.least * 1.000001 >= 1.0:
                    sure[q, fold] = False
                    continue
                for i in range(n):
                    rest[i] = rows.columns[new, low + i] - mean[new]
                for a in range(k):
                    line, share = coordinates[a], v[a]
                    for i in range(n):
                        rest[i] -= share * line[i]
                shift, scale = 0.5 * np.log(left), 0.5 / left
                for i in range(n):
                    out[q, low + i, c] = base[i] - shift - scale * rest[i] * rest[i]
