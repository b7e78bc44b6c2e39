"""Logistic regression by Newton's method, fold by fold, for one column more at a time, each from the fit before it.

Arguments that the kernels share:

tests : (p, n) float64
    Test rows.
trains : (f, p, t) float64
    Training rows of each fold, `sizes[fold]` of them.
bounds : (f + 1,) int64
    Test rows bounds[k] … bounds[k + 1] − 1 belong to fold k.
y, weights : (f, t) float64
    Classes 0 and 1 of the training rows, and how much each counts.
ridge : float64
    What the squared coefficients cost, the constant's not.
theta : (k + 1,) float64
    The constant and the coefficients.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MOST_STEPS = 40
EXACT = 1e-9
"""Mean gradient at which a fit is done: far below scikit-learn's own tolerance."""


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
def slopes(columns, members, size, y, weights, ridge, theta, z, slope, bend, gradient, hessian):  # type: ignore[no-untyped-def]
    """Write the gradient and the Hessian of the loss at theta; return the loss."""
    k = members.shape[0] + 1
    z[:size] = theta[0]
    for a in range(1, k):
        coefficient = theta[a]
        column = columns[members[a - 1]]
        for i in range(size):
            z[i] += coefficient * column[i]
    loss = 0.0
    for i in range(size):
        small = np.exp(-abs(z[i]))
        share = 1.0 / (1.0 + small)
        if z[i] < 0.0:
            share = 1.0 - share
        loss += weights[i] * (np.log1p(small) + max(z[i], 0.0) - y[i] * z[i])
        slope[i] = weights[i] * (share - y[i])
        bend[i] = weights[i] * share * (1.0 - share)
    total, curve = 0.0, 0.0
    for i in range(size):
        total += slope[i]
        curve += bend[i]
    gradient[0] = total
    hessian[0, 0] = curve
    for a in range(1, k):
        column = columns[members[a - 1]]
        total, curve = 0.0, 0.0
        for i in range(size):
            z[i] = bend[i] * column[i]
            total += slope[i] * column[i]
            curve += z[i]
        gradient[a] = total + ridge * theta[a]
        hessian[a, 0] = curve
        loss += 0.5 * ridge * theta[a] ** 2
        for b in range(1, a + 1):
            other = columns[members[b - 1]]
            curve = 0.0
            for i in range(size):
                curve += z[i] * other[i]
            hessian[a, b] = curve
        hessian[a, a] += ridge
    return loss


@njit(nogil=True, cache=True)
def factor(hessian, k):  # type: ignore[no-untyped-def]
    """Replace the lower half of a matrix by its Cholesky factor; say whether it has one."""
    for a in range(k):
        for b in range(a + 1):
            total = hessian[a, b]
            for j in range(b):
                total -= hessian[a, j] * hessian[b, j]
            if a == b:
                if total <= 0.0:
                    return False
                hessian[a, a] = np.sqrt(total)
            else:
                hessian[a, b] = total / hessian[b, b]
    return True


@njit(nogil=True, cache=True)
def solve(lower, k, right):  # type: ignore[no-untyped-def]
    """Solve with a Cholesky factor, in place."""
    for a in range(k):
        total = right[a]
        for b in range(a):
            total -= lower[a, b] * right[b]
        right[a] = total / lower[a, a]
    for a in range(k - 1, -1, -1):
        total = right[a]
        for b in range(a + 1, k):
            total -= lower[b, a] * right[b]
        right[a] = total / lower[a, a]


@njit(nogil=True, cache=True)
def climb(columns, members, size, y, weights, ridge, theta, total, work, gradient, hessian):  # type: ignore[no-untyped-def]
    """Fit from a start by Newton's steps, halved where the loss would rise; leave the factor of the Hessian behind."""
    k = members.shape[0] + 1
    z, slope, bend = work[0], work[1], work[2]
    step = np.empty(k)
    loss = slopes(columns, members, size, y, weights, ridge, theta, z, slope, bend, gradient, hessian)
    for _ in range(MOST_STEPS):
        if not factor(hessian, k):
            return False
        steepest = 0.0
        for a in range(k):
            steepest = max(steepest, abs(gradient[a]))
            step[a] = gradient[a]
        if steepest <= EXACT * total:
            return True
        solve(hessian, k, step)
        for a in range(k):
            theta[a] -= step[a]
        new = slopes(columns, members, size, y, weights, ridge, theta, z, slope, bend, gradient, hessian)
        halvings = 0
        while new > loss + 1e-10 * abs(loss) and halvings < 20:
            for a in range(k):
                step[a] *= 0.5
                theta[a] += step[a]
            new = slopes(columns, members, size, y, weights, ridge, theta, z, slope, bend, gradient, hessian)
            halvings += 1
        loss = new
    return False


@njit(nogil=True, cache=True)
def predict(theta, members, tests, low, high, lower, slack, out, open_rows, q):  # type: ignore[no-untyped-def]
    """Write the decisions of test rows; mark those that are nearer to zero than the slack of another solver allows.

    At a point where the gradient is at most g in every direction, a decision is off by g ‖H⁻¹x‖₁ at most.
    """
    k = members.shape[0] + 1
    x = np.empty(k)
    for i in range(low, high):
        total = theta[0]
        for a in range(1, k):
            total += theta[a] * tests[members[a - 1], i]
        out[q, i, 0], out[q, i, 1] = 0.0, total
        if slack > 0.0 and abs(total) < 1.0:
            x[0] = 1.0
            for a in range(1, k):
                x[a] = tests[members[a - 1], i]
            solve(lower, k, x)
            reach = 0.0
            for a in range(k):
                reach += abs(x[a])
            open_rows[q, i] = abs(total) <= slack * reach


@njit(nogil=True, cache=True)
def predict_added(  # type: ignore[no-untyped-def]
    members, added, tests, trains, sizes, bounds, y, weights, totals, ridge, tolerance, start, out, open_rows, sure
):
    """Predict from the members and each of `added`, one at a time: (q, n, 2).

    `start` holds the members' own coefficients, (f, k + 1); `tolerance` is the other solver's mean gradient.
    """
    k = members.shape[0] + 2
    theta, gradient, hessian = np.empty(k), np.empty(k), np.empty((k, k))
    work = np.empty((3, trains.shape[2]))
    columns = np.empty(members.shape[0] + 1, np.int64)
    columns[: members.shape[0]] = members
    for fold in range(bounds.shape[0] - 1):
        for q in range(added.shape[0]):
            columns[members.shape[0]] = added[q]
            theta[: k - 1] = start[fold]
            theta[k - 1] = 0.0
            done = climb(
                trains[fold], columns, sizes[fold], y[fold], weights[fold], ridge, theta, totals[fold], work, gradient,
                hessian,
            )  # fmt: skip
            sure[q, fold] = done
            if done:
                slack = tolerance * totals[fold]
                predict(theta, columns, tests, bounds[fold], bounds[fold + 1], hessian, slack, out, open_rows, q)


@njit(nogil=True, cache=True)
def fit_members(members, trains, sizes, y, weights, totals, ridge, start):  # type: ignore[no-untyped-def]
    """Fit the members in every fold: (f, k + 1) coefficients."""
    k = members.shape[0] + 1
    gradient, hessian = np.empty(k), np.empty((k, k))
    work = np.empty((3, trains.shape[2]))
    for fold in range(sizes.shape[0]):
        start[fold] = 0.0
        climb(
            trains[fold], members, sizes[fold], y[fold], weights[fold], ridge, start[fold], totals[fold], work,
            gradient, hessian,
        )  # fmt: skip
