"""What the reader understood of a table, column by column; the same as a schema file that can be corrected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Unpack

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from fewer.contracts import Resources
from fewer.io._files import TableOptions, UnderstoodTable, display_name, find_target, understand_table
from fewer.io._kinds import MOSTLY_MISSING, ParseProblem, Reading, Schema, blanked, fits_of, reading_of, short
from fewer.io._source import PartWork, Source, is_path, open_source
from fewer.io._stream import CHUNK_BYTES
from fewer.io.frames import pl
from fewer.problem import InputError, Problem, Task
from fewer.text import counted, html_table, printable

# Columns of which values are counted for a small histogram.
PICTURED = 200
N_EXAMPLES = 3
# The share of different values from which on a column of words names its rows; the count is within about 10 %.
SURE_NAMES = 0.8
# Levels of a column that are kept, to say later which are new.
KEPT_LEVELS = 200


@dataclass(frozen=True)
class ColumnSummary:
    r"""One column at a glance.

    Parameters
    ----------
    name : str
        As the table has it.
    role : {"feature", "target", "groups", "sample_weight", "left out"}
        What the column is for.
    kind : str
        `numeric`, `nominal`, `boolean` or `date`.
    missing : float
        The share of missing cells.
    distinct : int
        How many different values there are.
    examples : list of str
        Cells as they stand in the table.
    note : str
        What is special about it: its format, why it is left out, that it is mostly missing.
    bars : list of int
        How many values lie in a dozen bins, or belong to the most frequent categories.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("age,y\n30,no\n40,yes\n")
    ...     file.flush()
    ...     column = inspect_table(file.name, "y").columns[0]
    >>> column.name, column.kind, column.distinct
    ('age', 'numeric', 2)
    """

    name: str
    role: str
    kind: str
    missing: float
    distinct: int
    examples: list[str]
    note: str
    bars: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Inspection:
    """What was understood of a table.

    Parameters
    ----------
    source : str
        The file.
    n_rows : int
        How many rows it has.
    columns : list of ColumnSummary
        One a column.
    notes : list of str
        What was noticed.
    problems : list of ParseProblem
        Cells that cannot be read; a selection would refuse the table because of them.
    schema : Schema
        The same as a file that `--schema` takes.
    head : list of list of str
        The first rows, as they are written.

    See Also
    --------
    inspect_table : Makes one.

    Examples
    --------
    >>> Inspection("t.csv", 3, [], [], [], Schema()).to_dict()["n_rows"]
    3
    """

    source: str
    n_rows: int
    columns: list[ColumnSummary]
    notes: list[str]
    problems: list[ParseProblem]
    schema: Schema
    head: list[list[str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data.

        Returns
        -------
        dict
            What `to_json` writes.
        """
        return {name: value for name, value in asdict(self).items() if name != "schema"}

    def to_json(self) -> str:
        """Return JSON text.

        Returns
        -------
        str
            JSON.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def to_frame(self) -> pl.DataFrame:
        """Return one row a column, as a polars frame.

        Returns
        -------
        polars.DataFrame
            The columns at a glance.
        """
        return pl.DataFrame([asdict(column) for column in self.columns])

    def to_text(self, width: int = 80) -> str:
        """Return a table that fits between the edges of a terminal.

        Parameters
        ----------
        width : int, default=80
            Of the terminal.

        Returns
        -------
        str
            Lines.
        """
        lines = [self._caption, "", *_table(self.columns, width), ""]
        lines += [f"Note: {note}" for note in self.notes]
        lines += [f"Problem: {problem.message}" for problem in self.problems]
        return "\n".join(printable(line) for line in lines).rstrip("\n")

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        titles = ("column", "role", "kind", "missing", "distinct", "examples", "note")
        rows = [
            (c.name, c.role, c.kind, f"{c.missing:.0%}", f"{c.distinct:,}", ", ".join(c.examples), c.note)
            for c in self.columns
        ]
        notes = "".join(f"<li>{escape(note)}</li>" for note in [*self.notes, *(p.message for p in self.problems)])
        return f"{html_table(titles, rows, self._caption)}<ul>{notes}</ul>"

    @property
    def _caption(self) -> str:
        return f"{self.source}: {counted(self.n_rows, 'row')}, {counted(len(self.columns), 'column')}"


def inspect_table(
    path: Any, target: str | int | None = None, *, task: Task | None = None, **options: Unpack[TableOptions]
) -> Inspection:
    r"""Say what is understood of a file, column by column, before any selection.

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    path, target, task, **options
        As in `read_table`; without a target all columns are looked at as features. A table that is not in memory (a
        polars LazyFrame, a Dask or Spark dataframe, …) is seen in one pass over all rows, as by `inspect_chunks`.

    Returns
    -------
    Inspection

    See Also
    --------
    read_table : read the file for a selection.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write('income,zip,y\n"1,188",01067,no\n987,10115,yes\n')
    ...     file.flush()
    ...     found = inspect_table(file.name, "y")
    >>> [(column.name, column.kind, column.role) for column in found.columns]
    [('income', 'numeric', 'feature'), ('zip', 'nominal', 'feature'), ('y', 'nominal', 'target')]
    """
    if not is_path(path):
        if others := [name for name in options if name != "exclude"]:
            raise InputError(f"A table in chunks is inspected with target and exclude only; leave {others[0]} out.")
        return inspect_chunks(path, target, tuple(map(str, options.get("exclude", ()))))
    table = understand_table(path, target, task, None, options)
    readings, head = table.understood.readings, table.sheet.frame.head(5).rows()
    missing = options.get("missing")
    return Inspection(
        display_name(path),
        table.sheet.frame.height,
        [_summary(table, name, readings[name], i < PICTURED) for i, name in enumerate(table.sheet.frame.columns)],
        table.notes,
        [*table.understood.problems, *table.problems],
        Schema(readings, None if missing is None else tuple(missing)),
        [["" if cell is None else str(cell)[:40] for cell in row[:PICTURED]] for row in head],
    )


def _bars(present: Any) -> list[int]:
    """Count values in a dozen bins of equal width, or the most frequent categories."""
    if present.dtype.is_nested() or not len(present):
        return []
    if present.dtype.is_numeric():
        values = present.to_numpy().astype(np.float64)
        values = values[np.isfinite(values)]
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return [int(n) for n in np.histogram(values, bins=12)[0]]
        except ValueError:  # numbers so close to each other, or so far apart, that no 12 bounds lie between them
            values = values / np.abs(values).max()
            return [int(n) for n in np.histogram((values - values.min()) / (np.ptp(values) or 1.0), bins=12)[0]]
    counts = present.value_counts(sort=True).head(12)
    return [int(n) for n in counts[counts.columns[-1]]]


def _summary(table: UnderstoodTable, name: str, reading: Reading, pictured: bool = False) -> ColumnSummary:
    raw = table.sheet.frame[name]
    read = raw if reading.kind == "left out" else table.understood.frame[name]
    roles = {column: role for role, column in table.roles.items()}
    other = "left out" if reading.kind == "left out" else "feature"
    role = "target" if name == table.target else roles.get(name, other)
    present = read.drop_nans().drop_nulls() if read.dtype.is_float() else read.drop_nulls()
    nested = present.dtype.is_nested()
    share = 1 - len(present) / max(len(read), 1)
    examples = raw.filter(read.is_not_null()).head(500)
    examples = examples if nested else examples.unique(maintain_order=True)
    shown = [str(cell).strip() for cell in examples.head(N_EXAMPLES).to_list()]
    notes = [reading.reason] if reading.reason else []
    if reading.format is not None and reading.format.describe() != "nonstandard signs":
        notes.append(reading.format.describe())
    if share >= MOSTLY_MISSING:
        notes.append("mostly missing" if share < 1 else "empty")
    elif not nested and present.n_unique() == 1:
        notes.append("constant")
    kind = "text" if reading.kind == "left out" else reading.kind
    bars = _bars(present) if pictured and reading.kind != "left out" else []
    return ColumnSummary(name, role, kind, share, 0 if nested else present.n_unique(), shown, "; ".join(notes), bars)


def describe_columns(problem: Problem, most: int = 200, chosen: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Say of each feature of a problem what was understood, as plain data for a page.

    Parameters
    ----------
    problem : Problem
        The rows.
    most : int, default=200
        How many features to describe.
    chosen : sequence of int
        Features to describe in any case.

    Returns
    -------
    list of dict
        One per feature: name, kind, share of missing cells, distinct values, range or levels as text; `levels` of a
        nominal column with at most 200, and `date` where numbers are dates, for `Contract`.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [2.0], [2.0]], [0, 1, 1], names=["size"])
    >>> describe_columns(problem)
    [{'name': 'size', 'kind': 'numeric', 'missing': 0.0, 'distinct': 2, 'values': '0 to 2'}]
    """
    described: list[dict[str, Any]] = []
    dtypes = {} if problem.schema is None else nw.from_native(problem.schema.head, eager_only=True).schema
    for i in sorted({*range(min(most, problem.n_features)), *chosen}):
        name, kind, column = problem.names[i], problem.kinds[i], problem.X[:, i]
        cells = column[~np.isnan(column)]
        levels = problem.levels.get(i, ())
        values = ", ".join(map(str, levels[:4])) + (", …" if len(levels) > 4 else "")
        if kind != "nominal" and len(cells):
            values = f"{cells.min():.6g} to {cells.max():.6g}"
        missing = 1 - len(cells) / max(problem.n_samples, 1)
        described.append(
            {"name": name, "kind": kind, "missing": missing, "distinct": len(np.unique(cells)), "values": values}
        )
        if levels and len(levels) <= KEPT_LEVELS:
            described[-1]["levels"] = list(levels)
        if kind == "numeric" and dtypes.get(name) in (nw.Date, nw.Datetime):
            described[-1]["date"] = True
    return described


def _table(columns: Sequence[ColumnSummary], width: int) -> list[str]:
    """Lay the columns out so that none is hidden: examples and notes get what is left of a line."""
    rows = [("column", "kind", "missing", "distinct", "(note) examples")]
    for column in columns:
        details = ", ".join(short(example, 20) for example in column.examples)
        marks = [column.role] * (column.role != "feature") + [column.note] * bool(column.note)
        details = f"({': '.join(marks)}) {details}" if marks else details
        kind, missing = column.kind, f"{column.missing:.0%}"
        rows.append((column.name, kind, missing, f"{column.distinct:,}", details))
    longest = max(12, min(28, width // 3))
    names = [short(printable(row[0]), longest) for row in rows]
    widths = [max(map(len, names)), *(max(len(row[i]) for row in rows) for i in (1, 2, 3))]
    left = max(width - sum(widths) - 8, 16)
    return [
        f"{name:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  "
        f"{short(printable(row[4]), left)}"
        for name, row in zip(names, rows, strict=True)
    ]


def inspect_chunks(path: Any, target: str | int | None = None, exclude: Sequence[str] = ()) -> Inspection:
    """Say what one pass over a table in chunks shows of each column, in little memory.

    Parameters
    ----------
    path : path, polars LazyFrame, pyarrow dataset, DuckDB relation, Dask dataframe or Spark DataFrame
        A path is that of a file, a folder or a glob of Parquet or text files.
    target : str or int, optional
        The column to predict.
    exclude : sequence of str
        Columns that are not read.

    Returns
    -------
    Inspection
        Without histograms and schema; more than 1,023 different values of a column are estimated.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("age,y" + chr(10) + "30,no" + chr(10) + "40,yes" + chr(10))
    ...     file.flush()
    ...     [(column.kind, column.distinct) for column in inspect_chunks(file.name, "y").columns]
    [('numeric', 2), ('nominal', 2)]
    """
    source = open_source(path)
    names = [name for name in source.columns if name not in exclude]
    label = None if target is None else names[find_target(target, names, source.name)]
    seen = source.reduce(ColumnsSeen(source, names), Resources(effective_n_jobs(None)))
    columns = []
    for name, column in seen.items():
        share = column.missing / max(column.n_rows, 1)
        notes = ["mostly missing" if share < 1 else "empty"] * (share >= MOSTLY_MISSING)
        notes += ["constant"] * (column.distinct == 1 and share < MOSTLY_MISSING)
        notes += [f"{column.low:.6g} to {column.high:.6g}"] * bool(column.low < column.high)
        kind, role = column.kind(source.columns[name], source.is_text), "target" if name == label else "feature"
        if kind == "nominal" and column.distinct > SURE_NAMES * (column.n_rows - column.missing) and column.n_rows > K:
            notes.append("nearly every row has its own value")
        columns.append(ColumnSummary(name, role, kind, share, column.distinct, column.examples, "; ".join(notes)))
    n_rows = next(iter(seen.values())).n_rows
    parts = counted(source.n_parts, "part")
    note = f"Read in chunks: all rows, {parts}. From 1,024 on, counts of different values are estimates."
    return Inspection(display_name(path) if is_path(path) else source.name, n_rows, columns, [note], [], Schema())


# Hashes kept for a column: fewer different values are counted exactly, more are estimated.
K = 1024


@dataclass
class ColumnSeen:
    """What a pass over a column leaves: cells, missing ones, ends, a few examples, a sketch of how many differ.

    Attributes
    ----------
    fit : int array
        Of text: how many cells are there, and how many of them are numbers, truth values, dates, digits, zeros.
    hashes : array of uint64
        The smallest hashes of the different cells, ascending.
    """

    n_rows: int = 0
    missing: int = 0
    low: float = np.inf
    high: float = -np.inf
    examples: list[str] = field(default_factory=list)
    fit: NDArray[np.int64] = field(default_factory=lambda: np.zeros(7, dtype=np.int64))
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def add(self, cells: pl.Series, is_text: bool) -> None:
        """Look at some cells."""
        self.n_rows += len(cells)
        if is_text:
            cells = blanked(cells)
            self.fit += fits_of(cells)
        present = cells.drop_nulls()
        present = present.drop_nans() if present.dtype.is_float() else present
        self.missing += len(cells) - len(present)
        if not len(present):
            return
        if present.dtype.is_numeric():
            self.low, self.high = min(self.low, float(present.min())), max(self.high, float(present.max()))  # type: ignore[arg-type]
        self._show(str(cell) for cell in present.head(50).to_list())
        if not present.dtype.is_nested():
            hashes = present.hash(seed=7).to_numpy()
            if len(self.hashes) == K:
                hashes = hashes[hashes < self.hashes[-1]]
            self._keep(np.unique(hashes))

    def _show(self, cells: Iterable[str]) -> None:
        for cell in cells:
            if len(self.examples) < 3 and cell not in self.examples:
                self.examples.append(cell)

    def _keep(self, hashes: NDArray[np.uint64]) -> None:
        self.hashes = np.union1d(self.hashes, hashes)[:K]

    def merge(self, other: ColumnSeen) -> None:
        """Add what another one has seen of the same column."""
        self.n_rows += other.n_rows
        self.missing += other.missing
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self._show(other.examples)
        self.fit += other.fit
        self._keep(other.hashes)

    @property
    def distinct(self) -> int:
        """How many cells differ: exactly below 1,024, else by the largest of the smallest hashes, within about 10 %."""
        if len(self.hashes) < K:
            return len(self.hashes)
        return min(int((K - 1) / (float(self.hashes[-1]) / 2.0**64)), self.n_rows - self.missing)

    def kind(self, dtype: pl.DataType, is_text: bool) -> str:
        """Name what the cells are."""
        if is_text:
            return reading_of(self.fit).kind
        if dtype == pl.Boolean or dtype.is_numeric():
            return "boolean" if dtype == pl.Boolean else "numeric"
        return "date" if dtype.is_temporal() else "nominal"


class ColumnsSeen(PartWork):
    """All columns of a table, in one pass.

    Parameters
    ----------
    source : Source
        The table.
    columns : list of str
        Which columns.
    """

    def __init__(self, source: Source, columns: list[str]) -> None:
        self.columns, self._is_text = columns, source.is_text
        self.n_rows = int(np.clip(CHUNK_BYTES // (16 * len(columns)), 256, 1 << 17))

    def read(self, part: int, frames: Iterator[pl.DataFrame]) -> dict[str, ColumnSeen]:
        """Look at one part."""
        seen = {name: ColumnSeen() for name in self.columns}
        for frame in frames:
            for name, column in seen.items():
                column.add(frame[name], self._is_text)
        return seen

    def merge(self, into: dict[str, ColumnSeen], other: dict[str, ColumnSeen]) -> dict[str, ColumnSeen]:
        """Put what two runs of parts show together."""
        for name, column in into.items():
            column.merge(other[name])
        return into
