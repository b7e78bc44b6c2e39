"""Intervals for cross-validated scores, and what exactly they are intervals of.

The scores of two folds are not independent: each fold helps to train the rule that is tested on the other, so chance
agreement between them counts twice. For a rule that adds up class differences, tested on noise, the correlation of two
scores is exactly 1 / (n_folds − 1), test rows over training rows, and the variance of the mean is twice what it would
be for independent folds. Nadeau and Bengio's correction has this size too. It must be applied to the variance of a
score, as its own rows tell it; the variance *between* correlated scores is smaller, by what they have in common.

Rows drawn with replacement, judged by those that were not drawn (Efron; Loughrey, section 3; Kohavi & John).

Would other rows have given the same features? Indices of stability of several subsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from fewer.errors import InputError, one_line
from fewer.problem import BoolArray, IntArray
from fewer.text import score_text


@dataclass(frozen=True)
class ConfidenceInterval:
    """An estimate and the range in which its estimand lies with some confidence.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    estimate, low, high, level : float
        The value, the ends of its interval, and how sure it is.
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
        shown, low, high = (score_text(value, self.low, self.high) for value in (self.estimate, self.low, self.high))
        return f"{shown} ({low} to {high}, {100 * self.level:g} % {self.method})"


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
        How sure the interval is.
    estimand : str, optional
        What the interval speaks of.

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
    0.82 (0.71 to 0.93, 95 % t of correlated folds)
    >>> print(fold_interval(scores))
    0.82 (0.71 to 0.93, 95 % corrected resampled t)
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
    1.00 (0.91 to 1.00, 95 % Wilson)
    """
    with one_line():
        is_share = bool(0 <= n_right <= n_rows and n_rows >= 1)
    if not is_share:
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


class Bootstrap:
    """A splitter: training rows are drawn with replacement, the others test. For `cv=` of any wrapper.

    Parameters
    ----------
    n_splits : int, default=100
        How many samples are drawn.
    random_state : int, RandomState or None
        Seed of all that is random.

    Examples
    --------
    >>> train, test = next(Bootstrap(1, random_state=0).split(np.zeros((6, 1))))
    >>> sorted(set(train.tolist()) | set(test.tolist())), len(train)
    ([0, 1, 2, 3, 4, 5], 6)
    """

    def __init__(self, n_splits: int = 100, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits.

        Parameters
        ----------
        X, y, groups : ignored
            Not used.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Draw rows; every class is drawn at least once where labels are given, and some rows are always left.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,), optional
            Their target.
        groups : array of shape (n_samples,), optional
            Whole groups are drawn.

        Yields
        ------
        (int array, int array)
            Training rows, with repetitions, and test rows.
        """
        rng = check_random_state(self.random_state)
        n = _num_samples(X)
        units = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        n_units = int(units.max()) + 1
        labels = None if y is None else np.asarray(y)
        discrete = labels is not None and (labels.dtype.kind in "OUSbi")
        for _ in range(self.n_splits):
            for _ in range(1000):
                drawn = np.bincount(rng.randint(n_units, size=n_units), minlength=n_units)
                train, test = np.repeat(np.arange(n), drawn[units]), np.flatnonzero(drawn[units] == 0)
                whole = labels is None or not discrete or len(np.unique(labels[train])) == len(np.unique(labels))
                if len(test) and whole:
                    break
            else:
                raise InputError("No draw of the rows holds every class and leaves a row out; give more rows.")
            yield train, test


def accuracy_632(estimator: Any, X: Any, y: Any, *, n_splits: int = 100, random_state: Any = None) -> float:
    """Estimate accuracy by the .632 bootstrap: 0.632 of that on rows not drawn, 0.368 of that on training rows.

    Parameters
    ----------
    estimator : classifier
        The classifier.
    X : array of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their target.
    n_splits : int, default=100
        How many samples are drawn.
    random_state : int, RandomState or None
        Seed of all that is random.

    Returns
    -------
    float

    References
    ----------
    B. Efron, Estimating the error rate of a prediction rule, Journal of the American Statistical Association 78 (1983).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> round(accuracy_632(GaussianNB(), X, y, n_splits=20, random_state=0), 2)
    0.95
    """
    cells, labels = np.asarray(X), np.asarray(y)
    outside = []
    for train, test in Bootstrap(n_splits, random_state).split(cells, labels):
        fitted = clone(estimator).fit(cells[train], labels[train])
        outside.append(float(np.mean(fitted.predict(cells[test]) == labels[test])))
    inside = float(np.mean(clone(estimator).fit(cells, labels).predict(cells) == labels))
    return 0.632 * float(np.mean(outside)) + 0.368 * inside


def nogueira(masks: ArrayLike, *, level: float = 0.95) -> ConfidenceInterval:
    """Return the stability of subsets of any sizes: 1 if all are equal, 0 on average if they are drawn by chance.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    masks : bool array of shape (n_subsets, n_features)
        One row for each subset.
    level : float, default=0.95
        How sure the interval is.

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
    0.33 (−0.02 to 0.69, 95 % Nogueira)
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
    with one_line():
        z = np.asarray(masks, dtype=np.float64) != 0
    if z.ndim != 2 or len(z) < 2:
        raise InputError(f"Stability needs at least 2 subsets as rows of a table, not an array of shape {z.shape}.")
    return z
