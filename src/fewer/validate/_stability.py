"""Would other rows have given the same features? Indices of stability of several subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fewer.errors import InputError
from fewer.problem import BoolArray
from fewer.validate._intervals import ConfidenceInterval


def nogueira(masks: ArrayLike, *, level: float = 0.95) -> ConfidenceInterval:
    """Return the stability of subsets of any sizes: 1 if all are equal, 0 on average if they are drawn by chance.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    masks : bool array of shape (n_subsets, n_features)
    level : float, default=0.95

    Returns
    -------
    ConfidenceInterval
        Estimand: the stability of endlessly many subsets selected on independent samples like these. Subsets of
        overlapping training rows are more alike than that, so for the folds of a cross-validation it is too
        high. NaN if there was nothing to choose: every subset empty, or every one full.

    References
    ----------
    S. Nogueira, K. Sechidis and G. Brown, On the stability of feature selection algorithms, JMLR 18 (2018),
    definition 4 and theorem 7.

    Examples
    --------
    >>> print(nogueira([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]))
    0.3333 (-0.0223 to 0.6890, 95 % Nogueira)
    """
    z = _masks(masks).astype(np.float64)
    m, d = z.shape
    frequency, sizes = z.mean(axis=0), z.sum(axis=1)
    filled = frequency.mean()
    estimand = "stability of subsets selected on independent samples like these"
    if filled in (0.0, 1.0):
        return ConfidenceInterval(np.nan, np.nan, np.nan, level, "Nogueira", estimand)
    by_chance = filled * (1.0 - filled)
    value = 1.0 - m / (m - 1) * float(np.mean(frequency * (1.0 - frequency))) / by_chance
    parts = (
        z @ frequency / d - sizes * filled / d + value / 2 * (2 * sizes * filled / d - sizes / d - filled + 1.0)
    ) / by_chance
    error = float(2.0 / m * np.sqrt(np.sum((parts - parts.mean()) ** 2)))
    reach = float(stats.norm.ppf(0.5 + level / 2)) * error
    return ConfidenceInterval(value, value - reach, min(value + reach, 1.0), level, "Nogueira", estimand, error)


def kuncheva(masks: ArrayLike) -> float:
    """Return Kuncheva's consistency of subsets of one size: the mean over pairs of (r d − k²) / (k (d − k)).

    r features are shared by a pair, k is the size, d the number of features.

    Parameters
    ----------
    masks : array-like of shape (n_subsets, n_features)
        One subset a row.

    Returns
    -------
    float
        1 if all subsets are equal.

    References
    ----------
    L. Kuncheva, A stability index for feature selection, IASTED Artificial Intelligence and Applications (2007).

    Examples
    --------
    >>> kuncheva([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    0.3333333333333333
    """
    z = _masks(masks)
    sizes, d = z.sum(axis=1), z.shape[1]
    k = int(sizes[0])
    if (sizes != k).any():
        raise InputError(
            f"Kuncheva's index is for subsets of one size; these have {sizes.min()} to {sizes.max()} features. "
            "Use nogueira."
        )
    if k in (0, d):
        return float("nan")
    shared = np.array([np.sum(a & b) for a, b in combinations(z, 2)])
    return float(np.mean((shared * d - k * k) / (k * (d - k))))


def jaccard(masks: ArrayLike) -> float:
    """Return the mean over pairs of subsets of shared features over features in either; two empty ones are equal.

    Parameters
    ----------
    masks : array-like of shape (n_subsets, n_features)
        One subset a row.

    Returns
    -------
    float
        1 if all subsets are equal.

    Examples
    --------
    >>> jaccard([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    0.5555555555555555
    """
    pairs = [(np.sum(a & b), np.sum(a | b)) for a, b in combinations(_masks(masks), 2)]
    return float(np.mean([both / either if either else 1.0 for both, either in pairs]))


def _masks(masks: ArrayLike) -> BoolArray:
    z = np.asarray(masks) != 0
    if z.ndim != 2 or len(z) < 2:
        raise InputError(f"Stability needs at least 2 subsets as rows of a table, not an array of shape {z.shape}.")
    return z
