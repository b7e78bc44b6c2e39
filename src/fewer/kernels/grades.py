"""Scores of predictions, fold by fold: many candidates at once.

Arguments that the kernels share:

decisions : (m, n, c) float64
    For each candidate and test row one number a class, the highest wins, the first among equals.
bounds : (f + 1,) int64
    Test rows bounds[k] … bounds[k + 1] − 1 belong to fold k.
out : (m, f) float64
    The score of each fold; NaN where it hangs on numbers that are closer than `tolerance`.
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import inner, kernel

ACCURACY, BALANCED, MATTHEWS = None, 1, 2  # None, since code that a run has no use for is not compiled.
PRECISION, RECALL, F1, JACCARD = 3, 4, 5, 6
# Added to the four above: the mean of all classes, plain or by their weights, instead of one class.
MACRO, WEIGHTED = 10, 20
F1_MACRO = F1 + MACRO
R2, SQUARED, ROOT_SQUARED, ABSOLUTE = 0, 1, 2, 3
HITS, ACTUAL, PREDICTED = 0, 1, 2


@kernel()
def grade_classes(decisions, y, weights, bounds, metric, positive, tolerance, counts, out):
    """Grade the classes that win, by a measure that follows from hits, actual and predicted weights of each class.

    These are counted in `counts`, (c, 3).
    """
    m, _, c = decisions.shape
    for i in range(m):
        for fold in range(bounds.shape[0] - 1):
            for k in range(c):
                counts[k, HITS] = counts[k, ACTUAL] = counts[k, PREDICTED] = 0.0
            sure = True
            for row in range(bounds[fold], bounds[fold + 1]):
                winner = 0
                best = decisions[i, row, 0]
                second = -np.inf
                for k in range(1, c):
                    value = decisions[i, row, k]
                    if value > best:
                        second = best
                        best = value
                        winner = k
                    elif value > second:
                        second = value
                # Closer than two solvers agree: who wins is not decided here.
                if best - second < tolerance * (1.0 + abs(best)):
                    sure = False
                counts[y[row], ACTUAL] += weights[row]
                counts[winner, PREDICTED] += weights[row]
                if winner == y[row]:
                    counts[winner, HITS] += weights[row]
            if metric is None:
                right = whole = 0.0
                for k in range(c):
                    right += counts[k, HITS]
                    whole += counts[k, ACTUAL]
                out[i, fold] = right / whole
            else:
                out[i, fold] = _share(counts, metric, positive)
            if not sure:
                out[i, fold] = np.nan


@inner()
def _share(counts, metric, positive):
    """Sum up a table of hits, actual and predicted weights of each class."""
    right = whole = predicted = actual = both = 0.0
    for k in range(counts.shape[0]):
        right += counts[k, HITS]
        whole += counts[k, ACTUAL]
        predicted += counts[k, PREDICTED] * counts[k, PREDICTED]
        actual += counts[k, ACTUAL] * counts[k, ACTUAL]
        both += counts[k, PREDICTED] * counts[k, ACTUAL]
    if metric == MATTHEWS:
        # Gorodkin's generalisation to several classes: cov(y, ŷ) / √(cov(y, y) cov(ŷ, ŷ)).
        spreads = (whole * whole - predicted) * (whole * whole - actual)
        return (right * whole - both) / np.sqrt(spreads) if spreads > 0.0 else 0.0
    kind, total = (RECALL if metric == BALANCED else metric % MACRO), 0.0
    for k in range(counts.shape[0]):
        of = counts[k, PREDICTED] if kind == PRECISION else counts[k, ACTUAL]
        if kind == F1:
            of = 0.5 * (counts[k, ACTUAL] + counts[k, PREDICTED])
        elif kind == JACCARD:
            of = counts[k, ACTUAL] + counts[k, PREDICTED] - counts[k, HITS]
        share = counts[k, HITS] / of if of > 0.0 else 0.0
        if metric < MACRO and metric != BALANCED and k == positive:
            return share
        total += share * (counts[k, ACTUAL] / whole if metric >= WEIGHTED else 1.0 / counts.shape[0])
    return total


@kernel()
def grade_quantities(decisions, y, weights, bounds, metric, out):
    """Grade numbers: R², or minus a mean error."""
    m = decisions.shape[0]
    for fold in range(bounds.shape[0] - 1):
        low, high = bounds[fold], bounds[fold + 1]
        total = 0.0
        mean = 0.0
        for row in range(low, high):
            total += weights[row]
            mean += weights[row] * y[row]
        mean /= total
        spread = 0.0
        for row in range(low, high):
            spread += weights[row] * (y[row] - mean) ** 2
        for i in range(m):
            lost = 0.0
            for row in range(low, high):
                error = y[row] - decisions[i, row, 0]
                lost += weights[row] * (abs(error) if metric == ABSOLUTE else error * error)
            if metric == R2:
                out[i, fold] = 1.0 - lost / spread if spread > 0.0 else np.nan
            elif metric == ROOT_SQUARED:
                out[i, fold] = -np.sqrt(lost / total)
            else:
                out[i, fold] = -lost / total


@kernel()
def grade_ranks(values, orders, y, weights, bounds, positive, tolerance, by_precision, out):
    """Grade by the share of pairs that (m, n) values put in the right order, ties by half (the area under the ROC).

    `orders` are the rows of each fold, counted from its first, in the order of their values. If `by_precision`, by the
    average precision instead: the precision from each value on, by the share of positive rows that have it.
    """
    for i in range(values.shape[0]):
        for fold in range(bounds.shape[0] - 1):
            low, high = bounds[fold], bounds[fold + 1]
            order = orders[i, low:high]
            below, above, won, precision = 0.0, 0.0, 0.0, 0.0
            sure = True
            start = 0
            whole, all_ones = 0.0, 0.0
            for row in range(low, high):
                whole += weights[row]
                all_ones += weights[row] if y[row] == positive else 0.0
            while start < order.shape[0]:
                value = values[i, low + order[start]]
                ones, zeros = 0.0, 0.0
                stop = start
                while stop < order.shape[0] and values[i, low + order[stop]] == value:
                    row = low + order[stop]
                    if y[row] == positive:
                        ones += weights[row]
                    else:
                        zeros += weights[row]
                    stop += 1
                if stop < order.shape[0]:
                    gap = values[i, low + order[stop]] - value
                    if gap < tolerance * (1.0 + abs(value)):
                        sure = False
                # Mann and Whitney: a positive row beats the negative ones below it, and by half those at its level.
                won += ones * (below + 0.5 * zeros)
                if ones > 0.0:
                    precision += ones / all_ones * ((all_ones - above) / (whole - below - above))
                below += zeros
                above += ones
                start = stop
            out[i, fold] = np.nan
            if sure and below * above > 0.0:
                out[i, fold] = precision if by_precision else won / (below * above)
