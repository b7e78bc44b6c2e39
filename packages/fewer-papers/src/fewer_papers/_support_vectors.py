"""RBF support vector machines of two classes on a grid of C and γ, with one kernel matrix for each γ.

scikit-learn's `SVC` computes the kernel anew for each C and checks its input each time, which takes longer than the
machine on a few hundred rows. Here its own solver (libsvm, as scikit-learn compiles it) gets the kernel. A small
problem is solved both ways first; where they do not agree, or the solver has another signature, `SVC` does the work.
The two agree within the tolerance at which the solver stops: the last bits of the kernel decide which pair of rows it
moves next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from sklearn.svm import SVC

from fewer.problem import FloatArray, IntArray

CACHE_MB, TOLERANCE = 200.0, 1e-3
"""As `SVC` has them."""


def grid_scores(Z: FloatArray, y: IntArray, Z_new: FloatArray, grid: Sequence[tuple[float, float]]) -> list[FloatArray]:
    """Return the decision values of new rows by a machine for each (C, γ), higher for the second class.

    Parameters
    ----------
    Z : array of shape (n_samples, n_features)
        Rows to learn from, standardized.
    y : array of shape (n_samples,)
        Codes of two classes.
    Z_new : array of shape (n_new, n_features)
        The rows that are predicted.
    grid : sequence of (float, float)
        Pairs of C and gamma.

    Returns
    -------
    list of array of shape (n_new,)

    Examples
    --------
    >>> rows = np.array([[-1.0], [-0.8], [0.9], [1.0]])
    >>> grid_scores(rows, np.array([0, 0, 1, 1]), np.array([[-2.0], [2.0]]), [(1.0, 0.5)])[0] > 0
    array([False,  True])
    """
    if not _solver_agrees() or len(np.unique(y)) != 2:
        return [np.asarray(SVC(C=C, gamma=gamma).fit(Z, y).decision_function(Z_new)) for C, gamma in grid]
    return _solve(Z, y, Z_new, grid)


def _solve(Z: FloatArray, y: IntArray, Z_new: FloatArray, grid: Sequence[tuple[float, float]]) -> list[FloatArray]:
    from sklearn.svm import _libsvm

    _libsvm.set_verbosity_wrap(0)
    targets, none = (y == y.max()).astype(np.float64), np.empty(0)
    apart, apart_new = _squared_distances(Z, Z), _squared_distances(Z_new, Z)
    kernels = {gamma: (np.exp(-gamma * apart), np.exp(-gamma * apart_new)) for gamma in {gamma for _, gamma in grid}}
    scores = []
    for C, gamma in grid:
        kernel, kernel_new = kernels[gamma]
        found = _libsvm.fit(
            kernel, targets, svm_type=0, kernel="precomputed", C=C, class_weight=none, sample_weight=none,
            cache_size=CACHE_MB, tol=TOLERANCE,
        )  # fmt: skip
        support, coefficients, intercept = found[0], found[3][0], found[4][0]
        # libsvm counts its first class as positive.
        scores.append(-(kernel_new[:, support] @ coefficients + intercept))
    return scores


def _squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    lengths = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    return np.asarray(lengths - 2.0 * (A @ B.T))


@cache
def _solver_agrees() -> bool:
    """Solve a small problem both ways."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    rows[y == 1] += 0.7
    grid = [(0.5, 0.2), (20.0, 1.0)]
    try:
        ours = _solve(rows, y, rows[:9], grid)
    except (ImportError, TypeError, ValueError, LookupError, AttributeError):
        return False
    theirs = [SVC(C=C, gamma=gamma).fit(rows, y).decision_function(rows[:9]) for C, gamma in grid]
    return bool(np.allclose(ours, theirs, rtol=0.0, atol=5 * TOLERANCE))
