"""Coordinate descent for penalised linear fits, groups of inputs together (Friedman, Hastie and Tibshirani 2010)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def descend(coefficients, gradient, gram, place, groups, penalty, tolerance):
    """Minimise a quadratic loss with a penalty on the length of each group's coefficients.

    coefficients, gradient : (p, q) float64, both changed
        q outputs; the gradient is that of minus the loss.
    gram : (number of rows known, p) float64
        Rows of the matrix of the loss; `place` (p,) says which row an input has, −1 for none.
    groups : (starts, members, curvatures)
        Inputs of group g are members[starts[g] : starts[g + 1]]; the largest eigenvalue of their block.
    penalty : (lengths, squares)
        For each group, the price of the length of its coefficients and of half their square.

    The result is −1 at the minimum, or a group that moves first now and whose rows of the matrix are not known.
    """
    starts, members, curvatures = groups
    n_groups, n_outputs = curvatures.shape[0], coefficients.shape[1]
    everyone = True
    while True:
        largest = 0.0
        for g in range(n_groups):
            low, high = starts[g], starts[g + 1]
            still = True
            for m in range(low, high):
                for c in range(n_outputs):
                    still = still and coefficients[members[m], c] == 0.0
            if still and not everyone:
                continue
            length = 0.0
            for m in range(low, high):
                j = members[m]
                for c in range(n_outputs):
                    length += (gradient[j, c] + curvatures[g] * coefficients[j, c]) ** 2
            length = np.sqrt(length)
            kept = 0.0 if length <= penalty[0][g] else 1.0 - penalty[0][g] / length
            if still and kept == 0.0:
                continue
            if place[members[low]] < 0:
                return g
            kept /= curvatures[g] + penalty[1][g]
            largest = max(largest, _move(coefficients, gradient, gram, place, members[low:high], curvatures[g], kept))
        if largest < tolerance:
            if everyone:
                return -1
            everyone = True
        else:
            everyone = False


@njit(nogil=True, cache=True)
def _move(coefficients, gradient, gram, place, members, curvature, kept):
    """Move one group to its minimum and bring the gradient up to date; return the largest change."""
    n_outputs = coefficients.shape[1]
    change = np.empty((members.shape[0], n_outputs))
    largest = 0.0
    for m in range(members.shape[0]):
        j = members[m]
        for c in range(n_outputs):
            after = kept * (gradient[j, c] + curvature * coefficients[j, c])
            change[m, c] = after - coefficients[j, c]
            coefficients[j, c] = after
            largest = max(largest, abs(change[m, c]))
    if largest > 0.0:
        for m in range(members.shape[0]):
            row = gram[place[members[m]]]
            for j in range(row.shape[0]):
                for c in range(n_outputs):
                    gradient[j, c] -= row[j] * change[m, c]
    return largest


@njit(nogil=True, cache=True)
def descend_singly(coefficients, gradient, gram, place, groups, penalty, tolerance):
    """Do what `descend` does where each group is one input and there is one output: numbers instead of lengths.

    coefficients, gradient : (p,) float64, both changed
        The others are as in `descend`.
    """
    members, curvatures = groups[1], groups[2]
    everyone = True
    while True:
        largest = 0.0
        for g in range(members.shape[0]):
            j = members[g]
            before = coefficients[j]
            if before == 0.0 and not everyone:
                continue
            pull = gradient[j] + curvatures[g] * before
            after = 0.0
            if abs(pull) > penalty[0][g]:
                after = (pull - np.copysign(penalty[0][g], pull)) / (curvatures[g] + penalty[1][g])
            change = after - before
            if change == 0.0:
                continue
            if place[j] < 0:
                return g
            coefficients[j] = after
            row = gram[place[j]]
            for i in range(row.shape[0]):
                gradient[i] -= row[i] * change
            largest = max(largest, abs(change))
        if largest < tolerance:
            if everyone:
                return -1
            everyone = True
        else:
            everyone = False
