"""One call, one answer: `fewer.select` and its result."""

from __future__ import annotations

import html
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from fewer import evaluate, registry
from fewer.budget import MARGIN, Budget, measure_speed, parse_budget, seconds_for
from fewer.contracts import Criterion, OnStep, Resources
from fewer.control import Prefilter
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.evaluate import Comparison, HeldOutScores, OnProgress, heldout
from fewer.io import to_problem
from fewer.problem import BoolArray, Problem
from fewer.runs import RunFolder, fingerprint
from fewer.selectors import AutoSelector, Column, RankSelector, Size, SubsetSelector
from fewer.trace import Trace
from fewer.validate import assign_folds

AUTO_ROWS = 5_000
MAX_REDUNDANCY = 40


@dataclass(frozen=True)
class Selection:
    """What was selected, how, and whether it helped.

    Attributes
    ----------
    features : list of str
        The chosen features, in the order in which a stepwise search took them.
    support : list of bool
        One truth value for each feature of the table.
    score_search : float or None
        What the search believed of them. It is optimistic: this score chose them.
    score_heldout, score_heldout_all_features : float or None
        The score on rows that the whole selection never saw, with the features selected without those rows, and
        with all features. The first estimates the *procedure*; the features above come from all rows.
    heldout : dict
        The interval of the held-out score, the difference from all features with its interval and p-value, and the
        number of folds.
    score_without : dict
        For each chosen feature, the search's score of the others without it.
    frequency : dict
        For each feature chosen at least once when the selection was repeated on the folds, the share of those
        repetitions: how sure we can be of it.
    sizes : dict
        Score against the number of features (`fewer.evaluate.scores_by_size`).
    redundancy : dict
        How far the chosen features repeat each other (`fewer.evaluate.redundancy`).
    data : dict
        The table at a glance.
    command, code : str
        What repeats the run on the command line, where it came from there, and in Python.
    versions : dict
    trace : Trace or None
        The history of the search; it is not part of the JSON.
    """

    features: list[str]
    support: list[bool]
    score_search: float | None
    score_heldout: float | None
    score_heldout_all_features: float | None
    score_name: str
    method: str
    criterion: str | None
    search: str | None
    control: str | None
    n_evaluations: int
    seconds: float
    seed: int
    set_aside: list[str]
    warnings: list[str]
    reason: str = ""
    heldout: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    redundancy: dict[str, Any] = field(default_factory=dict)
    score_without: dict[str, float] = field(default_factory=dict)
    frequency: dict[str, float] = field(default_factory=dict)
    n_rows: int = 0
    n_features: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    command: str = ""
    code: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    trace: Trace | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """Say in one sentence whether selecting helped."""
        if self.score_heldout is None or self.score_heldout_all_features is None:
            return "Whether this helps was not measured: there is no held-out score."
        low, high = self.heldout.get("difference_low"), self.heldout.get("difference_high")
        if low is None or high is None or high - low >= 1.0:
            return f"Whether this helps cannot be told from {self.n_rows} rows."
        points = 100 * (self.score_heldout - self.score_heldout_all_features)
        numbers = f"{points:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
        fewer = f"{len(self.features)} of {self.n_features} features"
        if low > 0:
            return f"Selection helps: {numbers} of held-out {self.score_name} with {fewer}."
        if high < 0:
            return f"Selection costs {numbers} of held-out {self.score_name}; all features do better than {fewer}."
        return f"No difference in held-out {self.score_name} was found: {numbers} with {fewer}."

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as plain JSON data; NaN becomes None, infinity the largest number."""
        return {f.name: _finite(getattr(self, f.name)) for f in fields(self) if f.name != "trace"}

    def to_json(self) -> str:
        """Return the selection as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Read a selection from JSON text; nothing in it is run."""
        try:
            content = json.loads(text)
            return cls(**{f.name: content[f.name] for f in fields(cls) if f.name in content})
        except (ValueError, TypeError) as error:
            raise InputError(f"This is not a selection in JSON: {error}") from None

    def to_frame(self) -> Any:
        """Return one row a chosen feature, as a polars frame."""
        import polars as pl

        without = [self.score_without.get(name) for name in self.features]
        return pl.DataFrame(
            {"feature": self.features, "score_without": without},
            schema={"feature": pl.String, "score_without": pl.Float64},
        )

    def summary(self) -> list[str]:
        """Return the lines that go with the table of features."""
        grammar = " × ".join(component for component in (self.criterion, self.search, self.control) if component)
        lines = [f"{len(self.features)} of {self.n_features} features chosen by {self.method} ({grammar})."]
        if self.reason:
            lines.append(self.reason)
        if self.score_heldout is not None:
            lines.append(
                f"Held-out {self.score_name}: {self.score_heldout:.4f} with the chosen features, "
                f"{self.score_heldout_all_features:.4f} with all {self.n_features} "
                f"({self.heldout['n_folds']} folds, the selection repeated in each)."
            )
        lines.append(self.verdict)
        if self.score_search is not None:
            lines.append(f"The search itself believed {self.score_search:.4f}, on the rows that it chose by.")
        lines.append(f"{self.n_evaluations:,} subsets scored; {self.seconds:.1f} s in all; seed {self.seed}.")
        if self.set_aside:
            lines.append(f"Set aside, since they do not vary: {', '.join(self.set_aside)}.")
        return [*lines, *(f"Note: {warning}" for warning in self.warnings)]

    def __str__(self) -> str:
        width = max([len(name) for name in self.features], default=0)
        rows = []
        for place, name in enumerate(self.features, 1):
            without = self.score_without.get(name)
            fall = "" if without is None else f"   {without:.4f} without it"
            rows.append(f"{place:>3}  {name:<{width}}{fall}")
        return "\n".join([*rows, "", *self.summary()])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{self.score_without.get(name, float('nan')):.4f}</td></tr>"
            for name in self.features
        )
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary())
        return f"<table><tr><th>feature</th><th>score without it</th></tr>{rows}</table>{lines}"


class Interrupted(KeyboardInterrupt):
    """A run stopped by the user; `selection` is the best so far, or None."""

    def __init__(self, selection: Selection | None) -> None:
        super().__init__("interrupted")
        self.selection = selection


AnySelector = SubsetSelector | RankSelector | AutoSelector


@dataclass(frozen=True)
class Plan:
    """A selector that is ready to run, its name, and what it may cost."""

    name: str
    selector: AnySelector
    budget: Budget | None = None
    command: str = ""


def winner_of(selector: AnySelector) -> AnySelector:
    """Return the selector that `auto` took, once it has; any other as it is."""
    return selector.selector_ if isinstance(selector, AutoSelector) and hasattr(selector, "selector_") else selector


def components_of(selector: AnySelector) -> dict[str, str | None]:
    """Write the components of a selector out: those of the winner, once `auto` has chosen."""
    selector = winner_of(selector)
    if isinstance(selector, RankSelector):
        return {"criterion": str(selector._ranker()), "search": None, "control": None}
    if isinstance(selector, AutoSelector):
        return {"criterion": _one_line(getattr(selector, "judge_", selector)), "search": None, "control": None}
    control = selector._control()
    return {
        "criterion": _one_line(selector._criterion()),
        "search": _one_line(selector._search()),
        "control": None if control is None else _one_line(control),
    }


def make_plan(
    problem: Problem,
    method: str = "auto",
    *,
    criterion: Any = None,
    search: Any = None,
    control: Any = None,
    n_features_to_select: Size = "auto",
    include: Sequence[Column] | None = None,
    exclude: Sequence[Column] | None = None,
    feature_groups: Sequence[Sequence[Column]] | None = None,
    memory: str | int = "1GiB",
    n_jobs: int | None = None,
    seed: int = 0,
    budget: str | float | Budget | None = None,
    folds: int = 0,
) -> Plan:
    """Turn a method's name, or components (names or objects), into a selector for a problem.

    Seconds to spend are turned into a number of subsets by measuring this machine; a `Budget` was measured before.
    """
    seconds = None if budget is None or isinstance(budget, Budget) else parse_budget(budget)
    if criterion is not None or search is not None or control is not None:
        if method != "auto":
            raise InputError("Give either a method or components (criterion, search, control), not both.")
        name = "custom"
        chosen = registry.Method("", criterion or "knn", search or "forward", control)
    elif method == "auto":
        if seconds is not None:
            budget = Budget(seconds, speed=round(measure_speed(problem, effective_n_jobs(n_jobs), seed), 3))
        auto = AutoSelector(
            n_features_to_select=n_features_to_select,
            include=include,
            exclude=exclude,
            feature_groups=feature_groups,
            memory=memory,
            n_jobs=n_jobs,
            random_state=seed,
        )
        if not isinstance(budget, Budget):
            return Plan("auto", auto)
        share = round(MARGIN * budget.speed * budget.seconds / (1 + folds), 3)
        return Plan("auto", auto.set_params(budget=share), budget)
    else:
        name, chosen = method, registry.method_named(method)
    if chosen.ranker is not None:
        ranker = registry.build("ranker", chosen.ranker, problem.task)
        if isinstance(n_features_to_select, tuple | list):
            raise InputError(f"A ranker takes a number, a share or 'auto', not the range {n_features_to_select}.")
        for option, value in (("include", include), ("exclude", exclude), ("feature_groups", feature_groups)):
            if value:
                raise InputError(f"{option} is for subset searches; the ranker {chosen.ranker!r} ranks all features.")
        if budget is not None:
            raise InputError(f"A budget is for searches; the ranker {chosen.ranker!r} has nothing to cut short.")
        return Plan(name, RankSelector(ranker, n_features_to_select=n_features_to_select, random_state=seed))
    criterion_component = chosen.criterion
    if name != "custom" and criterion_component == "knn" and problem.task == "regression":
        criterion_component = (
            "knn:n_neighbors=auto"  # the value of one neighbor alone is too noisy to predict quantities
        )
    prefilter = None
    if chosen.prefilter is not None:
        prefilter = Prefilter(registry.build("ranker", chosen.prefilter, problem.task), keep=50)
    selector = SubsetSelector(
        _component("criterion", criterion_component, problem),
        _component("search", chosen.search, problem),
        control=_component("control", chosen.control, problem),
        n_features_to_select=n_features_to_select,
        prefilter=prefilter,
        include=include,
        exclude=exclude,
        feature_groups=feature_groups,
        memory=memory,
        n_jobs=n_jobs,
        random_state=seed,
    )
    if seconds is not None:
        cost = seconds_for(selector._criterion(), problem, effective_n_jobs(n_jobs), seed)
        budget = Budget(seconds, max(int(MARGIN * seconds / (1 + folds) / cost), 1))
    return Plan(name, selector, budget if isinstance(budget, Budget) else None)


def thin(problem: Problem, method: str, seed: int) -> Problem:
    """Draw the rows that `auto` works on: all, or a stratified sample of many, which is noted."""
    if method != "auto" or problem.n_samples <= AUTO_ROWS:
        return problem
    n_parts = -(-problem.n_samples // AUTO_ROWS)
    sample = problem.take(assign_folds(problem, n_parts, np.random.default_rng([seed, 2])) == 0)
    note = (
        f"auto worked on a sample of {sample.n_samples:,} of the {problem.n_samples:,} rows; "
        "any method by name works on all of them."
    )
    return replace(sample, notes=(*sample.notes, note))


def select(
    X: Any,
    y: Any,
    method: str = "auto",
    *,
    criterion: Any = None,
    search: Any = None,
    control: Any = None,
    n_features_to_select: Size = "auto",
    include: Sequence[Column] | None = None,
    exclude: Sequence[Column] | None = None,
    feature_groups: Sequence[Sequence[Column]] | None = None,
    folds: int = 5,
    n_jobs: int | None = None,
    random_state: int | None = None,
    budget: str | float | None = None,
) -> Selection:
    """Select features of a table and measure on held-out rows whether that helped.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    method : str, default="auto"
        A named method (`fewer.registry.METHODS`), or `"auto"`, which lets candidates race (`AutoSelector`).
    criterion, search, control : component or str, optional
        Components of your own instead of a named method.
    n_features_to_select, include, exclude, feature_groups
        As in `SubsetSelector`.
    folds : int, default=5
        The whole selection is repeated without each of so many folds, which then judge it; 0 leaves that out.
    n_jobs : int, optional
    random_state : int, optional
    budget : str or float, optional
        Seconds that the whole answer may take, held-out evaluation included: 60, "60s", "5min". What that means in
        subsets is measured at the start, and a stop by the clock is noted.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selection = fewer.select(X, y, "knn-forward", random_state=0)
    >>> selection.features
    ['petal width (cm)', 'petal length (cm)']
    >>> selection.score_heldout > 0.9
    True
    """
    seed = int(np.random.default_rng().integers(2**31)) if random_state is None else int(random_state)
    components_given = any(component is not None for component in (criterion, search, control))
    problem = thin(to_problem(X, y), "custom" if components_given else method, seed)
    plan = make_plan(
        problem,
        method,
        criterion=criterion,
        search=search,
        control=control,
        n_features_to_select=n_features_to_select,
        include=include,
        exclude=exclude,
        feature_groups=feature_groups,
        n_jobs=n_jobs,
        seed=seed,
        budget=budget,
        folds=folds,
    )
    return run_plan(plan, problem, folds=folds, seed=seed)


def run_plan(
    plan: Plan,
    problem: Problem,
    *,
    folds: int = 5,
    seed: int = 0,
    on_step: OnStep | None = None,
    on_fold: Callable[[int], None] | None = None,
    folder: RunFolder | None = None,
) -> Selection:
    """Run a plan: search on all rows, then repeat it on folds to measure it; keep both in a folder if there is one."""
    began, clock = time.perf_counter(), time.monotonic()
    selector = clone(plan.selector)
    trace = Trace() if folder is None else folder.trace()

    def keep(step_trace: Trace) -> None:
        if folder is not None:
            folder.keep_trace(step_trace)
        if on_step is not None:
            on_step(step_trace)

    def finish(outcome: HeldOutScores | None, interrupted: bool) -> Selection:
        if folder is not None and hasattr(selector, "trace_"):
            folder.keep_trace(selector.trace_, now=True)
        selection = _describe(plan, selector, problem, outcome, seed, time.perf_counter() - began, interrupted)
        if folder is not None:
            folder.write("result.json", selection.to_dict())
        return selection

    follow = keep if plan.budget is None else plan.budget.limit(keep, clock)
    try:
        if isinstance(selector, SubsetSelector):
            selector.fit_problem(problem, follow, trace)
        else:
            selector.fit_problem(problem, follow)
    except KeyboardInterrupt:
        raise Interrupted(finish(None, True) if hasattr(selector, "support_") else None) from None
    if not folds:
        return finish(None, False)
    try:
        return finish(_measure(plan, problem, folds, seed, folder, on_fold, clock), False)
    except KeyboardInterrupt:
        raise Interrupted(finish(None, True)) from None


def _measure(
    plan: Plan,
    problem: Problem,
    folds: int,
    seed: int,
    folder: RunFolder | None,
    on_fold: Callable[[int], None] | None,
    clock: float,
) -> HeldOutScores:
    """Repeat the whole selection without each fold and judge it on that fold."""
    limit = None if plan.budget is None else plan.budget.limit(None, clock)

    def choose(part: Problem, rng: np.random.Generator) -> BoolArray | tuple[BoolArray, Criterion]:
        again = clone(plan.selector).set_params(random_state=rng)
        if isinstance(again, AutoSelector):
            again.set_params(standins=False)  # they are fixed on all rows, before the repetitions
        fitted = again.fit_problem(part, limit)
        return (fitted.support_, _judge(fitted)) if isinstance(fitted, AutoSelector) else fitted.support_

    def keep(records: list[dict[str, Any]]) -> None:
        if folder is not None:
            folder.keep_folds(records)
        if on_fold is not None:
            on_fold(len(records))

    return heldout(
        choose,
        problem,
        _judge(plan.selector),
        n_folds=folds,
        rng=np.random.default_rng([seed, 1]),
        # A clock that runs here means nothing on another machine.
        resources=_resources(plan) if plan.budget is None else _resources(plan).alone(),
        done=None if folder is None else folder.folds(),
        on_fold=keep,
    )


def _judge(selector: AnySelector) -> Criterion:
    """Return the criterion that judges held-out rows: the method's own where it predicts, else nearest neighbors."""
    if isinstance(selector, AutoSelector) and hasattr(selector, "judge_"):
        return selector.judge_
    selector = winner_of(selector)
    if isinstance(selector, SubsetSelector) and selector._criterion().predictive:
        return selector._criterion()
    return KNN(n_neighbors="auto")


def _resources(plan: Plan) -> Resources:
    return Resources(effective_n_jobs(getattr(plan.selector, "n_jobs", 1)))


def _describe(
    plan: Plan,
    selector: AnySelector,
    problem: Problem,
    outcome: HeldOutScores | None,
    seed: int,
    seconds: float,
    interrupted: bool,
) -> Selection:
    chosen = np.flatnonzero(selector.support_)
    order = chosen[np.argsort(selector.ranking_[chosen], kind="stable")]
    notes = list(getattr(problem, "notes", ()))
    if interrupted:
        notes.append("The run was stopped before its end; this is the best so far.")
    winner = winner_of(selector)
    score, n_evaluations, without = None, getattr(selector, "n_evaluations_", 0), {}
    if isinstance(winner, SubsetSelector):
        score, n_evaluations = winner.score_, n_evaluations or winner.trace_.n_evaluations
        notes += winner.trace_.notes
        if not interrupted:
            without = _score_without(winner, problem)
    judge = _judge(selector)
    scoring = getattr(judge, "scoring", None)
    name = scoring if isinstance(scoring, str) else "accuracy" if problem.task == "classification" else "R²"
    constant = problem.constant & ~selector.support_
    return Selection(
        features=[problem.names[i] for i in order],
        support=selector.support_.tolist(),
        score_search=score,
        score_heldout=None if outcome is None else outcome.score,
        score_heldout_all_features=None if outcome is None else outcome.score_all,
        score_name=name,
        method=plan.name,
        **components_of(selector),
        n_evaluations=n_evaluations,
        seconds=round(seconds, 3),
        seed=seed,
        set_aside=[problem.names[i] for i in np.flatnonzero(constant)],
        warnings=notes,
        reason=getattr(selector, "reason_", ""),
        heldout={} if outcome is None else _numbers(outcome),
        sizes={} if interrupted or isinstance(winner, AutoSelector) else evaluate.scores_by_size(winner, problem),
        redundancy=evaluate.redundancy(problem, order.tolist()) if 2 <= len(order) <= MAX_REDUNDANCY else {},
        score_without=without,
        frequency={} if outcome is None else _frequencies(outcome, problem),
        n_rows=problem.n_samples,
        n_features=problem.n_features,
        data=_at_a_glance(problem),
        command=plan.command,
        code=f"fewer.{_one_line(plan.selector)}.fit(X, y)",
        versions=versions(),
        interrupted=interrupted,
        trace=getattr(selector, "trace_", None),
    )


def _numbers(outcome: HeldOutScores) -> dict[str, Any]:
    names = ("low", "high", "difference", "difference_low", "difference_high", "p_value", "n_folds")
    return {name: getattr(outcome, name) for name in names}


def _frequencies(outcome: HeldOutScores, problem: Problem) -> dict[str, float]:
    shares = np.mean([mask != 0 for mask in outcome.masks], axis=0)
    often = np.argsort(-shares, kind="stable")
    return {problem.names[i]: round(float(shares[i]), 4) for i in often if shares[i] > 0}


def _at_a_glance(problem: Problem) -> dict[str, Any]:
    kinds = {kind: problem.kinds.count(kind) for kind in ("numeric", "nominal", "boolean")}
    glance: dict[str, Any] = {"task": problem.task, "missing_cells": int(problem.missing.sum()), **kinds}
    if problem.task == "classification":
        counts = np.bincount(problem.y, minlength=problem.n_classes)
        glance["classes"] = {str(label): int(count) for label, count in zip(problem.classes, counts, strict=True)}
    else:
        glance["target"] = {"smallest": float(problem.y.min()), "largest": float(problem.y.max())}
    return glance


def _score_without(selector: SubsetSelector, problem: Problem) -> dict[str, float]:
    """Score the chosen subset without each of its features."""
    chosen = np.flatnonzero(selector.support_)
    resources = Resources(effective_n_jobs(selector.n_jobs))
    scorer = selector._criterion().bind(problem, selector._generator(), resources)
    units = [np.array([column]) for column in chosen]
    scores = scorer.flips(selector.support_, units, np.zeros(len(chosen), dtype=bool))
    return {problem.names[column]: round(float(score), 12) for column, score in zip(chosen, scores, strict=True)}


def open_folder(path: Path | str, plan: Plan, problem: Problem, *, folds: int, seed: int, resume: bool) -> RunFolder:
    """Open the folder of a run, new or to be resumed."""
    about = {
        "method": plan.name,
        **components_of(plan.selector),
        "features": _sizes(plan),
        "folds": folds,
        "seed": seed,
    }
    if plan.budget is not None:
        about["budget"] = asdict(plan.budget)
    return RunFolder(path, about, fingerprint(problem, about), resume=resume)


def _sizes(plan: Plan) -> dict[str, Any]:
    parameters = plan.selector.get_params(deep=False)
    names = ("n_features_to_select", "include", "exclude", "feature_groups", "cost_weight")
    return {name: parameters[name] for name in names if parameters.get(name)}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, float) and np.isinf(value):
        return float(np.copysign(np.finfo(np.float64).max, value))  # JSON has no infinity, and it is no missing number
    return None if isinstance(value, float) and np.isnan(value) else value


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    packages = ("fewer", "numpy", "scikit-learn", "numba")
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def _component(kind: registry.ComponentKind, component: Any, problem: Problem) -> Any:
    return registry.build(kind, component, problem.task) if isinstance(component, str) else component


def _one_line(component: Any) -> str:
    return " ".join(repr(component).split())


def compare(
    X: Any,
    y: Any,
    methods: Sequence[Any] | Mapping[str, Any] = ("auto",),
    estimators: Sequence[Any] | Mapping[str, Any] = ("knn", "linear"),
    *,
    n_features_to_select: Size = "auto",
    scoring: Any = None,
    folds: Any = 5,
    n_repeats: int = 1,
    n_jobs: int | None = None,
    random_state: int | None = None,
    on_progress: OnProgress | None = None,
    resume_dir: Path | str | None = None,
) -> Comparison:
    """Compare selection methods, and not selecting at all, on rows that none of them saw.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    methods : list of str or selectors, or dict of selectors
        Named methods (`fewer.registry.METHODS`), `"auto"`, or any selector with `fit(X, y)` and `get_support()`.
    estimators : list of str or estimators, or dict of estimators, default=("knn", "linear")
        Who judges the chosen features: names (knn, linear, svm, tree, forest) or scikit-learn estimators.
    n_features_to_select : int, float, (int, int) or "auto"
        For named methods.
    scoring, folds, n_repeats, n_jobs, on_progress, resume_dir
        As in `fewer.evaluate.compare`; `folds` may be any scikit-learn splitter.
    random_state : int, optional

    Returns
    -------
    Comparison
        All features, random subsets of the same size and a univariate filter always take part.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> comparison = fewer.compare(X, y, ["knn-forward", SelectKBest(k=2)], ["knn"], random_state=0)
    >>> comparison.to_frame()["name"].to_list()[:2]
    ['knn-forward', 'SelectKBest']
    """
    seed = int(np.random.default_rng().integers(2**31)) if random_state is None else int(random_state)
    problem = thin(to_problem(X, y), "auto" if "auto" in [m for m in methods if isinstance(m, str)] else "named", seed)
    return compare_problem(
        problem,
        methods,
        estimators,
        n_features_to_select=n_features_to_select,
        scoring=scoring,
        folds=folds,
        n_repeats=n_repeats,
        n_jobs=n_jobs,
        seed=seed,
        on_progress=on_progress,
        resume_dir=resume_dir,
    )


def compare_problem(
    problem: Problem,
    methods: Sequence[Any] | Mapping[str, Any],
    estimators: Sequence[Any] | Mapping[str, Any],
    *,
    n_features_to_select: Size = "auto",
    scoring: Any = None,
    folds: Any = 5,
    n_repeats: int = 1,
    n_jobs: int | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    resume_dir: Path | str | None = None,
) -> Comparison:
    """Compare methods on a problem that came through the input reader already."""

    def method(component: str) -> tuple[str, Any]:
        if ":" in component:
            return component.partition(":")[2], registry.build_foreign(component, problem.task)
        plan = make_plan(problem, component, n_features_to_select=n_features_to_select, seed=seed)
        return plan.name, plan.selector

    def estimator(component: str) -> tuple[str, Any]:
        return component, registry.build("estimator", component, problem.task)

    comparison = evaluate.compare(
        problem,
        _named(methods, method),
        _named(estimators, estimator),
        cv=folds,
        n_repeats=n_repeats,
        scoring=scoring,
        random_state=seed,
        n_jobs=n_jobs,
        on_progress=on_progress,
        resume_dir=resume_dir,
    )
    return replace(comparison, versions=versions())


def _named(given: Sequence[Any] | Mapping[str, Any], build: Callable[[str], tuple[str, Any]]) -> dict[str, Any]:
    """Assign each component a name: its own, or that of its class, numbered where it is taken."""
    if isinstance(given, Mapping):
        return dict(given)
    named: dict[str, Any] = {}
    for component in [given] if isinstance(given, str) else given:
        name, built = build(component) if isinstance(component, str) else (type(component).__name__, component)
        number, first = 1, name
        while name in named:
            number += 1
            name = f"{first} {number}"
        named[name] = built
    return named


__all__ = [
    "Comparison",
    "Interrupted",
    "Plan",
    "Selection",
    "compare",
    "compare_problem",
    "components_of",
    "make_plan",
    "open_folder",
    "run_plan",
    "select",
]
