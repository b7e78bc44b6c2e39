"""Rates on rows that nothing was chosen by: their intervals, what they cost, and which limits they show to be kept.

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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.stats import beta, binom

from fewer.problem import BoolArray, FloatArray, InputError
from fewer.roc._curve import ChordPoint, expected_cost
from fewer.roc._realisable import Digests, joint_digests, shares
from fewer.validate import ConfidenceInterval, wilson_interval

# Points tried on each edge of the hull.
STEPS = 32
FROM_BOTH = "from the intervals of both rates"


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


def last_point_kept(called: BoolArray, draws: Callable[[int], FloatArray], max_fpr: float, guarantee: float) -> Kept:
    """Go along a hull for as long as the calibration rows show that the limit is kept.

    Parameters
    ----------
    called : bool array of shape (n_vertices, n_rows)
        Which calibration rows of the negative class each vertex calls positive; the first calls none.
    draws : callable
        Takes the vertex at which a side of the hull starts and returns, for each row, the number that decides who
        decides it: the second vertex does if it is below the share.
    max_fpr, guarantee : float
        The largest false-positive rate, and how sure it is to be kept.

    Returns
    -------
    Kept
    """
    n_negative = called.shape[1]
    _check_guarantee(guarantee)
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
        drawn = draws(low)
        for step in range(1, STEPS + 1):
            share = step / STEPS
            n_false = int(np.where(drawn < share, after, before).sum())
            if n_false > allowed:
                return kept
            kept = Kept(*((low, share) if step < STEPS else (low + 1, 0.0)), n_false, n_negative)
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


@dataclass(frozen=True)
class Costs:
    """What a false positive and a false negative cost, and how frequent positives are."""

    cost_fp: float
    cost_fn: float
    prevalence: float

    def __post_init__(self) -> None:
        expected_cost(0.0, 0.0, self.cost_fp, self.cost_fn, self.prevalence)

    def of(self, fpr: FloatArray | float, tpr: FloatArray | float) -> FloatArray:
        """Return the expected cost of a case at these rates."""
        return expected_cost(fpr, tpr, self.cost_fp, self.cost_fn, self.prevalence)

    @property
    def trivial(self) -> tuple[float, float]:
        """Return what calling nothing, and what calling everything positive costs; no row is needed to know it."""
        return self.prevalence * self.cost_fn, (1.0 - self.prevalence) * self.cost_fp


def smoothed(fpr: FloatArray, tpr: FloatArray, sizes: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Return rates with half a row added on each side (Jeffreys): rows that are all alike do not mean certainty.

    The two corners need no row and stay as they are.

    Examples
    --------
    >>> fpr, tpr = smoothed(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]), (9, 4))
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.05, 1.0], [0.0, 0.9, 1.0])
    """
    corner = (fpr == tpr) & ((fpr == 0.0) | (fpr == 1.0))
    soft = [(rate * n + 0.5) / (n + 1) for rate, n in zip((fpr, tpr), sizes, strict=True)]
    return np.where(corner, fpr, soft[0]), np.where(corner, tpr, soft[1])


def cost_interval(fpr: ConfidenceInterval, tpr: ConfidenceInterval, costs: Costs) -> ConfidenceInterval:
    """Return the expected cost with its interval, from those of the two rates (the MOVER of Zou and Donner 2008).

    Examples
    --------
    >>> from fewer.validate import wilson_interval
    >>> band = cost_interval(wilson_interval(10, 100), wilson_interval(45, 50), Costs(1.0, 5.0, 0.2))
    >>> round(band.estimate, 3), band.low < band.estimate < band.high
    (0.18, True)
    """
    by_fp, by_fn = (1.0 - costs.prevalence) * costs.cost_fp, costs.prevalence * costs.cost_fn
    estimate = float(costs.of(fpr.estimate, tpr.estimate))
    below = np.hypot(by_fp * (fpr.estimate - fpr.low), by_fn * (tpr.high - tpr.estimate))
    above = np.hypot(by_fp * (fpr.high - fpr.estimate), by_fn * (tpr.estimate - tpr.low))
    low, high = max(estimate - float(below), 0.0), estimate + float(above)
    return ConfidenceInterval(estimate, low, high, fpr.level, FROM_BOTH, "the expected cost of a new row")


def predictive_value(fpr: ConfidenceInterval, tpr: ConfidenceInterval, prevalence: float) -> ConfidenceInterval:
    """Return the share of positives among the rows that are called positive, with its interval.

    The log-odds are the sum of those of the prevalence and of the logarithm of tpr / fpr, so that the interval comes
    from those of the two rates (the MOVER on the scale of logarithms).

    Examples
    --------
    >>> from fewer.validate import wilson_interval
    >>> band = predictive_value(wilson_interval(10, 100), wilson_interval(45, 50), 0.2)
    >>> round(band.estimate, 4), band.low < band.estimate < band.high
    (0.6923, True)
    """
    if tpr.estimate == 0.0 and fpr.estimate == 0.0:
        return ConfidenceInterval(
            float("nan"), 0.0, 1.0, fpr.level, "nothing is called positive", "the predictive value"
        )

    def value(true: float, false: float) -> float:
        caught, wrong = prevalence * true, (1.0 - prevalence) * false
        return caught / (caught + wrong) if caught + wrong > 0 else 1.0

    def reach(a: float, b: float, c: float, d: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nan_to_num(np.hypot(np.log(a) - np.log(b), np.log(c) - np.log(d)), nan=np.inf))

    estimate = value(tpr.estimate, fpr.estimate)
    if fpr.estimate == 0.0 or tpr.estimate == 0.0:
        low, high = value(tpr.low, fpr.high), value(tpr.high, fpr.low)
    else:
        down = reach(tpr.estimate, tpr.low, fpr.high, fpr.estimate)
        up = reach(tpr.high, tpr.estimate, fpr.estimate, fpr.low)
        odds = prevalence * tpr.estimate / ((1.0 - prevalence) * fpr.estimate)
        low = odds * np.exp(-down) / (1.0 + odds * np.exp(-down))
        high = 1.0 if np.isinf(up) else odds * np.exp(up) / (1.0 + odds * np.exp(up))
    return ConfidenceInterval(estimate, float(low), float(high), fpr.level, FROM_BOTH, "the predictive value")


def cost_bound(counts: tuple[float, float], sizes: tuple[int, int], costs: Costs, guarantee: float) -> float:
    """Return what the expected cost does not exceed with a probability, by exact bounds of both rates.

    Parameters
    ----------
    counts : (float, float)
        False positives and misses among the rows; a share of a row counts as a whole one.
    sizes : (int, int)
        Negative and positive rows.
    costs : Costs
        Of the two errors.
    guarantee : float
        How sure the promise is: 0.95 keeps it in 95 of 100 samples.

    Returns
    -------
    float

    Examples
    --------
    >>> round(cost_bound((0, 0), (100, 50), Costs(1.0, 5.0, 0.2), 0.95), 4)
    0.1001
    """
    fpr, misses = error_bounds(counts, sizes, guarantee)
    return float(costs.of(fpr, 1.0 - misses))


def error_bounds(counts: tuple[float, float], sizes: tuple[int, int], guarantee: float) -> tuple[float, float]:
    """Return what the false positive rate and the rate of misses do not exceed, both with a probability.

    Examples
    --------
    >>> [round(bound, 4) for bound in error_bounds((0, 0), (100, 50), 0.95)]
    [0.0362, 0.0711]
    """
    _check_guarantee(guarantee)
    each = 1.0 - (1.0 - guarantee) / 2.0
    fpr, misses = (upper_bound(int(np.ceil(k - 1e-9)), n, each) for k, n in zip(counts, sizes, strict=True))
    return fpr, misses


def _check_guarantee(guarantee: float) -> None:
    if not 0.0 < guarantee < 1.0:
        raise InputError(f"guarantee={guarantee!r}: give a probability between 0 and 1, such as 0.95.")


# Share of rows that must be told apart by the cells in use for their hash to stand in for a draw.
DISTINCT = 0.95

Choice = Literal["hash", "random"]


@dataclass(frozen=True)
class Rates:
    """False and true positive rate with their intervals, and the rows that they were measured on.

    Attributes
    ----------
    fpr, tpr : ConfidenceInterval
    rows : {"calibration", "validation"}
    """

    fpr: ConfidenceInterval
    tpr: ConfidenceInterval
    rows: Literal["calibration", "validation"]


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Rows that rates are measured on. Their cells are not kept.

    Attributes
    ----------
    called : bool array of shape (n_vertices, n_samples)
        Which rows each vertex calls positive.
    positive : bool array of shape (n_samples,)
    digests : uint64 array of shape (n_vertices, n_samples)
        Numbers made of the cells that each vertex uses.
    weight : float array of shape (n_samples,) or None
    rows : {"calibration", "validation"}
    """

    called: BoolArray
    positive: BoolArray
    digests: Digests
    weight: FloatArray | None
    rows: Literal["calibration", "validation"]

    @cached_property
    def vertex_rates(self) -> tuple[FloatArray, FloatArray]:
        """Return the false and the true positive rate of each vertex."""
        weight = np.ones(len(self.positive)) if self.weight is None else self.weight
        fpr, tpr = (
            self.called[:, side] @ weight[side] / max(weight[side].sum(), 1e-300)
            for side in (~self.positive, self.positive)
        )
        return fpr, tpr

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Return how many negative and positive rows of equal weight would tell as much (Kish)."""
        if self.weight is None:
            return float((~self.positive).sum()), float(self.positive.sum())
        sides = [self.weight[side] for side in (~self.positive, self.positive)]
        negative, positive = (float(w.sum() ** 2 / (w**2).sum()) if (w > 0).any() else 0.0 for w in sides)
        return negative, positive

    def rates(self, point: ChordPoint) -> Rates:
        """Return the rates of a point: between two vertices, the mean over the draw of who decides."""
        bands = []
        for rates, n in zip(self.vertex_rates, self.sizes, strict=True):
            share = float((1 - point.share) * rates[point.low] + point.share * rates[point.high])
            about = "the probability that a new row of its class is called positive"
            bands.append(
                replace(wilson_interval(min(max(share, 0.0), 1.0) * n, n), estimand=about)
                if n > 0
                else ConfidenceInterval(float("nan"), 0.0, 1.0, 0.95, "no row of this class", about)
            )
        return Rates(bands[0], bands[1], self.rows)

    def told_apart(self, low: int, high: int) -> float:
        """Return the share of rows with distinct cells, among those that two vertices use."""
        return len(np.unique(joint_digests(self.digests[low], self.digests[high]))) / len(self.positive)

    def draws(self, low: int, high: int, choice: Choice, seed: Any) -> FloatArray:
        """Return the number of each row that decides who decides it."""
        if choice == "random":
            return np.random.default_rng(0 if seed is None else seed).random(len(self.positive))
        return shares(joint_digests(self.digests[low], self.digests[high]), seed)
