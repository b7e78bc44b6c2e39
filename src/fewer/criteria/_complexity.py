"""Classical measures of how hard two classes are to separate: a plane, Fisher's ratio, the spanning tree.

Dong & Kothari 2003, section 3, equation 1; Friedman & Rafsky, Annals of Statistics 7 (1979); Ho & Basu, IEEE
Transactions on Pattern Analysis and Machine Intelligence 24 (2002).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog

from fewer.contracts import ROWS, Criterion, Masks, Resources, Scorer
from fewer.io import to_problem
from fewer.kernels.classifiability import spanning_tree
from fewer.kernels.differences import exact_rows
from fewer.problem import BoolArray, FloatArray, Problem, Task


class LinearSeparability(Criterion):
    """One minus the mean distance by which rows lie on the wrong side of the best plane.

    The plane has the least sum of such distances, by linear programming (F. Smith, IEEE Transactions on Computers 17,
    1968); columns are standardized, so that the margin of 1 means something. 1 if a plane separates the classes, 0 for
    classes that lie on top of each other. With several classes the worst pair counts. Missing cells count as the mean,
    nominal columns by their level codes, rows by their weights within their class.

    Read more in the guide: :doc:`/methods/parts`.

    See Also
    --------
    FisherRatio, BoundaryShare : The other classical measures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(LinearSeparability(), fewer.search.Forward()).fit(X[50:], y[50:]).get_support(indices=True)
    array([0, 1, 2, 3])
    """

    command_name = "linear-separability"
    takes: ClassVar[frozenset[str]] = ROWS
    weights_repeat_rows: ClassVar[bool] = True

    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _PlaneScorer(problem)


class _PlaneScorer(Scorer):
    def __init__(self, problem: Problem) -> None:
        self._weights = problem.row_weights
        present, table = ~problem.missing, np.nan_to_num(problem.X)
        mass = np.maximum(self._weights @ present, 1e-300)
        centered = np.where(present, table - self._weights @ table / mass, 0.0)
        spread = np.sqrt(self._weights @ centered**2 / self._weights.sum())
        self._X, self._y = centered / np.where(spread > 0, spread, 1.0), problem.y
        self._pairs = list(combinations(range(problem.n_classes), 2))

    def score(self, masks: Masks) -> FloatArray:
        return np.array([self._one(mask) if mask.any() else 0.0 for mask in masks.astype(bool)])

    def _one(self, mask: BoolArray) -> float:
        worst = 0.0
        for a, b in self._pairs:
            rows = (self._y == a) | (self._y == b)
            worst = max(worst, _mean_distance(self._X[rows][:, mask], self._y[rows] == b, self._weights[rows]))
        return 1.0 - min(worst, 1.0)


def _mean_distance(X: FloatArray, positive: BoolArray, weights: FloatArray) -> float:
    """Return the least mean of max(0, 1 − s (w·x + b)) over rows, s = ±1, each class counting half."""
    sign = np.where(positive, 1.0, -1.0)
    n, p = X.shape
    masses = weights @ positive, weights @ ~positive
    share = 0.5 * weights / np.maximum(np.where(positive, *masses), 1e-300)
    table = np.hstack([-sign[:, None] * np.column_stack([X, np.ones(n)]), -np.eye(n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * n
    solution = linprog(np.append(np.zeros(p + 1), share), A_ub=table, b_ub=-np.ones(n), bounds=bounds, method="highs")
    return float(round(solution.fun, 12)) if solution.status == 0 else 1.0


def linear_separability(X: Any, y: Any) -> float:
    """Return how nearly a plane separates the classes: 1 if one does, 0 if none helps.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their target.

    Returns
    -------
    float

    Examples
    --------
    >>> linear_separability([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    1.0
    >>> linear_separability([[0.0], [1.0], [0.0], [1.0]], ["a", "a", "b", "b"])
    0.0
    """
    problem = to_problem(X, y, task="classification")
    return float(_PlaneScorer(problem).score(np.ones((1, problem.n_features), dtype=bool))[0])


class FisherRatio(Criterion):
    """The largest discriminant ratio of any feature in the subset: max (μ₁ − μ₂)² / (σ₁² + σ₂²).

    It sees one feature at a time, so it never falls when a feature is added and cannot distinguish a good pair from its
    better half. With more than two classes the largest ratio of any pair of classes counts. Missing cells are left
    out; nominal columns are taken by their level codes; row weights count in means and variances.

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
    takes: ClassVar[frozenset[str]] = ROWS
    weights_repeat_rows: ClassVar[bool] = True

    monotone: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _LargestOf(_fisher_ratios(problem))


class BoundaryShare(Criterion):
    """One minus the share of edges of the minimum spanning tree that join different classes.

    The tree joins all rows by the shortest edges; where classes lie apart, few edges cross between them (Friedman &
    Rafsky). Near 1 is easy; for two equal classes thrown at random it is about 0.5. Distances are those of
    `Classifiability`: columns divided by their ranges, nominal values equal or not. Of equally short edges the one
    from the row that joined earlier is taken. No edge joins two rows of one group. The empty subset scores 0.
    An edge of the tree has no weight, so row weights are refused.

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
    takes: ClassVar[frozenset[str]] = ROWS - {"weights"}

    supports_weights: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        problem.check_neighbors("BoundaryShare")
        return _BoundaryScorer(problem)


class _LargestOf(Scorer):
    """Scores a subset by its best feature; 0 for none."""

    def __init__(self, values: FloatArray) -> None:
        self._values = values

    def score(self, masks: Masks) -> FloatArray:
        return np.asarray(np.where(masks, self._values, 0.0).max(axis=1, initial=0.0))


class _BoundaryScorer(Scorer):
    def __init__(self, problem: Problem) -> None:
        self._y, self._groups = problem.y, problem.row_groups
        self._exact = exact_rows(problem, np.zeros(problem.n_samples, dtype=np.int64), "global")

    def score(self, masks: Masks) -> FloatArray:
        return np.array([1.0 - self.share(mask) if mask.any() else 0.0 for mask in masks])

    def share(self, mask: Masks) -> float:
        parent = spanning_tree(self._exact, mask.astype(np.float64), self._groups)
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
        Larger where a feature alone separates the classes.

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
    table, weights = np.where(present, problem.X, 0.0), problem.row_weights
    means, variances = [], []
    for code in range(problem.n_classes):
        rows = problem.y == code
        mass = weights[rows] @ present[rows]
        mass = np.where(mass > 0, mass, 1.0)
        mean = weights[rows] @ table[rows] / mass
        means.append(mean)
        variances.append(weights[rows] @ np.where(present[rows], table[rows] - mean, 0.0) ** 2 / mass)
    ratios = np.zeros(problem.n_features)
    for a, b in combinations(range(problem.n_classes), 2):
        apart, spread = (means[a] - means[b]) ** 2, variances[a] + variances[b]
        # Two classes that are constant and different are separated perfectly: more than any finite ratio.
        ratio = np.divide(apart, spread, out=np.where(apart > 0, np.finfo(float).max, 0.0), where=spread > 0)
        ratios = np.maximum(ratios, ratio)
    return ratios
