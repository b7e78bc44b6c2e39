"""Coordinate descent for penalised linear fits, groups of inputs together (Friedman, Hastie and Tibshirani 2010)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.newton import factor, solve

TOLERANCE = 1e-7  # Changes of a coefficient below this, in units of the target's spread, count as none.
EPSILON = float(np.finfo(np.float64).eps)
# Every fourth round jumps ahead, twenty times at most, as if each round left at most this share of its change.
EVERY, MOST_JUMPS, LARGEST_SHARE = 4, 20, 0.95
MOST_JUMPED = 64  # Coefficients that are solved for at once.


@kernel()
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
            # With the others held, the group's minimum is z = gradient + curvature · b, shortened by the price of its
            # length: z (1 − λ / ‖z‖)₊ / (curvature + ridge), a soft threshold on the length.
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
        # Groups that are not zero move until they rest; a last round over all of them proves the minimum.
        if largest < tolerance:
            if everyone:
                return -1
            everyone = True
        else:
            everyone = False


@inner()
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


class Ever(NamedTuple):
    """Groups of one input that have been in, in the order of their coming, and their block of the matrix.

    inside, slots : (p,) int64
        The groups; the place of each group among them, −1 for none.
    block : (p, p) float64
    pulls, moves : (p,) float64
        Room: their gradients and how far they have gone.
    ahead : (p,) float64
        How far each group goes first: between events coefficients are linear in the penalty.
    size : (1,) int64
        How many there are.
    """

    inside: Any
    slots: Any
    block: Any
    pulls: Any
    moves: Any
    ahead: Any
    size: Any

    @classmethod
    def nobody(cls, p: int) -> Ever:
        """Return room for p groups, none of them in."""
        whole = np.empty(p, np.int64), np.full(p, -1), np.empty((p, p)), np.empty(p), np.empty(p), np.zeros(p)
        return cls(*whole, np.zeros(1, np.int64))


@inner()
def _change(pull, before, curvature, length, square):
    """Return how far the minimum of one coefficient is from where it stands."""
    pull += curvature * before
    if abs(pull) <= length:
        return -before
    return (pull - np.copysign(length, pull)) / (curvature + square) - before


@inner()
def _let_in(g, row, members, ever):
    """Put a group among those that have been in."""
    m = ever.size[0]
    ever.inside[m], ever.slots[g], ever.size[0] = g, m, m + 1
    for b in range(m + 1):
        ever.block[m, b] = ever.block[b, m] = row[members[ever.inside[b]]]


@kernel()
def descend_singly(fit, known, groups, penalty, ever, tolerance):
    """Do what `descend` does where each group is one input and there is one output: numbers instead of lengths.

    fit : (coefficients, gradient)
        Both (p,) and changed.
    known : (gram, place)
        Which are, as the others, those of `descend`.

    Rounds go over the groups that have ever been in, with the gradients of these alone; those of all follow at once.
    """
    (coefficients, gradient), (gram, place), (_, members, curvatures) = fit, known, groups
    while True:
        m = ever.size[0]
        pulls, moves = ever.pulls[:m], ever.moves[:m]
        for a in range(m):
            pulls[a], moves[a] = gradient[members[ever.inside[a]]], 0.0
        largest, before, rounds = tolerance, 0.0, 0
        while largest >= tolerance:
            largest, squares, jumps = 0.0, 0.0, rounds % EVERY == 0 and rounds < MOST_JUMPS * EVERY
            for a in range(m):
                g = ever.inside[a]
                j = members[g]
                if jumps:
                    change = ever.ahead[g]
                else:
                    change = _change(pulls[a], coefficients[j], curvatures[g], penalty[0][g], penalty[1][g])
                ever.ahead[g] = change
                if change != 0.0:
                    coefficients[j] += change
                    moves[a] += change
                    row = ever.block[a][:m]
                    for b in range(m):
                        pulls[b] -= row[b] * change
                    largest, squares = max(largest, abs(change)), squares + change * change
            rounds += 1
            # Rounds end as a geometric series, whose sum is ahead; the next jump goes there.
            share = min(np.sqrt(squares / before), LARGEST_SHARE) if before > 0.0 else 0.0
            before = squares
            if rounds % EVERY == 0:
                ever.ahead[:] *= share / (1.0 - share)
            if jumps:
                largest = tolerance
        for a in range(m):
            if moves[a] != 0.0:
                row = gram[place[members[ever.inside[a]]]]
                for i in range(row.shape[0]):
                    gradient[i] -= row[i] * moves[a]
        largest = 0.0
        for g in range(members.shape[0]):
            j = members[g]
            change = _change(gradient[j], coefficients[j], curvatures[g], penalty[0][g], penalty[1][g])
            if change == 0.0 or (ever.slots[g] >= 0 and abs(change) < tolerance):
                continue
            if place[j] < 0:
                return g
            row = gram[place[j]]
            if ever.slots[g] < 0:
                _let_in(g, row, members, ever)
            coefficients[j] += change
            for i in range(row.shape[0]):
                gradient[i] -= row[i] * change
            largest = max(largest, abs(change))
        if largest < tolerance:
            return -1
        ever.ahead[:] = 0.0


@kernel()
def follow(alphas, shares, fit, known, groups, ever, found, most):
    """Fit with one penalty after the other, from where the fit stands, and note when groups come in.

    shares : (lengths, squares)
        What a penalty of one costs.
    found : (entered, sizes)
        For each group that can enter, the penalty at which it did, 0 so far, and its coefficient there; changed.
    most : int
        The path ends at the penalty at which this many groups are in.
    The result is how many penalties are done, and −1 or a group whose rows of the matrix must be known to go on.
    """
    entered, sizes = found
    last = fit[0][groups[1]]
    for step in range(alphas.shape[0]):
        penalty = (alphas[step] * shares[0], alphas[step] * shares[1])
        g = descend_singly(fit, known, groups, penalty, ever, TOLERANCE)
        if g >= 0:
            return step, g
        now = fit[0][groups[1]]
        if 0 < step < alphas.shape[0] - 1:
            onwards = (alphas[step + 1] - alphas[step]) / (alphas[step] - alphas[step - 1])
            copy(onwards * (now - last), ever.ahead)
        last = now
        n_entered = 0
        for g in range(entered.shape[0]):
            size = abs(now[g])
            if size > 0.0 and entered[g] == 0.0:
                entered[g], sizes[g] = alphas[step], size
            n_entered += entered[g] > 0.0
        if n_entered >= most:
            break
    return alphas.shape[0], -1


@kernel(fastmath={"contract", "reassoc", "nsz"})
def fit_rows(columns, residual, coefficients, penalty, tolerance, most):
    """Fit one penalised least-squares problem without its matrix: for few penalties that cost less.

    columns : (p, n) float64, changed
        Brought to mean 0 and variance 1, constant ones to 0 (which are constant is said as `StandardScaler` says it).
    residual : (n,) float64, changed
        The target, of mean 0; what is left of it at the end.
    coefficients : (p,) float64, changed
        Zeros.
    penalty : (length, square)
    tolerance : float
        Changes below this count as none.
    most : int
        Rounds.

    Says whether it converged. A round over all inputs follows those over the inputs that are in.
    """
    p, n = columns.shape
    for j in range(p):
        column = columns[j]
        mean = square = 0.0
        for i in range(n):
            mean += column[i]
        mean /= n
        for i in range(n):
            column[i] -= mean
            square += column[i] * column[i]
        spread = np.sqrt(square / n)
        scale = 0.0 if spread <= n * EPSILON * abs(mean) else 1.0 / spread
        for i in range(n):
            column[i] *= scale
    everyone = True
    for _ in range(most):
        largest = 0.0
        for j in range(p):
            before = coefficients[j]
            if before == 0.0 and not everyone:
                continue
            column = columns[j]
            pull = 0.0
            for i in range(n):
                pull += column[i] * residual[i]
            change = _change(pull / n, before, 1.0, penalty[0], penalty[1])
            if change != 0.0:
                coefficients[j] += change
                for i in range(n):
                    residual[i] -= change * column[i]
                largest = max(largest, abs(change))
        if largest < tolerance:
            if everyone:
                return True
            everyone = True
        else:
            everyone = False
    return False


@inner()
def _jump(products, columns, penalty, now, pull, lower, room):
    """Solve for the coefficients that are not zero at once; keep the solution if none of them changes its sign.

    On columns that say nearly the same, single steps take hundreds of rounds to where this goes in one.
    """
    gram, pulls = products
    size, k = 0, now.shape[0]
    for a in range(k):
        if now[a] != 0.0:
            room[0, size] = a
            size += 1
    if size == 0 or size > MOST_JUMPED:
        return
    for i in range(size):
        a = int(room[0, i])
        for j in range(i + 1):
            lower[i, j] = gram[columns[a], columns[np.int64(room[0, j])]]
        lower[i, i] += penalty[1]
        room[1, i] = pulls[columns[a]] - np.copysign(penalty[0], now[a])
    if not factor(lower, size):
        return
    solve(lower, size, room[1])
    for i in range(size):
        if room[1, i] * now[np.int64(room[0, i])] <= 0.0:
            return
    for i in range(size):
        a = int(room[0, i])
        change = room[1, i] - now[a]
        now[a] = room[1, i]
        for b in range(k):
            pull[b] -= gram[columns[a], columns[b]] * change


@kernel()
def fit_products(products, columns, penalties, found, tolerance, most):
    """Fit least squares with one penalty after the other to some columns, whose products are known.

    products : (gram, pulls)
        (p, p) and (p,) float64: of centered columns with each other and with the centered target, over the rows.
    columns : (k,) int64
    penalties : (lengths, squares)
        Each (m,), from strong to weak: every fit goes on from the one before.
    found : (m, k) float64
        The coefficients.

    Says whether all converged.
    """
    gram, pulls = products
    k = columns.shape[0]
    now, pull, lower, room = np.zeros(k), pulls[columns], np.empty((MOST_JUMPED, MOST_JUMPED)), np.empty((2, k))
    for step in range(found.shape[0]):
        largest, rounds = tolerance, 0
        penalty = penalties[0][step], penalties[1][step]
        while largest >= tolerance and rounds < most:
            if rounds > 1 and rounds & (rounds - 1) == 0:  # 2, 4, 8, …
                _jump(products, columns, penalty, now, pull, lower, room)
            largest, rounds = 0.0, rounds + 1
            for a in range(k):
                row = gram[columns[a]]
                curvature = row[columns[a]]
                if curvature <= 0.0:
                    continue
                change = _change(pull[a], now[a], curvature, penalty[0], penalty[1])
                if change != 0.0:
                    now[a] += change
                    for b in range(k):
                        pull[b] -= row[columns[b]] * change
                    largest = max(largest, abs(change) * np.sqrt(curvature))
        if largest >= tolerance:
            return False
        found[step] = now
    return True
