"""ROC curves, their upper hull, and where to stand on it (Scott, chapters 2 and 5; specification sections 4 to 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, rankdata
from sklearn.metrics import roc_curve as sklearn_roc_curve

from fewer.problem import BoolArray, FloatArray, InputError, IntArray


@dataclass(frozen=True)
class ChordPoint:
    """A point on a hull: vertex `low`, or `high` for a share of the rows.

    Parameters
    ----------
    low, high : int
        Numbers of neighboring vertices; the same at a vertex.
    share : float
        How often the decision is that of `high`.
    fpr, tpr : float
        The rates there.

    Examples
    --------
    >>> hull = roc_hull([0.1, 0.6], [0.6, 0.9])
    >>> hull.at_fpr(0.35)
    ChordPoint(low=1, high=2, share=0.5, fpr=0.35, tpr=0.75)
    """

    low: int
    high: int
    share: float
    fpr: float
    tpr: float


@dataclass(frozen=True, eq=False)
class RocLine:
    """A line in ROC space from (0, 0) to (1, 1)."""

    fpr: FloatArray
    tpr: FloatArray

    @cached_property
    def area(self) -> float:
        """Area under the line; under a curve, how often a positive outscores a negative, ties counted half."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def partial_area(self, max_fpr: float) -> float:
        """Area under the line up to a false positive rate; at most `max_fpr`.

        Parameters
        ----------
        max_fpr : float
            The highest false positive rate.

        Returns
        -------
        float
        """
        check_share(max_fpr, "max_fpr")
        inside = self.fpr <= max_fpr
        edge = float(np.interp(max_fpr, self.fpr, self.tpr)) if not inside.all() else float(self.tpr[-1])
        return float(np.trapezoid(np.append(self.tpr[inside], edge), np.append(self.fpr[inside], max_fpr)))


@dataclass(frozen=True, eq=False)
class RocHull(RocLine):
    """The best that choosing between classifiers can attain: a concave line from (0, 0) to (1, 1).

    Read more in the guide: :doc:`/methods/scott`.

    Parameters
    ----------
    fpr, tpr : arrays
        The vertices. No three of them lie on a line.
    points : int array
        Which of the given points stands at each vertex; −1 for a corner that no point stands on.

    Examples
    --------
    >>> hull = roc_hull([0.1, 0.2, 0.6], [0.6, 0.4, 0.9])
    >>> hull.points, round(hull.area, 3)
    (array([-1,  0,  2, -1]), 0.785)
    >>> hull.at_fpr(0.35)
    ChordPoint(low=1, high=2, share=0.5, fpr=0.35, tpr=0.75)
    """

    points: IntArray

    def tpr_at(self, fpr: ArrayLike) -> FloatArray:
        """Return the highest attainable true positive rate at false positive rates.

        Parameters
        ----------
        fpr : float or array
            False positive rates.

        Returns
        -------
        array
        """
        first = int(np.searchsorted(self.fpr, 0.0, side="right")) - 1
        return np.asarray(np.interp(np.asarray(fpr, dtype=np.float64), self.fpr[first:], self.tpr[first:]))

    def at_fpr(self, max_fpr: float) -> ChordPoint:
        """Return the point with the highest true positive rate at a false positive rate of at most `max_fpr`.

        This is Neyman and Pearson's choice. Between vertices a and b the share of b is
        (max_fpr − fpr_a) / (fpr_b − fpr_a), by Theorem 1 of the report.

        Parameters
        ----------
        max_fpr : float
            The highest false positive rate.

        Returns
        -------
        ChordPoint
        """
        check_share(max_fpr, "max_fpr")
        low = int(np.searchsorted(self.fpr, max_fpr, side="right")) - 1
        # Of vertices with one false positive rate (at 0 or 1) the last is the highest.
        if self.fpr[low] == max_fpr or low == len(self.fpr) - 1:
            return self.vertex(low)
        share = chord_share(self.fpr[low], self.fpr[low + 1], max_fpr)
        return ChordPoint(low, low + 1, share, max_fpr, float((1 - share) * self.tpr[low] + share * self.tpr[low + 1]))

    def at_cost(self, cost_fp: float = 1.0, cost_fn: float = 1.0, prevalence: float = 0.5) -> ChordPoint:
        """Return the vertex of least expected cost: where the iso-cost line of that slope touches the hull.

        Among equally cheap vertices the one with fewer false positives is taken.

        Parameters
        ----------
        cost_fp : float, default=1.0
            What a false positive costs.
        cost_fn : float, default=1.0
            What a false negative costs.
        prevalence : float, default=0.5
            Share of positives.

        Returns
        -------
        ChordPoint
        """
        costs = expected_cost(self.fpr, self.tpr, cost_fp, cost_fn, prevalence)
        return self.vertex(int(np.argmin(np.round(costs, 12))))

    def vertex(self, number: int) -> ChordPoint:
        """Return a vertex as a point.

        Parameters
        ----------
        number : int
            Counted from the left.

        Returns
        -------
        ChordPoint
        """
        return ChordPoint(number, number, 0.0, float(self.fpr[number]), float(self.tpr[number]))


def roc_hull(fpr: ArrayLike, tpr: ArrayLike) -> RocHull:
    """Return the upper hull of points in ROC space and the corners (0, 0) and (1, 1).

    Points within 10⁻¹² of a chord count as on it; of equal points the first is kept.

    Read more in the guide: :doc:`/methods/scott`.

    Parameters
    ----------
    fpr : float or array
        False positive rates.
    tpr : float or array
        True positive rates.

    Returns
    -------
    RocHull

    Examples
    --------
    >>> roc_hull([0.1, 0.2, 0.6], [0.6, 0.4, 0.9]).points
    array([-1,  0,  2, -1])
    """
    x, y = np.asarray(fpr, dtype=np.float64), np.asarray(tpr, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise InputError(f"fpr has shape {x.shape} and tpr {y.shape}; give one of each for every point.")
    if not np.all((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)):
        raise InputError("False and true positive rates are shares between 0 and 1.")
    x, y = np.concatenate([[0.0], x, [1.0]]), np.concatenate([[0.0], y, [1.0]])
    vertices = hull_vertices(x, y, tolerance=1e-12)
    points = vertices - 1
    return RocHull(x[vertices], y[vertices], np.where(points == len(x) - 2, -1, points))


def hull_vertices(fp: FloatArray, tp: FloatArray, tolerance: float = 0.0) -> IntArray:
    """Number the vertices of the upper hull from left to right; of collinear points the ends, of equal ones the first.

    With counts instead of rates all comparisons are exact. The lowest and the highest point must be among those given.
    """
    order = np.lexsort([np.arange(len(fp)), tp, fp])
    # The hull begins at the lowest point of the left edge and ends at the highest of the right one.
    chain: list[int] = []
    for point in order:
        if chain and fp[point] == fp[chain[-1]] and tp[point] == tp[chain[-1]]:
            continue
        while len(chain) >= 2 and _turns_left(fp, tp, chain[-2], chain[-1], point, tolerance):
            chain.pop()
        chain.append(int(point))
    return np.array(chain, dtype=np.int64)


def _turns_left(fp: FloatArray, tp: FloatArray, a: int, b: int, c: int, tolerance: float) -> bool:
    return bool((fp[b] - fp[a]) * (tp[c] - tp[a]) >= (tp[b] - tp[a]) * (fp[c] - fp[a]) - tolerance)


def chord_share(fpr_low: float, fpr_high: float, fpr: float) -> float:
    """Return how often the decision must be that of the classifier with more false positives (Theorem 1).

    Parameters
    ----------
    fpr_low : float
        False-positive rate of the lower end.
    fpr_high : float
        False-positive rate of the upper end.
    fpr : float or array
        False positive rates.

    Returns
    -------
    float

    Examples
    --------
    >>> chord_share(0.3, 0.5, 0.4)
    0.5
    """
    if not fpr_low <= fpr <= fpr_high or fpr_low == fpr_high:
        raise InputError(f"A false positive rate of {fpr:g} is not on the chord from {fpr_low:g} to {fpr_high:g}.")
    return round(float((fpr - fpr_low) / (fpr_high - fpr_low)), 15)


def expected_cost(
    fpr: ArrayLike, tpr: ArrayLike, cost_fp: float = 1.0, cost_fn: float = 1.0, prevalence: float = 0.5
) -> FloatArray:
    """Return the expected cost of a case: π (1 − tpr) cost_fn + (1 − π) fpr cost_fp.

    Read more in the guide: :doc:`/guide/costs`.

    Parameters
    ----------
    fpr : float or array
        False positive rates.
    tpr : float or array
        True positive rates.
    cost_fp : float, default=1.0
        What a false positive costs.
    cost_fn : float, default=1.0
        What a false negative costs.
    prevalence : float, default=0.5
        Share of positives.

    Returns
    -------
    array

    Examples
    --------
    >>> expected_cost(0.1, 0.8, cost_fp=1, cost_fn=5, prevalence=0.2).round(3)
    np.float64(0.28)
    """
    if not (0.0 < prevalence < 1.0):
        raise InputError(f"prevalence={prevalence!r}: give the share of positive cases, between 0 and 1.")
    if min(cost_fp, cost_fn) < 0 or max(cost_fp, cost_fn) <= 0 or not np.isfinite([cost_fp, cost_fn]).all():
        raise InputError(f"cost_fp={cost_fp!r} and cost_fn={cost_fn!r}: give costs of at least 0, one of them above.")
    misses = prevalence * cost_fn * (1.0 - np.asarray(tpr, dtype=np.float64))
    return np.asarray(misses + (1.0 - prevalence) * cost_fp * np.asarray(fpr, dtype=np.float64))


def iso_cost_slope(cost_fp: float = 1.0, cost_fn: float = 1.0, prevalence: float = 0.5) -> float:
    """Return the slope of lines of equal expected cost: (1 − π) cost_fp / (π cost_fn).

    Parameters
    ----------
    cost_fp : float, default=1.0
        What a false positive costs.
    cost_fn : float, default=1.0
        What a false negative costs.
    prevalence : float, default=0.5
        Share of positives.

    Returns
    -------
    float

    Examples
    --------
    >>> iso_cost_slope(cost_fp=1, cost_fn=5, prevalence=0.2)
    0.8
    """
    expected_cost(0.0, 0.0, cost_fp, cost_fn, prevalence)
    return float((1.0 - prevalence) * cost_fp / (prevalence * cost_fn)) if cost_fn > 0 else float("inf")


def iso_cost_line(
    point: ChordPoint, cost_fp: float = 1.0, cost_fn: float = 1.0, prevalence: float = 0.5
) -> tuple[FloatArray, FloatArray]:
    """Return the two ends, inside the unit square, of the line of equal expected cost through a point.

    Parameters
    ----------
    point : ChordPoint
        The point that the line passes.
    cost_fp : float, default=1.0
        What a false positive costs.
    cost_fn : float, default=1.0
        What a false negative costs.
    prevalence : float, default=0.5
        Share of positives.

    Returns
    -------
    (array, array)
        False positive rates and true positive rates of the ends.

    Examples
    --------
    >>> line = iso_cost_line(roc_hull([0.2], [0.7]).vertex(1))
    >>> [end.round(2).tolist() for end in line]
    [[0.0, 0.5], [0.5, 1.0]]
    """
    slope = iso_cost_slope(cost_fp, cost_fn, prevalence)
    if not np.isfinite(slope):
        return np.array([point.fpr, point.fpr]), np.array([0.0, 1.0])
    at_zero, at_one = point.tpr - slope * point.fpr, point.tpr + slope * (1.0 - point.fpr)
    ends = [(0.0, at_zero) if at_zero >= 0 else (-at_zero / slope, 0.0)]
    ends.append((1.0, at_one) if at_one <= 1 else ((1.0 - at_zero) / slope, 1.0))
    return np.array([x for x, _ in ends]), np.array([y for _, y in ends])


@dataclass(frozen=True, eq=False)
class RocCurve(RocLine):
    """The points of one score: for each threshold, the shares of negatives and positives that reach it.

    Parameters
    ----------
    fpr, tpr : arrays
        False and true positive rates, from (0, 0) to (1, 1), one point for each distinct score: rows with equal
        scores are called positive together.
    thresholds : array
        A row is called positive if its score is at least this; infinite at (0, 0).
    n_negative, n_positive : int
        Rows of each class.

    Examples
    --------
    >>> curve = RocCurve.of([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    >>> curve.tpr, curve.fpr, curve.area
    (array([0. , 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 1. ]), 0.875)
    """

    thresholds: FloatArray
    n_negative: int
    n_positive: int

    @classmethod
    def of(cls, y: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> RocCurve:
        """Make the curve of scores; the positive class is the last one unless named.

        Parameters
        ----------
        y : array of shape (n_samples,)
            Their target.
        scores : array of shape (n_samples,)
            Larger ones speak for the positive class.
        pos_label : label, optional
            The positive class; the last one if left out.

        Returns
        -------
        RocCurve
        """
        positive = positives(y, pos_label)
        values = as_scores(scores, len(positive))
        fpr, tpr, thresholds = sklearn_roc_curve(positive, values, drop_intermediate=False)
        return cls(fpr, tpr, thresholds, int((~positive).sum()), int(positive.sum()))

    def neyman_pearson(self, max_fpr: float) -> int:
        """Number the point with the highest true positive rate whose false positive rate is at most `max_fpr`.

        Parameters
        ----------
        max_fpr : float
            The highest false positive rate.

        Returns
        -------
        int
        """
        check_share(max_fpr, "max_fpr")
        return int(np.searchsorted(self.fpr, max_fpr, side="right")) - 1

    def hull(self) -> RocHull:
        """Return the upper hull, whose `points` number the points of this curve.

        Returns
        -------
        RocHull
        """
        fp, tp = np.round(self.fpr * self.n_negative), np.round(self.tpr * self.n_positive)
        points = hull_vertices(fp, tp)
        return RocHull(self.fpr[points], self.tpr[points], points)


def auroc(y: ArrayLike, scores: ArrayLike, *, pos_label: Any = None) -> float:
    """Return the area under the ROC curve as the Mann–Whitney statistic: P(s⁺ > s⁻) + ½ P(s⁺ = s⁻).

    Parameters
    ----------
    y : array of shape (n_samples,)
        Their target.
    scores : array of shape (n_samples,)
        Larger ones speak for the positive class.
    pos_label : label, optional
        The positive class; the last one if left out.

    Returns
    -------
    float

    Examples
    --------
    >>> auroc(["no", "no", "yes"], [1, 2, 2])
    0.75
    """
    positive = positives(y, pos_label)
    ranks = rankdata(as_scores(scores, len(positive)))
    n_positive = int(positive.sum())
    won = float(ranks[positive].sum()) - n_positive * (n_positive + 1) / 2
    return won / (n_positive * (len(positive) - n_positive))


def positives(y: ArrayLike, pos_label: Any = None) -> BoolArray:
    """Say which rows are positive; refuse anything but two classes."""
    labels: NDArray[Any] = np.asarray(y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InputError(f"A ROC curve is for two classes, but there are {len(classes)}; set one against the rest.")
    return np.asarray(labels == classes[class_code(classes.tolist(), pos_label)])


def class_code(classes: list[Any], pos_label: Any = None) -> int:
    """Return the place of the positive class, the last of two unless it is named."""
    if pos_label is None:
        return 1
    try:
        return classes.index(pos_label)
    except (TypeError, ValueError):  # not in the list, or an array, which cannot be compared with one label
        shown = " ".join(repr(pos_label).split())
        raise InputError(f"pos_label={shown} is not a class of the target, which has {classes}.") from None


def as_scores(scores: ArrayLike, n_rows: int) -> FloatArray:
    """Return scores as numbers; refuse other lengths and undefined ones."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (n_rows,):
        raise InputError(f"scores has shape {values.shape}, but there are {n_rows} rows; give one score per row.")
    if np.isnan(values).any():
        raise InputError(f"The score of row {int(np.argmax(np.isnan(values)))} is undefined (NaN).")
    return values


def check_share(value: float, name: str) -> None:
    """Refuse what is no share."""
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}={value!r}: give a share between 0 and 1.")


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
    lines, areas = np.empty((n_resamples, len(grid))), np.empty(n_resamples)
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
