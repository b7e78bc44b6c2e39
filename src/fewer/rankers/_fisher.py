"""Fisher score: spread between the class means over spread within the classes (Chen, section 2.3)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewer.contracts import Ranker, Ranking, Resources
from fewer.problem import FloatArray, IntArray, Problem, Task
from fewer.rankers._blocks import column_blocks
from fewer.rankers._by_moments import class_moments, fisher_scores


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
