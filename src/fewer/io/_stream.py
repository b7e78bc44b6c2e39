"""A table read in chunks, each as a problem of the whole table's names, kinds, levels and classes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from fewer.contracts import Resources
from fewer.io._cells import MOSTLY
from fewer.io._files import find_target
from fewer.io._kinds import MISSING
from fewer.io._reader import EPOCH, LARGEST, MAX_INTEGER_CLASSES, Contract, encode, number_label
from fewer.io._source import PartWork, Source, open_source
from fewer.io.frames import pl, row_number
from fewer.problem import LARGEST_WEIGHT, FloatArray, InputError, IntArray, Kind, Problem, Task, column_number
from fewer.text import nearest

CHUNK_BYTES = 1 << 24
HEAD_CELLS = 1 << 19
"""Cells of the first rows that a stream keeps, and sends to whoever reads its parts."""
MOST_LEVELS = 10_000
"""Levels of a nominal column; more are names of rows."""
MOST_NUMBERS = 1_000
WEIGHTS = "Row weights must be finite and not negative, and not all zero."
"""Different numbers of a column of text that are kept in case they turn out to be levels."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is never in memory as a whole.

    Parameters
    ----------
    source : Source
        The table in parts.
    target : str
        The column to predict.
    like : Problem
        Some rows from the beginning, with the names, kinds, levels and classes of the whole table.
    n_samples : int
        Rows of the table.
    class_counts : int array
        Rows of each class; the number of rows for a quantity.
    weights : str, optional
        The column that says how much each row counts.
    readers : tuple of ColumnReader
        How each feature is read.
    target_reader : ColumnReader
        How the target is read.

    See Also
    --------
    open_stream : Makes one.

    Examples
    --------
    >>> stream = open_stream(pl.LazyFrame({"a": [1.0, 2.0, 4.0], "y": ["no", "yes", "no"]}), "y")
    >>> stream.n_samples, stream.class_counts
    (3, array([2, 1]))
    """

    source: Source
    target: str
    like: Problem
    n_samples: int
    class_counts: IntArray
    weights: str | None
    readers: tuple[ColumnReader, ...]
    target_reader: ColumnReader

    @property
    def n_parts(self) -> int:
        """How many parts can be read apart from each other."""
        return self.source.n_parts

    def sent(self) -> Stream:
        """Return the stream without its source, for whoever gets the frames of a part.

        Returns
        -------
        Stream
            Small enough to travel.
        """
        return replace(self, source=Source())

    @property
    def n_features(self) -> int:
        """How many columns there are beside the target."""
        return self.like.n_features

    @property
    def chunk_rows(self) -> int:
        """How many rows are read at a time."""
        return int(np.clip(CHUNK_BYTES // (8 * max(self.n_features, 1)), 256, 1 << 17))

    def chunks(self, part: int) -> Iterator[Problem]:
        """Read a part, chunk by chunk; the table of a chunk is only there until the next one is read.

        Parameters
        ----------
        part : int
            Which part.

        Returns
        -------
        iterator of Problem
            Some rows, in order.
        """
        return self.problems(part, self.source.batches(part, self.columns, self.chunk_rows))

    @property
    def columns(self) -> list[str]:
        """What is read: the features, the target and the weights."""
        return [*self.like.names, self.target, *([self.weights] if self.weights else [])]

    def problems(self, part: int, frames: Iterator[pl.DataFrame]) -> Iterator[Problem]:
        """Turn frames of a part into problems; the table of one is only there until the next.

        Parameters
        ----------
        part : int
            Which part.
        frames : iterator of polars.DataFrame
            With `columns`, in order.

        Yields
        ------
        Problem
            Some rows, in order.
        """
        cells = np.empty(0)
        for frame in frames:
            if frame.height:
                # Fresh memory costs as much as the copy: the same is filled again and again.
                n_cells = frame.height * self.n_features
                cells = cells if len(cells) >= n_cells else np.empty(n_cells)
                yield self._problem(frame, cells[:n_cells].reshape((frame.height, self.n_features), order="F"))

    def _problem(self, frame: pl.DataFrame, X: FloatArray) -> Problem:
        ends = np.empty((2, len(self.readers)))
        for place, reader in enumerate(self.readers):
            X[:, place] = reader.numbers(frame[reader.name])
            ends[:, place] = _ends(X[:, place], reader.name)
        y = self.target_reader.numbers(frame[self.target])
        weights = None if self.weights is None else frame[self.weights].to_numpy()
        problem = replace(
            self.like,
            X=X,
            y=y.astype(np.int64 if self.like.task == "classification" else np.float64),
            sample_weight=weights,
        )
        problem.__dict__["extremes"] = tuple(ends)
        return problem


class _WeightSums(PartWork):
    """Count rows, those of weight 0, and add up the other weights; the smallest and the largest of them."""

    n_rows = 1 << 18

    def __init__(self, column: str) -> None:
        self.columns = [column]

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> tuple[int, int, float, float, float]:
        """Look at the weights of one part."""
        found = (0, 0, 0.0, np.inf, 0.0)
        for frame in frames:
            weights = _weights_of(frame[self.columns[0]])
            there = weights[weights > 0.0]
            own = (len(weights), len(there), float(there.sum()), there.min(initial=np.inf), there.max(initial=0.0))
            found = self.merge(found, own)
        return found

    def merge(self, into: Any, other: Any) -> Any:
        """Return what both parts have together."""
        sums = (one + another for one, another in zip(into[:3], other[:3], strict=True))
        return (*sums, min(into[3], other[3]), max(into[4], other[4]))


@dataclass
class _OfWeight(PartWork):
    """Other work, on rows of a weight above 0, whose weights are relative to their mean."""

    work: PartWork
    column: str
    mean: float

    def __post_init__(self) -> None:
        self.columns, self.n_rows = list(dict.fromkeys([*self.work.columns, self.column])), self.work.n_rows

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> Any:
        """Do the work on what is left of a part."""
        return self.work.read(part, self.kept(frames, self.work.columns))

    def kept(self, frames: Iterator[pl.DataFrame], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Leave out rows of weight 0."""
        for frame in frames:
            weights = _weights_of(frame[self.column])
            relative = pl.Series(self.column, weights / self.mean)
            yield frame.with_columns(relative).filter(pl.Series(weights > 0.0)).select(columns)

    def merge(self, into: Any, other: Any) -> Any:
        """Merge as the other work does."""
        return self.work.merge(into, other)

    def finish(self, result: Any) -> Any:
        """Finish as the other work does."""
        return self.work.finish(result)


class WeightedSource(Source):
    """The rows of a source that have a weight above 0; weights are relative to their mean, as in memory.

    Attributes
    ----------
    n_dropped, n_rows : int
        Rows of weight 0, and all rows.
    equal : bool
        The others have the same weight, which is the same as none.
    """

    def __init__(self, inner: Source, column: str) -> None:
        if column not in inner.columns:
            raise InputError(f"{inner.name} has no column {column!r} for the row weights.")
        self._inner, self._column = inner, column
        self.name, self.is_text, self.travels = inner.name, inner.is_text, inner.travels
        self.columns, self.n_parts = inner.columns, inner.n_parts
        self.n_rows, n_kept, total, low, high = inner.reduce(_WeightSums(column), Resources())
        if self.n_rows and not n_kept:
            raise InputError(WEIGHTS)
        self.n_dropped, self.equal, self._mean = self.n_rows - n_kept, bool(low == high), total / max(n_kept, 1)

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks, without rows of weight 0."""
        asked = list(dict.fromkeys([*columns, self._column]))
        filtering = _OfWeight(_WeightSums(self._column), self._column, self._mean)
        return filtering.kept(self._inner.batches(part, asked, n_rows), columns)

    def reduce(self, work: PartWork, resources: Resources, parts: Sequence[int] | None = None) -> Any:
        """Work on parts where they lie, without rows of weight 0."""
        return self._inner.reduce(_OfWeight(work, self._column, self._mean), resources, parts)


def _weights_of(cells: pl.Series) -> FloatArray:
    weights = cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    if not (np.isfinite(weights).all() and (weights >= 0.0).all() and (weights <= LARGEST_WEIGHT).all()):
        raise InputError(WEIGHTS)
    return np.asarray(weights, dtype=np.float64)


@dataclass(frozen=True)
class ColumnReader:
    """How the cells of one column become numbers.

    Attributes
    ----------
    kind : {"numeric", "nominal", "boolean"}
    text : bool
        Cells are text.
    meaning : {"number", "truth", "date", "level", "class number", "other"}
        What they hold; `"other"` is left to the input reader.
    levels : tuple
        The cell behind each code.
    """

    name: str
    kind: Kind
    text: bool
    meaning: str
    levels: tuple[Any, ...] = ()

    def numbers(self, cells: pl.Series) -> NDArray[Any]:
        """Return the cells as numbers of whatever precision they have, NaN where missing."""
        if self.meaning == "level":
            return self._codes(cells)
        if self.meaning == "class number":  # 1 and 1.0 are one class
            return np.searchsorted(np.array(self.levels), _meant(cells, "number").to_numpy()).astype(np.float64)
        if self.text:
            cells = _meant(cells.cast(pl.String), self.meaning)
        elif self.meaning == "other":
            return encode(nw.from_native(cells, series_only=True), self.name, None, row_number, [])[0]
        if cells.null_count():
            cells = cells.cast(pl.Float64).fill_null(float("nan"))
        return cells.to_numpy()

    def _codes(self, cells: pl.Series) -> NDArray[Any]:
        if self.text:
            cells = blanked(cells)
        known = self.levels
        if cells.dtype.is_numeric() and all(type(level) in (int, float) and abs(level) < 2**53 for level in known):
            return _places(cells, np.array(known, dtype=np.float64))  # others are too large to be exact, or decimals
        if known and isinstance(known[0], str):
            codes = cells.cast(pl.String).cast(pl.Enum(known), strict=False).to_physical()
            return (codes.cast(pl.Float64).fill_null(float("nan")) if codes.null_count() else codes).to_numpy()
        codes = cells.replace_strict(
            list(known), np.arange(len(known), dtype=np.float64), default=None, return_dtype=pl.Float64
        )
        return np.asarray(codes.fill_null(float("nan")).to_numpy(), dtype=np.float64)


def open_stream(
    data: Any,
    target: str | int,
    *,
    task: Task | None = None,
    nominal: Iterable[str | int] = (),
    numeric: Iterable[str | int] = (),
    exclude: Iterable[str | int] = (),
    weights: str | None = None,
) -> Stream:
    """Open a table to be read in chunks: kinds, levels and classes come from one pass over whatever decides them.

    Parameters
    ----------
    data : path, folder, glob, polars LazyFrame, pyarrow dataset, DuckDB relation, Dask dataframe or Spark DataFrame
        Where the rows are.
    target : str or int
        The column to predict, by name or by number.
    task : {"classification", "regression"}, optional
        Found out from the target unless given.
    nominal, numeric : columns by name or number
        Columns whose kind is not what their cells look like.
    exclude : columns by name or number
        Columns that are not read at all.
    weights : str, optional
        The column that says how much each row counts; it is no feature then.

    Returns
    -------
    Stream

    Examples
    --------
    >>> frame = pl.LazyFrame({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"], "y": ["no", "yes", "no"]})
    >>> stream = open_stream(frame, "y")
    >>> stream.like.kinds, stream.like.classes, stream.n_samples
    (('numeric', 'nominal'), ('no', 'yes'), 3)
    >>> [chunk.X.tolist() for chunk in stream.chunks(0)]
    [[[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]]]
    """
    source, notes = open_source(data), []
    if weights is not None:
        source = WeightedSource(source, weights)
        if source.n_dropped:
            notes.append(
                f"{source.n_dropped} of {source.n_rows} rows have weight 0; they were left out before anything else."
            )
    names = list(source.columns)
    label = names[find_target(target, names, source.name)]
    left_out = {names[column_number(column, names, "exclude")] for column in exclude} | {label, weights}
    features = [name for name in names if name not in left_out]
    if not features:
        raise InputError(f"{source.name} has only the target column {label!r}; there is nothing to select.")
    forced: dict[str, Kind] = {names[column_number(column, names, "nominal")]: "nominal" for column in nominal}
    forced |= {names[column_number(column, names, "numeric")]: "numeric" for column in numeric}
    survey = _Survey.of(source, label, features, forced, task)
    readers = tuple(survey.reader(name, source) for name in features)
    target_reader, found, classes, counts = survey.target()
    like = Problem(
        X=np.empty((0, len(features))),
        y=np.empty(0, dtype=np.int64 if found == "classification" else np.float64),
        task=found,
        names=tuple(features),
        kinds=tuple(reader.kind for reader in readers),
        classes=classes,
        levels={
            place: tuple(_label(level) for level in reader.levels)
            for place, reader in enumerate(readers)
            if reader.kind == "nominal"
        },
        notes=(*notes, *survey.notes),
    )
    weights = None if isinstance(source, WeightedSource) and source.equal else weights
    stream = Stream(source, label, like, survey.n_seen, counts, weights, readers, target_reader)
    n_rows = int(np.clip(HEAD_CELLS // len(features), 256, 20_000))
    first = (source.reduce(_Head(stream.sent(), n_rows), Resources(), [part]) for part in range(stream.n_parts))
    kept = next(own for own in first if own is not None)  # the survey found rows
    return replace(stream, like=replace(kept, sample_weight=None))


class _Head(PartWork):
    """The first rows of a part."""

    def __init__(self, stream: Stream, n_rows: int) -> None:
        self.stream, self.columns, self.n_rows = stream, stream.columns, n_rows

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> Problem | None:
        return next((rows.take(np.arange(rows.n_samples)) for rows in self.stream.problems(part, frames)), None)

    def merge(self, into: Problem | None, other: Problem | None) -> Problem | None:
        return other if into is None else into


def _ends(cells: FloatArray, name: str) -> tuple[float, float]:
    """Return the smallest and the largest cell; refuse what nobody can compute with."""
    low, high = cells.min(), cells.max()
    if np.isnan(low):  # slower, and passes missing cells over
        low, high = np.fmin.reduce(cells, initial=np.inf), np.fmax.reduce(cells, initial=-np.inf)
    for end in (low, high) if low <= high else ():
        if abs(end) > LARGEST:
            how = "an infinite number" if np.isinf(end) else f"{end:g}, too large to compute with"
            raise InputError(f"Column {name!r} holds {how}; correct or empty the cell.")
    return low, high


def _label(level: Any) -> str:
    if isinstance(level, bool):
        return str(level).lower()
    return number_label(float(level)) if isinstance(level, int | float) else str(level)


class _Survey(PartWork):
    """What one pass over the columns says whose cells decide kinds, levels or classes; parts of it merge."""

    def __init__(
        self, source: Source, target: str, features: Sequence[str], forced: dict[str, Kind], task: Task | None
    ) -> None:
        self._target, self._forced, self._task = target, forced, task
        self._source_name, self._is_text, self._types = source.name, source.is_text, source.columns
        types = source.columns
        unusable = next((n for n in features if types[n].is_nested() or types[n] in (pl.Binary, pl.Time)), None)
        if unusable is not None:
            raise InputError(
                f"Column {unusable!r} holds {types[unusable]} values; convert them to numbers or text, or drop it."
            )
        self._asked = [
            name for name in features if self._is_text or self._is_nominal(name) or self._is_text_of_numbers(name)
        ]
        self.columns = [*self._asked, target]
        self.n_rows = int(np.clip(CHUNK_BYTES // (8 * len(self.columns)), 256, 1 << 18))
        self.notes: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self.n_seen = 0
        self._distinct: dict[str, set[Any]] = {name: set() for name in self.columns}
        self._counts: dict[Any, int] = {}
        self._fit: dict[str, NDArray[np.int64]] = {name: np.zeros(6, dtype=np.int64) for name in self.columns}
        # Columns with too many different texts to keep them all: numbers, as a rule, which need no levels.
        self._late: set[str] = set()
        self._missing_target = 0
        self._too_many = False

    @classmethod
    def of(
        cls, source: Source, target: str, features: Sequence[str], forced: dict[str, Kind], task: Task | None
    ) -> _Survey:
        """Read the columns once, each part where it lies."""
        empty = cls(source, target, features, forced, task)
        found: _Survey = source.reduce(empty, Resources(effective_n_jobs(None)))
        return found

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> _Survey:
        own = copy(self)
        own._begin()
        for frame in frames:
            own.n_seen += frame.height
            for name in own._asked:
                own._see(name, frame[name])
            own._see_target(frame[own._target])
        return own

    def merge(self, into: _Survey, other: _Survey) -> _Survey:
        into.n_seen += other.n_seen
        into._missing_target += other._missing_target
        into._too_many |= other._too_many
        into._late |= other._late
        for name in into.columns:
            into._fit[name] += other._fit[name]
            into._learn(name, other._distinct[name])
        into._count(other._counts.items())
        return into

    def _learn(self, name: str, cells: Iterable[Any]) -> None:
        """Keep the different cells of a column, as long as they may be levels."""
        known = self._distinct[name]
        if name not in self._late:
            known.update(cells)
        if self._is_text or self._is_text_of_numbers(name):
            there, numbers = self._fit[name][:2]
            if len(known) > (MOST_NUMBERS if numbers == there else MOST_LEVELS):
                self._late.add(name)
            if name in self._late:
                known.clear()
        elif len(known) > MOST_LEVELS:
            raise _names_rows(name)

    def _count(self, values: Iterable[tuple[Any, int]]) -> None:
        """Count the different values of the target, as long as they may be classes."""
        if not self._too_many:
            for value, count in values:
                self._counts[value] = self._counts.get(value, 0) + count
            self._too_many = len(self._counts) > MOST_LEVELS

    def _is_nominal(self, name: str) -> bool:
        kind, forced = self._types[name], self._forced.get(name)
        if forced is not None:
            return forced == "nominal"
        return kind in (pl.String, pl.Categorical, pl.Enum)

    def _is_text_of_numbers(self, name: str) -> bool:
        return self._forced.get(name) == "numeric" and self._types[name] in (pl.String, pl.Categorical, pl.Enum)

    def _see(self, name: str, cells: pl.Series) -> None:
        if self._is_text or self._is_text_of_numbers(name):
            cells = blanked(cells.cast(pl.String))
            self._fit[name] += fits_of(cells)
        if name not in self._late:
            self._learn(name, _plain_cells(cells).drop_nulls().unique().to_list())

    def _see_target(self, cells: pl.Series) -> None:
        if self._is_text:
            cells = blanked(cells)
            self._fit[self._target] += fits_of(cells)
        self._missing_target += cells.null_count()
        if cells.dtype.is_float():
            self._missing_target += int(cells.is_nan().sum())
        values = _plain_cells(cells).drop_nulls().value_counts()
        self._count(zip(values[values.columns[0]].to_list(), values["count"].to_list(), strict=True))

    def reader(self, name: str, source: Source) -> ColumnReader:
        """Say how a column is read."""
        forced, kind = self._forced.get(name), self._types[name]
        if self._is_text or self._is_text_of_numbers(name):
            return self._text_reader(name, forced, source)
        if self._is_nominal(name):
            return ColumnReader(name, "nominal", False, "level", _ordered(self._distinct[name]))
        if kind == pl.Boolean:
            return ColumnReader(name, "boolean" if forced is None else forced, False, "number")
        if kind.is_numeric():
            return ColumnReader(name, "numeric", False, "number")
        if kind in (pl.Date, pl.Datetime):
            self.notes.append(f"Column {name!r} holds dates, used as days since {EPOCH:%Y-%m-%d}.")
        return ColumnReader(name, "numeric", False, "other")

    def _text_reader(self, name: str, forced: Kind | None, source: Source) -> ColumnReader:
        there, numbers, truths, dates, digits, zeros = self._fit[name].tolist()
        codes = forced is None and zeros > 0 and digits == there
        if codes:
            self.notes.append(f"Column {name!r} is read as codes because of leading zeros; use --numeric for numbers.")
        if forced != "nominal" and not codes:
            if numbers == there:
                return ColumnReader(name, "numeric", True, "number")
            if forced == "numeric" or numbers >= MOSTLY * there:
                raise InputError(
                    f"Column {name!r} holds numbers, but {there - numbers} of {there} cells are not; correct or "
                    f"clear them, or make it nominal (--nominal {name})."
                )
            if truths == there:
                return ColumnReader(name, "boolean", True, "truth")
            if dates == there:
                self.notes.append(f"Column {name!r} holds dates, used as days since {EPOCH:%Y-%m-%d}.")
                return ColumnReader(name, "numeric", True, "date")
        known = self._distinct[name]
        if name in self._late:
            known = source.reduce(_Levels(name), Resources(effective_n_jobs(None)))
        return ColumnReader(name, "nominal", True, "level", _ordered(known))

    def target(self) -> tuple[ColumnReader, Task, tuple[Any, ...], IntArray]:
        """Say how the target is read, what it is for, and its classes."""
        name, kind, text = self._target, self._types[self._target], self._is_text
        if self._missing_target:
            raise InputError(
                f"The target {name!r} is missing in {self._missing_target:,} rows; fill these cells "
                "or leave the rows out."
            )
        if not self.n_seen:
            raise InputError(f"{self._source_name} has columns but no rows.")
        there, numbers = self._fit[name][:2].tolist()
        quantity = numbers == there if text else kind.is_numeric()
        if quantity:
            values = {float(value) for value in self._counts}
            whole = all(value.is_integer() for value in values)
            few = not self._too_many and whole and len(values) <= MAX_INTEGER_CLASSES
            task: Task = self._task or ("classification" if few else "regression")
        else:
            task = self._task or "classification"
            if task == "regression":
                raise InputError(f"The target {name!r} holds no numbers; task regression needs them.")
        if task == "regression":
            if len(self._counts) < 2:
                raise InputError(f"The target has only one value, {next(iter(self._counts))}; choose another target.")
            return ColumnReader(name, "numeric", text, "number"), task, (), np.array([self.n_seen])
        if self._too_many or len(self._counts) == self.n_seen > 2:
            raise InputError(
                f"The target {name!r} has more than {MOST_LEVELS:,} classes, or one for each row; "
                "choose another target, or task regression if it is a quantity."
            )
        return self._classes(name, text, quantity)

    def _classes(self, name: str, text: bool, quantity: bool) -> tuple[ColumnReader, Task, tuple[Any, ...], IntArray]:
        truths = text and self._fit[name][2] == self._fit[name][0]
        merged: dict[Any, int] = {}
        for value, count in self._counts.items():
            meant = float(value) if quantity and text else str(value).lower() == "true" if truths else value
            merged[meant] = merged.get(meant, 0) + count
        labels = _ordered(merged)
        if len(labels) < 2:
            raise InputError(f"The target has only one class, {labels[0]!r}; at least two are needed.")
        counts = np.array([merged[label] for label in labels], dtype=np.int64)
        meaning = "class number" if quantity and text else "truth" if truths else "level"
        return ColumnReader(name, "nominal", text, meaning, labels), "classification", labels, counts


class _Levels(PartWork):
    """The different texts of a column whose many numbers were passed over before a word came."""

    n_rows = 1 << 16

    def __init__(self, name: str) -> None:
        self.columns = [name]

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> set[str]:
        found: set[str] = set()
        for frame in frames:
            self.merge(found, set(blanked(frame[self.columns[0]]).drop_nulls().unique().to_list()))
        return found

    def merge(self, into: set[str], other: set[str]) -> set[str]:
        into |= other
        if len(into) > MOST_LEVELS:
            raise _names_rows(self.columns[0])
        return into


def _names_rows(name: str) -> InputError:
    return InputError(
        f"Column {name!r} has more than {MOST_LEVELS:,} categories; drop it (--exclude {name}), or declare it "
        "numeric if it holds numbers."
    )


def _ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    """Sort levels: numbers by size, others by their text."""
    cells = list(values)
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells):
        return tuple(sorted(cells))
    return tuple(sorted(cells, key=lambda cell: str(cell).lower() if isinstance(cell, bool) else str(cell)))


def _places(cells: pl.Series, levels: FloatArray) -> FloatArray:
    """Return the place of each number among ascending levels; NaN for one that is none of them."""
    numbers = cells.cast(pl.Float64).to_numpy()
    places = np.minimum(np.searchsorted(levels, numbers), len(levels) - 1)
    return np.where(levels[places] == numbers, places.astype(np.float64), np.nan)


def _plain_cells(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.String) if cells.dtype in (pl.Categorical, pl.Enum) else cells


def blanked(cells: pl.Series) -> pl.Series:
    """Strip cells of text, and take out those that mean a missing one."""
    cells = cells.str.strip_chars()
    return cells.set(cells.is_in(list(MISSING)), None)


def fits_of(cells: pl.Series) -> NDArray[np.int64]:
    """Count the cells that are there; of them numbers, truth values, dates, digits alone, and leading zeros."""
    there = cells.drop_nulls()
    numbers = len(there) - there.cast(pl.Float64, strict=False).null_count()
    if numbers == len(there):
        zeros = int((there.str.starts_with("0") & (there.str.len_bytes() > 1)).sum())
        return np.array([len(there), numbers, 0, 0, int(there.str.contains(r"^\d+$").sum()), zeros])
    truths = int(there.str.to_lowercase().is_in(["true", "false"]).sum())
    dates = int(there.str.contains(r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?)?$").sum())
    return np.array([len(there), numbers, truths, dates, 0, 0])


def _meant(cells: pl.Series, meaning: str) -> pl.Series:
    """Turn text into what it means."""
    cells = blanked(cells)
    if meaning == "truth":
        return cells.str.to_lowercase() == "true"
    if meaning == "date":
        moments = cells.str.replace("T", " ", literal=True)
        day = moments.str.len_chars() == 10
        moments = pl.select(pl.when(day).then(moments + " 00:00:00").otherwise(moments)).to_series()
        stamped = moments.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False)
        return stamped.dt.timestamp("us") / 86_400e6
    return cells.cast(pl.Float64, strict=False)


def write_columns(
    path: Path | str, columns: Sequence[str], save: Path | None, contract: Contract | None = None
) -> tuple[int, list[str]]:
    """Write some columns of a table in chunks to a file, as they stand; without one, to standard output as CSV.

    Parameters
    ----------
    path : path
        A file, a folder or a glob of Parquet or text files.
    columns : sequence of str
        Which, in this order.
    save : path or None
        Its ending says the kind; nothing is left there if it fails.
    contract : Contract, optional
        What the columns held when they were chosen.

    Returns
    -------
    n_rows : int
        How many rows were written.
    notes : list of str
        What the contract noticed, each once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"a": [1, 2], "b": [3, 4]}).write_parquet(f"{folder}/t.parquet")
    ...     write_columns(f"{folder}/t.parquet", ["b"], Path(folder) / "b.csv")
    (2, [])
    """
    source = open_source(path)
    absent = [name for name in columns if name not in source.columns]
    if absent:
        raise InputError(f"{source.name} has no column {absent[0]!r}; {nearest(absent[0], list(source.columns))}")
    kind = "csv" if save is None else save.suffix.lower().removeprefix(".")
    if kind == "parquet" and source.is_text:
        raise InputError("Text in chunks is written as text; use --save with .csv or .tsv.")
    others = [name for name in source.columns if name not in columns]
    checked = [] if contract is None else [name for name in columns if name in contract.features]
    place = None if save is None else save.with_name(f".{save.name}.part")
    n_rows, notes = 0, dict[str, None]()
    try:
        with sys.stdout.buffer if place is None else place.open("wb") as file:
            write = _Writer(file, kind)
            for part in range(source.n_parts):
                for frame in source.batches(part, columns, 1 << 17):
                    if contract is not None:
                        notes |= dict.fromkeys(
                            contract.check(_numbers_of(frame.select(checked), contract), others=others)
                        )
                    write.add(frame)
                    n_rows += frame.height
            write.close()
        if place is not None and save is not None:
            place.replace(save)
    finally:
        if place is not None:
            place.unlink(missing_ok=True)
    return n_rows, list(notes)


def _numbers_of(frame: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """Read columns of text that held numbers as numbers, where all their cells are."""
    kinds = {column["name"]: column["kind"] for column in contract.columns if not column.get("date")}
    named = [name for name in frame.columns if frame.schema[name] == pl.String and kinds.get(name) == "numeric"]
    read = {name: _meant(frame[name], "number") for name in named}
    return frame.with_columns(
        own.alias(name) for name, own in read.items() if own.null_count() == blanked(frame[name]).null_count()
    )


class _Writer:
    """Writes frames one after the other into one file."""

    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file, self._kind = file, kind
        self._parquet: Any = None
        self._begun = False

    def add(self, frame: pl.DataFrame) -> None:
        if self._kind != "parquet":
            frame.write_csv(self._file, include_header=not self._begun, separator="," if self._kind == "csv" else "\t")
            self._begun = True
            return
        import pyarrow.parquet as pq

        table = frame.to_arrow()
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(self._file, table.schema)
        self._parquet.write_table(table.cast(self._parquet.schema))

    def close(self) -> None:
        if self._parquet is not None:
            self._parquet.close()
