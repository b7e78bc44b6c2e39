"""What decisions cost: intervals, bounds, and the vertex to choose by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewer.problem import FloatArray, InputError
from fewer.roc._guarantee import upper_bound
from fewer.roc._hull import expected_cost
from fewer.validate import ConfidenceInterval


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
    return ConfidenceInterval(
        estimate,
        max(estimate - float(below), 0.0),
        estimate + float(above),
        fpr.level,
        "from the intervals of both rates",
        "the expected cost of a new row",
    )


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
    return ConfidenceInterval(
        estimate, float(low), float(high), fpr.level, "from the intervals of both rates", "the predictive value"
    )


def cost_bound(counts: tuple[float, float], sizes: tuple[int, int], costs: Costs, guarantee: float) -> float:
    """Return what the expected cost does not exceed with a probability, by exact bounds of both rates.

    Parameters
    ----------
    counts : (float, float)
        False positives and misses among the rows; a share of a row counts as a whole one.
    sizes : (int, int)
        Negative and positive rows.
    costs : Costs
    guarantee : float

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
    if not 0.0 < guarantee < 1.0:
        raise InputError(f"guarantee={guarantee!r}: give a probability between 0 and 1, such as 0.95.")
    each = 1.0 - (1.0 - guarantee) / 2.0
    fpr, misses = (upper_bound(int(np.ceil(k - 1e-9)), n, each) for k, n in zip(counts, sizes, strict=True))
    return fpr, misses
