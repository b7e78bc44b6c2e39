"""The one estimator base: reading X, y and what belongs to the rows, seeds, tags and metadata routing."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, ClassVar, cast

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from fewer.contracts import CheckedOnce
from fewer.errors import FewerWarning, one_line
from fewer.io import infer_task, is_frame, plain_frame, quantity_notes
from fewer.io._reader import ProblemReader, Table, refuse_other_order, target_values, unmasked
from fewer.io.frames import row_number
from fewer.problem import Column, FloatArray, InputError, IntArray, Problem, Task, column_numbers
from fewer.text import nearest

# What may be given for each row beside X and y, at `fit` and by scikit-learn's metadata routing.
ROW_METADATA = ("sample_weight", "groups", "time")


# What `n_jobs` may be; joblib starts as many processes as it is asked for, and counts them in 32 bits.
JOBS = [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, 10_000, closed="both"), None]
Jobs = Annotated[int | None, *JOBS]
# Types of parameters that estimators share.
Prices = Annotated[ArrayLike | dict[Column, float] | None, "array-like", dict, None]


class TableEstimator(CheckedOnce):
    """What every estimator of the package shares.

    `fit` reads a table through `_read`, which gives a `Problem` and tells what was noticed about it, as warnings and in
    `notes_`. Rows may come with `sample_weight`, `groups` and `time`; inside a pipeline they are asked for with
    `set_fit_request(groups=True)`.
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = dict.fromkeys(ROW_METADATA)
    _made_last: ClassVar[str] = "n_features_in_"
    """The attribute that a fit ends with; without it the estimator is not fitted, also where a fit was interrupted."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._made_last)

    def _tasks(self) -> tuple[Task, ...]:
        """Return what the estimator can work for, the usual first."""
        return ("classification", "regression")

    def _takes_several_targets(self) -> bool:
        return False

    def _read(self, X: Any, y: Any, *, sparse: bool = False, **rows: Any) -> Problem:
        """Read a table and its target into a problem, and warn of what was noticed."""
        self.__dict__.pop(self._made_last, None)
        if unknown := next((name for name in rows if name not in ROW_METADATA), None):
            hint = nearest(unknown, ROW_METADATA, "arguments")
            raise InputError(f"{type(self).__name__}.fit has no argument {unknown!r}; {hint}")
        rows = {name: rows.get(name) for name in ROW_METADATA}
        X = unmasked(X)
        if y is None:
            raise InputError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        refuse_other_order(X, y)
        with one_line():
            shape: Any = y.shape if hasattr(y, "shape") else np.shape(y) if isinstance(y, list | tuple) else ()
        several = len(shape) == 2 and shape[1] > 1
        if several and not self._takes_several_targets():
            raise InputError(
                f"The target has {shape[1]} columns, but {type(self).__name__} works with one here: give one, "
                "or choose the criterion CrossValidated or LeastSquares."
            )
        if issparse(X) and not sparse:
            raise InputError("X is a sparse matrix, which would become dense here anyway; give X.toarray().")
        with one_line():
            framed = is_frame(named := sklearn_table(X))
            if not several and (np.ma.is_masked(y) or np.asarray(y).dtype.kind == "O"):  # the reader names odd cells
                y = target_values(y, row_number)
            if framed:
                _check_feature_names(self, named, reset=True)
                _check_n_features(self, named, reset=True)
                y = y if several else column_or_1d(y, warn=True)
                check_consistent_length(named, y)
            else:
                X, y = self._checked_arrays(X, y, several, sparse)
            task = self._task_of(np.asarray(y))
            if rows["sample_weight"] is not None:
                rows["sample_weight"] = _check_sample_weight(unmasked(rows["sample_weight"]), X)
        unsure = task == "regression" and self.get_params(deep=False).get("task") is None and len(self._tasks()) == 2
        notes = quantity_notes(np.asarray(y), len(y)) if unsure else []
        problem = ProblemReader(task, rows=rows, notes=notes, multi_output=several).problem(X, y)
        self.notes_: list[str] = list(problem.notes)
        for note in problem.notes:
            warnings.warn(note, FewerWarning, stacklevel=3)
        return problem

    def _checked_arrays(self, X: Any, y: Any, several: bool, sparse: bool) -> tuple[Any, Any]:
        """Check arrays as scikit-learn does, once: those of numbers that need no conversion go on to the reader.

        Infinite cells of a dense table are refused by the reader, which names them.
        """
        if _are_plain(X, y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # as scikit-learn does after a table without names
            return X, y
        return validate_data(
            self, X, y, accept_sparse=["csr", "csc"] if sparse else False, dtype=np.float64,
            ensure_all_finite="allow-nan" if issparse(X) else False, ensure_min_samples=2, multi_output=several,
        )  # fmt: skip

    def _task_of(self, y: Any) -> Task:
        """Find out what the target is for: as the user says, else as it looks, else as the estimator works."""
        tasks, given = self._tasks(), self.get_params(deep=False).get("task")
        task: Task = given or infer_task(y)
        if task not in tasks:
            if given is not None:
                raise InputError(f"task={given!r}, but {type(self).__name__} works for {' and '.join(tasks)} here.")
            task = tasks[0]
        if task == "classification" and (y.dtype.kind not in "iub" or y.ndim > 1):  # whole numbers are classes
            check_classification_targets(y)
        return task

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


def hushed(model: Any) -> Any:
    """Let LightGBM print nothing, wherever in a model it stands, where the user did not say what it prints.

    Parameters
    ----------
    model : estimator
        Not fitted, and nobody else's: it is changed.

    Returns
    -------
    estimator
        The same one, whose predictions are what they were.
    """
    for part in (model, *model.get_params().values()):
        if type(part).__module__.startswith("lightgbm.") and not {"verbose", "verbosity"} & part.get_params().keys():
            part.set_params(verbosity=-1)
    return model


def sklearn_table(X: Any) -> Any:
    """Return a frame with names that scikit-learn takes: it ignores other labels than text, but refuses a mixture.

    It refuses repeated labels, too. A structured array and a batch of Arrow become frames; the hidden
    cells of a masked array are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> sklearn_table(pd.DataFrame([[1.0, 2.0]], columns=["a", 1])).columns.tolist()
    ['a', '1']
    """
    X = unmasked(X)
    if type(X).__name__ == "RecordBatch" or (isinstance(X, np.ndarray) and X.dtype.names is not None):
        return plain_frame(X)[0]
    labels = list(getattr(X, "column_names", X.columns if hasattr(X, "iloc") and hasattr(X, "columns") else ()))
    mixed = len({isinstance(label, str) for label in labels}) > 1
    return plain_frame(X)[0] if mixed or len(set(labels)) < len(labels) else X


def _are_plain(X: Any, y: Any) -> bool:
    """Say whether these are arrays as a problem holds them: a table of numbers with a finite target for each row."""
    return (
        type(X) is np.ndarray
        and type(y) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) >= 2
        and X.shape[1] >= 1
        and y.shape == (len(X),)
        and (y.dtype.kind in "iub" or (y.dtype.kind == "f" and bool(np.isfinite(y).all())))
    )


class ClassScoresMixin:
    """A classifier that scores each class: one number for two classes, above 0 for the second, else one a class."""

    classes_: NDArray[Any]

    def _learn_classes(self, y: NDArray[Any]) -> IntArray:
        """Keep the classes, and return the number of each row's; refuse a target of one class."""
        with one_line():
            check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"The target has only one class, {self.classes_.tolist()[0]!r}; at least two are needed.")
        return codes

    def _class_scores(self, X: Any) -> NDArray[Any]:
        """Return what `predict` compares: `decision_function`, if there is no other."""
        return np.asarray(cast(Any, self).decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that scores highest; the first among equals.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows like those of `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        scores = self._class_scores(X)
        return self.classes_[(scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)]


class TableClassifier(ClassifierMixin, TableEstimator):
    """A classifier that reads tables: what its columns are is learnt at `fit`, in `reader_`."""

    reader_: TableReader

    def _tasks(self) -> tuple[Task, ...]:
        return ("classification",)

    def _learn_table(self, X: Any, y: Any, **rows: Any) -> Problem:
        problem = self._read(X, y, **rows)
        self.reader_ = TableReader.of(problem)
        return problem


def parse_costs(costs: Any, names: Sequence[str]) -> FloatArray:
    """Read what each feature costs: one number each, or a dict in which features that are not named cost nothing.

    Parameters
    ----------
    costs : array of shape (n_features,), dict or None
        In the order of the columns, or by name; None is free.
    names : sequence of str
        Of the columns.

    Returns
    -------
    float array of shape (n_features,)

    Examples
    --------
    >>> parse_costs({"b": 2.0}, ["a", "b"]).tolist()
    [0.0, 2.0]
    """
    if costs is None:
        return np.zeros(len(names))
    if isinstance(costs, dict):
        result = np.zeros(len(names))
        result[column_numbers(list(costs), names, "feature_costs")] = list(costs.values())
    else:
        with one_line():
            result = np.asarray(costs, dtype=np.float64)
        if result.shape != (len(names),):
            raise InputError(f"feature_costs has shape {result.shape}, but there are {len(names)} features.")
    if not np.all(np.isfinite(result)) or (result < 0).any():
        raise InputError("feature_costs must be finite numbers of at least 0.")
    return result


@dataclass(frozen=True, eq=False)
class TableReader:
    """Reads tables of the columns that it has learnt: arrays with numbers, or data frames.

    Attributes
    ----------
    names, kinds : tuples of str
    codes : dict
        For each nominal column, the code of each level. A level that was not there counts as missing.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    codes: dict[int, dict[str, int]]

    @classmethod
    def of(cls, problem: Problem | Table) -> TableReader:
        """Return a reader that has learnt the columns of a problem or a table."""
        nominal = problem.levels.items()
        codes = {column: {str(label): code for code, label in enumerate(levels)} for column, levels in nominal}
        return cls(problem.names, problem.kinds, codes)

    def read(self, estimator: Any, X: Any) -> FloatArray:
        """Return the numbers of new rows.

        Parameters
        ----------
        estimator : estimator
            Whose `n_features_in_` and `feature_names_in_` must fit.
        X : array or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        X = sklearn_table(X)
        if not is_frame(X):
            return np.asarray(validate_data(estimator, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False))
        _check_feature_names(estimator, X, reset=False)
        _check_n_features(estimator, X, reset=False)
        return _without_infinity(self.coded(X, range(len(self.names))), self.names)

    def read_needed(self, estimator: Any, X: Any, needed: Sequence[int], *, alone: bool = False) -> FloatArray:
        """Return the numbers of new rows in the columns that are needed; the others are NaN and not looked at.

        Parameters
        ----------
        estimator : estimator
            Whose `n_features_in_` and `feature_names_in_` must fit.
        X : array or data frame
            A frame may leave out columns that are not needed; an array has all columns.
        needed : sequence of int
            Numbers of the columns, in order.
        alone : bool, default=False
            Take an array with the needed columns alone, too, and the columns of a frame in any order.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        needed = list(needed)
        X = sklearn_table(X)
        if is_frame(X) and hasattr(estimator, "feature_names_in_"):
            columns = nw.from_native(plain_frame(X)[0], eager_only=True).columns
            absent = [self.names[j] for j in needed if self.names[j] not in columns]
            if absent and alone:
                raise InputError(f"The table lacks the required column {', '.join(map(repr, absent))}.")
            if not alone and (absent or len(columns) >= len(self.names)):
                _check_feature_names(estimator, X, reset=False)
            cells = self.coded(X, needed)
        else:
            table = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X", estimator=estimator)
            if not (alone and table.shape[1] == len(needed)):
                _check_n_features(estimator, table, reset=False)
                table = table[:, needed]
            cells = table
        out = np.full((len(cells), len(self.names)), np.nan)
        out[:, needed] = _without_infinity(cells, [self.names[j] for j in needed])
        return out

    def coded(self, X: Any, columns: Sequence[int]) -> FloatArray:
        """Read some columns of a frame, levels as the codes that were learnt; in the order asked for.

        Parameters
        ----------
        X : data frame
            With these columns, beside any others.
        columns : sequence of int
            Their numbers.

        Returns
        -------
        array of shape (n_samples, len(columns))
        """
        names = [self.names[j] for j in columns]
        X, _ = plain_frame(X)
        frame = nw.from_native(X, eager_only=True)
        if not names:
            return np.empty((len(frame), 0))
        if frame.columns != names:
            X = frame.select(names).to_native()
        kinds = {self.names[j]: self.kinds[j] for j in columns}
        nominal, numeric = ([name for name in names if kinds[name] == kind] for kind in ("nominal", "numeric"))
        table = ProblemReader(nominal=nominal, numeric=numeric).table(X)
        out = table.X.copy()
        for place, column in enumerate(columns):
            if column in self.codes:
                levels = table.levels[place]
                known = [self.codes[column].get(str(label), np.nan) for label in levels]
                code_of = np.array([*known, np.nan], dtype=np.float64)
                cells = out[:, place]
                out[:, place] = code_of[np.where(np.isnan(cells), len(levels), cells).astype(np.int64)]
        return out


def _without_infinity(cells: FloatArray, names: Sequence[str]) -> FloatArray:
    """Return cells to be predicted; refuse an infinite one, as `fit` does."""
    if np.isinf(cells).any():
        row, place = np.argwhere(np.isinf(cells))[0]
        raise InputError(
            f"Input X contains infinity: row {row}, column {names[place]!r}; give a number, or NaN where it is missing."
        )
    return cells
