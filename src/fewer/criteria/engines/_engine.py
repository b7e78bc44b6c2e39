"""Training and test rows of every fold as numbers, with what a pipeline does before its last step done.

The metrics that compiled engines know, by scikit-learn's names.

What compiled engines share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import get_scorer

from fewer.criteria._sklearn_internals import responses_of
from fewer.criteria.engines._parts import RecordedClassifier, RecordedRegressor
from fewer.kernels import grades
from fewer.problem import BoolArray, FloatArray, IntArray, Problem

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
        for fold, (train, _) in enumerate(self.splits):
            X, new = self.prepared(fold, rows.X)
            self.put(fold, new)
            yield X, rows.y[train], rows.row_weights[train] if self._weighted_fit else None

    def prepared(self, fold: int, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the training and test rows of a table; sums over its rows round by how many columns it has."""
        X, new = (table[part] for part in self.splits[fold])
        for transformer in self._transformers:
            fitted = clone(transformer).fit(X)
            X, new = fitted.transform(X), fitted.transform(new)
        return X, new

    def rows(self, fold: int) -> slice:
        """Say where the test rows of a fold stand."""
        return slice(self.bounds[fold], self.bounds[fold + 1])

    def put(self, fold: int, new: FloatArray) -> None:
        """Keep the test rows of a fold in other units."""
        self.columns[:, self.rows(fold)] = new.T

    def tests(self, fold: int) -> FloatArray:
        """Return the test rows of a fold."""
        return self.columns[:, self.rows(fold)].T


CLASSES = {
    "accuracy": grades.ACCURACY,
    "balanced_accuracy": grades.BALANCED,
    "matthews_corrcoef": grades.MATTHEWS,
} | {
    f"{name}{ending}": code + average
    for name, code in (
        ("precision", grades.PRECISION), ("recall", grades.RECALL), ("f1", grades.F1), ("jaccard", grades.JACCARD)
    )
    for ending, average in (("", 0), ("_macro", grades.MACRO), ("_weighted", grades.WEIGHTED))
}  # fmt: skip
OF_ONE_CLASS = ("precision", "recall", "f1", "jaccard", "average_precision")  # Metrics that are about the class 1.
QUANTITIES = {
    "r2": grades.R2,
    "neg_mean_squared_error": grades.SQUARED,
    "neg_root_mean_squared_error": grades.ROOT_SQUARED,
    "neg_mean_absolute_error": grades.ABSOLUTE,
}


@dataclass(frozen=True)
class EngineMetric:
    """A metric and, where it has one, the class that it is about.

    Attributes
    ----------
    name : str
    positive : int
        Code of the class that F1 and the area under the ROC curve are about.
    scorer : scorer, optional
        scikit-learn's own, which gets the predictions; without one the kernels grade.
    has_decisions : bool
        Whether the model has a `decision_function`, for the scorer.
    """

    name: str
    positive: int = 1
    scorer: Any = None
    has_decisions: bool = False

    @property
    def needs_chances(self) -> bool:
        """Whether a model must have probabilities."""
        asked = () if self.scorer is None else responses_of(self.scorer)
        return self.name == "neg_log_loss" or asked == ("predict_proba",)

    @property
    def needs_classes(self) -> bool:
        """Whether only the class that wins counts."""
        return self.name in CLASSES if self.scorer is None else responses_of(self.scorer) == ("predict",)

    @property
    def ceiling(self) -> float:
        """The best score that there can be."""
        if self.scorer is not None:
            return np.inf
        return 1.0 if self.name in {*CLASSES, "r2", "roc_auc", "average_precision"} else 0.0

    def grade(self, decisions: FloatArray, folds: Folds, tolerance: float, by_share: bool) -> FloatArray:
        """Score (m, n, c) decisions: (m, folds), NaN where rounding may decide.

        Parameters
        ----------
        decisions : array
            Logarithms of chances (up to a constant a row), or chances if `by_share`.
        folds : Folds
            Which rows are predicted together.
        tolerance : float
            Decisions nearer than this may be one or the other.
        by_share : bool
            Whether the score is a mean over rows and not over folds.
        """
        out = np.empty((len(decisions), folds.n_folds))
        if self.scorer is not None:
            for i, fold in np.ndindex(*out.shape):
                out[i, fold] = self._by_scorer(decisions[i, folds.rows(fold)], folds, fold, tolerance, by_share)
        elif self.name in CLASSES:
            how = CLASSES[self.name], self.positive, tolerance, np.empty((decisions.shape[2], 3))
            grades.grade_classes(decisions, folds.y, folds.weights, folds.bounds, *how, out)
        elif self.name in QUANTITIES:
            grades.grade_quantities(decisions, folds.y, folds.weights, folds.bounds, QUANTITIES[self.name], out)
        elif self.name in ("roc_auc", "average_precision"):
            values = np.ascontiguousarray(decisions[:, :, 1] if by_share else decisions[:, :, 1] - decisions[:, :, 0])
            orders = np.empty(values.shape, dtype=np.int64)
            for low, high in pairwise(folds.bounds.tolist()):
                orders[:, low:high] = np.argsort(values[:, low:high], axis=1)
            rows, precise = (folds.y, folds.weights, folds.bounds), self.name == "average_precision"
            grades.grade_ranks(values, orders, *rows, self.positive, tolerance, precise, out)
        else:
            self._log_loss(decisions, folds, by_share, out)
        return out

    def _by_scorer(self, decisions: FloatArray, folds: Folds, fold: int, tolerance: float, by_share: bool) -> float:
        """Let scikit-learn grade a fold; NaN where it refuses, where rounding may decide, and of zeros alone."""
        rows, test = folds.problem, folds.splits[fold][1]
        if not decisions.any():  # nothing is predicted for this fold
            return np.nan
        model: Any = RecordedRegressor(decisions[:, 0])
        if rows.task == "classification":
            chances = decisions if by_share else softmax(decisions, axis=1)
            values: FloatArray | None = None
            if self.has_decisions and not by_share:
                values = decisions[:, 1] - decisions[:, 0] if rows.n_classes == 2 else decisions
            if self._is_close(decisions, chances if values is None else values, tolerance):
                return np.nan
            model = RecordedClassifier(chances, np.asarray(rows.classes), decisions.argmax(axis=1), values)
        weights = {} if rows.sample_weight is None else {"sample_weight": rows.sample_weight[test]}
        try:
            with config_context(assume_finite=True, skip_parameter_validation=True):
                return float(self.scorer(model, np.empty((len(test), 0)), rows.labels[test], **weights))
        except Exception:  # scikit-learn is asked again, and says it
            return np.nan

    def _is_close(self, decisions: FloatArray, values: FloatArray, tolerance: float) -> bool:
        """Say whether rounding may decide which class wins, or the order of the values that a scorer gets."""
        if tolerance == 0.0 or "log_loss" in self.name or "brier" in self.name:
            return False
        if self.needs_classes or self.name == "top_k_accuracy":
            ordered = np.sort(decisions, axis=1)
            near = np.diff(ordered, axis=1) < tolerance * (1.0 + np.abs(ordered[:, 1:]))
            return bool((near[:, -1] if self.needs_classes else near).any())
        is_chance = bool((values >= 0.0).all() and (values <= 1.0).all())
        for column in np.atleast_2d(values.T):
            order = np.argsort(column)
            lower, upper = column[order[:-1]], column[order[1:]]
            alike = (decisions[order[:-1]] == decisions[order[1:]]).all(axis=1)  # cells that say the same
            alike |= is_chance & (lower == upper) & ((upper == 0.0) | (upper == 1.0))
            # Chances have a relative error, however small they are.
            if (~alike & (upper - lower <= tolerance * (np.abs(upper) + (not is_chance)))).any():
                return True
        return False

    def _log_loss(self, decisions: FloatArray, folds: Folds, by_share: bool, out: FloatArray) -> None:
        tiny = np.finfo(np.float64).eps
        labels = folds.y[None, :, None]
        if by_share:
            logs = np.log(np.clip(np.take_along_axis(decisions, labels, axis=2)[:, :, 0], tiny, 1.0 - tiny))
        else:
            logs = np.take_along_axis(log_softmax(decisions, axis=2), labels, axis=2)[:, :, 0]
            logs = np.clip(logs, np.log(tiny), np.log1p(-tiny))
        for fold in range(folds.n_folds):
            rows = folds.rows(fold)
            out[:, fold] = logs[:, rows] @ folds.weights[rows] / folds.weights[rows].sum()


def metric_of(scoring: Any, problem: Problem, model: Any) -> EngineMetric | None:
    """Return the metric that a `scoring` parameter means for a model; None if it is not one of its predictions.

    A function of the user's gets the fitted model. Metrics that compare groups of rows depend on which predicted
    quantities are equal to the last digit.
    """
    is_class = problem.task == "classification"
    name = ("accuracy" if is_class else "r2") if scoring is None else scoring
    if not isinstance(name, str):
        return None
    if not is_class and name in QUANTITIES:
        return EngineMetric(name)
    if is_class:
        labels, binary = list(problem.classes), problem.n_classes == 2
        if (name in CLASSES and name not in OF_ONE_CLASS) or name == "neg_log_loss" or (binary and name == "roc_auc"):
            return EngineMetric(name)
        if binary and name in OF_ONE_CLASS and (labels[1] == 1 or (name in CLASSES and labels[0] == 1)):
            return EngineMetric(name, labels.index(1))
    scorer = get_scorer(name)
    if not is_class and ".cluster." in scorer._score_func.__module__:
        return None
    return EngineMetric(name, scorer=scorer, has_decisions=hasattr(model, "decision_function"))


DECISIONS_AT_ONCE = 1 << 17  # Decisions that are computed together, so that they stay in the cache.


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

    tolerance: float = 1e-8  # Decisions nearer than this share are left to scikit-learn.
    by_share: bool = False  # Decisions are chances, not logarithms.

    def __init__(self, folds: Folds, metric: EngineMetric, n_outputs: int) -> None:
        self.folds = folds
        self.metric = metric
        self._n_outputs = n_outputs

    @abstractmethod
    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
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
        chunk = max(DECISIONS_AT_ONCE // (self.folds.n_tests * self._n_outputs), 1)
        scores = [np.empty((0, self.folds.n_folds))]
        for part in (added[low : low + chunk] for low in range(0, len(added), chunk)):
            out = np.empty((len(part), self.folds.n_tests, self._n_outputs))
            scores.append(self._grade(out, self.predict_added(members, part, out)))
        return np.concatenate(scores)

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

    def examine(self, members: IntArray, fold: int) -> tuple[FloatArray, float] | None:
        """Return the squared coefficients of the members in a fold, and its score; None leaves it to scikit-learn.

        Parameters
        ----------
        members : int array
            Columns of the subset.
        fold : int
            Which fold.

        Returns
        -------
        importances, score : array of shape (n_members,), float
        """
        return None

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
            columns = np.flatnonzero(mask)
            scores[i] = self._grade(out, self.predict_added(columns[:-1], columns[-1:], out))[0]
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
            part = self.folds.rows(fold)
            if rows.task == "classification":
                decisions[0, part] = np.bincount(rows.y[train], rows.row_weights[train], minlength=self._n_outputs)
            else:
                decisions[0, part] = np.average(rows.y[train], weights=rows.row_weights[train])
        if rows.task == "classification":
            decisions /= decisions.sum(axis=2, keepdims=True)
        return self.metric.grade(decisions, self.folds, 0.0, by_share=True)[0]

    def _grade(self, decisions: FloatArray, sure: BoolArray) -> FloatArray:
        if not sure.all():
            decisions[np.repeat(~sure, np.diff(self.folds.bounds), axis=1)] = 0.0
        scores = self.metric.grade(decisions, self.folds, self.tolerance, self.by_share)
        scores[~sure] = np.nan
        return scores
