"""From arrays and frames to a problem."""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from fewer.io._cells import find_number_format
from fewer.io._kinds import (
    Reading,
    ReadOptions,
    left_out_notes,
    missing_notes,
    subject_of,
    typed_columns,
    why_no_feature,
)
from fewer.io._suspicions import suspicions
from fewer.io._text import is_number
from fewer.io.frames import FrameSchema, Place, forced_kinds, is_frame, label_of, pl, plain_frame, row_number
from fewer.io.memory import available_memory, refuse_too_large
from fewer.io.sparse import SparseProblem, column_ranges, compressed, surely_varies
from fewer.problem import (
    BoolArray,
    FloatArray,
    InputError,
    IntArray,
    Kind,
    Problem,
    Task,
    checked_weights,
    distinct,
    plain_names,
    relative_weights,
    row_codes,
)
from fewer.text import nearest

MAX_INTEGER_CLASSES = 20
# Different whole numbers up to which nobody is told that they were read as classes.
SURELY_CLASSES = 10
# Rows of a class, on average, from which on more whole numbers than that may be classes.
ROWS_OF_A_CLASS = 5
# A sparse table that is smaller than this as an array becomes one.
DENSE_BYTES = 1 << 25
# Squares of larger numbers, summed, are no numbers any more.
LARGEST_NUMBER = 1e100
# Larger whole numbers may lose their last digit.
INEXACT = 2.0**53
# Squares of smaller differences are zero.
SMALLEST_SPREAD = 1e-100
# Columns of a frame that become an array at a time.
BLOCK_COLUMNS = 64
EPOCH = datetime(1970, 1, 1)
# What columns of each kind hold, in words.
TYPES = {"numeric": "numbers", "boolean": "true or false", "nominal": "text"}

NUMBER_TYPES = (Real, Decimal, np.bool_)
# Types that NumPy turns into doubles without loss.
SMALL_NUMBERS = (nw.Float32, nw.Int8, nw.Int16, nw.Int32, nw.UInt8, nw.UInt16, nw.UInt32)

Encoded = tuple[FloatArray, Kind, tuple[str, ...]]


def infer_task(y: NDArray[Any]) -> Task:
    """Choose classification or regression by the target.

    Strings, booleans and up to 20 distinct whole numbers are classes; everything else is a quantity.

    Parameters
    ----------
    y : array of shape (n_samples,)
        The target.

    Returns
    -------
    {"classification", "regression"}
        What it is.

    Examples
    --------
    >>> infer_task(np.array([1, 2, 1])), infer_task(np.array([0.5, 1.2, 3.0]))
    ('classification', 'regression')
    """
    if y.dtype.kind not in "iuf":
        return "classification"
    values = distinct(y)
    are_whole = bool(np.all(values == np.round(values)))
    return "classification" if are_whole and len(values) <= MAX_INTEGER_CLASSES else "regression"


def quantity_notes(y: NDArray[Any], n_rows: int) -> list[str]:
    """Return a note on whole numbers that are read as a quantity and may be codes of classes, or the reverse.

    Parameters
    ----------
    y : array
        The values of a target of which nobody said what it is.
    n_rows : int
        How many rows have them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> quantity_notes(np.arange(26), 130)[0][:65]
    'The target has 26 different whole numbers, read as a quantity. If'
    >>> quantity_notes(np.arange(26), 26), quantity_notes(np.array([1, 2]), 26)
    ([], [])
    """
    values = distinct(y) if y.dtype.kind in "iuf" and y.ndim == 1 else y[:0]
    if len(values) <= SURELY_CLASSES or np.any(values != np.round(values)):
        return []
    task, read, others = "classification", "a quantity", "they are classes"
    if infer_task(y) == task:
        task, read, others = "regression", "classes", "it is a quantity"
    elif len(values) * ROWS_OF_A_CLASS > n_rows:
        return []
    return [
        f"The target has {len(values)} different whole numbers, read as {read}. If {others}, say so: "
        f'task="{task}" (--task {task}).'
    ]


def to_problem(
    X: Any,
    y: Any,
    *,
    task: Task | None = None,
    nominal: Iterable[str | int] = (),
    numeric: Iterable[str | int] = (),
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    multi_output: bool = False,
) -> Problem:
    """Make a problem of a table and its target.

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    X : array, sparse matrix, list of rows or data frame of shape (n_samples, n_features)
        The table.
    y : sequence of length n_samples
        The target.
    task : {"classification", "regression"}, optional
        Found out from the target unless given.
    nominal, numeric : columns by name or number
        Columns whose kind is not what their cells look like: codes that are compared only as equal or not, and
        numbers kept as text or categories.
    sample_weight, groups, time : arrays of shape (n_samples,), optional
        How much each row counts; rows that are never on both sides of a split; when each row was.
    multi_output : bool, default=False
        Take a target of several columns, numbers all of them.

    Returns
    -------
    Problem
        What was noticed on the way stands in its `notes`.

    Examples
    --------
    >>> problem = to_problem([[1.5, "red"], [2.5, "blue"], [None, "red"]], ["no", "yes", "no"])
    >>> problem.kinds, problem.levels, problem.X.tolist()
    (('numeric', 'nominal'), {1: ('blue', 'red')}, [[1.5, 1.0], [2.5, 0.0], [nan, 1.0]])
    """
    rows = {"sample_weight": sample_weight, "groups": groups, "time": time}
    return ProblemReader(task, tuple(nominal), tuple(numeric), rows, multi_output=multi_output).problem(X, y)


@dataclass(frozen=True, eq=False)
class ProblemReader:
    """How a table and its target are to be read.

    Parameters
    ----------
    task : {"classification", "regression"}, optional
        Found from the target if left out.
    nominal, numeric : columns by name or number
        Whose kind is given.
    rows : dict
        What else is known of the rows: `sample_weight`, `groups`, `time`.
    place : callable
        Says where a row is, for messages.
    notes : sequence of str
        What was noticed about the table so far.
    multi_output : bool, default=False
        Take a target of several columns.

    Examples
    --------
    >>> ProblemReader(nominal=[0]).problem([[1.0, 2.5], [2.0, 1.5]], [0, 1]).kinds
    ('nominal', 'numeric')
    """

    task: Task | None = None
    nominal: Sequence[str | int] = ()
    numeric: Sequence[str | int] = ()
    rows: Mapping[str, Any] = field(default_factory=dict)
    place: Place = row_number
    notes: Sequence[str] = ()
    multi_output: bool = False

    def problem(self, X: Any, y: Any) -> Problem:
        """Make a problem of a table and its target; rows of weight 0 have no part in it."""
        refuse_other_order(X, y)
        if self.rows.get("sample_weight") is not None:
            return self._weighted_problem(X, y)
        if hasattr(X, "tocsc") and 8 * X.shape[0] * X.shape[1] > DENSE_BYTES and not self.nominal:
            return self._sparse_problem(X, y)
        X, renamed = plain_frame(X)
        table = self.table(X)
        schema = FrameSchema(nw.from_native(X, eager_only=True).head(0).to_native()) if is_frame(X) else None
        n_rows, n_columns = table.X.shape
        if not n_columns:
            raise InputError("The table has only the target column; there is nothing to select.")
        if not n_rows:
            raise InputError("The table has no rows; give a table with rows.")
        y = y.toarray() if sparse.issparse(y) else y
        several = self.multi_output and _n_columns(y) > 1
        values = several_targets(y, self.place) if several else target_values(y, self.place)
        target, task, unsure = self._decided(values, n_rows)
        problem = Problem.from_arrays(table.X, target, task=task, names=table.names, kinds=table.kinds, **self.rows)
        problem.levels.update(table.levels)
        refuse_useless_target(problem)
        problem.check_groups()
        if len({str(label).casefold() for label in problem.classes}) < problem.n_classes:
            alike = spelled_alike(problem.classes)
            unsure += [f"Classes {alike} differ only in capital letters; write them alike if they are the same."]
        low, high = problem.extremes
        _refuse_extremes(table, low, high, self.place)
        refuse_constant(~(low < high))
        notes = [*self.notes, *renamed, *unsure, *table.notes]
        if is_frame(X) and (high >= INEXACT).any():
            notes += _rounded_notes(X, table, high)
        if problem.has_missing:
            notes += missing_notes(dict(zip(table.names, problem.missing.mean(axis=0).tolist(), strict=True)))
        time = self.rows.get("time")
        notes += [] if time is None else _sorted_as_text(time)
        suspected = suspicions(problem, table.dated, None if time is None else _days_of(time))
        notes += [one.evidence for one in suspected]
        return problem.told(notes, schema, suspected)

    def _weighted_problem(self, X: Any, y: Any) -> Problem:
        """Make a problem of the rows that have a weight above 0; weights are relative to their mean."""
        X, renamed = plain_frame(X)
        if not (hasattr(X, "shape") or hasattr(X, "__len__")):
            raise InputError(f"X is of type {type(X).__name__}, no table; give an array or a data frame.")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        weights = checked_weights(self.rows["sample_weight"], n_rows)
        for name in ("groups", "time"):
            if self.rows.get(name) is not None:  # before rows of weight 0 leave
                row_codes(self.rows[name], n_rows, name)
        if not hasattr(y, "__len__"):
            y = list(y) if isinstance(y, Iterable) else target_values(y, self.place)  # which refuses it
        kept = np.flatnonzero(weights)
        notes, dropped = [*self.notes, *renamed], n_rows - len(kept)
        if dropped:
            if len(y) != n_rows:
                raise InputError(f"The target has {len(y)} rows, but the table has {n_rows}; give one for each row.")
            X, all_targets = _safe_indexing(X, kept), np.asarray(y, dtype=object)
            y = _safe_indexing(y, kept)
            notes.append(f"{dropped} of {n_rows} rows have weight 0; they were left out before anything else.")
            notes += _lost_classes(all_targets, kept)
        rows = {name: None if given is None else np.asarray(given)[kept] for name, given in self.rows.items()}
        place = self.place if not dropped else lambda row: self.place(int(kept[row]))
        reader = replace(self, rows={**rows, "sample_weight": None}, notes=notes, place=place)
        try:
            problem = reader.problem(X, y)
        except InputError as error:
            raise InputError(f"{error} Rows whose sample_weight is 0 were left out.") if dropped else error from None
        numbers = kept if dropped else None
        return replace(problem, sample_weight=relative_weights(weights[kept]), row_numbers=numbers)

    def _sparse_problem(self, X: Any, y: Any) -> Problem:
        """Make a problem of a sparse table, and leave it sparse."""
        table = compressed(X)
        n_rows, n_columns = table.shape
        target, task, unsure = self._decided(target_values(y, self.place), n_rows)
        problem = Problem.from_arrays(np.zeros((n_rows, 1)), target, task=task, **self.rows)
        refuse_useless_target(problem)
        problem.check_groups()
        if np.isinf(table.data).any():
            by_column = sparse.csc_array(table)
            column = int(np.searchsorted(by_column.indptr, np.argmax(np.isinf(by_column.data)), side="right")) - 1
            raise InputError(f"Column 'x{column}' holds an infinite number; correct or empty the cell.")
        if not surely_varies(table):
            low, high = column_ranges(table)
            refuse_constant(~(low < high))
        names, kinds = plain_names(n_columns), ("numeric",) * n_columns
        return SparseProblem.of(replace(problem, names=names, kinds=kinds, notes=(*self.notes, *unsure)), table)

    def _decided(self, target: NDArray[Any], n_rows: int) -> tuple[NDArray[Any], Task, list[str]]:
        """Decide on the task, or note that it is unsure; classes that are whole numbers become them, however stored."""
        if len(target) != n_rows:
            raise InputError(f"The target has {len(target)} rows, but the table has {n_rows}; give one for each row.")
        task = self.task
        if not (task is None or (isinstance(task, str) and task in get_args(Task))):
            raise InputError(f"task={task!r} is none of {', '.join(get_args(Task))}.")
        task = infer_task(target) if task is None else task
        if task == "regression" and target.dtype.kind in "US":
            raise InputError(
                f"The target holds text ({self.place(0)}: {str(target[0])!r}), not numbers; choose task classification."
            )
        if task == "classification" and target.dtype.kind == "f":
            is_whole = (target == np.round(target)).all() and (np.abs(target) < 2.0**53).all()
            target = target.astype(np.int64) if is_whole else target
        return target, task, quantity_notes(target, n_rows) if self.task is None else []

    def table(self, X: Any) -> Table:
        """Return the cells of a table, its names distinct, as numbers, with the kinds of its columns."""
        if is_frame(X):
            frame = nw.from_native(X, eager_only=True)
            return self._encoded(frame.iter_columns(), len(frame), tuple(frame.columns), frame)
        array = _as_array(X)
        names = plain_names(array.shape[1])
        if array.dtype.kind in "biuf" and not self.nominal:
            kind: Kind = "boolean" if array.dtype.kind == "b" else "numeric"
            return Table(np.asarray(array, dtype=np.float64), names, (kind,) * len(names), {}, [])
        if array.dtype.kind in "US":
            texts = pl.DataFrame(array.astype(str), schema=list(names))
            forced = forced_kinds(self.nominal, self.numeric, names)
            chosen = {kind: frozenset(names[i] for i in forced if forced[i] == kind) for kind in ("nominal", "numeric")}
            read = typed_columns(texts, self.place, ReadOptions(nominal=chosen["nominal"], numeric=chosen["numeric"]))
            read.raise_problems()
            table = self.table(read.frame)
            return replace(table, notes=[*read.notes, *table.notes])
        return self._encoded((array[:, i].tolist() for i in range(len(names))), len(array), names)

    def _encoded(
        self, columns: Iterable[Any], n_rows: int, names: tuple[str, ...], frame: nw.DataFrame[Any] | None = None
    ) -> Table:
        forced = forced_kinds(self.nominal, self.numeric, names)
        table = np.empty((n_rows, len(names)))
        kinds: list[Kind] = []
        levels: dict[int, tuple[str, ...]] = {}
        dated: list[str] = []
        numbers: list[str] = []
        done = set() if frame is None else _fill_numbers(frame, table, forced)
        for i, column in enumerate(columns):
            if i in done:
                kinds.append("numeric")
                continue
            table[:, i], kind, labels = encode(column, names[i], forced.get(i), self.place, dated)
            kinds.append(kind)
            if kind == "nominal":
                levels[i] = labels
                chosen = i in forced or (isinstance(column, nw.Series) and column.dtype in (nw.Categorical, nw.Enum))
                numbers += [names[i]] if not chosen and _are_numbers(labels) else []
        notes = []
        if numbers:
            notes = [f"{subject_of(numbers)} text that holds numbers, used as levels; convert quantities to numbers."]
        if dated:
            notes.append(f"{subject_of(dated, 'holds', 'hold')} dates, used as days since 1970-01-01.")
        return Table(table, names, tuple(kinds), levels, notes, dated)


def spelled_alike(labels: Iterable[Any]) -> str:
    """Name the labels that differ from another only in capital letters.

    Parameters
    ----------
    labels : iterable
        As they stand in the target.

    Returns
    -------
    str
        The labels, quoted and separated by commas; empty if none differ so.

    Examples
    --------
    >>> spelled_alike(["Yes", "no", "yes"])
    "'Yes', 'yes'"
    """
    labels = list(map(str, labels))
    counts = Counter(label.casefold() for label in labels)
    return ", ".join(repr(label) for label in labels if counts[label.casefold()] > 1)


def _rounded_notes(X: Any, table: Table, high: FloatArray) -> list[str]:
    """Name the columns of a frame whose whole numbers are so long that different ones became equal."""
    frame = nw.from_native(X, eager_only=True)
    columns = [(i, frame[table.names[i]]) for i in np.flatnonzero(high >= INEXACT)]
    names = [column.name for i, column in columns
             if column.dtype.is_integer() and column.n_unique() > len(np.unique(table.X[:, i]))]  # fmt: skip
    holds = subject_of(names, "holds", "hold") if names else ""
    return [f"{holds} whole numbers of more than 15 digits, some of which became equal; make codes text."] * bool(names)


def _are_numbers(labels: Sequence[str]) -> bool:
    """Say whether levels look like those of a quantity: many, nearly all of them numbers, none with leading zeros."""
    if len(labels) <= MAX_INTEGER_CLASSES or any(re.match(r"\s*[-+]?0\d", label) for label in labels):
        return False
    numbers = [re.fullmatch(r"\s*[-+]?(\d+|(?=\.))(\.\d+)?([eE][-+]?\d+)?\s*", label) for label in labels]
    return sum(map(bool, numbers)) >= 0.9 * len(labels)


def _lost_classes(labels: NDArray[Any], kept: IntArray) -> list[str]:
    """Name the classes that only rows of weight 0 have; a target of many numbers is a quantity."""
    if labels.ndim > 1:
        return []
    left = {str(label) for label in labels[kept].tolist()}
    lost = {str(label) for label in labels.tolist()} - left
    if not lost or len(left) + len(lost) > MAX_INTEGER_CLASSES:
        return []
    return [f"Class {name!r} has only rows of weight 0 and is left out." for name in sorted(lost)]


def refuse_constant(constant: BoolArray) -> None:
    """Refuse a table in which nothing varies.

    Parameters
    ----------
    constant : array of shape (n_features,)
        Columns with at most one distinct value.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_constant(np.array([True, False]))  # the second one varies
    """
    if constant.all():
        raise InputError("Every column is constant or empty; at least one must vary.")


def refuse_useless_target(problem: Problem) -> None:
    """Refuse a target with one class or one value, or a class for each row: nothing can be learnt from it.

    Parameters
    ----------
    problem : Problem
        The rows.

    Raises
    ------
    InputError
        If nothing can be learnt.

    Examples
    --------
    >>> refuse_useless_target(Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]))
    """
    if problem.task == "regression":
        if problem.n_samples and (problem.y == problem.y[0]).all():
            value = np.ravel(problem.y)[0]
            raise InputError(f"The target has only one value, {value:g}; choose another target.")
    elif problem.n_outputs > 1:
        return
    elif problem.n_classes < 2:
        raise InputError(f"The target has only one class, {problem.classes[0]!r}; at least two are needed.")
    elif (n_bytes := 8 * problem.n_classes * problem.n_samples) > DENSE_BYTES and n_bytes > available_memory():
        raise InputError(
            f"The target has {problem.n_classes:,} classes in {problem.n_samples:,} rows, more than memory can hold as "
            "one column a class; merge rare classes, or choose task regression if it is a quantity."
        )
    elif problem.n_classes == problem.n_samples > 2:
        raise InputError(
            f"The target has {problem.n_classes} classes in {problem.n_samples} rows, one per row; choose another "
            "target, or task regression if it is numeric."
        )


# ----------------------------------------------------------------------------------------------------- table


@dataclass(frozen=True, eq=False)
class Table:
    """The cells of a table as numbers: codes of levels, days, truth values; NaN where missing.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The cells; levels as their numbers.
    names : tuple of str
        Of the columns.
    kinds : tuple of {"numeric", "nominal", "boolean"}
        Of the columns.
    levels : dict of int to tuple of str
        What the codes of nominal columns stand for.
    notes : list of str
        What was noticed on the way.
    dated : list of str
        Columns of dates, which count as days.

    Examples
    --------
    >>> ProblemReader().table([["red"], ["blue"]]).levels
    {0: ('blue', 'red')}
    """

    X: FloatArray
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: dict[int, tuple[str, ...]]
    notes: list[str]
    dated: list[str] = field(default_factory=list)


def _fill_numbers(frame: nw.DataFrame[Any], table: FloatArray, forced: Mapping[int, Kind]) -> set[int]:
    """Write runs of plain numbers into a table, many columns at a time, and return their places: one by one is slow."""
    dtypes = enumerate(frame.schema.values())
    plain = np.array([i for i, dtype in dtypes if (dtype.is_float() or dtype.is_integer()) and i not in forced])
    if not frame.implementation.is_polars() or len(plain) < BLOCK_COLUMNS:
        return set()
    native = frame.to_native()
    for run in np.split(plain, np.flatnonzero(np.diff(plain) > 1) + 1):
        for low in range(int(run[0]), int(run[-1]) + 1, BLOCK_COLUMNS):
            high = min(low + BLOCK_COLUMNS, int(run[-1]) + 1)
            table[:, low:high] = native[:, low:high].to_numpy()
    return set(plain.tolist())


def _as_array(X: Any) -> NDArray[Any]:
    if hasattr(X, "toarray"):
        refuse_too_large("The sparse table", 8 * X.shape[0] * X.shape[1], available_memory())
        return np.asarray(X.astype(np.float64).toarray())
    X = unmasked(X)
    array = np.asarray(X) if isinstance(X, np.ndarray) else _array_of_lists(X)
    if array.ndim == 0:
        raise InputError(f"X is of type {type(X).__name__}; give an array, a list of rows or a data frame.")
    if array.ndim != 2:
        raise InputError(f"X has {array.ndim} dimension{'s' * (array.ndim != 1)}; it must be two-dimensional.")
    if array.dtype.kind not in "biufOUS":
        raise InputError(f"X has dtype {array.dtype.name}; numbers, booleans or text are needed.")
    return array


def unmasked(values: Any) -> Any:
    """Return a masked array as a plain one, its hidden cells missing; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    if values.dtype.kind in "biuf":
        return np.ma.filled(values.astype(np.float64), np.nan)
    return np.ma.filled(values.astype(object), None)


def _array_of_lists(X: Any) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError:
        rows = [len(row) if hasattr(row, "__len__") else 1 for row in X]
        odd = next((i for i, length in enumerate(rows) if length != rows[0]), 0)
        raise InputError(f"Row {odd} of X has {rows[odd]} cells, but row 0 has {rows[0]}; give equal rows.") from None
    # NumPy makes text of numbers that stand beside text: keep the cells as they are.
    return np.asarray(X, dtype=object) if array.dtype.kind in "OUS" else array


# --------------------------------------------------------------------------------------------------- columns


def encode(column: Any, name: str, forced: Kind | None, place: Place, dated: list[str]) -> Encoded:
    """Turn a column (a series or a list of cells) into numbers, its kind, and its levels if it is nominal."""
    if not isinstance(column, nw.Series):
        return _encode_cells(column, name, forced, place, dated)
    dtype = column.dtype
    if dtype.is_nested() or dtype in (nw.Binary, nw.Time):
        raise unusable_column(name, str(dtype))
    if dtype == nw.Date or dtype == nw.Datetime:
        return _dated(_to_floats(column.dt.timestamp("us")) / 86_400e6, name, forced, dated)
    if dtype == nw.Duration:
        return _plain(_to_floats(column.dt.total_microseconds()) / 86_400e6, forced)
    if dtype.is_numeric():
        return _plain(_to_floats(column), forced)
    if dtype == nw.Boolean and forced is None:
        return _to_floats(column), "boolean", ()
    if (dtype == nw.Categorical or dtype == nw.Enum) and forced is None:
        forced = "nominal"
    return _encode_cells(column.to_list(), name, forced, place, dated)


def _encode_cells(column: list[Any], name: str, forced: Kind | None, place: Place, dated: list[str]) -> Encoded:
    present = [not _is_missing(cell) for cell in column]
    cells = [cell for cell, is_present in zip(column, present, strict=True) if is_present]
    types = {type(cell) for cell in cells}
    if forced == "numeric":
        return _forced_numbers(column, present, name, place), "numeric", ()
    if cells and all(issubclass(kind, date) for kind in types):
        return _dated(_scatter([_days(cell) for cell in cells], present), name, forced, dated)
    if cells and all(issubclass(kind, timedelta) for kind in types):
        return _plain(_scatter([cell / timedelta(days=1) for cell in cells], present), forced)
    if odd := next((kind for kind in types if not issubclass(kind, (str, date, *NUMBER_TYPES))), None):
        raise unusable_column(name, odd.__name__)
    if forced is None and types and types <= {bool, np.bool_}:
        return _scatter(cells, present), "boolean", ()
    if forced is None and not any(issubclass(kind, str | date) for kind in types):
        return _scatter(cells, present), "numeric", ()
    return _levels_of(cells, present)


@dataclass(frozen=True)
class Contract:
    """What a selection expects of the columns of new tables.

    Parameters
    ----------
    features : tuple of str
        The columns that are needed.
    columns : tuple of mappings
        What `describe_columns` said of them. A feature without an entry may hold anything.
    names : tuple of str or None
        All columns that there were, where they are known.

    Examples
    --------
    >>> import polars as pl
    >>> contract = Contract(("color",), ({"name": "color", "kind": "nominal", "levels": ["blue", "red"]},))
    >>> contract.check(pl.DataFrame({"color": ["red", "green"]}))
    ["Column 'color' has values that were not there when the features were chosen: 'green' (1 row)."]
    """

    features: tuple[str, ...]
    columns: tuple[Mapping[str, Any], ...] = ()
    names: tuple[str, ...] | None = None

    def check(self, X: Any, place: Place = row_number, others: Iterable[str] = ()) -> list[str]:
        """Compare a new table with what was there when the features were chosen.

        Parameters
        ----------
        X : data frame
            The new table.
        place : callable
            Says where a row is, for messages.
        others : iterable of str
            Further columns that the table has.

        Returns
        -------
        list of str
            What a reader should know: new levels, and columns that are ignored.

        Raises
        ------
        InputError
            If a column is absent, or holds another type; names the column.
        """
        frame = nw.from_native(X, eager_only=True)
        refuse_absent(self.features, frame.columns)
        known = {column["name"]: column for column in self.columns}
        notes = [_compared(frame[name], name, known[name], place) for name in self.features if name in known]
        names = [*frame.columns, *others]
        if other := [repr(name) for name in names if name not in (self.names or names)]:
            notes.append(f"Ignored, not features of this selection: {', '.join(other[:5])}{', …' * (len(other) > 5)}.")
        return [note for note in notes if note]


def refuse_absent(chosen: Iterable[str], columns: Sequence[str], table: str = "The table") -> None:
    """Refuse a table that lacks some of the chosen columns."""
    if absent := [name for name in chosen if name not in columns]:
        more = f" and {len(absent) - 1} more of the chosen columns" if len(absent) > 1 else ""
        raise InputError(f"{table} has no column {absent[0]!r}{more}; {nearest(absent[0], columns)}")


def _compared(column: nw.Series[Any], name: str, was: Mapping[str, Any], place: Place) -> str:
    """Refuse a column of another type than it had; return a note on levels that are new."""
    dated: list[str] = []
    cells, kind, labels = encode(column, name, None, place, dated)
    present = ~np.isnan(cells)
    held = "dates" if was.get("date") else TYPES[was["kind"]]
    holds = "dates" if dated else TYPES[kind]
    if was["kind"] == "nominal":
        if kind == "boolean":
            labels = ("false", "true")
        elif not labels and not dated:  # codes may come as numbers
            cells, _, labels = _levels_of(cells[present].tolist(), present)
        new = [label for label in labels if label not in was.get("levels", labels)]
        if new and new == list(labels) and all(map(is_number, labels)) > any(map(is_number, was["levels"])):
            holds = "numbers"
        fits = (not dated and holds != "numbers") or len(new) < len(labels)
    else:
        new = []
        is_flag = was["kind"] == "boolean" and bool(np.isin(cells[present], (0.0, 1.0)).all())
        fits = holds == held or (kind != "nominal" and not dated and (is_flag or held == "numbers"))
    if present.any() and not fits:
        present_rows, shown = np.flatnonzero(present).tolist(), column.to_list()
        row = next((i for i in present_rows if not is_number(shown[i])), present_rows[0])
        raise InputError(
            f"Column {name!r} held {held} when the features were chosen and holds {holds} now "
            f"({shown[row]!r} in {place(row)}); convert the column or correct the cell."
        )
    if not new:
        return ""
    rows = int(np.isin(cells, [labels.index(label) for label in new]).sum())
    listed = ", ".join(map(repr, new[:5])) + ", …" * (len(new) > 5)
    return (
        f"Column {name!r} has values that were not there when the features were chosen: {listed} "
        f"({rows:,} row{'s' * (rows != 1)})."
    )


def unusable_column(name: str, what: str) -> InputError:
    """Refuse a column, or the target, that has no name here, whose cells are neither numbers nor text."""
    if not name:
        return InputError(f"The target holds {what} values; numbers, booleans or text are needed.")
    return InputError(f"Column {name!r} holds {what} values; convert them to numbers or text, or drop it.")


def _to_floats(column: nw.Series[Any]) -> FloatArray:
    """Return numbers with NaN for missing cells."""
    # What polars casts, its allocator keeps for a while: a second table of a file of small numbers.
    exact = column.dtype in SMALL_NUMBERS and column.implementation.is_polars()
    floats = column if exact or column.dtype == nw.Float64 else column.cast(nw.Float64)
    return np.asarray(floats.to_numpy(), dtype=np.float64)


def _plain(numbers: FloatArray, forced: Kind | None) -> Encoded:
    if forced != "nominal":
        return numbers, "numeric", ()
    present = ~np.isnan(numbers)
    return _levels_of(numbers[present].tolist(), present)


def _dated(days: FloatArray, name: str, forced: Kind | None, dated: list[str]) -> Encoded:
    if forced is None:
        dated.append(name)
    return _plain(days, forced)


def _levels_of(cells: list[Any], present: Sequence[bool] | BoolArray) -> Encoded:
    """Number the distinct cells: in the order of numbers if all are, else of their text."""
    numeric = all(isinstance(cell, NUMBER_TYPES) and not isinstance(cell, bool | np.bool_) for cell in cells)
    cells = [float(cell) if numeric else as_text(cell) for cell in cells]
    distinct = sorted(set(cells))
    codes = {value: code for code, value in enumerate(distinct)}
    return _scatter([codes[cell] for cell in cells], present), "nominal", tuple(map(label_of, distinct))


def as_text(cell: Any) -> str:
    return str(cell).lower() if isinstance(cell, bool | np.bool_) else str(cell)


def _forced_numbers(column: Sequence[Any], present: list[bool], name: str, place: Place) -> FloatArray:
    cells = [cell if is_present else None for cell, is_present in zip(column, present, strict=True)]
    odd = next((row for row, cell in enumerate(cells) if cell is not None and not is_number(cell)), None)
    if odd is None:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    parsed = find_number_format(pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String))
    if parsed is None or parsed.mixed or parsed.cells.null_count() > present.count(False):
        raise InputError(
            f"Column {name!r} is declared numeric, but {place(odd)} is {cells[odd]!r}; correct or clear the cell."
        )
    return np.asarray(parsed.cells.to_numpy(), dtype=np.float64)


def _scatter(values: Sequence[Any], present: Sequence[bool] | BoolArray) -> FloatArray:
    """Put values at the places that are present, NaN at the others."""
    result = np.full(len(present), np.nan)
    result[np.array(present, dtype=bool)] = values
    return result


def _is_missing(cell: Any) -> bool:
    # Only NaN differs from itself; pandas has two more missing of its own.
    is_nan = isinstance(cell, NUMBER_TYPES) and bool(cell != cell)
    return is_nan or cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _days_of(time: Any) -> FloatArray | None:
    """Return dates as days; None if they are no dates."""
    cells = np.asarray(time)
    if cells.dtype.kind == "M":
        return cells.astype("datetime64[us]").astype(np.int64) / 86_400e6
    are_dates = cells.ndim == 1 and len(cells) > 0 and all(isinstance(cell, date) for cell in cells.tolist())
    return np.array([_days(cell) for cell in cells.tolist()]) if are_dates else None


def _sorted_as_text(time: Any) -> list[str]:
    """Say that times are in the order of letters, unless they begin with a year."""
    cells = {cell for cell in np.asarray(time).ravel().tolist() if isinstance(cell, str)}
    if all(re.match(r"\d{4}(?!\d)", cell) for cell in cells):
        return []
    order = f"{min(cells)} is first, {max(cells)} last"
    return [f"The times are text, in the order of their letters ({order}); give dates or numbers for another order."]


def _days(cell: date) -> float:
    moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - EPOCH) / timedelta(days=1)


# ---------------------------------------------------------------------------------------------------- target


def refuse_other_order(X: Any, y: Any) -> None:
    """Refuse a pandas target whose labels are those of the table in another order.

    Parameters
    ----------
    X, y : table and target
        Those of other libraries, and arrays, have no labels of rows.
    """
    libraries = nw.dependencies
    if not libraries.is_pandas_like_dataframe(X):
        return
    if not (libraries.is_pandas_like_series(y) or libraries.is_pandas_like_dataframe(y)) or X.index.equals(y.index):
        return
    if len(X) == len(y) and X.index.is_unique and y.index.is_unique and y.index.isin(X.index).all():
        raise InputError(
            "The target has the row labels of the table in another order; give y.loc[X.index], "
            "or y.to_numpy() if rows belong together by position."
        )


def target_values(y: Any, place: Place) -> NDArray[Any]:
    """Return the target as numbers, truth values or text; refuse missing."""
    if y is None:
        raise InputError("The target y is None; give one value for each row, or the name of a column of X.")
    y = unmasked(y)
    if is_frame(y):
        y = nw.from_native(y, eager_only=True)
        if y.shape[1] != 1:
            raise InputError(f"The target has {y.shape[1]} columns; give one.")
        y = next(y.iter_columns()).to_native()
    series = y if isinstance(y, list | np.ndarray) else nw.from_native(y, pass_through=True, series_only=True)
    if not isinstance(series, nw.Series | Iterable) or isinstance(series, str | bytes | Mapping | Set):
        raise InputError(f"The target is {reprlib.repr(series)}; give one value for each row, in their order.")
    values = series if isinstance(series, np.ndarray) else _target_of_cells(series, place)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"The target has {values.ndim} dimensions; give one value for each row.")
    if values.dtype.kind == "O":
        values = _target_of_cells(values.tolist(), place)
    if values.dtype.kind not in "biufUS":
        raise InputError(f"The target has dtype {values.dtype.name}; numbers, booleans or text are needed.")
    if values.dtype.kind == "f":
        _refuse_missing(np.isnan(values), place)
        _refuse_endless(values, None, place)
    return values


def several_targets(y: Any, place: Place) -> NDArray[Any]:
    """Return a target of several columns; each must hold numbers or truth values."""
    columns = nw.from_native(y, eager_only=True).iter_columns() if is_frame(y) else np.asarray(y).T
    targets = [target_values(c.to_native() if isinstance(c, nw.Series) else c, place) for c in columns]
    if (odd := next((target for target in targets if target.dtype.kind not in "biuf"), None)) is not None:
        raise InputError(f"A target of several columns must hold numbers, but one of them holds {str(odd[0])!r}.")
    return np.column_stack(targets)


def _n_columns(y: Any) -> int:
    try:
        shape = y.shape if hasattr(y, "shape") else np.shape(y)
    except ValueError:
        raise InputError("The target holds lists of different lengths; give one value for each row.") from None
    return int(shape[1]) if len(shape) == 2 else 1


def _target_of_cells(cells: Any, place: Place) -> NDArray[Any]:
    """Return a series or Python objects as numbers, truth values or text."""
    if isinstance(cells, nw.Series) and not (cells.dtype.is_numeric() or cells.dtype in (nw.Date, nw.Datetime)):
        cells = cells.to_list()  # categories of numbers are numbers here
    elif not isinstance(cells, nw.Series | list):
        cells = cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)
    numbers, kind, labels = encode(cells, "", None, place, [])
    _refuse_missing(np.isnan(numbers), place)
    if kind == "nominal":
        return np.array(labels)[numbers.astype(np.int64)]
    return numbers.astype(bool) if kind == "boolean" else numbers


def _refuse_missing(missing: BoolArray, place: Place) -> None:
    if missing.any():
        row, count = int(np.argmax(missing)), int(missing.sum())
        more = f" and {count - 1} more" if count > 1 else ""
        raise InputError(f"The target is missing in {place(row)}{more}; fill the cell or delete the row.")


# ----------------------------------------------------------------------------------------------------- notes


def _refuse_extremes(table: Table, low: FloatArray, high: FloatArray, place: Place) -> None:
    """Refuse columns with numbers too large to be squared, or with differences too small for it."""
    extreme = (low < -LARGEST_NUMBER) | (high > LARGEST_NUMBER)
    tiny = (low < high) & (high / 2 - low / 2 < SMALLEST_SPREAD / 2)
    column = int(np.argmax(extreme if extreme.any() else tiny))
    if extreme.any():
        _refuse_endless(table.X[:, column], table.names[column], place)
    if tiny.any():
        spread, name = high[column] - low[column], table.names[column]
        raise InputError(f"Column {name!r} varies by only {spread:g}, too little to compute with; rescale or drop it.")


def _refuse_endless(column: FloatArray, name: str | None, place: Place) -> None:
    extreme = np.abs(column) > LARGEST_NUMBER
    if extreme.any():
        row = int(np.argmax(extreme))
        raise InputError(endless_cell(column[row], name, place(row)))


def endless_cell(value: float, name: str | None, where: str) -> str:
    """Say that a cell of a column, or of the target (None), is infinite or too large."""
    how = "infinite" if np.isinf(value) else f"{value:g}, too large to compute with,"
    what, cure = ("The target", "delete the row") if name is None else (f"Column {name!r}", "clear it if unknown")
    return f"{what} is {how} in {where}; correct the cell, or {cure}."


def features_of(X: Any) -> tuple[Any, list[str]]:
    """Leave out the columns of a frame that are no features, with a note; other tables stay as they are.

    Free text, lists, records, and codes that nearly every row has to itself are left out, as in files. A column of
    categories stays: whoever made it meant it.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The table.

    Returns
    -------
    X, notes : table and list of str

    Examples
    --------
    >>> frame = pl.DataFrame({"a": range(30), "code": [f"{i:08x}-{i * 7919:08x}" for i in range(30)]})
    >>> kept, notes = features_of(frame)
    >>> kept.columns, notes[0][:42]
    (['a'], "Not used as features: 'code' (nearly all v")
    """
    X, renamed = plain_frame(X)
    if not is_frame(X):
        return X, []
    frame = nw.from_native(X, eager_only=True)
    reasons = {name: why_no_feature(frame[name]) for name in frame.columns}
    out = {name: Reading("left out", reason=reason) for name, reason in reasons.items() if reason is not None}
    if not out or len(out) == len(reasons):
        return X, renamed
    kept = frame.select([name for name, reason in reasons.items() if reason is None]).to_native()
    return kept, [*renamed, *left_out_notes(out, "Make it categorical to keep it.")]
