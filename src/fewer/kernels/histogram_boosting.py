"""Histogram gradient boosting to the bit as scikit-learn's, on columns that were binned before; no tree is stored.

What the same bits take: gradients and hessians in float32 by the loss's own expressions, sums in float64; the sums of
all rows are NumPy's pairwise sum over the 256 bins of the subset's first column; of two children the smaller (at equal
size the right) is summed up row by row and the other is parent less sibling; a cut must be better than those before it
(first column, first bin; columns of categories come first), and columns with missing cells are scanned from the right
as well; nothing is fused.

What makes it fast: of a node's histogram only the bins that are not exactly zero are looked at, which are marked in 256
bits, so that small nodes cost their rows and not 255 bins; the larger child takes its parent's histogram over, and only
bins that the smaller one has rows in are changed; test rows go down with the training rows; a column is scanned with
divisions only if one of its cuts can beat the best of the columns before; references to arrays are not counted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import (
    add_cell,
    get,
    largest_float,
    lowest_bit,
    move_cell,
    put,
    subtract_cell,
    take_marks,
)
from fewer.problem import FloatArray, IntArray

SQUARED, BINOMIAL, MULTINOMIAL = 0, 1, 2
MISSING = 255  # The bin of missing cells.
HISTOGRAM = 1024  # Numbers in a histogram: 256 cells of four.
CUTS = 256  # Numbers set aside for one quantity of all cuts of a column.
ALL, NUMBERS = np.uint64(2**64 - 1), np.uint64(2**63 - 1)  # Bins of a word; of the last word without missing cells.
TINY = 1e-15  # Added to denominators, as scikit-learn does.
# Rows that a category needs to go left, counted by hessians; added to hessians where categories are put in order.
SUPPORT = 10.0
BY_SET = -1  # Stands for the cut of a node whose rows go left by their categories.

# Columns of `Scratch.nodes`: of each node its rows, its slot of histograms, its depth and its best cut; and three
# queues, of nodes to split (a heap by gain), of leaves, of free slots.
START, STOP, TEST_START, TEST_STOP, SLOT, DEPTH, COLUMN, CUT, MISSING_LEFT, WAITING, LEAF, FREE = range(12)
# Columns of `Scratch.sums`; the last three are of the best cut.
GRADIENT, HESSIAN, VALUE, GAIN, LEFT_GRADIENT, LEFT_HESSIAN = range(6)
N_NODES, N_WAITING, N_LEAVES, N_FREE = range(4)  # Places in `Scratch.counts`.

# Few arrays in few functions: each array of a tuple costs compilation time in every function that takes the tuple.


class Binned(NamedTuple):
    """Rows whose columns were binned."""

    train: NDArray[np.uint8]  # (p, n)
    test: NDArray[np.uint8]  # (p, m)
    # (p, 3): bins of each column without that of missing cells; whether training rows have missing cells; whether bins
    # are categories.
    kinds: IntArray
    target: FloatArray  # (2, n): class codes or quantities, and row weights.


class Growth(NamedTuple):
    """How an ensemble grows."""

    loss: int
    weighted: bool
    n_rounds: int
    rate: float
    l2: float
    leaf: int
    n_leaves: int
    depth: int
    least_hessian: float


class Scratch(NamedTuple):
    """Arrays to work in."""

    # (gradients, hessians, rows, 0) of each bin: of open nodes, one slot each, and a last one for what is thrown away.
    histograms: FloatArray
    # (n_slots, n_columns, 4): bits of the bins that are not exactly zero. What stands in others is left from before.
    used: NDArray[np.uint64]
    dense: FloatArray  # Histograms of four columns, zero between uses.
    cuts: FloatArray  # Gradients, hessians, rows, bins and gains of the cuts of one column.
    # (gradient, hessian, 1, 0) of each row, class by class, and last of the rows of a node: (K + 1, 4 n).
    cells: FloatArray
    # Numbers of the training rows, of the test rows, those of a node together, and room for as many.
    order: NDArray[np.uint32]
    nodes: IntArray
    sums: FloatArray
    counts: IntArray
    sets: NDArray[np.uint8]  # 256 for each node: whether the rows of a bin go left.
    marks: NDArray[np.uint8]  # 256 for each of four columns, zero between uses: bins with rows.


@inner(counted=False)
def _sum_of_bins(dense, lanes):
    """NumPy's pairwise sum of 256 cells: two blocks of 128, each in eight sums; it is left in the first lane."""
    for i in range(64):
        put(lanes, i, 0.0)
    for i in range(256):
        add_cell(lanes, 4 * (((i >> 7) << 3) + (i & 7)), dense, 4 * i)
    for width in range(4):  # neighbors, then pairs, fours, and the two blocks
        for lane in range(0, 16, 2 << width):
            add_cell(lanes, 4 * lane, lanes, 4 * (lane + (1 << width)))


@inner(counted=False)
def _gradients(target, loss, raw, cells):
    """Write gradients and hessians of each row: those of the half squared error or of the binomial loss."""
    for i in range(raw.shape[0]):
        y, weight, margin = target[0, i], target[1, i], raw[i]
        gradient, hessian = margin - y, 1.0
        if loss == BINOMIAL:
            e = math.exp(-margin if margin > -37.0 else margin)
            gradient = ((1.0 - y) - y * e) / (1.0 + e) if margin > -37.0 else e - y
            hessian = e / ((1.0 + e) * (1.0 + e)) if margin > -37.0 else e
        put(cells, 4 * i, float(np.float32(weight * gradient)))
        put(cells, 4 * i + 1, float(np.float32(weight * hessian)))


@inner(counted=False)
def _gradients_of_classes(target, raw, cells):
    """Write gradients and hessians of each row and class: those of the half multinomial loss."""
    n_classes = raw.shape[0]
    for i in range(raw.shape[1]):
        largest, total = raw[0, i], 0.0
        for k in range(1, n_classes):
            largest = raw[k, i] if largest < raw[k, i] else largest
        for k in range(n_classes):
            share = math.exp(raw[k, i] - largest)
            cells[k, 4 * i] = share
            total += share
        for k in range(n_classes):
            share = cells[k, 4 * i] / total
            gradient = share - (1.0 if target[0, i] == k else 0.0)
            cells[k, 4 * i] = float(np.float32(gradient * target[1, i]))
            cells[k, 4 * i + 1] = float(np.float32(share * (1.0 - share) * target[1, i]))


@inner(counted=False)
def _keep(work, node, at, gain, name, missing_left, gradient, hessian):
    """Note the best cut of a node so far."""
    work.sums[node, GAIN] = gain
    work.sums[node, LEFT_GRADIENT] = gradient
    work.sums[node, LEFT_HESSIAN] = hessian
    work.nodes[node, COLUMN] = at
    work.nodes[node, CUT] = name
    work.nodes[node, MISSING_LEFT] = missing_left


@inner(counted=False)
def _scan_from_right(work, growth, node, place, at, n_bins):
    """Look for a better cut with the missing cells on the left."""
    sums, cells, l2 = work.sums, work.histograms, growth.l2
    gradient, hessian, node_gain = sums[node, GRADIENT], sums[node, HESSIAN], sums[node, GRADIENT] * sums[node, VALUE]
    most = work.nodes[node, STOP] - work.nodes[node, START] - growth.leaf
    gr, hr, nr = 0.0, 0.0, 0.0
    for b in range(n_bins - 1, 0, -1):
        if (get(work.used, (place >> 8) + (b >> 6)) >> np.uint64(b & 63)) & np.uint64(1) == np.uint64(0):
            continue
        gr += get(cells, place + 4 * b)
        hr += get(cells, place + 4 * b + 1)
        nr += get(cells, place + 4 * b + 2)
        if nr < growth.leaf:
            continue
        hl, gl = hessian - hr, gradient - gr
        if nr > most or (hr >= growth.least_hessian and hl < growth.least_hessian):
            break
        if hr >= growth.least_hessian:
            left, right = -gl / (hl + l2 + TINY), -gr / (hr + l2 + TINY)
            gain = (node_gain - gl * left) - gr * right
            if gain > sums[node, GAIN] and gain > 0.0:
                _keep(work, node, at, gain, b - 1, 1, gl, hl)


@inner(counted=False)
def _scan_categories(work, growth, node, place, at):
    """Try to put some of the categories of a column on the left; keep the best of the node.

    They are put in order by gradient over hessian, equal ones the last first (as the C library's merge sort leaves them
    under scikit-learn's comparison), and taken from either end up to the middle. Missing cells are a category.
    """
    sums, cells, cuts, l2, n_used = work.sums, work.histograms, work.cuts, growth.l2, 0
    gradient, hessian, n = sums[node, GRADIENT], sums[node, HESSIAN], work.nodes[node, STOP] - work.nodes[node, START]
    node_gain, factor = gradient * sums[node, VALUE], n / hessian
    for word in range(4):
        bits = get(work.used, (place >> 8) + word)
        while bits != np.uint64(0):
            j = place + 4 * ((word << 6) + lowest_bit(bits))
            bits &= bits - np.uint64(1)
            hl = get(cells, j + 1)
            if hl * factor >= SUPPORT:
                value, rank = get(cells, j) / (hl + SUPPORT), n_used
                while rank > 0 and not get(cuts, rank - 1) < value:
                    put(cuts, rank, get(cuts, rank - 1))
                    put(cuts, CUTS + rank, get(cuts, CUTS + rank - 1))
                    rank -= 1
                put(cuts, rank, value)
                put(cuts, CUTS + rank, float(j))
                n_used += 1
    first, last = 0, 0
    for turn in range(2 if n_used > 1 else 0):
        gl, hl, nl = 0.0, 0.0, 0.0
        for i in range((n_used + 1) // 2 - turn):
            rank = n_used - 1 - i if turn else i
            j = int(get(cuts, CUTS + rank))
            gl += get(cells, j)
            hl += get(cells, j + 1)
            nl += get(cells, j + 2)
            if nl < growth.leaf or hl < growth.least_hessian:
                continue
            gr, hr = gradient - gl, hessian - hl
            if n - nl < growth.leaf or hr < growth.least_hessian:
                break
            left, right = -gl / (hl + l2 + TINY), -gr / (hr + l2 + TINY)
            gain = (node_gain - gl * left) - gr * right
            if gain > sums[node, GAIN] and gain > 0.0:
                _keep(work, node, at, gain, BY_SET, 0, gl, hl)
                first, last = (rank, n_used) if turn else (0, rank + 1)
    if last > first:
        for b in range(256):
            put(work.sets, 256 * node + b, np.uint8(0))
        for rank in range(first, last):
            put(work.sets, 256 * node + ((np.int64(get(cuts, CUTS + rank)) - place) >> 2), np.uint8(1))


@inner(counted=False)
def _sum_up(work, growth, place, n_bins, most, hessian):
    """Write the sums left of each cut of a column that leaves both sides enough; return how many cuts there are."""
    cells, cuts, least = work.histograms, work.cuts, growth.least_hessian
    gl, hl, nl, n_cuts, leaf = 0.0, 0.0, 0.0, 0, float(growth.leaf)
    for word in range((n_bins + 63) >> 6):
        bits = get(work.used, (place >> 8) + word) & (NUMBERS if word == 3 else ALL)
        while bits != np.uint64(0):
            b = (word << 6) + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            gl += get(cells, place + 4 * b)
            hl += get(cells, place + 4 * b + 1)
            nl += get(cells, place + 4 * b + 2)
            put(cuts, n_cuts, gl)
            put(cuts, CUTS + n_cuts, hl)
            put(cuts, 2 * CUTS + n_cuts, float(b))
            is_cut = (nl >= leaf) & (hl >= least)
            if (nl > most) | (is_cut & (hessian - hl < least)):
                return n_cuts
            n_cuts += 1 if is_cut else 0
    return n_cuts


@inner(counted=False)
def _scan(work, growth, node, place, kinds, f, at, categories, missing):
    """Try the cuts of one column of a node, whose histogram begins at `place`; keep the best of the node."""
    if categories is not None and kinds[f, 2]:
        _scan_categories(work, growth, node, place, at)
        return
    sums, cuts, l2 = work.sums, work.cuts, growth.l2
    gradient, hessian, so_far = sums[node, GRADIENT], sums[node, HESSIAN], sums[node, GAIN]
    node_gain, n = gradient * sums[node, VALUE], work.nodes[node, STOP] - work.nodes[node, START]
    n_cuts, able = _sum_up(work, growth, place, kinds[f, 0], float(n - growth.leaf), hessian), 0
    if so_far > 0.0 and (missing is None or kinds[f, 1] == 0):
        # Can any cut beat the columns before? Without a division; 1e-10 is far more than rounding can do.
        least = (so_far - node_gain) * (1.0 - 1e-10)
        for t in range(n_cuts):
            gl, hl = get(cuts, t), get(cuts, CUTS + t)
            gr, dl, dr = gradient - gl, hl + l2 + TINY, (hessian - hl) + l2 + TINY
            able += 1 if (gl * gl) * dr + (gr * gr) * dl >= least * (dl * dr) else 0
        if able == 0:
            return
    top, first = 0.0, 0
    for t in range(n_cuts):
        gl, hl = get(cuts, t), get(cuts, CUTS + t)
        gr, hr = gradient - gl, hessian - hl
        left, right = -gl / (hl + l2 + TINY), -gr / (hr + l2 + TINY)
        gain = (node_gain - gl * left) - gr * right
        put(cuts, 3 * CUTS + t, gain)
        top = largest_float(gain, top)
    if top > so_far and top > 0.0:
        while get(cuts, 3 * CUTS + first) != top:
            first += 1
        name = np.int64(get(cuts, 2 * CUTS + first))
        _keep(work, node, at, top, name, 0, get(cuts, first), get(cuts, CUTS + first))
    if missing is not None and kinds[f, 1]:
        _scan_from_right(work, growth, node, place, at, kinds[f, 0])


@inner(counted=False)
def _divide(order, start, stop, column, sets, place, room):
    """Put the rows of a node that go left first, keeping their order, without branches; return where the others begin.

    Whether the rows of each bin go left stands at `place` in `sets`.
    """
    left, right = start, room
    for i in range(start, stop):
        row = get(order, i)
        goes = np.int64(get(sets, place + np.int64(get(column, np.int64(row)))))
        put(order, left, row)
        put(order, right, row)
        left += goes
        right += 1 - goes
    for i in range(right - room):
        put(order, left + i, get(order, room + i))
    return left


@inner(counted=False)
def _push(work, node):
    """Put a node on the heap, as `heapq.heappush` does."""
    nodes, sums, at = work.nodes, work.sums, work.counts[N_WAITING]
    work.counts[N_WAITING] += 1
    while at > 0 and sums[node, GAIN] > sums[nodes[(at - 1) >> 1, WAITING], GAIN]:
        nodes[at, WAITING] = nodes[(at - 1) >> 1, WAITING]
        at = (at - 1) >> 1
    nodes[at, WAITING] = node


@inner(counted=False)
def _pop(work):
    """Take the node of the largest gain, as `heapq.heappop` does: among equal gains its order counts."""
    nodes, sums = work.nodes, work.sums
    work.counts[N_WAITING] -= 1
    n = work.counts[N_WAITING]
    last = nodes[n, WAITING]
    if n == 0:
        return last
    top, at, child = nodes[0, WAITING], 0, 1
    while child < n:
        if child + 1 < n and not sums[nodes[child, WAITING], GAIN] > sums[nodes[child + 1, WAITING], GAIN]:
            child += 1
        nodes[at, WAITING] = nodes[child, WAITING]
        at = child
        child = 2 * at + 1
    work.counts[N_WAITING] = at
    _push(work, last)
    work.counts[N_WAITING] = n
    return top


@inner(counted=False)
def _add_leaf(work, node):
    """Note a leaf."""
    work.nodes[work.counts[N_LEAVES], LEAF] = node
    work.counts[N_LEAVES] += 1


@inner(counted=False)
def _settle(work, node):
    """Let a node that was scanned wait for its split, or make it a leaf."""
    if work.sums[node, GAIN] <= 0.0:
        _add_leaf(work, node)
        work.nodes[work.counts[N_FREE], FREE] = work.nodes[node, SLOT]
        work.counts[N_FREE] += 1
    else:
        _push(work, node)


@inner(counted=False)
def _add_rows(rows, columns, first, work, start, n, cells):
    """Add rows of a node to the dense histograms of four columns, or of one; return of how many.

    A sum waits for the one before it in the same bin; those of four columns do not wait for each other.
    """
    order, train, width, dense, marks = work.order, rows.train, rows.train.shape[1], work.dense, work.marks
    a = width * columns[first]
    if first + 4 > columns.shape[0]:
        for i in range(n):
            bin_a = np.int64(get(train, a + np.int64(get(order, start + i))))
            add_cell(dense, 4 * bin_a, cells, 4 * i)
            put(marks, bin_a, np.uint8(1))
        return 1
    b, c, d = width * columns[first + 1], width * columns[first + 2], width * columns[first + 3]
    for i in range(n):
        row = np.int64(get(order, start + i))
        bin_a, bin_b = np.int64(get(train, a + row)), np.int64(get(train, b + row))
        bin_c, bin_d = np.int64(get(train, c + row)), np.int64(get(train, d + row))
        add_cell(dense, 4 * bin_a, cells, 4 * i)
        add_cell(dense, HISTOGRAM + 4 * bin_b, cells, 4 * i)
        add_cell(dense, 2 * HISTOGRAM + 4 * bin_c, cells, 4 * i)
        add_cell(dense, 3 * HISTOGRAM + 4 * bin_d, cells, 4 * i)
        put(marks, bin_a, np.uint8(1))
        put(marks, 256 + bin_b, np.uint8(1))
        put(marks, 512 + bin_c, np.uint8(1))
        put(marks, 768 + bin_d, np.uint8(1))
    return 4


@inner(counted=False)
def _plant(rows, columns, growth, work, k):
    """Lay out the root of a tree: all rows, and their histograms."""
    n, m, first, ready = rows.train.shape[1], rows.test.shape[1], 0, 0
    nodes, sums, n_slots = work.nodes, work.sums, work.used.shape[0] - 1
    for i in range(n):
        work.order[i] = i
    for i in range(m):
        work.order[n + i] = i
    for slot in range(n_slots - 1):
        nodes[slot, FREE] = n_slots - 1 - slot
    work.counts[N_NODES] = 1
    work.counts[N_WAITING] = work.counts[N_LEAVES] = 0
    work.counts[N_FREE] = n_slots - 1
    nodes[0, START] = nodes[0, SLOT] = nodes[0, DEPTH] = 0
    nodes[0, STOP] = nodes[0, TEST_START] = n
    nodes[0, TEST_STOP] = n + m
    sums[0, VALUE] = 0.0
    sums[0, GAIN] = -1.0
    for at in range(columns.shape[0]):
        if at == ready:
            first, ready = at, ready + _add_rows(rows, columns, at, work, nodes[0, START], n, work.cells[k])
        if at == 0:
            _sum_of_bins(work.dense, work.cuts)
            sums[0, GRADIENT] = work.cuts[0]
            sums[0, HESSIAN] = float(n) if growth.loss == SQUARED and not growth.weighted else work.cuts[1]
        for word in range(4):
            bits = take_marks(work.marks, 256 * (at - first) + (word << 6))
            put(work.used, 4 * at + word, bits)
            while bits != np.uint64(0):
                cell = 4 * ((word << 6) + lowest_bit(bits))
                bits &= bits - np.uint64(1)
                move_cell(work.dense, HISTOGRAM * (at - first) + cell, work.histograms, HISTOGRAM * at + cell)


@inner(counted=False)
def _children(rows, columns, growth, work, node):
    """Split a node: divide its rows and write the two new nodes; return the number of the left one."""
    nodes, sums, left = work.nodes, work.sums, work.counts[N_NODES]
    right, f, cut = left + 1, columns[nodes[node, COLUMN]], nodes[node, CUT]
    work.counts[N_NODES] += 2
    room, place = rows.train.shape[1] + rows.test.shape[1], 256 * node
    if cut != BY_SET:
        for cell in range(MISSING):
            put(work.sets, place + cell, np.uint8(cell <= cut))
        put(work.sets, place + MISSING, np.uint8(nodes[node, MISSING_LEFT]))
    start, stop = nodes[node, START], nodes[node, STOP]
    middle = _divide(work.order, start, stop, rows.train[f], work.sets, place, room)
    nodes[left, START] = start
    nodes[left, STOP] = nodes[right, START] = middle
    nodes[right, STOP] = stop
    if rows.kinds[f, 1] == 0:
        # Missing cells that training rows did not have go where more rows went.
        put(work.sets, place + MISSING, np.uint8(middle - start > stop - middle))
    start, stop = nodes[node, TEST_START], nodes[node, TEST_STOP]
    middle = _divide(work.order, start, stop, rows.test[f], work.sets, place, room)
    nodes[left, TEST_START] = start
    nodes[left, TEST_STOP] = nodes[right, TEST_START] = middle
    nodes[right, TEST_STOP] = stop
    sums[left, GRADIENT] = sums[node, LEFT_GRADIENT]
    sums[left, HESSIAN] = sums[node, LEFT_HESSIAN]
    sums[right, GRADIENT] = sums[node, GRADIENT] - sums[node, LEFT_GRADIENT]
    sums[right, HESSIAN] = sums[node, HESSIAN] - sums[node, LEFT_HESSIAN]
    for child in (left, right):
        sums[child, VALUE] = -sums[child, GRADIENT] / (sums[child, HESSIAN] + growth.l2 + TINY)
        sums[child, GAIN] = -1.0
        nodes[child, DEPTH] = nodes[node, DEPTH] + 1
    return left


@inner(counted=False)
def _part_histograms(rows, columns, growth, work, k, parent, left, categories, missing):
    """Make the histograms of two children of their parent's, whose slot the larger one takes over, and scan them.

    The larger one has enough rows to be split; where the smaller one has not, its histograms are thrown away.
    """
    nodes, order, cells, gathered = work.nodes, work.order, work.cells[k], work.cells[work.cells.shape[0] - 1]
    is_left = nodes[left, STOP] - nodes[left, START] < nodes[left + 1, STOP] - nodes[left + 1, START]
    small, large = (left, left + 1) if is_left else (left + 1, left)
    start = nodes[small, START]
    n = nodes[small, STOP] - start
    is_open = n >= 2 * growth.leaf
    nodes[large, SLOT] = nodes[parent, SLOT]
    nodes[small, SLOT] = work.used.shape[0] - 1
    if is_open:
        work.counts[N_FREE] -= 1
        nodes[small, SLOT] = nodes[work.counts[N_FREE], FREE]
    for i in range(n):
        row = 4 * np.int64(get(order, start + i))
        put(gathered, 4 * i, get(cells, row))
        put(gathered, 4 * i + 1, get(cells, row + 1))
    first, ready = 0, 0
    for at in range(columns.shape[0]):
        f = columns[at]
        if at == ready:
            first, ready = at, ready + _add_rows(rows, columns, at, work, start, n, gathered)
        width = HISTOGRAM * columns.shape[0]
        place = width * nodes[large, SLOT] + HISTOGRAM * at
        other = width * nodes[small, SLOT] + HISTOGRAM * at
        for word in range(4):
            bits = take_marks(work.marks, 256 * (at - first) + (word << 6))
            put(work.used, (other >> 8) + word, bits)
            empty = np.uint64(0)
            while bits != np.uint64(0):
                bit = lowest_bit(bits)
                bits &= bits - np.uint64(1)
                cell = 4 * ((word << 6) + bit)
                move_cell(work.dense, HISTOGRAM * (at - first) + cell, work.histograms, other + cell)
                empty |= subtract_cell(work.histograms, place + cell, other + cell) << np.uint64(bit)
            put(work.used, (place >> 8) + word, get(work.used, (place >> 8) + word) & ~empty)
        if is_open:
            _scan(work, growth, small, other, rows.kinds, f, at, categories, missing)
        _scan(work, growth, large, place, rows.kinds, f, at, categories, missing)


@inner(counted=False)
def _add_values(work, rate, raw, tests):
    """Add what the leaves of a tree say to the predictions."""
    nodes = work.nodes
    for j in range(work.counts[N_LEAVES]):
        leaf = nodes[j, LEAF]
        value = work.sums[leaf, VALUE] * rate
        for i in range(nodes[leaf, START], nodes[leaf, STOP]):
            raw[work.order[i]] += value
        for i in range(nodes[leaf, TEST_START], nodes[leaf, TEST_STOP]):
            tests[work.order[i]] += value


@kernel(counted=False)
def boost(rows, columns, growth, work, raw, tests, categories, missing, several):
    """Add rounds to an ensemble on some columns and to the predictions of the test rows.

    Parameters
    ----------
    rows : Binned
        The binned rows.
    columns : int array of shape (n_columns,)
        Those that trees may use; the order counts where cuts are equally good.
    growth : Growth
        How trees grow.
    work : Scratch
        Arrays that are used again and again.
    raw, tests : arrays of shape (K, n), (K, m)
        The raw predictions of training and test rows so far, to which the rounds add; K is 1, or the number of
        classes above two.
    categories, missing, several : True or None
        Whether there are columns of categories, training rows with missing cells, more than two classes. What a run has
        no use for is not compiled: that is a third of all.
    """
    n, nodes, counts = raw.shape[1], work.nodes, work.counts
    root = np.int64(0)  # functions are compiled once more for a literal 0
    for _ in range(growth.n_rounds):
        if several is None:
            _gradients(rows.target, growth.loss, raw[0], work.cells[0])
        else:
            _gradients_of_classes(rows.target, raw, work.cells)
        for k in range(raw.shape[0]):
            _plant(rows, columns, growth, work, k)
            if n >= 2 * growth.leaf and work.sums[0, HESSIAN] >= growth.least_hessian:
                for at in range(columns.shape[0]):
                    _scan(work, growth, root, HISTOGRAM * at, rows.kinds, columns[at], at, categories, missing)
            _settle(work, root)
            is_last = False
            while counts[N_WAITING] > 0 and not is_last:
                node = _pop(work)
                left = _children(rows, columns, growth, work, node)
                n_left, n_right = nodes[left, STOP] - nodes[left, START], nodes[left + 1, STOP] - nodes[left + 1, START]
                is_last = counts[N_LEAVES] + counts[N_WAITING] + 2 == growth.n_leaves
                least = n + 1 if is_last or nodes[left, DEPTH] == growth.depth else 2 * growth.leaf
                if n_left < least:
                    _add_leaf(work, left)
                if n_right < least:
                    _add_leaf(work, left + 1)
                if n_left < least and n_right < least:
                    nodes[counts[N_FREE], FREE] = nodes[node, SLOT]
                    counts[N_FREE] += 1
                    continue
                _part_histograms(rows, columns, growth, work, k, node, left, categories, missing)
                if n_left >= least:  # the left one first, as scikit-learn pushes them
                    _settle(work, left)
                if n_right >= least:
                    _settle(work, left + 1)
            for i in range(counts[N_WAITING]):
                _add_leaf(work, nodes[i, WAITING])
            _add_values(work, growth.rate, raw[k], tests[k])
