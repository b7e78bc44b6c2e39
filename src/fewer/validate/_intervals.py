"""Intervals for cross-validated scores, and what exactly they are intervals of.

The scores of the folds of one cross-validation are not independent: fold i trains the rule that is tested on fold j
and the other way round, so chance agreement between the two folds counts in both scores. On noise that alone doubles
the variance of the mean of a stable rule (Nadeau and Bengio's correction is of this size), and a rule that
first selects features triples it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fewer.errors import InputError
from fewer.problem import FloatArray

MAX_PAIRED_FOLDS = 6
"""With more folds, leaving out pairs of them costs more than it tells."""


@dataclass(frozen=True)
class Interval:
    """An estimate and the range in which its estimand lies with some confidence.

    Attributes
    ----------
    estimate, low, high, level : float
    standard_error, degrees_of_freedom : float
        What the range was made of; without them (infinite, NaN) it was made in another way.
    method : str
    estimand : str
        The unknown number that the interval is about.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    estimand: str
    standard_error: float = float("nan")
    degrees_of_freedom: float = float("inf")

    @property
    def p_value(self) -> float:
        """Two-sided p-value of the claim that the estimand is zero (for intervals of differences)."""
        if self.estimate == 0.0:
            return 1.0
        if self.standard_error == 0.0:
            return 0.0
        return float(2.0 * stats.t.sf(abs(self.estimate) / self.standard_error, self.degrees_of_freedom))

    def at(self, level: float) -> Interval:
        """Give the interval of another level."""
        return _student(self, level)

    def within(self, low: float, high: float) -> Interval:
        """Cut off what the estimand cannot be."""
        return replace(self, low=min(max(self.low, low), high), high=max(min(self.high, high), low))

    def __str__(self) -> str:
        return f"{self.estimate:.4f} ({self.low:.4f} to {self.high:.4f}, {100 * self.level:g} % {self.method})"


def fold_interval(
    scores: ArrayLike,
    pairs: ArrayLike | None = None,
    *,
    sizes: ArrayLike | None = None,
    test_share: float | None = None,
    resolution: float = 0.0,
    level: float = 0.95,
    estimand: str = "",
) -> Interval:
    """Give the interval of the mean score over the folds of one cross-validation.

    Parameters
    ----------
    scores : array of shape (n_folds,)
        Score on each fold of the rule trained on the other folds.
    pairs : array of shape (n_folds, n_folds), optional
        `pairs[i, j]`: score on fold i of the rule trained without folds i *and* j; the diagonal is not used.
        With it, the dependence between folds is measured; without, it is taken to be that of Nadeau and Bengio.
    sizes : array of shape (n_folds,), optional
        How much each fold counts, such as its number of rows.
    test_share : float, optional
        Test rows over training rows, for Nadeau and Bengio's correction; 1 / (n_folds − 1) if left out.
    resolution : float, default=0
        The least standard error to claim: 1 / n_rows for scores that count rows, where equal scores in all folds do
        not mean certainty.
    level : float, default=0.95
    estimand : str, optional

    Returns
    -------
    Interval
        Estimand: the mean of the true scores of the n_folds rules, where the true score of a rule is what it would
        reach on endlessly many new rows from the same source.

    Notes
    -----
    The score Aᵢ of rule i on fold i scatters around its true score with some variance σ², and two folds have some
    covariance c, so the mean of K scores has the variance (σ² − c)/K + c, of which the usual sample variance of the
    scores estimates the first part. Given the rows outside folds i and j, the rule trained on them is tested on two
    independent sets, and only the *changes* that fold j makes to score i and fold i to score j can be correlated.
    Hence c = E[(Aᵢ − Aᵢ₋ⱼ)(Aⱼ − Aⱼ₋ᵢ)] (less a product of true changes, which is of smaller order), and the average
    of these products over all pairs estimates it, for any selection and any rule. Degrees of freedom are joined after
    Satterthwaite, n_folds − 1 for each part. `experiments/noise_coverage.py` measures the coverage.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003).
    Y. Bengio and Y. Grandvalet, No unbiased estimator of the variance of k-fold cross-validation, JMLR 5 (2004).

    Examples
    --------
    >>> print(fold_interval([0.8, 0.9, 0.85, 0.75, 0.8]))
    0.8200 (0.7138 to 0.9262, 95 % corrected resampled t)
    """
    a = np.asarray(scores, dtype=np.float64)
    n = len(a)
    if n < 2:
        raise InputError(f"An interval needs the scores of at least 2 folds, not {n}.")
    share = np.full(n, 1.0 / n) if sizes is None else np.asarray(sizes, dtype=np.float64) / np.sum(sizes)
    mean = float(share @ a)
    squared_shares = float(share @ share)
    variance = float(share @ (a - mean) ** 2) / (1.0 - squared_shares)
    own = squared_shares * variance
    if pairs is None:
        shared = variance * (1.0 / (n - 1) if test_share is None else test_share)
        freedom, method = float(n - 1), "corrected resampled t"
    else:
        shared = max(_swap_covariance(a, np.asarray(pairs, dtype=np.float64), share), 0.0)
        spread = own**2 + shared**2
        freedom = (n - 1) * (own + shared) ** 2 / spread if spread > 0 else float(n - 1)
        method = "t with the folds' covariance"
    error = max(float(np.sqrt(own + shared)), resolution)
    return _student(Interval(mean, mean, mean, level, method, estimand, error, freedom), level)


def mean_of_repeats(intervals: Sequence[Interval]) -> Interval:
    """Join the intervals of several cross-validations of the same rows with different folds.

    The estimate is the mean. Repeats share all rows, so the standard error of one cross-validation stands for that of
    their mean: too large rather than too small.
    """
    first = intervals[0]
    if len(intervals) == 1:
        return first
    mean = float(np.mean([interval.estimate for interval in intervals]))
    error = float(np.sqrt(np.mean([interval.standard_error**2 for interval in intervals])))
    freedom = float(np.mean([interval.degrees_of_freedom for interval in intervals]))
    return _student(replace(first, estimate=mean, standard_error=error, degrees_of_freedom=freedom), first.level)


def wilson_interval(n_right: int, n_rows: int, *, level: float = 0.95) -> Interval:
    """Give Wilson's interval of a share of independent rows.

    Its estimand is the probability that *this* rule is right on a new row: use it for one rule and one test set, not
    for the folds of a cross-validation.

    Examples
    --------
    >>> print(wilson_interval(40, 40))
    1.0000 (0.9124 to 1.0000, 95 % Wilson)
    """
    if not 0 <= n_right <= n_rows or n_rows < 1:
        raise InputError(f"{n_right} of {n_rows} rows is not a share.")
    z = float(stats.norm.ppf(0.5 + level / 2))
    share = n_right / n_rows
    center = (share + z * z / (2 * n_rows)) / (1 + z * z / n_rows)
    reach = z / (1 + z * z / n_rows) * np.sqrt(share * (1 - share) / n_rows + z * z / (4 * n_rows**2))
    return Interval(
        share,
        max(float(center - reach), 0.0),
        min(float(center + reach), 1.0),
        level,
        "Wilson",
        "the probability that this rule is right on a new row",
    )


def _swap_covariance(scores: FloatArray, pairs: FloatArray, share: FloatArray) -> float:
    """Average, over pairs of folds, the product of what each fold changed in the other's score."""
    changes = scores[:, None] - pairs
    i, j = np.triu_indices(len(scores), 1)
    products = changes[i, j] * changes[j, i]
    return float(np.average(products, weights=share[i] * share[j]))


def _student(interval: Interval, level: float) -> Interval:
    reach = float(stats.t.ppf(0.5 + level / 2, interval.degrees_of_freedom)) * interval.standard_error
    return replace(interval, low=interval.estimate - reach, high=interval.estimate + reach, level=level)
