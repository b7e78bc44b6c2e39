"""How sure is an area under a ROC curve, and do two differ? (Scott, appendix A; specification section 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, rankdata

from fewer.problem import FloatArray, InputError
from fewer.roc._curve import as_scores, check_share, positives


def hanley_mcneil(area: float, n_positive: int, n_negative: int) -> float:
    """Return the standard error of an area under a ROC curve.

    SE² = [A(1 − A) + (n⁺ − 1)(Q₁ − A²) + (n⁻ − 1)(Q₂ − A²)] / (n⁺ n⁻), Q₁ = A / (2 − A), Q₂ = 2A² / (1 + A).

    Parameters
    ----------
    area : float
        Under the ROC curve.
    n_positive : int
        Positive rows.
    n_negative : int
        Negative rows.

    Returns
    -------
    float

    References
    ----------
    J. Hanley and B. McNeil, The meaning and use of the area under a ROC curve, Radiology 143 (1982).

    Examples
    --------
    >>> round(hanley_mcneil(0.893, 51, 58), 3)
    0.033
    """
    check_share(area, "area")
    if min(n_positive, n_negative) < 1:
        raise InputError(f"{n_positive} positive and {n_negative} negative rows; at least one of each is needed.")
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (n_positive - 1) * (q1 - area**2) + (n_negative - 1) * (q2 - area**2)
    return float(np.sqrt(max(spread, 0.0) / (n_positive * n_negative)))


def critical_ratio(
    area_a: float, area_b: float, n_positive: int, n_negative: int, *, correlation: float = 0.0
) -> float:
    """Return z = (A_a − A_b) / √(SE_a² + SE_b² − 2 r SE_a SE_b) for two areas on rows of these numbers.

    Without an estimate of the correlation r, as for hulls, r = 0 is the cautious choice.

    Parameters
    ----------
    area_a : float
        Of one model.
    area_b : float
        Of the other.
    n_positive : int
        Positive rows.
    n_negative : int
        Negative rows.
    correlation : float, default=0.0
        Of the two areas.

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_ratio(0.9116, 0.9007, 11360, 3700), 4)
    3.2764
    """
    error_a, error_b = (hanley_mcneil(area, n_positive, n_negative) for area in (area_a, area_b))
    error = np.sqrt(max(error_a**2 + error_b**2 - 2 * correlation * error_a * error_b, 0.0))
    if error == 0.0:
        return 0.0 if area_a == area_b else float(np.copysign(np.inf, area_a - area_b))
    return float((area_a - area_b) / error)


@dataclass(frozen=True, eq=False)
class AreaComparison:
    """Two areas on the same rows, and whether they differ.

    Parameters
    ----------
    areas : array of shape (2,)
        The two areas.
    covariance : array of shape (2, 2)
        Of the two areas.
    difference, low, high : float
        First less second area, with its interval at `level`.
    z, p_value : float
        Two-sided, against equal areas.
    level : float
        Of the interval.

    See Also
    --------
    delong_test : Makes one.

    Examples
    --------
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> test = delong_test(y, [1, 2, 3, 6, 4, 5, 7, 8], [2, 1, 5, 7, 3, 6, 4, 8])
    >>> round(test.difference, 3), test.low < 0 < test.high
    (0.188, True)
    """

    areas: FloatArray
    covariance: FloatArray
    difference: float
    low: float
    high: float
    z: float
    p_value: float
    level: float


def delong_test(
    y: ArrayLike, scores_a: ArrayLike, scores_b: ArrayLike, *, pos_label: Any = None, level: float = 0.95
) -> AreaComparison:
    """Compare the areas under two ROC curves on the same rows.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Two classes; the last one is positive unless `pos_label` says otherwise.
    scores_a, scores_b : arrays of shape (n_samples,)
        Of the two models.
    pos_label : label, optional
        The positive class; the last one if left out.
    level : float, default=0.95
        Of the interval of the difference.

    Returns
    -------
    AreaComparison

    References
    ----------
    E. DeLong, D. DeLong and D. Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
    characteristic curves, Biometrics 44 (1988). Computed from mid-ranks, after X. Sun and W. Xu (2014).

    Examples
    --------
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> test = delong_test(y, [1, 2, 3, 6, 4, 5, 7, 8], [2, 1, 5, 7, 3, 6, 4, 8])
    >>> test.areas, round(test.p_value, 3)
    (array([0.875 , 0.6875]), 0.268)
    """
    positive = positives(y, pos_label)
    parts = [_placements(positive, as_scores(scores, len(positive))) for scores in (scores_a, scores_b)]
    areas = np.array([on_positives.mean() for on_positives, _ in parts])
    covariance = sum(_covariance(np.stack(side)) for side in zip(*parts, strict=True))
    variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    difference, error = float(areas[0] - areas[1]), float(np.sqrt(max(variance, 0.0)))
    z = difference / error if error > 1e-12 else (0.0 if abs(difference) < 1e-12 else np.inf * np.sign(difference))
    reach = float(norm.ppf(0.5 + level / 2)) * error
    p_value = float(2 * norm.sf(abs(z)))
    return AreaComparison(areas, covariance, difference, difference - reach, difference + reach, z, p_value, level)


def _placements(positive: Any, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the share of negatives below each positive, and of positives above each negative, ties by half."""
    ranks = rankdata(scores)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    below = (ranks[positive] - rankdata(scores[positive])) / n_negative
    above = 1.0 - (ranks[~positive] - rankdata(scores[~positive])) / n_positive
    return below, above


def _covariance(placements: FloatArray) -> Any:
    n = placements.shape[1]
    return np.cov(placements) / n if n > 1 else np.zeros((len(placements), len(placements)))


@dataclass(frozen=True, eq=False)
class RocBand:
    """Intervals of the true positive rate at false positive rates, one by one, by the bootstrap.

    Parameters
    ----------
    fpr : array
        Where it is looked.
    low, high : arrays
        Ends of the interval of the true positive rate.
    areas : array
        Area of each resample.
    level : float
        Of the intervals.

    See Also
    --------
    bootstrap_band : Makes one.

    Examples
    --------
    >>> band = bootstrap_band([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], fpr=[0.5], n_resamples=200)
    >>> len(band.areas), band.level
    (200, 0.95)
    """

    fpr: FloatArray
    low: FloatArray
    high: FloatArray
    areas: FloatArray
    level: float


def bootstrap_band(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    pos_label: Any = None,
    fpr: ArrayLike | None = None,
    level: float = 0.95,
    n_resamples: int = 500,
    random_state: int = 0,
) -> RocBand:
    """Draw rows of each class again and again and see how the curve moves.

    Parameters
    ----------
    y, scores : arrays of shape (n_samples,)
        Targets and scores of the rows.
    pos_label : label, optional
        The positive class; the last one if left out.
    fpr : array, optional
        Where to look; 101 even steps if left out.
    level : float, default=0.95
        How sure the interval is.
    n_resamples : int, default=500
        How often rows are drawn again.
    random_state : int, default=0
        Seed of all that is random.

    Returns
    -------
    RocBand
        Percentile intervals, and the area of each resample.

    Examples
    --------
    >>> band = bootstrap_band([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], fpr=[0.5], n_resamples=200)
    >>> bool(band.low[0] <= 1.0 <= band.high[0])
    True
    """
    positive = positives(y, pos_label)
    values = as_scores(scores, len(positive))
    ups, downs = np.sort(values[positive]), np.sort(values[~positive])
    grid = np.linspace(0.0, 1.0, 101) if fpr is None else np.asarray(fpr, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    lines = np.empty((n_resamples, len(grid)))
    areas = np.empty(n_resamples)
    for i in range(n_resamples):
        up, down = np.sort(rng.choice(ups, len(ups))), np.sort(rng.choice(downs, len(downs)))
        cuts = np.unique(np.concatenate([up, down]))[::-1]
        false = np.append(0.0, 1.0 - np.searchsorted(down, cuts) / len(down))
        true = np.append(0.0, 1.0 - np.searchsorted(up, cuts) / len(up))
        # The last point at each false positive rate is the highest.
        last = np.append(false[1:] != false[:-1], True)
        lines[i] = np.interp(grid, false[last], true[last])
        areas[i] = np.trapezoid(true, false)
    low, high = np.quantile(lines, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return RocBand(grid, low, high, areas, level)
