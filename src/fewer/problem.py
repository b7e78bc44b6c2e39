"""The rows as every package sees them: one table, one target, nothing changed yet."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fewer.errors import InputError
from fewer.text import Note, nearest, without_columns

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Column = str | int
Kind = Literal["numeric", "nominal", "boolean"]
Task = Literal["classification", "regression"]
SuspicionKind = Literal["leak", "copy of the target", "identifier", "row number", "known afterwards", "duplicated rows"]

__all__ = [
    "BoolArray",
    "Column",
    "FloatArray",
    "InputError",
    "IntArray",
    "Kind",
    "Problem",
    "Suspected",
    "Suspicion",
    "Task",
    "column_number",
    "column_numbers",
    "mask_of",
]


@dataclass(frozen=True)
class Suspicion:
    """A column, or rows, that make scores too good to be true.

    Parameters
    ----------
    kind : {"leak", "copy of the target", "identifier", "row number", "known afterwards", "duplicated rows"}
        What it looks like.
    column : str or None
        The column; None for duplicated rows.
    evidence : str
        What was found and what to do, in a sentence.

    Examples
    --------
    >>> Suspicion("identifier", "tx_id", "'tx_id' has a different value in every row.").column
    'tx_id'
    """

    kind: SuspicionKind
    column: str | None
    evidence: str


class Suspected:
    """What an answer with suspicions says before anything else.

    Examples
    --------
    >>> made = Suspected()
    >>> made.suspicions, made.n_features, made.command = [Suspicion("copy of the target", "leak", "…")], 3, ""
    >>> made.again
    "exclude=['leak']"
    """

    suspicions: list[Suspicion]
    n_features: int
    command: str
    without: ClassVar[str] = "exclude={}"
    """How the columns are left out in Python."""

    @property
    def suspects(self) -> list[str]:
        """The columns to leave out first: they give the target away or name the rows."""
        columns = [suspicion.column for suspicion in self.suspicions if suspicion.column is not None]
        return columns if len(columns) < self.n_features else []

    @property
    def again(self) -> str:
        """What runs again without the suspects: a command to type, or what to write in Python."""
        if not self.suspects:
            return ""
        return without_columns(self.command, self.suspects) if self.command else self.without.format(self.suspects)

    @property
    def banner(self) -> list[str]:
        """What to read before anything else: why the scores may be too good to be true, and what to do."""
        if not self.suspicions:
            return []
        lines = ["Check this first: the scores below may be too good to be true."]
        lines += [suspicion.evidence for suspicion in self.suspicions]
        which = "this column" if len(self.suspects) == 1 else "these columns"
        return [*lines, f"Run again without {which}: {self.again}"] if self.again else lines


@dataclass(frozen=True, eq=False)
class Problem:
    """A table and its target, ready for binding.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers. Nominal columns hold level codes 0, 1, …; NaN marks a missing cell.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Class codes 0 … c−1 for classification, numbers for regression; several outputs as they were given.
    task : {"classification", "regression"}
        What y is.
    names : tuple of str
        One name a column.
    kinds : tuple of {"numeric", "nominal", "boolean"}
        How a column's values compare: by difference, or only as equal or not.
    classes : tuple
        The label behind each class code.
    levels : dict
        For nominal columns, the label behind each code.
    sample_weight : array of shape (n_samples,), optional
        How much each row counts.
    groups : array of shape (n_samples,), optional
        Rows of one group are never on both sides of a split.
    time : array of shape (n_samples,), optional
        When each row was, as a number; equal times are equal numbers. Training rows are always earlier than test rows.
    notes : tuple of Note
        What was noticed by the input reader.
    suspicions : tuple of Suspicion
        Columns and rows that make scores too good to be true, such as leaks; their evidence stands in `notes` too.
    schema : FrameSchema, optional
        How to make a frame like the one that came in, for estimators that look at names and types (`fewer.io`).
    sparse : CSC or CSR array, optional
        The table as a sparse matrix, where it came as one (`SparseProblem`).
    row_numbers : array of shape (n_samples,), optional
        Where the rows stood in the table that was given, if some of it, such as rows of weight 0, were dropped.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 9]], ["low", "low", "high"], names=["a", "b"])
    >>> problem.n_samples, problem.n_features, problem.classes
    (3, 2, ('high', 'low'))
    """

    X: FloatArray
    y: NDArray[Any]
    task: Task
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    classes: tuple[Any, ...] = ()
    levels: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    sample_weight: FloatArray | None = None
    groups: IntArray | None = None
    time: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    schema: Any = None
    sparse: Any = None
    row_numbers: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(Note, self.notes)))

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any,
        *,
        task: Task = "classification",
        names: Sequence[str] | None = None,
        kinds: Sequence[Kind] | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
    ) -> Problem:
        """Make a problem of plain numeric arrays.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN marks a missing cell.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels, or numbers for regression.
        task : {"classification", "regression"}, default="classification"
            What y is.
        names : sequence of str, optional
            One name a column; x0, x1, … by default.
        kinds : sequence of {"numeric", "nominal", "boolean"}, optional
            All numeric by default.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are never on both sides of a split.
        time : array-like of shape (n_samples,), optional
            When each row was.

        Returns
        -------
        Problem
            The rows.

        Examples
        --------
        >>> Problem.from_arrays([[0.0, 1.0], [2.0, 3.0]], ["no", "yes"]).classes
        ('no', 'yes')
        """
        table = np.ascontiguousarray(X, dtype=np.float64)
        if table.ndim != 2:
            raise InputError(f"X has {table.ndim} dimension{'s' * (table.ndim != 1)}; it must be two-dimensional.")
        n_samples, n_features = table.shape
        target = np.asarray(y)
        if target.shape != (n_samples,) and (target.ndim != 2 or len(target) != n_samples or target.shape[1] < 2):
            raise InputError(f"y has shape {target.shape}, but X has {n_samples} rows; give one target per row.")
        classes: tuple[Any, ...] = ()
        if task == "classification" and target.ndim == 2:
            target = target.astype(np.int64)
        elif task == "classification":
            labels = distinct(target)
            classes = tuple(labels.tolist())
            target = np.searchsorted(labels, target).astype(np.int64)
        else:
            target = target.astype(np.float64)
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, n_samples)
        return cls(
            X=table,
            y=target,
            task=task,
            names=tuple(names) if names is not None else plain_names(n_features),
            kinds=tuple(kinds) if kinds is not None else ("numeric",) * n_features,
            classes=classes,
            sample_weight=sample_weight,
            groups=None if groups is None else row_codes(groups, n_samples, "groups"),
            time=None if time is None else row_codes(time, n_samples, "time"),
        )

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return int(self.X.shape[1])

    @property
    def n_outputs(self) -> int:
        """How many targets there are: one, or the columns of y."""
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])

    @property
    def labels(self) -> NDArray[Any]:
        """The target in the user's own labels; quantities as they are."""
        return np.asarray(self.classes)[self.y] if self.classes else self.y

    @property
    def n_classes(self) -> int:
        """How many classes the whole problem has (also those absent from a part of its rows)."""
        return len(self.classes)

    @cached_property
    def nominal(self) -> BoolArray:
        """Which columns compare only as equal or not."""
        if "nominal" not in self.kinds:
            return np.zeros(self.n_features, dtype=bool)
        return np.array([kind == "nominal" for kind in self.kinds], dtype=bool)

    @property
    def class_indicators(self) -> FloatArray:
        """One column a class, (n_samples, n_classes), with ones where a row is of it."""
        return (self.y[:, None] == np.arange(self.n_classes)).astype(np.float64)

    @cached_property
    def row_weights(self) -> FloatArray:
        """How much each row counts; ones where no weights were given."""
        return np.ones(self.n_samples) if self.sample_weight is None else self.sample_weight

    @cached_property
    def row_groups(self) -> IntArray:
        """The group of each row; each row is a group of its own where no groups were given."""
        return np.arange(self.n_samples) if self.groups is None else self.groups

    def check_groups(self, why: str = "Rows of one group are never on both sides of a split") -> None:
        """Refuse groups that leave nothing to compare a row with: one for all rows, or one for each class.

        Parameters
        ----------
        why : str
            The rule that leaves nothing, for the message.
        """
        if self.groups is None or self.n_samples < 2:
            return
        n_groups = int(self.groups.max()) + 1
        if (self.groups == self.groups[0]).all():
            cure = "Give more groups, or none (a fold may hold out the others)."
            raise InputError(f"{why}; here all {self.n_samples:,} rows are of one group. {cure}")
        if self.classes and self.y.ndim == 1 and len(np.unique(self.y * n_groups + self.groups)) == len(set(self.y)):
            raise InputError(f"{why}; here each class is one group. Give groups that cut across classes, or none.")

    def check_neighbors(self, component: str) -> None:
        """Refuse groups that leave no row a neighbor, or for classes no row one of its own class.

        Parameters
        ----------
        component : str
            The name of what looks for neighbors, for the message.
        """
        self.check_groups(f"{component} compares rows with their neighbors, which are never of the same group")

    @cached_property
    def has_missing(self) -> bool:
        """Whether any cell is missing: one look at the table, and no copy of its size."""
        cells = self.X if self.sparse is None else self.sparse.data
        with np.errstate(invalid="ignore"):
            return bool(np.isnan(np.min(cells, initial=np.inf)))

    @cached_property
    def missing(self) -> BoolArray:
        """Which cells are missing."""
        if self.__dict__.get("has_missing") is False:
            return np.zeros(self.X.shape, dtype=bool)
        return np.isnan(self.X)

    @cached_property
    def n_missing(self) -> IntArray:
        """How many cells of each column are missing."""
        return np.count_nonzero(self.missing, axis=0)

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest number of each column; infinite, and the wrong way round, if all are missing."""
        with np.errstate(invalid="ignore"):
            low, high = _down(self.X, np.minimum, np.inf), _down(self.X, np.maximum, -np.inf)
        if missing := bool(np.isnan(low).any()):
            # These ends skip missing cells by themselves, without a copy of the table.
            low, high = _down(self.X, np.fmin, np.inf), _down(self.X, np.fmax, -np.inf)
        self.__dict__.setdefault("has_missing", missing)
        return low, high

    @cached_property
    def constant(self) -> BoolArray:
        """Which columns hold at most one distinct value in these rows, missing cells apart."""
        low, high = self.extremes
        return np.asarray(low >= high)

    @property
    def table(self) -> Any:
        """The table as it came: an array, or a sparse one."""
        return self.X if self.sparse is None else self.sparse

    def column(self, feature: int) -> FloatArray:
        """Return the cells of one column.

        Parameters
        ----------
        feature : int
            Its number.

        Returns
        -------
        array of shape (n_samples,)
            NaN marks a missing cell.
        """
        return self.X[:, feature]

    def as_dense(self) -> Problem:
        """Return the problem with its table as an array, whatever it came as.

        Returns
        -------
        Problem
            This one if it is dense already.
        """
        return self

    def told(self, notes: Sequence[str], schema: Any = None, suspicions: Sequence[Suspicion] = ()) -> Problem:
        """Return the same problem with what was noticed about it; what is known of its table stays known.

        Parameters
        ----------
        notes : sequence of str
            What was noticed.
        schema : FrameSchema, optional
            How to make a frame like the one that came in.
        suspicions : sequence of Suspicion, default=()
            What makes scores too good to be true.

        Returns
        -------
        Problem
            The same rows.
        """
        problem = replace(self, notes=tuple(notes), schema=schema, suspicions=tuple(suspicions))
        for fact in ("extremes", "missing", "has_missing", "nominal", "constant"):
            if fact in self.__dict__:
                problem.__dict__[fact] = self.__dict__[fact]
        return problem

    def noted(self, text: str) -> Problem:
        """Return the same problem with one more note.

        Parameters
        ----------
        text : str
            A sentence for the reader of a result.

        Returns
        -------
        Problem
            The same rows.
        """
        return replace(self, notes=(*self.notes, text))

    def fingerprint(self, about: Mapping[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> str:
        """Name the rows and what is done with them, so that a run is only ever resumed as itself.

        Parameters
        ----------
        about : mapping
            What is done with them, as JSON data.
        arrays : sequence of arrays, default=()
            More that belongs to it, such as splits.

        Returns
        -------
        str
            16 hexadecimal digits.
        """
        digest = hashlib.sha256()
        for part in (self.X, self.y, self.sample_weight, self.groups, *arrays):
            digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
        whole = {"names": self.names, "kinds": self.kinds, "task": self.task, **about}
        digest.update(json.dumps(whole, sort_keys=True, default=str).encode())
        return digest.hexdigest()[:16]

    def beside(self, rows: NDArray[Any]) -> dict[str, Any]:
        """Return what some rows have beside their cells: target, weights, groups, times and numbers.

        Parameters
        ----------
        rows : array
            Indices, or a boolean mask.

        Returns
        -------
        dict
            By the name of the field; None where there is none.

        Examples
        --------
        >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0]], [5, 6, 6], groups=[1, 1, 2])
        >>> {name: values for name, values in problem.beside(np.array([0, 2])).items() if values is not None}
        {'y': array([0, 1]), 'groups': array([0, 1])}
        """
        names = ("y", "sample_weight", "groups", "time", "row_numbers")
        return {name: None if (values := vars(self)[name]) is None else values[rows] for name in names}

    def narrowed(self, columns: NDArray[Any]) -> Problem:
        """Return the problem on some of its columns, as an array.

        Parameters
        ----------
        columns : int array
            Which to keep.

        Returns
        -------
        Problem
            Dense.

        Examples
        --------
        >>> problem = Problem.from_arrays([[0.0, 1.0], [2.0, 3.0]], [0, 1])
        >>> problem.narrowed(np.array([1])).names
        ('x1',)
        """
        numbers = columns.tolist()
        return replace(
            self,
            X=np.ascontiguousarray(self.X[:, columns]),
            names=tuple(self.names[i] for i in numbers),
            kinds=tuple(self.kinds[i] for i in numbers),
            levels={place: self.levels[i] for place, i in enumerate(numbers) if i in self.levels},
        )

    def take(self, rows: NDArray[Any]) -> Problem:
        """Return the same problem on some of its rows (indices or a boolean mask).

        Parameters
        ----------
        rows : array
            Indices, or a boolean mask of shape (n_samples,).

        Returns
        -------
        Problem
            A copy of these rows.
        """
        part = replace(self, X=np.ascontiguousarray(self.X[rows]), **self.beside(rows))
        if self.__dict__.get("has_missing") is False:  # then none of its parts has, and they need not be searched
            part.__dict__["has_missing"] = False
        return part


def mask_of(places: Any, n: int) -> BoolArray:
    """Make a mask that is true at some places.

    Parameters
    ----------
    places : sequence of int, or bool array
        Numbers of columns or rows.
    n : int
        How many there are.

    Returns
    -------
    bool array of shape (n,)

    Examples
    --------
    >>> mask_of((0, 2), 3)
    array([ True, False,  True])
    """
    mask = np.zeros(n, dtype=bool)
    mask[list(places) if isinstance(places, tuple) else places] = True
    return mask


@lru_cache(maxsize=16)
def plain_names(n_features: int) -> tuple[str, ...]:
    """Name columns that have no names: x0, x1, ….

    Examples
    --------
    >>> plain_names(2)
    ('x0', 'x1')
    """
    return tuple(f"x{i}" for i in range(n_features))


def _down(X: FloatArray, which: np.ufunc, start: float) -> FloatArray:
    """Reduce each column; short rows are laid side by side first, since each row takes NumPy as long as 60 cells."""
    n, p = X.shape
    if p and (beside := min(1024 // p, n)) > 1 and X.flags.c_contiguous:
        whole = n - n % beside
        parts = which.reduce(X[:whole].reshape(-1, beside * p), axis=0)
        X = np.concatenate([parts.reshape(beside, p), X[whole:]])
    return np.asarray(which.reduce(X, axis=0, initial=start))


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, sorted; whole numbers that lie close together are counted, not compared.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    if values.dtype.kind != "i" or values.ndim != 1 or not values.size:
        return np.unique(values)
    low, high = values.min(), values.max()
    if int(high) - int(low) > values.size:
        return np.unique(values)
    return (np.flatnonzero(np.bincount(values.astype(np.int64) - low)) + low).astype(values.dtype)


def row_codes(values: Any, n_samples: int, what: str) -> IntArray:
    """Number what is given for each row, in sorted order: equal values get equal numbers.

    Parameters
    ----------
    values : array of shape (n_samples,)
        Numbers, text or dates, none of them missing.
    n_samples : int
        How many rows there are.
    what : str
        What they are, for the message.

    Returns
    -------
    int array of shape (n_samples,)

    Examples
    --------
    >>> row_codes(["b", "a", "b"], 3, "groups").tolist()
    [1, 0, 1]
    """
    given = np.asarray(values)
    if given.shape != (n_samples,):
        raise InputError(f"{what} has shape {given.shape}, but there are {n_samples} rows; give one per row.")
    cells = values.tolist() if np.ma.is_masked(values) else given.tolist()  # a hidden cell becomes None
    missing = np.array([one is None or type(one).__name__ == "NAType" or one != one for one in cells], dtype=bool)
    if missing.any():
        raise InputError(f"{what} has no value in row {int(np.argmax(missing))}; every row needs one.")
    try:
        codes = np.unique(given, return_inverse=True)[1]
    except TypeError:
        if what == "time":
            raise InputError("time mixes numbers and text, which have no order; give one kind.") from None
        codes = np.unique([str(value) for value in cells], return_inverse=True)[1]
    return np.asarray(codes, dtype=np.int64)


def relative_weights(weights: FloatArray) -> FloatArray | None:
    """Divide row weights by their mean; None where all are equal, which is the same as none.

    Weights say how much a row counts beside the others. Their common factor must not matter, but regularised models
    and thresholds would see it.

    Parameters
    ----------
    weights : array of shape (n_samples,)
        Above 0.

    Returns
    -------
    array of shape (n_samples,) or None

    Examples
    --------
    >>> relative_weights(np.array([1e-20, 3e-20])), relative_weights(np.array([7.0, 7.0]))
    (array([0.5, 1.5]), None)
    """
    return None if (weights == weights[:1]).all() else weights / weights.mean()


# Larger ones cannot be added up, or multiplied by the squares of cells.
LARGEST_WEIGHT = 1e100


def checked_weights(given: Any, n_samples: int) -> FloatArray:
    """Return row weights as numbers, one a row, at least 0 and some above it; refuse others.

    Parameters
    ----------
    given : array-like of shape (n_samples,)
        The weights as they were passed.
    n_samples : int
        How many rows there are.

    Returns
    -------
    array of shape (n_samples,)
    """
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Row weights must be numbers ({str(error).splitlines()[0]}).") from None
    if weights.shape != (n_samples,):
        raise InputError(f"The row weights have shape {weights.shape}, but there are {n_samples} rows; give one a row.")
    finite = np.isfinite(weights).all() and not np.ma.is_masked(given)
    if not finite or (weights < 0).any() or not (weights > 0).any():
        odd = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        first = f": row {odd[0]} has {weights[odd[0]]:g}" if len(odd) else ""
        raise InputError(f"Row weights must be finite and not negative, and not all zero{first}.")
    if weights.max() > LARGEST_WEIGHT:
        raise InputError(f"Row weights up to {weights.max():g} are too large to add up; divide them by their mean.")
    return weights


def column_number(column: Column, names: Sequence[str], parameter: str) -> int:
    """Find a column by its name or its number; numbers below 0 count from the end.

    Parameters
    ----------
    column : str or int
        A name, or a number that may count from the end.
    names : sequence of str
        Of the columns.
    parameter : str
        Who asks, for the message.

    Returns
    -------
    int

    Examples
    --------
    >>> column_number("b", ["a", "b"], "include"), column_number(-1, ["a", "b"], "include")
    (1, 1)
    """
    if isinstance(column, str):
        if column not in names:
            raise InputError(f"{parameter} names {column!r}, not a feature; {nearest(column, names)}")
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, Integral):
        shown = " ".join(repr(column).split())
        raise InputError(f"{parameter} names {shown}; give a column's name or its number.")
    if not -len(names) <= column < len(names):
        raise InputError(f"{parameter} names feature {column}, but features go from 0 to {len(names) - 1}.")
    return int(column) % len(names)


def column_numbers(columns: Any, names: Sequence[str], parameter: str) -> list[int]:
    """Find columns by their names or numbers; one name alone is one column, a boolean mask is one number a column.

    Parameters
    ----------
    columns : iterable of str or int, str, boolean mask or None
        Names, numbers, a pattern or a mask; None is none.
    names : sequence of str
        Of the columns.
    parameter : str
        Who asks, for the message.

    Returns
    -------
    list of int

    Examples
    --------
    >>> column_numbers(["b", 0], ["a", "b"], "include"), column_numbers([False, True], ["a", "b"], "include")
    ([1, 0], [1])
    """
    if columns is None:
        return []
    try:
        asked = [columns] if isinstance(columns, str) else list(columns)
    except TypeError:
        raise InputError(
            f"{parameter}={' '.join(repr(columns).split())} names no columns; give a list of names or numbers."
        ) from None
    if asked and len(asked) == len(names) and all(type(column).__name__ in ("bool", "bool_") for column in asked):
        return [number for number, wanted in enumerate(asked) if wanted]
    return [column_number(column, names, parameter) for column in asked]
