"""Subsets found on parts of the rows vote (Loughrey: the validation runs are paid for anyway)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils._tags import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fewer.contracts import (
    Control,
    Criterion,
    PredictiveScorer,
    RandomState,
    Resources,
    Run,
    Search,
    SearchSpace,
    parameters,
)
from fewer.contracts.trace import Trace
from fewer.criteria import KNN, CrossValidated
from fewer.estimators import Jobs, TableReader
from fewer.parallel import run_tasks
from fewer.problem import BoolArray, FloatArray, InputError, Problem, Task
from fewer.selectors._base import SearchingEstimator
from fewer.validate import ConfidenceInterval, Split, nogueira, split_rows

Rule = Callable[[FloatArray], FloatArray]
"""Returns class memberships (m, c), or numbers (m,), for new rows."""


@parameters
class SubsetEnsemble(SearchingEstimator):
    """Search a subset without each fold of the rows, and let a model on each of the subsets vote.

    A classifier, or a regressor if `estimator` is one (or if the criterion works for regression only).

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    criterion : Criterion, default=KNN()
        How good is a subset?
    search : Search, default=Annealing(answer="final")
        Which subset next? Any; searches that differ from run to run profit most.
    estimator : estimator, optional
        Votes on the columns of each subset. If left out, the criterion itself predicts, or nearest neighbors if it
        cannot.
    n_runs : int, default=10
        How many folds, and so how many subsets. More than there are rows (or row groups) means one for each.
    control : Control, optional
        Runs inside each run.
    n_jobs : int, optional
        Processes; the result is the same for any number.
    random_state : int, Generator, RandomState or None
        Seed of all that is random.

    Attributes
    ----------
    subsets_ : bool array of shape (n_runs, n_features_in_)
    frequency_ : float array of shape (n_features_in_,)
        The share of the subsets that holds each feature.
    stability_ : ConfidenceInterval
        Nogueira's index of the subsets, 1 if they are all equal; they share most of their rows, so that it is higher
        than for subsets of independent samples.
    support_ : bool array of shape (n_features_in_,)
        The consensus: features in at least half of the subsets, or else the most frequent one. The ensemble does not
        use it.
    oof_outputs_ : array
        What is predicted for each row by the one member whose search and model did not see it.
    oof_score_ : float
        The accuracy (R²) of these: an honest estimate of what *one* member does. The vote is usually better.
    classes_ : array, for classifiers
    n_features_in_, feature_names_in_

    Notes
    -----
    Members vote with equal weight, by the mean of their class memberships or numbers. Each is refitted on all rows.
    `experiments/early_stopping.md` compares the vote with single subsets on rows never seen.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SubsetEnsemble(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0).fit(X, y)
    >>> model.subsets_.shape, round(model.oof_score_, 2)
    ((10, 13), 0.93)
    """

    _made_last = "_rules"

    criterion: Criterion | None = None
    search: Search | None = None
    _: KW_ONLY
    estimator: Annotated[Any, HasMethods(["fit", "predict"]), None] = None
    n_runs: Annotated[int, Interval(Integral, 2, None, closed="left")] = 10
    control: Control | None = None
    n_jobs: Jobs = None
    random_state: RandomState = None

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
        rng = self._generator()
        splits = split_rows(problem, self.n_runs, rng)
        criterion, search = self._criterion(), self._search()
        voter = self._voter()
        shared = self.control, criterion, problem, search, voter, splits
        tasks = list(enumerate(rng.spawn(len(splits))))
        runs = list(run_tasks(_one_run, tasks, Resources(effective_n_jobs(self.n_jobs)), shared=shared))
        self.n_features_in_ = problem.n_features
        self.reader_ = TableReader.of(problem)
        if problem.task == "classification":
            self.classes_ = np.asarray(problem.classes)
        self.subsets_ = np.array([mask for mask, _ in runs])
        self._keep_statistics()
        self.oof_outputs_ = np.zeros((problem.n_samples, problem.n_classes)[: 1 + (problem.task == "classification")])
        for split, (_, outputs) in zip(splits, runs, strict=True):
            self.oof_outputs_[split.test] = outputs
        self.oof_score_ = _grade(self.oof_outputs_, problem)
        self._rules = rules_for(voter, problem, self.subsets_, rng.spawn(1)[0])
        return self

    def _keep_statistics(self) -> None:
        self.frequency_ = self.subsets_.mean(axis=0)
        self.stability_: ConfidenceInterval = nogueira(self.subsets_)
        self.support_ = self.consensus()

    def consensus(self, threshold: float = 0.5) -> BoolArray:
        """Return the features in at least this share of the subsets, or the most frequent one.

        Parameters
        ----------
        threshold : float, default=0.5
            Between 0 and 1.

        Returns
        -------
        bool array of shape (n_features,)
            One feature at least.
        """
        check_is_fitted(self, "frequency_")
        kept = self.frequency_ >= threshold
        if not kept.any():
            kept[np.argmax(self.frequency_)] = True
        return np.asarray(kept)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class (or number) that the members agree on.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows like those of `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Labels or numbers.
        """
        outputs = self._vote(X)
        return self.classes_[outputs.argmax(axis=1)] if hasattr(self, "classes_") else outputs

    @available_if(lambda self: not self._is_regressor())
    def predict_proba(self, X: Any) -> FloatArray:
        """Return each class's share of the vote."""
        outputs = np.maximum(self._vote(X), 0.0)
        return outputs / outputs.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R² for a regressor.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows like those of `fit`.
        y : array of shape (n_samples,)
            Their labels or numbers.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        float
            Higher is better.
        """
        measure = r2_score if self._is_regressor() else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _vote(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        cells = self.reader_.read(self, X)
        return np.asarray(np.mean([rule(cells) for rule in self._rules], axis=0))

    def _voter(self) -> Criterion:
        """Return the criterion that predicts for each subset."""
        if self.estimator is not None:
            return CrossValidated(self.estimator, cv=2)
        return self._criterion() if self._criterion().predictive else KNN()

    def _is_regressor(self) -> bool:
        return is_regressor(self.estimator) if self.estimator is not None else "classification" not in self._tasks()

    def _tasks(self) -> tuple[Task, ...]:
        tasks = self._criterion().tasks
        if self.estimator is not None:
            asked: Task = "regression" if is_regressor(self.estimator) else "classification"
            if asked not in tasks:
                name = type(self._criterion()).__name__
                raise InputError(f"{name} works for {tasks[0]}, but the estimator is for {asked}.")
            return (asked,)
        return ("classification",) if "classification" in tasks else tasks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._is_regressor():
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


def rules_for(voter: Criterion, problem: Problem, masks: NDArray[Any], rng: np.random.Generator) -> list[Rule]:
    """Fit one rule on each subset, on all rows of a problem."""
    scorer: Any = voter.bind(problem, rng, Resources())
    if not isinstance(voter, CrossValidated):
        return [_Scored(scorer, mask) for mask in masks]
    return [scorer.fit_rule(mask) for mask in masks]


class _Scored:
    """A subset judged by a criterion that predicts."""

    def __init__(self, scorer: PredictiveScorer, mask: NDArray[Any]) -> None:
        self.scorer, self.mask = scorer, mask

    def __call__(self, X: FloatArray) -> FloatArray:
        return self.scorer.predict(self.mask, X)


_Shared = tuple[Control | None, Criterion, Problem, Search, Criterion, list[Split]]


def _one_run(shared: _Shared, number: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Search without the rows of a fold, and predict them."""
    control, criterion, problem, search, voter, splits = shared
    split = splits[number]
    train = problem.take(split.train)
    own = Run(
        criterion, train, search, SearchSpace.of(problem.n_features), rng, resources=Resources(), trace=Trace(keep=1)
    ).under(control)
    mask = own.best != 0
    (rule,) = rules_for(voter, train, mask[None], rng.spawn(1)[0])
    return mask, rule(problem.X[split.test])


def _grade(outputs: FloatArray, problem: Problem) -> float:
    if problem.task == "classification":
        return float(accuracy_score(problem.y, outputs.argmax(axis=1), sample_weight=problem.sample_weight))
    return float(r2_score(problem.y, outputs, sample_weight=problem.sample_weight))
