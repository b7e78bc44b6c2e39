"""Tables of many cells, some columns at a time: what is computed on the way is larger than the table.

Rankings that class moments and counts alone give: of a table in chunks, or of a sparse one.

Fisher score: spread between the class means over spread within the classes (Chen, section 2.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import f as f_distribution

from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Task
from fewer.statistics import ClassMoments, JointCounts, LevelMoments, Ranges, TargetMoments

BLOCK = 4096
"""Columns of a block at most."""
CELLS = 1 << 20
"""Cells of a block, about."""
FEWEST = 2
"""Columns of a block at least."""


def column_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut the columns of a table into blocks, none of which is one column alone unless the table is.

    Parameters
    ----------
    n_rows, n_columns : int

    Returns
    -------
    iterator of slice
        A sum of one column takes its cells in another order than sums of several; so results do not depend on blocks.

    Examples
    --------
    >>> [(block.start, block.stop) for block in column_blocks(1_000_000, 7)]
    [(0, 2), (2, 4), (4, 7)]
    """
    width = min(max(CELLS // max(n_rows, 1), FEWEST), BLOCK)
    n_blocks = max(n_columns // width, 1) if n_columns % width <= 1 else -(-n_columns // width)
    for block in range(n_blocks):
        yield slice(block * width, n_columns if block == n_blocks - 1 else (block + 1) * width)


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
    return by_p_values(Ranking.by_score(scores, p_value=p_values), like.nominal)


def by_p_values(ranking: Ranking, nominal: BoolArray) -> Ranking:
    """Rank by −log₁₀ of the p-value if features are nominal: statistics of other degrees of freedom do not compare.

    Parameters
    ----------
    ranking : Ranking
        Of chi-squared statistics, with `p_value` in its `extra`.
    nominal : bool array of shape (n_features,)

    Returns
    -------
    Ranking
        The same one where no feature is nominal.

    Examples
    --------
    >>> ranking = Ranking.by_score(np.array([9.0, 8.0]), p_value=np.array([0.1, 0.01]))
    >>> by_p_values(ranking, np.array([True, False])).scores
    array([1., 2.])
    """
    if not nominal.any():
        return ranking
    p_values = ranking.extra["p_value"]
    beyond = 308.0 + np.log10(np.maximum(ranking.scores, 1.0))  # p-values too small for a number go by the statistic
    scores = np.where(p_values > 0, -np.log10(np.maximum(p_values, np.finfo(float).tiny)), beyond)
    return Ranking.by_score(scores, **{**ranking.extra, "statistic": ranking.scores})


class Fisher(Ranker):
    """Fisher score of each feature: Σ n_c (m_c − m)² / Σ n_c s_c².

    m_c and s_c² are the mean and variance of the feature in class c, m its mean. A nominal feature counts as its
    0/1 level indicators, their numerators and denominators summed. Missing cells are left out, row weights count. A
    feature that does not vary scores 0; one that separates the classes without any spread within them, infinity.

    Read more in the guide: :doc:`/methods/parts`.

    See Also
    --------
    FTest : The same order for numbers, as a test with p-values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(Fisher(), n_features_to_select=2).fit(X, y).ranking_
    array([3, 4, 1, 2])
    """

    command_name = "fisher"
    takes: ClassVar[frozenset[str]] = ROWS
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    statistics: ClassVar[tuple[str, ...]] = ("moments", "counts")

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        if problem.sparse is not None:
            return Ranking.by_score(fisher_scores(class_moments(problem), None, problem))
        weights = problem.row_weights
        blocks = column_blocks(*problem.X.shape)
        parts = [_scatter(problem.X[:, block], problem.y, weights, problem.n_classes) for block in blocks]
        between, within = (np.concatenate(sums) for sums in zip(*parts, strict=True))
        for column in np.flatnonzero(problem.nominal):
            cells = problem.X[:, column]
            levels = np.unique(cells[~np.isnan(cells)])
            indicators = np.where(np.isnan(cells)[:, None], np.nan, cells[:, None] == levels)
            own = _scatter(indicators, problem.y, weights, problem.n_classes)
            between[column], within[column] = own[0].sum(), own[1].sum()
        with np.errstate(divide="ignore"):
            scores = np.divide(between, within, out=np.zeros_like(between), where=between > 0)
        scores[problem.constant] = 0.0
        return Ranking.by_score(scores)


def _scatter(X: FloatArray, y: IntArray, weights: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """Return the scatter between and within classes of each column, over its present cells."""
    present = ~np.isnan(X)
    cells = np.where(present, X, 0.0)
    middle = _mean(cells, present * weights[:, None])
    between, within = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for code in range(n_classes):
        rows = y == code
        mass = present[rows] * weights[rows, None]
        mean = _mean(cells[rows], mass)
        between += mass.sum(axis=0) * (mean - middle) ** 2
        within += (mass * (cells[rows] - mean) ** 2).sum(axis=0)
    return between, within


def _mean(cells: FloatArray, mass: FloatArray) -> FloatArray:
    total = mass.sum(axis=0)
    return np.divide((cells * mass).sum(axis=0), total, out=np.zeros(cells.shape[1]), where=total > 0)
