"""`fewer compare`."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import fewer
from fewer import run
from fewer.cli import _options as given
from fewer.cli._outputs import attempt, leave_stopped, raise_if_asked, say, show, status_line
from fewer.cli._select import refuse_folds
from fewer.errors import InputError
from fewer.files import CELLS, write_atomically
from fewer.registry import COMPONENTS, METHODS
from fewer.text import printable


@dataclass(frozen=True)
class Contest:
    """Who is compared, and who judges."""

    methods: Annotated[
        str, typer.Option("--methods", "-m", help=f"What to compare: a,b,c. There are auto, {', '.join(METHODS)}.")
    ] = "auto"
    practice: Annotated[
        bool, typer.Option("--practice", help="Compare a filter, wrappers, early stopping and a vote (Loughrey).")
    ] = False
    estimators: Annotated[
        str, typer.Option("--estimators", "-e", help=f"Models to evaluate with: {', '.join(COMPONENTS['estimator'])}.")
    ] = "knn,linear"
    features: Annotated[str, given.option("n_features_to_select")] = "auto"
    scoring: Annotated[str | None, given.option("scoring")] = None
    rare: Annotated[str, given.option("rare")] = "refuse"
    folds: Annotated[int, given.option("cv", help="Folds of the held-out evaluation.")] = 5
    repeats: Annotated[int, typer.Option(min=1, help="Cross-validation repeats.")] = 1
    seed: given.SeedOption = 0
    jobs: Annotated[int | None, given.option("n_jobs")] = None
    stream: given.StreamOption = None
    cluster: given.ClusterOption = None


@given.spread
def compare(
    file: given.FileArgument,
    target: given.TargetOption,
    contest: Contest,
    rows: given.Rows,
    columns: given.FeatureColumns,
    outputs: given.RunOutputs,
) -> None:
    """Compare methods with each other and with all features.

    All features, random subsets of the same size and a univariate filter are always included. Other libraries'
    selectors work too: --methods 'fisher,sklearn.feature_selection:SelectKBest(k=10)'

    For a folder, a glob or a table larger than memory, a stratified sample of rows is used.

    Ctrl-C keeps finished results; --resume continues and gives the same table.
    """
    if contest.folds < 2:
        raise InputError(f"--folds {contest.folds}: give at least 2.")
    if outputs.resume and outputs.out is not None and not (outputs.out / CELLS).exists():
        raise InputError(f"No comparison to resume in {outputs.out}; omit --resume to start one.")
    outputs.refuse(file)

    options = given.table_options(columns, rows)
    if given.wants_stream(file, contest.stream, "compare"):
        chunks = given.open_chunks(file, target, options)
        problem = run.streaming.draw_sample(
            chunks, run.streaming.SAMPLE_ROWS, contest.seed, given.resources_of(contest.jobs, "1GiB")
        )
    else:
        problem = fewer.io.read_table(file, target, **options)
    problem, folds = run.planning.fewer_folds(problem, contest.folds, contest.rare)
    contest = replace(contest, folds=folds)
    refuse_folds(problem, contest.folds)
    problem = run.planning.treat_rare(problem, contest.folds, contest.rare)
    if contest.practice:
        if contest.methods != "auto":
            raise InputError("--practice is a list of methods of its own; leave out --methods.")
        contest = replace(contest, methods="practice")
    folder = outputs.out or Path(tempfile.mkdtemp(prefix="fewer-"))
    try:
        with outputs.replaced(), fewer.parallel.on_cluster(contest.cluster):
            comparison = _compare(problem, contest, folder)
    except KeyboardInterrupt:
        if not (folder / CELLS).exists():
            raise
        leave_stopped(outputs.out, f"{file.name.split('.')[0]}.compare", partial(shutil.copytree, folder))
    finally:
        if folder != outputs.out:
            shutil.rmtree(folder, ignore_errors=True)
    _show(replace(comparison, command=given.typed()), outputs)


def _compare(problem: fewer.Problem, contest: Contest, folder: Path) -> fewer.Comparison:
    """Run the comparison and report its progress; finished parts are in the folder."""

    def on_progress(done: int, total: int, text: str) -> None:
        raise_if_asked()
        show_progress(f"{done} of {total} selections done, {text}")

    names = split_outside_brackets(contest.methods), split_outside_brackets(contest.estimators)
    size, jobs = cast(Any, contest.features), contest.jobs if contest.cluster is None else -1
    with status_line("comparing") as show_progress:
        return run.api.compare_problem(
            problem, *names, n_features_to_select=size, scoring=contest.scoring, cv=contest.folds,
            n_repeats=contest.repeats, n_jobs=jobs, seed=contest.seed, on_progress=on_progress, resume_dir=folder,
        )  # fmt: skip


def _show(comparison: fewer.Comparison, outputs: given.RunOutputs) -> None:
    """Print the comparison and write it where it was asked for."""
    show(comparison.to_json() if outputs.as_json else printable(comparison, keep="\n"), as_json=outputs.as_json)
    if outputs.out is not None:
        path, content = outputs.out / "result.json", comparison.to_json().encode("utf-8", "backslashreplace")
        attempt(path, lambda: write_atomically(path, content))
    if (report := outputs.report) is not None:
        attempt(report, lambda: say(f"Report: {fewer.report.write_comparison_report(report, comparison)}"))


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
