"""Could this be chance? Tests for two rules on the same rows, on the same folds, and on several data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fewer.errors import InputError, one_line
from fewer.problem import FloatArray

MAX_EXACT = 50
"""Data sets up to which Wilcoxon's distribution is counted out."""


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
    claim = "both rules score equally"
    error = float(np.sqrt((1.0 / len(d) + n_test / n_train) * d.var(ddof=1)))
    mean = float(d.mean())
    if error == 0.0:
        return Significance(
            0.0 if mean == 0 else float(np.copysign(np.inf, mean)), float(mean == 0), "corrected resampled t", claim
        )
    statistic = mean / error
    return Significance(statistic, float(2.0 * stats.t.sf(abs(statistic), len(d) - 1)), "corrected resampled t", claim)


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
