"""Coordinate descent for penalised linear fits, groups of inputs together (Friedman, Hastie and Tibshirani 2010).

Minimised is ½ bᵀG b − bᵀc + Σ_g (l_g ‖b_g‖ + ½ s_g ‖b_g‖²), G and c being the products of inputs and target. Only the
gradient c − G b is carried along, so that no row is looked at again; a row of G is asked for when an input first moves.
At the minimum no group could move by more than the tolerance, which a last round over all of them proves.
"""

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
# The lasso is approached instead of computed where a column comes of whose square less than this share is independent
# of the columns that are in, and after this many corners for each column.
LEAST_LEFT, MOST_CORNERS = 1e-13, 10


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


@inner(counted=False)
def _change(pull, before, curvature, length, square):
    """Return how far the minimum of one coefficient is from where it stands."""
    pull += curvature * before
    if abs(pull) <= length:
        return -before
    return (pull - np.copysign(length, pull)) / (curvature + square) - before


@inner(counted=False)
def _let_in(g, row, members, ever):
    """Put a group among those that have been in."""
    m = ever.size[0]
    ever.inside[m], ever.slots[g], ever.size[0] = g, m, m + 1
    for b in range(m + 1):
        ever.block[m, b] = ever.block[b, m] = row[members[ever.inside[b]]]


@kernel(counted=False)
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
                for g in range(ever.ahead.shape[0]):
                    ever.ahead[g] *= share / (1.0 - share)
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
        for g in range(ever.ahead.shape[0]):
            ever.ahead[g] = 0.0


@inner(counted=False)
def _note(alpha, coefficients, members, entered, sizes):
    """Note which groups are in for the first time, at which penalty; return how many have ever been."""
    n_entered = 0
    for g in range(entered.shape[0]):
        size = abs(coefficients[members[g]])
        if size > 0.0 and entered[g] == 0.0:
            entered[g], sizes[g] = alpha, size
        n_entered += entered[g] > 0.0
    return n_entered


@kernel()
def follow(alphas, shares, fit, known, groups, ever, arrivals, most):
    """Fit with one penalty after the other, from where the fit stands, and note when groups come in.

    shares : (lengths, squares)
        What a penalty of one costs.
    arrivals : (entered, sizes)
        For each group that can enter, the penalty at which it did, 0 so far, and its coefficient there; changed.
    most : int
        The path ends at the penalty at which this many groups are in.
    The result is how many penalties are done, and −1 or a group whose rows of the matrix must be known to go on.
    """
    entered, sizes = arrivals
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
        if _note(alphas[step], fit[0], groups[1], entered, sizes) >= most:
            break
    return alphas.shape[0], -1


class Corners(NamedTuple):
    """A lasso fit on its way from one penalty to the next: coefficients are linear in the penalty between two corners.

    active : (r,) int64
        Groups that are in, in the order of their coming; room for r of them.
    side : (r,) float64
        The signs of their coefficients.
    upper : (r, r) float64
        U, where U'U is the block of the matrix of those that are in.
    solved, slopes : (r,) float64
        U'⁻¹ side and U⁻¹ solved: how fast coefficients grow as the penalty falls.
    column, pulls : (r,) and (number of inputs,) float64
        Room: a new column of U; how fast gradients shrink.
    inside : (number of groups,) bool
        Which groups are in.
    size : (1,) int64
        How many are.
    """

    active: Any
    side: Any
    upper: Any
    solved: Any
    slopes: Any
    column: Any
    pulls: Any
    inside: Any
    size: Any

    @classmethod
    def nobody(cls, room: int, n_groups: int, n_inputs: int) -> Corners:
        """Return room for some groups, none of them in."""
        side, solved, slopes, column = np.empty((4, room))
        numbers = np.empty(room, np.int64), side, np.empty((room, room)), solved, slopes, column, np.empty(n_inputs)
        return cls(*numbers, np.zeros(n_groups, np.bool_), np.zeros(1, np.int64))


# Triangles and sums take four rows at a time, so that what they add to is read and written a quarter as often.
@inner(counted=False, fastmath={"contract", "reassoc", "nsz"})
def _forth(upper, k, x):
    """Solve U'x = b in place."""
    for a in range(0, k - 3, 4):
        u0, u1, u2, u3 = upper[a], upper[a + 1], upper[a + 2], upper[a + 3]
        x0 = x[a] / u0[a]
        x1 = (x[a + 1] - u0[a + 1] * x0) / u1[a + 1]
        x2 = (x[a + 2] - u0[a + 2] * x0 - u1[a + 2] * x1) / u2[a + 2]
        x3 = (x[a + 3] - u0[a + 3] * x0 - u1[a + 3] * x1 - u2[a + 3] * x2) / u3[a + 3]
        x[a], x[a + 1], x[a + 2], x[a + 3] = x0, x1, x2, x3
        for b in range(a + 4, k):
            x[b] -= u0[b] * x0 + u1[b] * x1 + u2[b] * x2 + u3[b] * x3
    for a in range(k - k % 4, k):
        x[a] /= upper[a, a]
        for b in range(a + 1, k):
            x[b] -= upper[a, b] * x[a]


@inner(counted=False, fastmath={"contract", "reassoc", "nsz"})
def _back(upper, k, x):
    """Solve Ux = b in place."""
    for a in range(k - 1, k - k % 4 - 1, -1):
        for b in range(a + 1, k):
            x[a] -= upper[a, b] * x[b]
        x[a] /= upper[a, a]
    for a in range(k - k % 4 - 4, -1, -4):
        u0, u1, u2, u3 = upper[a], upper[a + 1], upper[a + 2], upper[a + 3]
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        for b in range(a + 4, k):
            x0 -= u0[b] * x[b]
            x1 -= u1[b] * x[b]
            x2 -= u2[b] * x[b]
            x3 -= u3[b] * x[b]
        x3 /= u3[a + 3]
        x2 = (x2 - u2[a + 3] * x3) / u2[a + 2]
        x1 = (x1 - u1[a + 2] * x2 - u1[a + 3] * x3) / u1[a + 1]
        x0 = (x0 - u0[a + 1] * x1 - u0[a + 2] * x2 - u0[a + 3] * x3) / u0[a]
        x[a], x[a + 1], x[a + 2], x[a + 3] = x0, x1, x2, x3


@inner(counted=False, fastmath={"contract", "reassoc", "nsz"})
def _aim(gram, place, members, corners):
    """Write how coefficients and gradients change as the penalty falls: their block's inverse times their signs."""
    k, slopes, pulls = corners.size[0], corners.slopes, corners.pulls
    for a in range(k):
        slopes[a] = corners.solved[a]
    _back(corners.upper, k, slopes)
    for j in range(pulls.shape[0]):
        pulls[j] = 0.0
    for a in range(0, k - 3, 4):
        r0, r1 = gram[place[members[corners.active[a]]]], gram[place[members[corners.active[a + 1]]]]
        r2, r3 = gram[place[members[corners.active[a + 2]]]], gram[place[members[corners.active[a + 3]]]]
        s0, s1, s2, s3 = slopes[a], slopes[a + 1], slopes[a + 2], slopes[a + 3]
        for j in range(pulls.shape[0]):
            pulls[j] += s0 * r0[j] + s1 * r1[j] + s2 * r2[j] + s3 * r3[j]
    for a in range(k - k % 4, k):
        row = gram[place[members[corners.active[a]]]]
        for j in range(pulls.shape[0]):
            pulls[j] += slopes[a] * row[j]


@inner(counted=False, fastmath={"contract", "reassoc", "nsz"})
def _come(g, side, row, members, corners):
    """Let a group in: one column more of U. Says whether it is far enough from depending on those that are in."""
    k, upper, column = corners.size[0], corners.upper, corners.column
    if k == column.shape[0]:
        return False
    for a in range(k):
        column[a] = row[members[corners.active[a]]]
    _forth(upper, k, column)
    left, rest = row[members[g]], side
    for a in range(k):
        left -= column[a] ** 2
        rest -= column[a] * corners.solved[a]
    if left < LEAST_LEFT * row[members[g]]:
        return False
    for a in range(k):
        upper[a, k] = column[a]
    upper[k, k] = np.sqrt(left)
    corners.active[k], corners.side[k], corners.solved[k] = g, side, rest / upper[k, k]
    corners.inside[g] = True
    corners.size[0] = k + 1
    return True


@inner(counted=False, fastmath={"contract", "reassoc", "nsz"})
def _go(at, corners):
    """Let the group at a place out: its column of U goes, and rotations of rows make U triangular again."""
    k, upper, solved = corners.size[0] - 1, corners.upper, corners.solved
    corners.inside[corners.active[at]] = False
    for a in range(at, k):
        corners.active[a], corners.side[a] = corners.active[a + 1], corners.side[a + 1]
    for a in range(k + 1):
        for b in range(max(at, a - 1), k):
            upper[a, b] = upper[a, b + 1]
    for a in range(at, k):
        length = np.hypot(upper[a, a], upper[a + 1, a])
        cosine, sine = upper[a, a] / length, upper[a + 1, a] / length
        for b in range(a, k):
            first, second = upper[a, b], upper[a + 1, b]
            upper[a, b] = cosine * first + sine * second
            upper[a + 1, b] = cosine * second - sine * first
    corners.size[0] = k
    for a in range(k):
        solved[a] = corners.side[a]
    _forth(upper, k, solved)


@kernel(counted=False, fastmath={"contract", "reassoc", "nsz"})
def turn_corners(alphas, alpha, fit, known, members, corners, arrivals, most):
    """Follow the lasso from corner to corner (Osborne, Presnell and Turlach 2000; Efron and others 2004).

    A group comes in where its gradient reaches the penalty, and goes out where its coefficient reaches zero. In between
    the gradients of those that are in stay at the penalty, which makes their coefficients linear in it: so each corner
    is computed, not approached. `alpha`, (1,), is where the fit stands; the rest is described in `follow`, with one
    input for each group, a price of 1 and no ridge.

    The result is how many penalties are done, and −1, a group whose rows of the matrix must be known to go on, or −2
    where columns depend on each other so much that the fit must be approached.
    """
    (coefficients, gradient), (gram, place), (entered, sizes) = fit, known, arrivals
    step, corner, turned = 0, 0, True
    while step < alphas.shape[0]:
        if turned:
            corner += 1
            if corner > MOST_CORNERS * members.shape[0]:
                return step, -2
            _aim(gram, place, members, corners)
        k, far, comes, goes, side = corners.size[0], alpha[0] - alphas[step], -1, -1, 0.0
        for a in range(k):
            at = coefficients[members[corners.active[a]]]
            if corners.slopes[a] * corners.side[a] < 0.0 and -at / corners.slopes[a] < far:
                far, goes = max(-at / corners.slopes[a], 0.0), a
        for g in range(members.shape[0]):
            if corners.inside[g]:
                continue
            pull, speed = gradient[members[g]], corners.pulls[members[g]]
            # It comes where α − far = ± (pull − far · speed). Neither a copy of what is in, which keeps up with the
            # penalty, nor a group that has just left, which falls faster, is closing in on it.
            for sign in (1.0, -1.0):
                closing, gap = 1.0 - sign * speed, alpha[0] - sign * pull
                if closing > TOLERANCE and gap < far * closing:
                    far, comes, side = max(gap / closing, 0.0), g, sign
        if comes >= 0 and place[members[comes]] < 0:
            return step, comes
        for a in range(k):
            coefficients[members[corners.active[a]]] += far * corners.slopes[a]
        for j in range(gradient.shape[0]):
            gradient[j] -= far * corners.pulls[j]
        alpha[0] -= far
        turned = max(comes, goes) >= 0
        if comes >= 0:
            if not _come(comes, side, gram[place[members[comes]]], members, corners):
                return step, -2
        elif goes >= 0:
            coefficients[members[corners.active[goes]]] = 0.0
            _go(goes, corners)
        else:
            alpha[0] = alphas[step]
            step += 1
            if _note(alpha[0], coefficients, members, entered, sizes) >= most:
                return alphas.shape[0], -1
    return step, -1


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
def fit_products(products, columns, penalties, coefficients, tolerance, most):
    """Fit least squares with one penalty after the other to some columns, whose products are known.

    products : (gram, pulls)
        (p, p) and (p,) float64: of centered columns with each other and with the centered target, over the rows.
    columns : (k,) int64
    penalties : (lengths, squares)
        Each (m,), from strong to weak: every fit goes on from the one before.
    coefficients : (m, k) float64
        Those of each fit.

    Says whether all converged.
    """
    gram, pulls = products
    k = columns.shape[0]
    now, pull, lower, room = np.zeros(k), pulls[columns], np.empty((MOST_JUMPED, MOST_JUMPED)), np.empty((2, k))
    for step in range(coefficients.shape[0]):
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
        coefficients[step] = now
    return True
