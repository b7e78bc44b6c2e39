"""Extremely randomised trees that predict other rows while they grow (Geurts, Ernst and Wehenkel, 2006), and neighbors.

A tree is never stored: test rows go down with the training rows. All targets are split together by the variance that a
cut removes, which for class memberships is Gini's index.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.compiling import inner, kernel
from fewer.problem import FloatArray, IntArray

# Few functions, whole arrays and bounds instead of slices: each function and each slice costs tenths of a second of
# compilation, which a newcomer waits for.


class ForestGrowth(NamedTuple):
    """How trees grow."""

    n_trees: int
    n_tried: int  # Inputs that are tried at each cut, one cut each.
    leaf: int  # Twice as many rows are cut, fewer are not.


class ForestScratch(NamedTuple):
    """Arrays to work in."""

    rows: IntArray  # Training rows, those of a node together.
    others: IntArray  # Test rows, likewise.
    inputs: IntArray
    stack: IntArray  # Nodes that are left: where their training and test rows begin and end.
    total: FloatArray  # Sums of weighted targets over the rows of a node.
    left: FloatArray  # The same on one side of a cut, and the sum of weights.
    gathered: FloatArray  # Weighted targets of the rows of a node, and their weights last.
    values: FloatArray  # One input of the rows of a node.
    state: NDArray[np.uint64]  # Of the random numbers.


@inner(counted=False)
def _next(state):
    """Draw 64 random bits (xorshift64*)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@inner(counted=False)
def _partition(rows, low, high, columns, f, cut):
    """Bring the rows at or below a cut of column f to the front; return where the others begin."""
    i, j = low, high - 1
    while i <= j:
        if columns[f, rows[i]] <= cut:
            i += 1
        else:
            rows[i], rows[j] = rows[j], rows[i]
            j -= 1
    return i


@inner(counted=False)
def _best_cut(train, low, high, n_tried, mass, scratch):
    """Try one random cut of a few random inputs on rows[low:high]; return the best: gain, input (−1: none) and place.

    A gain is by how much a cut raises the sum of squared sums over masses; `mass` is the sum of weights over the rows.
    """
    rows, _, inputs, _, total, left, gathered, values, state = scratch
    best, best_input, best_cut = 0.0, -1, 0.0
    tried, last_input, width = 0, inputs.shape[0], total.shape[0]
    while tried < n_tried and last_input > 0:
        pick = np.int64((_next(state) >> np.uint64(33)) % np.uint64(last_input))
        last_input -= 1
        f = inputs[pick]
        inputs[pick], inputs[last_input] = inputs[last_input], f
        least, most = np.inf, -np.inf
        for r in range(low, high):
            value = train[f, rows[r]]
            values[r - low] = value
            least, most = value if value < least else least, value if value > most else most
        if most <= least:
            continue
        tried += 1
        cut = least + float(_next(state) >> np.uint64(11)) / 9007199254740992.0 * (most - least)
        if cut >= most:
            cut = least
        for c in range(0, left.shape[0], 3):
            one, two, three = 0.0, 0.0, 0.0
            for r in range(high - low):  # without a branch: on which side a row is cannot be foretold
                inside = 1.0 if values[r] <= cut else 0.0
                one += inside * gathered[c, r]
                two += inside * gathered[c + 1, r]
                three += inside * gathered[c + 2, r]
            left[c], left[c + 1], left[c + 2] = one, two, three
        left_mass = left[width]
        right_mass, gain = mass - left_mass, 0.0
        if left_mass <= 0.0 or right_mass <= 1e-12 * mass:
            continue
        for c in range(width):
            right = total[c] - left[c]
            gain += left[c] * left[c] / left_mass + right * right / right_mass - total[c] * total[c] / mass
        if gain > best:
            best, best_input, best_cut = gain, f, cut
    return best, best_input, best_cut


@kernel(counted=False)
def grow(train, test, target, weights, growth, scratch, outputs, gains):
    """Grow trees; add the mean prediction of the test rows to `outputs` and what each input gained to `gains`.

    `train` and `test` hold inputs in rows, (n_inputs, n_rows), `target` is (n_train, n_targets), `outputs`
    (n_test, n_targets) and `gains` (n_inputs,).
    """
    rows, others, _, stack, total, _, gathered, _, _ = scratch
    n_trees, n_tried, leaf = growth
    n, m, width = rows.shape[0], others.shape[0], target.shape[1]
    for _ in range(n_trees):
        depth = 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n, 0, m
        while depth:
            depth -= 1
            low, high, first, last = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
            mass, squares = 0.0, 0.0
            for r in range(low, high):
                i, square = rows[r], 0.0
                mass += weights[i]
                gathered[width, r - low] = weights[i]
                for c in range(width):
                    gathered[c, r - low] = weights[i] * target[i, c]
                    square += weights[i] * (target[i, c] * target[i, c])
                squares += square
            for c in range(width):
                one = 0.0
                for r in range(high - low):
                    one += gathered[c, r]
                total[c] = one
            spread = squares
            for c in range(width):
                spread -= total[c] * total[c] / mass if mass > 0 else 0.0
            best, f, cut = 0.0, -1, 0.0
            if high - low >= 2 * leaf and spread > 1e-9 * (squares + 1e-300):
                best, f, cut = _best_cut(train, low, high, n_tried, mass, scratch)
            if f < 0:
                for r in range(first, last if mass > 0 else first):
                    for c in range(width):
                        outputs[others[r], c] += total[c] / mass
                continue
            gains[f] += best
            middle, between = _partition(rows, low, high, train, f, cut), _partition(others, first, last, test, f, cut)
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = low, middle, first, between
            depth += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = middle, high, between, last
            depth += 1


def random_trees(
    train: FloatArray, test: FloatArray, target: FloatArray, weights: FloatArray, *,
    n_trees: int, n_tried: int, leaf: int, seed: int,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Predict test rows by extremely randomised trees, and say what each input gained.

    Parameters
    ----------
    train, test : arrays of shape (n_train, n_inputs), (n_test, n_inputs)
        The inputs of the rows that fit and of those that are predicted.
    target : array of shape (n_train, n_targets)
        What is to be predicted.
    weights : array of shape (n_train,)
        How much each row counts.
    n_trees, n_tried, leaf : int
        Trees; inputs that are tried at each cut, one cut each; rows below which twice as many are not cut.
    seed : int
        Of all that is random.

    Examples
    --------
    >>> X = np.arange(20.0)[:, None]
    >>> outputs, gains = random_trees(X, X, (X > 9) * 1.0, np.ones(20), n_trees=50, n_tried=1, leaf=1, seed=0)
    >>> bool(((outputs > 0.5) == (X > 9)).all())
    True
    """
    (n, n_inputs), width = train.shape, target.shape[1]
    state = np.array([(int(seed) * 2654435761 + 88172645463325252) % 2**64], dtype=np.uint64)
    threes = -(-(width + 1) // 3) * 3
    scratch = ForestScratch(
        np.arange(n), np.arange(len(test)), np.arange(n_inputs), np.empty((2 * n + 64, 4), dtype=np.int64),
        np.empty(width), np.empty(threes), np.zeros((threes, n)), np.empty(n), state,
    )  # fmt: skip
    outputs, gains = np.zeros((len(test), width)), np.zeros(n_inputs)
    grow(
        np.ascontiguousarray(train.T), np.ascontiguousarray(test.T), np.ascontiguousarray(target),
        np.ascontiguousarray(weights), ForestGrowth(n_trees, max(n_tried, 1), leaf), scratch, outputs, gains,
    )  # fmt: skip
    return outputs / n_trees, gains / n_trees


@kernel(counted=False)
def nearest_sums(distances, target, weights, near_d, near, out):
    """Sum weights and weighted targets over the nearest training rows of each test row; of equal ones the first.

    `distances` is (n_test, n_train), `near_d` and `near` are scratch of the number of neighbors, `out` gets the sums of
    each target and last that of the weights, (n_test, n_targets + 1). Distances within 1e-9 count as equal, so that the
    last bits of a matrix product do not choose.
    """
    n, width, k = distances.shape[1], target.shape[1], near_d.shape[0]
    for i in range(distances.shape[0]):
        count = 0
        for j in range(n):
            d = distances[i, j]
            if count == k and not d < near_d[k - 1] - 1e-9:
                continue
            place = count if count < k else k - 1
            while place > 0 and d < near_d[place - 1] - 1e-9:
                near_d[place], near[place] = near_d[place - 1], near[place - 1]
                place -= 1
            near_d[place], near[place] = d, j
            count += count < k
        for c in range(width + 1):
            out[i, c] = 0.0
        for place in range(count):
            j = near[place]
            for c in range(width):
                out[i, c] += weights[j] * target[j, c]
            out[i, width] += weights[j]
