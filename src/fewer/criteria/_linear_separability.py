"""How far two classes are from being separable by a plane (Dong & Kothari 2003, section 3; Ho & Basu 2002)."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog

from fewer.contracts import Criterion, Masks, Resources, Scorer
from fewer.io import to_problem
from fewer.problem import BoolArray, FloatArray, Problem, Task


class LinearSeparability(Criterion):
    """One minus the mean distance by which rows lie on the wrong side of the best plane.

    The plane has the least sum of such distances, by linear programming (F. Smith, IEEE Transactions on Computers 17,
    1968); columns are standardized, so that the margin of 1 means something. 1 if a plane separates the classes, 0 for
    classes that lie on top of each other. With several classes the worst pair counts. Missing cells count as the mean,
    nominal columns by their level codes.

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

    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _PlaneScorer(problem)


class _PlaneScorer(Scorer):
    def __init__(self, problem: Problem) -> None:
        X = np.where(np.isnan(problem.X), np.nan_to_num(np.nanmean(problem.X, axis=0)), problem.X)
        spread = X.std(axis=0)
        self._X, self._y = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), problem.y
        self._pairs = list(combinations(range(problem.n_classes), 2))

    def score(self, masks: Masks) -> FloatArray:
        return np.array([self._one(mask) if mask.any() else 0.0 for mask in masks.astype(bool)])

    def _one(self, mask: BoolArray) -> float:
        worst = 0.0
        for a, b in self._pairs:
            rows = (self._y == a) | (self._y == b)
            worst = max(worst, _mean_distance(self._X[rows][:, mask], self._y[rows] == b))
        return 1.0 - min(worst, 1.0)


def _mean_distance(X: FloatArray, positive: BoolArray) -> float:
    """Return the least mean of max(0, 1 − s (w·x + b)) over rows, s = ±1, each class counting half."""
    sign = np.where(positive, 1.0, -1.0)
    n, p = X.shape
    share = np.where(positive, 0.5 / max(positive.sum(), 1), 0.5 / max((~positive).sum(), 1))
    table = np.hstack([-sign[:, None] * np.column_stack([X, np.ones(n)]), -np.eye(n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * n
    found = linprog(np.append(np.zeros(p + 1), share), A_ub=table, b_ub=-np.ones(n), bounds=bounds, method="highs")
    return float(round(found.fun, 12)) if found.status == 0 else 1.0


def linear_separability(X: Any, y: Any) -> float:
    """Return how nearly a plane separates the classes: 1 if one does, 0 if none helps.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)

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
