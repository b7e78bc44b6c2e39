"""One column more in a least-squares fit: what a step of a forward search computes (see `criteria._least_squares`).

Let u_a be orthonormal directions of the k columns in the fit, r the residual of a target and h the leverages. A column
x leaves z = x − Σ u_a (u_aᵀx), with s = ‖z‖². With it the residual is r − z g, g = xᵀr / s, and the leverage of row i
h_i + z_i² / s; so the sum of squared leave-one-out errors, for which no fit is repeated, is

    Σ_i ((r_i − z_i g) / (1 − h_i − z_i² / s))².

A ridge is one more row for each column, which no other column has: it is not stored, and only makes s larger. Columns
whose lower bound exceeds the best sum found are passed over; bounds are never above the truth, so the best one is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel

LEAST = 1e-12  # What is left of a row that only its own column can explain.


class Fit(NamedTuple):
    """The fit of a subset, in place.

    X : (n, p), means, ridge, lengths : (p,)
        Columns; what is to be taken off each, its ridge, and its square without the mean.
    u : (m, n), v : (m, p)
        Orthogonal directions of the subset, and their products with all columns; as many rows as there may be.
    s : (p,), along, along_weighed : (c, p)
        Squares of what the subset leaves of each column, ridge included; products with the residuals.
    residual, weighed : (c, n)
        Of each target; and over (1 − leverage)².
    leverage : (n,)
    """

    X: Any
    means: Any
    ridge: Any
    lengths: Any
    u: Any
    v: Any
    s: Any
    along: Any
    along_weighed: Any
    residual: Any
    weighed: Any
    leverage: Any


@inner(fastmath={"contract", "reassoc", "nsz"})
def weigh(fit):
    """Weigh the residuals by 1 / (1 − h)²."""
    for i in range(fit.leverage.shape[0]):
        kept = max(1.0 - fit.leverage[i], LEAST)
        for c in range(fit.residual.shape[0]):
            fit.weighed[c, i] = fit.residual[c, i] / (kept * kept)


@inner(fastmath={"contract", "reassoc", "nsz"})
def multiply(X, means, first, second, out, other):
    """Write the products of two vectors with all columns in one pass over the table, four rows at a time."""
    n, p = X.shape
    out[:], other[:] = 0.0, 0.0
    total, total_other = first.sum(), second.sum()
    i = 0
    while i + 4 <= n:
        a0, a1, a2, a3 = first[i], first[i + 1], first[i + 2], first[i + 3]
        b0, b1, b2, b3 = second[i], second[i + 1], second[i + 2], second[i + 3]
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for j in range(p):
            out[j] += a0 * x0[j] + a1 * x1[j] + a2 * x2[j] + a3 * x3[j]
            other[j] += b0 * x0[j] + b1 * x1[j] + b2 * x2[j] + b3 * x3[j]
        i += 4
    while i < n:
        for j in range(p):
            out[j] += first[i] * X[i, j]
            other[j] += second[i] * X[i, j]
        i += 1
    for j in range(p):
        out[j] -= total * means[j]
        other[j] -= total_other * means[j]


@kernel(fastmath={"contract", "reassoc", "nsz"})
def begin(X, means, targets, lengths, along, centered):
    """Write the means and squares of all columns and their products with the targets (c, n), means taken off."""
    n, p = X.shape
    means[:], lengths[:], along[:] = 0.0, 0.0, 0.0
    for i in range(n):
        x = X[i]
        for j in range(p):
            means[j] += x[j]
            lengths[j] += x[j] * x[j]
        for c in range(targets.shape[0]):
            part, line = targets[c, i], along[c]
            for j in range(p):
                line[j] += part * x[j]
    for j in range(p):
        means[j] = 0.0 if centered else means[j] / n
        lengths[j] -= n * means[j] * means[j]
    for c in range(targets.shape[0]):
        total = targets[c].sum()
        for j in range(p):
            along[c, j] -= total * means[j]


@inner(fastmath={"contract", "reassoc", "nsz"})
def write_rest(fit, column, k, rest):
    """Write what the k columns of a fit leave of another one: a step of Gram–Schmidt."""
    for i in range(rest.shape[0]):
        rest[i] = fit.X[i, column] - fit.means[column]
    for a in range(k):
        part, line = fit.v[a, column], fit.u[a]
        for i in range(rest.shape[0]):
            rest[i] -= part * line[i]


@kernel(fastmath={"contract", "reassoc", "nsz"})
def enter(fit, column, k):
    """Let a column enter as the k-th."""
    n, p = fit.X.shape
    # u is what the subset leaves of the column, at length 1; h_i grows by u_i².
    root = np.sqrt(fit.s[column])
    u, v = fit.u[k], fit.v[k]
    write_rest(fit, column, k, u)
    for i in range(n):
        u[i] /= root
        fit.leverage[i] += u[i] * u[i]
    for c in range(fit.residual.shape[0]):
        share, line = fit.along[c, column] / root, fit.residual[c]
        for i in range(n):
            line[i] -= share * u[i]
    weigh(fit)
    for c in range(fit.residual.shape[0]):
        multiply(fit.X, fit.means, u, fit.weighed[c], v, fit.along_weighed[c])
        share, line = fit.along[c, column] / root, fit.along[c]
        for j in range(p):
            line[j] -= share * v[j]
    # Pythagoras: what is left of every other column loses the square of its part along u.
    for j in range(p):
        fit.s[j] = max(fit.s[j] - v[j] * v[j], fit.ridge[j])


@kernel(fastmath={"contract", "reassoc", "nsz"})
def bounds(fit, k, out):
    """Write what the leave-one-out errors with each column added are at least: leverages as they are now."""
    n, p = fit.X.shape
    largest = LEAST
    for i in range(n):
        largest = max(largest, 1.0 - fit.leverage[i])
    least = 1.0 / (largest * largest)
    # The ridge keeps the directions from being orthonormal; what their lengths lack bounds how much it squeezes them.
    squeeze = 0.0
    for a in range(k):
        squeeze += 1.0 - np.dot(fit.u[a], fit.u[a])
    squeeze = min(max(squeeze, 0.0), 1.0)
    now = 0.0
    for c in range(fit.residual.shape[0]):
        now += np.dot(fit.residual[c], fit.weighed[c])
    out[:] = now
    cross = np.empty(p)
    for c in range(fit.residual.shape[0]):
        copy(fit.along_weighed[c], cross)
        for a in range(k):
            part, line = np.dot(fit.u[a], fit.weighed[c]), fit.v[a]
            for j in range(p):
                cross[j] -= part * line[j]
        for j in range(p):
            length = fit.s[j] - fit.ridge[j] - squeeze * (fit.lengths[j] + fit.ridge[j] - fit.s[j])
            gain = fit.along[c, j] / fit.s[j]
            out[j] += gain * (gain * least * max(length, 0.0) - 2.0 * cross[j])


@kernel(fastmath={"contract", "reassoc", "nsz"})
def lost_with(fit, k, column, z):
    """Return the sum of squared leave-one-out errors with a column added."""
    write_rest(fit, column, k, z)
    inverse = 1.0 / fit.s[column]
    total = 0.0
    for c in range(fit.residual.shape[0]):
        gain, line = fit.along[c, column] * inverse, fit.residual[c]
        for i in range(z.shape[0]):
            # The error of a row that was left out is its residual / (1 − leverage): no refit is needed.
            kept = max(1.0 - fit.leverage[i] - z[i] * z[i] * inverse, LEAST)
            error = (line[i] - z[i] * gain) / kept
            total += error * error
    return total


@kernel()
def best(fit, k, columns, first, margin, lost):
    """Score the columns with the lowest bounds, then those that may be better than the best of them; NaN: none."""
    n, p = fit.X.shape
    limits, z = np.empty(p), np.empty(n)
    bounds(fit, k, limits)
    lowest, places = np.full(first, np.inf), np.full(first, -1)
    for q in range(columns.shape[0]):
        lost[q] = np.nan
        value = limits[columns[q]]
        if value < lowest[first - 1]:
            place = first - 1
            while place > 0 and lowest[place - 1] > value:
                lowest[place], places[place] = lowest[place - 1], places[place - 1]
                place -= 1
            lowest[place], places[place] = value, q
    # Bounds are never above the truth, so a column whose bound exceeds the best error found cannot win.
    least = np.inf
    for a in range(first):
        if places[a] >= 0:
            lost[places[a]] = lost_with(fit, k, columns[places[a]], z)
            least = min(least, lost[places[a]])
    for q in range(columns.shape[0]):
        if np.isnan(lost[q]) and limits[columns[q]] <= least * (1.0 + margin):
            lost[q] = lost_with(fit, k, columns[q], z)
