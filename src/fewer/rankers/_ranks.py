"""Tests of each feature that depend only on the order of its values, so that no unit and no outlier matters."""

from __future__ import annotations

from abc import abstractmethod
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.stats import chi2, kendalltau, kstwo, norm, rankdata, t

from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.problem import FloatArray, Problem, Task


class _OfOrder(Ranker):
    """Compare the order of each column with the target; subclasses say how, for the present cells of one column."""

    p_values: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = ROWS - {"weights", "nominal"}
    most_classes: ClassVar[int | None] = None
    """Classes that the test can compare; None for any number."""

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        name = type(self).__name__
        if self.most_classes is not None and problem.n_classes > self.most_classes:
            raise IncompatibleError(
                f"{name} compares two classes, and there are {problem.n_classes}; use KruskalWallis."
            )
        found = np.zeros((problem.n_features, 3))
        found[:, 2] = 1.0
        for feature in np.flatnonzero(~problem.constant).tolist():
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            cells, y = cells[present], problem.y[present]
            if len(cells) >= 3 and np.ptp(cells) > 0 and np.ptp(y) > 0:
                found[feature] = self._test(cells, y)
        scores, statistic, p_value = found.T
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
