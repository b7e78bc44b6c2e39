"""What can be done with a run that is finished: its page, other subsets as good, and new tables cut to its columns."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import fewer
from fewer.cli import _options as given
from fewer.cli._outputs import attempt, check_page, check_save, show, write_in_chunks
from fewer.errors import InputError
from fewer.files import write_atomically
from fewer.run.request import names_of
from fewer.text import counted


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run (--out).")],
    out: Annotated[Path | None, typer.Option(help="The page to write; RUN/report.html by default.")] = None,
) -> None:
    """Write the HTML report of a run saved with --out."""
    page = out or run / "report.html"
    check_page(page, result_of(run), "--out")

    write_atomically(page, fewer.report.run_report(run).encode("utf-8", "replace"))
    show(str(page))


def result_of(run: Path) -> Path:
    """Return the place of a run's result; refuse a folder without one."""
    result = run / "result.json"
    if not result.exists():
        raise InputError(f"There is no finished run in {run}; give the folder of fewer select --out.")
    return result


def transform(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder from select --out, or its JSON output.")],
    file: given.FileArgument,
    save: given.SaveOption = None,
    keep: Annotated[str | None, typer.Option(help="Other columns to keep: id,outcome.")] = None,
    encoding: given.EncodingOption = None,
    sheet: given.SheetOption = None,
    header: given.HeaderOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --save.")] = False,
) -> None:
    """Reduce a table to the features that a run chose.

    Cells are copied as written; Parquet files get numbers and dates. Without --save the table is printed as CSV.
    Columns may come in any order; other columns are ignored. New levels are reported. An absent column, or one with
    text where there were numbers, is refused by name.
    """
    contract = chosen_by(run)
    columns = list(dict.fromkeys([*names_of(keep), *contract.features]))
    if save is not None:
        check_save(save, file, force=force)
    if fewer.io.beyond_memory(file):
        if encoding or sheet or header:
            raise InputError(f"{file} is larger than memory; --encoding, --sheet and --header need it in memory.")
        written = write_in_chunks(save, file, columns, contract=contract)
        if save is not None:
            show(written)
        return
    typed = save is not None and save.suffix.lower() == ".parquet"
    how: fewer.io.TableOptions = {"encoding": encoding, "sheet": sheet, "header": header}
    frame = fewer.io.reduce_table(file, columns, typed=typed, contract=contract, **how)
    if save is None:
        sys.stdout.flush()
        attempt("the table", lambda: sys.stdout.buffer.write(fewer.io.frame_bytes(frame, "-.csv")))
    else:
        attempt(save, lambda: write_atomically(save, fewer.io.frame_bytes(frame, save)))
        show(f"{frame.height:,} rows, {counted(frame.width, 'column')} in {save}")


def chosen_by(run: Path) -> fewer.io.Contract:
    """Return what a run chose and what it expects of new tables, from its folder, its JSON or its pipeline's JSON."""
    import json

    path = run / "result.json" if run.is_dir() else run
    refusal = InputError(f"{path} is not a result of fewer select; give its --out folder or --json output.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        features = content["features"]
        columns = content.get("columns") or content.get("data", {}).get("columns", ())
        names = content.get("feature_names_in") or [column["name"] for column in columns]
        known = [column for column in columns if column["name"] in features]
        n_features = content.get("n_features_in", content.get("n_features"))
    except FileNotFoundError:
        raise InputError(f"There is no finished run in {run}; give the folder of fewer select --out.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise refusal from None
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise refusal
    if not features:
        raise InputError(f"The run in {run} selected no features; nothing to keep.")
    return fewer.io.Contract(tuple(features), tuple(known), tuple(names) if len(names) == n_features else None)


@dataclass(frozen=True)
class HowFar:
    """What counts as good, and how far to look."""

    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help="Points a good subset may be behind the best.", show_default="as far as rows tell"),
    ] = None
    criterion: Annotated[str | None, typer.Option(help="Another criterion than that of the run.")] = None
    max_features: Annotated[int | None, typer.Option(min=1, help="The largest size of a subset.")] = None
    max_subsets: Annotated[int | None, typer.Option(min=1, help="How many subsets may be looked at.")] = None
    costs: Annotated[str | None, given.option("feature_costs")] = None
    test_size: Annotated[float, typer.Option(min=0, max=0.5, help="Share of rows kept to score a few of them.")] = 0.0
    jobs: Annotated[int | None, given.option("n_jobs")] = None
    device: Annotated[str, given.option("device")] = "cpu"


@given.spread
def alternatives(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run (--out).")],
    asked: HowFar,
    report: given.ReportOption = None,
    as_json: given.JsonOption = False,
) -> None:
    """Find all subsets of features that are as good as the best, as far as the rows can tell."""
    result = result_of(run)
    if report is not None:
        check_page(report, result)

    try:
        selection = fewer.Selection.from_json(result.read_text(encoding="utf-8"))
    except ValueError as error:  # not a selection, or no text
        raise InputError(f"{result} is damaged, or no result of fewer select. {error}") from None
    problem = table_of(selection.code)
    how: dict[str, Any] = {name: vars(asked)[name] for name in ("tolerance", "max_features", "costs")}
    how |= {} if asked.max_subsets is None else {"max_subsets": asked.max_subsets}
    how["resources"] = given.resources_of(asked.jobs, "1GiB", asked.device)
    criterion = fewer.run.api.criterion_of(selection, problem, asked.criterion)
    subsets = fewer.run.api.alternatives_of(problem, criterion, asked.test_size, selection.seed, **how)
    show(subsets.to_json() if as_json else str(subsets), as_json=as_json)
    if report is not None:
        attempt(report, partial(fewer.report.write_alternatives_report, report, subsets))


def table_of(code: str) -> fewer.Problem:
    """Read the table of a run again, as the code that repeats it does."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "read_table":
            words = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
            return fewer.io.read_table(*(ast.literal_eval(argument) for argument in node.args), **words)
    raise InputError("The run does not say which table it read; use fewer.alternatives in Python.")
