"""Rankings that sums over the rows give, of a table in memory, a sparse one or one that is read in chunks.

Fisher score: spread between the class means over spread within the classes (Chen, section 2.3). Classical tests of each
feature against the target: analysis of variance, the test of the correlation, chi-squared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaln, chdtrc, erfc, fdtrc, gammaln

from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.problem import BoolArray, FloatArray, Problem, Task
from fewer.statistics import ClassMoments, JointCounts, LevelMoments, TargetMoments
from fewer.statistics._moments import across, head, shift_of

LevelTable = Callable[[int], FloatArray]
"""Gives the joint counts of a nominal column's levels and the classes."""
TINY = 1e-290
"""P-values below it lose their digits; their logarithms are taken another way."""
FEW_FREEDOMS = 20
"""Degrees of freedom up to which the tail of chi-squared is summed."""
MANY_ROWS = 1_000
"""Degrees of freedom from which Hill's expansion of the t distribution has all digits of p-values that are not rare."""


@dataclass(frozen=True, eq=False)
class Tests:
    """A statistic of each column, its p-value and the logarithm of that, which does not underflow."""

    statistic: FloatArray
    p_value: FloatArray
    log_p: FloatArray

    def put(self, columns: Any, found: Tests) -> None:
        """Write the tests of some columns."""
        self.statistic[columns], self.p_value[columns] = found.statistic, found.p_value
        self.log_p[columns] = found.log_p

    def ranking(self, *, by_p: bool = False) -> Ranking:
        """Rank by the statistics; or, where these have different degrees of freedom, by −log₁₀ p."""
        if not by_p:
            return Ranking.by_score(self.statistic, p_value=self.p_value)
        return Ranking.by_score(-self.log_p / np.log(10.0), p_value=self.p_value, statistic=self.statistic)


def f_tests(above: FloatArray, below: FloatArray, one: Any, other: Any, usable: BoolArray, sure: BoolArray) -> Tests:
    """Test mean squares against each other with F; nothing where not usable, infinity where nothing is left below.

    Beyond what a float can hold, log p is that of the leading term of the incomplete beta function's series.
    """
    one, other = np.maximum(one, 1).astype(np.float64), np.maximum(other, 1).astype(np.float64)
    F = np.divide(above, below, out=np.zeros_like(above), where=usable & ~sure)
    simple = len(F) > 0 and one.max() <= 1 and other.min() >= MANY_ROWS
    p = np.where(usable & ~sure, _t_tails(other, F) if simple else fdtrc(one, other, F), np.where(sure, 0.0, 1.0))
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    if (far := (p < TINY) & ~sure).any():
        a, b, w = other[far] / 2.0, one[far] / 2.0, (other / (other + one * F))[far]
        series = np.maximum(1.0 - w * (a + b) / (a + 1.0), 1e-3)
        log_p[far] = a * np.log(w) + b * np.log1p(-w) - np.log(a) - betaln(a, b) - np.log(series)
    return Tests(np.where(sure, np.inf, F), p, log_p)


def _t_tails(freedom: FloatArray, F: FloatArray) -> FloatArray:
    """Return how likely F of one and many degrees of freedom, which is t², is exceeded.

    Hill, Algorithm 395 (Communications of the ACM 13, 1970): the normal deviate with the same tail, expanded in
    1 / freedom. A tenth of the time of the incomplete beta function, which has the rare p-values that need more terms:
    from 1,000 degrees on the expansion is off by 2e-14 above 1e-10, and by 5e-9 at 1e-280.
    """
    a = freedom - 0.5
    b, y = 48.0 * a * a, a * np.log1p(F / freedom)
    inner = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b)
    p = np.asarray(erfc(((inner + y + 3.0) / b + 1.0) * np.sqrt(y / 2.0)))
    rare = p < 1e-10
    p[rare] = fdtrc(1.0, freedom[rare], F[rare])
    return p


def _chi2_tails(freedom: FloatArray, statistic: FloatArray) -> FloatArray:
    """Return how likely chi-squared is exceeded.

    With one freedom for all, in closed form: Q₁ = erfc √h, Q₂ = exp −h, Qₖ₊₂ = Qₖ + hᵏᐟ² e⁻ʰ / Γ(k/2 + 1), where h is
    half the statistic; a sum of positive terms, and a fiftieth of the time of the incomplete gamma function.
    """
    k = int(freedom.max(initial=1))
    if k > FEW_FREEDOMS or not (freedom == k).all():
        return np.asarray(chdtrc(freedom, statistic))
    half = np.clip(statistic / 2.0, TINY, 1e300)
    p = erfc(np.sqrt(half)) if k % 2 else np.exp(-half)
    for j in range(2 - k % 2, k, 2):
        p += np.exp(j / 2.0 * np.log(half) - half - gammaln(j / 2.0 + 1.0))
    return np.asarray(p)


def chi2_tests(statistic: FloatArray, freedom: Any) -> Tests:
    """Test statistics that are chi-squared; nothing where there is no degree of freedom.

    Beyond what a float can hold, log p is that of the first convergent of the incomplete gamma function's fraction.
    """
    usable = (np.asarray(freedom) > 0) & (statistic > 0)
    k = np.where(usable, freedom, np.max(freedom, initial=1)).astype(np.float64)
    p = np.where(usable, _chi2_tails(k, statistic), 1.0)
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    if (far := p < TINY).any():
        a, h = k[far] / 2.0, statistic[far] / 2.0
        log_p[far] = a * np.log(h) - h - gammaln(a) - np.log(h + 1.0 - a)
    return Tests(statistic, p, log_p)


def class_moments(problem: Problem, *, squares: bool = True) -> ClassMoments:
    """Return the class moments of a table in memory, or the sums alone: a stream of one chunk."""
    if squares:
        moments = ClassMoments(shift_of(problem if problem.sparse is not None else head(problem)))
    else:
        moments = ClassMoments(np.zeros((problem.n_features, problem.n_classes)), squares=False)
    moments.add(problem)
    return moments


def target_moments(problem: Problem) -> TargetMoments:
    """Return the joint moments of a table in memory with a quantity."""
    shift = shift_of(problem if problem.sparse is not None else head(problem))[:, 0]
    moments = TargetMoments(shift, float(problem.y.mean()))
    moments.add(problem)
    return moments


def level_moments(problem: Problem) -> LevelMoments:
    """Return the moments of a quantity in the levels of the nominal columns."""
    columns = np.flatnonzero(problem.nominal)
    most = max((int(np.nanmax(problem.X[:, f], initial=0.0)) + 1 for f in columns), default=1)
    moments = LevelMoments(columns, most, float(problem.y.mean()))
    if len(columns):
        moments.add(problem)
    return moments


def level_tables(rows: Problem | JointCounts | None) -> LevelTable:
    """Say how nominal columns are counted: from rows, a column at a time; or from counts over all chunks."""
    if isinstance(rows, JointCounts):
        return lambda column: rows.table(column)[:-1]
    assert rows is not None

    def count(column: int) -> FloatArray:
        cells = rows.X[:, column]
        present = ~np.isnan(cells)
        codes, n_classes = cells[present].astype(np.int64), max(rows.n_classes, 1)
        size = (int(codes.max(initial=0)) + 1) * n_classes
        counts = np.bincount(codes * n_classes + rows.y[present], rows.row_weights[present], minlength=size)
        return counts.reshape(-1, n_classes).astype(np.float64)

    return count


def level_tests(tables: LevelTable, columns: Any, scale: float, *, mean_square: bool = False) -> Tests:
    """Test the levels of nominal columns against the classes by Pearson's chi-squared, or that over its freedom."""
    statistic, freedom = np.zeros(len(columns)), np.zeros(len(columns), dtype=np.int64)
    for place, column in enumerate(columns):
        observed = scale * tables(int(column))
        observed = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
        freedom[place] = max((observed.shape[0] - 1) * (observed.shape[1] - 1), 0)
        expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / max(float(observed.sum()), 1e-300)
        statistic[place] = ((observed - expected) ** 2 / expected).sum() if freedom[place] else 0.0
    tests = chi2_tests(statistic, freedom)
    return replace(tests, statistic=statistic / np.maximum(freedom, 1)) if mean_square else tests


def fisher_scores(moments: ClassMoments, tables: LevelTable, nominal: BoolArray) -> FloatArray:
    """Return Fisher's score of each column; a nominal one counts as its level indicators."""
    between, within = moments.scatter()
    for column in np.flatnonzero(nominal):
        table = tables(int(column))
        mass = table.sum(axis=0)
        share = np.divide(table, mass, out=np.zeros_like(table), where=mass > 0)
        middle = table.sum(axis=1, keepdims=True) / max(float(mass.sum()), 1e-300)
        between[column] = (mass * (share - middle) ** 2).sum()
        within[column] = (mass * share * (1.0 - share)).sum()
    with np.errstate(divide="ignore"):
        scores = np.divide(between, within, out=np.zeros_like(between), where=between > 0)
    scores[moments.constant] = 0.0
    return scores


def f_test_of_classes(moments: ClassMoments, tables: LevelTable, nominal: BoolArray) -> Ranking:
    """Rank by one-way analysis of variance, nominal columns beside them by chi-squared."""
    between, within = moments.scatter()
    scale, counts = moments.n_weighted / moments.weight, moments.counts
    n, k = across(counts), across(counts > 0)
    usable = (k >= 2) & (n > k) & ~moments.constant
    upper, lower = scale * between / np.maximum(k - 1, 1), scale * within / np.maximum(n - k, 1)
    tests = f_tests(upper, lower, k - 1, n - k, usable, usable & (lower <= 1e-28 * upper))
    columns = np.flatnonzero(nominal)
    if len(columns):
        tests.put(columns, level_tests(tables, columns, scale, mean_square=True))
    return tests.ranking()


def f_test_of_target(moments: TargetMoments, levels: LevelMoments) -> Ranking:
    """Rank by the test of the correlation with a quantity, nominal columns by analysis of variance over levels."""
    n, square = moments.counts, moments.correlation**2
    usable = (n >= 3) & ~moments.constant
    rest = np.where(1.0 - square <= 1e-15, 0.0, 1.0 - square)
    tests = f_tests(square * np.maximum(n - 2, 0), rest, np.ones_like(n), n - 2, usable, usable & (rest == 0.0))
    if len(levels.columns):
        tests.put(levels.columns, f_tests_of_levels(levels))
    return tests.ranking()


def f_tests_of_levels(moments: LevelMoments) -> Tests:
    """Test a quantity over the levels of each nominal column by analysis of variance."""
    count, mass, first, second = (moments.sums[:, row] for row in range(4))
    n, k = count.sum(axis=1), (count > 0).sum(axis=1)
    explained = np.divide(first**2, mass, out=np.zeros_like(first), where=mass > 0)
    total = mass.sum(axis=1)
    middle = np.divide(first.sum(axis=1) ** 2, total, out=np.zeros_like(total), where=total > 0)
    between = np.maximum(explained.sum(axis=1) - middle, 0.0) / np.maximum(k - 1, 1)
    within = np.maximum((second - explained).sum(axis=1), 0.0) / np.maximum(n - k, 1)
    usable = (k >= 2) & (n > k) & (moments.low < moments.high)
    sure = usable & (within <= 1e-14 * between)  # sums of squares, whose digits go half-way
    return f_tests(between, within, k - 1, n - k, usable, sure)


def chi2_ranking(moments: ClassMoments, tables: LevelTable, like: Problem) -> Ranking:
    """Rank by chi-squared: of levels against classes, or of sums of counts in the classes."""
    nominal = like.nominal
    negative = ~nominal & (moments.ranges.low < 0)
    if negative.any():
        name = like.names[int(np.argmax(negative))]
        raise IncompatibleError(f"Chi2 counts, and column {name!r} has negative numbers; use FTest.")
    scale = moments.n_weighted / moments.weight
    sums, mass = scale * moments.sums, scale * moments.mass
    # Σ (o − e)² / e = Σ o² / e − Σ o, with e the class's share of the column's total.
    total, weight = across(sums), across(mass)
    parts = across(np.divide(sums**2, mass, out=np.zeros_like(sums), where=mass > 0))
    statistic = np.divide(parts * weight, total, out=np.zeros_like(total), where=total > 0) - total
    freedom = np.where(total > 0, np.maximum(across(mass > 0) - 1, 0), 0)
    tests = chi2_tests(np.where(freedom > 0, np.maximum(statistic, 0.0), 0.0), freedom)
    columns = np.flatnonzero(nominal)
    if len(columns):
        tests.put(columns, level_tests(tables, columns, scale))
    return tests.ranking(by_p=len(columns) > 0)


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
    weights_repeat_rows: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    statistics: ClassVar[tuple[str, ...]] = ("moments", "counts")

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return Ranking.by_score(fisher_scores(class_moments(problem), level_tables(problem), problem.nominal))


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
        if problem.task == "regression":
            return f_test_of_target(target_moments(problem), level_moments(problem))
        return f_test_of_classes(class_moments(problem), level_tables(problem), problem.nominal)


class Chi2(Ranker):
    """Chi-squared statistic of each feature with the class, and its p-value.

    A nominal feature: Pearson's test of its levels against the classes. A number, which must not be negative: it is
    taken as a count, and its sums in the classes are tested against the classes' shares, as scikit-learn's `chi2` does.

    Read more in the guide: :doc:`/methods/parts`.

    Notes
    -----
    The ranking's `extra` holds each feature's `p_value`. Nominal features of many levels have large statistics by
    chance alone, so that where there are any the score is −log₁₀ p, and `extra` holds the `statistic` too. Missing
    cells are left out for their feature. Row weights count, scaled to a mean of one. Rows are taken as independent:
    with row groups the p-values are too small. Numbers that are no counts (lengths, prices) get a value too, but it
    depends on their unit, and the p-value means nothing.

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
    depends_on: ClassVar[frozenset[str]] = frozenset({"sign", "shift", "scale"})
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    p_values: ClassVar[bool] = True
    statistics: ClassVar[tuple[str, ...]] = ("moments", "counts")

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return chi2_ranking(class_moments(problem, squares=False), level_tables(problem), problem)
