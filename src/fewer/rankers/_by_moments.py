"""Fisher's score and classical tests of each feature against the target.

By sums over the rows, of a table in memory, a sparse one or one that is read in chunks: Fisher's score (Chen, section
2.3), analysis of variance, the test of the correlation, chi-squared. By the order of a column's values, in memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaln, chdtrc, erfc, fdtrc, gammaln
from scipy.stats import chi2, kendalltau, kstwo, norm, rankdata, t

from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.io import Stream, refuse_constant
from fewer.problem import BoolArray, FloatArray, Problem, Task
from fewer.statistics import Bins, ClassMoments, JointCounts, LevelMoments, TargetMoments, collect
from fewer.statistics._moments import across, head, shift_of

LevelTable = Callable[[int], FloatArray]  # Gives the joint counts of a nominal column's levels and the classes.
TINY_P = 1e-290  # P-values below it lose their digits; their logarithms are taken another way.
FEW_FREEDOMS = 20  # Degrees of freedom up to which the tail of chi-squared is summed.
# Degrees of freedom from which Hill's expansion of the t distribution has all digits of p-values that are not rare.
MANY_DEGREES = 1_000


@dataclass(frozen=True, eq=False)
class Tests:
    """A statistic of each column, its p-value and the logarithm of that, which does not underflow."""

    statistic: FloatArray
    p_value: FloatArray
    log_p: FloatArray

    def put(self, columns: Any, tests: Tests) -> None:
        """Write the tests of some columns."""
        self.statistic[columns], self.p_value[columns] = tests.statistic, tests.p_value
        self.log_p[columns] = tests.log_p

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
    simple = len(F) > 0 and one.max() <= 1 and other.min() >= MANY_DEGREES
    p = np.where(usable & ~sure, _t_tails(other, F) if simple else fdtrc(one, other, F), np.where(sure, 0.0, 1.0))
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    if (far := (p < TINY_P) & ~sure).any():
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
    half = np.clip(statistic / 2.0, TINY_P, 1e300)
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
    if (far := p < TINY_P).any():
        a, h = k[far] / 2.0, statistic[far] / 2.0
        log_p[far] = a * np.log(h) - h - gammaln(a) - np.log(h + 1.0 - a)
    return Tests(statistic, p, log_p)


def first_rows(rows: Problem | Stream) -> Problem:
    """Return rows with the kinds and levels of the table: its first ones, or all of one in memory."""
    return rows if isinstance(rows, Problem) else rows.like


def class_sums(
    rows: Problem | Stream, resources: Resources, *, squares: bool = True
) -> tuple[ClassMoments, LevelTable]:
    """Return the moments of numbers in the classes, or their sums alone; and how levels meet the classes."""
    like = first_rows(rows)
    if not squares:
        shift = np.zeros((like.n_features, like.n_classes))
    else:
        shift = shift_of(like if isinstance(rows, Stream) or like.sparse is not None else head(like))
    if isinstance(rows, Problem):
        return collect(rows, lambda: ClassMoments(shift, squares=squares), resources), level_tables(rows)
    bins, nominal = Bins.of(like, [np.empty(0)] * like.n_features), np.flatnonzero(like.nominal)
    moments, counts = collect(
        rows, lambda: (ClassMoments(shift, squares=squares), JointCounts(bins, columns=nominal)), resources
    )
    return moments, level_tables(counts)


def target_sums(rows: Problem | Stream, resources: Resources) -> tuple[TargetMoments, LevelMoments]:
    """Return the joint moments of numbers with a quantity, and those of the quantity in the levels."""
    like = first_rows(rows)
    nominal, middle = np.flatnonzero(like.nominal), float(like.y.mean())
    if isinstance(rows, Stream):
        shift, n_levels = shift_of(like)[:, 0], max((len(like.levels[int(f)]) for f in nominal), default=1)
    else:
        shift = shift_of(like if like.sparse is not None else head(like))[:, 0]
        n_levels = max((int(np.nanmax(like.X[:, f], initial=0.0)) + 1 for f in nominal), default=1)

    sums: tuple[TargetMoments, LevelMoments] = collect(
        rows, lambda: (TargetMoments(shift, middle), LevelMoments(nominal, max(n_levels, 1), middle)), resources
    )
    return sums


def level_tables(rows: Problem | JointCounts) -> LevelTable:
    """Say how nominal columns are counted: from rows, a column at a time; or from counts over all chunks."""
    if isinstance(rows, JointCounts):
        return lambda column: rows.table(column)[:-1]

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
    n, square = moments.counts[:, 0], moments.correlation**2
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


class _BySums(Ranker):
    """A ranking that follows from sums over the rows: a table in memory is read in one chunk."""

    takes: ClassVar[frozenset[str]] = ROWS
    statistics: ClassVar[tuple[str, ...]] = ("moments", "counts")

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return self._of_sums(problem, resources)[0]

    def rank_stream(self, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
        ranking, moments = self._of_sums(stream, resources)
        refuse_constant(moments.constant)
        return ranking.bare_last(1.0 - moments.counts.sum(axis=1) / max(moments.n_weighted, 1), moments.constant)

    @abstractmethod
    def _of_sums(self, rows: Problem | Stream, resources: Resources) -> tuple[Ranking, ClassMoments | TargetMoments]:
        """Rank, and return the moments that the ranking follows from."""


class Fisher(_BySums):
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
    weights_repeat_rows: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def _of_sums(self, rows: Problem | Stream, resources: Resources) -> tuple[Ranking, ClassMoments | TargetMoments]:
        moments, tables = class_sums(rows, resources)
        return Ranking.by_score(fisher_scores(moments, tables, first_rows(rows).nominal)), moments


class FTest(_BySums):
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
    p_values: ClassVar[bool] = True

    def _of_sums(self, rows: Problem | Stream, resources: Resources) -> tuple[Ranking, ClassMoments | TargetMoments]:
        like = first_rows(rows)
        if like.task == "regression":
            quantities, levels = target_sums(rows, resources)
            return f_test_of_target(quantities, levels), quantities
        moments, tables = class_sums(rows, resources)
        return f_test_of_classes(moments, tables, like.nominal), moments


class Chi2(_BySums):
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
    depends_on: ClassVar[frozenset[str]] = frozenset({"sign", "shift", "scale"})
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    p_values: ClassVar[bool] = True

    def _of_sums(self, rows: Problem | Stream, resources: Resources) -> tuple[Ranking, ClassMoments | TargetMoments]:
        moments, tables = class_sums(rows, resources, squares=False)
        return chi2_ranking(moments, tables, first_rows(rows)), moments


class _OfOrder(Ranker):
    """Compare the order of each column with the target; subclasses say how, for the present cells of one column."""

    p_values: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = ROWS - {"weights", "nominal"}
    most_classes: ClassVar[int | None] = None  # Classes that the test can compare; None for any number.

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        name = type(self).__name__
        if self.most_classes is not None and problem.n_classes > self.most_classes:
            raise IncompatibleError(
                f"{name} compares two classes, and there are {problem.n_classes}; use KruskalWallis."
            )
        results = np.zeros((problem.n_features, 3))
        results[:, 2] = 1.0
        for feature in np.flatnonzero(~problem.constant).tolist():
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            cells, y = cells[present], problem.y[present]
            if len(cells) >= 3 and np.ptp(cells) > 0 and np.ptp(y) > 0:
                results[feature] = self._test(cells, y)
        scores, statistic, p_value = results.T
        return Ranking.by_score(scores.copy(), statistic=statistic.copy(), p_value=np.minimum(p_value, 1.0))

    @abstractmethod
    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        """Return score, statistic and p-value of one column."""


class Spearman(_OfOrder):
    """Rank correlation of each feature with the target, and its p-value.

    The score is the size of Spearman's ρ: Pearson's correlation of the ranks, equal values sharing their mean rank. The
    ranking's `extra` holds `statistic` (ρ with its sign) and `p_value` (Student's t with n − 2 degrees of freedom).
    Two classes count as 0 and 1.

    Read more in the guide: :doc:`/methods/parts`.

    See Also
    --------
    KendallTau : The same question, by pairs of rows.
    FTest : For straight lines.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fewer
    >>> X, y = load_diabetes(return_X_y=True)
    >>> fewer.RankSelector(Spearman(), n_features_to_select=2).fit(X, y).scores_.round(2)[:3]
    array([0.2 , 0.04, 0.56])
    """

    command_name = "spearman"
    most_classes: ClassVar[int | None] = 2

    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        rho = float(np.clip(np.corrcoef(rankdata(cells), rankdata(y))[0, 1], -1.0, 1.0))
        left, freedom = 1.0 - rho**2, len(cells) - 2
        student = abs(rho) * np.sqrt(freedom / left) if left > 0 else np.inf
        return abs(rho), rho, float(2.0 * t.sf(student, freedom))


class KendallTau(_OfOrder):
    """Kendall's τ of each feature with the target, and its p-value: do pairs of rows come in the same order in both?

    The score is the size of τ-b, which allows for equal values. The ranking's `extra` holds `statistic` (τ with its
    sign) and `p_value`. Two classes count as 0 and 1.

    Read more in the guide: :doc:`/methods/parts`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fewer
    >>> X, y = load_diabetes(return_X_y=True)
    >>> fewer.RankSelector(KendallTau(), n_features_to_select=2).fit(X, y).scores_.round(2)[:3]
    array([0.13, 0.03, 0.39])
    """

    command_name = "kendall"
    most_classes: ClassVar[int | None] = 2

    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        tau, p_value = kendalltau(cells, y)
        return abs(float(tau)), float(tau), float(p_value)


class KruskalWallis(_OfOrder):
    """Kruskal and Wallis' H of each feature, and its p-value: do the ranks differ between the classes?

    Analysis of variance of the ranks, with the correction for equal values. The score is H divided by its degrees of
    freedom, so that features that lack some classes compare; `extra` holds H as `statistic`, and `p_value`.

    Read more in the guide: :doc:`/methods/parts`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(KruskalWallis(), n_features_to_select=2).fit(X, y).extra_["statistic"].round(1)
    array([ 96.9,  63.6, 130.4, 131.2])
    """

    command_name = "kruskal-wallis"
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        ranks, groups = rankdata(cells), np.unique(y, return_inverse=True)[1]
        n, sizes = len(cells), np.bincount(groups)
        sums = np.bincount(groups, ranks)
        ties = np.unique(cells, return_counts=True)[1]
        shared = 1.0 - float((ties**3.0 - ties).sum()) / (n**3.0 - n)
        statistic = max((12.0 / (n * (n + 1.0)) * float((sums**2 / sizes).sum()) - 3.0 * (n + 1.0)) / shared, 0.0)
        freedom = len(sizes) - 1
        return statistic / freedom, statistic, float(chi2.sf(statistic, freedom))


class MannWhitney(_OfOrder):
    """Mann and Whitney's U of each feature for two classes, and its p-value: are values of one class the larger ones?

    Also known as Wilcoxon's rank-sum test. The score is the distance of U from its mean in standard deviations, with
    the corrections for equal values and for continuity; `extra` holds U of the second class as `statistic`, and
    `p_value`.

    Read more in the guide: :doc:`/methods/parts`.

    See Also
    --------
    AUC : U as a share of all pairs, the area under the ROC curve.
    KruskalWallis : For more classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fewer.RankSelector(MannWhitney(), n_features_to_select=2).fit(X, y).scores_.round(1)[:3]
    array([17.5, 11. , 17.8])
    """

    command_name = "mann-whitney"
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    most_classes: ClassVar[int | None] = 2

    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        wins, pairs = _wins(cells, y == y.max())
        n, ties = len(cells), np.unique(cells, return_counts=True)[1]
        spread = np.sqrt(pairs / 12.0 * (n + 1.0 - float((ties**3.0 - ties).sum()) / (n * (n - 1.0))))
        z = max(abs(wins - pairs / 2.0) - 0.5, -0.5) / spread
        return max(z, 0.0), wins, float(2.0 * norm.sf(z))


class KolmogorovSmirnov(_OfOrder):
    """Kolmogorov and Smirnov's distance of each feature's two class distributions, and its p-value.

    The score is the largest difference of the two cumulative distributions. It sees any difference, also one of spread
    that a comparison of means or ranks does not. The p-value is that of a sample of n₁ n₂ / (n₁ + n₂) rows.

    Read more in the guide: :doc:`/methods/parts`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fewer.RankSelector(KolmogorovSmirnov(), n_features_to_select=2).fit(X, y).scores_.round(2)[:3]
    array([0.73, 0.47, 0.76])
    """

    command_name = "kolmogorov-smirnov"
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    most_classes: ClassVar[int | None] = 2

    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        first = y == y.min()
        distance, p_value = ks_distance(cells[first], cells[~first])
        return distance, distance, p_value


class AUC(_OfOrder):
    """Area under the ROC curve of each feature by itself: how often is its value larger in one class than in another?

    The larger of the area and one minus it, so that 0.5 says nothing and 1 separates the classes; of more than two
    classes, the mean over all pairs of them. `extra` holds `statistic`, the area of the last class against the first,
    and `p_value`, that of `KruskalWallis`, which asks the same of two classes.

    Read more in the guide: :doc:`/methods/parts`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fewer.RankSelector(AUC(), n_features_to_select=2).fit(X, y).scores_.round(2)[:3]
    array([0.94, 0.78, 0.95])
    """

    command_name = "auc"
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def _test(self, cells: FloatArray, y: Any) -> tuple[float, float, float]:
        codes = np.unique(y)
        areas = {}
        for low, high in combinations(codes.tolist(), 2):
            rows = (y == low) | (y == high)
            wins, pairs = _wins(cells[rows], y[rows] == high)
            areas[low, high] = wins / pairs
        score = float(np.mean([max(area, 1.0 - area) for area in areas.values()]))
        return score, areas[codes[0], codes[-1]], KruskalWallis()._test(cells, y)[2]


def _wins(cells: FloatArray, second: Any) -> tuple[float, float]:
    """Count the pairs of rows in which the row of the second class has the larger value, equal ones half, and all."""
    n_second = float(second.sum())
    wins = float(rankdata(cells)[second].sum()) - n_second * (n_second + 1.0) / 2.0
    return wins, n_second * (len(cells) - n_second)


def ks_distance(one: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Return the largest difference of two samples' cumulative distributions, and its p-value.

    Parameters
    ----------
    one, other : arrays
        The samples, without missing cells.

    Returns
    -------
    distance, p_value : float

    Examples
    --------
    >>> ks_distance(np.array([1.0, 2.0, 3.0]), np.array([2.5, 4.0]))[0]
    0.6666666666666666
    """
    one, other = np.sort(one), np.sort(other)
    places = np.concatenate([one, other])
    below = [np.searchsorted(sample, places, side="right") / len(sample) for sample in (one, other)]
    distance = float(np.abs(below[0] - below[1]).max())
    effective = len(one) * len(other) / (len(one) + len(other))
    return distance, float(np.clip(kstwo.sf(distance, np.round(effective)), 0.0, 1.0))
