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
MEMORY, SLOTS = 10, 11  # Moves that L-BFGS remembers, and these with the one that it makes.
EPS = float(np.finfo(np.float64).eps)
LEAST_GAIN = 64.0 * EPS  # Share of the loss at whose gain scikit-learn stops.


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
def _descent(theta, fit, fold, members, work, gradient, hinge, share):
    """Write a share of the gradient of the loss at theta; return that share of the loss.

    The rows' own derivatives are left behind in `work`: Σ slope x + ridge θ is the gradient.
    """
    size, ridge = fit.sizes[fold], fit.ridge
    columns, y, weights = fit.trains[fold], fit.y[fold], fit.weights[fold]
    z, slope, bend = work[0, :size], work[1, :size], work[2, :size]
    add_up(columns, members, theta, z)
    loss = _logistic(z, y, weights, slope, bend) if hinge is None else _hinge(z, y, weights, slope, bend)
    pull = 0.0
    if hinge is not None:  # whose constant has a ridge
        pull = ridge * theta[0]
        loss += 0.5 * ridge * theta[0] ** 2
    for i in range(size):
        pull += slope[i]
    gradient[0] = pull * share
    for a in range(1, theta.shape[0]):
        column, pull = columns[members[a - 1]], ridge * theta[a]
        for i in range(size):
            pull += slope[i] * column[i]
        gradient[a] = pull * share
        loss += 0.5 * ridge * theta[a] ** 2
    return loss * share


@inner(counted=False, fastmath={"contract", "reassoc", "nsz", "arcp"})
def slopes(fit, fold, members, theta, work, gradient, hessian, hinge):
    """Write the gradient of the loss at theta and the Hessian, Σ bend x xᵀ + ridge; return the loss.

    hinge : True or None
        Whether the loss is the squared hinge; the other one is not compiled.
    """
    loss = _descent(theta, fit, fold, members, work, gradient, hinge, 1.0)
    size, columns = fit.sizes[fold], fit.trains[fold]
    z, bend = work[0, :size], work[2, :size]
    curve = 0.0 if hinge is None else fit.ridge
    for i in range(size):
        curve += bend[i]
    hessian[0, 0] = curve
    for a in range(1, theta.shape[0]):
        column, curve = columns[members[a - 1]], 0.0
        for i in range(size):
            z[i] = bend[i] * column[i]
            curve += z[i]
        hessian[a, 0] = curve
        for b in range(1, a + 1):
            other, curve = columns[members[b - 1]], 0.0
            for i in range(size):
                curve += z[i] * other[i]
            hessian[a, b] = curve
        hessian[a, a] += fit.ridge
    return loss


@inner(counted=False)
def _dot(left, right):
    total = 0.0
    for a in range(left.shape[0]):
        total += left[a] * right[a]
    return total


@inner(counted=False)
def _next_length(at, loss, slope, low, low_loss, low_slope):
    """Return the length to try after `at` by Moré and Thuente's rules; `low` is the best so far."""
    back = low - at
    rise = (loss - low_loss) / back
    bend = 3.0 * rise + low_slope + slope
    scale = max(abs(bend), abs(low_slope), abs(slope))
    root = (bend / scale) ** 2 - low_slope / scale * (slope / scale)
    root = np.copysign(scale * np.sqrt(max(root, 0.0)), back)
    cubic = at + (root - slope + bend) / (root - slope + root + low_slope) * back
    if loss > low_loss:
        parabola = low - low_slope / (rise + low_slope) / 2.0 * back
        return cubic if abs(cubic - low) < abs(parabola - low) else cubic + (parabola - cubic) / 2.0
    secant = at + slope / (slope - low_slope) * back
    return cubic if abs(cubic - at) > abs(secant - at) else secant


@inner(counted=False)
def _search_along(direction, length, loss, fit, fold, members, before, theta, work, gradient):
    """Move theta along a direction as Moré and Thuente do; return the length, the loss and the slope there.

    The length is 0 where a third trial does not end the search, or one is not beyond the minimum: that is rare.
    """
    first_loss, first_slope, low, high = loss, _dot(gradient, direction), 0.0, 0.0
    low_loss, low_slope = first_loss, first_slope
    for _ in range(3):
        for a in range(theta.shape[0]):
            theta[a] = before[a] + length * direction[a]
        loss = _descent(theta, fit, fold, members, work, gradient, None, 1.0 / fit.totals[fold])
        slope, is_lower = _dot(gradient, direction), loss <= low_loss
        is_enough = loss <= first_loss + 1e-3 * length * first_slope
        if is_enough and abs(slope) <= -0.9 * first_slope:
            return length, loss, slope
        if is_lower and (not is_enough or slope * low_slope >= 0.0):
            break
        following = _next_length(length, loss, slope, low, low_loss, low_slope)
        high = low if is_lower else length
        if is_lower:
            low, low_loss, low_slope = length, loss, slope
        length, longest = following, max(low, high)
        if not min(low, high) < length < longest or abs(high - low) <= 0.1 * longest:
            break
    return 0.0, loss, 0.0


@kernel(counted=False)
def descend(fit, fold, members, theta, work, room, tolerance, most_steps):
    """Take the steps of SciPy's L-BFGS-B without bounds, from theta; say whether they came to its end.

    room : (2 SLOTS + 5, max(k, SLOTS))
    """
    k, last_loss, ratio = theta.shape[0], np.nan, 1.0
    gradient, direction, before, shares, products = room[0, :k], room[1, :k], room[2, :k], room[3], room[4]
    moves, changes = room[5 : 5 + SLOTS, :k], room[5 + SLOTS :, :k]
    loss = _descent(theta, fit, fold, members, work, gradient, None, 1.0 / fit.totals[fold])
    for step in range(most_steps):
        steepest, j = 0.0, step % SLOTS
        for a in range(k):
            steepest = max(steepest, abs(gradient[a]))
            before[a], direction[a], changes[j, a] = theta[a], -gradient[a], -gradient[a]
        if steepest <= tolerance or last_loss - loss <= LEAST_GAIN * max(last_loss, loss, 1.0):
            return True
        # Nocedal's two loops: minus the gradient times the estimate of the inverse Hessian that the last moves make.
        oldest = max(step - MEMORY, 0)
        for i in range(step - 1, oldest - 1, -1):
            shares[i % SLOTS] = _dot(moves[i % SLOTS], direction) / products[i % SLOTS]
            for a in range(k):
                direction[a] -= shares[i % SLOTS] * changes[i % SLOTS, a]
        for a in range(k):
            direction[a] *= ratio
        for i in range(oldest, step):
            share = shares[i % SLOTS] - _dot(changes[i % SLOTS], direction) / products[i % SLOTS]
            for a in range(k):
                direction[a] += share * moves[i % SLOTS, a]
        last_loss, slope = loss, _dot(gradient, direction)
        length = 1.0 if step else min(1.0 / np.sqrt(_dot(direction, direction)), 1e10)
        length, loss, new_slope = _search_along(
            direction, length, loss, fit, fold, members, before, theta, work, gradient
        )
        products[j] = (new_slope - slope) * length
        if products[j] <= EPS * -slope * length:
            return False
        for a in range(k):
            changes[j, a] += gradient[a]
            moves[j, a] = length * direction[a]
        ratio = products[j] / _dot(changes[j], changes[j])
    return False


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
    k, price = theta.shape[0], fit.length
    step, after = room[0, :k], room[1, :k]
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


@inner(counted=False)
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


@inner(counted=False)
def predict(theta, members, rows, fold, lower, slack, out, x):
    """Write how far off another solver's decisions of test rows may be, and the decisions.

    At a point where the gradient is at most g in every direction, a decision is off by g ‖H⁻¹x‖₁ at most.
    """
    k = members.shape[0] + 1
    for i in range(rows.bounds[fold], rows.bounds[fold + 1]):
        x[0], total, reach = 1.0, theta[0], 0.0
        for a in range(1, k):
            x[a] = rows.columns[members[a - 1], i]
            total += theta[a] * x[a]
        if slack > 0.0:
            solve(lower, k, x)
            for a in range(k):
                reach += slack * abs(x[a])
        out[i, 0], out[i, 1] = reach, total


@kernel(counted=False)
def predict_added(members, added, rows, fit, slack, out, sure, scratch, hinge, lengths):
    """Predict from the members and each of `added`, one at a time, each from the fit of the members alone.

    members : (k + 1,) int64
        With room for one more.
    slack : (f,) float64
        The largest gradient at which the other solver stops; 0 if it does not matter.
    out : (q, n, 2)
        How far off the other solver's decisions may be, and the decisions.
    """
    theta, gradient, hessian, room, work = scratch
    k, start = theta.shape[0], room[2]
    for fold in range(rows.bounds.shape[0] - 1):
        start[:] = 0.0
        climb(fit, fold, members[: k - 2], start[: k - 1], work, gradient, hessian, room, hinge, lengths)
        for q in range(added.shape[0]):
            members[k - 2] = added[q]
            for a in range(k):
                theta[a] = start[a]
            converged = climb(fit, fold, members, theta, work, gradient, hessian, room, hinge, lengths)
            sure[q, fold] &= converged
            if converged:
                predict(theta, members, rows, fold, hessian, slack[fold], out[q], room[0])


def predict_one_more(members: Any, added: Any, rows: Any, fit: Any, *given: Any) -> None:
    """Call `predict_added` with the room that it needs; what a fit has no use for is not compiled."""
    k = len(members) + 2
    room = np.empty(k), np.empty(k), np.empty((k, k)), np.empty((3, k)), np.empty((3, fit.trains.shape[2]))
    predict_added(np.append(members, 0), added, rows, fit, *given, room, fit.hinge or None, bool(fit.length) or None)


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
    gradient, hessian, work, decisions, _ = scratch
    y, weights = judged
    loss, gradients, hessians, right = sums
    k = theta.shape[3]
    for fold in range(asked.shape[1]):
        low, high = rows.bounds[fold], rows.bounds[fold + 1]
        for q in range(members.shape[0]):
            if not asked[q, fold]:
                continue
            coefficients = theta[q, fold, 0]
            loss[q, fold] += slopes(fit, fold, members[q], coefficients, work, gradient, hessian, None)
            for a in range(k):
                gradients[q, fold, a] += gradient[a]
                for b in range(a + 1):
                    hessians[q, fold, a, b] += hessian[a, b]
            predict(coefficients, members[q], rows, fold, hessian, 0.0, decisions, gradient)
            right[q, fold] += weight_right(decisions, y, weights, low, high)
