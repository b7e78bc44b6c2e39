"""`fewer compare`."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from fewer.cli._outputs import Answer, ForceOption, check_outputs, free_folder, say
from fewer.cli._select import JsonOption, ReportOption, SeedOption, refuse_folds
from fewer.cli._shared import Progress, check_jobs, parse_features, typed
from fewer.cli._signals import exit_code, raise_if_asked
from fewer.cli._streamed import ClusterOption, jobs_on
from fewer.cli._table import (
    CalendarOption,
    DecimalOption,
    EncodingOption,
    ExcludeOption,
    FileArgument,
    GroupsOption,
    MissingOption,
    NominalOption,
    NumericOption,
    RareOption,
    SchemaOption,
    SkipOption,
    TargetOption,
    TaskOption,
    TimeOption,
    WeightsOption,
    parse_task,
    table_options,
)
from fewer.errors import InputError
from fewer.files import write_atomically
from fewer.registry import COMPONENTS, METHODS
from fewer.text import printable

CELLS = "cells.jsonl"


def compare(
    file: FileArgument,
    target: TargetOption,
    methods: Annotated[
        str, typer.Option("--methods", "-m", help=f"What to compare: a,b,c. There are auto, {', '.join(METHODS)}.")
    ] = "auto",
    estimators: Annotated[
        str, typer.Option("--estimators", "-e", help=f"Who judges the features: {', '.join(COMPONENTS['estimator'])}.")
    ] = "knn,linear",
    features: Annotated[
        str, typer.Option("--features", "-f", help="How many: a number, a share (0.5), 3-8 or auto.")
    ] = "auto",
    scoring: Annotated[
        str | None, typer.Option(help="A score of scikit-learn, such as roc_auc; else accuracy or R².")
    ] = None,
    groups: GroupsOption = None,
    weights: WeightsOption = None,
    time: TimeOption = None,
    rare: RareOption = "refuse",
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
    folds: Annotated[int, typer.Option(help="Folds of the held-out evaluation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often to fold anew.")] = 1,
    seed: SeedOption = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", callback=check_jobs, help="Processes; −1 for all cores.")] = 1,
    cluster: ClusterOption = None,
    out: Annotated[Path | None, typer.Option(help="Keep the comparison in this folder.", show_default=False)] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the comparison in --out.")] = False,
    force: ForceOption = False,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare methods with each other and with all features.

    All features, random subsets of the same size and a univariate filter always take part. So can selectors of other
    libraries: --methods 'fisher,sklearn.feature_selection:SelectKBest(k=10)'

    Ctrl-C keeps what is finished; --resume goes on from there and ends with the same table.
    """
    if resume and out is None:
        raise InputError("--resume needs --out, the folder of the comparison to go on with.")
    if resume and out is not None and not (out / CELLS).exists():
        raise InputError(f"There is no comparison to resume in {out}; leave --resume out to start one.")
    if folds < 2:
        raise InputError(f"--folds {folds}: give at least 2.")
    check_outputs(file, out=out, report=report, resume=resume, force=force)
    from fewer.api import compare_problem
    from fewer.io import read_table
    from fewer.parallel import on_cluster
    from fewer.planning import settle_rare
    from fewer.runs import replacing

    names = split_outside_brackets(methods)
    options = table_options(
        nominal, numeric, exclude, missing, decimal, encoding=encoding, schema=schema, skip=skip, calendar=calendar,
        groups=groups, weights=weights, time=time,
    )  # fmt: skip
    problem = read_table(file, target, task=parse_task(task), **options)
    refuse_folds(problem, folds)
    problem = settle_rare(problem, folds, rare)
    folder = out or Path(tempfile.mkdtemp(prefix="fewer-"))

    def on_progress(done: int, total: int, text: str) -> None:
        raise_if_asked()
        progress.say(f"{done} of {total} selections done, {text}")

    try:
        with replacing(out, force and not resume), on_cluster(cluster), Progress("comparing") as progress:
            comparison = compare_problem(
                problem,
                names,
                split_outside_brackets(estimators),
                n_features_to_select=parse_features(features),
                scoring=scoring,
                cv=folds,
                n_repeats=repeats,
                n_jobs=jobs_on(cluster, jobs),
                seed=seed,
                on_progress=on_progress,
                resume_dir=folder,
            )
    except KeyboardInterrupt:
        if not (folder / CELLS).exists():
            raise
        answer = Answer()
        if out is None:
            out = free_folder(f"{file.name.split('.')[0]}.compare")
            answer.attempt(out, partial(shutil.copytree, folder, out))
        if not answer.troubles:
            say(f"fewer: stopped; saved in {out}. Go on with: --out {shlex.quote(str(out))} --resume")
        answer.leave(exit_code())
    finally:
        if folder != out:
            shutil.rmtree(folder, ignore_errors=True)
    comparison = replace(comparison, command=typed())
    answer = Answer()
    answer.show(comparison.to_json() if as_json else printable(comparison, keep="\n"), as_json=as_json)
    if out is not None:
        text = comparison.to_json().encode("utf-8", "backslashreplace")
        answer.attempt(out / "result.json", lambda: write_atomically(out / "result.json", text))
    if report is not None:
        from fewer.report import write_comparison_report

        answer.attempt(report, lambda: say(f"Report: {write_comparison_report(report, comparison)}"))
    answer.leave()


def split_outside_brackets(text: str) -> list[str]:
    """Split a list at its commas, but not at those between brackets.

    Examples
    --------
    >>> split_outside_brackets("fisher, a.b:C(k=3,x=1)")
    ['fisher', 'a.b:C(k=3,x=1)']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
