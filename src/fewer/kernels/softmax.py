"""Logistic regression of several classes by Newton's method, fold by fold, each from the fit without the new column.

Coefficients θ are (c, k): each class has a constant and one for each member. The loss does not change when all
constants grow alike; a cost on their sum, which no gradient sees, makes the Hessian invertible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.newton import EXACT, MOST_STEPS, factor, solve, weight_right


@inner(fastmath={"contract", "reassoc", "nsz", "arcp"})
def shares_of(columns, members, fit, fold, theta, shares):
    """Write (c, n) chances of the training rows; return the loss."""
    c, k = theta.shape
    size = fit.sizes[fold]
    loss = 0.0
    for a in range(c):
        line = shares[a]
        for i in range(size):
            line[i] = theta[a, 0]
        for j in range(1, k):
            column, coefficient = columns[members[j - 1]], theta[a, j]
            for i in range(size):
                line[i] += coefficient * column[i]
            loss += 0.5 * fit.ridge * coefficient * coefficient
    for i in range(size):
        # Chances do not change when all decisions fall alike; less the largest, nothing overflows.
        top = shares[0, i]
        for a in range(1, c):
            top = max(top, shares[a, i])
        decision, total = shares[int(fit.y[fold, i]), i] - top, 0.0
        for a in range(c):
            shares[a, i] = np.exp(shares[a, i] - top)
            total += shares[a, i]
        for a in range(c):
            shares[a, i] /= total
        loss += fit.weights[fold, i] * (np.log(total) - decision)
    return loss


@inner(fastmath={"contract", "reassoc", "nsz", "arcp"})
def slopes(columns, members, fit, fold, theta, shares, gradient, hessian):
    """Write the gradient (c · k,) and the lower half of the Hessian at theta, from the chances there."""
    c, k = theta.shape
    size = fit.sizes[fold]
    weights = fit.weights[fold]
    line, bend = shares[c], shares[c + 1]
    for a in range(c):
        # ∂/∂θ_a = Σ w (p_a − [y = a]) x + ridge θ_a, without a ridge on the constant.
        total = 0.0
        for i in range(size):
            line[i] = weights[i] * (shares[a, i] - (1.0 if int(fit.y[fold, i]) == a else 0.0))
            total += line[i]
        gradient[a * k] = total
        for j in range(1, k):
            column = columns[members[j - 1]]
            total = 0.0
            for i in range(size):
                total += line[i] * column[i]
            gradient[a * k + j] = total + fit.ridge * theta[a, j]
        for b in range(a + 1):
            # ∂²/∂θ_a∂θ_b = Σ w p_a ([a = b] − p_b) x xᵀ; 0.25 Σ w is the cost on the sum of the constants.
            total = 0.25 * fit.totals[fold]
            for i in range(size):
                bend[i] = weights[i] * shares[a, i] * ((1.0 if a == b else 0.0) - shares[b, i])
                total += bend[i]
            hessian[a * k, b * k] = total
            for j in range(1, k):
                column = columns[members[j - 1]]
                total = 0.0
                for i in range(size):
                    line[i] = bend[i] * column[i]
                    total += line[i]
                hessian[a * k + j, b * k] = hessian[a * k, b * k + j] = total
                for m in range(1, j + 1):
                    other = columns[members[m - 1]]
                    total = 0.0
                    for i in range(size):
                        total += line[i] * other[i]
                    hessian[a * k + j, b * k + m] = hessian[a * k + m, b * k + j] = total
                if a == b:
                    hessian[a * k + j, a * k + j] += fit.ridge


@kernel()
def climb(columns, members, fit, fold, theta, gradient, hessian, room):
    """Fit from a start by Newton's steps, halved where the loss would rise; leave the factor of the Hessian behind."""
    c, k = theta.shape
    shares, step = room
    loss = shares_of(columns, members, fit, fold, theta, shares)
    for _ in range(MOST_STEPS):
        slopes(columns, members, fit, fold, theta, shares, gradient, hessian)
        if not factor(hessian, c * k):
            return False
        steepest = 0.0
        for a in range(c * k):
            steepest = max(steepest, abs(gradient[a]))
            step[a] = gradient[a]
        if steepest <= EXACT * fit.totals[fold]:
            return True
        solve(hessian, c * k, step)
        for a in range(c):
            for j in range(k):
                theta[a, j] -= step[a * k + j]
        new = shares_of(columns, members, fit, fold, theta, shares)
        # The loss is convex, so a small enough step lowers it.
        halvings = 0
        while new > loss + 1e-10 * abs(loss) and halvings < 20:
            for a in range(c):
                for j in range(k):
                    step[a * k + j] *= 0.5
                    theta[a, j] += step[a * k + j]
            new = shares_of(columns, members, fit, fold, theta, shares)
            halvings += 1
        loss = new
    return False


@inner()
def predict(theta, columns, rows, fold, lower, slack, out, open_rows, d):
    """Write the decisions (n, c) of test rows; mark those that the slack of another solver can turn.

    At a point where the gradient is at most g in every direction, the difference of two decisions is off by
    g ‖H⁻¹d‖₁ at most, d being the row's part in the one less its part in the other.
    """
    c, k = theta.shape
    for i in range(rows.bounds[fold], rows.bounds[fold + 1]):
        best = 0
        for a in range(c):
            total = theta[a, 0]
            for j in range(1, k):
                total += theta[a, j] * rows.columns[columns[j - 1], i]
            out[i, a] = total
            if total > out[i, best]:
                best = a
        for a in range(c):
            gap = out[i, best] - out[i, a]
            if a == best or slack <= 0.0 or gap > 1.0:
                continue
            for j in range(c * k):
                d[j] = 0.0
            for j in range(k):
                x = 1.0 if j == 0 else rows.columns[columns[j - 1], i]
                d[best * k + j], d[a * k + j] = x, -x
            solve(lower, c * k, d)
            reach = 0.0
            for j in range(c * k):
                reach += abs(d[j])
            if gap <= slack * reach:
                open_rows[i] = True


@kernel()
def predict_added(members, added, rows, fit, tolerance, start, out, open_rows, sure, scratch):
    """Predict from the members and each of `added`, one at a time: (q, n, c).

    `start` holds the members' own coefficients, (f, c, k); `tolerance` is the other solver's mean gradient. `members`
    has room for one more.
    """
    theta, gradient, hessian, room = scratch
    c, k = theta.shape
    for fold in range(rows.bounds.shape[0] - 1):
        for q in range(added.shape[0]):
            members[k - 2] = added[q]
            for a in range(c):
                for j in range(k - 1):
                    theta[a, j] = start[fold, a, j]
                theta[a, k - 1] = 0.0
            sure[q, fold] = climb(fit.trains[fold], members, fit, fold, theta, gradient, hessian, room)
            if sure[q, fold]:
                slack = tolerance * fit.totals[fold]
                predict(theta, members, rows, fold, hessian, slack, out[q], open_rows[q], room[1])


def _room_for(fit: Any, c: int, k: int) -> tuple[Any, ...]:
    size = c * k
    room = np.empty((c + 2, fit.trains.shape[2])), np.empty(size)
    return np.empty((c, k)), np.empty(size), np.empty((size, size)), room


def fit_members(members: Any, fit: Any, start: Any) -> None:
    """Fit the members in every fold: (f, c, k + 1) coefficients."""
    _, gradient, hessian, room = _room_for(fit, *start.shape[1:])
    for fold in range(len(start)):
        start[fold] = 0.0
        climb(fit.trains[fold], members, fit, fold, start[fold], gradient, hessian, room)


def predict_one_more(members: Any, added: Any, rows: Any, fit: Any, tolerance: float, start: Any, *out: Any) -> None:
    """Call `predict_added` with the room that it needs."""
    scratch = _room_for(fit, start.shape[1], start.shape[2] + 1)
    predict_added(np.append(members, 0), added, rows, fit, tolerance, start, *out, scratch)


@kernel()
def add_slopes(fit, rows, judged, members, theta, asked, scratch, sums):
    """Do what `newton.add_slopes` does for several classes: theta is (m, f, c, k + 1)."""
    gradient, hessian, shares, decisions, open_rows = scratch
    y, weights = judged
    loss, gradients, hessians, right = sums
    size = theta.shape[2] * theta.shape[3]
    for fold in range(asked.shape[1]):
        low, high = rows.bounds[fold], rows.bounds[fold + 1]
        for q in range(members.shape[0]):
            if not asked[q, fold]:
                continue
            coefficients, columns = theta[q, fold], fit.trains[fold]
            loss[q, fold] += shares_of(columns, members[q], fit, fold, coefficients, shares)
            slopes(columns, members[q], fit, fold, coefficients, shares, gradient, hessian)
            for a in range(size):
                gradients[q, fold, a] += gradient[a]
                for b in range(a + 1):
                    hessians[q, fold, a, b] += hessian[a, b]
            predict(coefficients, members[q], rows, fold, hessian, 0.0, decisions, open_rows, gradient)
            right[q, fold] += weight_right(decisions, y, weights, low, high)
