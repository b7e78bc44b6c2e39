"""`fewer rank`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from fewer.cli._outputs import Answer, shown
from fewer.cli._select import JsonOption, SeedOption
from fewer.cli._table import (
    CalendarOption,
    DecimalOption,
    EncodingOption,
    ExcludeOption,
    FileArgument,
    MissingOption,
    NominalOption,
    NumericOption,
    SchemaOption,
    SkipOption,
    TargetOption,
    TaskOption,
    parse_task,
    table_options,
)
from fewer.errors import InputError
from fewer.registry import COMPONENTS
from fewer.text import printable


def rank(
    file: FileArgument,
    target: TargetOption,
    method: Annotated[str, typer.Option("--method", "-m", help=f"{', '.join(COMPONENTS['ranker'])}.")] = "fisher",
    top: Annotated[int | None, typer.Option(help="Show the best so many only.")] = None,
    exclude: ExcludeOption = None,
    nominal: NominalOption = None,
    numeric: NumericOption = None,
    missing: MissingOption = None,
    schema: SchemaOption = None,
    skip: SkipOption = False,
    calendar: CalendarOption = False,
    task: TaskOption = None,
    encoding: EncodingOption = "utf-8",
    decimal: DecimalOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Rank features, each by itself or against those before it."""
    import numpy as np

    from fewer import registry
    from fewer.contracts import Resources
    from fewer.io import read_table

    options = table_options(
        nominal, numeric, exclude, missing, decimal, encoding=encoding, schema=schema, skip=skip, calendar=calendar
    )
    problem = read_table(file, target, task=parse_task(task), **options)
    ranker = registry.build("ranker", method, problem.task)
    if problem.task not in ranker.tasks:
        raise InputError(f"{method} ranks for {' and '.join(ranker.tasks)}, but the target is for {problem.task}.")
    ranking = ranker.rank(problem, np.random.default_rng(seed), Resources())
    told = {"score": ranking.scores} | {
        name: values for name, values in ranking.extra.items() if np.shape(values) == (problem.n_features,)
    }
    rows = [
        {
            "feature": problem.names[column],
            "rank": place,
            **{name: float(values[column]) if np.isfinite(values[column]) else None for name, values in told.items()},
        }
        for place, column in enumerate(ranking.order[:top], 1)
    ]
    answer = Answer()
    if as_json:
        content = {"ranking": rows, "method": method, "warnings": list(problem.notes)}
        answer.show(json.dumps(content, ensure_ascii=False, indent=1), as_json=True)
    else:
        answer.show(_text(rows, problem.notes))
    answer.leave()


def _text(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> str:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "feature" else "right")
    for row in rows:
        cells = (
            escape(printable(v)) if isinstance(v, str) else f"{v:.6g}" if v is not None else "–" for v in row.values()
        )
        table.add_row(*cells)
    return shown(table, *(escape(printable(f"Note: {note}")) for note in notes))
