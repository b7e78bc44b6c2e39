"""What all selectors share."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from fewer.callbacks import CallbackSupportMixin, follow_callbacks, with_callbacks
from fewer.contracts import Criterion, OnStep, Search
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.estimators import TableEstimator, sklearn_table
from fewer.io import is_frame, is_path, plain_frame, without_arrow_text
from fewer.logs import follow_steps
from fewer.problem import BoolArray, IntArray, Problem, Task
from fewer.search import Annealing


class CriterionMixin:
    """An estimator with a criterion: nearest neighbors, if none is given."""

    criterion: Criterion | None

    def _criterion(self) -> Criterion:
        return KNN() if self.criterion is None else self.criterion

    def _tasks(self) -> tuple[Task, ...]:
        return self._criterion().tasks


class SearchingEstimator(CriterionMixin, TableEstimator):
    """An estimator that searches by a criterion at `fit`: by annealing, if no search is given."""

    search: Search | None

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Search by the criterion, and keep what was found.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Cells may be missing; text and categories are nominal.
        y : array of shape (n_samples,)
            Classes or quantities.
        **params
            `sample_weight`: how much each row counts. `groups`: rows of one group stay on one side of every split.

        Returns
        -------
        self
        """
        self._validate_params()
        return self.fit_problem(self._read(X, y, **params))

    def fit_problem(self, problem: Problem) -> Self:
        """Fit to a problem that came through the input reader already.

        Parameters
        ----------
        problem : Problem
            The rows.

        Returns
        -------
        self
        """
        raise NotImplementedError

    def _search(self) -> Search:
        return Annealing(answer="final") if self.search is None else self.search


class Selector(CallbackSupportMixin, SelectorMixin, TableEstimator):
    """A scikit-learn transformer that keeps some of the columns.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The chosen columns.
    ranking_ : int array of shape (n_features,)
        1 for the chosen columns, more for those that came later.

    Examples
    --------
    >>> from fewer import RankSelector
    >>> from fewer.rankers import Fisher
    >>> X, y = [[0.0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1]
    >>> RankSelector(Fisher(), n_features_to_select=1).fit(X, y).support_
    array([ True, False])
    """

    support_: BoolArray
    ranking_: IntArray

    @with_callbacks
    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Select features.

        Callbacks of scikit-learn 1.9 (`set_callbacks`) hear of every step of a search, with the selector as it would be
        if it ended there; one that asks to stop ends the search with its best subset so far.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Missing cells are allowed; string and categorical columns of a frame are nominal.
        y : array of shape (n_samples,)
            Strings, booleans and up to 20 distinct whole numbers are classes; other numbers are quantities.
        **params
            `sample_weight`: how much each row counts. `groups`: rows of one group stay on one side of every split.
            `time`: training rows are earlier than test rows in every split.

        Returns
        -------
        self
        """
        self._refuse_classes()
        self._validate_params()
        if is_path(X):
            raise InputError(f"X is the name of a file, {str(X)!r}; read it first, or use fewer.select(file, y='…').")
        problem = self._read(X, y, sparse=True, **params)
        with follow_callbacks(self, X, y) as on_step:
            return self.fit_problem(problem, follow_steps(self, on_step))

    def fit_problem(self, problem: Problem, on_step: OnStep | None = None) -> Any:
        """Select features of a problem that came through the input reader already.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step of a search.

        Returns
        -------
        self
        """
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """Keep the chosen columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array, or frame as `set_output` says, of shape (n_samples, n_chosen)
        """
        X = sklearn_table(X)
        if is_frame(X) and not hasattr(X, "iloc"):
            return self._keep_columns(X)
        as_frame = _get_output_config("transform", self)["dense"] != "default"
        return super().transform(X if as_frame else without_arrow_text(X))

    def _keep_columns(self, X: Any) -> Any:
        """Take the chosen columns of a frame that is not pandas', whatever cells the other columns hold."""
        chosen = np.flatnonzero(self.get_support())
        _check_feature_names(self, X, reset=False)
        _check_n_features(self, X, reset=False)
        frame = nw.from_native(plain_frame(X)[0], eager_only=True)
        kept = frame[:, chosen.tolist()]
        if _get_output_config("transform", self)["dense"] == "polars" and frame.implementation.is_polars():
            return kept.to_native()
        columns = [column.to_numpy() for column in kept.iter_columns()]
        if any(column.dtype.kind not in "biuf" for column in columns):
            columns = [column.astype(object) for column in columns]
        return np.column_stack(columns) if columns else np.empty((len(frame), 0))

    def _refuse_classes(self) -> None:
        """Refuse a component's class where an object is needed."""
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, type):
                raise InputError(f"{name} is the class {value.__name__}, not an object; write {value.__name__}().")

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
