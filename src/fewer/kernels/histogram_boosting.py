"""Histogram gradient boosting to the bit as scikit-learn's, on columns that were binned before; no tree is stored.

What the same bits take: gradients and hessians in float32 by the loss's own expressions, sums in float64; the sums of
all rows are NumPy's pairwise sum over the 256 bins of the subset's first column; of two children the smaller (at equal
size the right) is summed up row by row and the other is parent less sibling; a cut must be better than those before it
(first column, first bin; columns of categories come first), and columns with missing cells are scanned from the right
as well; nothing is fused.

What makes it fast: a node's histogram is a list of the bins that are not exactly zero, so that small nodes cost their
rows and not 255 bins; test rows go down with the training rows; a column is scanned with divisions only if one of its
cuts can beat the best of the columns before.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.compiling import inner, kernel
from fewer.kernels.intrinsics import add_cell, get, largest_float, part_cell, put, take_cell
from fewer.problem import FloatArray, IntArray

SQUARED, BINOMIAL, MULTINOMIAL = 0, 1, 2
MISSING = 255  # The bin of missing cells.
LIST = 1032  # Numbers set aside for a list: 256 cells of four, and room for a last write.
CUTS = 512  # Numbers set aside for one quantity of all cuts of a column.
TINY = 1e-15  # Added to denominators, as scikit-learn does.
# Rows that a category needs to go left, counted by hessians; added to hessians where categories are put in order.
SUPPORT = 10.0
BY_SET = -1  # Stands for the cut of a node whose rows go left by their categories.

# Columns of `Scratch.nodes`: of each node its rows, its list's slot, its depth and its best cut; and three queues, of
# nodes to split (a heap by gain where the number of leaves can run out, else a stack), of leaves, and of free slots.
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

    lists: FloatArray  # The histograms of open nodes, one slot each, and a last one for what is thrown away.
    lengths: IntArray  # (n_slots, n_columns): cells in each list.
    dense: FloatArray  # One histogram of 256 cells, zero between uses.
    cuts: FloatArray  # Gradients, hessians, places and gains of the cuts of one column.
    # (gradient, hessian, 1, 0) of each row, class by class, and last of the rows of a node: (K + 1, 4 n).
    cells: FloatArray
    # Numbers of the training rows, of the test rows, those of a node together, and room for as many.
    order: NDArray[np.uint32]
    nodes: IntArray
    sums: FloatArray
    counts: IntArray
    sets: NDArray[np.uint8]  # 256 for each node: whether the rows of a bin go left.


@inner()
def _sum_of_bins(dense, first, lanes):
    """NumPy's pairwise sum of 256 numbers: two blocks of 128, each in eight sums."""
    for lane in range(16):
        put(lanes, lane, 0.0)
    for i in range(256):
        lane = ((i >> 7) << 3) + (i & 7)
        put(lanes, lane, get(lanes, lane) + get(dense, 4 * i + first))
    for width in range(3):  # neighbors, then pairs, then fours
        for lane in range(0, 16, 2 << width):
            put(lanes, lane, get(lanes, lane) + get(lanes, lane + (1 << width)))
    return get(lanes, 0) + get(lanes, 8)


@inner()
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


@inner()
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


@inner()
def _keep(work, node, at, gain, name, missing_left, gradient, hessian):
    """Note the best cut of a node so far."""
    work.sums[node, GAIN] = gain
    work.sums[node, LEFT_GRADIENT] = gradient
    work.sums[node, LEFT_HESSIAN] = hessian
    work.nodes[node, COLUMN] = at
    work.nodes[node, CUT] = np.int64(name)
    work.nodes[node, MISSING_LEFT] = missing_left


@inner()
def _scan_from_right(work, growth, node, place, end, at):
    """Look for a better cut with the missing cells on the left."""
    sums, lists, l2 = work.sums, work.lists, growth.l2
    gradient, hessian, own = sums[node, GRADIENT], sums[node, HESSIAN], sums[node, GRADIENT] * sums[node, VALUE]
    most = work.nodes[node, STOP] - work.nodes[node, START] - growth.leaf
    gr, hr, nr = 0.0, 0.0, 0.0
    for j in range(end - 4, place - 1, -4):
        if get(lists, j + 3) == 0.0:
            break
        gr += get(lists, j)
        hr += get(lists, j + 1)
        nr += get(lists, j + 2)
        if nr < growth.leaf:
            continue
        hl, gl = hessian - hr, gradient - gr
        if nr > most or (hr >= growth.least_hessian and hl < growth.least_hessian):
            break
        if hr >= growth.least_hessian:
            left, right = -gl / (hl + l2 + TINY), -gr / (hr + l2 + TINY)
            gain = (own - gl * left) - gr * right
            if gain > sums[node, GAIN] and gain > 0.0:
                _keep(work, node, at, gain, get(lists, j + 3) - 1.0, 1, gl, hl)


@inner()
def _scan_categories(work, growth, node, place, at):
    """Try to put some of the categories of a column on the left; keep the best of the node.

    They are put in order by gradient over hessian, equal ones the last first (as the C library's merge sort leaves them
    under scikit-learn's comparison), and taken from either end up to the middle. Missing cells are a category.
    """
    sums, lists, cuts, l2, used = work.sums, work.lists, work.cuts, growth.l2, 0
    gradient, hessian, n = sums[node, GRADIENT], sums[node, HESSIAN], work.nodes[node, STOP] - work.nodes[node, START]
    own, factor = gradient * sums[node, VALUE], n / hessian
    for j in range(place, place + 4 * work.lengths[work.nodes[node, SLOT], at], 4):
        hl = get(lists, j + 1)
        if hl * factor >= SUPPORT:
            value, rank = get(lists, j) / (hl + SUPPORT), used
            while rank > 0 and not get(cuts, rank - 1) < value:
                put(cuts, rank, get(cuts, rank - 1))
                put(cuts, CUTS + rank, get(cuts, CUTS + rank - 1))
                rank -= 1
            put(cuts, rank, value)
            put(cuts, CUTS + rank, float(j))
            used += 1
    first, last = 0, 0
    for turn in range(2 if used > 1 else 0):
        gl, hl, nl = 0.0, 0.0, 0.0
        for i in range((used + 1) // 2 - turn):
            rank = used - 1 - i if turn else i
            j = int(get(cuts, CUTS + rank))
            gl += get(lists, j)
            hl += get(lists, j + 1)
            nl += get(lists, j + 2)
            if nl < growth.leaf or hl < growth.least_hessian:
                continue
            gr, hr = gradient - gl, hessian - hl
            if n - nl < growth.leaf or hr < growth.least_hessian:
                break
            left, right = -gl / (hl + l2 + TINY), -gr / (hr + l2 + TINY)
            gain = (own - gl * left) - gr * right
            if gain > sums[node, GAIN] and gain > 0.0:
                _keep(work, node, at, gain, float(BY_SET), 0, gl, hl)
                first, last = (rank, used) if turn else (0, rank + 1)
    if last > first:
        for cell in range(256):
            put(work.sets, 256 * node + cell, np.uint8(0))
        for rank in range(first, last):
            name = get(lists, np.int64(get(cuts, CUTS + rank)) + 3)
            put(work.sets, 256 * node + np.int64(name), np.uint8(1))


@inner()
def _scan(work, growth, node, place, kinds, f, at, categories, missing):
    """Try the cuts of one column of a node, whose list begins at `place`; keep the best of the node."""
    if categories is not None and kinds[f, 2]:
        _scan_categories(work, growth, node, place, at)
        return
    sums, lists, cuts, l2 = work.sums, work.lists, work.cuts, growth.l2
    gradient, hessian, so_far = sums[node, GRADIENT], sums[node, HESSIAN], sums[node, GAIN]
    own, n = gradient * sums[node, VALUE], work.nodes[node, STOP] - work.nodes[node, START]
    end = place + 4 * work.lengths[work.nodes[node, SLOT], at]
    if missing is not None and kinds[f, 1] and end > place and get(lists, end - 1) == MISSING:
        end -= 4
    gl, hl, nl, n_cuts, able = 0.0, 0.0, 0.0, 0, 0
    for j in range(place, end, 4):
        gl += get(lists, j)
        hl += get(lists, j + 1)
        nl += get(lists, j + 2)
        if nl < growth.leaf:
            continue
        if nl > n - growth.leaf or (hl >= growth.least_hessian and hessian - hl < growth.least_hessian):
            break
        if hl >= growth.least_hessian:
            put(cuts, n_cuts, gl)
            put(cuts, CUTS + n_cuts, hl)
            put(cuts, 2 * CUTS + n_cuts, float(j))
            n_cuts += 1
    if so_far > 0.0 and (missing is None or kinds[f, 1] == 0):
        # Can any cut beat the columns before? Without a division; 1e-10 is far more than rounding can do.
        least = (so_far - own) * (1.0 - 1e-10)
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
        gain = (own - gl * left) - gr * right
        put(cuts, 3 * CUTS + t, gain)
        top = largest_float(gain, top)
    if top > so_far and top > 0.0:
        while get(cuts, 3 * CUTS + first) != top:
            first += 1
        name = get(lists, np.int64(get(cuts, 2 * CUTS + first)) + 3)
        _keep(work, node, at, top, name, 0, get(cuts, first), get(cuts, CUTS + first))
    if missing is not None and kinds[f, 1]:
        _scan_from_right(work, growth, node, place, end, at)


@inner()
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


@inner()
def _push(work, node):
    """Put a node on the heap, as `heapq.heappush` does."""
    nodes, sums, at = work.nodes, work.sums, work.counts[N_WAITING]
    work.counts[N_WAITING] += 1
    while at > 0 and sums[node, GAIN] > sums[nodes[(at - 1) >> 1, WAITING], GAIN]:
        nodes[at, WAITING] = nodes[(at - 1) >> 1, WAITING]
        at = (at - 1) >> 1
    nodes[at, WAITING] = node


@inner()
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


@inner()
def _add_leaf(work, node):
    """Note a leaf."""
    work.nodes[work.counts[N_LEAVES], LEAF] = node
    work.counts[N_LEAVES] += 1


@inner()
def _settle(work, node, by_gain):
    """Let a node that was scanned wait for its split, or make it a leaf."""
    if work.sums[node, GAIN] <= 0.0:
        _add_leaf(work, node)
        work.nodes[work.counts[N_FREE], FREE] = work.nodes[node, SLOT]
        work.counts[N_FREE] += 1
    elif by_gain is None:
        work.nodes[work.counts[N_WAITING], WAITING] = node
        work.counts[N_WAITING] += 1
    else:
        _push(work, node)


@inner()
def _plant(rows, columns, growth, work, k):
    """Lay out the root of a tree: all rows, and their lists."""
    n, m, dense, cells = rows.train.shape[1], rows.test.shape[1], work.dense, work.cells[k]
    nodes, sums, n_slots = work.nodes, work.sums, work.lengths.shape[0] - 1
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
        f = columns[at]
        column = rows.train[f]
        for i in range(n):
            add_cell(dense, 4 * np.int64(get(column, i)), cells, 4 * i)
        if at == 0:
            sums[0, GRADIENT] = _sum_of_bins(dense, 0, work.cuts)
            is_constant = growth.loss == SQUARED and not growth.weighted
            sums[0, HESSIAN] = float(n) if is_constant else _sum_of_bins(dense, 1, work.cuts)
        end = LIST * at
        for b in range(rows.kinds[f, 0]):
            end += take_cell(work.lists, end, dense, 4 * b, float(b)) << 2
        if rows.kinds[f, 1]:
            end += take_cell(work.lists, end, dense, 4 * MISSING, float(MISSING)) << 2
        work.lengths[0, at] = (end - LIST * at) >> 2


@inner()
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


@inner()
def _part_lists(rows, columns, growth, work, k, parent, left, categories, missing):
    """Make the lists of two children of their parent's, whose slot the larger one takes over, and scan them.

    The larger one has enough rows to be split; where the smaller one has not, its lists are thrown away.
    """
    nodes, order, cells, gathered = work.nodes, work.order, work.cells[k], work.cells[work.cells.shape[0] - 1]
    is_left = nodes[left, STOP] - nodes[left, START] < nodes[left + 1, STOP] - nodes[left + 1, START]
    small, large = (left, left + 1) if is_left else (left + 1, left)
    start = nodes[small, START]
    n = nodes[small, STOP] - start
    is_open = n >= 2 * growth.leaf
    nodes[large, SLOT] = nodes[parent, SLOT]
    nodes[small, SLOT] = work.lengths.shape[0] - 1
    if is_open:
        work.counts[N_FREE] -= 1
        nodes[small, SLOT] = nodes[work.counts[N_FREE], FREE]
    for i in range(n):
        row = 4 * np.int64(get(order, start + i))
        put(gathered, 4 * i, get(cells, row))
        put(gathered, 4 * i + 1, get(cells, row + 1))
    for at in range(columns.shape[0]):
        f = columns[at]
        column = rows.train[f]
        for i in range(n):
            cell = np.int64(get(column, np.int64(get(order, start + i))))
            add_cell(work.dense, 4 * cell, gathered, 4 * i)
        width = LIST * columns.shape[0]
        place, other = width * nodes[large, SLOT] + LIST * at, width * nodes[small, SLOT] + LIST * at
        rest, part = place, other
        for i in range(place, place + 4 * work.lengths[nodes[large, SLOT], at], 4):
            code = part_cell(work.lists, i, work.dense, 4 * np.int64(get(work.lists, i + 3)), rest, part)
            part += (code & 1) << 2
            rest += (code & 2) << 1
        work.lengths[nodes[large, SLOT], at] = (rest - place) >> 2
        work.lengths[nodes[small, SLOT], at] = (part - other) >> 2
        if is_open:
            _scan(work, growth, small, other, rows.kinds, f, at, categories, missing)
        _scan(work, growth, large, place, rows.kinds, f, at, categories, missing)


@inner()
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


@kernel()
def boost(rows, columns, growth, work, raw, tests, categories, missing, by_gain, several):
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
    categories, missing, by_gain, several : True or None
        Whether there are columns of categories, training rows with missing cells, enough rows that the number of
        leaves can run out (so that the order of splits matters), more than two classes. What a run has no use for is
        not compiled: that is a third of all.
    """
    n, nodes, counts = raw.shape[1], work.nodes, work.counts
    for _ in range(growth.n_rounds):
        if several is None:
            _gradients(rows.target, growth.loss, raw[0], work.cells[0])
        else:
            _gradients_of_classes(rows.target, raw, work.cells)
        for k in range(raw.shape[0]):
            _plant(rows, columns, growth, work, k)
            if n >= 2 * growth.leaf and work.sums[0, HESSIAN] >= growth.least_hessian:
                for at in range(columns.shape[0]):
                    _scan(work, growth, 0, LIST * at, rows.kinds, columns[at], at, categories, missing)
            _settle(work, 0, by_gain)
            is_last = False
            while counts[N_WAITING] > 0 and not is_last:
                if by_gain is None:
                    counts[N_WAITING] -= 1
                    node = nodes[counts[N_WAITING], WAITING]
                else:
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
                _part_lists(rows, columns, growth, work, k, node, left, categories, missing)
                if n_left >= least:  # the left one first, as scikit-learn pushes them
                    _settle(work, left, by_gain)
                if n_right >= least:
                    _settle(work, left + 1, by_gain)
            for i in range(counts[N_WAITING]):
                _add_leaf(work, nodes[i, WAITING])
            _add_values(work, growth.rate, raw[k], tests[k])
