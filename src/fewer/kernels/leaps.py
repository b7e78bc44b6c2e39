"""Leaps and bounds: the subsets of least residual sum of squares of every size (Furnival and Wilson 1974).

A node is a set of units of which some are fixed. Without a unit, the residual sum of squares can only rise; so a branch
that drops a unit is left out where what it leaves already exceeds the best known of every size below it. Units whose
loss hurts most are dropped first, in the branches with most units still free: these are cut at once.
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel


@inner()
def drop_losses(inverse, coefficients, starts, units, out):
    """Write how much the residual sum of squares rises without each of some units.

    inverse : (p, p), of the matrix of the normal equations of the inputs in the fit
    coefficients : (p, q)
    starts : inputs of unit u are starts[u] … starts[u + 1] − 1
    """
    for place in range(units.shape[0]):
        low, high = starts[units[place]], starts[units[place] + 1]
        if high - low == 1:
            total = 0.0
            for c in range(coefficients.shape[1]):
                total += coefficients[low, c] ** 2
            # Without input j the sum rises by β_j² / (A⁻¹)_jj; for a block by β_Bᵀ ((A⁻¹)_BB)⁻¹ β_B.
            out[place] = total / inverse[low, low]
        else:
            betas = coefficients[low:high].copy()
            solved = np.linalg.solve(inverse[low:high, low:high].copy(), betas)
            out[place] = (betas * solved).sum()


@inner()
def without_unit(inverse, coefficients, low, high, less, fewer):
    """Write inverse and coefficients of the fit without inputs low … high − 1."""
    less[:], fewer[:] = inverse, coefficients
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
        less[j, :], less[:, j], fewer[j, :] = 0.0, 0.0, 0.0


@kernel()
def open_node(depth, sums, shape, stack, best, sizes):
    """Look at a node: note the subsets without one unit, and order its branches."""
    inverses, coefficients, orders, losses, places = stack
    starts, alive = shape
    best_sums, best_masks = best
    n_free, n_fixed, size = sizes[depth, 0], sizes[depth, 1], sizes[depth, 2]
    units = orders[depth, :n_free]
    drop_losses(inverses[depth], coefficients[depth], starts, units, losses[depth])
    ranked = np.argsort(-losses[depth, :n_free])
    kept, lost = units[ranked].copy(), losses[depth, :n_free][ranked].copy()
    copy(kept, orders[depth])
    copy(sums[depth] + lost, losses[depth])
    places[depth] = 0
    if n_free and size - 1 >= 0:
        last = n_free - 1  # the unit that is missed least
        if losses[depth, last] < best_sums[size - 1]:
            best_sums[size - 1] = losses[depth, last]
            best_masks[size - 1] = alive[depth]
            best_masks[size - 1, kept[last]] = False
    return n_fixed


@kernel()
def leap(state, starts, stack, best, limits):
    """Go on with the search for a number of nodes.

    state : int64 [depth, nodes visited]
        Depth −1: the tree is closed.
    stack : (inverses, coefficients, orders, losses, places, sums, sizes, alive), by depth
    best : (sums, masks), by size
    limits : (fewest, most, nodes to visit, share)
        A branch is left out unless it may lower a best sum by more than this share.
    """
    inverses, coefficients, orders, losses, places, sums, sizes, alive = stack
    best_sums = best[0]
    fewest, most, n_nodes, share = limits
    depth, visited = state[0], 0
    while depth >= 0 and visited < n_nodes:
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
        alive[child] = alive[depth]
        alive[child, unit] = False
        sums[child] = losses[depth, place]
        rest = n_free - place - 1
        copy(orders[depth, place + 1 : n_free], orders[child])
        sizes[child, 0], sizes[child, 1], sizes[child, 2] = rest, n_fixed + place, size - 1
        open_node(child, sums, (starts, alive), (inverses, coefficients, orders, losses, places), best, sizes)
        visited += 1
        depth = child
    state[0] = depth
    state[1] += visited
