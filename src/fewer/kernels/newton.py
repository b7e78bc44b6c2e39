"""Logistic regression by Newton's method, fold by fold, for one column more at a time, each from the fit before it.

`theta`, (k + 1,), are the constant and the coefficients; training rows come as `Training`, test rows as `HeldOut`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.kernels.compiling import inner, kernel

MOST_STEPS, MOST_ROUNDS = 40, 1000
EXACT = 1e-9  # Mean gradient at which a fit is done: far below scikit-learn's own tolerance.
LARGE = 1e200


@inner(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def add_up(columns, members, theta, z):
    """Write the decisions of rows."""
    for i in range(z.shape[0]):
        z[i] = theta[0]
    for a in range(1, theta.shape[0]):
        coefficient = theta[a]
        column = columns[members[a - 1]]
        for i in range(z.shape[0]):
            z[i] += coefficient * column[i]


@inner(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def _logistic(z, y, weights, slope, bend):
    """Write the first and second derivatives of the logistic loss of each row; return the sum of losses."""
    loss, product = 0.0, 1.0
    for i in range(z.shape[0]):
        small = np.exp(-abs(z[i]))
        share = 1.0 / (1.0 + small)
        if z[i] < 0.0:
            share = 1.0 - share
        # Of rows that count once, the sum of logarithms is the logarithm of a product.
        if weights[i] == 1.0:
            product *= 1.0 + small
        else:
            loss += weights[i] * np.log1p(small)
        if product > LARGE:
            loss += np.log(product)
            product = 1.0
        loss += weights[i] * (max(z[i], 0.0) - y[i] * z[i])
        slope[i] = weights[i] * (share - y[i])
        bend[i] = weights[i] * share * (1.0 - share)
    return loss + np.log(product)


@inner(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def _hinge(z, y, weights, slope, bend):
    """Write the derivatives of the squared hinge, (1 - sz)² where that is positive, s = ±1; return the sum."""
    loss = 0.0
    for i in range(z.shape[0]):
        side = 2.0 * y[i] - 1.0
        gap = max(1.0 - side * z[i], 0.0)
        loss += weights[i] * gap * gap
        slope[i] = -2.0 * weights[i] * side * gap
        bend[i] = 2.0 * weights[i] if gap > 0.0 else 0.0
    return loss


@inner(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def slopes(fit, fold, members, theta, work, gradient, hessian, hinge):
    """Write the gradient and the Hessian of the loss at theta; return the loss.

    hinge : True or None
        Whether the loss is the squared hinge; the other one is not compiled.
    """
    k, size = members.shape[0] + 1, fit.sizes[fold]
    columns, y, weights, ridge = fit.trains[fold], fit.y[fold], fit.weights[fold], fit.ridge
    z, slope, bend = work[0, :size], work[1, :size], work[2, :size]
    add_up(columns, members, theta, z)
    total, curve = 0.0, 0.0
    loss = _logistic(z, y, weights, slope, bend) if hinge is None else _hinge(z, y, weights, slope, bend)
    # The gradient is Σ slope x + ridge θ, the Hessian Σ bend x xᵀ + ridge; only the hinge's constant has a ridge.
    for i in range(size):
        total += slope[i]
        curve += bend[i]
    gradient[0] = total
    hessian[0, 0] = curve
    if hinge is not None:
        gradient[0] += ridge * theta[0]
        hessian[0, 0] += ridge
        loss += 0.5 * ridge * theta[0] ** 2
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


@kernel(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def mean_loss(theta, fit, fold, members, work, gradient):
    """Write the gradient of the loss a row; return that loss: what scikit-learn hands to L-BFGS."""
    size, total = fit.sizes[fold], fit.totals[fold]
    z, slope = work[0, :size], work[1, :size]
    add_up(fit.trains[fold], members, theta, z)
    loss = _logistic(z, fit.y[fold], fit.weights[fold], slope, work[2, :size])
    pull = 0.0
    for i in range(size):
        pull += slope[i]
    gradient[0] = pull / total
    for a in range(1, theta.shape[0]):
        column, pull = fit.trains[fold][members[a - 1]], fit.ridge * theta[a]
        for i in range(size):
            pull += slope[i] * column[i]
        gradient[a] = pull / total
        loss += 0.5 * fit.ridge * theta[a] ** 2
    return loss / total


@inner(counted=False)
def factor(hessian, k):
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


@inner(counted=False)
def solve(lower, k, right):
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


@inner(counted=False)
def _climb_with_lengths(fit, fold, members, theta, work, gradient, hessian, room):
    """Fit with a price on absolute coefficients: each step minimises the quadratic model and the price together.

    The factor that is left behind is that of the coefficients that are not 0; the others do not move.
    """
    k, price, step, after = members.shape[0] + 1, fit.length, room[0], room[1]
    loss = slopes(fit, fold, members, theta, work, gradient, hessian, None)
    for a in range(k):
        loss += price * abs(theta[a])
    for _ in range(MOST_STEPS):
        steepest = 0.0
        for a in range(k):
            off = abs(gradient[a] + np.copysign(price, theta[a])) if theta[a] != 0.0 else abs(gradient[a]) - price
            steepest = max(steepest, off)
        if steepest <= EXACT * fit.totals[fold]:
            for a in range(k):
                if theta[a] == 0.0:
                    for b in range(k):
                        hessian[max(a, b), min(a, b)] = 0.0
                    hessian[a, a] = LARGE
            return factor(hessian, k)
        for a in range(k):
            after[a] = theta[a]
        _minimise_model(gradient, hessian, theta, after, price)
        for a in range(k):
            step[a] = after[a] - theta[a]
        new, halvings = np.inf, 0
        while new > loss + 1e-10 * abs(loss) + 1e-14 * fit.sizes[fold] and halvings < 20:
            for a in range(k):
                after[a] = theta[a] + step[a]
                step[a] *= 0.5
            new = slopes(fit, fold, members, after, work, gradient, hessian, None)
            for a in range(k):
                new += price * abs(after[a])
            halvings += 1
        loss = new
        for a in range(k):
            theta[a] = after[a]
    return False


@inner(counted=False)
def _minimise_model(gradient, hessian, theta, after, price):
    """Move `after` to the minimum of the quadratic model at theta and the price, one coefficient at a time."""
    k, largest = theta.shape[0], 1.0
    for _ in range(MOST_ROUNDS):
        largest = 0.0
        for a in range(k):
            pull = -gradient[a]
            for b in range(k):
                pull -= (hessian[a, b] if b <= a else hessian[b, a]) * (after[b] - theta[b])
            bend, before = hessian[a, a] + 1e-12, after[a]
            pull += bend * before
            after[a] = 0.0 if abs(pull) <= price else (pull - np.copysign(price, pull)) / bend
            largest = max(largest, abs(after[a] - before))
        if largest < 1e-11:
            return


@kernel(counted=False)
def climb(fit, fold, members, theta, work, gradient, hessian, room, hinge, lengths):
    """Fit from a start by Newton's steps, halved where the loss would rise; leave the factor of the Hessian behind.

    room : (2, k + 1)
    hinge : True or None
        Whether the loss is the squared hinge.
    lengths : True or None
        Whether absolute coefficients have a price; the code for it is compiled where they have.
    """
    if lengths is not None:
        return _climb_with_lengths(fit, fold, members, theta, work, gradient, hessian, room)
    k, step, loss, halvings, n_steps = members.shape[0] + 1, room[0], np.inf, 0, 0
    while n_steps < MOST_STEPS:
        new = slopes(fit, fold, members, theta, work, gradient, hessian, hinge)
        # The loss is convex, so a small enough step lowers it.
        if new > loss + 1e-10 * abs(loss) + 1e-14 * fit.sizes[fold] and halvings < 20:
            for a in range(k):
                step[a] *= 0.5
                theta[a] += step[a]
            halvings += 1
            continue
        if not factor(hessian, k):
            return False
        loss, halvings, steepest = new, 0, 0.0
        for a in range(k):
            steepest = max(steepest, abs(gradient[a]))
            step[a] = gradient[a]
        if steepest <= EXACT * fit.totals[fold]:
            return True
        solve(hessian, k, step)
        for a in range(k):
            theta[a] -= step[a]
        n_steps += 1
    return False


@kernel(counted=False)
def predict(theta, members, rows, fold, lower, slack, out, open_rows, x):
    """Write the decisions of test rows; mark those that are nearer to zero than the slack of another solver allows.

    At a point where the gradient is at most g in every direction, a decision is off by g ‖H⁻¹x‖₁ at most.
    """
    k = members.shape[0] + 1
    for i in range(rows.bounds[fold], rows.bounds[fold + 1]):
        total = theta[0]
        for a in range(1, k):
            total += theta[a] * rows.columns[members[a - 1], i]
        out[i, 0], out[i, 1] = 0.0, total
        if slack > 0.0 and abs(total) < 1.0:
            x[0] = 1.0
            for a in range(1, k):
                x[a] = rows.columns[members[a - 1], i]
            solve(lower, k, x)
            reach = 0.0
            for a in range(k):
                reach += abs(x[a])
            open_rows[i] = abs(total) <= slack * reach


@kernel(counted=False)
def predict_added(members, added, rows, fit, tolerance, start, out, open_rows, sure, scratch, hinge, lengths):
    """Predict from the members and each of `added`, one at a time: (q, n, 2).

    `start` holds the members' own coefficients, (f, k + 1); `tolerance` is the other solver's mean gradient. `members`
    has room for one more, and `scratch` is that of `room_for`.
    """
    theta, gradient, hessian, room, work = scratch
    k = members.shape[0] + 1
    for fold in range(rows.bounds.shape[0] - 1):
        for q in range(added.shape[0]):
            members[k - 2] = added[q]
            for a in range(k - 1):
                theta[a] = start[fold, a]
            theta[k - 1] = 0.0
            sure[q, fold] = climb(fit, fold, members, theta, work, gradient, hessian, room, hinge, lengths)
            if sure[q, fold]:
                slack = tolerance * fit.totals[fold]
                predict(theta, members, rows, fold, hessian, slack, out[q], open_rows[q], room[0])


@kernel(counted=False)
def predict_with_reach(members, added, rows, fit, slack, start, out, reach, sure, scratch):
    """Do the same for one class against the others: decisions (q, n), and how far off another solver's may be, (q, n).

    slack : (f,) float64
        The largest gradient at which the other solver stops.
    """
    theta, gradient, hessian, room, work = scratch
    k, x = members.shape[0] + 1, room[0]
    for fold in range(rows.bounds.shape[0] - 1):
        for q in range(added.shape[0]):
            members[k - 2] = added[q]
            for a in range(k - 1):
                theta[a] = start[fold, a]
            theta[k - 1] = 0.0
            sure[q, fold] &= climb(fit, fold, members, theta, work, gradient, hessian, room, True, None)
            for i in range(rows.bounds[fold], rows.bounds[fold + 1]):
                x[0], total = 1.0, theta[0]
                for a in range(1, k):
                    x[a] = rows.columns[members[a - 1], i]
                    total += theta[a] * x[a]
                out[q, i] = total
                solve(hessian, k, x)
                reach[q, i] = 0.0
                for a in range(k):
                    reach[q, i] += slack[fold] * abs(x[a])


def room_for(fit: Any, k: int) -> tuple[Any, ...]:
    """Return room for a fit of k coefficients, the constant among them: theta, gradient, Hessian, two more, rows."""
    return np.empty(k), np.empty(k), np.empty((k, k)), np.empty((2, k)), np.empty((3, fit.trains.shape[2]))


def _needs(fit: Any) -> tuple[Any, Any]:
    """Return `hinge` and `lengths`: what a fit has no use for is not compiled."""
    return fit.hinge or None, bool(fit.length) or None


def fit_members(members: Any, fit: Any, start: Any) -> None:
    """Fit the members in every fold: (f, k + 1) coefficients."""
    _, gradient, hessian, room, work = room_for(fit, len(members) + 1)
    for fold in range(len(start)):
        start[fold] = 0.0
        climb(fit, fold, members, start[fold], work, gradient, hessian, room, *_needs(fit))


def predict_one_more(members: Any, added: Any, rows: Any, fit: Any, *given: Any) -> None:
    """Call `predict_added` with the room that it needs."""
    longer, scratch = np.append(members, 0), room_for(fit, len(members) + 2)
    predict_added(longer, added, rows, fit, *given, scratch, *_needs(fit))


@inner(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def weight_right(decisions, y, weights, low, high):
    """Return the weight of the rows low … high − 1 whose own class has the largest of (n, c) decisions."""
    right = 0.0
    for i in range(low, high):
        best = 0
        for a in range(1, decisions.shape[1]):
            if decisions[i, a] > decisions[i, best]:
                best = a
        if best == int(y[i]):
            right += weights[i]
    return right


@kernel(counted=False)
def add_slopes(fit, rows, judged, members, theta, asked, scratch, sums):
    """Add what some rows have in the loss, the gradient and the Hessian of many fits, and held-out rows in the score.

    members : (m, k) int64, theta : (m, f, 1, k + 1), asked : (m, f) bool
        The fits, their coefficients, and in which folds they are asked for.
    judged : (y, weights) of the held-out rows
    sums : (loss, gradient, hessian, right)
        Of each fit in each fold; of a Hessian the lower half.
    """
    gradient, hessian, work, decisions, open_rows = scratch
    y, weights = judged
    loss, gradients, hessians, right = sums
    k = theta.shape[3]
    for fold in range(asked.shape[1]):
        low, high = rows.bounds[fold], rows.bounds[fold + 1]
        for q in range(members.shape[0]):
            if not asked[q, fold]:
                continue
            own = theta[q, fold, 0]
            loss[q, fold] += slopes(fit, fold, members[q], own, work, gradient, hessian, None)
            for a in range(k):
                gradients[q, fold, a] += gradient[a]
                for b in range(a + 1):
                    hessians[q, fold, a, b] += hessian[a, b]
            predict(own, members[q], rows, fold, hessian, 0.0, decisions, open_rows, gradient)
            right[q, fold] += weight_right(decisions, y, weights, low, high)
