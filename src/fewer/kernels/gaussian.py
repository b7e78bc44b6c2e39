"""Gaussian naive Bayes on held-out rows (`HeldOut`), fold by fold: log-likelihoods add up over columns.

The decision for class c is log P(c) + Σ_j log N(x_j; μ_jc, σ²_jc + ε), with means and variances of the fold's training
rows. As in scikit-learn, ε is a share of the largest variance of any column in the subset.
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import inner, kernel


@inner()
def add_column(base, column, rows, learned, fold, smooth):
    """Add one column's log-likelihoods to (n, c) sums."""
    low, high = rows.bounds[fold], rows.bounds[fold + 1]
    for k in range(base.shape[1]):
        variance = learned.variances[fold, column, k] + smooth
        mean = learned.means[fold, column, k]
        scale = 0.5 / variance
        shift = 0.5 * np.log(2.0 * np.pi * variance)
        line = rows.columns[column]
        for i in range(low, high):
            # log N(x; μ, σ²) = −½ log 2πσ² − (x − μ)² / 2σ².
            d = line[i] - mean
            base[i, k] -= shift + scale * d * d


@inner()
def add_members(base, members, rows, learned, fold, smooth):
    """Write the sums over some columns."""
    for i in range(rows.bounds[fold], rows.bounds[fold + 1]):
        for k in range(base.shape[1]):
            base[i, k] = learned.prior[fold, k]
    for a in range(members.shape[0]):
        add_column(base, members[a], rows, learned, fold, smooth)


@inner()
def widest_of(members, learned, fold):
    """Return the largest variance among some columns."""
    widest = 0.0
    for a in range(members.shape[0]):
        widest = max(widest, learned.spreads[fold, members[a]])
    return widest


@kernel()
def predict_added(members, added, rows, learned, out):
    """Predict from the members and each of `added`, one at a time: (q, n, c)."""
    base = np.empty((rows.columns.shape[1], learned.prior.shape[1]))
    for fold in range(rows.bounds.shape[0] - 1):
        low, high = rows.bounds[fold], rows.bounds[fold + 1]
        widest = widest_of(members, learned, fold)
        add_members(base, members, rows, learned, fold, learned.smoothing * widest)
        for q in range(added.shape[0]):
            variance = learned.spreads[fold, added[q]]
            smooth = learned.smoothing * max(widest, variance)
            # The smoothing is a share of the widest column's variance: a wider one changes all terms.
            if variance > widest:
                add_members(out[q], members, rows, learned, fold, smooth)
            else:
                for i in range(low, high):
                    for k in range(base.shape[1]):
                        out[q, i, k] = base[i, k]
            add_column(out[q], added[q], rows, learned, fold, smooth)
