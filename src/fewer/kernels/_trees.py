"""Extremely randomised trees that predict other rows while they grow (Geurts, Ernst and Wehenkel, 2006).

A tree is never stored: test rows go down with the training rows. All targets are split together by the variance that a
cut removes, which for class memberships is Gini's index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fewer.kernels._compiling import inner
from fewer.problem import FloatArray


@inner()
def _next(state: Any) -> Any:
    """Draw 64 random bits (xorshift64*)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@inner()
def _below(state: Any, n: int) -> Any:
    return np.int64((_next(state) >> np.uint64(33)) % np.uint64(n))


@inner()
def _share(state: Any) -> Any:
    return np.float64(_next(state) >> np.uint64(11)) / 9007199254740992.0


@inner()
def _push(stack, depth, low, high, first, last):
    """Put a node on the stack, number by number: whole rows would take seconds to compile."""
    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, high, first, last


@inner()
def _partition(rows: Any, low: int, high: int, column: Any, cut: float) -> Any:
    """Bring the rows at or below a cut to the front; return where the others begin."""
    i, j = low, high - 1
    while i <= j:
        if column[rows[i]] <= cut:
            i += 1
        else:
            rows[i], rows[j] = rows[j], rows[i]
            j -= 1
    return i


@inner()
def _gain(column: Any, cut: float, rows: Any, target: Any, weights: Any, left: Any, total: Any, mass: float) -> Any:
    """Return by how much a cut raises the sum of squared sums over masses; −1 if a side is empty."""
    left[:] = 0.0
    left_mass = 0.0
    for i in rows:
        if column[i] <= cut:
            w = weights[i]
            left_mass += w
            for c in range(target.shape[1]):
                left[c] += w * target[i, c]
    right_mass = mass - left_mass
    if left_mass <= 0.0 or right_mass <= 1e-12 * mass:
        return -1.0
    gain = 0.0
    for c in range(target.shape[1]):
        right = total[c] - left[c]
        gain += left[c] ** 2 / left_mass + right**2 / right_mass - total[c] ** 2 / mass
    return gain


@inner()
def _sum_up(rows: Any, target: Any, weights: Any, total: Any) -> Any:
    """Write the targets' sums over some rows; return the rows' mass and whether the targets differ in them."""
    total[:] = 0.0
    mass, squares = 0.0, 0.0
    for i in rows:
        mass += weights[i]
        for c in range(target.shape[1]):
            total[c] += weights[i] * target[i, c]
            squares += weights[i] * target[i, c] ** 2
    spread = squares
    for c in range(target.shape[1]):
        spread -= total[c] ** 2 / mass if mass > 0 else 0.0
    return mass, spread > 1e-9 * (squares + 1e-300)


@inner()
def _best_cut(
    train: Any, rows: Any, target: Any, weights: Any, inputs: Any, n_tried: int, sums: Any, state: Any
) -> Any:
    """Try one random cut of a few random inputs; return the best: its gain, input (−1: none) and place.

    `sums` are the targets' sums over the rows, room for those on one side, and the rows' mass.
    """
    total, left, mass = sums
    best, best_input, best_cut = 0.0, -1, 0.0
    tried, last_input = 0, len(inputs)
    while tried < n_tried and last_input > 0:
        pick = _below(state, last_input)
        last_input -= 1
        inputs[pick], inputs[last_input] = inputs[last_input], inputs[pick]
        column = train[inputs[last_input]]
        least, most = np.inf, -np.inf
        for i in rows:
            least, most = min(least, column[i]), max(most, column[i])
        if most <= least:
            continue
        tried += 1
        cut = least + _share(state) * (most - least)
        if cut >= most:
            cut = least
        gain = _gain(column, cut, rows, target, weights, left, total, mass)
        if gain > best:
            best, best_input, best_cut = gain, inputs[last_input], cut
    return best, best_input, best_cut


@njit(cache=True, nogil=True)
def grow(
    train: Any, test: Any, target: Any, weights: Any, n_trees: int, n_tried: int, leaf: int, seed: int
) -> tuple[Any, Any]:
    """Grow trees; return the mean prediction of the test rows and what each input gained in all.

    `train` and `test` hold inputs in rows, (n_inputs, n_rows), `target` is (n_train, n_targets).
    """
    q, n = train.shape
    m, width = test.shape[1], target.shape[1]
    outputs, gains = np.zeros((m, width)), np.zeros(q)
    state = np.array([np.uint64(seed) * np.uint64(2654435761) + np.uint64(88172645463325252)])
    rows, others, inputs = np.arange(n), np.arange(m), np.arange(q)
    stack = np.empty((2 * n + 64, 4), dtype=np.int64)
    total, left = np.empty(width), np.empty(width)
    for _ in range(n_trees):
        _push(stack, 0, 0, n, 0, m)
        depth = 1
        while depth:
            depth -= 1
            low, high, first, last = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
            mass, differ = _sum_up(rows[low:high], target, weights, total)
            best, best_input, best_cut = 0.0, -1, 0.0
            if high - low >= 2 * leaf and differ:
                best, best_input, best_cut = _best_cut(
                    train, rows[low:high], target, weights, inputs, n_tried, (total, left, mass), state
                )
            if best_input < 0:
                if mass > 0:
                    for i in others[first:last]:
                        for c in range(width):
                            outputs[i, c] += total[c] / mass
                continue
            gains[best_input] += best
            middle = _partition(rows, low, high, train[best_input], best_cut)
            between = _partition(others, first, last, test[best_input], best_cut)
            _push(stack, depth, low, middle, first, between)
            _push(stack, depth + 1, middle, high, between, last)
            depth += 2
    return outputs / n_trees, gains / n_trees


def random_trees(
    train: FloatArray, test: FloatArray, target: FloatArray, weights: FloatArray, *,
    n_trees: int, n_tried: int, leaf: int, seed: int,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Predict test rows by extremely randomised trees, and say what each input gained.

    Parameters
    ----------
    train, test : arrays of shape (n_train, n_inputs), (n_test, n_inputs)
    target : array of shape (n_train, n_targets)
    weights : array of shape (n_train,)
    n_trees, n_tried, leaf : int
        Trees; inputs that are tried at each cut, one cut each; rows below which twice as many are not cut.
    seed : int

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> outputs, gains = random_trees(X, X, (X > 9) * 1.0, np.ones(20), n_trees=50, n_tried=1, leaf=1, seed=0)
    >>> bool(((outputs > 0.5) == (X > 9)).all())
    True
    """
    return grow(
        np.ascontiguousarray(train.T), np.ascontiguousarray(test.T), np.ascontiguousarray(target),
        np.ascontiguousarray(weights), n_trees, max(n_tried, 1), leaf, seed,
    )  # fmt: skip
