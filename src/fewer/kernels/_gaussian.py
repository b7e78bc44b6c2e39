"""Gaussian naive Bayes on held-out rows, fold by fold: log-likelihoods add up over columns.

Arguments that the kernels share:

columns : (p, n) float64
    Test rows.
bounds : (f + 1,) int64
    Test rows bounds[k] … bounds[k + 1] − 1 belong to fold k.
means, variances : (f, p, c) float64
    Of each class in the training rows.
prior : (f, c) float64
    Logarithms of the classes' shares.
spreads : (f, p) float64
    Variances of the columns in the training rows: the largest in a subset, times `smoothing`, is added to all.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def add_column(base, column, low, high, means, variances, smooth):  # type: ignore[no-untyped-def]
    """Add one column's log-likelihoods to (n, c) sums."""
    for k in range(means.shape[0]):
        variance = variances[k] + smooth
        mean = means[k]
        scale = 0.5 / variance
        shift = 0.5 * np.log(2.0 * np.pi * variance)
        for i in range(low, high):
            d = column[i] - mean
            base[i, k] -= shift + scale * d * d


@njit(nogil=True, cache=True, error_model="numpy")
def add_members(base, members, columns, low, high, means, variances, prior, smooth):  # type: ignore[no-untyped-def]
    """Write the sums over some columns."""
    for i in range(low, high):
        base[i, :] = prior
    for a in range(members.shape[0]):
        f = members[a]
        add_column(base, columns[f], low, high, means[f], variances[f], smooth)


@njit(nogil=True, cache=True, error_model="numpy")
def predict_added(members, added, columns, bounds, means, variances, prior, spreads, smoothing, out):  # type: ignore[no-untyped-def]
    """Predict from the members and each of `added`, one at a time: (q, n, c)."""
    base = np.empty((columns.shape[1], prior.shape[1]))
    for fold in range(bounds.shape[0] - 1):
        low, high = bounds[fold], bounds[fold + 1]
        widest = 0.0
        for a in range(members.shape[0]):
            widest = max(widest, spreads[fold, members[a]])
        add_members(base, members, columns, low, high, means[fold], variances[fold], prior[fold], smoothing * widest)
        for q in range(added.shape[0]):
            f = added[q]
            smooth = smoothing * max(widest, spreads[fold, f])
            if spreads[fold, f] > widest:
                add_members(out[q], members, columns, low, high, means[fold], variances[fold], prior[fold], smooth)
            else:
                out[q, low:high] = base[low:high]
            add_column(out[q], columns[f], low, high, means[fold, f], variances[fold, f], smooth)


@njit(nogil=True, cache=True, error_model="numpy")
def predict_members(members, columns, bounds, means, variances, prior, spreads, smoothing, out):  # type: ignore[no-untyped-def]
    """Predict from the members: (n, c)."""
    for fold in range(bounds.shape[0] - 1):
        widest = 0.0
        for a in range(members.shape[0]):
            widest = max(widest, spreads[fold, members[a]])
        add_members(
            out, members, columns, bounds[fold], bounds[fold + 1], means[fold], variances[fold], prior[fold],
            smoothing * widest,
        )  # fmt: skip
