"""Distances between class distributions: monotone criteria for branch and bound (Nel, section 2.4)."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from fewer.contracts import ROWS, Criterion, Masks, Resources, Scorer, Share, parameters
from fewer.problem import FloatArray, IntArray, Problem, Task
from fewer.statistics.encoding import scaled_inputs


@parameters
class Separability(Criterion):
    """How far apart the classes are, taken as normal distributions. It never falls when a feature is added.

    Read more in the guide: :doc:`/guide/big`.

    Parameters
    ----------
    measure : {"mahalanobis", "bhattacharyya", "scatter"}, default="mahalanobis"
        Squared Mahalanobis distance of the class means under the pooled covariance; Bhattacharyya distance, which
        sees different covariances too; or the trace of S_w⁻¹ S_b, the scatter between classes in units of the
        scatter within. With more than two classes the first two are means over all pairs of classes.
    shrinkage : float, default=1e-3
        Share of each covariance that is replaced by the identity (columns have unit variance), so that collinear
        columns and classes with few rows do no harm.

    Notes
    -----
    Columns are standardized. A nominal column counts as its 0/1 level indicators, a missing cell as the column's
    mean. Row weights are used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> search = fewer.search.BranchAndBound()
    >>> selector = fewer.SubsetSelector(Separability("scatter"), search, n_features_to_select=2).fit(X, y)
    >>> selector.get_support()
    array([ True, False,  True, False])
    """

    command_name = "separability"
    takes: ClassVar[frozenset[str]] = ROWS
    weights_repeat_rows: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    measure: Literal["mahalanobis", "bhattacharyya", "scatter"] = "mahalanobis"
    shrinkage: Share = 1e-3

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> SeparabilityScorer:
        return SeparabilityScorer(problem, self.measure, self.shrinkage)


class SeparabilityScorer(Scorer):
    """`Separability` bound to rows."""

    def __init__(self, problem: Problem, measure: str, shrinkage: float) -> None:
        weights = problem.row_weights
        table, self._owner = scaled_inputs(problem, weights / weights.sum())
        present = [code for code in np.unique(problem.y) if weights[problem.y == code].sum() > 0]
        moments = [_moments(table[problem.y == code], weights[problem.y == code]) for code in present]
        mass = np.array([weights[problem.y == code].sum() for code in present])
        share = mass / mass.sum()
        self._means = np.array([mean for mean, _ in moments]).reshape(len(present), table.shape[1])
        spreads = np.array([spread for _, spread in moments]).reshape(len(present), *2 * table.shape[1:])
        identity = max(shrinkage, 1e-12) * np.eye(table.shape[1])
        self._spreads = (1.0 - shrinkage) * spreads + identity
        self._pooled = np.tensordot(share, self._spreads, axes=1)
        self._measure = measure
        self._share = share

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, those of one size together."""
        used = np.asarray(masks, dtype=bool)[:, self._owner]
        sizes = used.sum(axis=1)
        scores = np.zeros(len(masks))
        for size in np.unique(sizes[sizes > 0]):
            group = np.flatnonzero(sizes == size)
            for part in np.array_split(group, -(-len(group) * size * size // 1_000_000) or 1):
                scores[part] = self._distances(np.nonzero(used[part])[1].reshape(len(part), size))
        return scores

    def _distances(self, columns: IntArray) -> FloatArray:
        """Measure (m, s) lists of columns."""
        if self._measure == "scatter":
            middle = self._share @ self._means
            pooled = _blocks(self._pooled, columns)
            return np.asarray(
                sum(
                    w * _square(pooled, (mean - middle)[columns])
                    for w, mean in zip(self._share, self._means, strict=True)
                )
            )
        pairs = list(combinations(range(len(self._means)), 2))
        total = np.zeros(len(columns))
        for one, other in pairs:
            gap = (self._means[one] - self._means[other])[columns]
            if self._measure == "mahalanobis":
                total += _square(_blocks(self._pooled, columns), gap)
            else:
                first, second = _blocks(self._spreads[one], columns), _blocks(self._spreads[other], columns)
                middle = (first + second) / 2.0
                volumes = [np.linalg.slogdet(blocks)[1] for blocks in (middle, first, second)]
                total += _square(middle, gap) / 8.0 + (volumes[0] - (volumes[1] + volumes[2]) / 2.0) / 2.0
        return total / max(len(pairs), 1)


def _moments(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.average(rows, axis=0, weights=weights)
    centered = rows - mean
    return mean, (centered * weights[:, None]).T @ centered / weights.sum()


def _blocks(matrix: FloatArray, columns: IntArray) -> FloatArray:
    return matrix[columns[:, :, None], columns[:, None, :]]


def _square(blocks: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return vᵀ A⁻¹ v for each block and vector."""
    return np.asarray((vectors * np.linalg.solve(blocks, vectors[:, :, None])[:, :, 0]).sum(axis=1))
