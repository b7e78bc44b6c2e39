"""Support vector machines with a Gaussian kernel by sequential minimal optimisation, from squared distances.

The steps are those of LIBSVM without shrinking: the pair of rows by second-order information (Fan, Chen and Lin, 2005),
the last of equals, kernel values in single precision, sums in double. A candidate column adds its part to the distances
on the way to the kernel, and kernel values are computed only for rows that a step needs.
"""

from __future__ import annotations

import math

import numpy as np

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import get, largest_float, power_of_two, put

LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93145751953125e-1, 1.42860682030941723212e-6
TAYLOR = tuple(1.0 / math.factorial(k) for k in range(12, -1, -1))  # of the exponential, the last term first
MOST_STEPS = 100_000
FLAT = 1e-12  # Stands for a curvature that is not positive.


@inner()
def _kernel_row(distances, first, n, column, value, gamma, out, place):
    """Write exp(-gamma · (distance + the new column's part)) of n rows in single precision.

    The exponential is a power of two and a series of 13 terms, which loops do on whole vectors.
    """
    for t in range(n):
        gap = get(column, t) - value
        x = -gamma * (get(distances, first + t) + gap * gap)
        x = x if x > -700.0 else -700.0
        # x = k ln 2 + r with |r| ≤ ½ ln 2; ln 2 in two parts keeps the digits of r (Cody and Waite).
        k = np.floor(x * LOG2_E + 0.5)
        r = (x - k * LN2_HIGH) - k * LN2_LOW
        total = 0.0
        for share in TAYLOR:
            total = total * r + share
        put(out, place + t, np.float32(total * power_of_two(np.int64(k))))


@inner()
def _last_largest(values, n):
    """Return the place of the largest value, the last one that has it."""
    top = -np.inf
    for t in range(n):
        top = largest_float(get(values, t), top)
    t = n - 1
    while t > 0 and get(values, t) != top:
        t -= 1
    return t


@inner()
def _open_sides(alpha, cost, y, t, up, low):
    """Note whether a row's coefficient may still grow or shrink, in the direction of its class: 0, or -inf if not."""
    may_grow, may_shrink = alpha[t] < cost[t], alpha[t] > 0.0
    if y[t] < 0.0:
        may_grow, may_shrink = may_shrink, may_grow
    up[t] = 0.0 if may_grow else -np.inf
    low[t] = 0.0 if may_shrink else -np.inf


@inner()
def _move_pair(alpha, cost, y, i, j, delta):
    """Move two coefficients by the best step that keeps both between zero and their cost."""
    a, b = alpha[i], alpha[j]
    if y[i] != y[j]:
        gap = a - b
        a, b = a + y[i] * delta, b + y[i] * delta
        if gap > 0.0 and b < 0.0:
            a, b = gap, 0.0
        elif gap <= 0.0 and a < 0.0:
            a, b = 0.0, -gap
        if gap > cost[i] - cost[j] and a > cost[i]:
            a, b = cost[i], cost[i] - gap
        elif gap <= cost[i] - cost[j] and b > cost[j]:
            a, b = cost[j] + gap, cost[j]
    else:
        total = a + b
        a, b = a + y[i] * delta, b - y[i] * delta
        if total > cost[i] and a > cost[i]:
            a, b = cost[i], total - cost[i]
        elif total <= cost[i] and b < 0.0:
            a, b = total, 0.0
        if total > cost[j] and b > cost[j]:
            a, b = total - cost[j], cost[j]
        elif total <= cost[j] and a < 0.0:
            a, b = 0.0, total
    alpha[i], alpha[j] = a, b


@inner()
def _offset(alpha, cost, y, slopes):
    """Return the constant: the mean over free rows, or the middle of what the others allow."""
    n_free, total, high, low = 0, 0.0, np.inf, -np.inf
    for t in range(y.shape[0]):
        value = -slopes[t]
        is_full, is_empty = alpha[t] >= cost[t], alpha[t] <= 0.0
        if not is_full and not is_empty:
            n_free += 1
            total += value
        elif is_full == (y[t] < 0.0):
            high = min(high, value)
        else:
            low = max(low, value)
    return total / n_free if n_free else (high + low) / 2.0


@kernel()
def separate(distances, column, y, cost, gamma, tolerance, decisions):
    """Fit two classes and write the decisions of the test rows, positive for the rows of +1; False if it did not end.

    Parameters
    ----------
    distances : array of shape (n · (n + m),)
        Squared distances from each training row to all rows, the training rows first.
    column : array of shape (n + m,)
        A further column, which is added to the distances.
    y, cost : arrays of shape (n,)
        +1 and -1, rows of +1 first; the largest coefficient of each row.
    gamma, tolerance : float
        The kernel's width and the largest violation that is left.
    decisions : array of shape (m,)
        Filled with the decision values.
    """
    n, width = y.shape[0], column.shape[0]
    kernel, known, alpha = np.empty(max(n * n, width - n), np.float32), np.zeros(n, np.bool_), np.zeros(n)
    # slopes[t] = −y_t G_t, G being the dual's gradient Qα − 1; at α = 0 that is y_t.
    slopes, up, low = y.copy(), np.empty(n), np.empty(n)
    most, gains = np.empty(n), np.empty(n)
    for t in range(n):
        _open_sides(alpha, cost, y, t, up, low)
    for step in range(MOST_STEPS + 1):
        for t in range(n):
            put(most, t, get(slopes, t) + get(up, t))
        # The row that violates the conditions of the optimum most.
        i = _last_largest(most, n)
        top = most[i]
        if not known[i]:
            _kernel_row(distances, i * width, n, column, column[i], gamma, kernel, i * n)
            known[i] = True
        for t in range(n):
            least = get(low, t) - get(slopes, t)
            put(most, t, least)
            gap = top + least
            # A step on (i, t) gains gap² / (K_ii + K_tt − 2 K_it), and K_ii = 1 for a Gaussian kernel.
            bend = 2.0 - 2.0 * get(kernel, i * n + t)
            bend = bend if bend > 0.0 else FLAT
            put(gains, t, (gap * gap) / bend if gap > 0.0 else -1.0)
        j = _last_largest(gains, n)
        if top + most[_last_largest(most, n)] < tolerance or gains[j] < 0.0:
            break
        if step == MOST_STEPS:
            return False
        if not known[j]:
            _kernel_row(distances, j * width, n, column, column[j], gamma, kernel, j * n)
            known[j] = True
        bend = 2.0 - 2.0 * kernel[i * n + j]
        before = alpha[i], alpha[j]
        _move_pair(alpha, cost, y, i, j, (top - slopes[j]) / (bend if bend > 0.0 else FLAT))
        move, other = (alpha[i] - before[0]) * y[i], (alpha[j] - before[1]) * y[j]
        # G changes by Q's columns i and j times their steps.
        for t in range(n):
            put(slopes, t, get(slopes, t) - (get(kernel, i * n + t) * move + get(kernel, j * n + t) * other))
        _open_sides(alpha, cost, y, i, up, low)
        _open_sides(alpha, cost, y, j, up, low)
    decisions[:] = -_offset(alpha, cost, y, slopes)
    for i in range(n):
        if alpha[i] > 0.0:
            _kernel_row(distances, i * width + n, width - n, column[n:], column[i], gamma, kernel, 0)
            for t in range(width - n):
                decisions[t] += alpha[i] * y[i] * kernel[t]
    return True


@kernel()
def add_column(distances, n, column):
    """Add a column's part to squared distances from each of n rows to all rows."""
    for i in range(n):
        for t in range(column.shape[0]):
            gap = get(column, t) - column[i]
            place = i * column.shape[0] + t
            put(distances, place, get(distances, place) + gap * gap)
