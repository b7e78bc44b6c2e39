"""Intervals of scores and what exactly they are intervals of; the bootstrap, stability, tests of significance.

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
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from fewer.errors import InputError, one_line
from fewer.problem import BoolArray, FloatArray, IntArray
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
        reach = float(stats.t.ppf(0.5 + level / 2, self.degrees_of_freedom)) * self.standard_error
        return replace(self, low=self.estimate - reach, high=self.estimate + reach, level=level)

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
    return ConfidenceInterval(mean, mean, mean, level, method, estimand, error, freedom).at(level)


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
    scale = 2 * sizes * filled / d - sizes / d - filled + 1.0
    parts = (z @ frequency / d - sizes * filled / d + value / 2 * scale) / by_chance
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


# Data sets up to which Wilcoxon's distribution is counted out.
MAX_EXACT = 50


@dataclass(frozen=True)
class Significance:
    """The outcome of a test.

    Parameters
    ----------
    statistic, p_value : float
        Of the test.
    statistic : float
        What the test computes.
    p_value : float
        How likely a statistic as extreme is if the claim holds.
    method : str
        Which test.
    claim : str
        What a small p-value speaks against.

    Examples
    --------
    >>> wilcoxon([0.8, 0.7, 0.9, 0.6, 0.75], [0.7, 0.65, 0.75, 0.5, 0.74]).method
    'Wilcoxon signed-rank'
    """

    statistic: float
    p_value: float
    method: str
    claim: str


def mcnemar(
    right_a: ArrayLike, right_b: ArrayLike, *, method: Literal["corrected", "exact"] = "corrected"
) -> Significance:
    """Compare two rules on the same rows by the rows that only one of them gets right.

    Parameters
    ----------
    right_a, right_b : bool arrays of shape (n_samples,)
        Which rows each rule gets right.
    method : {"corrected", "exact"}
        Chi-square with continuity correction, (|b − c| − 1)² / (b + c), or the binomial distribution of b given b + c,
        which is the better choice for b + c below 25.

    Returns
    -------
    Significance
        Two-sided.

    Examples
    --------
    >>> a = [True] * 30 + [False] * 10
    >>> b = [True] * 18 + [False] * 12 + [True] * 2 + [False] * 8
    >>> test = mcnemar(a, b)
    >>> round(test.statistic, 3), round(test.p_value, 4), round(mcnemar(a, b, method="exact").p_value, 4)
    (5.786, 0.0162, 0.0129)
    """
    a, b = np.asarray(right_a, dtype=bool), np.asarray(right_b, dtype=bool)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(f"The two rules were judged on {a.shape} and {b.shape} rows; judge both on the same rows.")
    only_a, only_b = int(np.sum(a & ~b)), int(np.sum(b & ~a))
    claim = "both rules are right equally often"
    differing = only_a + only_b
    if method == "exact":
        p_value = float(stats.binomtest(only_a, differing).pvalue) if differing else 1.0
        return Significance(float(min(only_a, only_b)), p_value, "exact McNemar", claim)
    statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / differing if differing else 0.0
    return Significance(statistic, float(stats.chi2.sf(statistic, 1)), "McNemar with continuity correction", claim)


def corrected_resampled_t(differences: ArrayLike, n_train: int, n_test: int) -> Significance:
    """Compare two rules by their differences in score on resampled rows (Nadeau and Bengio 2003).

    Parameters
    ----------
    differences : array of shape (n_splits,)
        Score of one rule less that of the other, on the same splits.
    n_train, n_test : int
        Rows on the two sides of a split.

    Returns
    -------
    Significance
        Two-sided.

    Notes
    -----
    The variance of the mean is taken as (1 / n_splits + n_test / n_train) times that of the differences, since
    training sets overlap. See `fold_interval` for a measured correction.

    Examples
    --------
    >>> test = corrected_resampled_t([0.02, 0.05, 0.01, 0.04, 0.03], n_train=80, n_test=20)
    >>> round(test.statistic, 3), round(test.p_value, 4)
    (2.828, 0.0474)
    """
    with one_line():
        d = np.asarray(differences, dtype=np.float64)
    if len(d) < 2:
        raise InputError(f"A t-test needs at least 2 differences, not {len(d)}.")
    error = float(np.sqrt((1.0 / len(d) + n_test / n_train) * d.var(ddof=1)))
    mean = float(d.mean())
    statistic = mean / error if error > 0 else np.copysign(np.inf, mean) if mean else 0.0
    p_value = float(2.0 * stats.t.sf(abs(statistic), len(d) - 1))
    return Significance(float(statistic), p_value, "corrected resampled t", "both rules score equally")


def wilcoxon(scores_a: ArrayLike, scores_b: ArrayLike) -> Significance:
    """Compare two methods over several data sets by the signed ranks of their differences.

    Equal scores count half for each side, as Demšar has it. The statistic is the smaller of the two rank sums. Up to
    50 data sets its distribution is exact, also with tied differences.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_data_sets,)
        The scores of the two methods.

    Returns
    -------
    Significance
        Two-sided.

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), section 3.1.3.

    Examples
    --------
    >>> wilcoxon([0.8, 0.7, 0.9, 0.6, 0.75], [0.7, 0.65, 0.75, 0.5, 0.74]).p_value
    0.0625
    """
    with one_line():
        d = np.asarray(scores_a, dtype=np.float64) - np.asarray(scores_b, dtype=np.float64)
    if d.ndim != 1 or not np.isfinite(d).all():
        raise InputError("The scores must be finite numbers, in two lists of one length.")
    d = np.round(d, 12)  # 0.768 − 0.763 and 0.936 − 0.931 tie
    ranks = stats.rankdata(np.abs(d))
    tied = float(ranks[d == 0].sum()) / 2
    smaller = min(float(ranks[d > 0].sum()), float(ranks[d < 0].sum()))
    if len(d) <= MAX_EXACT:
        p_value = _signed_rank_tail(ranks[d != 0], smaller)
    else:
        p_value = float(stats.wilcoxon(d, zero_method="zsplit", method="approx").pvalue) if d.any() else 1.0
    return Significance(smaller + tied, p_value, "Wilcoxon signed-rank", "both methods score equally")


def _signed_rank_tail(ranks: FloatArray, smaller: float) -> float:
    """Return the two-sided p-value of a rank sum when every sign is as likely: exact, also with tied ranks."""
    doubled = np.round(2 * ranks).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[: len(ways) - rank].copy()
    return min(1.0, float(2.0 * ways[: round(2 * smaller) + 1].sum() / ways.sum()))


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Methods ranked over data sets.

    Parameters
    ----------
    mean_ranks : array of shape (n_methods,)
        1 is best.
    friedman, iman_davenport : Significance
        Do the methods differ at all? Friedman's chi-square, and the less conservative F made of it.
    critical_difference : float
        Mean ranks this far apart differ by Nemenyi's test, at `level`.
    p_values : array of shape (n_methods, n_methods)
        Nemenyi's p-value of each pair.
    level : float
        The confidence of the critical difference.

    See Also
    --------
    friedman_nemenyi : Makes one.

    Examples
    --------
    >>> result = friedman_nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.75, 0.5], [0.9, 0.6, 0.65]])
    >>> round(result.friedman.p_value, 3), result.p_values.shape
    (0.105, (3, 3))
    """

    mean_ranks: FloatArray
    friedman: Significance
    iman_davenport: Significance
    critical_difference: float
    p_values: FloatArray
    level: float


def friedman_nemenyi(scores: ArrayLike, *, level: float = 0.95) -> RankComparison:
    """Compare several methods over several data sets.

    Parameters
    ----------
    scores : array of shape (n_data_sets, n_methods)
        Higher is better; ties share their ranks.
    level : float, default=0.95
        The confidence of the critical difference.

    Returns
    -------
    RankComparison
        Mean ranks, the tests of all methods together, and of each pair.

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), section 3.2.

    Examples
    --------
    >>> result = friedman_nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.75, 0.5], [0.9, 0.6, 0.65]])
    >>> result.mean_ranks, round(result.critical_difference, 3)
    (array([1.25, 2.  , 2.75]), 1.657)
    """
    table = np.round(np.asarray(scores, dtype=np.float64), 12)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise InputError(f"Friedman's test needs 2 data sets and 3 methods at least, not a table of {table.shape}.")
    n, k = table.shape
    ranks = stats.rankdata(-table, axis=1)
    mean_ranks = ranks.mean(axis=0)
    claim = "all methods score equally"
    ties = sum(float(np.sum(counts**3 - counts)) for row in ranks for counts in [np.unique(row, return_counts=True)[1]])
    spread = 1.0 - ties / (n * k * (k * k - 1))
    raw = 12 * n / (k * (k + 1)) * (float(mean_ranks @ mean_ranks) - k * (k + 1) ** 2 / 4)
    chi2 = raw / spread if spread > 0 else 0.0
    f = (n - 1) * chi2 / (n * (k - 1) - chi2) if chi2 < n * (k - 1) else float("inf")
    unit = np.sqrt(k * (k + 1) / (6.0 * n))
    apart = np.abs(mean_ranks[:, None] - mean_ranks) / unit
    return RankComparison(
        mean_ranks=mean_ranks,
        friedman=Significance(chi2, float(stats.chi2.sf(chi2, k - 1)), "Friedman", claim),
        iman_davenport=Significance(f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))), "Iman–Davenport", claim),
        critical_difference=float(stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2) * unit),
        p_values=np.asarray(stats.studentized_range.sf(apart * np.sqrt(2), k, np.inf)),
        level=level,
    )


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust the p-values of a family of tests after Holm: small ones stay small for all of them together.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        One a test.

    Returns
    -------
    array of shape (n_tests,)
        Adjusted, in the same order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    with one_line():
        p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p_values must be a list of numbers between 0 and 1.")
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
