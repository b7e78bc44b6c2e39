"""Correlation-based feature selection: columns that go with the target and not with each other (Hall 1999)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from fewer.contracts import ROWS, Criterion, Masks, Resources, Scorer
from fewer.models.mdlp import class_bins
from fewer.problem import FloatArray, Problem
from fewer.statistics import Associations, Uncertainties


class CFS(Criterion):
    """Hall's merit of a subset: k r̄_cf / √(k + k (k − 1) r̄_ff).

    k is the number of features, r̄_cf their mean association with the target, r̄_ff their mean association with each
    other. For classes the association is symmetrical uncertainty, numbers being cut where the classes call for it
    (MDLP); for quantities it is the size of Pearson's correlation (of nominal columns Cramér's V, of a nominal column
    and a number the correlation ratio).

    Read more in the guide: :doc:`/methods/parts`.

    Notes
    -----
    The empty subset scores 0. Row weights count (but not where bins are cut). For classes missing cells are a level of
    their own; for quantities a pair of columns is compared on the rows where both are known. Row groups and time play
    no part: nothing is predicted. Associations are computed when a subset needs them, so that a forward search
    compares each chosen column with all others, and the others not with each other.

    References
    ----------
    M. A. Hall, Correlation-based feature selection for machine learning, PhD thesis, University of Waikato 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(CFS(), fewer.search.BestFirst()).fit(X, y).support_
    array([False, False,  True,  True])
    """

    command_name = "cfs"
    takes: ClassVar[frozenset[str]] = ROWS

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> CFSScorer:
        return CFSScorer(problem)


class CFSScorer(Scorer):
    """`CFS` bound to rows."""

    def __init__(self, problem: Problem) -> None:
        problem = problem.as_dense()
        self._columns = np.arange(problem.n_features)
        self._pairs: Any
        if problem.task == "classification":
            self._pairs = Uncertainties(class_bins(problem), problem.row_weights)
            self._relevance = self._pairs.with_codes(problem.y)
        else:
            self._pairs = Associations(problem)
            self._relevance = self._pairs.block(self._columns, np.array([self._pairs.target]))[:, 0]
        self._alike = np.zeros((problem.n_features,) * 2)
        self._known = np.zeros(problem.n_features, dtype=bool)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        used = np.asarray(masks, dtype=bool)
        self._compare(used)
        k = used.sum(axis=1)
        inside = used.astype(np.float64)
        # Σ over ordered pairs of different columns is k (k − 1) r̄_ff.
        between = np.einsum("ij,ij->i", inside @ self._alike, inside)
        scores = np.divide(inside @ self._relevance, np.sqrt(k + between), out=np.zeros(len(used)), where=k > 0)
        return scores.round(12)  # so that the order in which a batch is summed does not show

    def _compare(self, used: Any) -> None:
        """Compare columns with all others until at most one column of every mask has not been."""
        for mask in used:
            for feature in np.flatnonzero(mask & ~self._known)[:-1].tolist():
                row = self._row(feature)
                row[feature] = 0.0
                self._alike[feature], self._alike[:, feature] = row, row
                self._known[feature] = True

    def _row(self, feature: int) -> FloatArray:
        if isinstance(self._pairs, Uncertainties):
            return self._pairs.with_feature(feature)
        return np.array(self._pairs.block(np.array([feature]), self._columns)[0])
