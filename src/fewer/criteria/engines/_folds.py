"""Training and test rows of every fold as numbers, with what a pipeline does before its last step done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from fewer.problem import FloatArray, IntArray, Problem

Split = tuple[IntArray, IntArray]


class Folds:
    """The folds of a cross-validation, laid out for compiled engines.

    Transformers work on each column by itself, so that what they do to a column is the same in every subset; they are
    scikit-learn's own, fitted on the training rows of each fold.

    Attributes
    ----------
    columns : array of shape (n_features, n_tests)
        Test rows, fold after fold.
    y, weights : arrays of shape (n_tests,)
        Class codes or quantities, and how much each test row counts in the score.
    bounds : int array of shape (n_folds + 1,)
        Where each fold begins.
    """

    def __init__(
        self, problem: Problem, splits: Sequence[Split], transformers: Sequence[Any], weighted_fit: bool
    ) -> None:
        self.problem = problem
        self.splits = splits
        self._transformers = transformers
        self._weighted_fit = weighted_fit and problem.sample_weight is not None
        tests = np.concatenate([test for _, test in splits])
        self.bounds = np.concatenate([[0], np.cumsum([len(test) for _, test in splits])]).astype(np.int64)
        self.y = problem.y[tests]
        self.weights = problem.row_weights[tests]
        self.columns = np.empty((problem.n_features, len(tests)))

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.splits)

    @property
    def n_tests(self) -> int:
        """How many test rows there are in all folds."""
        return int(self.bounds[-1])

    def training(self) -> Iterator[tuple[FloatArray, Any, FloatArray | None]]:
        """Go through the folds: training rows, their target and weights; the test rows are kept on the way."""
        rows = self.problem
        for fold, (train, test) in enumerate(self.splits):
            X, new = rows.X[train], rows.X[test]
            for transformer in self._transformers:
                fitted = clone(transformer).fit(X)
                X, new = fitted.transform(X), fitted.transform(new)
            self.columns[:, self.bounds[fold] : self.bounds[fold + 1]] = new.T
            yield X, rows.y[train], rows.row_weights[train] if self._weighted_fit else None

    def put(self, fold: int, new: FloatArray) -> None:
        """Keep the test rows of a fold in other units."""
        self.columns[:, self.bounds[fold] : self.bounds[fold + 1]] = new.T

    def tests(self, fold: int) -> FloatArray:
        """Return the test rows of a fold."""
        return self.columns[:, self.bounds[fold] : self.bounds[fold + 1]].T
