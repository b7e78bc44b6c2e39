"""`fewer alternatives`: all subsets that are as good as the best of a run."""

from __future__ import annotations

import ast
import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewer.cli._outputs import Printout, check_page
from fewer.cli._report import _read
from fewer.cli._select import JsonOption, ReportOption
from fewer.cli._shared import option, resources_of, spread
from fewer.errors import InputError

if TYPE_CHECKING:
    from fewer.problem import Problem


@dataclass(frozen=True)
class HowFar:
    """What counts as good, and how far to look."""

    tolerance: Annotated[
        float | None,
        typer.Option(help="Points that a good subset may be behind the best.", show_default="as far as rows tell"),
    ] = None
    criterion: Annotated[str | None, typer.Option(help="Another criterion than that of the run.")] = None
    max_features: Annotated[int | None, typer.Option(help="The largest size of a subset.", show_default=False)] = None
    max_subsets: Annotated[int | None, typer.Option(help="How many subsets may be looked at.")] = None
    costs: Annotated[Path | None, typer.Option(help="A table of prices: feature,price.", show_default=False)] = None
    test_size: Annotated[float, typer.Option(help="Share of the rows put aside to score a few of them.")] = 0.0
    jobs: Annotated[int | None, option("n_jobs")] = None
    device: Annotated[str, option("device")] = "cpu"


@spread
def alternatives(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run (--out).", show_default=False)],
    asked: HowFar,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find all subsets of features that are as good as the best, as far as the rows can tell."""
    result = run / "result.json"
    if not result.exists():
        raise InputError(f"There is no finished run in {run}; run fewer select with --out {run} first.")
    if report is not None:
        check_page(report, result)
    from fewer.run.api import alternatives_of, criterion_of
    from fewer.run.selection import Selection

    selection = _read(result, Selection)
    problem = table_of(selection.code)
    found = alternatives_of(
        problem,
        criterion_of(selection, problem, asked.criterion),
        asked.test_size,
        selection.seed,
        tolerance=asked.tolerance,
        max_features=asked.max_features,
        costs=None if asked.costs is None else read_costs(asked.costs, problem.names),
        resources=resources_of(asked.jobs, "1GiB", asked.device),
        **({} if asked.max_subsets is None else {"max_subsets": asked.max_subsets}),
    )
    answer = Printout()
    answer.show(found.to_json() if as_json else str(found))
    if report is not None:
        from fewer.report import write_alternatives_report

        page = report
        answer.attempt(page, lambda: write_alternatives_report(page, found))
    answer.leave()


def table_of(code: str) -> Problem:
    """Read the table of a run again, as the code that repeats it does."""
    from fewer.io import read_table

    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "read_table":
            words = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
            return read_table(*(ast.literal_eval(argument) for argument in node.args), **words)
    raise InputError("The run does not say which table it read; use fewer.alternatives in Python.")


def read_costs(path: Path, names: tuple[str, ...]) -> dict[str, float]:
    """Read prices: a column of features and a column of numbers, with or without a header.

    Parameters
    ----------
    path : path
        A text table, separated by commas.
    names : tuple of str
        The features of the table; others are refused.

    Returns
    -------
    dict
        The price of each feature that is listed.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--costs {path} cannot be read ({error}).") from None
    costs: dict[str, float] = {}
    for number, row in enumerate(rows):
        try:
            name, price = row[0].strip(), float(row[1])
        except (IndexError, ValueError):
            if number == 0:
                continue
            raise InputError(f"--costs {path}, line {number + 1}: a feature and a number are needed.") from None
        if name not in names:
            raise InputError(f"--costs {path}, line {number + 1}: {name!r} is no feature of the table.")
        costs[name] = price
    return costs
