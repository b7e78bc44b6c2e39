"""What every comparison needs beside the methods compared: all features, chance, one simple filter."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.feature_selection import f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewer.contracts import Ranker, Ranking, Resources
from fewer.problem import BoolArray, FloatArray, Problem, Task
from fewer.rankers import Fisher
from fewer.selectors import RankSelector

ALL = "all features"
RANDOM = "random subset"


def filter_baseline(task: Task) -> tuple[str, RankSelector]:
    """Return the univariate filter of a task and its name; it finds its size by cross-validation."""
    if task == "classification":
        return "Fisher filter", RankSelector(Fisher())
    return "F-test filter", RankSelector(FTest())


def default_estimators(task: Task) -> dict[str, Any]:
    """Return nearest neighbors and a linear model, on scaled columns."""
    if task == "classification":
        return {
            "knn": make_pipeline(StandardScaler(), KNeighborsClassifier()),
            "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        }
    return {
        "knn": make_pipeline(StandardScaler(), KNeighborsRegressor()),
        "linear": make_pipeline(StandardScaler(), Ridge()),
    }


def random_like(mask: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Draw a subset of the same size."""
    return rng.permutation(mask)


class FTest(Ranker):
    """Minus the logarithm of the p-value of an F-test of each feature alone against the target.

    Numbers are tested by a linear regression, nominal features by a one-way analysis of variance. Missing cells are
    left out.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 4.0], [4.0, 2.0]])
    >>> problem = Problem.from_arrays(X, [1.1, 1.9, 3.2, 3.9], task="regression")
    >>> FTest().rank(problem, np.random.default_rng(0), Resources()).order
    array([0, 1])
    """

    tasks: ClassVar[tuple[Task, ...]] = ("regression",)

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        scores = np.zeros(problem.n_features)
        varies = ~problem.constant
        plain = varies & ~problem.nominal & ~problem.missing.any(axis=0)
        if plain.any():
            scores[plain] = _linear(problem.X[:, plain], problem.y)
        for column in np.flatnonzero(varies & ~plain):
            cells = problem.X[:, column]
            present = ~np.isnan(cells)
            test = _levels if problem.nominal[column] else _linear
            scores[column] = np.ravel(test(cells[present, None], problem.y[present]))[0]
        return Ranking.by_score(scores)


def _linear(X: FloatArray, y: FloatArray) -> FloatArray:
    if len(y) < 3 or np.ptp(y) == 0:
        return np.zeros(X.shape[1])
    return np.asarray(-stats.f.logsf(f_regression(X, y)[0], 1, len(y) - 2))


def _levels(X: FloatArray, y: FloatArray) -> FloatArray:
    groups = [y[X[:, 0] == level] for level in np.unique(X)]
    n, k = len(y), len(groups)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    between = float(((y - y.mean()) ** 2).sum()) - within
    if n <= k or within <= 0:
        return np.zeros(1)
    return np.atleast_1d(-stats.f.logsf(between / (k - 1) / (within / (n - k)), k - 1, n - k))
