"""What compiled engines share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from fewer.criteria.engines._folds import Folds
from fewer.criteria.engines._metric import Metric
from fewer.problem import BoolArray, FloatArray, IntArray

CELLS = 1 << 17
"""Decisions that are computed together, so that they stay in the cache."""


class Engine(ABC):
    """A recognised estimator: predictions for held-out rows of many subsets, without fitting each anew.

    Scores come fold by fold. NaN marks a fold whose answer the engine leaves to scikit-learn.

    Parameters
    ----------
    folds : Folds
        The folds, laid out.
    metric : Metric
        How predictions are graded.
    n_outputs : int
        Decisions a row: classes, or one.

    See Also
    --------
    find_engine : Finds one for an estimator.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fewer.criteria.engines import find_engine
    >>> from fewer.problem import Problem
    >>> from fewer.validate import split_rows
    >>> problem = Problem.from_arrays([[0.0, 3], [1, 9], [2, 5], [10, 4], [11, 8], [12, 6]], [0, 0, 0, 1, 1, 1])
    >>> splits = [(split.train, split.test) for split in split_rows(problem, 3, np.random.default_rng(0))]
    >>> engine = find_engine(GaussianNB(), None, problem, splits, False, 1 << 30)
    >>> engine.score_masks(np.array([[True, False]])).tolist()
    [[1.0, 1.0, 1.0]]
    """

    tolerance: float = 1e-8
    """Decisions nearer than this share are left to scikit-learn."""
    by_share: bool = False
    """Decisions are chances, not logarithms."""

    def __init__(self, folds: Folds, metric: Metric, n_outputs: int) -> None:
        self.folds = folds
        self.metric = metric
        self._n_outputs = n_outputs

    @abstractmethod
    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray | None:
        """Write (q, n, c) decisions of the members with each of `added`; say where they are sure, (q, folds).

        Parameters
        ----------
        members : int array
            Columns of the subset.
        added : int array of shape (q,)
            Columns to add, one at a time.
        out : array of shape (q, n_tests, n_outputs)
            Where the decisions go.

        Returns
        -------
        bool array of shape (q, n_folds) or None
            Where they are sure; None if everywhere.
        """

    @abstractmethod
    def predict_members(self, members: IntArray, out: FloatArray) -> BoolArray | None:
        """Write (n, c) decisions of the members; say where they are sure, (folds,).

        Parameters
        ----------
        members : int array
            Columns of the subset.
        out : array of shape (n_tests, n_outputs)
            Where the decisions go.

        Returns
        -------
        bool array of shape (n_folds,) or None
            Where they are sure; None if everywhere.
        """

    def score_added(self, members: IntArray, added: IntArray) -> FloatArray:
        """Score the members with each of `added`: (q, folds).

        Parameters
        ----------
        members : int array
            Columns of the subset.
        added : int array of shape (q,)
            Columns to add, one at a time.

        Returns
        -------
        array of shape (q, n_folds)
            The scores.
        """
        parts = [self._score_some(members, added[low : low + self._chunk]) for low in range(0, len(added), self._chunk)]
        return np.concatenate(parts) if parts else np.empty((0, self.folds.n_folds))

    def score_optimistically(self, members: IntArray, added: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score the members with each of `added`: (q, folds), NaN where open, and what the scores can be at best.

        Parameters
        ----------
        members : int array
            Columns of the subset.
        added : int array of shape (q,)
            Columns to add, one at a time.

        Returns
        -------
        scores, bounds : arrays of shape (q, n_folds)
            The scores, NaN where open, and what they can be at best.
        """
        scores = self.score_added(members, added)
        return scores, np.where(np.isnan(scores), self.metric.ceiling, scores)

    def score_best(self, members: IntArray, added: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Score those of `added` that may be the best to add: their places, in order, and (m, folds) scores.

        Parameters
        ----------
        members : int array
            Columns of the subset.
        added : int array of shape (q,)
            Columns to add, one at a time.

        Returns
        -------
        places, scores : int array of shape (m,), array of shape (m, n_folds)
            Those that may be the best. None instead of the two: score them all.
        """
        return None

    def decide(self, members: IntArray, fold: int) -> float:
        """Let scikit-learn's estimator score a fold on the columns as they are prepared already; NaN if it must not.

        Parameters
        ----------
        members : int array
            Columns of the subset.
        fold : int
            Which fold.

        Returns
        -------
        float
            The score.
        """
        return float("nan")

    def score_masks(self, masks: BoolArray) -> FloatArray:
        """Score masks, none of them empty: (m, folds).

        Parameters
        ----------
        masks : bool array of shape (m, n_features)
            The subsets.

        Returns
        -------
        array of shape (m, n_folds)
            The scores.
        """
        scores = np.empty((len(masks), self.folds.n_folds))
        out = np.empty((1, self.folds.n_tests, self._n_outputs))
        for i, mask in enumerate(masks):
            sure = self.predict_members(np.flatnonzero(mask), out[0])
            scores[i] = self._grade(out, None if sure is None else sure[None])[0]
        return scores

    def score_nothing(self) -> FloatArray:
        """Score what the classes' shares or the mean alone give: (folds,).

        Returns
        -------
        array of shape (n_folds,)
            The scores.
        """
        rows = self.folds.problem
        decisions = np.empty((1, self.folds.n_tests, self._n_outputs))
        for fold, (train, _) in enumerate(self.folds.splits):
            part = slice(self.folds.bounds[fold], self.folds.bounds[fold + 1])
            if rows.task == "classification":
                decisions[0, part] = np.bincount(rows.y[train], rows.row_weights[train], minlength=self._n_outputs)
            else:
                decisions[0, part] = np.average(rows.y[train], weights=rows.row_weights[train])
        if rows.task == "classification":
            decisions /= decisions.sum(axis=2, keepdims=True)
        return self.metric.grade(decisions, self.folds, 0.0, by_share=True)[0]

    @property
    def _chunk(self) -> int:
        return max(CELLS // (self.folds.n_tests * self._n_outputs), 1)

    def _score_some(self, members: IntArray, added: IntArray) -> FloatArray:
        out = np.empty((len(added), self.folds.n_tests, self._n_outputs))
        return self._grade(out, self.predict_added(members, added, out))

    def _grade(self, decisions: FloatArray, sure: BoolArray | None) -> FloatArray:
        if sure is not None and not sure.all():
            decisions[np.repeat(~sure, np.diff(self.folds.bounds), axis=1)] = 0.0
        scores = self.metric.grade(decisions, self.folds, self.tolerance, self.by_share)
        if sure is not None:
            scores[~sure] = np.nan
        return scores
