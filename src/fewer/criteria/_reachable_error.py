"""What γ says about the error that a classifier can reach, and how many features rows need (Nel, chapter 8).

For classes, half of the squared difference of two outputs is ½ where they differ: as rows become many, γ tends to half
of the chance R that two rows at one place have different classes. That is the error of the nearest neighbor, and T.
Cover and P. Hart (IEEE Transactions on Information Theory 13, 1967) enclose the error of the best classifier by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from fewer.problem import FloatArray, InputError


def reachable_error(gamma: float, n_classes: int = 2) -> tuple[float, float]:
    """Return the range in which the least reachable error rate lies, given γ.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    gamma : float
        As `gamma_test` estimates it for classes; below 0 counts as 0.
    n_classes : int, default=2

    Returns
    -------
    (float, float)
        With R = 2 γ and c = (K − 1) / K: c (1 − √(1 − R / c)), and R, at most c.

    Examples
    --------
    >>> [round(edge, 3) for edge in reachable_error(0.08)]
    [0.088, 0.16]
    """
    if n_classes < 2:
        raise InputError(f"n_classes={n_classes}: an error rate needs at least two classes.")
    most = (n_classes - 1) / n_classes
    rate = min(max(2.0 * float(gamma), 0.0), most)
    return most * (1.0 - float(np.sqrt(1.0 - rate / most))), rate


def intrinsic_dimension(X: ArrayLike, n_neighbors: int = 10) -> float:
    """Estimate how many numbers it takes to say where a row lies: no more features than that are needed.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers, on scales that can be compared; rows that repeat are taken once.
    n_neighbors : int, default=10

    Returns
    -------
    float
        E. Levina and P. Bickel's maximum likelihood (NIPS 2004), the inverses averaged (D. MacKay and Z. Ghahramani).
        Use its ceiling as `n_features_to_select=(1, ceiling)`: the stopping size that the thesis asks for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 10))
    >>> round(intrinsic_dimension(plane), 1)
    2.0
    """
    cells: FloatArray = np.unique(np.asarray(X, dtype=np.float64), axis=0)
    if np.isnan(cells).any():
        raise InputError("X has missing cells; fill them first.")
    if len(cells) <= n_neighbors or n_neighbors < 2:
        raise InputError(
            f"{len(cells)} distinct rows are too few for {n_neighbors} neighbors; at least one more is needed."
        )
    found: Any = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(cells).kneighbors(cells)[0][:, 1:]
    logs = np.log(found[:, -1:] / found[:, :-1])
    return float((n_neighbors - 1) / logs.sum(axis=1).mean())
