"""The minimum spanning tree of the rows, grown by Prim's rule over quantised squared distances."""

from __future__ import annotations

import numpy as np
from numba import njit

from fewer.kernels._classifiability import FAR, add_terms


@njit(nogil=True, cache=True, error_model="numpy")
def spanning_tree(table, weights):
    """Return the parent of each row in the tree that grows from row 0 (−1 there); of equal edges the earlier row's."""
    n = table.columns.shape[1]
    used = np.flatnonzero(weights)
    parent = np.full(n, -1)
    best = np.full(n, FAR)
    outside = np.ones(n, dtype=np.bool_)
    d = np.empty(n)
    newest = 0
    for _ in range(n - 1):
        outside[newest] = False
        d[:] = 0.0
        for f in used:
            add_terms(d, d, newest, 0, f, weights[f], table)
        nearest, distance = -1, 2.0 * FAR
        for j in range(n):
            if outside[j]:
                if d[j] < best[j]:
                    best[j] = d[j]
                    parent[j] = newest
                if best[j] < distance:
                    nearest, distance = j, best[j]
        newest = nearest
    return parent
