"""Classification trees with the best cuts by Gini's index, as scikit-learn grows them, on columns sorted once.

Rows count whole numbers of times, so that all sums are exact and the order of rows does not matter; columns are drawn
by scikit-learn's own generator in its own order, which decides among equal cuts. So trees are the same to the bit. Each
column's rows stay sorted while nodes are split, so that nothing is sorted twice, and test rows go down with the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.compiling import inner, kernel
from fewer.problem import IntArray

APART = np.float32(1e-7)  # Values that are not further apart are equal.
EPSILON = np.finfo(np.float64).eps
# Columns of the stack of open nodes; the last is the column of the cut that the node comes from, plus one.
START, STOP, TEST_START, TEST_STOP, DEPTH, N_CONSTANT, PARENT = range(7)


class SortedColumns(NamedTuple):
    """Columns of training and test rows."""

    train: NDArray[np.float32]  # (p, n)
    orders: NDArray[np.int32]  # (p, n): rows by size, of each column.
    test: NDArray[np.float32]  # (p, m)
    codes: IntArray  # (n,): classes


class Limits(NamedTuple):
    """When nodes are split."""

    n_tried: int
    smallest: int
    leaf: int
    deepest: int


class TreeRoom(NamedTuple):
    """Arrays to work in."""

    orders: NDArray[np.int32]  # (p, n): rows of a tree by size, of each column.
    buffer: NDArray[np.int32]
    is_left: NDArray[np.bool_]
    others: IntArray  # (m,): test rows.
    features: IntArray  # (2, p)
    stack: IntArray  # Open nodes.
    sums: NDArray[np.float64]  # (3, n_classes)
    best: NDArray[np.float64]
    state: NDArray[np.uint32]

    @classmethod
    def of(cls, columns: SortedColumns, n_classes: int) -> TreeRoom:
        """Return arrays for trees on these columns."""
        p, n = columns.train.shape
        return cls(
            np.empty((p, n), np.int32), np.empty(n, np.int32), np.zeros(n, np.bool_),
            np.empty(columns.test.shape[1], np.int64), np.empty((2, p), np.int64),
            np.empty((n + 2, PARENT + 1), np.int64),
            np.empty((3, n_classes)), np.empty(2), np.empty(1, np.uint32),
        )  # fmt: skip


@inner(counted=False)
def _draw(state, low, high):
    """Draw a whole number from low to high - 1: xorshift of 32 bits, of which 31 are used."""
    x = state[0]
    if x == 0:
        x = np.uint32(1)
    x ^= np.uint32(x << np.uint32(13))
    x ^= np.uint32(x >> np.uint32(17))
    x ^= np.uint32(x << np.uint32(5))
    state[0] = x
    return low + np.int64(x & np.uint32(0x7FFFFFFF)) % (high - low)


@inner(counted=False)
def _impurity(sums, weight):
    """Return Gini's index of weighted counts of classes."""
    squares = 0.0
    for c in range(sums.shape[0]):
        squares += sums[c] * sums[c]
    return 1.0 - squares / (weight * weight)


@inner(counted=False)
def _scan(values, order, start, stop, codes, counts, sums, leaf, best):
    """Look for a cut of one column that is better than the best; say whether there is one.

    `sums` has three rows: of the node, of the left side, of the right side. `best` is (proxy, position).
    """
    total, left = 0.0, 0.0
    for c in range(sums.shape[1]):
        total += sums[0, c]
        sums[1, c] = 0.0
    better = False
    value = values[order[start]]
    for i in range(start, stop - 1):
        row = order[i]
        sums[1, codes[row]] += counts[row]
        left += counts[row]
        following = values[order[i + 1]]
        is_tied = following <= value + APART
        value = following
        if is_tied or i + 1 - start < leaf or stop - i - 1 < leaf:
            continue
        right, left_squares, right_squares = total - left, 0.0, 0.0
        for c in range(sums.shape[1]):
            rest = sums[0, c] - sums[1, c]
            left_squares += sums[1, c] * sums[1, c]
            right_squares += rest * rest
        # −n_R G_R − n_L G_L: the decrease of impurity up to what all cuts of the node share.
        proxy = -right * (1.0 - right_squares / (right * right)) - left * (1.0 - left_squares / (left * left))
        if proxy > best[0]:
            best[0], best[1] = proxy, i + 1
            better = True
    return better


@inner(counted=False)
def _best_column(columns, orders, node, counts, sums, limits, features, best, state):
    """Draw columns without replacement until enough were tried; return the column of the best cut or -1.

    `features` has two rows: all columns, known constant ones first; and the constant ones found on the way down.
    """
    start, stop, n_known = node[START], node[STOP], node[N_CONSTANT]
    n_open, n_visited, n_found, n_drawn, column = features.shape[1], 0, 0, 0, -1
    best[0], best[1] = -np.inf, stop
    while n_open > n_known + n_found and (n_visited < limits.n_tried or n_visited <= n_found + n_drawn):
        n_visited += 1
        j = _draw(state, n_drawn, n_open - n_found)
        if j < n_known:
            features[0, n_drawn], features[0, j] = features[0, j], features[0, n_drawn]
            n_drawn += 1
            continue
        j += n_found
        f = features[0, j]
        values, order = columns.train[f], orders[f]
        if values[order[stop - 1]] <= values[order[start]] + APART:
            features[0, j], features[0, n_known + n_found] = features[0, n_known + n_found], f
            n_found += 1
            continue
        n_open -= 1
        features[0, j], features[0, n_open] = features[0, n_open], f
        if _scan(values, order, start, stop, columns.codes, counts, sums, limits.leaf, best):
            column = f
    for j in range(n_known):
        features[0, j] = features[1, j]
    for j in range(n_known, n_known + n_found):
        features[1, j] = features[0, j]
    node[N_CONSTANT] = n_known + n_found
    return column


@inner(counted=False)
def _divide(columns, orders, node, column, middle, is_left, buffer, others):
    """Put the rows that go left first in every column, in order, and the test rows too; return where these part."""
    start, stop = node[START], node[STOP]
    values, order = columns.train[column], orders[column]
    # Halves are added, as scikit-learn does: the sum of two large values could overflow.
    threshold = np.float64(values[order[middle - 1]]) / 2.0 + np.float64(values[order[middle]]) / 2.0
    for i in range(start, stop):
        is_left[order[i]] = i < middle
    for f in range(orders.shape[0]):
        if f == column:
            continue
        order, left, right = orders[f], start, 0
        # Rows that go left close up in place, the others wait in a buffer: both keep their order, without branches.
        for i in range(start, stop):
            row = order[i]
            goes = 1 if is_left[row] else 0
            order[left] = row
            buffer[right] = row
            left += goes
            right += 1 - goes
        for i in range(right):
            order[left + i] = buffer[i]
    left, right = node[TEST_START], node[TEST_STOP]
    while left < right:
        if np.float64(columns.test[column, others[left]]) <= threshold:
            left += 1
        else:
            right -= 1
            others[left], others[right] = others[right], others[left]
    return left


@inner(counted=False)
def _decrease(sums, weight, impurity):
    """Return by how much the impurity falls where the left side has the second row of sums."""
    left = 0.0
    for c in range(sums.shape[1]):
        sums[2, c] = sums[0, c] - sums[1, c]
        left += sums[1, c]
    right = weight - left
    return impurity - right / weight * _impurity(sums[2], right) - left / weight * _impurity(sums[1], left)


@inner(counted=False)
def _lay_out(sorted_rows, counts, orders, features):
    """Write the rows that a tree takes, sorted in each column; return how many there are."""
    size = 0
    for f in range(orders.shape[0]):
        features[0, f] = f
        size = 0
        for i in range(orders.shape[1]):
            row = sorted_rows[f, i]
            orders[f, size] = row
            size += 1 if counts[row] != 0.0 else 0
    return size


@inner(counted=False)
def _count_classes(rows, start, stop, codes, counts, sums):
    """Write how much each class weighs among some rows; return the whole."""
    total = 0.0
    for c in range(sums.shape[0]):
        sums[c] = 0.0
    for i in range(start, stop):
        sums[codes[rows[i]]] += counts[rows[i]]
        total += counts[rows[i]]
    return total


# Arrays come from outside: making them, and filling parts of them at once, would take a third of the compilation.
@kernel(counted=False)
def grow(columns, counts, seeds, limits, decrease, room, outputs, gains):
    """Grow trees and add what they say of the test rows.

    Parameters
    ----------
    columns : SortedColumns
        Cells and orders of the columns.
    counts : float array of shape (n_trees, n)
        How often each tree takes each row, in whole numbers.
    seeds : uint32 array of shape (n_trees,)
        One for each tree.
    limits : Limits
        How far trees may grow.
    decrease : float or None
        By how much each cut must lower the impurity; without a limit None, so that its code is not compiled.
    room : TreeRoom
        Arrays to work in.
    outputs : array of shape (m, n_classes)
        Shares of the classes in the leaves are added.
    gains : array of shape (n_trees, p)
        What cuts of each column take off the impurity, times the weight of their rows, is added.
    """
    orders, others, features = room.orders, room.others, room.features
    stack, sums, best = room.stack, room.sums, room.best
    n_classes, n_tests, codes = outputs.shape[1], outputs.shape[0], columns.codes
    for t in range(seeds.shape[0]):
        room.state[0], open_nodes, node, counted = seeds[t], 1, stack[0], counts[t]
        for c in range(PARENT + 1):
            node[c] = 0
        node[STOP], node[TEST_STOP] = _lay_out(columns.orders, counted, orders, features), n_tests
        whole = _count_classes(orders[0], 0, node[STOP], codes, counted, sums[0])
        for i in range(n_tests):
            others[i] = i
        while open_nodes > 0:
            open_nodes -= 1
            node = stack[open_nodes]
            weight = _count_classes(orders[0], node[START], node[STOP], codes, counted, sums[0])
            n_rows, column = node[STOP] - node[START], -1
            impurity = _impurity(sums[0], weight)
            if node[DEPTH] < limits.deepest and n_rows >= limits.smallest and impurity > EPSILON:
                column = _best_column(columns, orders, node, counted, sums, limits, features, best, room.state)
            if decrease is not None and column >= 0:
                _count_classes(orders[column], node[START], np.int64(best[1]), codes, counted, sums[1])
                if weight / whole * _decrease(sums, weight, impurity) + EPSILON < decrease:
                    column = -1
            if node[PARENT] > 0:
                gains[t, node[PARENT] - 1] -= weight * impurity
            if column < 0:
                for i in range(node[TEST_START], node[TEST_STOP]):
                    for c in range(n_classes):
                        outputs[others[i], c] += sums[0, c] / weight
                continue
            gains[t, column] += weight * impurity
            middle = np.int64(best[1])
            parted = _divide(columns, orders, node, column, middle, room.is_left, room.buffer, others)
            # The right child waits below the left one, which is split first.
            below, node[PARENT], node[DEPTH] = stack[open_nodes + 1], column + 1, node[DEPTH] + 1
            for c in range(PARENT + 1):
                below[c] = node[c]
            node[START], node[TEST_START] = middle, parted
            below[STOP], below[TEST_STOP] = middle, parted
            open_nodes += 2
