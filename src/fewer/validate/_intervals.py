"""Intervals for cross-validated scores, and what exactly they are intervals of.

The scores of two folds are not independent: each fold helps to train the rule that is tested on the other, so chance
agreement between them counts twice. For a rule that adds up class differences, tested on noise, the correlation of two
scores is exactly 1 / (n_folds − 1), test rows over training rows, and the variance of the mean is twice what it would
be for independent folds. Nadeau and Bengio's correction has this size too. It must be applied to the variance of a
score, as its own rows tell it; the variance *between* correlated scores is smaller, by what they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fewer.errors import InputError


@dataclass(frozen=True)
class ConfidenceInterval:
    """An estimate and the range in which its estimand lies with some confidence.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    estimate, low, high, level : float
    estimate : float
        The number itself.
    low, high : float
        Ends of the range.
    level : float
        The confidence, such as 0.95.
    method : str
        How the range was made.
    estimand : str
        The unknown number that the interval is about.
    standard_error, degrees_of_freedom : float
        What the range was made of; without them (infinite, NaN) it was made in another way.

    Examples
    --------
    >>> interval = wilson_interval(36, 40)
    >>> interval.estimate, round(interval.low, 3), round(interval.high, 3)
    (0.9, 0.769, 0.96)
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

    def at(self, level: float) -> ConfidenceInterval:
        """Return the interval of another level.

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        ConfidenceInterval
            Of the same estimate.
        """
        return _student(self, level)

    def within(self, low: float, high: float) -> ConfidenceInterval:
        """Cut off what the estimand cannot be.

        Parameters
        ----------
        low, high : float
            The smallest and the largest value that the estimand can have.

        Returns
        -------
        ConfidenceInterval
            Inside of them.
        """
        return replace(self, low=min(max(self.low, low), high), high=max(min(self.high, high), low))

    def __str__(self) -> str:
        return f"{self.estimate:.4f} ({self.low:.4f} to {self.high:.4f}, {100 * self.level:g} % {self.method})"


def fold_interval(
    scores: ArrayLike,
    variances: ArrayLike | None = None,
    *,
    sizes: ArrayLike | None = None,
    correlation: float | None = None,
    degrees_of_freedom: float | None = None,
    resolution: float = 0.0,
    level: float = 0.95,
    estimand: str = "",
) -> ConfidenceInterval:
    """Return the interval of the mean score over the splits of a cross-validation.

    Parameters
    ----------
    scores : array of shape (n_splits,)
        Score of each split's rule on its test rows.
    variances : array of shape (n_splits,), optional
        Sampling variance of each score, for a given rule, as its test rows tell it: for accuracy a,
        a (1 − a) / (n − 1). Without it the variance between the scores is used, which is Nadeau and Bengio's corrected
        resampled t: known with n_splits − 1 degrees of freedom only, so wider on average, and more erratic.
    sizes : array of shape (n_splits,), optional
        How much each score counts, such as the number of test rows.
    correlation : float, optional
        Of the scores of two splits: test rows over training rows; 1 / (n_splits − 1) if left out.
    degrees_of_freedom : float, optional
        With which the variances are known; infinite if left out.
    resolution : float, default=0
        The least standard error to claim, where equal scores in all splits do not mean certainty.
    level : float, default=0.95
    estimand : str, optional

    Returns
    -------
    ConfidenceInterval
        Estimand: the mean of the true scores of the rules of the splits, where the true score of a rule is what it
        would reach on endlessly many new rows from the same source.

    Notes
    -----
    `experiments/noise_coverage.py` measures the coverage: nominal with five folds on pure noise; above it where there
    is a signal and for differences between methods, which are less correlated; somewhat below it with ten folds on
    noise.

    References
    ----------
    C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003).
    Y. Bengio and Y. Grandvalet, No unbiased estimator of the variance of k-fold cross-validation, JMLR 5 (2004).

    Examples
    --------
    >>> scores = np.array([0.8, 0.9, 0.85, 0.75, 0.8])
    >>> print(fold_interval(scores, scores * (1 - scores) / 19))
    0.8200 (0.7122 to 0.9278, 95 % t of correlated folds)
    >>> print(fold_interval(scores))
    0.8200 (0.7138 to 0.9262, 95 % corrected resampled t)
    """
    a = np.asarray(scores, dtype=np.float64)
    n = len(a)
    if n < 2:
        raise InputError(f"An interval needs the scores of at least 2 splits, not {n}.")
    share = np.full(n, 1.0 / n) if sizes is None else np.asarray(sizes, dtype=np.float64) / np.sum(sizes)
    common = min(1.0 / (n - 1) if correlation is None else correlation, 1.0)
    mean = float(share @ a)
    if variances is None:
        squares = float(share @ share)
        between = float(share @ (a - mean) ** 2) / (1.0 - squares)
        variance, freedom, method = (squares + common) * between, n - 1.0, "corrected resampled t"
    else:
        errors = share * np.sqrt(np.asarray(variances, dtype=np.float64))
        variance = float((1.0 - common) * (errors @ errors) + common * errors.sum() ** 2)
        freedom = float("inf") if degrees_of_freedom is None else max(float(degrees_of_freedom), 1.0)
        method = "t of correlated folds"
    error = max(float(np.sqrt(variance)), resolution)
    return _student(ConfidenceInterval(mean, mean, mean, level, method, estimand, error, freedom), level)


def wilson_interval(n_right: float, n_rows: float, *, level: float = 0.95) -> ConfidenceInterval:
    """Return Wilson's interval of a share of independent rows.

    Its estimand is the probability that *this* rule is right on a new row: use it for one rule and one test set, not
    for the folds of a cross-validation.

    Parameters
    ----------
    n_right : float
        Rows that are right.
    n_rows : float
        All rows.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    ConfidenceInterval
        Of the share of right rows.

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
    return ConfidenceInterval(
        share,
        max(float(center - reach), 0.0) if n_right > 0 else 0.0,
        min(float(center + reach), 1.0) if n_right < n_rows else 1.0,
        level,
        "Wilson",
        "the probability that this rule is right on a new row",
    )


def _student(interval: ConfidenceInterval, level: float) -> ConfidenceInterval:
    reach = float(stats.t.ppf(0.5 + level / 2, interval.degrees_of_freedom)) * interval.standard_error
    return replace(interval, low=interval.estimate - reach, high=interval.estimate + reach, level=level)
