"""`fewer select` and `fewer demo`."""

from __future__ import annotations

import json
import shlex
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewer.cli._outputs import Answer, ForceOption, check_outputs, free_folder, say, shown
from fewer.cli._save import SaveOption, check_save, saver
from fewer.cli._shared import Progress, check_jobs, names_of, parse_features, typed
from fewer.cli._signals import exit_code, raise_if_asked
from fewer.cli._streamed import ClusterOption, StreamOption, jobs_on, open_chunks, resources_of, wants_stream
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
    ScoringOption,
    SkipOption,
    TargetOption,
    TaskOption,
    TimeOption,
    WeightsOption,
    parse_task,
    table_options,
)
from fewer.columns import nearest
from fewer.errors import InputError
from fewer.text import printable

if TYPE_CHECKING:
    from fewer.contracts import Resources
    from fewer.planning import Request
    from fewer.problem import Problem
    from fewer.runs import RunFolder
    from fewer.selection import Selection

SeedOption = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of folds and random searches.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write the answer as one HTML page.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def select(
    file: FileArgument,
    target: TargetOption,
    method: Annotated[str, typer.Option("--method", "-m", help="A named method, below; auto chooses one.")] = "auto",
    criterion: Annotated[str | None, typer.Option(help="How good is a subset?")] = None,
    search: Annotated[str | None, typer.Option(help="Which subset next?")] = None,
    control: Annotated[str | None, typer.Option(help="When to stop believing it?")] = None,
    ranker: Annotated[str | None, typer.Option(help="A ranking instead of criterion and search.")] = None,
    prefer: Annotated[
        str, typer.Option(help="What auto is after: fewest, balanced or accuracy.", show_default=False)
    ] = "balanced",
    estimator: Annotated[
        str | None,
        typer.Option(help="The model that the features are for: forest, linear, boosting, …", show_default=False),
    ] = None,
    groups: GroupsOption = None,
    weights: WeightsOption = None,
    time: TimeOption = None,
    scoring: ScoringOption = None,
    rare: RareOption = "refuse",
    start: Annotated[str | None, typer.Option(help="Columns from which the search begins.", show_default=False)] = None,
    features: Annotated[
        str, typer.Option("--features", "-f", help="How many: a number, a share (0.5), 3-8 or auto.")
    ] = "auto",
    include: Annotated[str | None, typer.Option(help="Columns forced in: age,sex.")] = None,
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
    folds: Annotated[int, typer.Option(help="Folds of the held-out evaluation; 0 leaves it out.")] = 5,
    budget: Annotated[
        str | None, typer.Option(help="Time for the whole answer: 60s, 5min.", show_default=False)
    ] = None,
    seed: SeedOption = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", callback=check_jobs, help="Threads or processes; −1 for all cores.")
    ] = 1,
    memory: Annotated[str, typer.Option(help="Memory for scoring, beside the data.")] = "1GiB",
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda or auto.")] = "cpu",
    out: Annotated[Path | None, typer.Option(help="Keep the run in this folder.", show_default=False)] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    force: ForceOption = False,
    max_fpr: Annotated[
        float | None, typer.Option(help="parcel: highest allowed false-positive rate.", show_default=False)
    ] = None,
    guarantee: Annotated[
        float | None, typer.Option(help="parcel: keep it with this probability, such as 0.95.", show_default=False)
    ] = None,
    cost_fp: Annotated[float | None, typer.Option(help="parcel: what a false alarm costs.", show_default=False)] = None,
    cost_fn: Annotated[float | None, typer.Option(help="parcel: what a miss costs.", show_default=False)] = None,
    prevalence: Annotated[
        float | None, typer.Option(help="parcel: share of positives where it is used.", show_default=False)
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            help="parcel: a learning algorithm (naive-bayes, logistic, …); may be given several times.",
            show_default=False,
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="parcel: the class to detect; the last one by default.", show_default=False)
    ] = None,
    stream: StreamOption = None,
    cluster: ClusterOption = None,
    report: ReportOption = None,
    save: SaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Select features, and measure whether that helped.

    The whole selection is repeated without each fold of the rows, which then judges it.

    auto lets nearest neighbors and a linear fit race, as wide as the table and the --budget allow.

    Components take options: --criterion knn:n_neighbors=5,cv=loo --search floating:overshoot=5

    Ctrl-C prints the best subset so far and saves the run; --resume goes on from there.
    """
    if resume and out is None:
        raise InputError("--resume needs --out, the folder of the run to go on with.")
    check_outputs(file, out=out, report=report, resume=resume, force=force)
    if save is not None:
        check_save(save, file)
        if method == "parcel" or str(file) == "-" or wants_stream(file, stream):
            raise InputError(
                "--save needs one subset of a file that can be read twice; use fewer transform afterwards."
            )
    from fewer.io import calendar_groups, read_table
    from fewer.parallel import on_cluster
    from fewer.planning import Request

    options = table_options(
        nominal, numeric, exclude, missing, decimal, encoding=encoding, schema=schema, skip=skip, calendar=calendar,
        groups=groups, weights=weights, time=time,
    )  # fmt: skip
    choices: dict[str, Any] = {"method": method, "criterion": criterion, "search": search, "control": control}
    choices |= {"n_features_to_select": parse_features(features), "include": names_of(include) or None}
    choices |= {"scoring": scoring} if scoring is not None else {}
    if method == "parcel":
        refuse_ignored(folds, budget, resume, jobs, choices)
    if wants_stream(file, stream):
        if method == "parcel":
            raise InputError("parcel needs the table in memory (--no-stream).")
        chunks = open_chunks(file, target, parse_task(task), options)
        choices |= {"ranker": ranker, "start": names_of(start) or None, "prefer": prefer, "estimator": estimator}
        choices |= {"budget": budget, "rare": rare, "memory": memory, "device": device, "resume_dir": out}
        with on_cluster(cluster):
            n_jobs = jobs_on(cluster, jobs)
            _run_chunks(
                chunks, folds, seed, resources_of(n_jobs, memory), report, as_json, choices | {"n_jobs": n_jobs}
            )
        return
    problem = read_table(file, target, task=parse_task(task), **options)
    question = {"max_fpr": max_fpr, "guarantee": guarantee, "cost_fp": cost_fp, "cost_fn": cost_fn}
    question["prevalence"] = prevalence
    question = {key: value for key, value in question.items() if value is not None}
    if method != "parcel" and (question or positive is not None or learner):
        raise InputError(
            "--max-fpr, --guarantee, --cost-fp, --cost-fn, --prevalence, --positive and --learner are for --method "
            "parcel."
        )
    from fewer.runs import replacing

    with replacing(out, force and not resume), on_cluster(cluster):
        if method == "parcel":
            source = f"problem = read_table({str(file)!r}, {target!r})"
            _parcel(problem, question, positive, learner, out, report, seed, as_json, source)
            return
        request = Request(
            **choices,
            ranker=ranker,
            feature_groups=calendar_groups(problem.names) or None,
            start=names_of(start) or None,
            prefer=prefer,
            estimator=estimator,
            cv=folds,
            budget=budget,
            rare=rare,
            memory=memory,
            device=device,
            n_jobs=jobs_on(cluster, jobs),
            seed=seed,
        )
        name = file.name.split(".")[0].strip("-") or "table"
        reading = reading_lines(file, target, parse_task(task), options)
        _run(
            problem, request, _Outputs(name, out, resume, report, as_json, saver(save, file, target, options)), reading
        )


def refuse_ignored(folds: int, budget: str | None, resume: bool, jobs: int, choices: dict[str, Any]) -> None:
    """Refuse options that a Parcel would not look at."""
    given = {
        "--folds": folds != 5,
        "--budget": budget is not None,
        "--resume": resume,
        "--jobs": jobs != 1,
        "--features": choices["n_features_to_select"] != "auto",
        **{f"--{name}": choices[name] is not None for name in ("criterion", "search", "control", "include")},
    }
    ignored = [name for name, is_given in given.items() if is_given]
    if ignored:
        raise InputError(f"--method parcel does not take {', '.join(ignored)}; leave it out.")


def reading_lines(file: Path, target: str, task: str | None, options: Any) -> str:
    """Write the Python lines that read a table as the command line did."""
    defaults = table_options()
    given = {"task": task} if task else {}
    given |= {key: value for key, value in options.items() if value != defaults.get(key)}
    source = {key: str(value) if isinstance(value, Path) else value for key, value in given.items()}
    arguments = [repr(str(file)), repr(target), *(f"{key}={value!r}" for key, value in source.items())]
    return f"from fewer.io import read_table\n\nproblem = read_table({', '.join(arguments)})"


def _run_chunks(
    chunks: Any,
    folds: int,
    seed: int,
    resources: Resources,
    report: Path | None,
    as_json: bool,
    choices: dict[str, Any],
) -> None:
    """Select on a table that is read in chunks."""
    from fewer import streaming

    with Progress("reading in chunks"):
        selection = streaming.select(
            chunks, cv=folds, random_state=seed, resources=resources, command=typed(), **choices
        )
    answer = Answer()
    answer.show(_text(selection, as_json), as_json=as_json)
    if report is not None:
        from fewer.report import write_selection_report

        answer.attempt(report, lambda: say(f"Report: {write_selection_report(report, selection, selection.trace)}"))
    answer.leave()


def _parcel(
    problem: Problem,
    question: dict[str, float | None],
    positive: str | None,
    learners: list[str] | None,
    out: Path | None,
    report: Path | None,
    seed: int,
    as_json: bool,
    source: str,
) -> None:
    """Fit a Parcel, say what its operating point needs, and write its page."""
    from fewer.roc import describe, fit_parcel
    from fewer.runs import RunFolder, fingerprint

    chosen: dict[str, Any] = dict(question)
    if positive is not None:
        labels = {str(label): label for label in problem.classes}
        if positive not in labels:
            raise InputError(f"--positive {positive!r} is no class; {nearest(positive, labels)}")
        chosen["pos_label"] = labels[positive]
    if learners:
        chosen["estimators"] = [_learner(text) for text in learners]
    began = clock.perf_counter()
    folder = None
    if out is not None:
        about = {"method": "parcel", **{key: str(value) for key, value in chosen.items()}, "seed": seed}
        folder = RunFolder(out, about, fingerprint(problem, about), resume=False)
    with Progress("parcel"):
        parcel, point = fit_parcel(problem, seed, **chosen)
        found = describe(parcel, point)
        if report is not None:
            _parcel_page(report, parcel, point, source)
    result = {
        **found,
        "support": [name in found["features"] for name in problem.names],
        "score_search": found["area"],
        "score_heldout": None,
        "score_heldout_all_features": None,
        "score_name": "area of the hull",
        "criterion": ", ".join(learners or ["DiscreteNaiveBayes()"]),
        "search": None,
        "control": None,
        "n_evaluations": found["n_evaluated"],
        "seconds": round(clock.perf_counter() - began, 3),
        "seed": seed,
        "set_aside": [],
        "warnings": [*problem.notes, "Held-out rates are those in operating_point, under expected."],
    }
    text = json.dumps(result, ensure_ascii=False, indent=1, default=str)
    told = (
        f"{found['n_evaluated']:,} subsets tried; area of the hull {found['area']:.4f}, on calibration rows "
        f"{found['area_expected']:.4f}; seed {seed}."
    )
    answer = Answer()
    answer.show(text if as_json else "\n".join([*map(printable, found["summary"].splitlines()), told]), as_json=as_json)
    if folder is not None:
        folder.write("result.json", result)
        answer.take(folder)
    if report is not None:
        say(f"Report: {report}")
    answer.leave()


def _learner(text: str) -> tuple[str, Any]:
    """Build a learning algorithm by its name."""
    from fewer import registry
    from fewer.models import DiscreteNaiveBayes

    return text, DiscreteNaiveBayes() if text == "naive-bayes" else registry.build("estimator", text)


def _parcel_page(report: Path, parcel: Any, point: Any, source: str) -> None:
    """Write the page, opened at the point that was asked for."""
    from fewer.report import write_parcel_report

    asked = ("--max-fpr", "--guarantee", "--cost-fp", "--cost-fn", "--prevalence")
    rows = f"from fewer.io import read_table\n\n{source}"
    write_parcel_report(report, parcel, point=point, command=typed(*asked), rows=rows)


def demo(seed: SeedOption = 0, report: ReportOption = None, as_json: JsonOption = False) -> None:
    """Select features of the Wisconsin breast-cancer data."""
    from sklearn.datasets import load_breast_cancer

    from fewer.problem import Problem

    data = load_breast_cancer()
    labels = data.target_names[data.target]
    problem = Problem.from_arrays(data.data, labels, names=[str(name) for name in data.feature_names])
    if not as_json:
        print(f"Wisconsin breast cancer: {problem.n_samples} tumors, {problem.n_features} measurements of cell nuclei,")
        print("benign or malignant? Which measurements carry the answer?\n")
    check_outputs(None, report=report)
    from fewer.planning import Request

    reading = (
        "import numpy as np\nfrom sklearn.datasets import load_breast_cancer\n\nfrom fewer.problem import Problem\n\n"
        "data = load_breast_cancer()\nlabels = data.target_names[data.target]\n"
        "problem = Problem.from_arrays(data.data, labels, names=[str(name) for name in data.feature_names])"
    )
    _run(problem, Request(n_jobs=-1, seed=seed), _Outputs("demo", None, False, report, as_json), reading)


@dataclass(frozen=True)
class _Outputs:
    """Where an answer goes."""

    name: str
    out: Path | None
    resume: bool
    report: Path | None
    as_json: bool
    save: Callable[[list[str]], str] | None = None


def _run(problem: Problem, request: Request, outputs: _Outputs, reading: str) -> None:
    from fewer.planning import make_plan, prepare_rows
    from fewer.running import Followers, Interrupted, open_folder, run_plan
    from fewer.runs import recorded_budget
    from fewer.trace import Trace, size_of

    refuse_folds(problem, request.cv)
    problem = prepare_rows(problem, request)
    out, as_json, report = outputs.out, outputs.as_json, outputs.report
    if outputs.resume and out is not None and request.budget is not None:
        request = replace(request, budget=recorded_budget(out, request.budget))
    plan = replace(make_plan(problem, request), command=typed(), reading=reading)
    folder = None
    if out is not None:
        folder = open_folder(out, plan, problem, resume=outputs.resume)
    trace = Trace() if folder is None else folder.trace()

    def on_step(latest: Trace) -> None:
        nonlocal trace
        trace = latest
        raise_if_asked()
        best = f", best {latest.best_score:.4f} with {int(size_of(latest.best))} features" if latest.steps else ""
        progress.say(f"step {latest.n_steps}, {latest.n_evaluations:,} subsets scored{best}", latest.extra)

    def on_fold(done: int) -> None:
        raise_if_asked()
        progress.say(f"measuring on held-out rows, {done} of {request.cv} folds done")

    def keep(place: Path, stopped: Any) -> RunFolder:
        kept = open_folder(place, plan, problem, resume=False)
        kept.keep_trace(trace, now=True)
        kept.write("result.json", stopped.to_dict())
        return kept

    try:
        with Progress(plan.name) as progress:
            selection = run_plan(plan, problem, followers=Followers(on_step, on_fold), folder=folder)
    except Interrupted as stop:
        if stop.selection is None:
            say("fewer: stopped before the first subset was scored.")
            raise typer.Exit(exit_code()) from None
        answer = Answer()
        answer.show(_text(stop.selection, as_json), as_json=as_json)
        if folder is None:
            out = free_folder(f"{outputs.name}.fewer")
            answer.attempt(out, partial(keep, out, stop.selection))
        else:
            answer.take(folder)
        if not answer.troubles:
            say(f"fewer: stopped; saved in {out}. Go on with: --out {shlex.quote(str(out))} --resume")
        answer.leave(exit_code())
    answer = Answer()
    answer.show(_text(selection, as_json), as_json=as_json)
    if folder is not None:
        answer.take(folder)
    if report is not None:
        from fewer.report import write_selection_report

        answer.attempt(report, lambda: say(f"Report: {write_selection_report(report, selection, selection.trace)}"))
    if outputs.save is not None:
        answer.attempt("the table", partial(_save, outputs.save, selection.features))
    answer.leave()


def _save(save: Callable[[list[str]], str], features: list[str]) -> None:
    say(f"Table: {save(features)}")


def refuse_folds(problem: Problem, folds: int) -> None:
    """Refuse folds that the rows cannot fill."""
    if folds < 0 or folds == 1:
        raise InputError(f"--folds {folds}: give at least 2, or 0 to leave the held-out evaluation out.")
    if folds > problem.n_samples:
        raise InputError(f"--folds {folds} is more than the {problem.n_samples} rows; ask for fewer folds.")


def _text(selection: Selection, as_json: bool) -> str:
    if as_json:
        return selection.to_json()
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("feature", style="bold")
    if selection.score_without:
        table.add_column("score without it", justify="right")
    if selection.frequency:
        table.add_column("chosen again", justify="right")
    for place, name in enumerate(selection.features, 1):
        without = selection.score_without.get(name)
        cells = ["–" if without is None else f"{without:.4f}"] if selection.score_without else []
        cells += [f"{selection.frequency.get(name, 0):.0%}"] if selection.frequency else []
        table.add_row(str(place), escape(printable(name)), *cells)
    return shown(table, "", *(escape(printable(line)) for line in selection.summary()))
