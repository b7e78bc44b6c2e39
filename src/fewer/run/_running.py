"""The Python script that repeats a run: imports, reading, every option that was not left alone.

The run of a plan: a selection on all rows, its repetitions on parts of them, and the answer made of both.
"""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone

from fewer import evaluate
from fewer.contracts import Criterion, OnStep, PredictiveScorer, Resources, Run, Stopped
from fewer.criteria import KNN, CrossValidated
from fewer.errors import interruptible
from fewer.estimators import parse_costs
from fewer.evaluate import Choice, Evidence, HeldOutScores, heldout
from fewer.evaluate._grading import is_share
from fewer.evaluate._verdict import baseline_score
from fewer.io import describe_columns
from fewer.problem import IntArray, Problem
from fewer.registry import build
from fewer.run._budget import Budget
from fewer.run._folder import RunFolder, fingerprint
from fewer.run._planning import AnySelector, Plan, build_estimator
from fewer.run._selection import Selection, rows_to_tell
from fewer.selectors import AutoSelector, RankSelector, SubsetSelector
from fewer.selectors.auto._standins import with_stand_ins
from fewer.trace import Trace
from fewer.validate import nogueira

PUBLIC = ("fewer.criteria", "fewer.search", "fewer.control", "fewer.rankers", "fewer.models")


def script_for(plan: Plan, outcome: HeldOutScores | None = None) -> str:
    """Write the script that repeats a run.

    Parameters
    ----------
    plan : Plan
        `reading` holds the lines that read the table into `problem`; without them the script expects X and y.
    outcome : HeldOutScores, optional
        Tells how many folds a budget had room for.

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
    arguments = [repr(request.method)] if request.method != "auto" else []
    arguments += [f"{name}={_source(value)}" for name, value in options.items()]
    imports = sorted({line for value in options.values() for line in _imports(value)})
    if plan.reading:
        call = f"selection = fewer.run._api.select_problem(problem, {', '.join(arguments)})"
        reading = plan.reading
    else:
        call = f"selection = fewer.select(X, y, {', '.join([*arguments, *_row_arguments(plan)])})"
        reading = "# X, y: your table and its target, as they were given"
    return "\n".join([*imports, "import fewer", "", reading, call, "print(selection)"])


def _row_arguments(plan: Plan) -> list[str]:
    return [f"{name}={name}" for name in plan.rows]


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
        return ["from fewer.run._budget import Budget"] if value.n_subsets is None else []
    if not isinstance(value, BaseEstimator):
        parts = value if isinstance(value, list | tuple) else ()
        return [line for part in parts for line in _imports(part)]
    own = type(value)
    package = next((name for name in PUBLIC if own.__module__.startswith(name + ".")), None)
    module = package or ".".join(part for part in own.__module__.split(".") if not part.startswith("_"))
    inner = [line for part in value.get_params(deep=False).values() for line in _imports(part)]
    return [f"from {module} import {own.__name__}", *inner]


LOGGER = logging.getLogger("fewer")
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
        super().__init__("interrupted")
        self.selection = selection


@dataclass(frozen=True)
class Followers:
    """Who is told how a run goes on.

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
        Who is told how it goes on.
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
    >>> from fewer.run._planning import Request, make_plan
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> run_plan(make_plan(problem, Request("fisher", n_features_to_select=1, cv=0)), problem).features
    ['x0']
    """
    return _Running(plan, problem, followers or Followers(), folder, with_evidence).go()


ENOUGH = 400
"""Rows from which on nothing is said of a budget that shows `auto` no more."""


class _Running:
    """One run of a plan, from its first step to its selection."""

    def __init__(
        self, plan: Plan, problem: Problem, followers: Followers, folder: RunFolder | None, with_evidence: bool
    ) -> None:
        self.plan, self.problem, self.followers, self.folder = plan, problem, followers, folder
        self.with_evidence = with_evidence
        self.selector = clone(plan.selector)
        self.request = plan.request
        self.began, self.clock = time.perf_counter(), time.monotonic()
        self.run: Run | None = None
        self.budget = plan.budget
        if plan.budget is not None:
            self.clock -= plan.budget.spent
        self.notes = list(plan.notes)

    def go(self) -> Selection:
        LOGGER.info("%s: selecting on %d rows and %d features", self.plan.name, *self.problem.X.shape)
        try:
            with interruptible():
                self._search()
        except KeyboardInterrupt:
            raise Interrupted(self._finish(None, True) if hasattr(self.selector, "support_") else None) from None
        if self.request.cv is None or (isinstance(self.request.cv, int) and not self.request.cv):
            return self._finish(None, False)
        try:
            with interruptible():
                outcome = self._measure()
            return self._finish(outcome, False)
        except KeyboardInterrupt:
            raise Interrupted(self._finish(None, True)) from None

    def _search(self) -> None:
        """Select on all rows; what the clock ended gives its repetitions as many subsets."""
        follow: OnStep | None = self._keep
        began = time.monotonic()
        if self.budget is not None:
            follow = self.budget.limit(follow, began + self.budget.patience)
        selector = self.selector
        trace = Trace() if self.folder is None else self.folder.trace()
        if isinstance(selector, SubsetSelector):
            self.run = selector.prepare(self.problem, follow, trace)
            selector.fit_run(self.run)
        elif isinstance(selector, RankSelector):
            selector.fit_problem(self.problem, follow, trace)
        else:
            selector.fit_problem(self.problem, follow)
        if self.budget is not None and any(note.startswith("The clock") for note in _trace_of(selector).notes):
            self.budget = self.budget.cut(_trace_of(selector).n_evaluations)
        self.seconds_for_one = time.monotonic() - began
        seen = getattr(selector, "n_samples_seen_", self.problem.n_samples)
        if self.budget is not None and seen < min(self.problem.n_samples, ENOUGH):
            self.notes.append(
                f"The budget is small: auto saw {seen:,} of the {self.problem.n_samples:,} rows. "
                "What they do not show, more time may."
            )

    def _keep(self, trace: Trace) -> None:
        if self.folder is not None:
            self.folder.keep_trace(trace)
        if self.followers.on_step is not None:
            self.followers.on_step(trace)

    def _measure(self) -> HeldOutScores | None:
        """Repeat the whole selection without each fold and judge it on that fold; two folds at least, or none."""
        done = None if self.folder is None else self.folder.folds()
        if not done and self.budget is not None and not self._has_time(0):
            least = time.monotonic() - self.clock + 2 * self._seconds_of_a_fold()
            self.notes.append(
                f"The budget left no time to measure the answer on held-out rows; about {least:.0f} s would."
            )
            return None

        def keep(records: list[dict[str, Any]]) -> None:
            LOGGER.info("%s: %d folds measured", self.plan.name, len(records))
            if self.folder is not None:
                self.folder.keep_folds(records)
            if self.followers.on_fold is not None:
                self.followers.on_fold(len(records))
            self._stop_in_time(len(records))

        judge = judge_of(self.selector, self.plan, self.problem)
        outcome = heldout(
            _Chooser(self.plan, self.budget),
            self.problem,
            judge,
            cv=self.request.cv,
            rng=np.random.default_rng([self.request.seed, 1]),
            # A clock that runs here means nothing on another machine.
            resources=_resources(self.selector) if self.budget is None else _resources(self.selector).alone(),
            scoring=self.request.scoring,
            done=done,
            on_fold=keep,
        )
        most = _judge_rows(self.selector, judge)
        cv = self.request.cv if isinstance(self.request.cv, int) else outcome.n_folds
        if most is not None and self.problem.n_samples * (cv - 1) // max(cv, 1) > most:
            self.notes.append(
                f"Nearest neighbors, who judged the held-out rows, learned from a sample of {most:,} rows."
            )
        if isinstance(self.request.cv, int) and outcome.n_folds < self.request.cv and self.problem.time is None:
            self.notes.append(
                f"The budget had room for {outcome.n_folds} of the {self.request.cv} folds; each had the same "
                "effort as the answer itself."
            )
        return outcome

    def _stop_in_time(self, n_done: int) -> None:
        """End the repetitions where another of them would not fit into the budget."""
        if self.budget is not None and not self._has_time(n_done):
            raise Stopped(f"The budget has room for {n_done} folds.")

    def _has_time(self, n_done: int) -> bool:
        assert self.budget is not None
        spent = time.monotonic() - self.clock
        one = self._seconds_of_a_fold()
        if n_done:
            one = (spent - self.seconds_for_one - self.budget.spent) / n_done
        return spent + max(2 - n_done, 1) * one <= self.budget.seconds

    def _seconds_of_a_fold(self) -> float:
        """What the answer took; that of `auto` also looked for stand-ins, which is done once."""
        assert self.budget is not None
        return min(self.budget.each or float("inf"), self.seconds_for_one)

    def _finish(self, outcome: HeldOutScores | None, interrupted: bool) -> Selection:
        if self.folder is not None and hasattr(self.selector, "trace_"):
            self.folder.keep_trace(self.selector.trace_, now=True)
        selection = _describe(self, outcome, interrupted)
        if self.folder is not None:
            self.folder.write("result.json", selection.to_dict())
        return selection


@dataclass(frozen=True)
class _Chooser:
    """The whole selection, repeated on some of the rows with the effort of the answer itself."""

    plan: Plan
    budget: Budget | None

    def __call__(self, rows: Problem, rng: np.random.Generator) -> Choice:
        selector = clone(self.plan.selector).set_params(random_state=rng)
        limit = None if self.budget is None else self.budget.limit(None)
        if isinstance(selector, SubsetSelector):
            run = selector.prepare(rows, limit)
            selector.fit_run(run)
            judge = judge_of(selector, self.plan, rows)
            bound = judge is run.criterion and run.is_bound
            scorer = cast(PredictiveScorer, run.scorer) if bound else None
            return Choice(selector.support_, judge, scorer=scorer, judge_rows=_judge_rows(selector, judge))
        if isinstance(selector, AutoSelector):
            selector.set_params(standins=False)  # they are fixed on all rows, before the repetitions
        selector.fit_problem(rows, limit)
        judge = judge_of(selector, self.plan, rows)
        all_features = getattr(selector, "judge_all_", None)
        return Choice(selector.support_, judge, all_features, judge_rows=_judge_rows(selector, judge))


JUDGE_ROWS = 5_000
"""Rows that nearest neighbors learn from where they stand in as the judge: they take the square of the rows."""


def _judge_rows(selector: AnySelector, judge: Criterion) -> int | None:
    """Say from how many rows a judge learns: all, if it is the user's or the method's own."""
    own = isinstance(selector, AutoSelector) or (
        isinstance(selector, SubsetSelector) and _criterion_of(selector).predictive
    )
    return JUDGE_ROWS if type(judge) is KNN and not own else None


def judge_of(selector: AnySelector, plan: Plan, problem: Problem) -> Criterion:
    """Return who judges held-out rows: the user's model, the method's own criterion, else nearest neighbors.

    Parameters
    ----------
    selector : estimator
        Fitted, or about to be.
    plan : Plan
    problem : Problem

    Returns
    -------
    Criterion
        A predictive one.
    """
    if plan.request.estimator is not None:
        return CrossValidated(build_estimator(plan.request.estimator, problem), cv=2)
    if isinstance(selector, AutoSelector) and hasattr(selector, "judge_"):
        return selector.judge_
    selector = winner_of(selector)
    if isinstance(selector, SubsetSelector) and (own := _criterion_of(selector)).predictive:
        return own
    if problem.time is not None:
        return CrossValidated(build("estimator", "knn", problem.task), cv=2)
    return KNN(n_neighbors="auto")


def winner_of(selector: AnySelector) -> AnySelector:
    """Return the selector that `auto` took, once it has; any other as it is.

    Parameters
    ----------
    selector : selector
        Fitted or not.

    Returns
    -------
    selector
        Which may be the same.

    Examples
    --------
    >>> from fewer.rankers import Fisher
    >>> winner_of(RankSelector(Fisher()))
    RankSelector(ranker=Fisher())
    """
    winner: Any = getattr(selector, "selector_", selector) if isinstance(selector, AutoSelector) else selector
    return cast(AnySelector, winner)


def components_of(selector: AnySelector) -> dict[str, Any]:
    """Write the components of a selector out: those of the winner, once `auto` has chosen.

    Parameters
    ----------
    selector : selector
        Fitted or not.

    Returns
    -------
    dict
        `criterion`, `search` and `control` as text; None where there is none.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from fewer.search import Forward
    >>> components_of(SubsetSelector(KNN(3), Forward()))
    {'criterion': 'KNN(n_neighbors=3)', 'search': 'Forward()', 'control': None}
    """
    selector = winner_of(selector)
    if isinstance(selector, RankSelector):
        control = getattr(selector, "control", None)
        ranker = getattr(selector, "ranker_", selector.ranker)
        return {
            "criterion": _one_line(ranker),
            "search": None,
            "control": None if control is None else _one_line(control),
        }
    if isinstance(selector, AutoSelector):
        return {"criterion": _one_line(getattr(selector, "judge_", selector)), "search": None, "control": None}
    unfitted = clone(selector) if not hasattr(selector, "criterion_") else selector
    control = getattr(unfitted, "control_", unfitted.control)
    return {
        "criterion": _one_line(_criterion_of(unfitted)),
        "search": _one_line(getattr(unfitted, "search_", unfitted.search)),
        "control": None if control is None else _one_line(control),
    }


def _describe(running: _Running, outcome: HeldOutScores | None, interrupted: bool) -> Selection:
    plan, selector, problem = running.plan, running.selector, running.problem
    winner = winner_of(selector)
    nothing = bool(getattr(selector, "nothing_found_", False))
    empty = nothing and not getattr(selector, "wants_features", False)
    chosen = np.flatnonzero(selector.support_) if not empty else np.empty(0, dtype=np.int64)
    order = chosen[np.argsort(selector.ranking_[chosen], kind="stable")]
    trace = _trace_of(selector)
    # What a search inside `auto` says of its own size is not the answer: the curve and the reason tell that.
    told = [
        note for note in trace.notes if not (isinstance(selector, AutoSelector) and note.startswith("Held-out rows"))
    ]
    notes = list(dict.fromkeys([*problem.notes, *told, *running.notes]))
    if interrupted:
        notes.append("The run was stopped before its end; this is the best so far.")
    whole = not interrupted and not nothing
    is_search = isinstance(winner, SubsetSelector)
    plan = replace(plan, budget=running.budget)
    return Selection(
        features=[problem.names[i] for i in order],
        support=[bool(kept) and not empty for kept in selector.support_],
        score_search=winner.score_ if is_search else None,
        score_name=_score_name(running, problem),
        method=plan.name,
        **components_of(selector),
        n_evaluations=getattr(selector, "n_evaluations_", 0) or trace.n_evaluations,
        seconds=round(time.perf_counter() - running.began, 3),
        seed=plan.request.seed,
        set_aside=[problem.names[i] for i in np.flatnonzero(problem.constant & ~selector.support_)],
        warnings=notes,
        suspicions=list(problem.suspicions),
        reason=getattr(selector, "reason_", ""),
        sizes=evaluate.scores_by_size(winner, problem, running.run)
        if whole and not isinstance(winner, AutoSelector)
        else {},
        redundancy=evaluate.redundancy(problem, order.tolist()) if 2 <= len(order) <= MAX_REDUNDANCY else {},
        score_without=_score_without(running.run, order, problem) if whole and is_search and running.run else {},
        **_held_out(running, outcome, order),
        n_rows=problem.n_samples,
        n_features=problem.n_features,
        data=_at_a_glance(problem),
        command=plan.command,
        code=script_for(plan, outcome),
        versions=versions(),
        interrupted=interrupted,
        fingerprint="" if running.folder is None else running.folder.name,
        prefer=plan.request.prefer if isinstance(selector, AutoSelector) else "",
        curve=_curve(selector, problem),
        stand_ins={
            problem.names[i]: [problem.names[j] for j in others]
            for i, others in getattr(selector, "standins_", {}).items()
        },
        judges=_judges(selector),
        nothing_found=nothing,
        promise=getattr(selector, "promise_", ""),
        effort=(running.budget.n_subsets or 0) if running.budget is not None else 0,
        costs=_costs(plan.request.feature_costs, order, problem),
        evidence=_evidence(running, outcome, order) if running.with_evidence and not interrupted else {},
        trace=getattr(selector, "trace_", None),
    )


def _held_out(running: _Running, outcome: HeldOutScores | None, order: IntArray) -> dict[str, Any]:
    """Tell what the repetitions without each fold say: of the score, and of the features that come back."""
    if outcome is None:
        return {"score_heldout": None, "score_heldout_all_features": None}
    problem = running.problem
    return {
        "score_heldout": outcome.score,
        "score_heldout_all_features": outcome.score_all,
        "heldout": _numbers(outcome, problem, running),
        "frequency": _frequencies(outcome, problem),
        "stability": _stability(outcome, running.selector, [problem.names[i] for i in order]),
    }


def _evidence(running: _Running, outcome: HeldOutScores | None, order: IntArray) -> dict[str, Any]:
    selector, plan, problem = running.selector, running.plan, running.problem
    who = selector if isinstance(selector, AutoSelector) else winner_of(selector)
    judge = judge_of(selector, plan, problem)
    about = {"scoring": plan.request.scoring, "thorough": plan.request.budget is None}
    told = Evidence(problem, who, order, judge, outcome, plan.request.seed, **about).gather()
    if plan.request.feature_costs is not None:
        others = {i for some in getattr(selector, "standins_", {}).values() for i in some}
        shown = sorted({problem.names.index(name) for name in told["features"]} | others)
        told["costs"] = _costs(plan.request.feature_costs, np.array(shown), problem)
    return told


def _costs(given: Any, order: IntArray, problem: Problem) -> dict[str, float]:
    if given is None:
        return {}
    costs = parse_costs(given, problem.names)
    return {problem.names[i]: float(costs[i]) for i in order}


def _trace_of(selector: AnySelector) -> Trace:
    return getattr(winner_of(selector), "trace_", None) or Trace()


def _scoring(running: _Running, problem: Problem) -> Any:
    """Return what scores are measured by: what was asked for, or the judge's own."""
    own = getattr(judge_of(running.selector, running.plan, problem), "scoring", None)
    return own if running.request.scoring is None else running.request.scoring


def _score_name(running: _Running, problem: Problem) -> str:
    scoring = _scoring(running, problem)
    if scoring is None:
        return "accuracy" if problem.task == "classification" else "R²"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", "score"))


def _numbers(outcome: HeldOutScores, problem: Problem, running: _Running) -> dict[str, Any]:
    names = ("low", "high", "difference", "difference_low", "difference_high", "p_value", "n_folds")
    numbers = {name: getattr(outcome, name) for name in names}
    n_units = problem.n_samples if problem.groups is None else len(np.unique(problem.groups))
    return {
        **numbers,
        "estimand": outcome.interval.estimand,
        "in_points": is_share(_score_name(running, problem)),
        "rows_to_tell": rows_to_tell(outcome.difference_low, outcome.difference_high, n_units),
        "by": "row" if problem.groups is None else "group",
        "baseline": baseline_score(problem, _scoring(running, problem)),
    }


def _judges(selector: AnySelector) -> dict[str, str]:
    names = {"chosen": getattr(selector, "judge_name_", ""), "all": getattr(selector, "judge_all_name_", "")}
    return {key: name for key, name in names.items() if name}


ORDERED = 60
"""So many features of the nested order are told at least."""


def _curve(selector: AnySelector, problem: Problem) -> dict[str, Any]:
    curve = getattr(selector, "curve_", None)
    if not isinstance(selector, AutoSelector) or not curve:
        return {}
    plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in curve.items()}
    cost = getattr(selector, "cost_", None) or {}
    if cost.get("costs"):
        plain["smallest_without_loss"] = int(cost["smallest"])
    return plain | _answers(selector, plain.get("chosen", {}), problem.names)


def _answers(selector: AutoSelector, sizes: dict[str, int], names: Sequence[str]) -> dict[str, Any]:
    """Name the features that each preference gets, and the order whose beginnings they are, where they nest."""
    choices, ranking = selector.choices_, selector.ranking_
    order = np.argsort(ranking, kind="stable")
    told: dict[str, Any] = {
        "answers": {prefer: [names[i] for i in order if mask[i]] for prefer, mask in choices.items()}
    }
    if sizes and all(np.array_equal(mask, ranking <= sizes.get(prefer, -1)) for prefer, mask in choices.items()):
        told["order"] = [names[i] for i in order[: max(ORDERED, *sizes.values())]]
    return told


def _frequencies(outcome: HeldOutScores, problem: Problem) -> dict[str, float]:
    shares = np.mean([mask != 0 for mask in outcome.masks], axis=0)
    often = np.argsort(-shares, kind="stable")
    return {problem.names[i]: round(float(shares[i]), 4) for i in often if shares[i] > 0}


def _stability(outcome: HeldOutScores, selector: AnySelector, chosen: list[str]) -> dict[str, Any]:
    """Tell how alike the repetitions are, and what comes back: as it is, and with stand-ins taken for the feature."""
    masks = np.array([np.asarray(mask) != 0 for mask in outcome.masks])
    if len(masks) < 2 or masks.all() or not masks.any():
        return {}
    told: dict[str, Any] = {"n_repetitions": len(masks), "index": _rounded(nogueira(masks).estimate)}
    others: dict[int, list[int]] = getattr(selector, "standins_", {})
    if others and len(chosen):
        merged = with_stand_ins(masks, others)
        order = np.flatnonzero(selector.support_)
        order = order[np.argsort(selector.ranking_[order], kind="stable")]
        told["with_stand_ins"] = 1.0 if merged.all() else _rounded(nogueira(merged).estimate)
        told["returns"] = {name: _rounded(merged[:, i].mean()) for name, i in zip(chosen, order, strict=True)}
    return told


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


DESCRIBED, HASHED = 100, 20_000_000
"""So many columns are described one by one; tables of up to so many cells get a fingerprint."""


def _at_a_glance(problem: Problem) -> dict[str, Any]:
    kinds = {kind: problem.kinds.count(kind) for kind in ("numeric", "nominal", "boolean")}
    glance: dict[str, Any] = {"task": problem.task, "missing_cells": int(problem.missing.sum()), **kinds}
    glance["notes"] = [note for note in problem.notes if note not in {found.evidence for found in problem.suspicions}]
    glance["columns"] = describe_columns(problem, DESCRIBED)
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
    mask = np.zeros(problem.n_features, dtype=bool)
    mask[chosen] = True
    units = [np.array([column]) for column in sorted(chosen)]
    scores = run.scorer.flips(mask, units, np.zeros(len(units), dtype=bool))
    return {problem.names[unit[0]]: round(float(score), 12) for unit, score in zip(units, scores, strict=True)}


def _criterion_of(selector: SubsetSelector) -> Criterion:
    criterion: Any = getattr(selector, "criterion_", selector.criterion)
    return cast(Criterion, KNN() if criterion is None else criterion)


def _resources(selector: AnySelector) -> Resources:
    return Resources(effective_n_jobs(getattr(selector, "n_jobs", 1)))


def _one_line(component: Any) -> str:
    return " ".join(repr(component).split())


def open_folder(path: Path | str, plan: Plan, problem: Problem, *, resume: bool) -> RunFolder:
    """Open the folder of a run, new or to be resumed.

    Parameters
    ----------
    path : path
        The folder; made if it is not there.
    plan : Plan
        What is to be run.
    problem : Problem
        The rows.
    resume : bool
        Go on with what is in the folder.

    Returns
    -------
    RunFolder
        Where the run is kept.

    Examples
    --------
    >>> import tempfile
    >>> from fewer.run._planning import Request, make_plan
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> folder = open_folder(tempfile.mkdtemp() + "/run", make_plan(problem, Request("fisher")), problem, resume=False)
    >>> type(folder).__name__
    'RunFolder'
    """
    parameters = plan.selector.get_params(deep=False)
    names = ("n_features_to_select", "include", "exclude", "feature_groups", "cost_weight", "start")
    sizes = {name: parameters[name] for name in names if parameters.get(name)}
    request = plan.request
    about = {
        "method": plan.name,
        **components_of(plan.selector),
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


__all__ = ["Followers", "Interrupted", "components_of", "open_folder", "run_plan", "versions", "winner_of"]
