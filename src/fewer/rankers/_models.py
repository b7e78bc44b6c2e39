"""Any estimator on the columns of a problem: nominal columns as indicators, missing cells filled, numbers scaled."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from fewer.contracts import IncompatibleError, Ranker, Ranking, Resources
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Task
from fewer.validate import Split, split_rows


class ModelRanker(Ranker):
    """Rank by what models say that are fitted to the training rows of each fold, averaged over folds.

    Parameters
    ----------
    estimator : estimator, optional
    cv : int, splitter or None
        Folds; None fits one model to all rows.
    """

    def __init__(self, estimator: Any = None, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        parts = parts_of(problem, self.cv, rng)
        found = self._measure(problem, parts, int(rng.integers(2**31)), resources)
        spread = np.std(found, axis=0, ddof=1) if len(found) > 1 else np.zeros(problem.n_features)
        return Ranking.by_score(np.mean(found, axis=0), spread=spread)

    def _measure(self, problem: Problem, parts: list[Split], seed: int, resources: Resources) -> FloatArray:
        """Return what each fold's model says of each feature, (n_folds, n_features)."""
        raise NotImplementedError


class Columns(TransformerMixin, BaseEstimator):
    """Turn the columns of a problem into inputs of an estimator, as the training rows say.

    Nominal columns become one indicator a level (none for a level that was not seen), missing numbers the median.

    Parameters
    ----------
    nominal : bool array of shape (n_features,)
    """

    def __init__(self, nominal: BoolArray) -> None:
        self.nominal = nominal

    def fit(self, X: FloatArray, y: Any = None) -> Columns:
        """Learn levels and medians."""
        owner: list[int] = []
        level: list[float] = []
        for column, nominal in enumerate(self.nominal):
            cells = X[:, column]
            levels = np.unique(cells[~np.isnan(cells)]).tolist() if nominal else [np.nan]
            owner += [column] * len(levels)
            level += levels
        self.owner_, self.level_ = np.array(owner, dtype=np.int64), np.array(level, dtype=np.float64)
        known = ~np.isnan(X).all(axis=0)
        self.middle_ = np.zeros(X.shape[1])
        self.middle_[known] = np.nanmedian(X[:, known], axis=0)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the inputs of rows."""
        cells = X[:, self.owner_]
        numbers = np.where(np.isnan(cells), self.middle_[self.owner_], cells)
        return np.where(np.isnan(self.level_), numbers, cells == self.level_)


def default_estimator(task: Task) -> Any:
    """Return logistic or ridge regression on scaled columns."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000) if task == "classification" else Ridge())


def lasso_classifier(n_penalties: int = 10, cv: int = 5) -> Any:
    """Return logistic regression with an l1 penalty, its strength by cross-validation."""
    options: dict[str, Any] = {"Cs": n_penalties, "cv": cv, "solver": "saga", "tol": 1e-2, "max_iter": 1000}
    if "use_legacy_attributes" in signature(LogisticRegressionCV).parameters:
        options.update(l1_ratios=(1.0,), use_legacy_attributes=False)
    else:
        options.update(penalty="l1")
    return LogisticRegressionCV(scoring="neg_log_loss", random_state=0, **options)


def lasso_regressor(cv: int = 5) -> Any:
    """Return the lasso, its strength by cross-validation."""
    return LassoCV(cv=cv)


def last_step(model: Any) -> Any:
    """Return the estimator at the end of pipelines."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def fit_model(estimator: Any, problem: Problem, seed: int, *, scale: bool = False) -> Any:
    """Fit a copy of an estimator to the rows of a problem; rows given to it later have the problem's columns.

    Parameters
    ----------
    estimator : estimator or None
        Logistic or ridge regression by default.
    problem : Problem
        Row weights go to the estimator where its `fit` takes them.
    seed : int
        Of estimators that draw and have no seed of their own.
    scale : bool, default=False
        Give it columns of unit variance.
    """
    model = clone(default_estimator(problem.task) if estimator is None else estimator)
    final = last_step(model)
    if "random_state" in final.get_params(deep=False) and final.get_params(deep=False)["random_state"] is None:
        final.set_params(random_state=seed)
    steps: list[Any] = []
    if problem.nominal.any() or problem.missing.any():
        steps.append(Columns(problem.nominal))
    if scale:
        steps.append(StandardScaler())
    if steps:
        model = make_pipeline(*steps, model)
    weights: dict[str, Any] = {}
    if problem.sample_weight is not None and has_fit_parameter(final, "sample_weight"):
        weights = {_weight_name(model): problem.sample_weight}
    return model.fit(problem.X, problem.y, **weights)


def _weight_name(model: Any) -> str:
    """Name the weights of the last step as nested pipelines pass them on."""
    if not isinstance(model, Pipeline):
        return "sample_weight"
    name, inner = model.steps[-1]
    return f"{name}__{_weight_name(inner)}"


def inputs_of(model: Any, X: FloatArray) -> FloatArray:
    """Return what the last step of a fitted model sees of rows."""
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model.steps) > 1 else X
        model = model.steps[-1][1]
    return X


def owners_of(model: Any, n_features: int) -> IntArray:
    """Return the column of the problem that each input of the last step comes from."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    return first.owner_ if isinstance(first, Columns) else np.arange(n_features)


def gather(values: FloatArray, model: Any, n_features: int) -> FloatArray:
    """Sum what inputs have over the column that they come from."""
    owner = owners_of(model, n_features)
    if len(values) != len(owner):
        raise IncompatibleError(
            f"{type(last_step(model)).__name__} works on {len(values)} inputs that its pipeline makes of {len(owner)} "
            "columns, so columns have no importance of their own; leave out the step that makes them."
        )
    return np.asarray(np.bincount(owner, values, minlength=n_features), dtype=np.float64)


def parts_of(problem: Problem, cv: Any, rng: np.random.Generator) -> list[Split]:
    """Return training and test rows; without cross-validation all rows as both."""
    if cv is None:
        rows = np.arange(problem.n_samples)
        return [Split(rows, rows)]
    return split_rows(problem, cv, rng)
