"""Classical tests of each feature against the target, with p-values: analysis of variance and chi-squared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import f as f_distribution

from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Task
from fewer.rankers._by_moments import (
    by_p_values,
    chi2_ranking,
    class_moments,
    column_blocks,
    f_test_of_classes,
    f_test_of_correlation,
    lows,
    target_moments,
)

ManyTests = Callable[[FloatArray, Any, FloatArray], tuple[FloatArray, FloatArray]]
OneTest = Callable[[FloatArray, Any, FloatArray], tuple[float, float]]


class FTest(Ranker):
    """F statistic of each feature with the target, and its p-value.

    For classes, one-way analysis of variance: does the feature's mean differ between them? For quantities, the test of
    the correlation; of a nominal feature, analysis of variance of the target over its levels. The values are those of
    scikit-learn's `f_classif` and `f_regression`. A nominal feature and classes: Pearson's chi-squared over its degrees
    of freedom, which is an F statistic where rows are many.

    Read more in the guide: :doc:`/methods/parts`.

    Notes
    -----
    The ranking's `extra` holds each feature's `p_value`, which `FalseDiscovery` works on. Missing cells are left out
    for their feature. Row weights count, scaled to a mean of one. Rows are taken as independent: with row groups the
    p-values are too small. A feature that does not vary scores 0, one that separates the classes without any spread
    within them infinity.

    See Also
    --------
    Chi2 : For counts and nominal features.
    Fisher : The same order for classes, without a test.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.RankSelector(FTest(), n_features_to_select=2).fit(X, y)
    >>> selector.scores_.round(1)
    array([ 119.3,   49.2, 1180.2,  960. ])
    """

    command_name = "f-test"
    takes: ClassVar[frozenset[str]] = ROWS
    p_values: ClassVar[bool] = True
    statistics: ClassVar[tuple[str, ...]] = ("moments", "counts")

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        classes = problem.task == "classification"
        if problem.sparse is not None:
            return (
                f_test_of_classes(class_moments(problem)) if classes else f_test_of_correlation(target_moments(problem))
            )
        if classes:
            return _ranking_by(problem, variance_tests, _mean_square_test)
        return _ranking_by(problem, correlation_tests, lambda levels, y, own: variance_test(y, _codes(levels), own))


class Chi2(Ranker):
    """Chi-squared statistic of each feature with the class, and its p-value.

    A nominal feature: Pearson's test of its levels against the classes. A number, which must not be negative: it is
    taken as a count, and its sums in the classes are tested against the classes' shares, as scikit-learn's `chi2` does.
    Statistics of nominal features have other degrees of freedom: where there are any, scores are −log₁₀ of p-values,
    and the statistics stand in `extra`.

    Read more in the guide: :doc:`/methods/parts`.

    Notes
    -----
    The ranking's `extra` holds each feature's `p_value`. Missing cells are left out for their feature. Row weights
    count, scaled to a mean of one. Rows are taken as independent: with row groups the p-values are too small. Numbers
    that are no counts (lengths, prices) get a value too, but it depends on their unit, and the p-value means nothing.

    See Also
    --------
    FTest : For numbers that are not counts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(Chi2(), n_features_to_select=2).fit(X, y).scores_.round(2)
    array([ 10.82,   3.71, 116.31,  67.05])
    """

    command_name = "chi2"
    takes: ClassVar[frozenset[str]] = ROWS
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    p_values: ClassVar[bool] = True
    statistics: ClassVar[tuple[str, ...]] = ("moments", "counts")

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        if problem.sparse is not None:
            return chi2_ranking(class_moments(problem), None, lows(problem), problem)
        negative = ~problem.nominal & (np.fmin.reduce(problem.X, axis=0, initial=0.0) < 0)
        if negative.any():
            name = problem.names[int(np.argmax(negative))]
            raise IncompatibleError(f"Chi2 counts, and column {name!r} has negative numbers; use FTest.")
        return by_p_values(_ranking_by(problem, count_tests, level_test), problem.nominal)


def _ranking_by(problem: Problem, many: ManyTests, of_levels: OneTest) -> Ranking:
    """Rank by tests: of complete numbers at once, of each other column over its present cells."""
    weights = scaled_weights(problem)
    counted = weights > 0
    y, own = problem.y[counted], weights[counted]
    scores, p_values = np.zeros(problem.n_features), np.ones(problem.n_features)
    for block in column_blocks(*problem.X.shape):
        low, table, nominal = block.start, problem.X[:, block], problem.nominal[block]
        table = table if counted.all() else table[counted]
        plain = ~nominal & ~np.isnan(table).any(axis=0) if problem.has_missing else ~nominal
        together = low + np.flatnonzero(plain)
        scores[together], p_values[together] = many(table if plain.all() else table[:, plain], y, own)
        for column in np.flatnonzero(~plain):
            there = ~np.isnan(table[:, column])
            cells = table[there, column]
            if nominal[column]:
                scores[low + column], p_values[low + column] = of_levels(cells, y[there], own[there])
            else:
                found = many(cells[:, None], y[there], own[there])
                scores[low + column], p_values[low + column] = found[0][0], found[1][0]
    return Ranking.by_score(scores, p_value=p_values)


def _mean_square_test(levels: FloatArray, codes: IntArray, weights: FloatArray) -> tuple[float, float]:
    """Return Pearson's chi-squared of levels against classes over its degrees of freedom, and p."""
    statistic, p_value = level_test(levels, codes, weights)
    freedom = (len(np.unique(levels)) - 1) * (len(np.unique(codes)) - 1)
    return statistic / max(freedom, 1), p_value


def _codes(levels: FloatArray) -> IntArray:
    return levels.astype(np.int64)


def scaled_weights(problem: Problem) -> FloatArray:
    """Return the row weights, scaled so that those above zero have a mean of one."""
    if problem.sample_weight is None:
        return np.ones(problem.n_samples)
    weights = problem.sample_weight
    return np.asarray(weights * (np.count_nonzero(weights) / weights.sum()))


def variance_test(values: FloatArray, codes: IntArray, weights: FloatArray) -> tuple[float, float]:
    """Return F and p of one-way analysis of variance.

    Examples
    --------
    >>> from scipy.stats import f_oneway
    >>> values, codes = np.array([1.0, 2.0, 4.0, 4.0, 5.0, 7.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> np.allclose(variance_test(values, codes, np.ones(6)), f_oneway(values[:3], values[3:]))
    True
    """
    statistic, p_value = variance_tests(values[:, None], codes, weights)
    return float(statistic[0]), float(p_value[0])


def variance_tests(table: FloatArray, codes: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return F and p of one-way analysis of variance for every column.

    Parameters
    ----------
    table : array of shape (n, p)
    codes : int array of shape (n,)
    weights : array of shape (n,)

    Returns
    -------
    statistics, p_values : arrays of shape (p,)
    """
    codes = np.unique(codes, return_inverse=True)[1]
    n, k = len(table), int(codes.max(initial=-1)) + 1
    if k < 2 or n <= k:
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    members = (codes == np.arange(k)[:, None]) * weights
    mass = members.sum(axis=1)
    centered = table - weights @ table / weights.sum()
    means = members @ centered / mass[:, None]
    between = mass @ means**2 / (k - 1)
    within = weights @ (centered - means[codes]) ** 2 / (n - k)
    return _f_of(between, within, np.ptp(table, axis=0) > 0, k - 1, n - k)


def correlation_tests(table: FloatArray, target: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return F and p of the correlation of every column with a quantity.

    Parameters
    ----------
    table : array of shape (n, p)
    target : array of shape (n,)
    weights : array of shape (n,)

    Returns
    -------
    statistics, p_values : arrays of shape (p,)
    """
    n = len(table)
    if n < 3 or np.ptp(target) == 0:
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    X = table - weights @ table / weights.sum()
    y = target - weights @ target / weights.sum()
    lengths = (weights @ X**2) * float(weights @ y**2)
    varies = np.ptp(table, axis=0) > 0
    square = np.divide(((weights * y) @ X) ** 2, lengths, out=np.zeros(len(lengths)), where=varies & (lengths > 0))
    left = np.where(1.0 - square <= 1e-15, 0.0, 1.0 - square)
    return _f_of(square * (n - 2), left, varies, 1, n - 2)


def _f_of(
    above: FloatArray, below: FloatArray, varies: BoolArray, one: int, other: int
) -> tuple[FloatArray, FloatArray]:
    """Return F and p: nothing where a column does not vary, infinity where nothing is left below."""
    endless = varies & (below <= 1e-28 * above)
    statistic = np.divide(above, below, out=np.zeros(len(above)), where=varies & ~endless)
    statistic[endless] = np.inf
    return statistic, np.where(varies, f_distribution.sf(statistic, one, other), 1.0)


def count_tests(table: FloatArray, codes: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return chi-squared and p of every column of counts in classes against the classes' shares.

    Parameters
    ----------
    table : array of shape (n, p)
    codes : int array of shape (n,)
    weights : array of shape (n,)

    Returns
    -------
    statistics, p_values : arrays of shape (p,)

    Examples
    --------
    >>> statistics, p = count_tests(np.array([[4.0], [2.0], [0.0], [0.0]]), np.array([0, 0, 1, 1]), np.ones(4))
    >>> statistics, p.round(3)
    (array([6.]), array([0.014]))
    """
    codes = np.unique(codes, return_inverse=True)[1]
    members = (codes == np.arange(int(codes.max(initial=-1)) + 1)[:, None]) * weights
    observed = members @ table
    total = observed.sum(axis=0)
    if len(members) < 2:
        return np.zeros(table.shape[1]), np.ones(table.shape[1])
    expected = members.sum(axis=1)[:, None] / weights.sum() * total
    parts = np.divide((observed - expected) ** 2, expected, out=np.zeros_like(observed), where=expected > 0)
    statistics = parts.sum(axis=0)
    return statistics, np.where(total > 0, chi2_distribution.sf(statistics, len(members) - 1), 1.0)


def level_test(levels: FloatArray, codes: IntArray, weights: FloatArray) -> tuple[float, float]:
    """Return Pearson's chi-squared and p of levels against classes.

    Examples
    --------
    >>> statistic, p = level_test(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.ones(4))
    >>> statistic, round(p, 3)
    (4.0, 0.046)
    """
    rows = np.unique(levels, return_inverse=True)[1]
    columns = np.unique(codes, return_inverse=True)[1]
    shape = (int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
    if min(shape) < 2:
        return 0.0, 1.0
    observed = np.bincount(rows * shape[1] + columns, weights, minlength=shape[0] * shape[1]).reshape(shape)
    expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / observed.sum()
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return statistic, float(chi2_distribution.sf(statistic, (shape[0] - 1) * (shape[1] - 1)))
