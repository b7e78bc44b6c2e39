"""A table read in chunks, each as a problem of the whole table's names, kinds, levels and classes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from fewer.contracts import Resources
from fewer.io._cells import MOSTLY
from fewer.io._files import find_target
from fewer.io._kinds import ISO_DATES, NUMERALS, Reading, blanked, fits_of, left_out_notes, reading_of, why_no_levels
from fewer.io._reader import (
    EPOCH,
    LARGEST_NUMBER,
    Contract,
    as_text,
    encode,
    infer_task,
    quantity_notes,
    refuse_absent,
    unusable_column,
)
from fewer.io._source import PartWork, Source, open_source
from fewer.io._suspicions import suspicions
from fewer.io.frames import forced_kinds, label_of, missing_cells, pl, row_number
from fewer.problem import LARGEST_WEIGHT, FloatArray, InputError, IntArray, Kind, Problem, Task, column_number
from fewer.text import nearest

CHUNK_BYTES = 1 << 24
# Cells of the first rows that a stream keeps, and sends to whoever reads its parts.
HEAD_CELLS = 1 << 19
# Levels of a nominal column; more are names of rows.
MOST_TEXTS = 10_000
TOO_MANY = f"more than {MOST_TEXTS:,} different texts"
# Different numbers of a column of text that are kept in case they turn out to be levels.
MOST_NUMBERS = 1_000
# Levels up to which comparing cells with each of them is faster than looking cells up.
FEW_LEVELS = 4
WEIGHTS = "Row weights must be finite and not negative, and not all zero."
# Groups that are numbered, and dealt out to folds in turn; more are dealt out by their value alone.
MOST_GROUPS = 1_000
# Times of rows that are kept, to cut the time into spans of equally many rows.
TIMES = 50_000


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
    groups : str, optional
        The column whose rows of one value belong together.
    time : str, optional
        The column that says when each row was.
    group_names : uint64 array, optional
        What stands for each group, ascending, where they are few.
    times : array, optional
        The times of a sample of the rows.

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
    groups: str | None = None
    time: str | None = None
    group_names: NDArray[np.uint64] | None = None
    times: FloatArray | None = None

    @property
    def stream(self) -> Stream:
        """The stream itself: what is made of its rows has one, too."""
        return self

    @property
    def n_groups(self) -> int | None:
        """How many groups there are, where they are few."""
        return None if self.group_names is None else len(self.group_names)

    @property
    def n_parts(self) -> int:
        """How many parts can be read apart from each other."""
        return self.source.n_parts

    @property
    def dated(self) -> set[str]:
        """The columns of dates, which count as days."""
        dates = {name for name, kind in self.source.columns.items() if kind in (pl.Date, pl.Datetime)}
        return dates | {reader.name for reader in self.readers if reader.reading == ISO_DATES}

    def sent(self) -> Stream:
        """Return the stream without its source, for whoever gets the frames of a part.

        Returns
        -------
        Stream
            Small enough to travel.
        """
        return replace(self, source=Source(), times=None)

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
        """What is read: the features, the target, and what belongs to the rows."""
        rows = [name for name in (self.weights, self.groups, self.time) if name]
        return list(dict.fromkeys([*self.like.names, self.target, *rows]))

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
        columns = {column.name: column for column in frame.iter_columns()}
        for place, reader in enumerate(self.readers):
            cells = reader.numbers(columns[reader.name])
            # of the cells as they were read, which are often half as wide
            ends[:, place] = _ends(cells, reader.name)
            X[:, place] = cells
        y = self.target_reader.numbers(frame[self.target])
        weights = None if self.weights is None else frame[self.weights].to_numpy()
        problem = replace(
            self.like,
            X=X,
            y=y.astype(np.int64 if self.like.task == "classification" else np.float64),
            sample_weight=weights,
            groups=None if self.groups is None else self._group_numbers(frame[self.groups]),
            time=None if self.time is None else moments_of(frame[self.time]),
        )
        problem.__dict__["extremes"] = tuple(ends)
        return problem

    def _group_numbers(self, cells: pl.Series) -> IntArray:
        """Number groups from 0 where they are few; others keep a number of their own."""
        keys = group_keys(cells, self.target_reader.reading is not None)
        if self.group_names is None:
            return (keys >> np.uint64(1)).astype(np.int64)
        return np.searchsorted(self.group_names, keys)


def group_keys(cells: pl.Series, text: bool = False) -> NDArray[np.uint64]:
    """Return a number for each cell that its value decides, wherever it is computed; equal cells have equal ones.

    Parameters
    ----------
    cells : polars.Series
        The groups of rows, none of them missing.
    text : bool, default=False
        They are cells of a text file.

    Returns
    -------
    uint64 array
        They look drawn at random.

    Examples
    --------
    >>> keys = group_keys(pl.Series("patient", ["ann", "bob", "ann"]))
    >>> bool(keys[0] == keys[2] != keys[1])
    True
    """
    cells = blanked(cells) if text else cells
    if missing := int(missing_cells(cells).sum()):
        raise InputError(f"{cells.name!r} has no group in {missing:,} rows; every row needs one.")
    if cells.dtype.is_float():
        numbers = cells.cast(pl.Float64).to_numpy()
        is_whole = (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)  # 7 and 7.0 are one group
        keys = np.where(is_whole, np.where(is_whole, numbers, 0.0).astype(np.int64), numbers.view(np.int64))
    elif cells.dtype.is_integer() or cells.dtype.is_temporal() or cells.dtype == pl.Boolean:
        keys = cells.to_physical().to_numpy().astype(np.int64)
    else:
        import pyarrow as pa

        texts = cells.cast(pl.String).to_arrow().cast(pa.large_string())
        _, ends, data = texts.buffers()
        ends = np.frombuffer(ends or b"", np.int64)[texts.offset : texts.offset + len(texts) + 1]
        keys = _hashed(ends, np.frombuffer(data or b"", np.uint8))
    return _mixed(keys.view(np.uint64), 7)


def _hashed(ends: IntArray, data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return a number for each text between two ends of its bytes (FNV-1a)."""
    out = np.full(len(ends) - 1, 0xCBF29CE484222325, dtype=np.uint64)
    left, at = np.arange(len(out)), ends[:-1]
    while len(left := left[longer := at < ends[left + 1]]):  # the first byte of all, then the second
        at = at[longer]
        out[left] = (out[left] ^ data[at]) * np.uint64(0x100000001B3)
        at = at + 1
    return out


def _mixed(keys: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Turn numbers into others that look drawn at random (SplitMix64)."""
    z = keys * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def moments_of(cells: pl.Series) -> FloatArray:
    """Return times as numbers in their order: days since 1970 of dates, numbers as they are.

    Parameters
    ----------
    cells : polars.Series
        Numbers, dates, or text of either, none of them missing.

    Returns
    -------
    array
        One number a cell.

    Examples
    --------
    >>> moments_of(pl.Series("when", ["1970-01-03", "1970-01-02 12:00:00"])).tolist()
    [2.0, 1.5]
    """
    numbers = cells
    if holds_words(cells.dtype):
        texts = blanked(cells.cast(pl.String))
        numbers = NUMERALS.read(texts)
        if numbers.null_count() > texts.null_count():
            numbers = ISO_DATES.read(texts)
    if numbers.dtype in (pl.Date, pl.Datetime):
        numbers = numbers.cast(pl.Datetime("us")).dt.timestamp("us") / 86_400e6
    times = numbers.to_physical().cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    if not np.isfinite(times).all():
        cell = cells[int(np.argmin(np.isfinite(times)))]
        fault = "no time in some row" if cell is None else f"{str(cell)!r} for a time"
        raise InputError(f"{cells.name!r} has {fault}; every row needs a number or a date (2024-01-31).")
    return np.asarray(times, dtype=np.float64)


class _RowSurvey(PartWork):
    """What one pass over the columns of groups and time leaves: groups where they are few, and a sample of times."""

    n_rows = 1 << 17

    def __init__(self, groups: str | None, time: str | None, text: bool) -> None:
        self._groups, self._time, self._text = groups, time, text
        self.columns = [name for name in dict.fromkeys([groups, time]) if name is not None]

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> tuple[NDArray[Any], NDArray[Any], FloatArray]:
        """Look at one part."""
        merged = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64), np.empty(0)
        start = part << 40
        for frame in frames:
            groups, keys, times = np.empty(0, dtype=np.uint64), *merged[1:]
            if self._groups is not None:
                groups = group_keys(frame[self._groups], self._text)
            if self._time is not None:
                times = moments_of(frame[self._time])
                keys = _mixed(np.arange(start, start + len(times), dtype=np.uint64), 5)
                start += len(times)
            merged = self.merge(merged, (groups, keys, times))
        return merged

    def merge(self, into: Any, other: Any) -> Any:
        """Keep the groups, and the times with the smallest keys."""
        groups = np.union1d(into[0], other[0])[: MOST_GROUPS + 1]
        keys, times = (np.concatenate(pair) for pair in zip(into[1:], other[1:], strict=True))
        kept = np.argsort(keys, kind="stable")[:TIMES]
        return groups, keys[kept], times[kept]


@dataclass(frozen=True)
class _RowFilter:
    """Which rows are read: those of a weight above 0, weights relative to `mean`; or those with a target."""

    column: str
    text: bool
    weighs: bool
    mean: float = 1.0

    def weights(self, frame: pl.DataFrame) -> FloatArray:
        """Return what rows weigh; where they only need a target, 0 or 1."""
        cells = frame[self.column]
        if self.weighs:
            return _weights_of(cells)
        return (~missing_cells(blanked(cells) if self.text else cells)).to_numpy().astype(np.float64)

    def kept(self, frames: Iterator[pl.DataFrame], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Leave out the other rows."""
        for frame in frames:
            weights = self.weights(frame)
            if self.weighs:
                frame = frame.with_columns(pl.Series(self.column, weights / self.mean))
            yield frame.filter(pl.Series(weights > 0.0)).select(columns)


class _RowSums(PartWork):
    """Count all rows and the rows that are read; sum the weights of the latter and find the smallest and largest."""

    n_rows = 1 << 18

    def __init__(self, rows: _RowFilter) -> None:
        self.columns, self._rows = [rows.column], rows

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> tuple[int, int, float, float, float]:
        """Look at the rows of one part."""
        sums = (0, 0, 0.0, np.inf, 0.0)
        for frame in frames:
            weights = self._rows.weights(frame)
            used = weights[weights > 0.0]
            added = (len(weights), len(used), float(used.sum()), used.min(initial=np.inf), used.max(initial=0.0))
            sums = self.merge(sums, added)
        return sums

    def merge(self, into: Any, other: Any) -> Any:
        """Return what both parts have together."""
        sums = (one + another for one, another in zip(into[:3], other[:3], strict=True))
        return (*sums, min(into[3], other[3]), max(into[4], other[4]))


class _OfRows(PartWork):
    """Other work, on some of the rows."""

    def __init__(self, work: PartWork, rows: _RowFilter) -> None:
        self._work, self._rows = work, rows
        self.columns, self.n_rows = list(dict.fromkeys([*work.columns, rows.column])), work.n_rows

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> Any:
        """Do the work on what is left of a part."""
        return self._work.read(part, self._rows.kept(frames, self._work.columns))

    def merge(self, into: Any, other: Any) -> Any:
        """Merge as the other work does."""
        return self._work.merge(into, other)

    def finish(self, result: Any) -> Any:
        """Finish as the other work does."""
        return self._work.finish(result)


def holds_words(kind: pl.DataType) -> bool:
    """Say whether a type is one of text or categories."""
    return kind in (pl.String, pl.Categorical, pl.Enum)


class SomeRows(Source):
    """The rows of a source that have a target, or a weight above 0; weights are relative to their mean, as in memory.

    Attributes
    ----------
    n_dropped, n_rows : int
        The other rows, and all rows.
    equal : bool
        All have the same weight, which is the same as none.
    """

    def __init__(self, inner: Source, column: str, *, weights: bool) -> None:
        if column not in inner.columns:
            raise InputError(f"{inner.name} has no column {column!r} for the row weights.")
        self._inner = inner
        self.name, self.is_text, self.travels = inner.name, inner.is_text, inner.travels
        self.columns, self.n_parts = inner.columns, inner.n_parts
        rows = _RowFilter(column, inner.is_text, weights)
        self.n_rows, n_kept, total, low, high = inner.reduce(_RowSums(rows), Resources())
        if weights and self.n_rows and not n_kept:
            raise InputError(WEIGHTS)
        self.n_dropped, self.equal = self.n_rows - n_kept, bool(low == high)
        self._rows = replace(rows, mean=total / max(n_kept, 1))

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks, without the other rows."""
        needed = list(dict.fromkeys([*columns, self._rows.column]))
        return self._rows.kept(self._inner.batches(part, needed, n_rows), columns)

    def reduce(self, work: PartWork, resources: Resources, parts: Sequence[int] | None = None) -> Any:
        """Work on parts where they lie, without the other rows."""
        return self._inner.reduce(_OfRows(work, self._rows), resources, parts)


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
    reading : Reading, optional
        How its cells are read where they are text that may mean something else.
    levels : tuple
        The cell behind each code.
    """

    name: str
    kind: Kind
    reading: Reading | None = None
    levels: tuple[Any, ...] = ()

    def numbers(self, cells: pl.Series) -> NDArray[Any]:
        """Return the cells as numbers of whatever precision they have, NaN where missing."""
        if self.reading is not None:
            cells = self.reading.read(blanked(cells.cast(pl.String)))
        if self.kind == "nominal":
            return self._codes(cells)
        if not (cells.dtype.is_numeric() or cells.dtype == pl.Boolean):
            return encode(nw.from_native(cells, series_only=True), self.name, None, row_number, [])[0]
        if cells.null_count():
            cells = cells.cast(pl.Float64).fill_null(float("nan"))
        return cells.to_numpy()

    def _codes(self, cells: pl.Series) -> NDArray[Any]:
        known = self.levels
        if cells.dtype.is_numeric() and all(type(level) in (int, float) and abs(level) < 2**53 for level in known):
            return _places(cells, np.array(known, dtype=np.float64))  # others are too large to be exact, or decimals
        if known and isinstance(known[0], str):
            if len(known) <= FEW_LEVELS and cells.dtype == pl.String:
                matches = [cells == level for level in known]
                if sum(int(match.sum()) for match in matches) == len(cells):
                    return np.asarray(sum(k * match.to_numpy().view(np.uint8) for k, match in enumerate(matches)))
            codes = cells.cast(pl.String).cast(pl.Enum(known), strict=False).to_physical()
            return (codes.cast(pl.Float64).fill_null(float("nan")) if codes.null_count() else codes).to_numpy()
        codes = cells.replace_strict(
            list(known), np.arange(len(known), dtype=np.float64), default=None, return_dtype=pl.Float64
        )
        return np.asarray(codes.fill_null(float("nan")).to_numpy(), dtype=np.float64)


def open_stream(
    data: Any, target: str | int, *, task: Task | None = None, nominal: Iterable[str | int] = (),
    numeric: Iterable[str | int] = (), exclude: Iterable[str | int] = (), weights: str | None = None,
    groups: str | None = None, time: str | None = None, skip_rows_without_target: bool = False,
) -> Stream:  # fmt: skip
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
    groups, time : str, optional
        The columns whose rows of one value are never on both sides of a split, and that say when each row was: training
        rows are earlier than those held out. They are no features then.
    skip_rows_without_target : bool, default=False
        Leave rows out whose target is missing, instead of refusing them.

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
    names = list(source.columns)
    label = names[find_target(target, names, source.name)]
    if skip_rows_without_target:
        source = SomeRows(source, label, weights=False)
        if source.n_dropped:
            notes.append(f"{source.n_dropped:,} of {source.n_rows:,} rows have no target; they were left out.")
    equal = False
    if weights is not None:
        source = SomeRows(source, weights, weights=True)
        equal = source.equal
        if source.n_dropped:
            notes.append(
                f"{source.n_dropped} of {source.n_rows} rows have weight 0; they were left out before anything else."
            )
    for role, named in (("groups", groups), ("time", time)):
        if named is not None and named not in names:
            raise InputError(f"{source.name} has no column {named!r} for {role}; {nearest(named, names)}")
    left_out = {names[column_number(column, names, "exclude")] for column in exclude} | {label, weights, groups, time}
    features = [name for name in names if name not in left_out]
    if not features:
        raise InputError(f"{source.name} has only the target column {label!r}; there is nothing to select.")
    forced = {names[number]: kind for number, kind in forced_kinds(nominal, numeric, names).items()}
    everyone = Resources(effective_n_jobs(None))
    survey: _Survey = source.reduce(_Survey(source, label, features, forced, task), everyone)
    readers = _usable(survey, source, features, notes)
    target_reader, inferred, classes, counts = survey.target()
    like = _without_rows(readers, inferred, classes, (*notes, *survey.notes))
    weights = None if equal else weights
    stream = Stream(source, label, like, survey.n_seen, counts, weights, readers, target_reader, groups, time)
    if groups is not None or time is not None:
        known, _, times = source.reduce(_RowSurvey(groups, time, source.is_text), everyone)
        few = groups is not None and len(known) <= MOST_GROUPS
        stream = replace(stream, group_names=known if few else None, times=times)
    return replace(stream, like=_first_rows(stream))


def _usable(survey: _Survey, source: Source, features: list[str], notes: list[str]) -> tuple[ColumnReader, ...]:
    """Return what reads the columns that can be features; a note names the others."""
    every = [survey.reader(name, source) for name in features]  # finds out more columns that cannot be used
    readers = tuple(reader for reader in every if reader.name not in survey.unused)
    unused = {name: Reading("left out", reason=survey.unused[name]) for name in features if name in survey.unused}
    left_out = left_out_notes(unused, "" if {*survey.unused.values()} == {TOO_MANY} else "Use --nominal to keep one.")
    if not readers:
        raise InputError(f"{source.name} has no column left to select from. {left_out[0]}")
    notes += left_out
    return readers


def _without_rows(
    readers: Sequence[ColumnReader], task: Task, classes: tuple[Any, ...], notes: tuple[str, ...]
) -> Problem:
    """Describe the columns before any row is read."""
    levels = [tuple(map(label_of, reader.levels)) if reader.kind == "nominal" else None for reader in readers]
    y = np.empty(0, dtype=np.int64 if task == "classification" else np.float64)
    names, kinds = tuple(reader.name for reader in readers), tuple(reader.kind for reader in readers)
    known = {place: labels for place, labels in enumerate(levels) if labels is not None}
    X = np.empty((0, len(readers)))
    return Problem(X=X, y=y, task=task, names=names, kinds=kinds, classes=classes, levels=known, notes=notes)


def _first_rows(stream: Stream) -> Problem:
    """Read some rows of the first part that has any, which says what all are like."""
    n_rows = int(np.clip(HEAD_CELLS // stream.like.n_features, 256, 20_000))
    first = (stream.source.reduce(_Head(stream.sent(), n_rows), Resources(), [part]) for part in range(stream.n_parts))
    kept = next(rows for rows in first if rows is not None)  # the survey found rows
    seen = "" if kept.n_samples == stream.n_samples else f" (Seen in the first {kept.n_samples:,} rows.)"
    # One class alone shows no suspicion; cells that are too large are refused where they are summed.
    large = (np.abs(kept.X) > LARGEST_NUMBER).any() or (np.abs(kept.y) > LARGEST_NUMBER).any()
    suspected = [] if large or not np.ptp(kept.y) else suspicions(kept)
    suspected = [replace(one, evidence=f"{one.evidence}{seen}") for one in suspected]
    kept = replace(kept, sample_weight=None, groups=None, time=None)
    return kept.told((*kept.notes, *(one.evidence for one in suspected)), suspicions=suspected)


class _Head(PartWork):
    """The first rows of a part."""

    def __init__(self, stream: Stream, n_rows: int) -> None:
        self.stream, self.columns, self.n_rows = stream, stream.columns, n_rows

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> Problem | None:
        return next((rows.take(np.arange(rows.n_samples)) for rows in self.stream.problems(part, frames)), None)

    def merge(self, into: Problem | None, other: Problem | None) -> Problem | None:
        return other if into is None else into


def _ends(cells: NDArray[Any], name: str) -> tuple[float, float]:
    """Return the smallest and the largest cell that is there; refuse what nobody can compute with."""
    low, high = float(np.fmin.reduce(cells)), float(np.fmax.reduce(cells))
    if np.isnan(low):
        return np.inf, -np.inf
    for end in (low, high):
        if abs(end) > LARGEST_NUMBER:
            how = "an infinite number" if np.isinf(end) else f"{end:g}, too large to compute with"
            raise InputError(f"Column {name!r} holds {how}; correct or empty the cell.")
    return low, high


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
            raise unusable_column(unusable, str(types[unusable]))
        self._asked = [name for name in features if self._reads_text(name) or self._is_nominal(name)]
        self.columns = [*self._asked, target]
        self.n_rows = int(np.clip(CHUNK_BYTES // (8 * len(self.columns)), 256, 1 << 18))
        self.notes: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self.n_seen = 0
        self._distinct: dict[str, set[Any]] = {name: set() for name in self.columns}
        self._counts: dict[Any, int] = {}
        self._fit: dict[str, NDArray[np.int64]] = {name: np.zeros(7, dtype=np.int64) for name in self.columns}
        # Columns with too many different texts to keep them all: numbers, as a rule, which need no levels.
        self._late: set[str] = set()
        self.unused: dict[str, str] = {}
        self._missing_target = 0
        self._too_many = False

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> _Survey:
        survey = copy(self)
        survey._begin()
        for frame in frames:
            survey.n_seen += frame.height
            for name in survey._asked:
                survey._see(name, frame[name])
            survey._see_target(frame[survey._target])
        return survey

    def merge(self, into: _Survey, other: _Survey) -> _Survey:
        into.n_seen += other.n_seen
        into._missing_target += other._missing_target
        into._too_many |= other._too_many
        into._late |= other._late
        into.unused |= other.unused
        for name in into.columns:
            into._fit[name] += other._fit[name]
            into._learn(name, other._distinct[name])
        into._count(other._counts.items())
        return into

    def _learn(self, name: str, cells: Iterable[Any]) -> None:
        """Keep the different cells of a column, as long as they may be levels."""
        known = self._distinct[name]
        if name not in {*self._late, *self.unused}:
            known.update(cells)
        if self._reads_text(name):
            present, numbers = self._fit[name][:2]
            if len(known) > (MOST_NUMBERS if numbers == present else MOST_TEXTS):
                self._late.add(name)
            if name in self._late:
                known.clear()
        elif len(known) > MOST_TEXTS:
            self._leave_out(name)

    def _leave_out(self, name: str) -> None:
        """Leave out a column that has a level for nearly each row, unless it is asked for."""
        if self._forced.get(name) == "nominal":
            raise InputError(
                f"Column {name!r} has more than {MOST_TEXTS:,} categories; drop it (--exclude {name}), or declare it "
                "numeric if it holds numbers."
            )
        self.unused[name] = TOO_MANY
        self._distinct[name].clear()

    def _count(self, values: Iterable[tuple[Any, int]]) -> None:
        """Count the different values of the target, as long as they may be classes."""
        if not self._too_many:
            for value, count in values:
                self._counts[value] = self._counts.get(value, 0) + count
            self._too_many = len(self._counts) > MOST_TEXTS

    def _is_nominal(self, name: str) -> bool:
        return self._forced.get(name, "nominal" if holds_words(self._types[name]) else None) == "nominal"

    def _reads_text(self, name: str) -> bool:
        """Say whether cells are text that may mean something else: in a file of text, or of numbers as was said."""
        return self._is_text or (self._forced.get(name) == "numeric" and holds_words(self._types[name]))

    def _see(self, name: str, cells: pl.Series) -> None:
        if self._reads_text(name):
            cells = blanked(cells.cast(pl.String))
            self._fit[name] += fits_of(cells)
        else:
            self._fit[name][0] += len(cells) - cells.null_count()
        if name not in {*self._late, *self.unused}:
            self._learn(name, _plain_cells(cells).drop_nulls().unique().to_list())

    def _see_target(self, cells: pl.Series) -> None:
        if self._is_text:
            cells = blanked(cells)
            self._fit[self._target] += fits_of(cells)
        self._missing_target += int(missing_cells(cells).sum())
        values = _plain_cells(cells).drop_nulls().value_counts()
        self._count(zip(values[values.columns[0]].to_list(), values["count"].to_list(), strict=True))

    def reader(self, name: str, source: Source) -> ColumnReader:
        """Say how a column is read."""
        forced, kind = self._forced.get(name), self._types[name]
        if self._reads_text(name):
            return self._text_reader(name, forced, source)
        if self._is_nominal(name):
            return self._level_reader(name, self._distinct[name])
        if kind in (pl.Date, pl.Datetime):
            self._note_dates(name)
        return ColumnReader(name, "boolean" if kind == pl.Boolean and forced is None else "numeric")

    def _note_dates(self, name: str) -> None:
        self.notes.append(f"Column {name!r} holds dates, used as days since {EPOCH:%Y-%m-%d}.")

    def _text_reader(self, name: str, forced: Kind | None, source: Source) -> ColumnReader:
        (present, numbers), reading = self._fit[name][:2].tolist(), reading_of(self._fit[name])
        coded = forced is None and reading.reason
        if forced != "nominal" and not coded:
            if numbers == present:
                return ColumnReader(name, "numeric", NUMERALS)
            if forced == "numeric" or numbers >= MOSTLY * present:
                raise InputError(
                    f"Column {name!r} holds numbers, but {present - numbers} of {present} cells are not; correct or "
                    f"clear them, or make it nominal (--nominal {name})."
                )
            if reading.kind == "boolean":
                return ColumnReader(name, "boolean", reading)
            if reading == ISO_DATES:
                self._note_dates(name)
                return ColumnReader(name, "numeric", reading)
        known = self._distinct[name]
        if name in self._late:
            known = source.reduce(_Levels(name), Resources(effective_n_jobs(None)))
            if len(known) > MOST_TEXTS:
                self._leave_out(name)
        reader = self._level_reader(name, known)
        if coded and name not in self.unused:
            because = f"because of {reading.reason}; use --numeric for numbers"
            self.notes.append(f"Column {name!r} is read as codes {because}.")
        return reader

    def _level_reader(self, name: str, known: set[Any]) -> ColumnReader:
        """Read a column by its levels; one of text that names the rows, or holds sentences or lists, is left out."""
        if name not in {*self._forced, *self.unused} and self._types[name] == pl.String:
            reason = why_no_levels(pl.Series(list(known), dtype=pl.String), int(self._fit[name][0]))
            self.unused |= {} if reason is None else {name: reason}
        return ColumnReader(name, "nominal", Reading("nominal") if self._reads_text(name) else None, _ordered(known))

    def target(self) -> tuple[ColumnReader, Task, tuple[Any, ...], IntArray]:
        """Say how the target is read, what it is for, and its classes."""
        name, kind, text = self._target, self._types[self._target], self._is_text
        if self._missing_target:
            raise InputError(
                f"The target {name!r} is missing in {self._missing_target:,} rows; fill these cells, "
                "or leave the rows out (--skip-rows-without-target)."
            )
        if not self.n_seen:
            raise InputError(f"{self._source_name} has columns but no rows.")
        reading = reading_of(self._fit[name]) if text else None
        if reading is not None and reading.reason:  # numbers with leading zeros or many digits
            reading = NUMERALS
        quantity = reading == NUMERALS if text else kind.is_numeric()
        values = np.array([float(value) for value in self._counts]) if quantity else np.array(["text"])
        task = self._task or ("regression" if quantity and self._too_many else infer_task(values))
        if quantity and not (self._task or self._too_many):
            self.notes += quantity_notes(values, self.n_seen)
        if task == "regression" and not quantity:
            raise InputError(f"The target {name!r} holds no numbers; task regression needs them.")
        if task == "regression":
            if len(self._counts) < 2:
                raise InputError(f"The target has only one value, {next(iter(self._counts))}; choose another target.")
            return ColumnReader(name, "numeric", reading), task, (), np.array([self.n_seen])
        if self._too_many or len(self._counts) == self.n_seen > 2:
            raise InputError(
                f"The target {name!r} has more than {MOST_TEXTS:,} classes, or one for each row; "
                "choose another target, or task regression if it is a quantity."
            )
        reading = Reading("nominal") if reading == ISO_DATES else reading
        meant = list(self._counts) if reading is None else reading.read(pl.Series(list(self._counts))).to_list()
        merged: Counter[Any] = Counter()  # 1 and 1.0 are one class
        for value, count in zip(meant, self._counts.values(), strict=True):
            merged[value] += count
        labels = _ordered(merged)
        if len(labels) < 2:
            raise InputError(f"The target has only one class, {labels[0]!r}; at least two are needed.")
        counts = np.array([merged[label] for label in labels], dtype=np.int64)
        return ColumnReader(name, "nominal", reading, labels), task, labels, counts


class _Levels(PartWork):
    """The different texts of a column whose many numbers were passed over before a word came."""

    n_rows = 1 << 16

    def __init__(self, name: str) -> None:
        self.columns = [name]

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> set[str]:
        levels: set[str] = set()
        for frame in frames:
            levels = self.merge(levels, set(blanked(frame[self.columns[0]]).drop_nulls().unique().to_list()))
        return levels

    def merge(self, into: set[str], other: set[str]) -> set[str]:
        return into if len(into) > MOST_TEXTS else into | other


def _ordered(values: Iterable[Any]) -> tuple[Any, ...]:
    """Sort levels: numbers by size, others by their text."""
    cells = list(values)
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells):
        return tuple(sorted(cells))
    return tuple(sorted(cells, key=as_text))


def _places(cells: pl.Series, levels: FloatArray) -> FloatArray:
    """Return the place of each number among ascending levels; NaN for one that is none of them."""
    numbers = cells.cast(pl.Float64).to_numpy()
    places = np.minimum(np.searchsorted(levels, numbers), len(levels) - 1)
    return np.where(levels[places] == numbers, places.astype(np.float64), np.nan)


def _plain_cells(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.String) if cells.dtype in (pl.Categorical, pl.Enum) else cells


def write_columns(
    path: Path | str, columns: Sequence[str], save: Path | None, contract: Contract | None = None,
    readings: Mapping[str, Reading | None] | None = None,
) -> tuple[int, list[str]]:  # fmt: skip
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
    readings : mapping of str to Reading, optional
        How cells of text are read, for a Parquet file; by default as the contract says.

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
    refuse_absent(columns, list(source.columns), source.name)
    kind = "csv" if save is None else save.suffix.lower().removeprefix(".")
    if readings is None and contract is not None:
        known = {"numeric": NUMERALS, "boolean": Reading("boolean")}
        readings = {was["name"]: ISO_DATES if was.get("date") else known.get(was["kind"]) for was in contract.columns}
    others = [name for name in source.columns if name not in columns]
    checked = [] if contract is None else [name for name in columns if name in contract.features]
    place = None if save is None else save.with_name(f".{save.name}.part")
    n_rows, notes, begun = 0, dict[str, None](), False
    writer: Any = None  # of Parquet
    try:
        with sys.stdout.buffer if place is None else place.open("wb") as file:
            for part in range(source.n_parts):
                for frame in source.batches(part, columns, 1 << 17):
                    read = _typed(frame, readings or {})
                    if contract is not None:
                        notes |= dict.fromkeys(contract.check(read.select(checked), others=others))
                    if kind == "parquet":
                        import pyarrow.parquet as pq

                        table = (read if source.is_text else frame).to_arrow()
                        writer = pq.ParquetWriter(file, table.schema) if writer is None else writer
                        writer.write_table(table.cast(writer.schema))
                    else:
                        frame.write_csv(file, include_header=not begun, separator="," if kind == "csv" else "\t")
                    n_rows, begun = n_rows + frame.height, True
            if writer is not None:
                writer.close()
        if place is not None and save is not None:
            place.replace(save)
    finally:
        if place is not None:
            place.unlink(missing_ok=True)
    return n_rows, list(notes)


def _typed(frame: pl.DataFrame, readings: Mapping[str, Reading | None]) -> pl.DataFrame:
    """Read columns of text as the numbers, truth values or dates that they mean, where all their cells are."""
    for name in [name for name, kind in frame.schema.items() if kind == pl.String]:
        if (reading := readings.get(name)) is not None and reading.kind != "nominal":
            texts = blanked(frame[name])
            if (cells := reading.read(texts)).null_count() == texts.null_count():
                frame = frame.with_columns(cells.alias(name))
    return frame
