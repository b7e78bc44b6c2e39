"""Leaps and bounds: the subsets of least residual sum of squares of every size (Furnival and Wilson 1974).

A node is a set of units of which some are fixed. Without a unit, the residual sum of squares can only rise; so a branch
that drops a unit is left out where what it leaves already exceeds the best known of every size below it. Units whose
loss hurts most are dropped first, in the branches with most units still free: these are cut at once.
"""

from __future__ import annotations

from fewer.kernels.compiling import copy, inner, kernel
from fewer.kernels.newton import factor


@inner(counted=False)
def drop_losses(inverse, coefficients, starts, units, block, out):
    """Write how much the residual sum of squares rises without each of some units.

    inverse : (p, p), of the matrix of the normal equations of the inputs in the fit
    coefficients : (p, q)
    starts : inputs of unit u are starts[u] … starts[u + 1] − 1
    block : room for (k, k + 1) numbers, where a unit has k inputs, or None where each has one
    """
    for place in range(units.shape[0]):
        low, high = starts[units[place]], starts[units[place] + 1]
        total, k = 0.0, high - low
        # Without input j the sum rises by β_j² / (A⁻¹)_jj; for a block by β_Bᵀ ((A⁻¹)_BB)⁻¹ β_B = ‖L⁻¹ β_B‖².
        if block is not None and k != 1:
            for a in range(k):
                copy(inverse[low + a, low:high], block[a])
            factor(block, k)
            for c in range(coefficients.shape[1]):
                for a in range(k):
                    solved = coefficients[low + a, c]
                    for b in range(a):
                        solved -= block[a, b] * block[b, k]
                    block[a, k] = solved / block[a, a]
                    total += block[a, k] ** 2
            out[place] = total
            continue
        for c in range(coefficients.shape[1]):
            total += coefficients[low, c] ** 2
        out[place] = total / inverse[low, low]


@inner(counted=False)
def without_unit(inverse, coefficients, low, high, less, fewer):
    """Write inverse and coefficients of the fit without inputs low … high − 1."""
    for a in range(less.shape[0]):
        copy(inverse[a], less[a])
        copy(coefficients[a], fewer[a])
    for j in range(low, high):
        # Taking j out of the inverse: A⁻¹ − a_j a_jᵀ / a_jj (the sweep operator, backwards).
        pivot = less[j, j]
        for a in range(less.shape[0]):
            share = less[a, j] / pivot
            if share == 0.0 or a == j:
                continue
            for b in range(less.shape[0]):
                less[a, b] -= share * less[j, b]
            for c in range(fewer.shape[1]):
                fewer[a, c] -= share * fewer[j, c]
        for a in range(less.shape[0]):
            less[j, a] = less[a, j] = 0.0
        for c in range(fewer.shape[1]):
            fewer[j, c] = 0.0


@inner(counted=False)
def open_node(depth, starts, stack, best, block):
    """Look at a node: note the subsets without one unit, and order its branches."""
    inverses, coefficients, orders, losses, places, sums, sizes, alive = stack
    best_sums, best_masks = best
    n_free, size = sizes[depth, 0], sizes[depth, 2]
    units, lost = orders[depth, :n_free], losses[depth, :n_free]
    drop_losses(inverses[depth], coefficients[depth], starts, units, block, lost)
    for last in range(1, n_free):  # the largest loss first
        unit, loss, place = units[last], lost[last], last
        while place > 0 and lost[place - 1] < loss:
            units[place], lost[place] = units[place - 1], lost[place - 1]
            place -= 1
        units[place], lost[place] = unit, loss
    for place in range(n_free):
        lost[place] += sums[depth]
    places[depth] = 0
    # The unit that is missed least comes last.
    if n_free and size > 0 and lost[n_free - 1] < best_sums[size - 1]:
        best_sums[size - 1] = lost[n_free - 1]
        copy(alive[depth], best_masks[size - 1])
        best_masks[size - 1, units[n_free - 1]] = False


@kernel(counted=False)
def leap(state, starts, stack, best, block, limits):
    """Go on with the search for a number of nodes.

    state : int64 [depth, nodes visited]
        Depth −1: the tree is closed. Where no node was visited, that of depth 0 is to be opened.
    stack : (inverses, coefficients, orders, losses, places, sums, sizes, alive), by depth
    best : (sums, masks), by size
    block : as in `drop_losses`
    limits : (fewest, most, nodes to visit, share)
        A branch is left out unless it may lower a best sum by more than this share.
    """
    inverses, coefficients, orders, losses, places, sums, sizes, alive = stack
    best_sums = best[0]
    fewest, most, n_nodes, share = limits
    depth, visited, is_new = state[0], 0, state[1] == 0
    while depth >= 0 and (is_new or visited < n_nodes):
        if is_new:
            open_node(depth, starts, stack, best, block)
            visited, is_new = visited + 1, False
            continue
        n_free, n_fixed, size = sizes[depth, 0], sizes[depth, 1], sizes[depth, 2]
        place = places[depth]
        if place >= n_free:
            depth -= 1
            continue
        places[depth] += 1
        below = max(fewest, n_fixed + place)
        if below > min(size - 2, most):
            places[depth] = n_free  # nothing of interest further on
            continue
        # Every subset of this branch loses at least this much, and the best of its sizes is known to lose less.
        if losses[depth, place] >= best_sums[below] * (1.0 - share):
            continue
        unit, child = orders[depth, place], depth + 1
        low, high = starts[unit], starts[unit + 1]
        without_unit(inverses[depth], coefficients[depth], low, high, inverses[child], coefficients[child])
        copy(alive[depth], alive[child])
        alive[child, unit] = False
        sums[child] = losses[depth, place]
        rest = n_free - place - 1
        copy(orders[depth, place + 1 : n_free], orders[child])
        sizes[child, 0], sizes[child, 1], sizes[child, 2] = rest, n_fixed + place, size - 1
        depth, is_new = child, True
    state[0] = depth
    state[1] += visited
