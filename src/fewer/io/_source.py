"""Tables that are read in parts: files, folders, globs, lazy frames, datasets, relations, partitions."""

from __future__ import annotations

import glob
import os
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import getitem
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from fewer.contracts import Resources
from fewer.io._formats import is_address
from fewer.io._text import find_separator
from fewer.io.frames import pl, reading, refuse_repeated_names
from fewer.io.memory import PROGRAM, amount, available_memory, needed_memory
from fewer.parallel import cluster_of, reduce_on_spark, reduce_tasks
from fewer.problem import InputError

# Rows of a Parquet file that one task reads, about.
PART_ROWS = 1_000_000
# Bytes of a row group up to which it is decoded at once.
GROUP_BYTES = 1 << 28
SUFFIXES = (".parquet", ".pq", ".csv", ".tsv", ".txt", ".gz")
GLOB = "*?["
STORE = "s3:/"  # a Path keeps one slash of two
# What Hive, Spark and others write for a missing cell in the name of a folder.
NO_CELL = "__HIVE_DEFAULT_PARTITION__"


class PartWork(ABC):
    """What is done with each part of a table where it lies, and how two results become one.

    Attributes
    ----------
    columns : list of str
        What is read; other columns stay where they are.
    n_rows : int
        About how many rows at a time.

    See Also
    --------
    Source.reduce : Does it.

    Examples
    --------
    >>> class Sum(PartWork):
    ...     columns, n_rows = ["a"], 1000
    ...
    ...     def read(self, part, frames):
    ...         return sum(frame["a"].sum() for frame in frames)
    ...
    ...     def merge(self, into, other):
    ...         return into + other
    >>> open_source(pl.LazyFrame({"a": [1.0, 2.0], "b": ["x", "y"]})).reduce(Sum(), Resources())
    3.0
    """

    columns: list[str]
    n_rows: int

    @abstractmethod
    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> Any:
        """Work on one part.

        Parameters
        ----------
        part : int
            Its number.
        frames : iterator of polars.DataFrame
            Its rows, in order.

        Returns
        -------
        object
            Small enough to travel.
        """

    @abstractmethod
    def merge(self, into: Any, other: Any) -> Any:
        """Make one result of two neighbors; the first may be changed.

        Parameters
        ----------
        into, other : object
            Results of parts, or of runs of parts, one after the other.

        Returns
        -------
        object
            That of both.
        """

    def finish(self, result: Any) -> Any:
        """Make what travels back of the result of all parts, where that lies; as it is unless overridden.

        Parameters
        ----------
        result : object
            What `merge` made of all parts.

        Returns
        -------
        object
            What `Source.reduce` returns.
        """
        return result


class Source:
    """A table in parts, each of which can be read again and again, in batches.

    Attributes
    ----------
    name : str
        For messages.
    is_text : bool
        Cells are text, whatever they mean.
    travels : bool
        Parts can be read by another process or machine that sees the same files.
    columns : dict of str to polars type
        The columns and their types.
    n_parts : int
        How many parts there are.

    See Also
    --------
    open_source : Opens one.

    Examples
    --------
    >>> source = open_source(pl.LazyFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    >>> [batch.height for batch in source.batches(0, ["a"], 10)]
    [2]
    """

    name: str = "The table"
    is_text: bool = False
    travels: bool = False
    columns: dict[str, pl.DataType]
    n_parts: int = 1

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks of about `n_rows` rows, in order; not where `reduce` alone can.

        Parameters
        ----------
        part : int
            Which part.
        columns : sequence of str
            What to read.
        n_rows : int
            About how many rows at a time.

        Returns
        -------
        iterator of polars.DataFrame
            In the order of the rows.
        """
        raise InputError(f"{self.name} is read where it lies, not here.")

    def reduce(self, work: PartWork, resources: Resources, parts: Sequence[int] | None = None) -> Any:
        """Work on parts where they lie, merge neighbors pairwise there, and return one result.

        The tree of merges is the same wherever parts lie: neighbors in pairs, then neighbors of these. So the result
        depends on the parts alone. An engine that keeps its own tables has its own `reduce`.

        Parameters
        ----------
        work : PartWork
            What is done.
        resources : Resources
            Who does it.
        parts : sequence of int, optional
            All by default.

        Returns
        -------
        object
            What `work.finish` makes of all parts.
        """
        tasks = [(part,) for part in (range(self.n_parts) if parts is None else parts)]
        resources = resources if self.travels else resources.alone()
        return reduce_tasks(_read_part, _merge, tasks, resources, shared=(work, self), finish=_finish)


def _read_part(shared: tuple[PartWork, Source], part: int) -> Any:
    work, source = shared
    return work.read(part, source.batches(part, work.columns, work.n_rows))


def _merge(shared: tuple[PartWork, Any], into: Any, other: Any) -> Any:
    return shared[0].merge(into, other)


def _finish(shared: tuple[PartWork, Any], result: Any) -> Any:
    return shared[0].finish(result)


def is_path(data: Any) -> bool:
    """Say whether this names files.

    Parameters
    ----------
    data : object
        Anything.

    Returns
    -------
    bool
        True for a path or its text.

    Examples
    --------
    >>> is_path("parts/*.parquet"), is_path([1.0])
    (True, False)
    """
    return isinstance(data, str | Path)


def open_source(data: Any) -> Source:
    """Open a table that is read in parts.

    Parameters
    ----------
    data : path, glob, polars LazyFrame, pyarrow dataset, DuckDB relation, Dask dataframe or Spark DataFrame
        A path names a Parquet or text file, or a folder of such files.

    Returns
    -------
    Source
        Its columns and its parts.

    Examples
    --------
    >>> source = open_source(pl.LazyFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    >>> list(source.columns), source.n_parts
    (['a', 'b'], 1)
    """
    if isinstance(data, Source):
        return data
    if is_path(data):
        return _open_files(str(data))
    if (kind := _kind_of(data)) is None:
        raise InputError(
            f"A {type(data).__name__} cannot be read in parts; give a path, a folder, a glob, a polars LazyFrame, "
            "a pyarrow dataset, a DuckDB relation, a Dask dataframe or a Spark DataFrame."
        )
    return kind(data)


def _kind_of(data: Any) -> Callable[[Any], Source] | None:
    """Return what reads a table that is not in memory; nobody does others."""
    module = type(data).__module__.partition(".")[0]
    if module == "polars" and type(data).__name__ == "LazyFrame":
        return LazySource
    if module == "pyarrow" and hasattr(data, "get_fragments"):
        return DatasetSource
    if module == "pyspark" and hasattr(data, "mapInArrow"):
        return SparkSource
    if module in ("duckdb", "_duckdb"):
        return RelationSource
    return PartitionSource if hasattr(data, "to_delayed") and hasattr(data, "npartitions") else None


def is_lazy(data: Any) -> bool:
    """Say whether this is a table that is not in memory: a lazy frame, a dataset, a relation, partitions elsewhere.

    Parameters
    ----------
    data : object
        Anything.

    Returns
    -------
    bool
        True if its rows are elsewhere.

    Examples
    --------
    >>> is_lazy(pl.LazyFrame({"a": [1.0]})), is_lazy(pl.DataFrame({"a": [1.0]}))
    (True, False)
    """
    return isinstance(data, Source) or _kind_of(data) is not None


def in_chunks(path: Path | str, command: str = "select") -> bool:
    """Say whether what a path names is read in chunks: many files, or one that memory does not hold.

    Parameters
    ----------
    path : path
        A file, a folder or a glob.
    command : {"rank", "select", "compare"}
        What is to be done with it.

    Returns
    -------
    bool
        True for many files, or one that memory does not hold.

    Examples
    --------
    >>> in_chunks("parts/*.parquet")
    True
    """
    if os.path.isfile(path):  # a query may be longer than a path
        return needed_memory(Path(path), command) > available_memory()
    return names_many(path)


def beyond_memory(path: Path | str) -> bool:
    """Say whether the files that a path names are larger than memory together.

    Parameters
    ----------
    path : path
        A file, a folder or a glob.

    Returns
    -------
    bool
        True where they can only be read in chunks.

    Examples
    --------
    >>> beyond_memory("-")  # standard input
    False
    """
    if str(path) == "-" or not (os.path.isfile(path) or names_many(path)):
        return False
    return bool(_remote(path)) or _needed_by_all(path, "rank") > available_memory()


def memory_plan(path: Path | str, command: str = "select") -> str:
    """Say before the work what a table would need as a whole, and what is free.

    Parameters
    ----------
    path : path
        A file, a folder or a glob.
    command : {"rank", "select", "compare"}
        What is to be done with it.

    Returns
    -------
    str
        Words for a sentence.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     memory_plan(file.name).partition(" of memory")[0]
    'as a whole it needs about 371.9 MiB'
    """
    if _remote(path):
        return "from where it lies"
    free = amount(available_memory())
    return f"as a whole it needs about {amount(_needed_by_all(path, command))} of memory, and {free} is free"


def _needed_by_all(path: Path | str, command: str) -> int:
    """Add up what the files of a path need; the program is there once."""
    needed = [needed_memory(file, command) for file in files_of(path)]
    return sum(needed) - PROGRAM[command] * (len(needed) - 1)


def _remote(path: Path | str) -> str:
    """Return the address of Parquet files in a store (s3://bucket/folder); nothing for other paths."""
    text = str(path)
    return "s3://" + text[3:].lstrip("/") if text.startswith(STORE) else ""


def names_many(path: Path | str) -> bool:
    """Say whether a path names a folder, files in a store or, by a pattern, several files."""
    if str(path).startswith(STORE) or is_address(path):  # the * of a query is no pattern
        return str(path).startswith(STORE)
    return Path(path).is_dir() or (any(mark in str(path) for mark in GLOB) and not Path(path).exists())


def _open_files(path: str) -> Source:
    if address := _remote(path):
        import pyarrow as pa
        import pyarrow.dataset

        with reading(address, pa.ArrowException, OSError):
            return DatasetSource(pa.dataset.dataset(address, format="parquet", partitioning="hive"))
    files = files_of(path)
    kinds = {_is_parquet(file) for file in files}
    if len(kinds) > 1:
        raise InputError(f"{path} mixes Parquet and other files; name files of one kind.")
    source = ParquetSource(files) if kinds == {True} else TextSource(files)
    named = named_by_folders(path, files, source.is_text).drop(source.columns, strict=False)
    return FolderSource(source, named) if named.width else source


def files_of(path: str | Path) -> list[Path]:
    """Return the files that a path, a folder or a glob names, in the order of their names."""
    text = str(path)
    if Path(text).is_file():
        return [Path(text)]
    if Path(text).is_dir():
        inside = sorted(file for file in Path(text).rglob("*") if file.is_file())
        named = [(file, file.relative_to(text).parts) for file in inside if file.name.lower().endswith(SUFFIXES)]
        files = [file for file, steps in named if not any(step.startswith((".", "_")) for step in steps)]
        if not files:
            raise InputError(f"The folder {text} holds no Parquet or CSV file; name another.")
        return files
    files = sorted(Path(match) for match in glob.glob(text, recursive=True) if Path(match).is_file())
    if not files:
        reason = "No file matches" if any(mark in text for mark in GLOB) else "File not found:"
        raise InputError(f"{reason} {text}; check the path.")
    return files


def named_by_folders(path: str | Path, files: Sequence[Path], is_text: bool) -> pl.DataFrame:
    """Return the columns that folders below a path name (`year=2024/part.parquet`), with a row for each file."""
    steps = Path(path).parts
    fixed = steps if Path(path).exists() else takewhile(lambda step: not any(mark in step for mark in GLOB), steps)
    root = Path(*fixed)
    below = [file.relative_to(root).parts[:-1] for file in files]
    by_file = [dict(unquote(step).split("=", 1) for step in inner if "=" in step) for inner in below]
    for file, cells in zip(files, by_file, strict=True):
        if list(cells) != list(by_file[0]):
            named = " and ".join(repr(name) for name in by_file[0] or cells)
            raise InputError(f"Folders of {path} name {named}, but not the one of {file}; arrange them alike.")
    return pl.DataFrame([_typed([cells[name] for cells in by_file], is_text).alias(name) for name in by_file[0]])


def _typed(cells: list[str], is_text: bool) -> pl.Series:
    """Return what folders name as whole numbers or dates where all are, else as text; beside text as text."""
    texts = pl.Series(cells).replace(NO_CELL, None)
    for read in (texts.cast(pl.Int64, strict=False), texts.str.to_date("%Y-%m-%d", strict=False)):
        if read.null_count() == texts.null_count() < len(texts):
            return read.cast(pl.String) if is_text else read
    return texts


def _is_parquet(file: Path) -> bool:
    with reading(str(file), OSError), file.open("rb") as stream:
        return stream.read(4) == b"PAR1"


class ParquetSource(Source):
    """Parquet files of one schema; a part is about a million rows of one of them."""

    travels = True

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = [Path(file).absolute() for file in files]
        self.name = self.files[0].name if len(self.files) == 1 else f"{len(self.files)} Parquet files"
        self.columns = dict(pl.scan_parquet(self.files[0]).collect_schema())
        refuse_repeated_names(list(self.columns), f"{self.name}: ")
        self._mixed: dict[str, str] = {}
        self._parts: list[tuple[Path, int, int]] = []  # some row groups of a file: the first one, and that behind
        for file in self.files:
            self._lay_out(file)
        self.n_parts, self.part_files = len(self._parts), [file for file, _, _ in self._parts]

    def _lay_out(self, file: Path) -> None:
        import pyarrow.parquet as pq

        with reading(f"The Parquet file {file.name}", OSError, ValueError, cure="; write it again"):
            meta = pq.ParquetFile(file).metadata
        self._meet(file, _polars_types(meta.schema.to_arrow_schema()))
        sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        low = rows = 0
        for group, size in enumerate(sizes):
            rows += size
            if rows >= PART_ROWS or group == len(sizes) - 1:
                self._parts.append((file, low, group + 1))
                low, rows = group + 1, 0

    def _meet(self, file: Path, types: dict[str, pl.DataType]) -> None:
        """Note a column that a file lacks, or has other cells in. Without any cell it takes any type."""
        for name, known in self.columns.items():
            if name not in types:
                self._mixed[name] = f"{file.name} lacks the column {name!r} that {self.files[0].name} has; drop it."
            elif known == pl.Null:
                self.columns[name] = types[name]
            elif types[name] != pl.Null and _family(types[name]) != _family(known):
                kinds = f"{types[name]} in {file.name} and {known} in a file before it"
                self._mixed[name] = f"Column {name!r} holds {kinds}; write it with one type in all files, or drop it."

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks of about `n_rows` rows, in order."""
        import pyarrow.parquet as pq

        if mixed := [self._mixed[name] for name in columns if name in self._mixed]:
            raise InputError(mixed[0])
        (path, low, high), plain = self._parts[part], all(_is_plain(self.columns[name]) for name in columns)
        with pq.ParquetFile(path, pre_buffer=False) as file:
            groups = [file.metadata.row_group(group) for group in range(high)]
            start = sum(group.num_rows for group in groups[:low])
            for number, group in enumerate(groups[low:], low):
                # Polars decodes in half the time, but a whole group at once; chunks are the same both ways.
                if plain and group.total_byte_size <= min(GROUP_BYTES, available_memory() // 8):
                    group_frame = pl.scan_parquet(path).select(columns).slice(start, group.num_rows).collect()
                    frames = group_frame.iter_slices(n_rows)
                else:  # its own threads would slow down the reading of other parts
                    way = {"row_groups": [number], "columns": list(columns), "use_threads": False}
                    frames = map(_frame, file.iter_batches(n_rows, **way))
                start += group.num_rows
                for frame in frames:
                    frame = frame if frame.columns == list(columns) else frame.select(columns)
                    empty = [name for name, kind in zip(columns, frame.dtypes, strict=True) if kind == pl.Null]
                    yield frame.cast({name: self.columns[name] for name in empty}) if empty else frame


def _is_plain(kind: pl.DataType) -> bool:
    return kind.is_float() or kind.is_integer() or kind in (pl.String, pl.Boolean)


def _polars_types(schema: Any) -> dict[str, pl.DataType]:
    """Return the columns of an Arrow schema with their types."""
    return dict(_frame(schema.empty_table()).schema)


def _frame(arrow: Any) -> pl.DataFrame:
    """Return a table or batch of Arrow's as a frame."""
    frame = pl.from_arrow(arrow)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _family(kind: pl.DataType) -> str:
    """Name what cells of a type are, whatever their width."""
    if kind.is_numeric():
        return "number"
    return "text" if kind in (pl.String, pl.Categorical, pl.Enum) else str(kind.base_type())


class TextSource(Source):
    """Text tables with one header; a part is a file."""

    travels = True
    is_text = True

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = self.part_files = [Path(file).absolute() for file in files]
        self.name = self.files[0].name if len(self.files) == 1 else f"{len(self.files)} text files"
        with self.files[0].open("rb") as opened:
            start = opened.read(65536)
        if start.startswith(b"\x1f\x8b"):
            try:
                start = zlib.decompressobj(31).decompress(start, 65536)
            except zlib.error:
                raise InputError(f"{self.name} cannot be unpacked: it is damaged; copy or pack it again.") from None
        self._separator = find_separator(start)
        self._names: list[str] = []
        for file in self.files:
            raw_names = self._scan(file).collect_schema().names()
            header = [name.strip() or f"column {i + 1}" for i, name in enumerate(raw_names)]
            refuse_repeated_names(header, f"{file.name}: ")
            self._names = self._names or header
            if header != self._names:
                raise InputError(f"{file.name} and {self.files[0].name} have different headers; they must match.")
        self.columns, self.n_parts = {name: pl.String() for name in self._names}, len(self.files)

    def _scan(self, file: Path) -> pl.LazyFrame:
        return pl.scan_csv(file, separator=self._separator, infer_schema=False)

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks of about `n_rows` rows, in order."""
        lazy = self._scan(self.files[part])
        names = dict(zip(lazy.collect_schema().names(), self._names, strict=True))
        return LazySource(lazy.rename(names), self.files[part].name).batches(0, columns, n_rows)


class FolderSource(Source):
    """Files whose folders name some of the columns (`year=2024/part.parquet`), as Hive, Spark and Dask write them."""

    travels = True

    def __init__(self, files: ParquetSource | TextSource, named: pl.DataFrame) -> None:
        self._files, self.name, self.is_text, self.n_parts = files, files.name, files.is_text, files.n_parts
        self._named = named[[files.files.index(file) for file in files.part_files]]
        self.columns = files.columns | dict(named.schema)

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks of about `n_rows` rows, in order."""
        read = [name for name in columns if name in self._files.columns] or list(self._files.columns)[:1]
        for frame in self._files.batches(part, read, n_rows):
            yield frame.join(self._named[part : part + 1], how="cross").select(columns)


class LazySource(Source):
    """A polars LazyFrame; every pass runs its query again."""

    def __init__(self, frame: pl.LazyFrame, name: str = "The lazy frame") -> None:
        self._frame, self.name = frame, name
        self.columns = dict(frame.collect_schema())

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns in chunks of about `n_rows` rows, in order."""
        with reading(self.name, pl.exceptions.PolarsError):
            yield from self._frame.select(columns).collect_batches(chunk_size=n_rows, maintain_order=True)


class DatasetSource(Source):
    """A pyarrow dataset; a part is a fragment (a file)."""

    name = "The dataset"
    travels = True

    def __init__(self, dataset: Any) -> None:
        self._fragments = list(dataset.get_fragments())
        self._schema = dataset.schema
        self.columns, self.n_parts = _polars_types(dataset.schema), len(self._fragments)

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns of a part in chunks of about `n_rows` rows, in order."""
        import pyarrow as pa

        how = {"schema": self._schema, "batch_size": n_rows, "use_threads": False}
        with reading(self.name, pa.ArrowException, OSError):
            yield from map(_frame, self._fragments[part].to_batches(columns=list(columns), **how))


class RelationSource(Source):
    """A DuckDB relation; every pass runs its query again."""

    name = "The relation"

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        self.columns = dict(_frame(relation.limit(0).to_arrow_table()).schema)

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Read some columns in chunks of about `n_rows` rows, in order."""
        import duckdb

        quoted = ['"' + name.replace('"', '""') + '"' for name in columns]
        with reading(self.name, duckdb.Error, OSError):  # Arrow hands on what DuckDB says as the latter
            chosen = self._relation.project(", ".join(quoted))
            # an older DuckDB has it by another name only
            read = chosen.to_arrow_reader if hasattr(chosen, "to_arrow_reader") else chosen.fetch_arrow_reader
            yield from map(_frame, read(n_rows))


class PartitionSource(Source):
    """A Dask dataframe; a part is a partition, computed when it is read."""

    name = "The Dask dataframe"
    travels = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.columns, self.n_parts = dict(pl.from_pandas(frame._meta).schema), frame.npartitions

    def batches(self, part: int, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """Compute some columns of a part and hand them out in chunks."""
        yield from _slices(_computed(self._partitions(columns)[part]), n_rows)

    def _partitions(self, columns: Sequence[str]) -> list[Any]:
        """Return the partitions with some columns, as many as the frame has: Dask would read several as one."""
        import dask

        with dask.config.set({"optimization.tune.active": False}):
            partitions = self._frame[list(columns)].to_delayed()
        if len(partitions) < self.n_parts:  # an older Dask
            partitions = [dask.delayed(getitem)(part, list(columns)) for part in self._frame.to_delayed()]
        return list(partitions)

    def reduce(self, work: PartWork, resources: Resources, parts: Sequence[int] | None = None) -> Any:
        """Work on the workers of the frame's cluster, where its partitions are; without one, here."""
        client = self._client(resources)
        if client is None:
            return super().reduce(work, resources.alone(), parts)
        partitions = self._partitions(work.columns)
        tasks = [(part, partitions[part]) for part in (range(self.n_parts) if parts is None else parts)]
        resources = replace(resources, executor=client)
        return reduce_tasks(_read_frame, _merge, tasks, resources, shared=(work, None), finish=_finish)

    def _client(self, resources: Resources) -> Any:
        """Return the client whose workers compute the frame: the one that keeps it, that is asked for, or that is."""
        if "distributed" not in sys.modules:
            return None
        from distributed import default_client, futures_of

        kept = futures_of(self._frame)
        if (client := kept[0].client if kept else cluster_of(resources)) is not None:
            return client
        try:
            return default_client()
        except ValueError:
            return None


def _read_frame(shared: tuple[PartWork, None], part: int, frame: Any) -> Any:
    return shared[0].read(part, _slices(frame, shared[0].n_rows))


def _slices(frame: Any, n_rows: int) -> Iterator[pl.DataFrame]:
    """Hand a frame of pandas out in chunks."""
    return _recut([pl.from_pandas(frame)], n_rows)


def _recut(frames: Iterable[pl.DataFrame], n_rows: int) -> Iterator[pl.DataFrame]:
    """Cut rows that come in chunks of any length into chunks of one length."""
    held = None
    for frame in frames:
        held = frame if held is None or not held.height else pl.concat([held, frame], rechunk=True)
        while held.height >= n_rows:
            yield held[:n_rows]
            held = held[n_rows:]
    if held is not None and held.height:
        yield held


def _computed(part: Any) -> Any:
    """Compute a partition where this runs; one that a cluster keeps (`persist`) on its workers."""
    if not (kept := "distributed" in sys.modules and sys.modules["distributed"].futures_of(part)):
        # Wherever this runs: a task that waits for other tasks of its own cluster could wait for ever.
        return part.compute(scheduler="synchronous")
    from distributed import get_worker, worker_client

    try:
        get_worker()
    except ValueError:
        return kept[0].client.compute(part, sync=True)
    with worker_client() as client:  # it gives its thread back while it waits
        return client.compute(part, sync=True)


class SparkSource(Source):
    """A Spark DataFrame; a part is one of its partitions, which only Spark's own processes see."""

    name = "The Spark DataFrame"

    def __init__(self, frame: Any) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        self._frame = frame
        self.columns, self.n_parts = _polars_types(to_arrow_schema(frame.schema)), frame.rdd.getNumPartitions()

    def reduce(self, work: PartWork, resources: Resources, parts: Sequence[int] | None = None) -> Any:
        """Work on Spark's executors."""
        from pyspark.sql.functions import col

        # Spark hands over no column whose name has a dot or a quote in it.
        quoted = ["`" + name.replace("`", "``") + "`" for name in work.columns]
        chosen = self._frame.select([col(name).alias(f"c{place}") for place, name in enumerate(quoted)])
        return reduce_on_spark(
            chosen, self.n_parts, _read_batches, _merge, shared=(work, None), finish=_finish, parts=parts
        )


def _read_batches(shared: tuple[PartWork, None], part: int, batches: Iterator[Any]) -> Any:
    work = shared[0]
    frames = (_frame(batch.rename_columns(work.columns)) for batch in batches)
    return work.read(part, _recut(frames, work.n_rows))
