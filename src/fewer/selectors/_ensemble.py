"""Estimators of Loughrey's thesis: weights of features that scale the columns, and subsets of folds that vote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import TransformerMixin, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils._param_validation import HasMethods
from sklearn.utils._tags import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fewer.contracts import Control, Criterion, OnStep, Resources, Run, Search, SearchSpace, generator_of
from fewer.contracts.declaring import RandomState, Repeats, Several, parameters
from fewer.contracts.trace import Trace
from fewer.criteria import KNN, CrossValidated
from fewer.estimators import Jobs, TableReader
from fewer.parallel import run_tasks
from fewer.problem import BoolArray, FloatArray, InputError, Problem, Task
from fewer.selectors._base import SearchingEstimator
from fewer.validate import ConfidenceInterval, Split, nogueira, split_rows


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
    levels: Repeats = 4
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
            generator_of(self.random_state),
            resources=Resources(),
            trace=Trace() if trace is None else trace,
            follower=on_step,
        ).under(self.control)
        self.n_features_in_ = problem.n_features
        self.score_ = self.trace_.best_score
        self.reader_ = TableReader.of(problem)
        self._nominal = problem.nominal
        self._low, high = problem.extremes
        self._span = np.where(high > self._low, high - self._low, 1.0)
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


# Returns class memberships (m, c), or numbers (m,), for new rows.
Rule = Callable[[FloatArray], FloatArray]


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
    n_runs: Several = 10
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
        rng = generator_of(self.random_state)
        splits, voter = split_rows(problem, self.n_runs, rng), self._voter()
        run = Run(self._criterion(), problem, self._search(), SearchSpace.of(problem.n_features), rng)
        shared = run, self.control, voter, splits
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
            task: Task = "regression" if is_regressor(self.estimator) else "classification"
            if task not in tasks:
                name = type(self._criterion()).__name__
                raise InputError(f"{name} works for {tasks[0]}, but the estimator is for {task}.")
            return (task,)
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
    fits = isinstance(voter, CrossValidated)
    return [scorer.fit_rule(mask) if fits else partial(scorer.predict, mask) for mask in masks]


def _one_run(
    shared: tuple[Run, Control | None, Criterion, list[Split]], number: int, rng: np.random.Generator
) -> tuple[BoolArray, FloatArray]:
    """Search without the rows of a fold, and predict them."""
    run, control, voter, splits = shared
    part = run.on(splits[number].train, rng, trace=Trace(keep=1))
    mask = part.under(control).best != 0
    (rule,) = rules_for(voter, part.problem, mask[None], rng.spawn(1)[0])
    return mask, rule(run.problem.X[splits[number].test])


def _grade(outputs: FloatArray, problem: Problem) -> float:
    if problem.task == "classification":
        return float(accuracy_score(problem.y, outputs.argmax(axis=1), sample_weight=problem.sample_weight))
    return float(r2_score(problem.y, outputs, sample_weight=problem.sample_weight))
