"""What the reader understood of a table, column by column; the same as a schema file that can be corrected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Unpack

import narwhals as nw
import numpy as np

from fewer.io._files import TableOptions, UnderstoodTable, display_name, understand_table
from fewer.io._kinds import MOSTLY_MISSING, ParseProblem, Reading, Schema
from fewer.io.frames import pl
from fewer.problem import Problem, Task
from fewer.text import printable

PICTURED = 200
"""Columns of which values are counted for a small histogram."""
N_EXAMPLES = 3
MOST_LEVELS = 200
"""Levels of a column that are kept, to say later which are new."""


@dataclass(frozen=True)
class ColumnSummary:
    r"""One column at a glance.

    Parameters
    ----------
    name, role : str
        `feature`, `target`, `groups`, `sample_weight` or `left out`.
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
        return {
            "source": self.source,
            "n_rows": self.n_rows,
            "columns": [asdict(column) for column in self.columns],
            "notes": self.notes,
            "problems": [asdict(problem) for problem in self.problems],
            "head": self.head,
        }

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
        head = f"{self.source}: {self.n_rows:,} rows, {len(self.columns):,} columns"
        lines = [head, "", *_table(self.columns, width), ""]
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
        head = "".join(f"<th>{title}</th>" for title in titles)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        notes = "".join(f"<li>{escape(note)}</li>" for note in [*self.notes, *(p.message for p in self.problems)])
        caption = escape(f"{self.source}: {self.n_rows:,} rows, {len(self.columns):,} columns")
        return f"<p>{caption}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"


def inspect_table(
    path: Path | str,
    target: str | int | None = None,
    *,
    task: Task | None = None,
    **options: Unpack[TableOptions],
) -> Inspection:
    r"""Say what is understood of a file, column by column, before any selection.

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    path, target, task, **options
        As in `read_table`; without a target all columns are looked at as features.

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
        return [int(n) for n in np.histogram(values[np.isfinite(values)], bins=12)[0]]
    counts = present.value_counts(sort=True).head(12)
    return [int(n) for n in counts[counts.columns[-1]]]


def _summary(table: UnderstoodTable, name: str, reading: Reading, pictured: bool = False) -> ColumnSummary:
    raw = table.sheet.frame[name]
    read = raw if reading.kind == "left out" else table.understood.frame[name]
    roles = {column: role for role, column in table.roles.items()}
    role = (
        "target" if name == table.target else roles.get(name, "left out" if reading.kind == "left out" else "feature")
    )
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
        if levels and len(levels) <= MOST_LEVELS:
            described[-1]["levels"] = list(levels)
        if kind == "numeric" and dtypes.get(name) in (nw.Date, nw.Datetime):
            described[-1]["date"] = True
    return described


def _table(columns: Sequence[ColumnSummary], width: int) -> list[str]:
    """Lay the columns out so that none is hidden: examples and notes get what is left of a line."""
    rows = [("column", "kind", "missing", "distinct", "(note) examples")]
    for column in columns:
        told = ", ".join(_short(example, 20) for example in column.examples)
        marks = [column.role] * (column.role != "feature") + [column.note] * bool(column.note)
        told = f"({': '.join(marks)}) {told}" if marks else told
        kind, missing = column.kind, f"{column.missing:.0%}"
        rows.append((column.name, kind, missing, f"{column.distinct:,}", told))
    longest = max(12, min(28, width // 3))
    names = [_short(printable(row[0]), longest) for row in rows]
    widths = [max(map(len, names)), *(max(len(row[i]) for row in rows) for i in (1, 2, 3))]
    left = max(width - sum(widths) - 8, 16)
    return [
        f"{name:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  "
        f"{_short(printable(row[4]), left)}"
        for name, row in zip(names, rows, strict=True)
    ]


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
