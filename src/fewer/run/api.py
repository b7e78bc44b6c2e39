"""Three calls: `fewer.select`, `fewer.compare` and `fewer.alternatives`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import HasMethods, Interval, validate_parameter_constraints

from fewer import criteria, evaluate, registry
from fewer.contracts import Resources
from fewer.errors import InputError, each_once, one_line, refuse_class
from fewer.estimators import ROW_METADATA
from fewer.evaluate import Alternatives, Comparison, OnProgress
from fewer.io import (
    Stream,
    features_of,
    in_chunks,
    is_frame,
    is_lazy,
    is_path,
    open_stream,
    own_labels,
    plain_frame,
    read_table,
    text_name,
)
from fewer.io._reader import ProblemReader
from fewer.logs import Progress, is_watched
from fewer.problem import Column, Problem, Task
from fewer.run import streaming
from fewer.run.planning import AUTO_ROWS, build_component, fewer_folds, make_plan, prepare_rows, thin, treat_rare
from fewer.run.request import Request
from fewer.run.running import Followers, run_kept, versions
from fewer.run.selection import Selection
from fewer.selectors import AutoSelector, Size, SubsetSelector, parse_memory
from fewer.text import nearest
from fewer.validate import assign_folds


def select(
    X: Any,
    y: Any = None,
    method: str = "auto",
    *,
    criterion: Any = None,
    search: Any = None,
    control: Any = None,
    ranker: Any = None,
    task: Task | None = None,
    scoring: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    cv: Any = 5,
    budget: Any = None,
    prefer: str = "balanced",
    estimator: Any = None,
    n_features_to_select: Size = "auto",
    min_features: int | None = None,
    include: Sequence[Column] | None = None,
    exclude: Sequence[Column] | None = None,
    feature_groups: Sequence[Sequence[Column]] | None = None,
    feature_costs: Any = None,
    cost_weight: float = 0.0,
    alternatives: int = 0,
    planted: int = 0,
    start: Sequence[Column] | None = None,
    rare: str = "refuse",
    memory: str | int = "1GiB",
    device: str = "cpu",
    n_jobs: int | None = None,
    random_state: int | None = None,
    resume_dir: Path | str | None = None,
    verbose: int | None = None,
) -> Selection:
    """Select features of a table and measure on held-out rows whether that helped.

    Read more in the guide: :doc:`/guide/which-method`.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Or a table that is not in memory, target included: a path, folder or glob, a polars LazyFrame, a pyarrow
        dataset, a DuckDB relation, a Dask dataframe. It is read in chunks; see `fewer.streaming`. Or a `Problem` from
        `fewer.io.read_table`, which has its target.
    y : array of shape (n_samples,)
        Of shape (n_samples, n_outputs) for criteria that take several targets; or the name of a column of X.
    method : str, default="auto"
        A named method (`fewer.registry.METHODS`), or `"auto"`, which lets candidates race (`AutoSelector`).
    criterion, search, control : component or str, optional
        Components of your own instead of a named method.
    ranker : Ranker or str, optional
        A ranking instead of a criterion and a search; `control` may go over it.
    task : {"classification", "regression"}, optional
        What the target is for. Left out, strings, truth values and up to 20 distinct whole numbers are classes.
    scoring : str or scorer, optional
        The metric, as in scikit-learn: for the held-out rows, and for the search where its criterion takes one.
    groups : array of shape (n_samples,) or name of a column, optional
        Rows of one group (a patient, a machine) are never on both sides of a split, and never each other's neighbors.
    time : array of shape (n_samples,) or name of a column, optional
        Training rows are earlier than test rows in every split; equal times stay together.
    sample_weight : array of shape (n_samples,) or name of a column, optional
        How much each row counts.
    cv : int, "loo", splitter or list of (train, test), default=5
        Cross-validation folds: the whole selection is repeated without each and scored on it; 0 skips the evaluation.
    budget : str or float, optional
        Seconds that the whole answer may take, held-out evaluation included: 60, "60s", "5min"; or, which repeats on
        any machine, the subsets of each search: "5000 subsets".
    prefer : {"balanced", "fewest", "accuracy"}, default="balanced"
        What `auto` is after.
    estimator : estimator or str, optional
        The model that the features are for: `auto` asks it, and it judges the held-out rows.
    n_features_to_select, include, exclude, feature_groups, feature_costs, cost_weight, start
        As in `SubsetSelector`. Columns are given by their names, or by their places from 0 where no column has a number
        for a name.
    min_features : int, optional
        The smallest number of features that a search may keep. With 0 it may keep none, where the most frequent class
        or the mean predicts as well; `auto` does so by itself.
    alternatives : int, default=0
        How many subsets to look at for all that are as good as the best; the report then shows what remains when a
        feature cannot be measured. See `fewer.alternatives`.
    planted : int, default=0
        Check the method on this table: select once more with this many random columns and noisy copies of the three
        best features added, and say how many of them are selected.
    rare : {"refuse", "drop", "merge"}, default="refuse"
        What happens to classes with fewer rows than there are folds.
    memory, device, n_jobs
        As in `SubsetSelector`.
    random_state : int, optional
        Seed of all that is random; drawn and reported if left out.
    resume_dir : path, optional
        A folder in which the run is kept. If it holds this very run, unfinished, the run goes on.
    verbose : int, optional
        1 shows progress: a line in the terminal, a bar in a notebook; nothing for a table read in chunks. 0 shows none;
        by default it is shown in terminals and notebooks only.

    Returns
    -------
    Selection

    See Also
    --------
    compare : Several methods on the same held-out rows.
    SubsetSelector, RankSelector, AutoSelector : The same as scikit-learn transformers.

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
    arguments = locals()
    _refuse_arguments("select", arguments)
    options = {field.name: arguments[field.name] for field in fields(Request) if field.name in arguments}
    request = Request(**options | {"cv": _reusable(cv), "seed": _seed(random_state)})
    rows = {"groups": groups, "time": time, "sample_weight": sample_weight}
    if isinstance(X, Problem):
        if y is not None:
            raise InputError("A Problem has its target already; omit y.")
        return _select(X, request, resume_dir, verbose=verbose)
    if is_path(X) or is_lazy(X):
        return _select_source(X, y, task, rows, request, resume_dir, verbose)
    plain, renamed = plain_frame(X)
    asked = _by_text(X, request)
    kept, searched = (X, asked) if renamed else _without_excluded(plain, asked)
    problem = read_rows(kept, y, task, rows, multi_output=True)
    searched = _among_features(kept, [y, *rows.values()], searched, problem)
    given = tuple(name for name in ROW_METADATA if rows[name] is not None) + (("task",) if task else ())
    selection = _select(problem, searched, resume_dir, rows=given, verbose=verbose, asked=request)
    return replace(selection, features=own_labels(X, selection.features))


def _by_text(X: Any, request: Request) -> Request:
    """Write columns that are named by a frame's own labels (numbers, tuples) as the reader does: as text."""
    columns = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    labels = {label for label in columns if not isinstance(label, str)}
    if not labels or columns == list(range(len(columns))):
        return request
    are_numbers = any(isinstance(label, Integral) for label in labels)  # then no number is a place

    def text(column: Any) -> Any:
        if isinstance(column, list) or (isinstance(column, tuple) and column not in labels):
            return list(map(text, column))  # a group of columns
        is_text = isinstance(column, str | bool | np.bool_) or not (are_numbers or column in labels)
        return column if is_text else text_name(column)

    return _renamed(request, lambda column, _: text(column))


def _renamed(request: Request, rename: Callable[[Any, str], Any]) -> Request:
    """Rename all columns that options name."""
    named: dict[str, Any] = {}
    for option in ("include", "exclude", "start", "feature_groups"):
        value = getattr(request, option)
        if isinstance(value, Iterable) and not isinstance(value, str):
            named[option] = [rename(one, option) for one in value]
    if isinstance(request.feature_costs, Mapping):
        named["feature_costs"] = {rename(one, "costs"): cost for one, cost in request.feature_costs.items()}
    return replace(request, **named)


def _among_features(X: Any, about: list[Any], request: Request, problem: Problem) -> Request:
    """Let places and costs count the columns of a frame that the reader left out; nothing else may ask for these."""
    X, taken = plain_frame(X)[0], [name for name in about if isinstance(name, str)]
    columns = [name for name in nw.from_native(X).columns if name not in taken] if is_frame(X) else []
    lost = set(columns) - set(problem.names)
    if not lost:
        return request

    def named(column: Any, option: str) -> Any:
        if isinstance(column, list | tuple):
            return [named(each, option) for each in column]
        is_place = isinstance(column, Integral) and not isinstance(column, bool)
        name = columns[column] if is_place and -len(columns) <= column < len(columns) else column
        if name in lost and option not in ("exclude", "costs"):
            what = "left out as free text, lists or a code of each row; make it categorical to keep it."
            raise InputError(f"{option} names {name!r}, {what}")
        return name

    if np.shape(request.feature_costs) == (len(columns),):
        request = replace(request, feature_costs=dict(zip(columns, request.feature_costs, strict=True)))
    request = _renamed(request, named)
    if isinstance(costs := request.feature_costs, Mapping):
        costs = {name: cost for name, cost in costs.items() if name not in lost}
    if isinstance(request.exclude, list):
        request = replace(request, exclude=[name for name in request.exclude if name not in lost])
    return replace(request, feature_costs=costs)


def _without_excluded(X: Any, request: Request) -> tuple[Any, Request]:
    """Leave columns that are excluded by name out of a frame, also where all features are scored."""
    excluded = _excluded_names(request)
    if not excluded or not is_frame(X) or not set(excluded) < set(nw.from_native(X, eager_only=True).columns):
        return X, request
    return nw.from_native(X, eager_only=True).drop(excluded).to_native(), replace(request, exclude=None)


def _excluded_names(request: Request) -> list[Any]:
    """Return columns that are not even read; places, and columns that other arguments name, are left to the search."""
    asked = (request.exclude, request.include, request.start, *(request.feature_groups or ()))
    listed = [names for names in asked if names is not None]
    names = [name for part in listed for name in (part if isinstance(part, list | tuple) else [part])]
    plain = all(isinstance(name, str) for name in names) and len(names) == len({*names})
    return list(request.exclude or ()) if plain and request.feature_costs is None else []


def _select_source(
    X: Any,
    y: Any,
    task: Task | None,
    rows: dict[str, Any],
    request: Request,
    folder: Path | str | None,
    verbose: int | None,
) -> Selection:
    """Select features of a table that is not in memory: in chunks, unless it is one file that memory holds."""
    _refuse_unnamed(X, y, rows)
    asked = request
    if excluded := _excluded_names(request):
        rows, request = {**rows, "exclude": excluded}, replace(request, exclude=None)
    if is_path(X) and not in_chunks(X):
        problem = read_table(X, y, task=task, **rows)
        return _select(problem, request, folder, verbose=verbose, asked=asked)
    stream = _open_rows(X, y, task, rows)
    resources = Resources(effective_n_jobs(request.n_jobs), parse_memory(request.memory))
    return streaming.select_stream(stream, request, resources, resume_dir=folder)


def _refuse_unnamed(X: Any, y: Any, rows: dict[str, Any]) -> None:
    """Refuse a target or metadata that are no names of columns, where the table is not in memory."""
    what = "a path" if is_path(X) else f"a {type(X).__module__.partition('.')[0].strip('_')} {type(X).__name__}"
    if not isinstance(y, str):
        other = "" if is_path(X) else ", or give a frame in memory"
        raise InputError(f"X is {what} that includes the target: name its column, y='…'{other}.")
    for key, value in rows.items():
        if not (value is None or isinstance(value, str)):
            raise InputError(f"X is {what}: {key} is the name of one of its columns.")


def _open_rows(X: Any, y: str, task: Task | None, rows: dict[str, Any]) -> Stream:
    """Open a table to be read in chunks."""
    named = {"weights" if name == "sample_weight" else name: column for name, column in rows.items()}
    return open_stream(X, y, task=task, **named)


def _compared_rows(X: Any, y: Any, task: Task | None, rows: dict[str, Any], seed: int) -> Problem:
    """Read the rows of a comparison; of a table that memory does not hold, or that is elsewhere, a sample."""
    if not (is_path(X) or is_lazy(X)):
        return read_rows(X, y, task, rows)
    _refuse_unnamed(X, y, rows)
    if is_path(X) and not in_chunks(X, "compare"):
        return read_table(X, y, task=task, **rows)
    return streaming.draw_sample(_open_rows(X, y, task, rows), streaming.SAMPLE_ROWS, seed, Resources())


def _select(
    problem: Problem, request: Request, folder: Path | str | None, rows: tuple[str, ...] = (), verbose: int | None = 0,
    asked: Request | None = None,
) -> Selection:  # fmt: skip
    problem, request = _for_several_targets(problem, request)
    problem, cv = fewer_folds(problem, request.cv, request.rare)
    request = replace(request, cv=cv)
    problem = prepare_rows(problem, request)
    plan = replace(make_plan(problem, request), rows=rows)
    if asked is not None:  # the script that repeats the run says what was excluded
        plan = replace(plan, request=replace(plan.request, exclude=asked.exclude))
    progress = Progress(request.n_folds) if (is_watched() if verbose is None else verbose) else None
    followers = Followers() if progress is None else Followers(progress.on_step, progress.on_fold)
    with each_once():
        return run_kept(plan, problem, folder, followers=followers)


def _for_several_targets(problem: Problem, request: Request) -> tuple[Problem, Request]:
    """Leave the held-out evaluation out where there are several targets; refuse methods that work with one."""
    if problem.n_outputs == 1:
        return problem, request
    if not request.has_components or request.ranker is not None:
        raise InputError(
            f"The target has {problem.n_outputs} columns, and method={request.method!r} works with one: give one, or "
            "criterion='least-squares' or criterion='cross-validated:estimator=…'."
        )
    note = "With several targets there is no held-out evaluation; the score is that of the search."
    return problem.noted(note), replace(request, cv=0)


def read_rows(X: Any, y: Any, task: Task | None, rows: Mapping[str, Any], *, multi_output: bool = False) -> Problem:
    """Read a table, its target and what belongs to its rows; a column that is named for the rows is no feature.

    Parameters
    ----------
    X, y : table and target
        The rows.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    y : array of shape (n_samples,) or (n_samples, n_outputs), or str
        The target, or the name of a column of X.
    task : {"classification", "regression"}, optional
        Told from the target if left out.
    rows : dict
        `groups`, `time`, `sample_weight`: an array, the name of a column of X, or None.
    multi_output : bool, default=False
        Allow a target of several columns.

    Returns
    -------
    Problem
        The rows, with notes on what was noticed.

    Examples
    --------
    >>> read_rows([[0.0], [1.0], [2.0]], ["no", "yes", "yes"], None, {"groups": [7, 7, 8]}).task
    'classification'
    """
    X, renamed = plain_frame(X)
    about = {**rows, "y": y}
    named = {key: column for key, column in about.items() if isinstance(column, str)}
    if named:
        if not is_frame(X):
            key, column = next(iter(named.items()))
            raise InputError(f"{key}={column!r} names a column, but X is not a data frame; pass the values.")
        frame = nw.from_native(X, eager_only=True)
        for key, column in named.items():
            if column not in frame.columns:
                raise InputError(f"{key}={column!r} is not a column; {nearest(column, frame.columns)}")
            about[key] = frame[column].to_native() if key == "y" else frame[column].to_numpy()
        X = frame.drop(list(set(named.values()))).to_native()
    target = about.pop("y")
    X, notes = features_of(X)
    reader = ProblemReader(task, rows=about, notes=[*renamed, *notes], multi_output=multi_output)
    return reader.problem(X, target)


def compare(
    X: Any,
    y: Any,
    methods: Sequence[Any] | Mapping[str, Any] = ("auto",),
    estimators: Sequence[Any] | Mapping[str, Any] = ("knn", "linear"),
    *,
    n_features_to_select: Size = "auto",
    task: Task | None = None,
    scoring: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    cv: Any = 5,
    n_repeats: int = 1,
    rare: str = "refuse",
    n_jobs: int | None = None,
    random_state: int | None = None,
    on_progress: OnProgress | None = None,
    resume_dir: Path | str | None = None,
) -> Comparison:
    """Compare selection methods, and not selecting at all, on rows that none of them saw.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Or a table that is not in memory, as in `select`; a stratified sample of its rows is compared on, with a note,
        unless it is one file that memory holds.
    y : array of shape (n_samples,)
        Or the name of a column of X.
    methods : list of str or selectors, or dict of selectors
        Named methods (`fewer.registry.METHODS`), `"auto"`, or any selector with `fit(X, y)` and `get_support()`;
        `"practice"` stands for what Loughrey recommends to try: a filter, wrappers, early stopping and a vote.
    estimators : list of str or estimators, or dict of estimators, default=("knn", "linear")
        Who judges the chosen features: names (knn, linear, svm, tree, forest, boosting) or scikit-learn estimators.
    n_features_to_select : int, float, (int, int) or "auto"
        For named methods.
    task, groups, time, sample_weight, rare
        As in `select`.
    scoring, cv, n_repeats, n_jobs, on_progress, resume_dir
        As in `fewer.evaluate.compare`; `cv` may be any scikit-learn splitter.
    random_state : int, optional
        Seed of all that is random; drawn and reported if left out.

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
    _refuse_arguments("compare", locals())
    rows = {"groups": groups, "time": time, "sample_weight": sample_weight}
    seed = _seed(random_state)
    problem, cv = fewer_folds(_compared_rows(X, y, task, rows, seed), cv, rare)
    problem = treat_rare(problem, cv if isinstance(cv, int) else 0, rare)
    return compare_problem(
        problem, methods, estimators, n_features_to_select=n_features_to_select, scoring=scoring, cv=_reusable(cv),
        n_repeats=n_repeats, n_jobs=n_jobs, seed=seed, on_progress=on_progress, resume_dir=resume_dir,
    )  # fmt: skip


def compare_problem(
    problem: Problem,
    methods: Sequence[Any] | Mapping[str, Any],
    estimators: Sequence[Any] | Mapping[str, Any],
    *,
    n_features_to_select: Size = "auto",
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Compare methods on a problem that came through the input reader already.

    Parameters
    ----------
    problem : Problem
        The rows.
    methods, estimators : list or dict
        As in `compare`.
    n_features_to_select : int, float, (int, int) or "auto", default="auto"
        Of every method.
    seed : int, default=0
        With it the comparison repeats.
    **options
        Those of `fewer.evaluate.compare`.

    Returns
    -------
    Comparison
        The methods beside baselines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> comparison = compare_problem(problem, ["fisher"], ["tree"], n_features_to_select=2, cv=2)
    >>> [row.name for row in comparison.methods if row.role == "method"]
    ['fisher']
    """
    if not isinstance(methods, Mapping):
        listed = [methods] if isinstance(methods, str) else methods
        practice = ["information-gain" if problem.task == "classification" else "f-test", *PRACTICE]
        methods = [name for each in listed for name in (practice if _is_name(each, "practice") else [each])]
    if any(_is_name(method, "auto") for method in methods):
        problem = thin(problem, AUTO_ROWS, seed)

    def method(component: str) -> tuple[str, Any]:
        if ":" in component:
            return component.partition(":")[2], registry.build_foreign(component, problem.task)
        plan = make_plan(problem, component, n_features_to_select=n_features_to_select, seed=seed)
        return plan.name, plan.selector

    def estimator(component: str) -> tuple[str, Any]:
        return component, registry.build("estimator", component, problem.task)

    with each_once():
        comparison = evaluate.compare(
            problem, _named(methods, method), _named(estimators, estimator), random_state=seed, **options
        )
    return replace(comparison, versions=versions())


def alternatives(
    selection: Any,
    X: Any,
    y: Any,
    *,
    tolerance: float | None = None,
    criterion: Any = None,
    max_features: int | None = None,
    max_subsets: int | None = None,
    feature_costs: Mapping[str, float] | None = None,
    test_size: float = 0.0,
    **rows: Any,
) -> Alternatives:
    """Find all subsets that are as good as the best, as far as the rows can show.

    Which features are needed, which can take each other's place, and is there a cheaper set as good?

    Read more in the guide: :doc:`/guide/alternatives`.

    Parameters
    ----------
    selection : Selection or SubsetSelector
        The answer whose criterion scores the subsets.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    y : array of shape (n_samples,) or str
        The target, or the name of a column of X.
    tolerance : float, optional
        Points of score by which a good subset may be behind the best. Left out, a subset is good if the 95 % interval
        of its paired difference to the best includes no difference.
    criterion : Criterion or str, optional
        Another criterion; needed where that of the selection is not known, as for `auto`.
    max_features : int, optional
        The largest size; as large as `max_subsets` allows if left out.
    max_subsets : int, optional
        How many subsets may be looked at, 4 million if left out. Where not even all pairs of features are so few, good
        subsets are searched from the best of a forward search, and the answer says so.
    feature_costs : mapping of str to float, optional
        What each feature costs.
    test_size : float, default=0.0
        Share of the rows that are put aside, and on which a few of the good subsets are scored.
    **rows
        `groups`, `time`, `sample_weight` and `task`, `n_jobs` and `device`, as in `select`.

    Returns
    -------
    Alternatives
        The good subsets, their counts, and what they say of each feature.

    See Also
    --------
    select : Makes a selection.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selection = fewer.select(X, y, "knn-forward", cv=0, random_state=0)
    >>> found = fewer.alternatives(selection, X, y, max_features=4)
    >>> found.complete, found.smallest
    (True, ['flavanoids', 'color_intensity', 'proline'])
    """
    task = rows.pop("task", None)
    resources = Resources(effective_n_jobs(rows.pop("n_jobs", None)), device=rows.pop("device", "cpu"))
    problem = read_rows(X, y, task, {name: rows.pop(name, None) for name in ROW_METADATA})
    if rows:
        raise TypeError(f"alternatives() got an unexpected keyword argument {next(iter(rows))!r}")
    seed = int(selection.seed or 0) if isinstance(selection, Selection) else 0
    limits = {"max_features": max_features} | ({} if max_subsets is None else {"max_subsets": max_subsets})
    return alternatives_of(
        problem, criterion_of(selection, problem, criterion), test_size, seed, tolerance=tolerance,
        costs=feature_costs, resources=resources, **limits,
    )  # fmt: skip


def alternatives_of(problem: Problem, criterion: Any, test_size: float, seed: int, **options: Any) -> Alternatives:
    """Do as `alternatives` on rows that were read."""
    if not 0.0 <= test_size <= 0.5 or (options.get("tolerance") or 0.0) < 0.0:
        raise InputError("alternatives needs a tolerance of at least 0, and a test_size between 0 and 0.5.")
    test = None
    if test_size:
        folds = assign_folds(problem, max(round(1.0 / test_size), 2), np.random.default_rng(seed))
        problem, test = problem.take(folds != 0), problem.take(folds == 0)
    return evaluate.good_subsets(criterion, problem, test=test, seed=seed, **options)


def criterion_of(selection: Any, problem: Problem, given: Any = None) -> Any:
    """Return the criterion of a selection: given, of its method, of its selector, or from how it was written down."""
    if given is not None:
        return build_component("criterion", given, problem)
    if hasattr(selection, "criterion_"):
        return selection.criterion_
    if not isinstance(selection, Selection):
        raise InputError("alternatives needs a Selection or a fitted SubsetSelector; else give criterion='knn'.")
    named = registry.METHODS.get(selection.method)
    if named is not None and named.criterion is not None:
        return build_component("criterion", named.criterion, problem)
    text = selection.criterion or ""
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in criteria.__all__:
            words = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            return getattr(criteria, call.func.id)(**words)
        raise ValueError(text)
    except (SyntaxError, ValueError):
        chosen = "; for the model that auto chose CrossValidated(selection.model) with max_subsets=2000"
        raise InputError(
            f"Method {selection.method!r} has no criterion that scores single subsets; give one as criterion "
            "(--criterion): knn, or for a model of scikit-learn cross-validated:estimator=linear"
            f"{'' if selection.model is None else chosen}."
        ) from None


def _is_name(component: Any, name: str) -> bool:
    return isinstance(component, str) and component == name


def _named(given: Sequence[Any] | Mapping[str, Any], build: Callable[[str], tuple[str, Any]]) -> dict[str, Any]:
    """Name each component: as it was typed, or after its class, numbered where a name is taken."""
    components = [given] if isinstance(given, str) else given.values() if isinstance(given, Mapping) else given
    for component in components:
        refuse_class(component)
        if not (isinstance(component, str) or hasattr(component, "get_params")):
            shown = " ".join(repr(component).split())
            raise InputError(f"{shown} is neither a name nor a scikit-learn estimator.")
    if isinstance(given, Mapping):
        return {name: build(part)[1] if isinstance(part, str) else part for name, part in given.items()}
    named: dict[str, Any] = {}
    for component in components:
        name, built = build(component) if isinstance(component, str) else (type(component).__name__, component)
        number, first = 1, name
        while name in named:
            number += 1
            name = f"{first} {number}"
        named[name] = built
    return named


# What Loughrey recommends to try after a filter, beside the baselines that are always there.
PRACTICE = ("knn-forward", "sa", "saes", "saes-vote")

_ALLOWED: dict[str, list[Any]] = (
    AutoSelector._parameter_constraints
    | SubsetSelector._parameter_constraints
    | {
        "criterion": [str, HasMethods("bind"), None],
        "search": [str, HasMethods("steps"), None],
        "control": [str, HasMethods("run"), HasMethods("choose"), None],
        "ranker": [str, HasMethods("rank"), None],
        "estimator": [str, HasMethods("fit"), None],
        "alternatives": [Interval(Integral, 0, None, closed="left")],
        "min_features": [Interval(Integral, 0, None, closed="left"), None],
        "planted": [Interval(Integral, 0, 10_000, closed="both")],
        "n_repeats": [Interval(Integral, 1, 100_000, closed="both")],
        "on_progress": [callable, None],
        "verbose": ["verbose", None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both"), None],
        "resume_dir": [str, Path, None],
        "prefer": [str],
        "rare": [str],
        "methods": [str, "array-like", dict],
        "estimators": [str, "array-like", dict],
    }
)
"""What arguments may be; the others are looked at where they are read, `memory` and `budget` are parsed."""


def _refuse_arguments(caller: str, given: Mapping[str, Any]) -> None:
    if not isinstance(given.get("method", ""), str):
        registry.method_named(given["method"])  # which says that it is no name
    if "memory" in given:
        parse_memory(given["memory"])
    if given.get("resume_dir") == "":
        raise InputError("resume_dir='' names no folder; name one, or '.' for the current one.")
    looked_at = set(_ALLOWED) - {"include", "exclude", "start", "memory", "budget", "cv"}
    checked = {name: value for name, value in given.items() if name in looked_at}
    with one_line():
        validate_parameter_constraints({name: _ALLOWED[name] for name in checked}, checked, caller)
    if given.get("on_progress") is not None:
        try:
            signature(given["on_progress"]).bind(0, 1, "")
        except ValueError:
            pass  # compiled code that does not say what it takes
        except TypeError:
            raise InputError("on_progress must take three arguments: how many are done, of how many, a text.") from None


def _seed(random_state: int | None) -> int:
    return int(np.random.default_rng().integers(2**31)) if random_state is None else int(random_state)


def _reusable(cv: Any) -> Any:
    """Return splits that can be gone through more than once."""
    plain = isinstance(cv, int | np.integer | str | list) or hasattr(cv, "split")
    try:
        return 5 if cv is None else int(cv) if isinstance(cv, np.integer) else cv if plain else list(cv)
    except TypeError:
        raise InputError(f"cv={cv!r} is neither a number of folds nor a splitter nor a list of splits.") from None


__all__ = ["compare", "compare_problem", "read_rows", "select"]
