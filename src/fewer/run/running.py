"""The run of a plan: a selection on all rows, its repetitions on parts of them, and the answer made of both.

The answer also holds the Python script that repeats the run: imports, reading, every option that was not left alone.
"""

from __future__ import annotations

import logging
import math
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone

from fewer import evaluate
from fewer.contracts import Answer, Criterion, IncompatibleError, OnStep, PredictiveScorer, Resources, Run, Stopped
from fewer.contracts.trace import Ending, Trace
from fewer.criteria import KNN, CrossValidated
from fewer.errors import interruptible
from fewer.estimators import parse_costs
from fewer.evaluate import Choice, Chooser, Evidence, HeldOutScores, heldout
from fewer.evaluate.grading import baseline_score, is_share, score_name
from fewer.io import describe_columns
from fewer.logs import LOGGER
from fewer.parallel import leaves_machine, one_blas_thread
from fewer.problem import BoolArray, InputError, IntArray, Problem, mask_of
from fewer.registry import build
from fewer.run.budget import Budget
from fewer.run.folder import RESULT, RUN, RunFolder, fingerprint
from fewer.run.planning import Plan, build_component, luck_of_search
from fewer.run.selection import AutoCurve, Selection, StabilityNumbers, TableGlance, glance_of, measured, rows_to_tell
from fewer.selectors.auto._standins import with_stand_ins
from fewer.text import duration, judge_as_text, listed
from fewer.validate import nogueira

PUBLIC = ("fewer.criteria", "fewer.search", "fewer.control", "fewer.rankers", "fewer.models")


def script_for(plan: Plan, outcome: HeldOutScores | None = None) -> str:
    """Write the script that repeats a run.

    Parameters
    ----------
    plan : Plan
        `reading` holds the lines that read the table into `problem`; without them the script expects X and y.
    outcome : HeldOutScores, optional
        Has the number of folds that a budget had room for.

    Returns
    -------
    str
        Python source; the same features come out of it.
    """
    request, options = plan.request, plan.request.changed()
    options.pop("method", None)
    options["random_state"] = options.pop("seed", 0)
    if plan.budget is not None:
        options["budget"] = plan.budget
        if outcome is not None and isinstance(request.cv, int) and outcome.n_folds < request.cv:
            options["cv"] = request.cv
    name = "method=" if plan.reading else ""  # what was read has its target: the second argument is left out
    arguments = [f"{name}{request.method!r}"] if request.method != "auto" else []
    arguments += [f"{name}={_source(value)}" for name, value in options.items()]
    imports = sorted({line for value in options.values() for line in _imports(value)})
    if plan.reading:
        call = f"selection = fewer.select({', '.join(['problem', *arguments])})"
        reading = plan.reading
    else:
        call = f"selection = fewer.select(X, y, {', '.join([*arguments, *(f'{name}={name}' for name in plan.rows)])})"
        reading = "# X, y: your table and its target, as they were given"
    keep = "keep = fewer.selectors.KeepFeatures.from_json(selection.pipeline_json())  # keep.transform(new_table)"
    return "\n".join([*imports, "import fewer", "", reading, call, "print(selection)", keep])


def _source(value: Any) -> str:
    if isinstance(value, Budget):
        return value.source
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, BaseEstimator):
        return " ".join(value.__repr__(N_CHAR_MAX=10**6).split())
    return repr(value)


def _imports(value: Any) -> list[str]:
    """Return the import lines that the source of a value needs."""
    if isinstance(value, Budget):
        return ["from fewer.run.budget import Budget"] if value.n_subsets is None else []
    if not isinstance(value, BaseEstimator):
        parts = value if isinstance(value, list | tuple) else ()
        return [line for part in parts for line in _imports(part)]
    kind = type(value)
    package = next((name for name in PUBLIC if kind.__module__.startswith(name + ".")), None)
    module = package or ".".join(part for part in kind.__module__.split(".") if not part.startswith("_"))
    inner = [line for part in value.get_params(deep=False).values() for line in _imports(part)]
    return [f"from {module} import {kind.__name__}", *inner]


MAX_REDUNDANCY = 40


class Interrupted(KeyboardInterrupt):
    """A run stopped by the user; `selection` is the best so far, or None.

    Parameters
    ----------
    selection : Selection or None
        The best so far.

    Examples
    --------
    >>> Interrupted(None).selection is None
    True
    """

    def __init__(self, selection: Selection | None) -> None:
        super().__init__("interrupted" + ("" if selection is None else "; the error's `selection` is the best so far"))
        self.selection = selection


@dataclass(frozen=True)
class Followers:
    """Who follows the progress of a run.

    Parameters
    ----------
    on_step : callable, optional
        Called with the trace after each step of the search on all rows.
    on_fold : callable, optional
        Called with the number of folds done.

    Examples
    --------
    >>> Followers(on_fold=print).on_step is None
    True
    """

    on_step: OnStep | None = None
    on_fold: Callable[[int], None] | None = None


def run_plan(
    plan: Plan,
    problem: Problem,
    *,
    followers: Followers | None = None,
    folder: RunFolder | None = None,
    with_evidence: bool = True,
) -> Selection:
    """Run a plan: search on all rows, then repeat it on folds to measure it; keep both in a folder if there is one.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    problem : Problem
        The rows.
    followers : Followers, optional
        Who follows its progress.
    folder : RunFolder, optional
        Where it is kept.
    with_evidence : bool, default=True
        Whether to measure what only a page or a kept result shows: losses without each feature, pictures of the rows.

    Returns
    -------
    Selection
        What was selected, and whether it helped.

    Raises
    ------
    Interrupted
        By Ctrl-C, with the best so far.

    Examples
    --------
    >>> from fewer.run.request import Request
    >>> from fewer.run.planning import make_plan
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> run_plan(make_plan(problem, Request("fisher", n_features_to_select=1, cv=0)), problem).features
    ['x0']
    """
    running = _Running(plan, problem, followers or Followers(), folder, with_evidence, plan.budget, time.monotonic())
    LOGGER.info("%s: selecting on %d rows and %d features", plan.name, *problem.X.shape)
    if LOGGER.isEnabledFor(logging.INFO) and (warning := luck_of_search(plan, problem)):
        LOGGER.info("%s", warning)
    cv, answer, outcome = plan.request.cv, None, None
    try:
        with interruptible(), one_blas_thread() if problem.X.size <= ONE_THREAD_CELLS else nullcontext():
            answer = running.search()
            if answer.trace.ending is Ending.INTERRUPTED:
                raise KeyboardInterrupt
            if not (isinstance(cv, int) and not cv):
                outcome = running.measure(answer)
            return running.finish(answer, outcome)
    except KeyboardInterrupt:
        raise Interrupted(None if answer is None else running.finish(answer, None, interrupted=True)) from None


def run_kept(
    plan: Plan, problem: Problem, path: Path | str | None, *, followers: Followers | None = None, goes_on: bool = False
) -> Selection:
    """Run a plan and keep it in a folder, if there is one; a run that is there goes on.

    Parameters
    ----------
    plan : Plan
        What is to be run.
    problem : Problem
        The rows.
    path : path, optional
        The folder; made if it is not there.
    followers : Followers, optional
        Who follows the progress.
    goes_on : bool, default=False
        The result is not the last one, and is not written.

    Returns
    -------
    Selection
    """
    if path is None:
        return run_plan(plan, problem, followers=followers)
    with closing(open_folder(path, plan, problem)) as folder:
        folder.goes_on = goes_on
        return run_plan(plan, problem, followers=followers, folder=folder)


# Cells up to which several threads for one matrix product wait for each other longer than they work.
ONE_THREAD_CELLS = 10**6
# Number of rows that `auto` must see for a small budget not to be reported.
ENOUGH_ROWS = 400


@dataclass
class _Running:
    """One run of a plan, from its first step to its selection."""

    plan: Plan
    problem: Problem
    followers: Followers
    folder: RunFolder | None
    with_evidence: bool
    budget: Budget | None
    began: float
    seconds_for_one: float = 0.0
    notes: list[str] = field(default_factory=list)

    def search(self) -> Answer:
        """Select on all rows; what the clock ended gives its repetitions as many subsets."""
        follow: OnStep | None = self._keep
        cv, n_rows = self.plan.request.cv, self.problem.n_samples
        began = time.monotonic()
        if self.budget is not None:
            follow = self.budget.limit(follow, began + self.budget.patience)
        trace = None if self.folder is None else self.folder.trace()
        own_cv = self.plan.selector.get_params(deep=False).get("cv")
        share = isinstance(cv, int) and cv == own_cv and self.budget is None
        answer = clone(self.plan.selector).answer(self.problem, follow, trace, share=share)
        self.seconds_for_one = time.monotonic() - began
        if self.budget is not None and answer.trace.ending is Ending.CLOCK:
            self.budget = self.budget.cut(answer.trace.n_evaluations)
        seen = answer.n_seen or n_rows
        if self.budget is not None and seen < min(n_rows, ENOUGH_ROWS):
            self.notes.append(f"Small budget: auto used {seen:,} of the {n_rows:,} rows; a larger one may find more.")
        return answer

    def _keep(self, trace: Trace) -> None:
        if self.folder is not None:
            self.folder.keep_trace(trace)
        if self.followers.on_step is not None:
            self.followers.on_step(trace)

    def measure(self, answer: Answer) -> HeldOutScores | None:
        """Repeat the whole selection without each fold and score it on that fold; two folds at least, or none."""
        done = None if self.folder is None else self.folder.folds()
        request, cv = self.plan.request, self.plan.request.cv
        if not done and self.budget is not None and (needed := self._seconds_with_next(0, self.budget)):
            self.notes.append(f"No time left for cross-validation; with {duration(needed)} there would be.")
            return None

        def keep(records: list[dict[str, Any]]) -> None:
            LOGGER.info("%s: %d folds measured", self.plan.name, len(records))
            if self.folder is not None:
                self.folder.keep_folds(records)
            if self.followers.on_fold is not None:
                self.followers.on_fold(len(records))
            if self.budget is not None and self._seconds_with_next(len(records), self.budget):
                raise Stopped(f"The budget allows {len(records)} folds.")  # another one would not fit into it

        judge, most = judge_of(answer, self.plan, self.problem)
        resources = Resources(effective_n_jobs(self.plan.selector.n_jobs))
        stays = answer.without is not None and leaves_machine(resources)
        outcome = heldout(
            _Chooser(self.plan, self.budget, answer.without), self.problem, judge,
            cv=cv if answer.folds is None else [(fold.train, fold.test) for fold in answer.folds],
            rng=np.random.default_rng([request.seed, 1]),
            # A clock that runs here means nothing on another machine, and parts that are shared lie here.
            resources=resources.alone() if self.budget is not None or stays else resources,
            scoring=request.scoring, tried=None if answer.folds is None else answer.tried, done=done, on_fold=keep,
        )  # fmt: skip
        n_done = len(outcome.masks)
        n_folds = cv if isinstance(cv, int) else n_done
        if most is not None and self.problem.n_samples * (n_folds - 1) // max(n_folds, 1) > most:
            self.notes.append(f"The nearest-neighbor model for the held-out scores used a sample of {most:,} rows.")
        if self.problem.time is not None and self.problem.task == "classification":
            first = self.problem.y[self.problem.time.argmin()]
            alone = int((self.problem.time < self.problem.time[self.problem.y != first].min()).sum())
            if alone * (n_folds + 1) >= self.problem.n_samples:
                which = f"The first {alone:,} rows in time are all of class {self.problem.classes[first]}"
                self.notes.append(f"{which}; the held-out scores are those of later rows.")
        if n_done < n_folds and self.problem.time is None:
            few = f"The budget allowed {n_done} of the {n_folds} folds, with the same search effort as on all rows."
            self.notes.append(few if self.budget else f"The groups of rows allow {n_done} folds, not {n_folds}.")
        return outcome

    def _seconds_with_next(self, n_done: int, budget: Budget) -> float:
        """Return the seconds that the next folds would end at, two at least; 0 if the budget has room for them."""
        measured = time.monotonic() - self.began
        # A fold takes what the answer took; that of `auto` also looked for stand-ins, which is done once.
        one = min(budget.each or float("inf"), self.seconds_for_one)
        if n_done:
            one = (measured - self.seconds_for_one) / n_done
        end = budget.spent + measured + max(2 - n_done, 1) * one
        return end if end > budget.seconds else 0.0

    def finish(self, answer: Answer, outcome: HeldOutScores | None, *, interrupted: bool = False) -> Selection:
        """Put what was found together, and keep it in the folder."""
        plan, problem, folder = replace(self.plan, budget=self.budget), self.problem, self.folder
        if folder is not None and answer.trace.steps:
            folder.keep_trace(answer.trace, now=True)
        order = answer.order if not answer.is_empty else np.empty(0, dtype=np.int64)
        drifting = [] if problem.time is None else _drifting(problem, order)
        stopped = ["The run was stopped early; this is the best result so far."] if interrupted else []
        notes = dict.fromkeys([*problem.notes, *answer.trace.notes, *plan.notes, *self.notes, *drifting, *stopped])
        whole = not interrupted and not answer.nothing_found
        # A run that is stopped is kept in a folder, whether one was named or not.
        written = _in_writing(plan, problem, answer, outcome, order) if self.with_evidence or interrupted else {}
        if self.with_evidence and whole:
            written["sizes"] = evaluate.scores_by_size(answer, problem)
        shown: dict[str, Any] = {}
        if plan.request.planted and not interrupted:
            shown["planted"] = _planted(self, order)
        if self.with_evidence and not interrupted:
            shown |= _evidence(self, answer, outcome, order)
        scoring = plan.request.scoring
        judge = judge_of(answer, plan, problem)[0]
        judged_by = judge_as_text(" ".join(repr(judge).split()))
        scoring = judge.scoring if scoring is None else scoring
        names = problem.names
        selection = Selection(
            features=[names[i] for i in order],
            support=[bool(kept) and not answer.is_empty for kept in answer.support],
            score_search=answer.believed,
            score_name="R²" if scoring is None and problem.task == "regression" else score_name(scoring, problem),
            method=plan.name,
            **components_of((answer.scored_by, answer.search, answer.control)),
            n_evaluations=answer.trace.n_evaluations,
            seconds=round(time.monotonic() - self.began, 3),
            seed=plan.request.seed,
            set_aside=[names[i] for i in np.flatnonzero(problem.constant & ~answer.support)],
            warnings=list(map(str, notes)),
            suspicions=list(problem.suspicions),
            reason=answer.reason,
            score_without=_score_without(answer.run, order, problem) if whole and answer.run is not None else {},
            **_held_out(problem, answer, outcome, order, scoring),
            n_rows=problem.n_samples,
            n_features=problem.n_features,
            command=plan.command,
            interrupted=interrupted,
            fingerprint="" if folder is None else folder.name,
            prefer=plan.request.prefer if answer.choices else "",
            stand_ins={names[i]: [names[j] for j in others] for i, others in answer.stand_ins.items()},
            judges=answer.judge_names or ({} if outcome is None else {"chosen": judged_by, "all": judged_by}),
            costs={} if (prices := plan.request.feature_costs) is None else _costs(prices, order, problem),
            nothing_found=answer.nothing_found,
            promise=answer.promise,
            effort=(self.budget.n_subsets or 0) if self.budget is not None else 0,
            evidence=shown,
            trace=answer.trace if answer.trace.steps else None,
            **written,
        )
        if folder is not None and (interrupted or not folder.goes_on):
            folder.write(RESULT, selection.to_dict())
        return selection


@dataclass(frozen=True)
class _Chooser(Chooser):
    """The whole selection, repeated on some of the rows with the effort of the answer itself."""

    plan: Plan
    budget: Budget | None
    shared: Callable[[int], Answer] | None = None

    def without(self, fold: int, rows: Problem, rng: np.random.Generator) -> Choice:
        if self.shared is not None:
            answer = self.shared(fold)
        else:
            limit = None if self.budget is None else self.budget.limit(None)
            answer = self.plan.selector.for_part(rng).answer(rows, limit)
        if answer.trace.ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        (judge, most), run = judge_of(answer, self.plan, rows), answer.run
        scorer = run.scorer if run is not None and judge is run.criterion and run.is_bound else None
        return Choice(answer.support, judge, answer.judge_all, cast(PredictiveScorer | None, scorer), most)


# Rows that nearest neighbors learn from where they stand in as the judge: they take the square of the rows.
JUDGE_ROWS = 5_000


def judge_of(answer: Answer, plan: Plan, problem: Problem) -> tuple[Criterion, int | None]:
    """Return which model predicts held-out rows: the user's, the method's own, else nearest neighbors.

    Parameters
    ----------
    answer : Answer
        What the selection found.
    plan : Plan
        What was asked for.
    problem : Problem
        The rows.

    Returns
    -------
    judge : Criterion
        A predictive one.
    most : int or None
        The most rows that it learns from; all, if it is the user's or the method's own.
    """
    if plan.request.estimator is not None:
        return CrossValidated(build_component("estimator", plan.request.estimator, problem), cv=2), None
    if answer.judge is not None:
        return answer.judge, None
    if problem.time is not None:
        return CrossValidated(build("estimator", "knn", problem.task), cv=2), None
    return KNN(n_neighbors="auto"), JUDGE_ROWS


def components_of(components: Sequence[Any]) -> dict[str, Any]:
    """Write the components of a selector out.

    Parameters
    ----------
    components : sequence
        What scores, what searches and what controls, such as `selector.components()`.

    Returns
    -------
    dict
        `criterion`, `search` and `control` as text; None where there is none.

    Examples
    --------
    >>> from fewer import SubsetSelector
    >>> from fewer.search import Forward
    >>> components_of(SubsetSelector(KNN(3), Forward()).components())
    {'criterion': 'KNN(n_neighbors=3)', 'search': 'Forward()', 'control': None}
    """
    texts = [None if part is None else " ".join(repr(part).split()) for part in components]
    return dict(zip(("criterion", "search", "control"), texts, strict=True))


def _in_writing(
    plan: Plan, problem: Problem, answer: Answer, outcome: HeldOutScores | None, order: IntArray
) -> dict[str, Any]:
    """Return what only a page or a kept result shows: of the features, of the table, and what repeats the run."""
    return {
        "redundancy": evaluate.redundancy(problem, order.tolist()) if 2 <= len(order) <= MAX_REDUNDANCY else {},
        "data": _at_a_glance(problem, order.tolist()),
        "code": script_for(plan, outcome),
        "versions": versions(),
        "curve": curve_of(answer, problem.names),
    }


def _held_out(
    problem: Problem, answer: Answer, outcome: HeldOutScores | None, order: IntArray, scoring: Any
) -> dict[str, Any]:
    """Return the results of the repetitions without each fold: the scores, and which features come back."""
    if outcome is None:
        return {}
    n_units = problem.n_samples if problem.groups is None else len(np.unique(problem.groups))
    difference = outcome.interval_of_difference
    of_many = replace(difference, degrees_of_freedom=math.inf).at(difference.level)  # which know their own spread
    written = measured(
        (outcome.interval, outcome.interval_all, difference), outcome.masks, problem.names,
        difference=outcome.difference, estimand=outcome.interval.estimand,
        in_points=is_share(score_name(scoring, problem)),
        rows_to_tell=rows_to_tell(of_many.low, of_many.high, n_units),
        by="row" if problem.groups is None else "group", baseline=baseline_score(problem, scoring),
    )  # fmt: skip
    return written | {"stability": _stability(outcome, answer, [problem.names[i] for i in order])}


def _evidence(running: _Running, answer: Answer, outcome: HeldOutScores | None, order: IntArray) -> dict[str, Any]:
    plan, problem = running.plan, running.problem
    judge, _ = judge_of(answer, plan, problem)
    about = {"scoring": plan.request.scoring, "thorough": plan.request.budget is None}
    parts = Evidence(problem, answer, order, judge, outcome, plan.request.seed, **about).gather()
    if plan.request.feature_costs is not None:
        others = {i for columns in answer.stand_ins.values() for i in columns}
        shown = sorted({problem.names.index(name) for name in parts["features"]} | others)
        parts["costs"] = _costs(plan.request.feature_costs, np.array(shown), problem)
    if plan.request.alternatives:
        try:
            parts["alternatives"] = evaluate.good_subsets(
                judge, problem, max_subsets=plan.request.alternatives, seed=plan.request.seed,
                costs=parts.get("costs") and _costs(plan.request.feature_costs, np.arange(problem.n_features), problem),
                resources=Resources(effective_n_jobs(plan.request.n_jobs), device=plan.request.device),
            ).packed()  # fmt: skip
        except (IncompatibleError, InputError) as error:
            parts["untold"] = [*parts.get("untold", ()), f"No alternatives: {error}"]
    return parts


def _planted(running: _Running, order: IntArray) -> dict[str, Any]:
    """Select once more from columns of which some are known to be worth nothing (Chen, chapter 5)."""
    plan = running.plan
    rng = np.random.default_rng([plan.request.seed, 3])

    def choose(wider: Problem) -> BoolArray:
        limit = None if running.budget is None else running.budget.limit(None)
        answer = plan.selector.for_part(rng).answer(wider, limit)
        if answer.trace.ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt
        return answer.support & (not answer.is_empty)

    best, n_random = order[:3].tolist(), plan.request.planted
    try:
        return evaluate.planted_selection(choose, running.problem, best, n_random, rng)
    except (IncompatibleError, InputError) as error:  # such as one price a column: the answer stands
        return {"error": str(error)}


def _drifting(problem: Problem, order: IntArray) -> list[str]:
    """Name the chosen features whose values differ between the earlier and the later half of the rows."""
    compared = evaluate.drift_along_time(problem, order)
    # Few rows make an index large by chance: numbers must pass a test too, levels need many rows.
    sure = 0.01 / max(len(compared), 1)
    many = problem.n_samples >= 1000
    changed = [one for one in compared if one.changed and (many if one.p_value is None else one.p_value <= sure)]
    if not changed:
        return []
    named = listed([f"{column.name} ({column.psi:.2f})" for column in changed], 5)
    return [f"Values differ between the earlier and later half of the rows (stability index of 0.2 on): {named}."]


def _costs(given: Any, order: IntArray, problem: Problem) -> dict[str, float]:
    costs = parse_costs(given, problem.names)
    return {problem.names[i]: float(costs[i]) for i in order}


# Smallest number of features of the nested order that is reported.
ORDERED = 60


def curve_of(answer: Answer, names: Sequence[str]) -> AutoCurve:
    """Write the curve of `auto` out, with the features that each preference gets and the order in which they nest.

    Parameters
    ----------
    answer : Answer
        With choices, or the result is empty.
    names : sequence of str
        Of all features.

    Returns
    -------
    AutoCurve
        As `Selection.curve` holds it.

    Examples
    --------
    >>> curve_of(Answer(np.ones(1, dtype=bool), np.ones(1, dtype=int), KNN()), ["a"])
    {}
    """
    if not answer.choices:
        return {}
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in answer.curve.items()}
    curve = cast(AutoCurve, plain)
    if answer.smallest_without_loss is not None:
        curve["smallest_without_loss"] = answer.smallest_without_loss
    sizes, ranking = curve["chosen"], answer.ranking
    order = np.argsort(ranking, kind="stable")
    curve["answers"] = {prefer: [names[i] for i in order if mask[i]] for prefer, mask in answer.choices.items()}
    if all(np.array_equal(mask, ranking <= sizes.get(prefer, -1)) for prefer, mask in answer.choices.items()):
        curve["order"] = [names[i] for i in order[: max(ORDERED, *sizes.values())]]
    return curve


def _stability(outcome: HeldOutScores, answer: Answer, chosen: list[str]) -> StabilityNumbers:
    """Return how alike the repetitions are, and how often features come back, alone or by a stand-in."""
    masks = np.array([np.asarray(mask) != 0 for mask in outcome.masks])
    if len(masks) < 2 or masks.all() or not masks.any():
        return {}
    numbers: StabilityNumbers = {"n_repetitions": len(masks), "index": round(nogueira(masks).estimate, 4)}
    if answer.stand_ins and len(chosen):
        merged = with_stand_ins(masks, answer.stand_ins)
        numbers["with_stand_ins"] = 1.0 if merged.all() else round(nogueira(merged).estimate, 4)
        shares = merged[:, answer.order].mean(axis=0).round(4).tolist()
        numbers["returns"] = dict(zip(chosen, shares, strict=True))
    return numbers


# Columns that are described one by one; cells up to which a table gets a fingerprint.
DESCRIBED, HASHED = 100, 20_000_000


def _at_a_glance(problem: Problem, chosen: Sequence[int]) -> TableGlance:
    glance = glance_of(problem, int(problem.missing.sum()))
    evidence = {suspicion.evidence for suspicion in problem.suspicions}
    glance["notes"] = [note for note in problem.notes if note not in evidence]
    glance["columns"] = describe_columns(problem, DESCRIBED, chosen)
    if problem.sparse is None and problem.X.size <= HASHED:
        glance["fingerprint"] = fingerprint(problem, {})
    if problem.groups is not None:
        glance["groups"] = len(np.unique(problem.groups))
    if problem.task == "regression":
        glance["target"] = {"smallest": float(problem.y.min()), "largest": float(problem.y.max())}
    elif problem.y.ndim == 1:
        counts = np.bincount(problem.y, minlength=problem.n_classes)
        glance["classes"] = {str(label): int(count) for label, count in zip(problem.classes, counts, strict=True)}
    return glance


def _score_without(run: Run, chosen: IntArray, problem: Problem) -> dict[str, float]:
    """Score the chosen subset without each of its features, by the folds that the search itself used."""
    units = [np.array([column]) for column in sorted(chosen)]
    scores = run.scorer.flips(mask_of(chosen, problem.n_features), units, np.zeros(len(units), dtype=bool))
    return {problem.names[unit[0]]: round(float(score), 12) for unit, score in zip(units, scores, strict=True)}


def open_folder(path: Path | str, plan: Plan, problem: Problem, *, resume: bool | None = None) -> RunFolder:
    """Open the folder of a run, new or to be resumed.

    Parameters
    ----------
    path : path
        The folder; made if it is not there.
    plan : Plan
        What is to be run.
    problem : Problem
        The rows.
    resume : bool, optional
        Go on with the run that is in the folder; left out, where there is one.

    Returns
    -------
    RunFolder
        Where the run is kept.

    Examples
    --------
    >>> import tempfile
    >>> from fewer.run.request import Request
    >>> from fewer.run.planning import make_plan
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> folder = open_folder(tempfile.mkdtemp() + "/run", make_plan(problem, Request("fisher")), problem)
    >>> type(folder).__name__
    'RunFolder'
    """
    resume = (Path(path) / RUN).exists() if resume is None else resume
    parameters = plan.selector.get_params(deep=False)
    names = ("n_features_to_select", "include", "exclude", "feature_groups", "cost_weight", "start")
    sizes = {name: parameters[name] for name in names if parameters.get(name)}
    request = plan.request
    about = {
        "method": plan.name,
        **components_of(plan.selector.components()),
        "features": sizes,
        "folds": request.cv if isinstance(request.cv, int | str) else str(request.cv),
        "seed": request.seed,
    }
    if request.scoring is not None:
        about["scoring"] = str(request.scoring)
    if plan.budget is not None:
        about["budget"] = asdict(plan.budget)
    return RunFolder(path, about, fingerprint(problem, about), resume=resume)


def versions() -> dict[str, str]:
    """Return the versions that a result depends on.

    Returns
    -------
    dict of str to str
        By package, and Python's.

    Examples
    --------
    >>> sorted(versions())
    ['fewer', 'numba', 'numpy', 'python', 'scikit-learn']
    """
    packages = ("fewer", "numpy", "scikit-learn", "numba")
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


__all__ = [
    "MAX_REDUNDANCY",
    "Followers",
    "Interrupted",
    "components_of",
    "curve_of",
    "open_folder",
    "run_plan",
    "versions",
]
