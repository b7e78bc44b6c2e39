"""Weights for features instead of a choice among them (Loughrey, chapters 4 and 7)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fewer.contracts import (
    Control,
    Count,
    Criterion,
    OnStep,
    RandomState,
    Resources,
    Run,
    Search,
    SearchSpace,
    parameters,
)
from fewer.contracts.trace import Trace
from fewer.estimators import TableReader
from fewer.problem import FloatArray, Problem
from fewer.selectors._base import SearchingEstimator


@parameters
class FeatureWeighter(TransformerMixin, SearchingEstimator):
    """Find a weight for each feature in the distance Σ w · diff², and scale the columns by √w.

    Every distance-based model profits: on the scaled columns its plain Euclidean distance is the weighted one.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    criterion : Criterion, default=KNN()
        How good are weights? It must take weights, not only masks.
    search : Search, default=Annealing(answer="final")
        One that moves on weights: `Annealing`, `Genetic`, `DIET`.
    levels : int, default=4
        Weights come from {0, 1/levels, …, 1}; 1 is feature selection. Finer grids overfit sooner: the thesis found
        more than one level worth it only with early stopping.
    control : Control, optional
        Such as `EarlyStopping()`.
    random_state : int, Generator, RandomState or None
        Seed of all that is random.

    Attributes
    ----------
    weights_ : float array of shape (n_features_in_,)
    score_ : float
        The search's own score of these weights. It is optimistic, because it chose them.
    trace_ : Trace
    n_features_in_, feature_names_in_

    Notes
    -----
    `transform` gives √w · (x − min) / (max − min) with the range of the rows of `fit`; a column with weight 0 becomes
    zeros and stays, so that columns keep their places. A nominal column of a data frame becomes one column for each
    level, √(w / 2) in its own and 0 in the others: two rows with different levels are then apart by w, as in the
    distance. A missing number stays missing; a missing or new level is 0 in all columns of its feature, half as
    far from each level.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> weighter = FeatureWeighter(search=fewer.search.DIET(), random_state=0)
    >>> model = make_pipeline(weighter, KNeighborsClassifier(1)).fit(X, y)
    >>> weighter.weights_.tolist()[:6]
    [0.5, 0.5, 0.25, 0.5, 0.0, 0.5]
    """

    _made_last = "weights_"

    criterion: Criterion | None = None
    search: Search | None = None
    _: KW_ONLY
    levels: Count = 4
    control: Control | None = None
    random_state: RandomState = None

    def fit_problem(self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None) -> Self:
        """Search weights for a problem; report each step, or go on from an interrupted trace.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step.
        trace : Trace, optional
            Of an interrupted run, to go on with.

        Returns
        -------
        self
        """
        self.trace_ = Run(
            self._criterion(),
            problem,
            self._search(),
            SearchSpace.of(problem.n_features, weight_levels=self.levels),
            self._generator(),
            resources=Resources(),
            trace=Trace() if trace is None else trace,
            follower=on_step,
        ).under(self.control)
        self.n_features_in_ = problem.n_features
        self.score_ = self.trace_.best_score
        self.reader_ = TableReader.of(problem)
        self._nominal = problem.nominal
        self._low = np.fmin.reduce(problem.X, axis=0)
        span = np.fmax.reduce(problem.X, axis=0) - self._low
        self._span = np.where(span > 0, span, 1.0)
        self.weights_ = self.trace_.best.astype(np.float64)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Scale the columns.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows like those of `fit`.

        Returns
        -------
        array of shape (n_samples, n_features_out)
            Each column times its weight; a nominal column becomes one a level.
        """
        check_is_fitted(self)
        cells = self.reader_.read(self, X)
        scaled = np.sqrt(self.weights_) * (cells - self._low) / self._span
        if not self._nominal.any():
            return np.asarray(scaled)
        return np.column_stack(
            [
                (cells[:, [i]] == np.arange(len(self.reader_.codes[i]))) * np.sqrt(self.weights_[i] / 2)
                if self._nominal[i]
                else scaled[:, i]
                for i in range(self.n_features_in_)
            ]
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns that `transform` returns; those of a level are called feature=level.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names given to `fit` by default.

        Returns
        -------
        array of str
            One name a column.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(
            [
                name if not self._nominal[i] else f"{name}={level}"
                for i, name in enumerate(names)
                for level in (self.reader_.codes[i] if self._nominal[i] else [None])
            ],
            dtype=object,
        )
