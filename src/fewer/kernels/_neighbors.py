"""Subsets judged by any number of neighbors, over running exact distances.

Rows judge themselves against the rows of other folds. See `_bundles` for the arguments that the kernels share.

gains : (…, t) float64
    What the rows add to the score, for each number of neighbors.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._distances import FAR, add_masks, add_terms, change_row
from fewer.kernels._nearest import UNSURE
from fewer.kernels._votes import ballot_for, judge, vote


@njit(nogil=True, cache=True)
def score_masks(low, high, masks, exact, rules, gains):
    """Judge rows low … high−1 under each of (m, p) masks; gains (m, t)."""
    d, ballot = np.empty(exact.columns.shape[1]), ballot_for(rules)
    for i in range(low, high):
        for m in range(masks.shape[0]):
            add_masks(d, i, masks[m], exact)
            judge(d, i, rules, ballot, gains[m])


@njit(nogil=True, cache=True)
def score_listed(rows, mask, exact, rules, gains):
    """Judge the listed rows under one mask; gains (t,)."""
    d, ballot = np.empty(exact.columns.shape[1]), ballot_for(rules)
    for i in rows:
        add_masks(d, i, mask, exact)
        judge(d, i, rules, ballot, gains)


@njit(nogil=True, cache=True)
def score_flips(low, high, flips, exact, rules, gains):
    """Judge rows low … high−1 under masks that differ in one unit; gains (u, t)."""
    n, members, offsets = exact.columns.shape[1], flips.units.members, flips.units.offsets
    d, changed, flipped, ballot = np.empty(n), np.empty(n), flips.mask.copy(), ballot_for(rules)
    for i in range(low, high):
        add_masks(d, i, flips.mask, exact)
        for u in range(offsets.shape[0] - 1):
            for m in range(offsets[u], offsets[u + 1]):
                flipped[members[m]] = flips.new[u]
            for j in range(n):
                changed[j] = d[j]
            change_row(changed, i, members[offsets[u] : offsets[u + 1]], flips.mask, flipped, exact)
            judge(changed, i, rules, ballot, gains[u])
            for m in range(offsets[u], offsets[u + 1]):
                flipped[members[m]] = flips.mask[members[m]]


@njit(nogil=True, cache=True)
def score_unsure_flips(rows, verdicts, flips, exact, rules, gains):
    """Judge as `score_flips` the rows and units of which verdicts (u, r) on the listed rows (r,) are unsure."""
    n, offsets = exact.columns.shape[1], flips.units.offsets
    d, changed, flipped = np.empty(n), np.empty(n), flips.mask.copy()
    ballot = ballot_for(rules)
    for r in range(rows.shape[0]):
        i, fresh = rows[r], False
        for u in range(offsets.shape[0] - 1):
            if verdicts[u, r] != UNSURE:
                continue
            if not fresh:
                add_masks(d, i, flips.mask, exact)
                fresh = True
            unit = flips.units.members[offsets[u] : offsets[u + 1]]
            for f in unit:
                flipped[f] = flips.new[u]
            for j in range(n):
                changed[j] = d[j]
            change_row(changed, i, unit, flips.mask, flipped, exact)
            judge(changed, i, rules, ballot, gains[u])
            for f in unit:
                flipped[f] = flips.mask[f]


@njit(nogil=True, cache=True)
def score_move(low, high, distances, moved, exact, rules, gains):
    """Judge rows low … high−1 under a proposed mask, by running distances (n, n); gains (t,).

    The distances are first brought to the accepted mask. The proposed one leaves no mark.
    """
    n = exact.columns.shape[1]
    changed, ballot = np.empty(n), ballot_for(rules)
    for i in range(low, high):
        d = distances[i]
        change_row(d, i, moved.before, moved.masks[0], moved.masks[1], exact)
        for j in range(n):
            changed[j] = d[j]
        change_row(changed, i, moved.unit, moved.masks[1], moved.masks[2], exact)
        judge(changed, i, rules, ballot, gains)


@njit(nogil=True, cache=True)
def predict_rows(queries, query_missing, query_fold, weights, exact, rules, out):
    """Predict query rows (q, p): vote shares into out (q, c), or means into out (q, 1), with the last k."""
    n = exact.columns.shape[1]
    d, ballot = np.empty(n), ballot_for(rules)
    for i in range(queries.shape[0]):
        k = query_fold[i]
        for j in range(n):
            d[j] = FAR if exact.fold[j] == k else 0.0
        k = max(k, 0)
        for f in range(weights.shape[0]):
            if weights[f] > 0.0:
                add_terms(d, queries[i, f], query_missing[i, f], f, k, weights[f], exact)
        vote(d, rules, ballot)
        if rules.n_classes:
            total = ballot.tally.sum()
            for c in range(rules.n_classes):
                out[i, c] = ballot.tally[c] / total if total > 0 else 0.0
            out[i, ballot.votes[-1]] += 1e-9
        else:
            out[i, 0] = ballot.means[-1]
