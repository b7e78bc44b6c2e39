"""Any scikit-learn estimator as criterion, judged by cross-validation."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import has_fit_parameter

from fewer.contracts import Criterion, Masks, PredictiveScorer, Resources
from fewer.problem import FloatArray, InputError, IntArray, Problem, Task
from fewer.validate import assign_folds


class CrossValidated(Criterion):
    """Mean cross-validated score of any scikit-learn estimator on the columns of a subset.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor, also a pipeline.
    scoring : str or callable, optional
        As in scikit-learn; the estimator's own score if left out.
    cv : int or splitter, default=5
        Shuffled stratified folds, or any scikit-learn splitter. Row groups are passed to splitters; with a number
        of folds they are kept together.
    preprocess : {"auto", "none"}, default="auto"
        `"auto"`: inside each fold, nominal columns become one-hot columns (unseen levels become zeros) and missing
        cells are filled with the median or the most frequent level of the training rows. Only columns that need it
        are touched. `"none"`: the estimator gets the subset's columns as they are.

    Notes
    -----
    The empty subset scores what the class frequencies (or the mean) alone give. Row weights go to the estimator's
    `fit` where it takes them, and to the scoring.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> criterion = CrossValidated(LogisticRegression(max_iter=1000))
    >>> selector = fewer.SubsetSelector(criterion, fewer.search.Forward(), random_state=0).fit(X, y)
    >>> selector.get_support()
    array([False, False, False,  True])
    """

    predictive: ClassVar[bool] = True

    def __init__(self, estimator: Any, scoring: Any = None, cv: Any = 5, preprocess: str = "auto") -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.preprocess = preprocess

    @property
    def tasks(self) -> tuple[Task, ...]:  # type: ignore[override]
        """What the estimator is for."""
        return ("classification",) if is_classifier(self.estimator) else ("regression",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> CrossValidatedScorer:
        """Bind to rows."""
        if self.preprocess not in ("auto", "none"):
            raise InputError(f"preprocess={self.preprocess!r} is not known; choose 'auto' or 'none'.")
        return CrossValidatedScorer(self, problem, rng, resources)


class CrossValidatedScorer(PredictiveScorer):
    """`CrossValidated` bound to rows."""

    def __init__(
        self, criterion: CrossValidated, problem: Problem, rng: np.random.Generator, resources: Resources
    ) -> None:
        self.problem = problem
        self._estimator = criterion.estimator
        self._scoring = check_scoring(criterion.estimator, scoring=criterion.scoring)
        self._preprocess = criterion.preprocess == "auto"
        self._splits = _splits(problem, criterion.cv, rng)
        self._seed = int(rng.integers(2**31))
        self._n_jobs = resources.n_jobs
        self._holed = problem.missing.any(axis=0)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, batches of masks in parallel, on whatever backend joblib is set to.

        The table travels beside the scorer, as an argument of its own: that is what backends share between workers,
        as a memory map or on each machine once, instead of copying it with every batch.
        """
        masks = np.asarray(masks, dtype=bool)
        if self._n_jobs == 1 or len(masks) < 2:
            return np.array([self.score_one(mask) for mask in masks], dtype=np.float64)
        bare = self._on(np.empty((0, self.problem.n_features)))
        batches = np.array_split(masks, min(len(masks), 4 * effective_n_jobs(self._n_jobs)))
        results = Parallel(n_jobs=self._n_jobs)(delayed(_score_batch)(bare, self.problem.X, b) for b in batches)
        return np.concatenate(results)

    def _on(self, X: FloatArray) -> CrossValidatedScorer:
        """Return this scorer with another array in the place of the table."""
        scorer = copy(self)
        scorer.problem = replace(self.problem, X=X)
        return scorer

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from the folds that did not test it (the last, if several did)."""
        rows = self.problem
        shape = (rows.n_samples, rows.n_classes) if rows.task == "classification" else (rows.n_samples,)
        out = np.full(shape, np.nan)
        for train, test in self._splits:
            out[test] = _outputs(self._fit(mask, train), self._cells(mask, rows.X[test]), rows)
        return out

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from a fit on all bound rows."""
        fitted = self._fit(mask, np.arange(self.problem.n_samples), np.isnan(X).any(axis=0))
        return _outputs(fitted, self._cells(mask, X), self.problem)

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs with the criterion's own scoring."""
        recorded = (
            _RecordedClassifier(outputs, np.arange(rows.n_classes))
            if rows.task == "classification"
            else _RecordedRegressor(outputs)
        )
        return float(self._scoring(recorded, rows.X, rows.y, **_weights(rows.sample_weight, slice(None))))

    def score_one(self, mask: Masks) -> float:
        """Score one mask: the mean over the splits."""
        rows = self.problem
        return float(
            np.mean(
                [
                    self._scoring(
                        self._fit(mask, train),
                        self._cells(mask, rows.X[test]),
                        rows.y[test],
                        **_weights(rows.sample_weight, test),
                    )
                    for train, test in self._splits
                ]
            )
        )

    def _cells(self, mask: Masks, X: FloatArray) -> FloatArray:
        return X[:, mask != 0] if np.any(mask) else np.zeros((len(X), 1))

    def _fit(self, mask: Masks, train: IntArray, new_holes: Any = False) -> Any:
        rows = self.problem
        model = self._model(np.flatnonzero(mask), new_holes)
        last = model.steps[-1][0] if isinstance(model, Pipeline) else None
        weights = {}
        if rows.sample_weight is not None and has_fit_parameter(model.steps[-1][1] if last else model, "sample_weight"):
            weights = {f"{last}__sample_weight" if last else "sample_weight": rows.sample_weight[train]}
        return model.fit(self._cells(mask, rows.X[train]), rows.y[train], **weights)

    def _model(self, columns: IntArray, new_holes: Any = False) -> Any:
        rows = self.problem
        if not len(columns):
            return DummyClassifier() if rows.task == "classification" else DummyRegressor()
        model = clone(self._estimator)
        if "random_state" in model.get_params(deep=False) and model.get_params(deep=False)["random_state"] is None:
            model.set_params(random_state=self._seed)
        if not self._preprocess:
            return model
        nominal = rows.nominal[columns]
        incomplete = (self._holed | new_holes)[columns]
        steps: list[tuple[str, Any, Any]] = []
        if (incomplete & ~nominal).any():
            steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True), incomplete & ~nominal))
        if nominal.any():
            encode = make_pipeline(
                SimpleImputer(strategy="most_frequent", keep_empty_features=True),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            )
            steps.append(("encode", encode, nominal))
        if not steps:
            return model
        return make_pipeline(ColumnTransformer(steps, remainder="passthrough"), model)


class _RecordedClassifier(ClassifierMixin, BaseEstimator):
    """Outputs that were computed before, in the shape of a fitted classifier."""

    def __init__(self, outputs: FloatArray, classes: IntArray) -> None:
        self.outputs = outputs
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[self.outputs.argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        return self.outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _RecordedRegressor(RegressorMixin, BaseEstimator):
    """Outputs that were computed before, in the shape of a fitted regressor."""

    def __init__(self, outputs: FloatArray) -> None:
        self.outputs = outputs

    def predict(self, X: Any) -> FloatArray:
        return self.outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _score_batch(bare: CrossValidatedScorer, X: FloatArray, masks: Masks) -> FloatArray:
    scorer = bare._on(X)
    return np.array([scorer.score_one(mask) for mask in masks])


def _splits(problem: Problem, cv: Any, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    if isinstance(cv, int | np.integer):
        folds = assign_folds(problem, cv, rng)
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(int(folds.max()) + 1)]
    return [(train, test) for train, test in cv.split(problem.X, problem.y, problem.groups)]


def _weights(weights: FloatArray | None, rows: Any) -> dict[str, FloatArray]:
    return {} if weights is None else {"sample_weight": weights[rows]}


def _outputs(model: Any, X: FloatArray, problem: Problem) -> FloatArray:
    """Return memberships with one column for each class of the problem, or numbers."""
    if problem.task == "regression":
        return np.asarray(model.predict(X), dtype=np.float64)
    out = np.zeros((len(X), problem.n_classes))
    if hasattr(model, "predict_proba"):
        out[:, model.classes_] = model.predict_proba(X)
    elif hasattr(model, "decision_function"):
        decision = model.decision_function(X)
        out[:] = decision.min() - 1.0
        out[:, model.classes_] = decision if decision.ndim == 2 else np.column_stack([-decision, decision])
    else:
        out[np.arange(len(X)), model.predict(X)] = 1.0
    return out
