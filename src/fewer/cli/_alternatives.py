"""`fewer alternatives`: all subsets that are as good as the best of a run."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewer.cli._options import JsonOption, ReportOption, option, resources_of, spread
from fewer.cli._outputs import Printout, check_page
from fewer.cli._report import _read, result_of
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
    max_features: Annotated[int | None, typer.Option(help="The largest size of a subset.")] = None
    max_subsets: Annotated[int | None, typer.Option(help="How many subsets may be looked at.")] = None
    costs: Annotated[str | None, option("feature_costs")] = None
    test_size: Annotated[float, typer.Option(help="Share of the rows put aside to score a few of them.")] = 0.0
    jobs: Annotated[int | None, option("n_jobs")] = None
    device: Annotated[str, option("device")] = "cpu"


@spread
def alternatives(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run (--out).")],
    asked: HowFar,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find all subsets of features that are as good as the best, as far as the rows can tell."""
    result = result_of(run)
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
        costs=asked.costs,
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
