"""Generalized matrix LVQ: what a step of its descent does besides matrix products, in one pass over the rows each.

The distance of a row x and a prototype w is d = ‖Ω(x − w)‖². With d₊ to the nearest prototype of the row's class, d₋ to
the nearest of any other, and s the weight of the row, the cost is Σ s (d₊ − d₋) / (d₊ + d₋).

Shapes: n rows, K prototypes, L matrices of M rows; images are (L·M, n), distances and whatever goes with them (K, n).
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import kernel


@kernel()
def margin_cost(distances, same, weights):
    """Sum s (d₊ − d₋) / (d₊ + d₋) over the rows; a row at distance 0 from both costs nothing."""
    cost = 0.0
    for i in range(distances.shape[1]):
        near = far = np.inf
        for k in range(distances.shape[0]):
            d = distances[k, i]
            if same[k, i]:
                near = min(near, d)
            else:
                far = min(far, d)
        whole = near + far
        if whole > 0:
            cost += weights[i] * (near - far) / whole
    return cost


@kernel()
def margin_pull(distances, same, weights):
    """Return `margin_cost` and its gradient by the distances: of equally near prototypes the first is pulled."""
    cost, pull = 0.0, np.zeros_like(distances)
    for i in range(distances.shape[1]):
        near = far = np.inf
        right = wrong = 0
        for k in range(distances.shape[0]):
            d = distances[k, i]
            if same[k, i]:
                if d < near:
                    near, right = d, k
            elif d < far:
                far, wrong = d, k
        whole = near + far
        if whole > 0:
            cost += weights[i] * (near - far) / whole
            # ∂/∂d₊ = 2 d₋ / (d₊ + d₋)², ∂/∂d₋ = −2 d₊ / (d₊ + d₋)².
            factor = 2.0 * weights[i] / (whole * whole)
            pull[right, i] = factor * far
            pull[wrong, i] = -factor * near
    return cost, pull


@kernel()
def squared_lengths(points, n_matrices):
    """Return the squared length of each row's image under each matrix, (L, n)."""
    width = points.shape[0] // n_matrices
    squares = np.zeros((n_matrices, points.shape[1]), points.dtype)
    for m in range(points.shape[0]):
        part, total = points[m], squares[m // width]
        for i in range(part.shape[0]):
            total[i] += part[i] * part[i]
    return squares


@kernel()
def distances_from_products(products, squares, targets, matrix_of):
    """Turn products of images with those of prototypes into squared distances, in place; none becomes negative."""
    for k in range(products.shape[0]):
        row, row_squares = products[k], squares[matrix_of[k % matrix_of.shape[0]]]
        length = targets.dtype.type(0)
        for m in range(targets.shape[1]):
            length += targets[k, m] * targets[k, m]
        for i in range(row.shape[0]):
            # ‖a − b‖² = ‖a‖² − 2 a·b + ‖b‖².
            d = row_squares[i] - 2 * row[i] + length
            row[i] = d if d > 0 else 0


@kernel()
def scaled_sum(points, others, scales):
    """Return (points + others) times one number for each matrix, and its squared lengths, (L, n)."""
    width = points.shape[0] // scales.shape[0]
    out, squares = np.empty_like(points), np.zeros((scales.shape[0], points.shape[1]), points.dtype)
    for m in range(points.shape[0]):
        part, one, other, scale, total = out[m], points[m], others[m], scales[m // width], squares[m // width]
        for i in range(part.shape[0]):
            value = (one[i] + other[i]) * scale
            part[i] = value
            total[i] += value * value
    return out, squares
