"""A limit on false positives that is kept: which point of a hull may be used (Neyman–Pearson classification).

A hull is fitted to the validation rows, so its points promise too much. Rows that neither training nor validation has
seen tell the truth: go along the hull from the corner where nothing is called positive; at each point test, by the
exact binomial distribution, the claim that its false positive rate is above the limit; and stop before the first point
at which the claim cannot be rejected. Since the points and their order were fixed before the calibration rows are
looked at, the chance that the point chosen is above the limit is at most one minus the guarantee, however many points
there are (testing in a fixed sequence; A. Angelopoulos et al., Learn then test, 2021). For points that differ in the
threshold alone this is the order-statistic rule of X. Tong, Y. Feng and J. J. Li, Neyman–Pearson classification
algorithms and NP receiver operating characteristics, Science Advances 4 (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, binom

from fewer.problem import BoolArray, FloatArray, InputError

STEPS = 32
"""Points tried on each edge of the hull."""


@dataclass(frozen=True)
class Kept:
    """Where a limit is kept: on the edge from vertex `low` to the next one, at `share` of the way.

    Attributes
    ----------
    n_false, n_negative : int
        False positives among the calibration rows of the negative class.
    """

    low: int
    share: float
    n_false: int
    n_negative: int


def rows_needed(max_fpr: float, guarantee: float) -> int:
    """Return the number of negative rows below which no classifier can be shown to keep the limit.

    Examples
    --------
    >>> rows_needed(0.1, 0.95)
    29
    """
    return int(np.ceil(np.log(1.0 - guarantee) / np.log(1.0 - max_fpr)))


def upper_bound(n_false: int, n_negative: int, guarantee: float) -> float:
    """Return the exact one-sided upper bound of a rate (Clopper and Pearson 1934).

    Examples
    --------
    >>> round(upper_bound(0, 29, 0.95), 4)
    0.0981
    """
    return 1.0 if n_false >= n_negative else float(beta.ppf(guarantee, n_false + 1, n_negative - n_false))


def last_point_kept(
    called: BoolArray, shares: FloatArray | Callable[[int], FloatArray], max_fpr: float, guarantee: float
) -> Kept:
    """Go along a hull for as long as the calibration rows show that the limit is kept.

    Parameters
    ----------
    called : bool array of shape (n_vertices, n_rows)
        Which calibration rows of the negative class each vertex calls positive; the first calls none.
    shares : array of shape (n_samples,), or callable
        The number that decides who decides a row: between two vertices the second does if it is below the share. A
        callable returns them for the side of the hull that starts at a vertex.
    max_fpr, guarantee : float

    Returns
    -------
    Kept
    """
    n_negative = called.shape[1]
    if not 0.0 < guarantee < 1.0:
        raise InputError(f"guarantee={guarantee!r}: give a probability between 0 and 1, such as 0.95.")
    if max_fpr >= 1.0:
        return Kept(len(called) - 1, 0.0, n_negative, n_negative)
    if max_fpr <= 0.0:
        return Kept(0, 0.0, 0, n_negative)
    needed = rows_needed(max_fpr, guarantee)
    if n_negative < needed:
        raise InputError(
            f"A false positive rate of at most {max_fpr:g} cannot be guaranteed with probability {guarantee:g} by "
            f"{n_negative} negative calibration rows; {needed} are needed. Give more rows, a larger calibration "
            "share, a higher limit or a lower guarantee."
        )
    allowed = most_allowed(n_negative, max_fpr, guarantee)
    kept = Kept(0, 0.0, 0, n_negative)
    for low in range(len(called) - 1):
        before, after = called[low], called[low + 1]
        drawn = shares(low) if callable(shares) else shares
        for step in range(1, STEPS + 1):
            share = step / STEPS
            n_false = int(np.where(drawn < share, after, before).sum())
            if n_false > allowed:
                return kept
            at_vertex = step == STEPS
            kept = Kept(low + 1 if at_vertex else low, 0.0 if at_vertex else share, n_false, n_negative)
    return kept


def most_allowed(n_negative: int, max_fpr: float, guarantee: float) -> int:
    """Return the largest number of false positives that still rejects a rate above the limit; −1 if none does.

    Examples
    --------
    >>> most_allowed(29, 0.1, 0.95), most_allowed(28, 0.1, 0.95), most_allowed(100, 0.1, 0.95)
    (0, -1, 4)
    """
    counts = np.arange(n_negative + 1)
    return int(np.searchsorted(binom.cdf(counts, n_negative, max_fpr), 1.0 - guarantee, side="right")) - 1
