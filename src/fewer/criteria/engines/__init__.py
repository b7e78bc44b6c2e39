"""Compiled engines for estimators that are recognised: the same predictions without fitting each subset anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from fewer.criteria._preparation import HISTOGRAM_BOOSTINGS, SingleUnits, last_of, on_columns
from fewer.criteria.engines._additive import BernoulliEngine, CentroidEngine, GaussianEngine
from fewer.criteria.engines._engine import Engine, EngineMetric, Folds, Split, metric_of
from fewer.criteria.engines._histogram_boosting import HistogramBoosting
from fewer.criteria.engines._linear import DiscriminantEngine, LinearEngine, QuadraticEngine
from fewer.criteria.engines._logistic import linear_svc_engine, logistic_engine
from fewer.criteria.engines._neighbors import neighbors_engine
from fewer.criteria.engines._parts import Part, agrees, odd_option
from fewer.criteria.engines._penalised import PENALISED
from fewer.criteria.engines._support_vectors import SupportVectors
from fewer.criteria.engines._trees import BOOSTINGS, FORESTS, TREES, BoostingPart, ForestPart, TreePart
from fewer.problem import FloatArray, IntArray, Problem

__all__ = ["Engine", "find_engine", "find_part", "forest_importances", "in_single_precision", "is_known", "make_part"]

FILL = SimpleImputer(strategy="median", keep_empty_features=True)
TRANSFORMERS = (StandardScaler, MinMaxScaler, SimpleImputer, SingleUnits)

NEIGHBORS = {
    "weights": ("uniform", "distance"), "algorithm": "auto", "metric": ("minkowski", "euclidean", "manhattan"),
    "p": (1, 2), "metric_params": None,
}  # fmt: skip

SQUARES = {"fit_intercept": True, "positive": False, "solver": "auto", "class_weight": None}
LOGISTIC = {"fit_intercept": True, "dual": False, "multi_class": ("deprecated", "auto")}
DISCRIMINANTS = {"solver": "svd", "shrinkage": None, "covariance_estimator": None, "priors": None}

LINEAR_SVC = {
    "penalty": "l2", "loss": "squared_hinge", "dual": ("auto", False), "fit_intercept": True, "intercept_scaling": 1,
    "multi_class": "ovr",
}  # fmt: skip

Ranks = dict[int, IntArray]
# Estimator → engine, the options that it must have, whether row weights go to its fit.
Recognised = dict[type, tuple[Callable[..., Engine], dict[str, Any], bool]]
ENGINES: Recognised = {
    GaussianNB: (GaussianEngine, {"priors": None}, True),
    LinearRegression: (LinearEngine, SQUARES, True),
    Ridge: (LinearEngine, SQUARES, True),
    RidgeClassifier: (LinearEngine, SQUARES, True),
    LogisticRegression: (logistic_engine, LOGISTIC, True),
    LinearSVC: (linear_svc_engine, LINEAR_SVC, True),
    KNeighborsClassifier: (neighbors_engine, NEIGHBORS, False),
    KNeighborsRegressor: (neighbors_engine, NEIGHBORS, False),
    LinearDiscriminantAnalysis: (DiscriminantEngine, DISCRIMINANTS, False),
    QuadraticDiscriminantAnalysis: (QuadraticEngine, DISCRIMINANTS, False),
    BernoulliNB: (BernoulliEngine, {"class_prior": None}, True),
    NearestCentroid: (CentroidEngine, {"metric": "euclidean", "shrink_threshold": None, "priors": "uniform"}, False),
}


# Estimator → what fits it on the columns of a part.
PARTS: dict[type, type[Part]] = (
    dict.fromkeys((*TREES, *FORESTS), ForestPart)
    | dict.fromkeys(BOOSTINGS, BoostingPart)
    | dict.fromkeys(HISTOGRAM_BOOSTINGS, HistogramBoosting)
    | {SVC: SupportVectors}
    | PENALISED
)


def find_engine(
    estimator: Any, scoring: Any, problem: Problem, splits: Sequence[Split], fill: bool, memory: int
) -> Engine | str:
    """Return the engine for an estimator and a metric on these rows, or why there is none.

    Parameters
    ----------
    estimator : estimator
        Alone, or at the end of a pipeline of `StandardScaler`, `MinMaxScaler`, `SimpleImputer`.
    scoring : str or None
        The metric; None for the estimator's own.
    problem : Problem
        The rows.
    splits : sequence of (train, test)
        Row numbers of each fold.
    fill : bool
        Missing cells may be filled with medians.
    memory : int
        Bytes that the engine may use beside the data.

    Returns
    -------
    Engine or str
        The engine, or a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> problem = Problem.from_arrays([[0.0], [1.0]], [0, 1])
    >>> find_engine(DummyClassifier(), None, problem, [], False, 1 << 30)
    'DummyClassifier is not among the recognised estimators'
    """
    *transformers, last = _steps_of(estimator)
    if type(last) not in ENGINES:
        return f"{type(last).__name__} is not among the recognised estimators"
    build, options, weighted_fit = ENGINES[type(last)]
    if reason := odd_option(last, options) or _odd_transformer(transformers):
        return reason
    metric = metric_of(scoring, problem, last)
    if metric is None or (metric.needs_chances and not hasattr(last, "predict_proba")):
        return f"the metric {scoring!r} is not covered"
    if reason := _odd_rows(problem, splits, metric):
        return reason
    if problem.sparse is not None:
        return "the table is sparse"
    if problem.has_missing and not any(isinstance(step, SimpleImputer) for step in transformers[:1]):
        if not fill:
            return "cells are missing"
        transformers = [clone(FILL), *transformers]
    n_outputs = max(problem.n_classes, 2)
    if 8 * n_outputs * len(splits) * problem.n_features * max(problem.n_features, problem.n_samples) > memory:
        return "the folds would take more memory than is allowed"
    folds = Folds(problem, splits, transformers, weighted_fit)
    try:
        return build(last, folds, metric)
    except ValueError as error:
        return f"it could not be set up ({error})"


@dataclass(frozen=True, eq=False)
class PartMaker:
    """Lays out training and test rows for a model that is fitted on many subsets of their columns.

    Attributes
    ----------
    kind : type of Part
    model : estimator
        The last step of the estimator.
    transformers : sequence of transformers
        What comes before it; each works on one column at a time.
    ranks : dict
        Of columns of categories, the place of each level in the order of their values.
    """

    kind: type[Part]
    model: Any
    transformers: Sequence[Any]
    ranks: Ranks = field(default_factory=dict)

    def on(self, columns: IntArray, names: tuple[str, ...]) -> PartMaker:
        """Return the same for rows of which some columns are left."""
        ranks = {place: self.ranks[f] for place, f in enumerate(columns.tolist()) if f in self.ranks}
        return PartMaker(self.kind, on_columns(clone(self.model), columns, names), self.transformers, ranks)

    @property
    def rounds_alone(self) -> bool:
        """Whether a column that is scaled alone parts from one beside others by a last bit, which a cut may see."""
        is_cut = issubclass(self.kind, TreePart | HistogramBoosting)
        return is_cut and any(isinstance(step, StandardScaler | SimpleImputer) for step in self.transformers)

    def make(self, train: FloatArray, labels: Any, test: FloatArray, weights: FloatArray | None) -> Part | None:
        """Return the part; None if these rows are left to scikit-learn."""
        if self.ranks:
            train, test = train.copy(), test.copy()
        for column, ranks in self.ranks.items():
            for cells in (train[:, column], test[:, column]):
                known = ~np.isnan(cells)
                cells[known] = ranks[cells[known].astype(np.int64)]
        for transformer in self.transformers:
            fitted = clone(transformer).fit(train)
            train, test = fitted.transform(train), fitted.transform(test)
        if np.isnan(test).any() and not (self.kind.takes_missing and np.isnan(train).any()):
            return None
        try:
            return self.kind(self.model, train, labels, test, weights)
        except ValueError:
            return None


def find_part(
    estimator: Any, problem: Problem, rows: IntArray, is_native: bool, fill: bool, ranks: Ranks | None = None
) -> PartMaker | str:
    """Return what lays out parts of the rows for an estimator that is fitted fold by fold, or why there is nothing.

    Parameters
    ----------
    estimator : estimator
        Alone, or at the end of a pipeline of `StandardScaler`, `MinMaxScaler`, `SimpleImputer`; with a seed.
    problem : Problem
        The rows.
    rows : int array
        Training rows of the largest fold.
    is_native : bool
        Missing cells are given to the estimator as they are.
    fill : bool
        Otherwise they may be filled with medians.
    ranks : dict, optional
        Of columns of categories, the place of each level in the order of their values.

    Returns
    -------
    PartMaker or str

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> problem = Problem.from_arrays([[0.0], [1.0]], [0, 1])
    >>> find_part(DecisionTreeClassifier(random_state=0), problem, np.arange(2), False, True).kind.__name__
    'ForestPart'
    """
    *transformers, last = _steps_of(estimator)
    kind = _kind_of(last, len(rows), problem.n_features)
    if reason := kind if isinstance(kind, str) else _odd_transformer(transformers):
        return reason
    assert isinstance(kind, type)
    odd = problem.nominal
    if isinstance(last, HISTOGRAM_BOOSTINGS) and np.ndim(last.categorical_features):
        if transformers:
            return "categories behind other steps"
        odd = odd & ~np.isin(np.arange(problem.n_features), np.flatnonzero(last.categorical_features))
    if problem.n_outputs > 1 or odd.any() or problem.sparse is not None:
        return "several targets, nominal columns or a sparse table"
    if problem.has_missing and not (is_native and kind.takes_missing):
        if is_native or not fill:
            return "cells are missing"
        transformers = [clone(FILL), *transformers]
    return PartMaker(kind, last, transformers, ranks or {})


def _kind_of(model: Any, n_rows: int, n_columns: int) -> type[Part] | str:
    """Return what fits a model on a number of rows and columns, or why nothing does."""
    recognised: Any = type(model)
    if (kind := PARTS.get(recognised)) is None:
        return f"{recognised.__name__} is not among the recognised estimators"
    if reason := kind.refuses(model, n_rows, n_columns):
        return reason
    try:
        model._validate_params()
    except ValueError as error:  # scikit-learn's own fit raises it
        return f"it could not be set up ({error})"
    return kind if agrees(kind, recognised) else "this version of scikit-learn fits it differently"


def is_known(model: Any, n_rows: int, n_columns: int) -> bool:
    """Say whether a model can be fitted here on so many rows and columns, whatever makes these.

    Parameters
    ----------
    model : estimator
        Without the steps before it.
    n_rows, n_columns : int
        The shape of the table.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_known(SVC(), 100, 5), is_known(SVC(kernel="poly"), 100, 5)
    (True, False)
    """
    return not isinstance(_kind_of(model, n_rows, n_columns), str)


def make_part(model: Any, train: Any, labels: Any, test: Any, weights: FloatArray | None) -> Part | None:
    """Lay out prepared rows for a model; None if it is not known, or these rows are left to scikit-learn.

    Parameters
    ----------
    model : estimator
        The last step of a pipeline, with a seed.
    train, test : tables
        What the steps before it make of the rows.
    labels, weights : arrays
        Of the training rows.

    Returns
    -------
    Part or None

    Examples
    --------
    >>> part = make_part(GaussianNB(), np.zeros((2, 1)), np.array([0, 1]), np.zeros((1, 1)), None)
    >>> part is None
    True
    """
    kind = _kind_of(model, *train.shape)
    odd = isinstance(model, HISTOGRAM_BOOSTINGS) and np.ndim(model.categorical_features)
    if isinstance(kind, str) or odd or not isinstance(train, np.ndarray) or train.dtype.kind != "f":
        return None
    if np.isnan(train).any() and not kind.takes_missing:
        return None
    return PartMaker(kind, model, []).make(train, labels, test, weights)


def forest_importances(estimator: Any, problem: Problem, seed: int) -> FloatArray | None:
    """Grow a tree or a forest and return scikit-learn's importances of its columns; None if it is not grown here.

    Parameters
    ----------
    estimator : estimator
        A tree or a forest, not fitted.
    problem : Problem
        The rows.
    seed : int
        Of a forest without a seed of its own.

    Returns
    -------
    array of shape (n_features,) or None

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> problem = Problem.from_arrays([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [0, 1, 1])
    >>> forest_importances(DecisionTreeClassifier(), problem, 0)
    array([1., 0.])
    """
    if PARTS.get(type(last_of(estimator)[1])) is not ForestPart or problem.has_missing:
        return None
    model = clone(estimator)
    if (last := last_of(model)[1]).random_state is None:
        last.set_params(random_state=seed)
    way = find_part(model, problem, np.arange(problem.n_samples), False, False)
    part = None if isinstance(way, str) else way.make(problem.X, problem.y, problem.X[:1], problem.sample_weight)
    if not isinstance(part, ForestPart):
        return None
    part.outputs(np.arange(problem.n_features))
    return part.importances()


def in_single_precision(model: Any) -> bool:
    """Say whether a model is one of scikit-learn's trees, forests or boosted trees, which work in single precision.

    Parameters
    ----------
    model : estimator
        Without the steps before it.

    Returns
    -------
    bool

    Examples
    --------
    >>> in_single_precision(GaussianNB())
    False
    """
    return issubclass(PARTS.get(type(model), object), TreePart)


def _steps_of(estimator: Any) -> list[Any]:
    return [step for _, step in estimator.steps] if type(estimator) is Pipeline else [estimator]


def _odd_transformer(transformers: Sequence[Any]) -> str:
    for step in transformers:
        if step == "passthrough" or type(step) not in TRANSFORMERS:
            return f"{type(step).__name__} is not covered"
        if isinstance(step, SimpleImputer) and (step.add_indicator or not np.isnan(step.missing_values)):
            return "SimpleImputer with these options is not covered"
    return ""


def _odd_rows(problem: Problem, splits: Sequence[Split], metric: EngineMetric) -> str:
    """Say what is odd about the rows: nothing that an engine should decide by itself."""
    if problem.n_outputs > 1:
        return "there are several targets"
    if problem.nominal.any():
        return "there are nominal columns"
    if problem.task == "classification":
        for split in splits:
            train, test = (part[problem.row_weights[part] > 0.0] for part in split)
            if len(np.unique(problem.y[train])) < problem.n_classes:
                return "a class is missing among the training rows of a fold"
            if metric.name != "accuracy" and len(np.unique(problem.y[test])) < problem.n_classes:
                return "a class is missing among the test rows of a fold"
    return ""
