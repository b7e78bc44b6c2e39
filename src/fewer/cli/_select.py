"""`fewer select` and `fewer demo`."""

from __future__ import annotations

import json
import shlex
import sys
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import fewer
from fewer import run
from fewer.cli import _options as given
from fewer.cli._options import Outputs
from fewer.cli._outputs import (
    Show,
    attempt,
    close_folder,
    exit_code,
    leave_stopped,
    printed_table,
    raise_if_asked,
    saver,
    say,
    show,
    shown,
    status_line,
    write_in_chunks,
)
from fewer.errors import InputError
from fewer.run.request import OPTIONS, Request
from fewer.text import counted, nearest, printable, score_text

# Rows of the table of features in a terminal.
PRINTED_FEATURES = 40
# Methods that make a detector: its parameters, ours and those of the report.
PARCELS: dict[str, dict[str, Any]] = {"parcel": {}, "parcel-scott": {"method": "scott", "edge_points": 0}}


@dataclass(frozen=True)
class Where:
    """Where the table is read and the work is done."""

    stream: given.StreamOption = None
    cluster: given.ClusterOption = None


@dataclass(frozen=True)
class Detector:
    """What is asked of a Parcel."""

    max_fpr: Annotated[float | None, typer.Option(help="parcel: highest allowed false-positive rate.")] = None
    guarantee: Annotated[float | None, typer.Option(help="parcel: probability that the limit holds (0.95).")] = None
    cost_fp: Annotated[float | None, typer.Option(help="parcel: cost of a false positive.")] = None
    cost_fn: Annotated[float | None, typer.Option(help="parcel: cost of a miss.")] = None
    prevalence: Annotated[float | None, typer.Option(help="parcel: share of positives in deployment.")] = None
    learner: Annotated[
        list[str] | None, typer.Option(help="parcel: a learner (naive-bayes, linear, …); repeatable.")
    ] = None  # fmt: skip
    positive: Annotated[str | None, typer.Option(help="parcel: the positive class; default: the last one.")] = None


@given.spread
def select(
    file: given.FileArgument,
    target: given.TargetOption,
    request: Request,
    rows: given.Rows,
    columns: given.FeatureColumns,
    where: Where,
    detector: Detector,
    outputs: Outputs,
) -> None:
    """Select features and measure whether it helped.

    The whole selection is repeated for each fold and scored on the rows held out.

    auto compares rankings and searches with several models, on as many rows as --budget allows.

    Components take options: --criterion knn:n_neighbors=5,cv=loo --search floating:overshoot=5

    Ctrl-C prints the best subset so far and saves the run; --resume continues it.
    """
    in_chunks, parcel = given.wants_stream(file, where.stream), request.method in PARCELS
    outputs.check(file, one_table=not (parcel or str(file) == "-"))
    options = given.table_options(columns, rows)
    if parcel and (ignored := [OPTIONS[name].flags[0] for name in request.changed() if name not in ("method", "seed")]):
        raise InputError(f"--method parcel does not take {', '.join(ignored)}; omit it.")
    if where.cluster is not None:
        request = replace(request, n_jobs=-1)  # as many tasks as the cluster can do

    if in_chunks:
        if parcel:
            raise given.for_memory(file, "parcel")
        with fewer.parallel.on_cluster(where.cluster):
            _run_chunks(file, given.open_chunks(file, target, options), request, outputs)
        return

    problem = fewer.io.read_table(file, target, **options)
    if not parcel and detector != Detector():
        words = "--max-fpr, --guarantee, --cost-fp, --cost-fn, --prevalence, --positive and --learner"
        raise InputError(f"{words} are for --method parcel.")
    with outputs.replaced(), fewer.parallel.on_cluster(where.cluster):
        reading = reading_lines(file, target, options)
        if parcel:
            _parcel(problem, PARCELS[request.method], detector, outputs, request.seed, reading)
            return
        request = replace(request, feature_groups=fewer.io.calendar_groups(problem.names) or None)
        if request.is_auto and request.n_jobs is None:
            request = replace(request, n_jobs=-1)  # its threads share the rows and change no number
        name = file.name.split(".")[0].strip("-") or "table"
        save = None if outputs.save is None else saver(outputs.save, file, target, options)
        _run(problem, request, outputs, reading, name, save)


def reading_lines(file: Path, target: str, options: dict[str, Any]) -> str:
    """Write the Python lines that read a table as the command line did."""
    defaults, lines = given.table_options(), ["from fewer.io import read_table", ""]
    words = {key: repr(value) for key, value in options.items() if value != defaults[key]}
    if isinstance(schema := options["schema"], Path):  # the script needs no other file than the table
        lines[0] = "from fewer.io import Schema, read_table"
        lines.append(f"schema = Schema.from_json({json.dumps(json.loads(schema.read_bytes()))!r})")
        words["schema"] = "schema"
    arguments = [repr(str(file)), repr(target), *(f"{key}={word}" for key, word in words.items())]
    return "\n".join([*lines, f"problem = read_table({', '.join(arguments)})"])


def _run_chunks(file: Path, chunks: fewer.io.Stream, request: Request, outputs: Outputs) -> None:
    """Select on a table that is read in chunks."""
    if outputs.resume and outputs.out is not None and not (outputs.out / run.folder.RUN).exists():
        raise InputError(f"No run to resume in {outputs.out}; omit --resume to start one.")
    with outputs.replaced():
        resources = given.resources_of(request.n_jobs, request.memory)
        try:
            with status_line("reading in chunks"):
                select_stream = run.streaming.select_stream
                selection = select_stream(chunks, request, resources, command=given.typed(), resume_dir=outputs.out)
        except run.running.Interrupted as stop:
            _show_stopped(stop.selection, outputs.as_json)
            how = "use --out to resume a run" if outputs.out is None else f"saved in {outputs.out}; go on with --resume"
            say(f"fewer: stopped; {how}.")
            raise typer.Exit(exit_code()) from None
        save, kept = outputs.save, [*selection.names, chunks.target]
        read = {reader.name: reader.reading for reader in (*chunks.readers, chunks.target_reader)}
        _give(selection, outputs, None if save is None else lambda _: write_in_chunks(save, file, kept, readings=read))


def _show_stopped(selection: fewer.Selection | None, as_json: bool) -> fewer.Selection:
    """Show the best so far of a run that was stopped; leave where there is none."""
    if selection is None:
        say("fewer: stopped before the first subset was scored.")
        raise typer.Exit(exit_code()) from None
    show(_text(selection, as_json), as_json=as_json)
    return selection


def _give(
    selection: fewer.Selection,
    outputs: given.RunOutputs,
    save: Callable[[list[str]], str] | None,
    folder: run.folder.RunFolder | None = None,
) -> None:
    """Show a selection, and write its page and the reduced table where they are asked for."""
    show(_text(selection, outputs.as_json), as_json=outputs.as_json)
    if folder is not None:
        close_folder(folder)
    if (report := outputs.report) is not None:
        write = fewer.report.write_selection_report
        attempt(report, lambda: say(f"Report: {write(report, selection, selection.trace)}"))
    if save is not None:
        attempt("the table", lambda: say(f"Table: {save(selection.features)}"))


def _parcel(
    problem: fewer.Problem, settings: dict[str, Any], detector: Detector, outputs: Outputs, seed: int, source: str
) -> None:
    """Fit a Parcel, say what its operating point needs, and write its page."""
    from fewer.models import DiscreteNaiveBayes

    rates = {name: value for name, value in vars(detector).items() if name not in ("positive", "learner")}
    chosen: dict[str, Any] = settings | {name: value for name, value in rates.items() if value is not None}
    if (positive := detector.positive) is not None:
        labels = {str(label): label for label in problem.classes}
        if positive not in labels:
            raise InputError(f"--positive {positive!r} is not a class; {nearest(positive, labels, 'classes')}")
        chosen["pos_label"] = labels[positive]
    if detector.learner:
        chosen["estimators"] = [
            (name, DiscreteNaiveBayes() if name == "naive-bayes" else fewer.registry.build("estimator", name))
            for name in detector.learner
        ]
    began = clock.perf_counter()
    folder = None
    if outputs.out is not None:
        about = {"method": "parcel", **{key: str(value) for key, value in chosen.items()}, "seed": seed}
        folder = run.folder.RunFolder(outputs.out, about, run.folder.fingerprint(problem, about), resume=outputs.resume)
    try:
        with status_line("parcel"):
            parcel, point = fewer.roc.fit_parcel(problem, seed, **chosen)
            described = fewer.roc.describe(parcel, point)
            if outputs.report is not None:  # opened at the point that was asked for
                command = given.typed("--max-fpr", "--guarantee", "--cost-fp", "--cost-fn", "--prevalence")
                title = "Choose an operating point" + ("" if positive is None else f" for class {positive}")
                page = {"point": point, "command": command, "rows": source, "title": title}
                fewer.report.write_parcel_report(outputs.report, parcel, **page)
    except KeyboardInterrupt:
        if outputs.out is not None:
            say(f"fewer: stopped. Begin again with: --out {shlex.quote(str(outputs.out))} --resume")
            raise typer.Exit(exit_code()) from None
        raise
    result = _parcel_result(described, problem, detector.learner, clock.perf_counter() - began, seed)
    summary = (
        f"{described['n_evaluated']:,} subsets tried; ROC hull area {score_text(described['area'])}, "
        f"{score_text(described['area_expected'])} on calibration rows; seed {seed}."
    )
    text = "\n".join([*map(printable, described["summary"].splitlines()), summary])
    show(result if outputs.as_json else text, as_json=outputs.as_json)
    if folder is not None:
        folder.write("result.json", result)
        close_folder(folder)
    if outputs.report is not None:
        say(f"Report: {outputs.report}")


def _parcel_result(
    found: dict[str, Any], problem: fewer.Problem, learners: list[str] | None, seconds: float, seed: int
) -> dict[str, Any]:
    """Return what a Parcel found with the fields of every selection."""
    return {
        **found,
        **dict.fromkeys(("score_heldout", "score_heldout_all_features", "search", "control")),
        "support": [name in found["features"] for name in problem.names],
        "score_search": found["area"],
        "score_name": "area of the hull",
        "criterion": ", ".join(learners or ["DiscreteNaiveBayes()"]),
        "n_evaluations": found["n_evaluated"],
        "seconds": round(seconds, 3),
        "seed": seed,
        "set_aside": [],
        "warnings": list(problem.notes),
    }


# The table that is shown: experiments/demo_tables.py has the rule.
DEMO = "cotton"


@given.spread
def demo(outputs: given.RunOutputs, seed: given.SeedOption = 0) -> None:
    """Select features of a satellite image: 6,435 pixels, 36 measurements. Which show a cotton field?

    Of the 16 tables of real measurements with at least ten columns that come with fewer or scikit-learn, it keeps the
    smallest share of its columns among those that are shown to be as good. Half of the others have too few rows to say.
    """
    outputs.refuse(None)
    problem = fewer.datasets.load(DEMO).problem
    if not outputs.as_json:
        print("A satellite image: 6,435 pixels, each with the light of 9 pixels (px1 to px9) in 4 colors (b1 to b4).")
        print("Which pixels show a cotton field, and which of the 36 measurements are needed to tell?\n")
    reading = f'from fewer import datasets\n\nproblem = datasets.load("{DEMO}").problem'
    with outputs.replaced():
        _run(problem, Request(n_jobs=-1, seed=seed), outputs, reading, "demo")


@dataclass
class _Watch:
    """Reports the progress of a run, and remembers it."""

    trace: fewer.Trace
    request: Request
    warning: str
    show: Show

    def on_step(self, latest: fewer.Trace) -> None:
        self.trace = latest
        raise_if_asked()
        if self.warning:  # not before what cannot run was refused: then one line says what is wrong
            say(self.warning)
            self.warning = ""
        size = int((latest.best != 0).sum()) if latest.steps else 0
        score = "" if self.request.is_auto else f" {score_text(latest.best_score)}"  # `auto` has losses, in no unit
        best = f", best{score} with {counted(size, 'feature')}" if latest.steps else ""
        self.show(f"step {latest.n_steps}, {latest.n_evaluations:,} subsets scored{best}", latest.extra)

    def on_fold(self, done: int) -> None:
        raise_if_asked()
        self.show(f"cross-validating: {done} of {self.request.cv} folds done")


def _run(
    problem: fewer.Problem, request: Request, outputs: given.RunOutputs, reading: str, name: str,
    save: Callable[[list[str]], str] | None = None,
) -> None:  # fmt: skip
    """Select on a table in memory; `name` is that of a run that is stopped, `save` writes the reduced table."""
    problem, cv = run.planning.fewer_folds(problem, request.cv, request.rare)
    request = replace(request, cv=cv)
    refuse_folds(problem, request.cv)
    problem = run.planning.prepare_rows(problem, request)
    if outputs.resume and outputs.out is not None and request.budget is not None:
        request = replace(request, budget=run.folder.recorded_budget(outputs.out, request.budget))
    plan = replace(run.planning.make_plan(problem, request), command=given.typed(), reading=reading)
    folder = None if outputs.out is None else run.running.open_folder(outputs.out, plan, problem, resume=outputs.resume)
    warning = run.planning.luck_of_search(plan, problem) if sys.stderr.isatty() else ""  # silent where nobody watches

    def keep(stopped: fewer.Selection, place: Path) -> run.folder.RunFolder:
        kept = run.running.open_folder(place, plan, problem, resume=False)
        kept.keep_trace(watch.trace, now=True)
        kept.write("result.json", stopped.to_dict())
        return kept

    try:
        with status_line(plan.name) as show_progress:
            watch = _Watch(fewer.Trace() if folder is None else folder.trace(), request, warning, show_progress)
            followers = run.running.Followers(watch.on_step, watch.on_fold)
            # Losses and pictures of the rows are seen on a page and in JSON, not in the terminal.
            kept = outputs.as_json or outputs.out is not None or outputs.report is not None
            written = kept or request.alternatives > 0
            selection = run.running.run_plan(plan, problem, followers=followers, folder=folder, with_evidence=written)
    except run.running.Interrupted as stop:
        stopped = _show_stopped(stop.selection, outputs.as_json)
        close_folder(folder)
        leave_stopped(outputs.out, f"{name}.fewer", partial(keep, stopped))
    _give(selection, outputs, save, folder)


def refuse_folds(problem: fewer.Problem, folds: int) -> None:
    """Refuse folds that the rows cannot fill."""
    if folds < 0 or folds == 1:
        raise InputError(f"--folds {folds}: use at least 2, or 0 to skip cross-validation.")
    if folds > problem.n_samples:
        raise InputError(f"--folds {folds} exceeds the {problem.n_samples} rows; use fewer folds.")


def _text(selection: fewer.Selection, as_json: bool) -> str:
    if as_json:
        return selection.to_json()
    from rich.markup import escape

    titles, rows = selection.table()
    # In a terminal a long table would push the verdict out of sight; what goes elsewhere has all rows.
    most = PRINTED_FEATURES if sys.stdout.isatty() else len(rows)
    table = printed_table(["", *titles], [[place, *row] for place, row in enumerate(rows[:most], 1)])
    more = [f"and {len(rows) - most:,} more; all are in --json, --report and --save"] if len(rows) > most else []
    alarm = [f"[bold red]{escape(printable(line))}[/]" for line in selection.banner]
    verdict, *lines = [escape(printable(line)) for line in selection.summary()]
    features = [table, *more, ""] if rows else []
    return shown(*alarm, *([""] if alarm else []), f"[bold]{verdict}[/]", "", *features, *lines)
