"""From names and options to a plan: the selector that runs, what it may cost, and how to repeat it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from fewer import registry
from fewer.contracts import Component, SearchSpace, refuse_unmet_needs
from fewer.control import Prefilter
from fewer.criteria import KNN
from fewer.criteria.cross_validated import refuse_scoring
from fewer.errors import InputError, refuse_class
from fewer.evaluate import luck_of_best
from fewer.io import spelled_alike
from fewer.kernels.device import tell
from fewer.problem import Problem
from fewer.run.budget import BESIDE, GROWTH, USABLE, Budget, parse_budget, seconds_along, seconds_for, seconds_of_auto
from fewer.run.request import Request
from fewer.search import Forward
from fewer.selectors import AutoSelector, RankSelector, SubsetSelector
from fewer.selectors._base import lay_out_space
from fewer.text import duration, listed
from fewer.validate import near_copies, stratified_sample

# Smallest number of steps of a search; with less time, fewer folds are planned.
LEAST_STEPS = 10
AUTO_ROWS = 5_000
# The share of rows with near-copies from which on a note asks for groups.
NEAR_COPIES_SHARE = 0.5
MERGED_CLASS = "(rare)"
# How much the best feature may gain by luck before a search is preceded by a warning.
WARNED_LUCK = 0.05
# A table with fewer rows is answered with fewer folds where a class needs that.
SMALL_TABLE = 30
# From this number of classes on, with fewer rows a class than this, the luck of their frequencies shows in held-out
# scores (experiments/interval_coverage.md).
MANY_CLASSES, FEW_A_CLASS = 10, 12

AnySelector = SubsetSelector | RankSelector | AutoSelector


@dataclass(frozen=True)
class Plan:
    """A selector that is ready to run, its name, what it may cost, and what was asked for.

    Parameters
    ----------
    name : str
        The method's name, or "custom".
    selector : estimator
        Not fitted yet.
    budget : Budget, optional
        What the run may cost.
    command : str
        What was typed, where it came from the command line.
    request : Request
        What was asked for.
    reading : str
        The Python lines that read the table into `problem`; without them it came as X and y.
    rows : tuple of str
        What was given for each row: groups, sample_weight, time.
    notes : tuple of str
        What the reader of the answer should know of the plan.

    Examples
    --------
    >>> from fewer.rankers import Fisher
    >>> Plan("fisher", RankSelector(Fisher())).name
    'fisher'
    """

    name: str
    selector: AnySelector
    budget: Budget | None = None
    command: str = ""
    request: Request = field(default_factory=Request)
    reading: str = ""
    rows: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def make_plan(problem: Problem, method: str | Request = "auto", **options: Any) -> Plan:
    """Turn a method's name, or components (names or objects), into a selector for a problem.

    Parameters
    ----------
    problem : Problem
        The rows.
    method : str or Request
        A name, or the whole request.
    **options
        Fields of `Request`.

    Returns
    -------
    Plan
        Seconds to spend are turned into a number of subsets by measuring this machine; a `Budget` was measured before.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0, 1.0], [1.0, 1.5], [5.0, 1.2], [6.0, 1.1]], [0, 0, 1, 1])
    >>> make_plan(problem, "knn-forward").selector.search
    Forward()
    """
    asked = replace(method, **options) if isinstance(method, Request) else Request(method, **options)
    if asked.has_components and asked.method != "auto":
        parts = {name: part for name, part in vars(registry.method_named(asked.method)).items() if part}
        means = ", ".join(f"{name} {part}" for name, part in parts.items() if name != "summary")
        raise InputError(f"Give a method or components, not both; the method {asked.method} is {means}.")
    if asked.scoring is not None:
        refuse_scoring(asked.scoring, problem)
    if asked.is_auto:
        return _plan_auto(problem, asked)
    if asked.prefer != "balanced":
        raise InputError(f"prefer={asked.prefer!r} is for auto; use n_features_to_select (--features) instead.")
    name, chosen = (
        ("custom", _components(asked)) if asked.has_components else (asked.method, registry.method_named(asked.method))
    )
    if chosen.ranker is not None:
        return _plan_ranker(problem, asked, name, chosen)
    return _plan_search(problem, asked, name, chosen)


def _components(asked: Request) -> registry.Method:
    if asked.ranker is not None:
        if asked.criterion is not None or asked.search is not None:
            raise InputError("A ranker needs no criterion and no search; give a ranker, or a criterion and a search.")
        return registry.Method(ranker=asked.ranker, control=asked.control)
    return registry.Method("", asked.criterion or "knn", asked.search or "forward", asked.control)


# Options that are built first, or mean something else to a selector: `cv` and `budget` are those of the whole run.
BUILT = {"criterion", "search", "control", "ranker", "estimator", "cv", "budget"}


def _passed_on(asked: Request, kind: type[AnySelector]) -> dict[str, Any]:
    """Return the options that a selector takes as they are, by the same name."""
    options = vars(asked) | {"n_features_to_select": asked.size}
    return {name: value for name, value in options.items() if name in kind._parameter_constraints.keys() - BUILT}


def luck_of_search(plan: Plan, problem: Problem) -> str:
    """Say before a search runs how far the best feature would be above chance by luck, where that is much.

    Parameters
    ----------
    plan : Plan
        What will run.
    problem : Problem
        The rows.

    Returns
    -------
    str
        A sentence; empty for rankings, and where rows are many.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((200, 50)), np.arange(200) % 2)
    >>> luck_of_search(make_plan(problem, "knn-forward"), problem)[:64]
    'With 200 rows and 50 features, the best feature would score abou'
    """
    luck = luck_of_best(problem) if isinstance(plan.selector, SubsetSelector) and problem.y.ndim == 1 else 0.0
    if luck < WARNED_LUCK:
        return ""
    score = f"an R² of {luck:.2f}" if problem.task == "regression" else f"{100 * luck:.0f} points above chance"
    return (
        f"With {problem.n_samples:,} rows and {problem.n_features:,} features, the best feature would score about "
        f"{score} by luck alone, and a search adds to that: trust the held-out score, not the search's own. "
        "fewer inspect --overfitting measures it on shuffled targets."
    )


def _plan_auto(problem: Problem, asked: Request) -> Plan:
    auto = AutoSelector(
        estimator=build_component("estimator", asked.estimator, problem),
        random_state=asked.seed,
        **_passed_on(asked, AutoSelector),
    )
    if asked.start is not None:
        raise InputError("start does not work with auto; name a method.")
    tell(asked.device, "auto", "it has no kernels for one")
    _refuse_cost_weight(asked, "`auto` shows what features cost")
    if asked.budget is None:
        return Plan("auto", auto, request=asked)
    budget = asked.budget if isinstance(asked.budget, Budget) else _budget_of_auto(problem, asked, auto)
    return Plan("auto", auto.set_params(budget=budget.nominal), budget, request=asked)


def _budget_of_auto(problem: Problem, asked: Request, auto: AutoSelector) -> Budget:
    """Find how wide the race may be: a small one is timed on some of the rows."""
    seconds = parse_budget(asked.budget)
    began = time.monotonic()
    rows, one = seconds_of_auto(auto, problem, asked.seed)
    spent = time.monotonic() - began
    share = USABLE * (seconds - spent) / (1 + asked.n_folds + BESIDE)
    affordable = min(int(rows * (max(share, 0.0) / one) ** (1 / GROWTH)), problem.n_samples)
    each = one * (max(affordable, 1) / rows) ** GROWTH
    return Budget(
        seconds, nominal=round(auto.budget_for(affordable, problem), 9), spent=round(spent, 3), each=round(each, 3)
    )


def _refuse_cost_weight(asked: Request, who: str) -> None:
    if asked.cost_weight:
        raise InputError(f"{who}, but does not weigh it against the score; cost_weight is for subset searches.")


def _plan_ranker(problem: Problem, asked: Request, name: str, chosen: registry.Method) -> Plan:
    ranker = build_component("ranker", chosen.ranker, problem)
    who = chosen.ranker if isinstance(chosen.ranker, str) else type(ranker).__name__
    if asked.budget is not None:
        raise InputError(f"budget applies to searches only; the ranker {who!r} does not search.")
    for option in ("start", "min_features"):
        if getattr(asked, option) is not None:
            flag = f"--{option.replace('_', '-')}"
            raise InputError(
                f"{option} is for subset searches; the ranker {who!r} ranks all features. Omit it ({flag})."
            )
    _refuse_cost_weight(asked, f"The ranker {who!r} shows what features cost")
    control = build_component("control", chosen.control, problem)
    if isinstance(asked.n_features_to_select, tuple | list):
        raise InputError(f"A ranker takes a number, a share or 'auto', not the range {asked.n_features_to_select}.")
    selector = RankSelector(ranker, control=control, random_state=asked.seed, **_passed_on(asked, RankSelector))
    return Plan(name, selector, request=asked)


def _plan_search(problem: Problem, asked: Request, name: str, chosen: registry.Method) -> Plan:
    criterion = chosen.criterion
    if name != "custom" and criterion == "knn" and problem.task == "regression":
        criterion = "knn:n_neighbors=auto"  # the value of one neighbor alone is too noisy to predict quantities
    built = build_component("criterion", criterion, problem)
    if asked.scoring is not None and "estimator" in built.get_params(deep=False) and built.scoring is None:
        built.set_params(scoring=asked.scoring)  # the search goes by the user's metric, where the criterion takes one
    prefilter = None
    if chosen.prefilter is not None:
        prefilter = Prefilter(registry.build("ranker", chosen.prefilter, problem.task), keep=50)
    selector = SubsetSelector(
        built,
        build_component("search", chosen.search, problem),
        control=build_component("control", chosen.control, problem),
        prefilter=prefilter,
        random_state=asked.seed,
        **_passed_on(asked, SubsetSelector),
    )
    if asked.budget is None:
        return Plan(name, selector, request=asked)
    n_searches = 1 if selector.control is None else selector.control.n_searches(problem.n_samples)
    space = lay_out_space(selector, problem)
    if prefilter is not None:
        space = SearchSpace.of(min(prefilter.keep, space.n_units))
    budget = _budget_of_search(problem, asked, selector, n_searches, space)
    whole = selector.search or Forward()
    search = budget.laid_out(whole, n_searches, space)
    usual, laid_out = whole.max_evaluations(space), search.max_evaluations(space)
    notes: tuple[str, ...] = ()
    if usual is not None and laid_out is not None and laid_out < usual:
        notes = (f"The budget limits a search to {laid_out:,} subsets; without it, up to {usual:,}.",)
    return Plan(name, selector.set_params(search=search), budget, request=asked, notes=notes)


def _budget_of_search(
    problem: Problem, asked: Request, selector: SubsetSelector, n_searches: int, space: SearchSpace
) -> Budget:
    """Turn what was asked for into a number of subsets, for the search on all rows and for each repetition alike."""
    if isinstance(asked.budget, Budget):
        return asked.budget
    if isinstance(asked.budget, str) and "subset" in asked.budget:
        return Budget.of_subsets(asked.budget)
    seconds, began = parse_budget(asked.budget), time.monotonic()
    n_jobs = effective_n_jobs(asked.n_jobs)
    criterion, search = selector.criterion or KNN(), selector.search or Forward()
    refuse_unmet_needs(criterion, search, selector.control, space, problem)
    least = space.n_units  # a search looks at each unit once
    if search.stochastic:
        whole = lay_out_space(selector, problem)
        start, each = seconds_along(search, criterion, problem, whole, n_jobs, asked.seed)
        first, begun = n_searches * start, 0
        least = max(search.shortened(0.0).max_evaluations(space) or 1, least)
    else:
        alone, each = seconds_for(criterion, problem, n_jobs, asked.seed)
        first, begun = alone * n_searches * space.n_units, n_searches * space.n_units
    spent = time.monotonic() - began
    shortest = first + each * max(n_searches * least - begun, 0)
    _refuse_too_little(shortest, asked)
    for n_folds in (asked.n_folds, min(asked.n_folds, 2)):  # rather fewer folds than a search cut off at its beginning
        share = USABLE * (seconds - spent) / (1 + n_folds)
        n_subsets = begun + int((share - first) / each)
        if n_subsets >= LEAST_STEPS * n_searches * space.n_units:
            break
    n_subsets = max(n_subsets, n_searches * least)
    expected = first + each * max(n_subsets - begun, 0)
    return Budget(seconds, n_subsets, spent=round(spent, 3), each=round(expected, 3))


def _refuse_too_little(shortest: float, asked: Request) -> None:
    """Refuse seconds in which the shortest search does not end on all rows and on two folds, which measure least."""
    needed = (1 + min(asked.n_folds, 2)) * shortest
    if needed > parse_budget(asked.budget):
        what = asked.method if not asked.has_components else "this search"
        raise InputError(
            f"budget={asked.budget!r} is too short for {what}: the shortest search and two folds take about "
            f"{duration(needed)} here; raise it, or choose a faster method (auto, fisher)."
        )


def build_component(kind: registry.ComponentKind, component: Any, problem: Problem) -> Any:
    """Build a component from its name, or take it as it is.

    Parameters
    ----------
    kind : {"criterion", "search", "control", "ranker", "estimator"}
        What it is.
    component : component, str or None
        None stays None.
    problem : Problem
        Whose task decides, where a name stands for two classes.

    Returns
    -------
    component or None
        Ready to use.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0]], [0, 1])
    >>> build_component("criterion", "knn:n_neighbors=3", problem)
    KNN(n_neighbors=3)
    """
    if isinstance(component, str):
        built = registry.build(kind, component, problem.task)
    else:
        refuse_class(component)
        built = component
    for part in (built, *built.get_params().values()) if isinstance(built, Component) else ():
        if isinstance(part, Component):
            part.check_parameters()  # before anything is counted by them
    return built


def prepare_rows(problem: Problem, asked: Request, most: int = AUTO_ROWS) -> Problem:
    """Look at the rows before anything runs: rare classes, many rows, near-copies; what is done is noted.

    Parameters
    ----------
    problem : Problem
        The rows as they were read.
    asked : Request
        What the user asks for.
    most : int, default=5000
        Rows that `auto` looks at.

    Returns
    -------
    Problem
        The rows that the run uses, with notes on what was done.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> prepare_rows(problem, Request(cv=2)).n_samples
    4
    """
    own_splits = asked.rare == "refuse" and not isinstance(asked.cv, int)  # whoever made them knows of rare classes
    problem = treat_rare(problem, 0 if own_splits else asked.n_folds, asked.rare)
    if asked.cv and problem.groups is not None and problem.task == "classification" and problem.y.ndim == 1:
        pairs = np.unique(np.column_stack([problem.y, problem.groups]), axis=0)
        alone = np.flatnonzero(np.bincount(pairs[:, 0]) == 1)
        names = listed([repr(problem.classes[code]) for code in alone], 5)
        note = f"In one group only, so never predicted right when that group is held out: class {names}."
        problem = problem.noted(note) if len(alone) else problem
    if asked.is_auto and problem.n_samples > most:
        problem = thin(problem, most, asked.seed)
    if asked.cv and problem.n_classes >= MANY_CLASSES and problem.n_samples < FEW_A_CLASS * problem.n_classes:
        note = (
            f"{problem.n_classes} classes in {problem.n_samples} rows: held-out scores assume the same class "
            "frequencies in new rows. If small classes are more frequent there, or new classes appear, the scores "
            "are too high."
        )
        problem = problem.noted(note)
    if problem.groups is None and near_copies(problem) > NEAR_COPIES_SHARE:
        note = (
            "Many rows are near-duplicates, as if several came from one patient or machine, and no groups are "
            "given: held-out scores are then far too optimistic. Name the group column (groups=, --groups)."
        )
        problem = problem.noted(note)
    return problem


def thin(problem: Problem, n_samples: int, seed: int) -> Problem:
    """Draw a stratified sample of the rows, which is noted; all of them if there are no more.

    Parameters
    ----------
    problem : Problem
        The rows.
    n_samples : int
        How many to keep at the most.
    seed : int
        Draws them.

    Returns
    -------
    Problem
        The sample.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((6, 1)), [0, 0, 0, 0, 1, 1])
    >>> thin(problem, 3, seed=0).n_samples
    3
    """
    if problem.n_samples <= n_samples:
        return problem
    sample = problem.take(stratified_sample(problem, n_samples, np.random.default_rng([seed, 2])))
    note = (
        f"auto used a sample of {sample.n_samples:,} of the {problem.n_samples:,} rows; methods chosen by name use "
        "all of them."
    )
    return sample.noted(note)


def fewer_folds(problem: Problem, cv: Any, rare: str = "refuse") -> tuple[Problem, Any]:
    """Use fewer folds than asked for, with a note, where a small table has a class with fewer rows than folds.

    Parameters
    ----------
    problem : Problem
        The rows.
    cv : int, "loo", splitter or list of (train, test)
        What was asked for.
    rare : {"refuse", "drop", "merge"}, default="refuse"
        What happens to rare classes; unless they are refused, they are treated so.

    Returns
    -------
    problem, cv

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b", "a"])
    >>> fewer_folds(problem, 5)[1]
    2
    """
    small = problem.n_samples < SMALL_TABLE and problem.y.ndim == 1 and rare == "refuse"
    if not small or isinstance(cv, bool) or not isinstance(cv, int) or problem.task != "classification":
        return problem, cv
    counts = np.bincount(problem.y, minlength=problem.n_classes)
    fewest = int(counts.min())
    if not 2 <= fewest < cv:
        return problem, cv
    name = problem.classes[int(np.argmin(counts))]
    note = f"{problem.n_samples} rows are few, and class {name!r} has {fewest} of them: {fewest} folds instead of {cv}."
    return problem.noted(note), fewest


def treat_rare(problem: Problem, n_folds: int, rare: str) -> Problem:
    """Refuse classes with fewer rows than folds, leave their rows out, or merge them into one class.

    Parameters
    ----------
    problem : Problem
        The rows.
    n_folds : int
        0 where nothing is held out.
    rare : {"refuse", "drop", "merge"}
        What to do.

    Returns
    -------
    Problem
        With a note if anything changed.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b", "c"])
    >>> treat_rare(problem, 2, "drop").classes
    ('a', 'b')
    """
    if rare not in ("refuse", "drop", "merge"):
        raise InputError(f"rare={rare!r} is not known; choose 'refuse', 'drop' or 'merge'.")
    if problem.task != "classification" or problem.y.ndim != 1 or n_folds < 2:
        return problem
    counts = np.bincount(problem.y, minlength=problem.n_classes)
    few = counts < n_folds
    if not few.any():
        return problem
    names = ", ".join(repr(problem.classes[code]) for code in np.flatnonzero(few)[:5])
    rarest = int(counts[few].min())
    if rare == "refuse":
        what = f"Class {names} has" if few.sum() == 1 else f"Classes {names} have as few as"
        what += f" {rarest} rows" if rarest > 1 else " 1 row"
        cures = ["drop or merge rare classes (rare='drop' or 'merge', --rare drop or merge)"]
        if counts[few].sum() < n_folds:
            cures = ["drop rare classes (rare='drop', --rare drop)"]
        if len(few) - few.sum() < 2:
            cures = ["do without a held-out score (cv=0, --folds 0)"]
        if rarest >= 2:
            cures.insert(0, f"use fewer folds (cv={rarest}, --folds {rarest})")
        if all(type(label) in (int, float) for label in problem.classes):  # first: then it is no question of classes
            cures.insert(0, "if the target is a quantity, say so (task='regression', --task regression)")
        if alike := spelled_alike(problem.classes):
            cures.insert(0, f"write classes that are the same alike ({alike})")
        raise InputError(f"{what}, fewer than the {n_folds} folds; {', or '.join(cures)}.")
    if rare == "drop":
        changed = problem.take(~few[problem.y])
        n_rows = int(counts[few].sum())
        what = (
            f"{n_rows} row{'s' * (n_rows != 1)} of rare classes ({names}) {'was' if n_rows == 1 else 'were'} dropped."
        )
    elif counts[few].sum() < n_folds:
        raise InputError(
            f"Merged, the rare classes ({names}) still have fewer rows than the {n_folds} folds; drop them "
            f"(rare='drop', --rare drop){', or use fewer folds' * (rarest > 1)}."
        )
    else:
        changed, what = _merged(problem, few), f"Rare classes ({names}) were merged into {MERGED_CLASS!r}."
    if (np.bincount(changed.y, minlength=changed.n_classes) > 0).sum() < 2:
        cure = "use fewer folds" if rarest > 1 else "give more of their rows"
        raise InputError(f"Without the rare classes ({names}) only one class is left; {cure}.")
    return replace(_recoded(changed), notes=(*problem.notes, what))


def _merged(problem: Problem, few: np.ndarray) -> Problem:
    labels = (*(label for code, label in enumerate(problem.classes) if not few[code]), MERGED_CLASS)
    place = np.cumsum(~few) - 1
    codes = np.where(few[problem.y], len(labels) - 1, place[problem.y])
    return replace(problem, y=codes.astype(np.int64), classes=labels)


def _recoded(problem: Problem) -> Problem:
    """Drop classes that no row has."""
    there, codes = np.unique(problem.y, return_inverse=True)
    return replace(problem, y=codes.astype(np.int64), classes=tuple(problem.classes[code] for code in there))


__all__ = [
    "AUTO_ROWS",
    "AnySelector",
    "Plan",
    "build_component",
    "fewer_folds",
    "luck_of_search",
    "make_plan",
    "prepare_rows",
    "thin",
    "treat_rare",
]
