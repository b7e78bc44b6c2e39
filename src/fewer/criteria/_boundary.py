"""The classical measures that classifiability stands beside: Fisher's discriminant ratio and the spanning tree.

Dong & Kothari 2003, section 3, equation 1; Friedman & Rafsky, Annals of Statistics 7 (1979); Ho & Basu, IEEE
Transactions on Pattern Analysis and Machine Intelligence 24 (2002).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from fewer.contracts import Criterion, Masks, Resources, Scorer
from fewer.differences import Differences
from fewer.io import to_problem
from fewer.kernels._classifiability import Table
from fewer.kernels._spanning_tree import spanning_tree
from fewer.problem import FloatArray, Problem, Task


class FisherRatio(Criterion):
    """The largest discriminant ratio of any feature in the subset: max (μ₁ − μ₂)² / (σ₁² + σ₂²).

    It sees one feature at a time, so it never falls when a feature is added and cannot tell a good pair from its
    better half. With more than two classes the largest ratio of any pair of classes counts. Missing cells are left
    out; nominal columns are taken by their level codes.

    Read more in the guide: :doc:`/methods/parts`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(FisherRatio(), fewer.search.Forward()).fit(X, y).get_support(indices=True)
    array([2])
    """

    command_name = "fisher-ratio"

    monotone: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _LargestOf(_fisher_ratios(problem))


class BoundaryShare(Criterion):
    """One minus the share of edges of the minimum spanning tree that join different classes.

    The tree joins all rows by the shortest edges; where classes lie apart, few edges cross between them (Friedman &
    Rafsky). Near 1 is easy; for two equal classes thrown at random it is about 0.5. Distances are those of
    `Classifiability`: columns divided by their ranges, nominal values equal or not. Of equally short edges the one
    from the row that joined earlier is taken. The empty subset scores 0.

    Read more in the guide: :doc:`/methods/neighbors`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(BoundaryShare(), fewer.search.Forward()).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    command_name = "boundary-share"

    supports_weights: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _BoundaryScorer(problem)


class _LargestOf(Scorer):
    """Scores a subset by its best feature; 0 for none."""

    def __init__(self, values: FloatArray) -> None:
        self._values = values

    def score(self, masks: Masks) -> FloatArray:
        return np.asarray(np.where(masks, self._values, 0.0).max(axis=1, initial=0.0))


class _BoundaryScorer(Scorer):
    def __init__(self, problem: Problem) -> None:
        self._y = problem.y
        layout = Differences.within(problem, np.zeros(problem.n_samples, dtype=np.int64), "global")
        plain = np.where(layout.missing.any(axis=1), 2, np.where(problem.nominal, 1, 0)).astype(np.int64)
        self._layout = Table(
            layout.columns, layout.missing, plain, layout.nominal, layout.scale[0], layout.gap[0], layout.quantum,
        )  # fmt: skip

    def score(self, masks: Masks) -> FloatArray:
        return np.array([1.0 - self.share(mask) if mask.any() else 0.0 for mask in masks])

    def share(self, mask: Masks) -> float:
        parent = spanning_tree(self._layout, mask.astype(np.float64))
        children = np.flatnonzero(parent >= 0)
        return float(np.mean(self._y[children] != self._y[parent[children]]))


def fisher_ratio(X: Any, y: Any) -> FloatArray:
    """Return the discriminant ratio of each feature; the largest describes the problem.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their classes.

    Returns
    -------
    array of shape (n_features,)
        Larger where a feature alone tells the classes apart.

    Examples
    --------
    >>> fisher_ratio([[0.0, 5.0], [2.0, 1.0], [10.0, 4.0], [12.0, 2.0]], ["a", "a", "b", "b"])
    array([50.,  0.])
    """
    return _fisher_ratios(to_problem(X, y, task="classification"))


def boundary_share(X: Any, y: Any) -> float:
    """Return the share of the minimum spanning tree's edges that join different classes.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their classes.

    Returns
    -------
    float
        Between 0 and 1; small where the classes keep apart.

    Examples
    --------
    >>> boundary_share([[0.0], [1.0], [2.0], [8.0], [9.0]], ["a", "a", "a", "b", "b"])
    0.25
    """
    problem = to_problem(X, y, task="classification")
    return _BoundaryScorer(problem).share(np.ones(problem.n_features, dtype=bool))


def _fisher_ratios(problem: Problem) -> FloatArray:
    """Return the largest ratio over pairs of classes, feature by feature."""
    present = ~problem.missing
    table = np.where(present, problem.X, 0.0)
    means, variances = [], []
    for code in range(problem.n_classes):
        rows = problem.y == code
        count = np.maximum(present[rows].sum(axis=0), 1)
        mean = table[rows].sum(axis=0) / count
        means.append(mean)
        variances.append((np.where(present[rows], table[rows] - mean, 0.0) ** 2).sum(axis=0) / count)
    ratios = np.zeros(problem.n_features)
    for a, b in combinations(range(problem.n_classes), 2):
        apart, spread = (means[a] - means[b]) ** 2, variances[a] + variances[b]
        # Two classes that are constant and different are told apart perfectly: more than any finite ratio.
        ratio = np.divide(apart, spread, out=np.where(apart > 0, np.finfo(float).max, 0.0), where=spread > 0)
        ratios = np.maximum(ratios, ratio)
    return ratios
