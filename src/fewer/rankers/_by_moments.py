"""Rankings that class moments and counts alone give: of a table in chunks, or of a sparse one."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import f as f_distribution

from fewer.contracts import IncompatibleError, Ranking
from fewer.problem import FloatArray, Problem
from fewer.statistics import ClassMoments, JointCounts, LevelMoments, Ranges, TargetMoments


def class_moments(problem: Problem) -> ClassMoments:
    """Return the class moments of a sparse table."""
    moments = ClassMoments(np.zeros((problem.n_features, max(problem.n_classes, 1))))
    moments.add(problem)
    return moments


def target_moments(problem: Problem) -> TargetMoments:
    """Return the joint moments of a sparse table with a quantity."""
    moments = TargetMoments(np.zeros(problem.n_features), float(problem.y.mean()))
    moments.add(problem)
    return moments


def lows(problem: Problem) -> FloatArray:
    """Return the smallest cell of each column."""
    ranges = Ranges(problem.n_features)
    ranges.add(problem)
    return ranges.low


def fisher_scores(moments: ClassMoments, counts: JointCounts | None, like: Problem) -> FloatArray:
    """Return Fisher's score of each column; a nominal one counts as its level indicators."""
    between, within = moments.scatter()
    for column in np.flatnonzero(like.nominal):
        assert counts is not None
        table = counts.table(int(column))[:-1]
        mass = table.sum(axis=0)
        share = np.divide(table, mass, out=np.zeros_like(table), where=mass > 0)
        middle = table.sum(axis=1, keepdims=True) / max(float(mass.sum()), 1e-300)
        between[column] = (mass * (share - middle) ** 2).sum()
        within[column] = (mass * share * (1.0 - share)).sum()
    with np.errstate(divide="ignore"):
        scores = np.divide(between, within, out=np.zeros_like(between), where=between > 0)
    scores[moments.constant] = 0.0
    return scores


def f_test_of_classes(moments: ClassMoments) -> Ranking:
    """Rank by one-way analysis of variance."""
    between, within = moments.scatter()
    scale = moments.n_weighted / moments.weight
    counts = moments.counts
    n, k = counts.sum(axis=1), (counts > 0).sum(axis=1)
    usable = (k >= 2) & (n > k) & ~moments.constant
    upper = scale * between / np.maximum(k - 1, 1)
    lower = scale * within / np.maximum(n - k, 1)
    sure = usable & (lower <= 1e-28 * upper)
    scores = np.divide(upper, lower, out=np.zeros_like(upper), where=usable & ~sure)
    p_values = np.where(usable, f_distribution.sf(scores, np.maximum(k - 1, 1), np.maximum(n - k, 1)), 1.0)
    return Ranking.by_score(np.where(sure, np.inf, scores), p_value=np.where(sure, 0.0, p_values))


def f_test_of_correlation(moments: TargetMoments) -> Ranking:
    """Rank by the test of the correlation with a quantity."""
    n, square = moments.counts, moments.correlation**2
    usable = (n >= 3) & ~moments.constant
    sure = usable & (1.0 - square <= 1e-15)
    rest = np.where(sure, 1.0, 1.0 - square)
    scores = np.where(usable, square / rest * np.maximum(n - 2, 0), 0.0)
    p_values = np.where(usable, f_distribution.sf(scores, 1, np.maximum(n - 2, 1)), 1.0)
    return Ranking.by_score(np.where(sure, np.inf, scores), p_value=np.where(sure, 0.0, p_values))


def f_tests_of_levels(moments: LevelMoments) -> tuple[FloatArray, FloatArray]:
    """Return F and p of the analysis of variance of a quantity over the levels of each nominal column."""
    count, mass, first, second = (moments.sums[:, row] for row in range(4))
    n, k = count.sum(axis=1), (count > 0).sum(axis=1)
    explained = np.divide(first**2, mass, out=np.zeros_like(first), where=mass > 0)
    total = mass.sum(axis=1)
    middle = np.divide(first.sum(axis=1) ** 2, total, out=np.zeros_like(total), where=total > 0)
    between = np.maximum(explained.sum(axis=1) - middle, 0.0) / np.maximum(k - 1, 1)
    within = np.maximum((second - explained).sum(axis=1), 0.0) / np.maximum(n - k, 1)
    usable = (k >= 2) & (n > k) & (moments.low < moments.high)
    sure = usable & (within <= 1e-14 * between)  # sums of squares, whose digits go half-way
    scores = np.divide(between, within, out=np.zeros_like(between), where=usable & ~sure)
    p_values = np.where(usable, f_distribution.sf(scores, np.maximum(k - 1, 1), np.maximum(n - k, 1)), 1.0)
    return np.where(sure, np.inf, scores), np.where(sure, 0.0, p_values)


def chi2_ranking(moments: ClassMoments, counts: JointCounts | None, low: FloatArray, like: Problem) -> Ranking:
    """Rank by chi-squared: of levels against classes, or of sums of counts in the classes."""
    negative = ~like.nominal & (low < 0)
    if negative.any():
        name = like.names[int(np.argmax(negative))]
        raise IncompatibleError(f"Chi2 counts, and column {name!r} has negative numbers; use FTest.")
    scale = moments.n_weighted / moments.weight
    sums, mass = scale * moments.sums, scale * moments.mass
    there = mass > 0
    shares = mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    expected = shares * sums.sum(axis=1, keepdims=True)
    usable = expected > 0
    parts = np.divide((sums - expected) ** 2, expected, out=np.zeros_like(sums), where=usable)
    freedom = np.maximum(there.sum(axis=1) - 1, 0)
    scores = np.where((freedom > 0) & (sums.sum(axis=1) != 0), parts.sum(axis=1), 0.0)
    for column in np.flatnonzero(like.nominal):
        assert counts is not None
        observed = scale * counts.table(int(column))[:-1]
        observed = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
        freedom[column] = max((observed.shape[0] - 1) * (observed.shape[1] - 1), 0)
        apart = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / max(float(observed.sum()), 1e-300)
        scores[column] = ((observed - apart) ** 2 / apart).sum() if freedom[column] else 0.0
    p_values = np.where((freedom > 0) & (scores > 0), chi2_distribution.sf(scores, np.maximum(freedom, 1)), 1.0)
    return Ranking.by_score(scores, p_value=p_values)
