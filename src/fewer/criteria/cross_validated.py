"""Any scikit-learn estimator as criterion, scored by cross-validation; and how important each column is to it."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property, partial
from inspect import signature
from numbers import Real
from operator import attrgetter
from types import FunctionType
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names, roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import has_fit_parameter

from fewer.contracts import CHANGES, ROWS, Criterion, IncompatibleError, Masks, PredictiveScorer, Resources
from fewer.contracts.declaring import Scoring, parameters
from fewer.criteria._preparation import (
    HISTOGRAM_BOOSTINGS,
    OWN_NUMBERS,
    WORTH_THREADS,
    Preparation,
    last_of,
    library_of,
    merged_columns,
)
from fewer.criteria._racing import ceiling_of, race
from fewer.criteria.engines import PartMaker, find_engine, find_part, in_single_precision, is_known, make_part
from fewer.criteria.engines._engine import Engine, Split
from fewer.criteria.engines._histogram_boosting import HistogramBoosting
from fewer.criteria.engines._parts import Part, RecordedClassifier, RecordedRegressor
from fewer.errors import naming_one_class, telling
from fewer.parallel import Shared, parallelism, run_tasks
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, Task
from fewer.validate import assign_folds, split_rows
from fewer.validate.splits import CV, splits_of, with_both

Importance = str | Callable[[Any], Any]
REPEATS = 5  # How often a column is shuffled.
EXPLAINED = 100  # Rows that are explained by SHAP values, and rows against which they are.


def shap_importances(model: Any, background: Any, cells: Any) -> FloatArray:
    """Return the mean size of each column's SHAP values, of any fitted model.

    Parameters
    ----------
    model : fitted estimator
        Fitted to the training rows.
    background, cells : tables
        Rows against which, and rows that are explained; at most 100 of each.

    Returns
    -------
    array of shape (n_columns,)
    """
    try:
        import shap
    except ImportError:
        raise InputError("importance='shap' needs the package shap: pip install 'fewer[shap]'.") from None
    predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    explained = shap.Explainer(predict, np.asarray(background)[:EXPLAINED], seed=0)
    sizes = np.abs(explained(np.asarray(cells)[:EXPLAINED], silent=True).values)
    return np.asarray(sizes.reshape(*sizes.shape[:2], -1).sum(axis=2).mean(axis=0))


def _values_of(final: Any, model: Any, importance: Importance) -> FloatArray:
    """Return what a model says of its inputs, before squares and sums."""
    if callable(importance):
        return np.asarray(importance(model), dtype=np.float64)
    if importance not in ("auto", "gain"):
        try:
            return np.asarray(attrgetter(importance)(model), dtype=np.float64)
        except AttributeError as error:
            raise IncompatibleError(f"Elimination(importance={importance!r}): {error}.") from None
    if importance == "gain" and hasattr(final, "booster_"):  # LightGBM counts splits unless it is asked
        return np.asarray(final.booster_.feature_importance("gain"), dtype=np.float64)
    if hasattr(final, "coef_"):
        return final.coef_.toarray() if hasattr(final.coef_, "toarray") else np.asarray(final.coef_)
    if hasattr(final, "feature_importances_"):
        return np.asarray(final.feature_importances_)
    raise IncompatibleError(
        f"Elimination needs importances, and {type(final).__name__} has neither coef_ nor feature_importances_; "
        "Elimination(importance='permutation') measures them."
    )


def column_importances(model: Any, n_columns: int, importance: Importance = "auto") -> FloatArray:
    """Return squared coefficients, summed over classes, or squared importances; indicators count for their column.

    Parameters
    ----------
    model : fitted estimator
        Also a pipeline whose last step has `coef_` or `feature_importances_`.
    n_columns : int
        How many columns it was given.
    importance : str or callable, default="auto"
        `"gain"`, the name of an attribute, or what a function of the model returns.

    Returns
    -------
    array of shape (n_columns,)

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    >>> column_importances(LinearRegression().fit(X, 3 * X[:, 0]), 2).round(6)
    array([9., 0.])
    """
    owner = np.arange(n_columns)
    final = model
    while isinstance(final, Pipeline):
        first = final.steps[0][1]
        if isinstance(first, ColumnTransformer):
            owner = _owners(first)
        final = final.steps[-1][1]
    values = _values_of(final, model, importance)
    squares = np.atleast_2d(np.square(values)).sum(axis=0)
    if len(squares) != len(owner):
        raise IncompatibleError(
            f"{type(final).__name__} works on {len(squares)} inputs that its pipeline makes of {n_columns} columns, so "
            "columns have no importance of their own; leave out the step that makes them."
        )
    return np.asarray(np.bincount(owner, squares, minlength=n_columns), dtype=np.float64)


def _owners(transformer: ColumnTransformer) -> IntArray:
    """Return the column that each output of a fitted preparation comes from, without outputs of several columns."""
    owner: list[int] = []
    for name, step, columns in transformer.transformers_:
        named = [list(transformer.feature_names_in_).index(c) if isinstance(c, str) else c for c in np.ravel(columns)]
        places = np.arange(transformer.n_features_in_)[columns if isinstance(columns, slice) else named]
        last = step.steps[-1][1] if isinstance(step, Pipeline) else step
        counts = list(map(len, last.categories_)) if isinstance(last, OneHotEncoder) else [1] * len(places)
        made = transformer.output_indices_[name]
        owner += np.repeat(places, counts).tolist() if sum(counts) == made.stop - made.start else []
    return np.array(owner, dtype=np.int64)


MOST_REMEMBERED = 100_000
LEAST_LOSS = 1e-9  # A column is given up only if it is worse by more than rounding can do.
FEWEST_FITTED = 3  # Columns of a step that the estimator itself is fitted to at least, under `race="surrogate"`.
ALL_ROWS = -1  # Stands for all rows where folds are numbered.
LOGGER = logging.getLogger(__name__)
QUANTITY_SCORES = re.compile(
    r"r2|explained_variance|max_error|neg_(mean|median|root|max)_|d2_(absolute|pinball|tweedie)"
)


@parameters
class CrossValidated(Criterion):
    """Mean cross-validated score of any scikit-learn estimator on the columns of a subset.

    The estimator and the metric get what they would get from the user: the target's own labels and, where a frame came
    in, a frame with its names and types. The score of a subset is that of `cross_val_score` on the same splits.

    Read more in the guide: :doc:`/guide/own-models`.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor, also a pipeline.
    scoring : str or callable, optional
        As in scikit-learn; the estimator's own score if left out.
    cv : int, "loo", splitter or list of (train, test), default=5
        Shuffled stratified folds, or any scikit-learn splitter. Row groups are passed to splitters; with a number
        of folds they are kept together.
    preprocess : {"auto", "none"}, default="auto"
        `"auto"`: where the estimator cannot take the cells as they are, nominal columns become one-hot columns (a
        missing level has one too, unseen levels become zeros) and missing numbers are filled with the median of the
        training rows, inside each fold. Numbers that are declared to be nominal are always made one-hot. `"none"`: the
        estimator gets the subset's columns as they are.
    race : {"exact", "statistical", "surrogate"} or None, default=None
        Whether a search that only asks for the best column to add or drop may leave fits of the others out. `"exact"`:
        a column is given up once it cannot win even with the best scores in its remaining folds; the subset is always
        the same. `"statistical"`: once its mean lies three standard errors of the folds' differences behind the
        leader's; the column that all folds would have chosen is given up in about 5 % of the steps. Of 100 searches
        with a small forest 89, and of 100 with boosting 88, ended at the same subset or within 0.2 standard errors
        of its score (`benchmarks/race_models.py`). `"surrogate"`, for models that take long to fit, such as LightGBM:
        histogram gradient boosting of 30 rounds, which is compiled, scores all columns, and the estimator itself is
        fitted to the best eighth of them (at least three), as far as they can still win. For estimators without an
        engine.
    error_score : "raise" or float, default=nan
        The score of a fold in which fitting or scoring fails, as in scikit-learn. A subset that scores NaN never wins.

    Notes
    -----
    The empty subset scores what the class frequencies (or the mean) alone give. Row weights go to the estimator's
    `fit` where it takes them, and to the scoring. Several targets are allowed where the estimator takes them.

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

    command_name = "cross-validated"
    takes: ClassVar[frozenset[str]] = ROWS
    depends_on: ClassVar[frozenset[str]] = CHANGES - {"labels"}  # what its estimator depends on

    predictive: ClassVar[bool] = True
    respects_time: ClassVar[bool] = True
    has_importances: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True

    estimator: Annotated[Any, HasMethods("fit")]
    scoring: Scoring = None
    cv: CV = 5
    preprocess: Literal["auto", "none"] = "auto"
    error_score: Annotated[Any, StrOptions({"raise"}), Real] = np.nan
    race: Literal["exact", "statistical", "surrogate"] | None = None

    @property
    def tasks(self) -> tuple[Task, ...]:  # type: ignore[override]
        """What the estimator is for."""
        self.check_parameters()
        return ("classification",) if is_classifier(self.estimator) else ("regression",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> CrossValidatedScorer:
        return CrossValidatedScorer(self, problem, rng, resources)


class CrossValidatedScorer(PredictiveScorer):
    """`CrossValidated` bound to rows."""

    def __init__(
        self, criterion: CrossValidated, problem: Problem, rng: np.random.Generator, resources: Resources
    ) -> None:
        self.problem = problem
        self.failure = ""
        self.n_fits = 0
        self._estimator = criterion.estimator
        refuse_metric(criterion.scoring, problem)
        self._scoring = check_scoring(criterion.estimator, scoring=criterion.scoring)
        self._error_score = criterion.error_score
        self._race = criterion.race
        self._ceiling = ceiling_of(criterion.scoring)
        self._memo: dict[bytes, float] = {}
        self._preprocess = criterion.preprocess == "auto"
        self._splits = splits_for(problem, criterion.cv, rng)
        self._seed = int(rng.integers(2**31))
        self._resources = resources
        self._shared: Shared | None = None
        self._is_accuracy = criterion.scoring in (None, "accuracy") and problem.task == "classification"
        self._is_r2 = criterion.scoring in (None, "r2") and problem.task == "regression" and problem.n_outputs == 1
        self._metric = criterion.scoring
        self._why_fitted = ""
        self._parts: dict[int, Part | None] = {}
        self._hardest: IntArray | None = None
        self._surrogates: dict[int, Any] = {}
        self._parent: IntArray = np.empty(0, dtype=np.int64)

    @cached_property
    def _engine(self) -> Engine | None:
        """The compiled way, if there is one; made when subsets are scored, since predictions have no use for it."""
        engine_or_reason = find_engine(
            self._estimator, self._metric, self.problem, self._splits, self._preprocess, self._resources.memory
        )
        self._why_fitted = engine_or_reason if isinstance(engine_or_reason, str) else ""
        engine = None if isinstance(engine_or_reason, str) else engine_or_reason
        way = "compiled" if engine is not None else self._way_of_fits
        LOGGER.info("CrossValidated(%s): %s.", type(self._estimator).__name__, way)
        return engine

    @cached_property
    def _why_whole(self) -> str:
        """Why scikit-learn fits the estimator, whatever it is; the empty string if nothing says so."""
        if not (self._metric is None or isinstance(self._metric, str)):
            return "the metric is a function, which gets the fitted model"
        is_large = self.problem.n_samples * self.problem.n_features >= WORTH_THREADS
        if is_large and self._estimator.get_params(deep=False).get("n_jobs") not in (None, 1):
            return "its own threads are worth more"
        return ""

    @cached_property
    def _maker(self) -> PartMaker | str:
        """What fits the estimator fold by fold without what surrounds it, or why nothing does."""
        if self._why_whole:
            return self._why_whole
        rows = max((train for train, _ in self._splits), key=len)
        native = self.problem.has_missing and self._preparation.is_native
        prepared = self._preparation.with_categories()
        if prepared is None:
            return "nominal columns"
        return find_part(prepared[0], self.problem, rows, native, self._preprocess, prepared[1])

    @property
    def notes(self) -> list[str]:
        """Columns that a tree of the user's would not see as they are."""
        last = last_of(self._estimator)[1]
        steps = self._estimator.steps[:-1] if isinstance(self._estimator, Pipeline) else []
        numbers = OWN_NUMBERS["xgboost"] if in_single_precision(last) else OWN_NUMBERS.get(library_of(last), "")
        if not numbers or any(not isinstance(step, SimpleImputer) for _, step in steps):
            return []
        names = [self.problem.names[column] for column in merged_columns(self.problem, library_of(last))]
        if not names:
            return []
        which = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return [
            f"{type(last).__name__} {numbers} distinct values of {which} are the same: "
            "subtract their mean or change their unit, for example with StandardScaler in a pipeline."
        ]

    @property
    def _way_of_fits(self) -> str:
        if isinstance(self._maker, PartMaker):
            return "compiled, fold by fold"
        if self._is_compiled_behind:
            return "compiled, each subset by itself, where the steps before the model make an array of numbers"
        unknown = self._why_fitted.endswith("recognised estimators")
        return f"scikit-learn fits each subset: {self._maker if unknown else self._why_fitted}"

    @property
    def way(self) -> str:
        """How subsets are scored: compiled, or why not."""
        return "compiled" if self._engine is not None else self._way_of_fits

    @cached_property
    def _preparation(self) -> Preparation:
        """What the estimator is given; found out when the first model is fitted."""
        return Preparation(self._estimator, self.problem, self._splits[0][0], self._preprocess, self._seed)

    @cached_property
    def _labels(self) -> NDArray[Any]:
        return self.problem.labels

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, batches of masks in parallel, on a cluster or whatever backend joblib is set to.

        The scorer with its table is placed where the batches are scored once, not with every batch.
        """
        masks = np.asarray(masks, dtype=bool)
        if self._engine is not None:
            return self._score_compiled(masks)
        return self._score_fitted(masks)

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit; a compiled engine adds single columns to the fit before the change."""
        chosen = np.asarray(mask, dtype=bool)
        adding = np.asarray(values, dtype=bool)
        self._parent = np.flatnonzero(chosen)
        single = bool(units) and adding.all() and not any(len(unit) != 1 or chosen[unit[0]] for unit in units)
        if self._engine is None or not single:
            return super().flips(chosen, units, adding)
        added = np.concatenate(units)
        scores = self._engine.score_added(self._parent, added)
        return self._decided(scores, lambda i: _with_column(chosen, added[i]))

    def best_flip(self, mask: Masks, columns: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Find the best column to add; engines that can give up columns that are sure to lose."""
        chosen = np.asarray(mask, dtype=bool)
        self._parent = np.flatnonzero(chosen)
        if self._engine is None:
            return self._raced(chosen, columns)
        if chosen[columns].any():
            return None
        if (best := self._engine.score_best(self._parent, columns)) is not None:
            places, scores = best
            return places, self._decided(scores, lambda i: _with_column(chosen, columns[places[i]]))
        scores, optimistic = self._engine.score_optimistically(self._parent, columns)
        return self._decide_contenders(chosen, columns, scores, optimistic)

    def _raced(self, mask: Masks, columns: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Find the best column to switch, leaving out fits of columns that have lost."""
        if self._race is None or (self._race == "exact" and self._ceiling is None) or len(columns) < 2:
            return None
        children = np.repeat(mask[None], len(columns), axis=0)
        children[np.arange(len(columns)), columns] ^= True
        kept = np.arange(len(columns)) if self._race != "surrogate" else self._kept_by_surrogate(children)
        if kept is None:
            return None
        children = children[kept]
        if self._race == "surrogate" and (self._ceiling is None or parallelism(self._resources) > 1):
            return kept, self._score_fitted(children)

        def score(i: int, fold: int) -> float:
            self.n_fits += 1
            return self._attempt(lambda: self._score_split(children[i], fold))

        ceiling = None if self._race == "statistical" else self._ceiling
        places, scores = race(score, len(children), len(self._splits), ceiling, self._hardest)
        means = scores.mean(axis=1)
        if ceiling is not None and not np.isnan(means).all():
            self._hardest = np.argsort(scores[np.nanargmax(means)], kind="stable")
        for place, mean in zip(places, means, strict=True):
            self._memo[children[place].tobytes()] = float(mean)
        return kept[places], means

    def _kept_by_surrogate(self, children: Masks) -> IntArray | None:
        """Let compiled boosting choose the subsets that the estimator itself is fitted to."""
        n_kept = max(FEWEST_FITTED, -(-len(children) // 8))
        rows, smallest = self.problem, int(children.sum(axis=1).min())
        if rows.sparse is not None or rows.n_outputs > 1 or len(children) <= n_kept or smallest == 0:
            return None
        if rows.task == "classification" and any(len(np.unique(rows.y[train])) < 2 for train, _ in self._splits):
            return None
        scores = np.array([self._surrogate_score(np.flatnonzero(child)) for child in children])
        return np.sort(np.argsort(-scores, kind="stable")[:n_kept])

    def _surrogate_score(self, columns: IntArray) -> float:
        """Return the mean accuracy, or minus the mean squared error, of boosting on some columns."""
        is_class = self.problem.task == "classification"
        model = (HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor)(max_iter=30)
        scores = []
        for fold, (train, test) in enumerate(self._splits):
            if fold not in self._surrogates:
                X, weights = self.problem.X, _weights(self.problem.sample_weight, train).get("sample_weight")
                rows = X[train], self._labels[train], X[test], weights
                self._surrogates[fold] = HistogramBoosting(model, *rows, trusted=True)
            predicted, truth = self._surrogates[fold].predict(columns), self._labels[test]
            scores.append(np.mean(predicted == truth) if is_class else -np.mean((predicted - truth) ** 2))
        return float(np.mean(scores))

    def _decide_contenders(
        self, mask: Masks, columns: IntArray, scores: FloatArray, optimistic: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Let scikit-learn score open folds, of the most promising column first, until no other can win."""
        best = np.fmax.reduce(scores.mean(axis=1), initial=-np.inf)
        still: BoolArray = np.asarray(np.isnan(scores).any(axis=1))
        hopes = np.where(still, optimistic.mean(axis=1), -np.inf)
        while still.any() and hopes.max() >= best - LEAST_LOSS:
            i = int(np.argmax(hopes))
            fold = int(np.flatnonzero(np.isnan(scores[i]))[0])
            self.n_fits += 1
            child = _with_column(mask, columns[i])
            scores[i, fold] = self._attempt(partial(self._decide_fold, child, fold))
            optimistic[i, fold] = scores[i, fold]
            still[i] = np.isnan(scores[i]).any() and not np.isnan(scores[i, fold])
            hopes[i] = optimistic[i].mean() if still[i] else -np.inf
            if not still[i]:
                best = np.fmax(best, scores[i].mean())
        # Given up: columns with open folds that lie behind. One that cannot be scored is reported as such.
        places = np.flatnonzero(~still)
        return places, scores[places].mean(axis=1)

    def _score_compiled(self, masks: Masks) -> FloatArray:
        assert self._engine is not None
        scores = np.empty((len(masks), len(self._splits)))
        filled = masks.any(axis=1)
        scores[filled] = self._engine.score_masks(masks[filled])
        if not filled.all():
            scores[~filled] = self._engine.score_nothing()
        return self._decided(scores, lambda i: masks[i])

    def _decided(self, scores: FloatArray, mask_of: Callable[[int], Masks]) -> FloatArray:
        """Let scikit-learn score the folds that the engine left open, and take the means."""
        for i, fold in zip(*np.nonzero(np.isnan(scores)), strict=True):
            mask = mask_of(int(i))
            scores[i, fold] = self._attempt(lambda m=mask, f=int(fold): self._decide_fold(m, f))
            self.n_fits += 1
        return np.asarray(scores.mean(axis=1))

    def _decide_fold(self, mask: Masks, fold: int) -> float:
        assert self._engine is not None
        score = self._engine.decide(np.flatnonzero(mask), fold)
        return self._score_split(mask, fold) if np.isnan(score) else score

    def _score_fitted(self, masks: Masks) -> FloatArray:
        """Score masks by fitting; those met before are not fitted again."""
        keys = [mask.tobytes() for mask in masks]
        new = {key: i for i, key in enumerate(keys) if key not in self._memo}
        if len(self._memo) > MOST_REMEMBERED:
            self._memo.clear()
            new = {key: i for i, key in enumerate(keys)}
        if new:
            scores = self._fit_and_score(masks[list(new.values())])
            self._memo.update(zip(new, scores.tolist(), strict=True))
        return np.array([self._memo[key] for key in keys], dtype=np.float64)

    def _fit_and_score(self, masks: Masks) -> FloatArray:
        n_workers = parallelism(self._resources)
        if n_workers == 1 or len(masks) < 2:
            return np.array([self.score_one(mask) for mask in masks], dtype=np.float64)
        if self._shared is None:
            self._preparation.decide()
            alone = copy(self)
            alone._resources = self._resources.alone()
            alone._engine, alone._memo, alone._parts, alone._surrogates = None, {}, {}, {}
            alone._preparation = self._preparation.in_one_thread()
            self._shared = Shared(alone)
        batches = [(batch,) for batch in np.array_split(masks, min(len(masks), 4 * n_workers))]
        results = list(run_tasks(_score_batch, batches, self._resources, shared=self._shared))
        self.failure = self.failure or next((failure for _, failure in results if failure), "")
        return np.concatenate([scores for scores, _ in results])

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from the folds that did not test it (the last, if several did)."""
        rows = self.problem
        shape = (rows.n_samples, rows.n_classes) if rows.task == "classification" else rows.y.shape
        out = np.full(shape, np.nan)
        for fold, (train, test) in enumerate(self._splits):
            cells = self._preparation.cells(mask, test)
            model = self._recorded(mask, self._part(fold, mask)) or self._behind_preparation(mask, train, cells)
            out[test] = _outputs(model or self._fit(mask, train), cells, rows)
        return out

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from a fit on all bound rows."""
        if mask.any() and isinstance(self._maker, PartMaker):
            rows, columns = self.problem, np.flatnonzero(mask)
            maker = self._maker.on(columns, rows.names)
            part = maker.make(rows.X[:, columns], self._labels, X[:, columns], rows.sample_weight)
            model = self._recorded(np.ones(len(columns), dtype=bool), part)
        else:
            cells, missing = self._preparation.new_cells(mask, X), np.isnan(X).any(axis=0)
            model = self._behind_preparation(mask, np.arange(self.problem.n_samples), cells, missing)
        return _outputs(model, X, self.problem) if model else self.fit_rule(mask, np.isnan(X).any(axis=0))(X)

    def fit_rule(self, mask: Masks, new_missing: Any = True) -> FittedRule:
        """Fit the estimator on all bound rows and the columns of a subset.

        Parameters
        ----------
        mask : array of shape (n_features,)
            The features.
        new_missing : bool or bool array of shape (n_features,), default=True
            Whether new rows may have missing cells where the bound ones have none.

        Returns
        -------
        FittedRule
            Takes new rows and gives class memberships or numbers.
        """
        model = self._fit(mask, np.arange(self.problem.n_samples), new_missing)
        return FittedRule(model, mask, self._preparation, self.problem)

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs with the criterion's own scoring."""
        return self._attempt(lambda: score_outputs(self._scoring, outputs, rows))

    def score_one(self, mask: Masks) -> float:
        """Score one mask: the mean over the splits."""
        self.n_fits += len(self._splits)
        return float(np.mean([self._attempt(lambda k=k: self._score_split(mask, k)) for k in range(self.n_parts)]))

    @property
    def n_parts(self) -> int:
        """How many splits there are."""
        return len(self._splits)

    def examine(
        self, mask: Masks, part: int | None = None, importance: Importance = "auto"
    ) -> tuple[FloatArray, float]:
        """Fit the estimator on a subset; return the importance of each column and the score on the split's test rows.

        Parameters
        ----------
        mask : bool array of shape (n_features,)
            The features.
        part : int, optional
            The split; all rows if left out.
        importance : str or callable, default="auto"
            What importance is, as in `fewer.search.Elimination`.

        Returns
        -------
        importances : array of shape (n_features,)
        score : float
        """
        quick = self._examined(mask, part) if importance == "auto" else None
        if quick is not None:
            return quick
        everyone = np.arange(self.problem.n_samples)
        train, test = (everyone, None) if part is None else self._splits[part]
        model, importances = self._fit(mask, train), np.zeros(self.problem.n_features)
        if np.any(mask):
            importances[np.flatnonzero(mask)] = self._importances(model, mask, train, importance)
        if test is None:
            return importances, float("nan")
        cells, weights = self._preparation.cells(mask, test), _weights(self.problem.sample_weight, test)
        return importances, self._attempt(lambda: self._scoring(model, cells, self._labels[test], **weights))

    def _importances(self, model: Any, mask: Masks, train: IntArray, importance: Importance) -> FloatArray:
        """Return the importance of each column of a subset, by a model fitted to these rows or to most of them."""
        columns = np.flatnonzero(mask)
        if importance not in ("permutation", "drop", "shap"):
            return column_importances(model, len(columns), importance)
        # On rows that the model was not fitted to, and that are no test rows of the split, which score the sizes.
        inner = split_rows(self.problem.take(train), 4, np.random.default_rng(0))[-1]
        fitted, kept = train[inner.train], train[inner.test]
        model = self._fit(mask, fitted)
        if importance == "shap":
            return shap_importances(model, self._preparation.cells(mask, fitted), self._preparation.cells(mask, kept))
        labels, weights = self._labels[kept], _weights(self.problem.sample_weight, kept)
        whole = self._scoring(model, self._preparation.cells(mask, kept), labels, **weights)
        losses, rng = np.zeros(len(columns)), np.random.default_rng(0)
        for place, column in enumerate(columns.tolist()):
            if importance == "drop":
                rest = np.array(mask, dtype=bool)
                rest[column] = False
                cells = self._preparation.cells(rest, kept)
                losses[place] = whole - self._scoring(self._fit(rest, fitted), cells, labels, **weights)
                continue
            table = self.problem.X[kept].copy()
            for _ in range(REPEATS):
                table[:, column] = table[rng.permutation(len(kept)), column]
                cells = self._preparation.new_cells(mask, table)
                losses[place] += (whole - self._scoring(model, cells, labels, **weights)) / REPEATS
        return losses

    def _examined(self, mask: Masks, fold: int | None) -> tuple[FloatArray, float] | None:
        """Examine a subset without scikit-learn's fit; None where there is no such way."""
        columns, importances = np.flatnonzero(mask), np.zeros(self.problem.n_features)
        if not len(columns):
            return None
        if self._engine is not None:
            answer = None if fold is None else self._engine.examine(columns, fold)
            if answer is None:
                return None
            importances[columns], score = answer
            return importances, score
        part = self._part(ALL_ROWS if fold is None else fold, mask)
        model = self._recorded(mask, part)
        known = None if part is None or model is None else part.importances()
        if known is None:
            return None
        importances[columns] = np.square(known)
        return importances, float("nan") if fold is None else self._attempt(lambda: self._score_model(model, fold))

    def _score_split(self, mask: Masks, fold: int) -> float:
        part, (train, test) = self._part(fold, mask), self._splits[fold]
        if part is not None and np.count_nonzero(mask) == len(self._parent) + 1:
            part.start_from(self._parent)
        cells = self._preparation.cells(mask, test)
        model = self._recorded(mask, part) or self._behind_preparation(mask, train, cells)
        if model is not None:
            return self._score_model(model, fold)
        weights = _weights(self.problem.sample_weight, test)
        return float(self._scoring(self._fit(mask, train), cells, self._labels[test], **weights))

    def _score_model(self, model: Any, fold: int) -> float:
        """Score predictions that were computed for the test rows of a fold."""
        test = self._splits[fold][1]
        weights = _weights(self.problem.sample_weight, test)
        if self._is_accuracy and not weights:
            return float(np.mean(model.predict(test) == self._labels[test]))
        truth = self._labels[test]
        if self._is_r2 and not weights and (spread := ((truth - truth.mean()) ** 2).sum()) > 0:
            return float(1.0 - ((truth - model.predict(test)) ** 2).sum() / spread)  # as `r2_score` has it, to the bit
        return float(self._scoring(model, np.empty((len(test), 0)), self._labels[test], **weights))

    def _part(self, fold: int, mask: Any = None) -> Part | None:
        """Return a fold laid out for models that are fitted on many subsets; None if these go the ordinary way."""
        if isinstance(self._maker, PartMaker) and self._maker.rounds_alone and np.count_nonzero(mask) == 1:
            return None
        if fold not in self._parts:
            everyone = np.arange(self.problem.n_samples)
            train, test = (everyone, everyone[:1]) if fold == ALL_ROWS else self._splits[fold]
            weights = None if self.problem.sample_weight is None else self.problem.sample_weight[train]
            self._parts[fold] = None
            if isinstance(self._maker, PartMaker):
                X = self.problem.X
                self._parts[fold] = self._maker.make(X[train], self._labels[train], X[test], weights)
        return self._parts[fold]

    def _recorded(self, mask: Masks, part: Part | None) -> Any:
        """Fit a part on the columns of a subset; return its predictions in the shape of a fitted model, or None."""
        columns = np.flatnonzero(mask)
        outputs = None if part is None or not len(columns) else part.outputs(columns)
        if part is None or outputs is None:
            return None
        if part.classes_ is None:
            return RecordedRegressor(outputs)
        memberships = outputs if part.has_memberships else None
        return RecordedClassifier(memberships, part.classes_, part.codes(outputs), part.decisions(outputs))

    @cached_property
    def _is_compiled_behind(self) -> bool:
        """Whether the last step is compiled behind steps that make columns of their own for each subset.

        Nothing is shared between subsets then; but the fit of the last step by itself takes a fraction of the time that
        scikit-learn takes.
        """
        rows, has_steps = self.problem, isinstance(self._estimator, Pipeline)
        if self._why_whole or rows.n_outputs > 1 or rows.sparse is not None:
            return False
        return bool(has_steps or rows.nominal.any()) and is_known(last_of(self._estimator)[1], *rows.X.shape)

    def _behind_preparation(self, mask: Masks, train: IntArray, held: Any, new_missing: Any = False) -> Any:
        """Fit a model on the columns that a preparation makes; return its predictions of other rows, or None."""
        if not self._is_compiled_behind or not np.any(mask):
            return None
        model = self._preparation.model(np.flatnonzero(mask), new_missing)
        cells, held = _before_last(model, self._preparation.cells(mask, train), self._labels[train], held)
        weights = _weights(self.problem.sample_weight, train).get("sample_weight")
        part = make_part(last_of(model)[1], cells, self._labels[train], held, weights)
        return self._recorded(np.ones(cells.shape[1], dtype=bool), part)

    def _attempt(self, work: Any) -> float:
        """Score, or give the score that stands for a failure."""
        if self._error_score == "raise":
            return float(work())
        try:
            return float(work())
        except Exception as error:
            self.failure = self.failure or f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            return float(self._error_score)

    def _fit(self, mask: Masks, train: IntArray, new_missing: Any = False) -> Any:
        rows = self.problem
        model = self._preparation.model(np.flatnonzero(mask), new_missing)
        path, final = last_of(model)
        kept = train[:0]
        if stops_early(final):
            # On rows that are no test rows of the split: those would choose the number of trees that they score.
            inner = split_rows(rows.take(train), 4, np.random.default_rng(0))[-1]
            train, kept = train[inner.train], train[inner.test]
        asked: dict[str, Any] = {}
        if rows.sample_weight is not None and has_fit_parameter(final, "sample_weight"):
            asked["sample_weight"] = rows.sample_weight[train]
        cells = self._preparation.cells(mask, train)
        if len(kept):
            held = _before_last(model, cells, self._labels[train], self._preparation.cells(mask, kept))[1]
            if has_fit_parameter(final, "eval_X"):  # LightGBM from 4.7 on
                asked |= {"eval_X": held, "eval_y": self._labels[kept]}
            else:
                asked["eval_set"] = [(held, self._labels[kept])]
            loud = signature(final.fit).parameters.get("verbose")
            if loud is not None and loud.default is True:  # XGBoost prints each round
                asked["verbose"] = False
        if isinstance(final, HISTOGRAM_BOOSTINGS) and isinstance(cells, np.ndarray):
            # scikit-learn refuses a column without any value; one with a single value is not split by either.
            cells = np.where(np.isnan(cells).all(axis=0), 0.0, cells)
        with naming_one_class(self._labels[train]):
            return model.fit(cells, self._labels[train], **{f"{path}{key}": asked[key] for key in asked})


def _before_last(model: Any, cells: Any, labels: NDArray[Any], held: Any) -> tuple[Any, Any]:
    """Return what the last step of nested pipelines would see of the rows that it learns from, and of others."""
    while isinstance(model, Pipeline):
        if len(model) > 1:
            steps = model[:-1].fit(cells, labels)
            cells, held = steps.transform(cells), steps.transform(held)
        model = model.steps[-1][1]
    return cells, held


def stops_early(model: Any) -> bool:
    """Say whether a model wants rows on which it stops: `early_stopping_rounds` of LightGBM, XGBoost or CatBoost.

    Parameters
    ----------
    model : estimator
        Not fitted.

    Returns
    -------
    bool
    """
    rounds = model.get_params(deep=False) if has_fit_parameter(model, "eval_set") else {}
    return any(rounds.get(name) for name in ("early_stopping_rounds", "early_stopping_round"))


def score_outputs(scoring: Any, outputs: FloatArray, rows: Problem) -> float:
    """Score predictions that were made before, by a scikit-learn metric that sees the user's own labels.

    Parameters
    ----------
    scoring : str or scorer
        The metric.
    outputs : array of shape (n_samples, n_classes) or (n_samples,)
        Class memberships, or numbers.
    rows : Problem
        The rows that were predicted.

    Returns
    -------
    float

    Examples
    --------
    >>> rows = Problem.from_arrays(np.zeros((4, 1)), ["no", "no", "yes", "yes"])
    >>> score_outputs("roc_auc", np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]]), rows)
    0.75
    """
    is_class = rows.task == "classification"
    recorded = RecordedClassifier(outputs, np.asarray(rows.classes)) if is_class else RecordedRegressor(outputs)
    scorer = get_scorer(scoring)
    if is_class and vars(scorer).get("_response_method") == "predict_proba" and (outputs < 0.0).any():
        name = scoring if isinstance(scoring, str) else scorer._score_func.__name__
        raise InputError(
            f"scoring={name} needs probabilities, which the model does not give; wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use another score."
        )
    with telling("The scoring"):
        return float(scorer(recorded, rows.X, rows.labels, **_weights(rows.sample_weight, slice(None))))


def refuse_metric(scoring: Any, problem: Problem) -> None:
    """Refuse a plain metric in place of a scorer, and one that does not know which class is the positive one.

    Parameters
    ----------
    scoring : str, callable or None
        As the user gave it.
    problem : Problem
        The rows, of which one of each class is scored.
    """
    if isinstance(scoring, FunctionType) and next(iter(signature(scoring).parameters), "") == "y_true":
        name = scoring.__name__
        raise InputError(f"scoring={name} is a metric, not a scorer; use sklearn.metrics.make_scorer({name}).")
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    if problem.task != "classification" or problem.y.ndim > 1 or not hasattr(scorer, "_score_func"):
        return
    metric = scorer._score_func
    if metric is roc_auc_score and problem.n_classes > 2 and scorer._kwargs.get("multi_class", "raise") == "raise":
        raise InputError(
            f'roc_auc is for two classes, but the target has {problem.n_classes}; use scoring="roc_auc_ovr".'
        )
    if "pos_label" not in signature(metric).parameters:
        return
    codes, first_rows = np.unique(problem.y, return_index=True)
    if len(codes) < 2:
        return
    try:
        score_outputs(scoring, np.eye(problem.n_classes)[codes], problem.take(first_rows))
    except InputError as error:
        name, classes = metric.__name__, problem.classes
        macro = f"{name.removesuffix('_score')}_macro"
        cures = [f'scoring="{macro}"'] if macro in get_scorer_names() else []
        reason = f"is for two classes, but the target has {len(classes)}"
        if scorer._kwargs.get("average") == "samples":
            reason = "with average='samples' is for rows with several labels each"
        elif len(classes) == 2:
            of_scores = "" if "y_pred" in signature(metric).parameters else ', response_method="predict_proba"'
            cures.append(f"sklearn.metrics.make_scorer({name}, pos_label={classes[1]!r}{of_scores})")
            reason = f"needs to know which class is positive, {classes[0]!r} or {classes[1]!r}"
        if not cures:
            raise
        raise InputError(f"{name} {reason}; use {' or '.join(cures)}.") from error


def refuse_scoring(scoring: Any, problem: Problem) -> None:
    """Refuse a score that is not known, that is for the other task, or that lacks something.

    Parameters
    ----------
    scoring : str, callable or None
        As the user gave it.
    problem : Problem
        The rows.
    """
    if isinstance(scoring, str):
        _refuse_name(scoring, problem.task)
    refuse_metric(scoring, problem)


def _refuse_name(name: str, task: str) -> None:
    if name not in get_scorer_names():
        near = difflib.get_close_matches(name, get_scorer_names(), n=1, cutoff=0.5)
        advice = f"did you mean {near[0]!r}?" if near else "take one of sklearn.metrics.get_scorer_names()."
        raise InputError(f"Unknown score {name!r}; {advice}")
    meant = "regression" if QUANTITY_SCORES.match(name) else "classification"
    if meant != task:
        raise InputError(f"{name} is for {meant}, but the task is {task}; choose another score.")


class FittedRule:
    """An estimator that was fitted on the columns of a subset."""

    def __init__(self, model: Any, mask: Masks, preparation: Preparation, problem: Problem) -> None:
        self.model, self._mask, self._preparation, self._problem = model, mask, preparation, problem

    def __call__(self, X: FloatArray) -> FloatArray:
        """Predict new rows."""
        return _outputs(self.model, self._preparation.new_cells(self._mask, X), self._problem)


def _score_batch(scorer: CrossValidatedScorer, masks: Masks) -> tuple[FloatArray, str]:
    return np.array([scorer.score_one(mask) for mask in masks]), scorer.failure


def splits_for(problem: Problem, cv: Any, rng: np.random.Generator) -> list[Split]:
    """Return training and test rows: of shuffled folds, of a splitter, or as they are listed."""
    if problem.time is not None:
        return [(split.train, split.test) for split in split_rows(problem, cv, rng)]
    if cv is None or isinstance(cv, int | np.integer | str):
        folds = assign_folds(problem, cv, rng)
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(int(folds.max()) + 1)]
    if not (splits := with_both(splits_of(cv, problem))):
        raise InputError(f"cv={cv!r} gives 0 split(s); at least one is needed.")
    return splits


def _with_column(mask: Masks, column: int) -> Masks:
    child = mask.copy()
    child[column] = True
    return child


def _weights(weights: FloatArray | None, rows: Any) -> dict[str, FloatArray]:
    return {} if weights is None else {"sample_weight": weights[rows]}


def _outputs(model: Any, X: Any, problem: Problem) -> FloatArray:
    """Return memberships with one column for each class of the problem, or numbers."""
    if problem.task == "regression":
        return np.asarray(model.predict(X), dtype=np.float64)
    place = {label: code for code, label in enumerate(problem.classes)}
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        known = [place[label] for label in np.asarray(model.classes_).tolist()]
    if hasattr(model, "predict_proba"):
        out = np.zeros((X.shape[0], problem.n_classes))
        out[:, known] = model.predict_proba(X)
    elif hasattr(model, "decision_function"):
        decision = model.decision_function(X)
        out = np.full((X.shape[0], problem.n_classes), decision.min() - 1.0)
        out[:, known] = decision if decision.ndim == 2 else np.column_stack([-decision, decision])
    else:
        if is_regressor(model):
            raise InputError(
                f"{last_of(model)[1]} predicts a quantity, but the target has classes; give a classifier, "
                "or say that it is a quantity (task='regression', --task regression)."
            )
        out = np.zeros((X.shape[0], problem.n_classes))
        out[np.arange(len(out)), [place[label] for label in np.asarray(model.predict(X)).tolist()]] = 1.0
    return out
