"""Rows that agree in the chosen features should agree in the class: the measure behind FOCUS.

H. Almuallim and T. Dietterich, Learning with many irrelevant features, AAAI 1991; the rate is that of H. Liu and
R. Setiono, A probabilistic approach to feature selection, ICML 1996.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import ROWS, Criterion, Masks, Resources, Scorer, parameters
from fewer.models import MDLPDiscretizer
from fewer.problem import FloatArray, IntArray, Problem, Task

# Numbers of so few distinct values are levels already.
FEW = 10


@parameters
class Consistency(Criterion):
    """The share of rows that a table of the chosen features gets right: the largest class among equal rows.

    With `Exhaustive` this is FOCUS: of all subsets that contradict nothing, the smallest. Adding a feature never lowers
    it, so that branch and bound is exact, too. It overfits; numbers of more than ten values are therefore
    cut into bins first.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    discretizer : transformer, default=MDLPDiscretizer()
        Cuts numeric columns of more than ten values into bins.

    See Also
    --------
    Classifiability : Rows that lie near each other should agree in the class.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(200, 5)).astype(bool)
    >>> y = X[:, 1] ^ X[:, 3]
    >>> fewer.SubsetSelector(Consistency(), fewer.search.Exhaustive()).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    command_name = "consistency"
    takes: ClassVar[frozenset[str]] = ROWS

    monotone: ClassVar[bool] = True
    supports_weights: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    discretizer: Annotated[Any, HasMethods(["fit", "transform"]), None] = None

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _ConsistencyScorer(_levels(problem, self.discretizer), problem)


class _ConsistencyScorer(Scorer):
    def __init__(self, codes: IntArray, problem: Problem) -> None:
        self._codes, self._y, self._n_classes = codes, problem.y, problem.n_classes
        self._weight = problem.row_weights

    def score(self, masks: Masks) -> FloatArray:
        return np.array([self._one(mask) for mask in masks.astype(bool)])

    def _one(self, mask: Masks) -> float:
        cell = np.zeros(len(self._y), dtype=np.int64)
        for feature in np.flatnonzero(mask):
            # Numbered anew after each feature, so that numbers stay small.
            cell = np.unique(cell * (self._codes[feature].max() + 1) + self._codes[feature], return_inverse=True)[1]
        counts = np.bincount(cell * self._n_classes + self._y, self._weight, (cell.max() + 1) * self._n_classes)
        return float(counts.reshape(-1, self._n_classes).max(axis=1).sum() / self._weight.sum())


def _levels(problem: Problem, discretizer: Any) -> IntArray:
    """Return the level of each cell, (n_features, n_samples); missing cells are a level of their own."""
    few = np.array([len(np.unique(column)) <= FEW for column in problem.X.T], dtype=bool)
    numeric = np.array([kind == "numeric" for kind in problem.kinds], dtype=bool) & ~few
    X = problem.X.copy()
    if numeric.any():
        bins = MDLPDiscretizer() if discretizer is None else discretizer
        X[:, numeric] = bins.fit(problem.X[:, numeric], problem.y).transform(problem.X[:, numeric])
    return np.array([np.unique(column, return_inverse=True)[1] for column in X.T], dtype=np.int64)
