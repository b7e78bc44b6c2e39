"""Linear predictions of held-out rows, fold by fold, by bordering a Cholesky factor.

With G = L Lᵀ the products of the members, m their products with the targets and x a test row, the prediction is the
constant + zᵀw, z = L⁻¹x and w = L⁻¹m. A column more, with products g and g_new, has v = L⁻¹g, leaves the length
l = g_new − vᵀv, and adds (x_new − vᵀz)(m_new − vᵀw) / l. Linear discriminants are the same less `half` of the squares
of these weights, ½ wᵀw.

Test rows (`HeldOut`) come without the mean and in the units of their own fold's training rows, whose products are
`Products`. `sure`, (m, f), is False where a column is so nearly a combination of the others that digits are lost.
"""

from __future__ import annotations

import numpy as np

from fewer.kernels.compiling import copy, inner, kernel


@inner()
def factor(gram, members, lower, least):
    """Write the Cholesky factor of the members' products; say whether every pivot is large enough."""
    for a in range(members.shape[0]):
        for b in range(a + 1):
            # L_ab = (G_ab − Σ_k L_ak L_bk) / L_bb; the pivot is what earlier members leave of column a.
            total = gram[members[a], members[b]]
            for k in range(b):
                total -= lower[a, k] * lower[b, k]
            if a == b:
                if total <= least * gram[members[a], members[a]] or total <= 0.0:
                    return False
                lower[a, a] = np.sqrt(total)
            else:
                lower[a, b] = total / lower[b, b]
    return True


@inner(fastmath={"contract", "reassoc", "nsz"})
def whiten(members, rows, products, fold, lower, shares, coordinates, base):
    """Write the members' coordinates of test rows, (k, n), their weights for the targets, (k, c), and predictions."""
    low, n = rows.bounds[fold], base.shape[1]
    for j in range(base.shape[0]):
        base[j, :] = products.constant[fold, j]
    for a in range(members.shape[0]):
        # The member's part that is orthogonal to those before it, at length 1 on the training rows (Gram–Schmidt).
        line = coordinates[a]
        for i in range(n):
            line[i] = rows.columns[members[a], low + i]
        for b in range(a):
            share = lower[a, b]
            for i in range(n):
                line[i] -= share * coordinates[b, i]
        for i in range(n):
            line[i] /= lower[a, a]
        for j in range(base.shape[0]):
            # In orthonormal coordinates each coefficient is a product with the target, and none depends on the others.
            total = products.moments[fold, members[a], j]
            for b in range(a):
                total -= lower[a, b] * shares[b, j]
            shares[a, j] = total / lower[a, a]
            for i in range(n):
                base[j, i] += shares[a, j] * line[i]
            square = products.half * shares[a, j] ** 2
            for i in range(n):
                base[j, i] -= square


@inner(fastmath={"contract", "reassoc", "nsz"})
def border(gram, members, new, lower, v):
    """Write the new column's weights on the members' coordinates; return what they leave of its square."""
    length = gram[new, new]
    for a in range(members.shape[0]):
        total = gram[new, members[a]]
        for b in range(a):
            total -= lower[a, b] * v[b]
        v[a] = total / lower[a, a]
        length -= v[a] * v[a]
    return length


@kernel(fastmath={"contract", "reassoc", "nsz"})
def predict_added(members, added, rows, products, out, sure):
    """Predict from the members and each of `added`, one at a time: (q, n, c)."""
    k, c = members.shape[0], products.moments.shape[2]
    lower, shares, v = np.empty((k, k)), np.empty((k, c)), np.empty(k)
    for fold in range(rows.bounds.shape[0] - 1):
        low, n = rows.bounds[fold], rows.bounds[fold + 1] - rows.bounds[fold]
        gram = products.gram[fold]
        if not factor(gram, members, lower, products.least):
            sure[:, fold] = False
            continue
        coordinates, base, rest = np.empty((k, n)), np.empty((c, n)), np.empty(n)
        whiten(members, rows, products, fold, lower, shares, coordinates, base)
        for q in range(added.shape[0]):
            new = added[q]
            length = border(gram, members, new, lower, v)
            if length <= products.least * gram[new, new] or length <= 0.0:
                sure[q, fold] = False
                continue
            # One more orthogonal direction, so one more term: what the members leave of the column times
            # (what they leave of its product with the target) / (its length).
            copy(rows.columns[new, low : low + n], rest)
            for a in range(k):
                for i in range(n):
                    rest[i] -= v[a] * coordinates[a, i]
            for j in range(c):
                total = products.moments[fold, new, j]
                for a in range(k):
                    total -= v[a] * shares[a, j]
                scale, shift = total / length, products.half * total * total / length
                for i in range(n):
                    out[q, low + i, j] = base[j, i] + scale * rest[i] - shift
