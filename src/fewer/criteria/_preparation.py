"""What an estimator is given: the user's cells where it can take them, else prepared numbers."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import validate_data

from fewer.contracts import Masks
from fewer.errors import quietly
from fewer.estimators import hushed
from fewer.problem import BoolArray, FloatArray, IntArray, Problem

# Cells below which threads of one fit wait for each other longer than they work; LightGBM takes all by default.
WORTH_THREADS = 10**6
# Rows on which it is tried what an estimator can take, and how many of each class are among them.
TRIED_ROWS, TRIED_OF_CLASS = 200, 20

# Libraries whose models learn the same from an array of numbers as from a frame of them.
ARRAYS_SUFFICE = ("sklearn", "fewer", "lightgbm", "xgboost")


class Preparation:
    """Cells of subsets, and the models that take them.

    Where a frame with text or categories came in, estimators get a frame with its names and types, and missing cells as
    they are. One that cannot take them gets numbers: one-hot columns for levels, missing cells filled, both learnt
    inside the fold. Which of the two it is, is found out by a fit on all columns, to few rows where that succeeds, once
    for all parts of a table. A frame of numbers is an array, but for models that choose columns by name.
    """

    def __init__(self, estimator: Any, problem: Problem, rows: IntArray, prepare: bool, seed: int) -> None:
        self._estimator = estimator
        self._problem = problem
        self._rows = rows
        self._prepare = prepare
        self._seed = seed
        self._one_thread = False
        self._has_missing = problem.n_missing > 0
        self._takes_sparse = bool(get_tags(estimator).input_tags.sparse) and not self._has_missing.any()
        fits = problem.schema is not None and problem.schema.fits(problem)
        self._framed = fits and bool((problem.nominal & problem.schema.textual()).any() or _looks_at_names(estimator))
        # Codes stand for levels wherever no frame with text or categories can be given.
        self._coded: BoolArray = problem.nominal & ~problem.schema.textual() if self._framed else problem.nominal

    def on(self, problem: Problem) -> Preparation:
        """Return the same on another table of the same columns."""
        other = copy(self)
        other._problem = problem
        other.__dict__.pop("_table", None)
        return other

    def in_one_thread(self) -> Preparation:
        """Return the same for models that run beside others: one that takes all cores by default takes one."""
        other = copy(self)
        other._one_thread = True
        return other

    def decide(self) -> None:
        """Find out now what the estimator can take."""
        self.is_native  # noqa: B018 - computed once, here

    def cells(self, mask: Masks, rows: IntArray) -> Any:
        """Return the cells of some bound rows in the columns of a subset."""
        return self._some(self._table, mask, rows)

    def new_cells(self, mask: Masks, X: FloatArray) -> Any:
        """Return the cells of other rows in the columns of a subset."""
        table = self._problem.schema.frame(self._problem, X) if self._framed and self.is_native else X
        return self._some(table, mask, np.arange(len(X)))

    def model(self, columns: IntArray, new_missing: Any = False) -> Any:
        """Return an unfitted model for some columns, with what it needs before it."""
        if not len(columns):
            return DummyClassifier() if self._problem.task == "classification" else DummyRegressor()
        nominal = self._problem.nominal if not self.is_native else self._coded
        as_it_is = self.is_native and self._has_missing.any()
        has_missing = np.zeros_like(self._has_missing) if as_it_is else self._has_missing | new_missing
        model = self._prepared(columns, nominal, has_missing) if self._prepare else self.bare()
        return on_columns(model, columns, self._problem.names)

    def with_categories(self) -> tuple[Any, dict[int, IntArray]] | None:
        """Return the bare estimator with a mask of its columns of categories, and the ranks of their levels.

        None where it gets one-hot columns instead.
        """
        rows, model = self._problem, on_columns(self.bare(), np.arange(self._problem.n_features), self._problem.names)
        if not rows.nominal.any():
            return model, {}
        if not isinstance(model, HISTOGRAM_BOOSTINGS) or not self._framed or self._coded.any() or not self.is_native:
            return None
        head = nw.from_native(rows.schema.head, eager_only=True)
        if isinstance(model.categorical_features, str):
            mask = np.array([dtype in (nw.Categorical, nw.Enum) for dtype in head.schema.values()], dtype=bool)
            model.set_params(categorical_features=mask)
        codes = np.zeros((max(map(len, rows.levels.values())), rows.n_features))
        for column, levels in rows.levels.items():
            codes[: len(levels), column] = np.arange(len(levels))
        each = nw.from_native(rows.schema.frame(rows, codes), eager_only=True)
        values = {column: each[:, column].to_list()[: len(levels)] for column, levels in rows.levels.items()}
        return model, {column: np.argsort(np.argsort(np.array(cells))) for column, cells in values.items()}

    @cached_property
    def is_native(self) -> bool:
        """Whether the estimator takes the cells as they are."""
        if not self._prepare:
            return True
        if not self._framed and not self._has_missing.any():
            return False
        alone = _parts(self._estimator) == [self._estimator] and library_of(self._estimator) == "sklearn"
        if alone and not self._framed:
            return bool(get_tags(self._estimator).input_tags.allow_nan)
        known: dict[Any, bool] = self._problem.schema.answers if self._framed else {}
        # The columns that have missing cells in this part of the rows, and the model with all that it is made of.
        question = (self._has_missing.tobytes(), str(self._estimator.get_params()), str(type(self._estimator)))
        if question not in known:
            # What a few rows of every kind can be fitted to, all can be; a fit to few may fail for other reasons.
            few = self._problem.take(_rows_of_every_kind(self._problem, self._has_missing))
            few_are_taken = few.n_samples < self._problem.n_samples and self._takes(few)
            known[question] = few_are_taken or self._takes(self._problem)
        return known[question]

    def _takes(self, problem: Problem) -> bool:
        """Say whether the estimator can be fitted to the cells of some rows as they are."""
        model = self._prepared(np.arange(problem.n_features), self._coded, np.zeros_like(self._has_missing))
        # A copy: models may overwrite what they are fitted to, as `StandardScaler(copy=False)` does.
        table = problem.schema.frame(problem, problem.X) if self._framed else problem.X.copy()
        in_arrow = problem.nominal.any() and hasattr(table, "to_arrow")
        if in_arrow and "lightgbm" in map(library_of, _parts(self._estimator)):
            return False  # at an Arrow dictionary LightGBM ends the process
        with quietly():
            try:
                model.fit(table, problem.labels)
            except Exception:
                return False
        return True

    @cached_property
    def _table(self) -> Any:
        rows = self._problem
        if rows.sparse is not None:
            return csc_array(rows.sparse)
        return rows.schema.frame(rows, rows.X) if self._framed and self.is_native else rows.X

    def _some(self, table: Any, mask: Masks, rows: IntArray) -> Any:
        if not np.any(mask):
            return np.zeros((len(rows), 1))
        if issparse(table):
            part = table[:, np.flatnonzero(mask)].tocsr()[rows]
            return part if self._takes_sparse else part.toarray()
        if isinstance(table, np.ndarray):
            return table[np.ix_(rows, np.flatnonzero(mask))]
        return _safe_indexing(_safe_indexing(table, np.flatnonzero(mask), axis=1), rows)

    def bare(self) -> Any:
        """Return the unfitted estimator with a seed, and one thread where threads do not pay."""
        model = hushed(clone(self._estimator))
        last = last_of(model)[1]
        if "random_state" in last.get_params(deep=False) and last.get_params(deep=False)["random_state"] is None:
            last.set_params(random_state=self._seed)
        small = self._problem.n_samples * self._problem.n_features < WORTH_THREADS
        for name, n in model.get_params().items() if self._one_thread or small else ():
            if name.split("__")[-1] == "n_jobs" and self._is_one(n, model, name):
                model.set_params(**{name: 1})
        return model

    def _is_one(self, n_jobs: int | None, model: Any, name: str) -> bool:
        """Say whether a number of threads is to be one. Where nothing is said, scikit-learn's own models take one."""
        if n_jobs is not None:
            return self._one_thread and n_jobs < 0
        owner = model.get_params()[name.rpartition("__")[0]] if "__" in name else model
        return not type(owner).__module__.startswith("sklearn.")

    def _prepared(self, columns: IntArray, nominal: BoolArray, has_missing: BoolArray) -> Any:
        nominal, has_missing = nominal[columns], has_missing[columns]
        steps: list[tuple[str, Any, Any]] = []
        if (has_missing & ~nominal).any():
            steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True), has_missing & ~nominal))
        if nominal.any():
            # A missing level is a level of its own: that a cell is missing may say something of the target.
            steps.append(("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal))
        if not steps:
            return self.bare()
        return make_pipeline(ColumnTransformer(steps, remainder="passthrough"), self.bare())


LEAST_APART = 1e-7  # Values that are no farther apart in single precision are one to scikit-learn's trees.
ROOM = 1e6  # Steps of single precision in the range of a column from which on nothing is gained by another unit.


def single_steps(X: FloatArray) -> FloatArray:
    """Return how many values the range of each column has room for in the single precision of trees; 0 if constant."""
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.fmax(np.abs(low), np.abs(high))
        step = np.maximum(LEAST_APART, largest * np.finfo(np.float32).eps)
        room = np.where(largest > np.finfo(np.float32).max, np.minimum(1.0, high - low), (high - low) / step)
    return np.nan_to_num(room)


class SingleUnits(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Shift and scale the columns that single precision, in which trees work, would not distinguish.

    The middle of the range is subtracted where it is larger than the range, and a power of two brings the range
    near 1: both keep the order of the values, and nearly always the values to the bit. Other columns stay as they are.
    """

    def fit(self, X: Any, y: Any = None) -> SingleUnits:
        """Learn the units of the columns that need others."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        self.center_, self.power_ = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64)
        if issparse(X):
            return self
        room = single_steps(X)
        odd = np.flatnonzero((room > 0.0) & (room < ROOM))
        low, high = np.fmin.reduce(X[:, odd], axis=0), np.fmax.reduce(X[:, odd], axis=0)
        middle = low / 2.0 + high / 2.0
        half = high / 2.0 - low / 2.0
        self.center_[odd] = np.where(np.abs(middle) > 2.0 * half, middle, 0.0)
        self.power_[odd] = -np.frexp(np.fmax(half, np.abs(middle - self.center_[odd])))[1]
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns in these units."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        plain = issparse(X) or not (self.power_.any() or self.center_.any())
        return X if plain else np.ldexp(X - self.center_, self.power_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


ZERO = 1e-35  # Numbers up to this size are zero to LightGBM.
# What boosting libraries do to a column's numbers.
OWN_NUMBERS = {
    "xgboost": "works in single precision, in which",
    "catboost": "works in single precision, in which",
    "lightgbm": f"takes numbers up to {ZERO:g} for zero, so that",
}


def merged_columns(problem: Problem, library: str) -> list[int]:
    """Return the columns of numbers of which the trees of a library see fewer values than there are."""
    if problem.sparse is not None:
        return []
    least = LEAST_APART if library == "sklearn" else 0.0
    room = single_steps(problem.X)
    suspects = np.flatnonzero((room > 0.0) & (room < 10.0 * problem.n_samples) & ~problem.nominal)
    merged = []
    for column in suspects.tolist():
        values = np.unique(problem.X[:, column][~np.isnan(problem.X[:, column])])
        with np.errstate(over="ignore", invalid="ignore"):
            seen = np.where(np.abs(values) > ZERO, values, 0.0) if library == "lightgbm" else values.astype(np.float32)
            if not (np.diff(seen) > least).all():
                merged.append(column)
    return merged


def last_of(model: Any) -> tuple[str, Any]:
    """Return the estimator at the end of nested pipelines, and what stands before the names of its fit's arguments."""
    path = ""
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        path += f"{name}__"
    return path, model


HISTOGRAM_BOOSTINGS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)


def on_columns(model: Any, columns: IntArray, names: tuple[str, ...]) -> Any:
    """Return histogram boosting with a mask of the categories among some columns of a table; other models as they are.

    Its `categorical_features` may name the table's columns, give their places or a mask; what does not fit stays.

    Examples
    --------
    >>> model = HistGradientBoostingClassifier(categorical_features=[0, 3])
    >>> on_columns(model, np.array([2, 3]), ("a", "b", "c", "d")).categorical_features
    array([False,  True])
    """
    if not isinstance(model, HISTOGRAM_BOOSTINGS) or model.categorical_features is None:
        return model
    known = np.asarray(model.categorical_features)
    if known.dtype.kind == "b" and known.shape == (len(names),):
        return model.set_params(categorical_features=known[columns])
    everyone = np.array(names) if known.dtype.kind in "UO" else np.arange(len(names))
    if known.ndim != 1 or known.dtype.kind not in "UOi" or not np.isin(known, everyone).all():
        return model
    return model.set_params(categorical_features=np.isin(everyone, known)[columns])


def _looks_at_names(estimator: Any) -> bool:
    """Say whether a model may choose columns by their names or types."""
    return any(
        type(part).__name__ in ("ColumnTransformer", "FunctionTransformer") or library_of(part) not in ARRAYS_SUFFICE
        for part in _parts(estimator)
    )


def _parts(estimator: Any) -> list[Any]:
    """Return a model and the models that it is made of."""
    parts = [estimator, *estimator.get_params().values()]
    return [part for part in parts if hasattr(part, "get_params") and not isinstance(part, type)]


def library_of(model: Any) -> str:
    return type(model).__module__.partition(".")[0]


def _rows_of_every_kind(problem: Problem, has_missing: BoolArray) -> IntArray:
    """Return some rows: the first ones, some of each class, and one with a missing cell in each column that has any."""
    rows = [np.arange(min(problem.n_samples, TRIED_ROWS))]
    rows += [np.flatnonzero(problem.y == code)[:TRIED_OF_CLASS] for code in range(problem.n_classes)]
    rows.append(
        np.array([np.argmax(np.isnan(problem.column(int(f)))) for f in np.flatnonzero(has_missing)], dtype=np.int64)
    )
    return np.unique(np.concatenate(rows))
