"""What all selectors share: the base class, what their parameters mean, and who follows a fit.

What a fit is doing is told to the logger `fewer`, on standard output where the selector is verbose, and to
scikit-learn's callbacks (from 1.9).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import narwhals as nw
import numpy as np
from sklearn.base import clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from fewer.contracts import Answer, Component, Control, Criterion, OnStep, Search, SearchSpace, Stopped
from fewer.contracts.trace import Ending, Trace
from fewer.criteria import KNN
from fewer.criteria.engines import forest_importances
from fewer.errors import InputError, each_once
from fewer.estimators import TableEstimator, parse_costs, sklearn_table
from fewer.io import is_frame, plain_frame, without_arrow_text
from fewer.logs import LOGGER
from fewer.problem import BoolArray, Column, IntArray, Problem, Task, column_numbers
from fewer.rankers import Importance
from fewer.search import Annealing

Importance.ways.append(forest_importances)

Size = int | float | tuple[int, int] | Literal["auto"]
ONE_SIZE = [
    StrOptions({"auto"}),
    Interval(Integral, 1, None, closed="left"),
    Interval(RealNotInt, 0, 1, closed="right"),
]
"""What `n_features_to_select` may be where it is no range."""
Memory = Annotated[str | int, str, Interval(Integral, 1, None, closed="left")]
Columns = Annotated[Sequence[Column] | None, "array-like", None]
ColumnGroups = Annotated[Sequence[Sequence[Column]] | None, list, tuple, None]
Device = Literal["cpu", "cuda", "auto"]


def parse_size(asked: Any, n_features: int) -> tuple[int, int]:
    """Turn a number, a share, a range or "auto" into the smallest and largest number of features.

    Parameters
    ----------
    asked : int, float, (int, int) or "auto"
        What `n_features_to_select` was given.
    n_features : int
        How many features there are.

    Returns
    -------
    low, high : int
        The fewest and the most.

    Examples
    --------
    >>> parse_size(0.5, 9), parse_size((0, 5), 9), parse_size("auto", 9)
    ((5, 5), (0, 5), (1, 9))
    """
    if isinstance(asked, str):
        return 1, n_features
    if isinstance(asked, tuple | list):
        if len(asked) != 2 or not all(isinstance(n, Integral) for n in asked) or not 0 <= asked[0] <= asked[1]:
            raise InputError(f"n_features_to_select={asked!r}: give a smallest and a largest number of features.")
        low, high = int(asked[0]), min(int(asked[1]), n_features)
    elif isinstance(asked, Integral):
        low = high = int(asked)
    else:
        low = high = max(1, int(asked * n_features + 0.5))
    if low > n_features:
        raise InputError(
            f"{low} features requested, but only {n_features} are available; ask for at most {n_features}."
        )
    return low, high


def parse_memory(text: str | int) -> int:
    """Turn "512MiB", "2 GB" or a number into bytes.

    Parameters
    ----------
    text : str or int
        Bytes, or a number with a unit.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> parse_memory("1GiB"), parse_memory("2 kB"), parse_memory(4096)
    (1073741824, 2000, 4096)
    """
    if isinstance(text, Integral) and text > 0:
        return int(text)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(text).lower())
    if match is None or not float(match[1]):
        raise InputError(f"memory={text!r} is not an amount of memory; write for example '512MiB' or '2GiB'.")
    number, prefix, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " "))


def lay_out_space(selector: Any, problem: Problem) -> SearchSpace:
    """Lay out the subsets that a selector may choose, from its sizes, forced features, groups, costs and start.

    Parameters
    ----------
    selector : estimator
        With `n_features_to_select`, `include`, `exclude`, `feature_groups` and perhaps costs and `start`.
    problem : Problem
        The rows.

    Returns
    -------
    SearchSpace
    """
    names = problem.names
    include = column_numbers(selector.include, names, "include")
    exclude = column_numbers(selector.exclude, names, "exclude")
    groups = [column_numbers(group, names, "feature_groups") for group in selector.feature_groups or ()]
    if not all(groups):
        raise InputError("A feature group names no columns; drop it.")
    if include or exclude or groups:
        _refuse_contradictions(include, exclude, groups, names)
    members = {column for group in groups for column in group}
    most = problem.n_features - len(set(exclude) - members) - sum(len(group) - 1 for group in groups)
    most -= sum(bool(set(group) & set(exclude)) for group in groups)
    if most < 1:
        raise InputError("Every feature is excluded; leave at least one to choose from.")
    sizes = parse_size(selector.n_features_to_select, most)
    n_forced = len(set(include) - members) + sum(bool(set(group) & set(include)) for group in groups)
    if n_forced > sizes[1]:
        raise InputError(
            f"{n_forced} features are included (a group counts as one), but at most {sizes[1]} are requested; "
            f"include fewer or set n_features_to_select to {n_forced} or more."
        )
    parameters = selector.get_params(deep=False)
    prices = None
    if parameters.get("feature_costs") is not None:
        prices = parameters.get("cost_weight", 0.0) * parse_costs(parameters["feature_costs"], names)
    space = SearchSpace.of(
        problem.n_features, sizes=sizes, include=include, exclude=exclude, groups=groups, prices=prices
    )
    start = parameters.get("start")
    return space if start is None else _with_start(space, start, names)


def _refuse_contradictions(
    include: list[int], exclude: list[int], groups: list[list[int]], names: tuple[str, ...]
) -> None:
    if both := sorted(set(include) & set(exclude)):
        raise InputError(f"{names[both[0]]!r} is both included and excluded; choose one.")
    members = [column for group in groups for column in group]
    for column in members:
        if members.count(column) > 1:
            raise InputError(f"{names[column]!r} is in two feature groups; a feature has one group at most.")


def _with_start(space: SearchSpace, start: Sequence[Column], names: tuple[str, ...]) -> SearchSpace:
    columns = set(column_numbers(start, names, "start"))
    state = space.empty()
    for number, unit in enumerate(space.units):
        state[number] = bool(columns & set(unit.tolist()))
    free = {int(column) for unit in space.units for column in unit}
    if outside := sorted(columns - free - set(np.flatnonzero(space.base).tolist())):
        raise InputError(f"start names {names[outside[0]]!r}, which is excluded; remove it from one of them.")
    if not space.allows(state[None])[0]:
        raise InputError(
            f"start has {int(np.count_nonzero(state))} features beside those forced in, but from {space.min_units} to "
            f"{space.max_units} are asked for."
        )
    return replace(space, start=state)


def follow_steps(selector: Any, follower: OnStep | None = None) -> OnStep | None:
    """Tell of each step in the log, and on standard output where the selector is verbose.

    Parameters
    ----------
    selector : estimator
        Its `verbose` says how much to print: 0 nothing, 1 improvements, 2 every step.
    follower : callable, optional
        Is told as well.

    Returns
    -------
    callable or None
        None where nobody listens.
    """
    verbose = int(getattr(selector, "verbose", 0) or 0)
    if not verbose and not LOGGER.isEnabledFor(logging.DEBUG):
        return follower
    name, best = type(selector).__name__, float("-inf")

    def follow(trace: Trace) -> None:
        nonlocal best
        if trace.steps:
            better = trace.best_score > best
            best = max(best, trace.best_score)
            size = int((trace.best != 0).sum())
            done = f"{name}: step {trace.n_steps}, {trace.n_evaluations:,} subset{'s' * (trace.n_evaluations != 1)}"
            text = f"{done}, best {trace.best_score:.4g} with {size} feature{'s' * (size != 1)}"
            LOGGER.debug(text)
            if verbose > 1 or (verbose and better):
                print(text, flush=True)
        if follower is not None:
            follower(trace)

    return follow


@contextmanager
def follow_callbacks(estimator: Any, X: Any, y: Any) -> Iterator[OnStep | None]:
    """Tell the callbacks of an estimator that its fit begins and ends, and of each step between.

    Parameters
    ----------
    estimator : estimator
        The one that is fitted.
    X, y : array-like
        What it is fitted to.

    Yields
    ------
    callable or None
        To be called with the trace after each step; None if the estimator has no callbacks.

    Examples
    --------
    >>> from fewer import RankSelector
    >>> from fewer.rankers import Fisher
    >>> with follow_callbacks(RankSelector(Fisher()), [[0.0], [1.0]], [0, 1]) as on_step:
    ...     print(on_step)
    None
    """
    if not vars(estimator).get("_skl_callbacks"):
        yield None
        return
    fit = estimator._init_callback_context(max_subtasks=None)
    fit.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    enough = False

    def on_step(trace: Trace) -> None:
        nonlocal enough
        if not trace.steps or not trace.best.any():
            return  # an empty subset is where a search begins, and transforms nothing
        if not enough:
            step = fit.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            enough = step.call_on_fit_task_end(
                estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: {"support_": trace.best != 0}
            )
        if enough:
            raise Stopped("A callback ended the search; this is the best so far.")

    yield on_step
    fit.call_on_fit_task_end(
        estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: {"support_": estimator.support_}
    )


class CriterionMixin:
    """An estimator with a criterion: nearest neighbors, if none is given."""

    criterion: Criterion | None

    def _criterion(self) -> Criterion:
        return self.criterion or KNN()

    def _tasks(self) -> tuple[Task, ...]:
        return self._criterion().tasks


class SearchingEstimator(CriterionMixin, TableEstimator):
    """An estimator that searches by a criterion at `fit`: by annealing, if no search is given."""

    search: Search | None

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Search by the criterion, and keep what was found.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Cells may be missing; text and categories are nominal.
        y : array of shape (n_samples,)
            Classes or quantities.
        **params
            `sample_weight`: how much each row counts. `groups`: rows of one group stay on one side of every split.

        Returns
        -------
        self
        """
        self._validate_params()
        return self.fit_problem(self._read(X, y, **params))

    def fit_problem(self, problem: Problem) -> Self:
        """Fit to a problem that came through the input reader already.

        Parameters
        ----------
        problem : Problem
            The rows.

        Returns
        -------
        self
        """
        raise NotImplementedError

    def _search(self) -> Search:
        return self.search or Annealing(answer="final")


class Selector(CallbackSupportMixin, SelectorMixin, TableEstimator):
    """A scikit-learn transformer that keeps some of the columns.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
        The chosen columns.
    ranking_ : int array of shape (n_features,)
        1 for the chosen columns, more for those that came later.
    answer_ : Answer
        What the fit ended in, whichever selector it was; alone without the others, the best so far of a fit that was
        interrupted.

    Examples
    --------
    >>> from fewer import RankSelector
    >>> from fewer.rankers import Fisher
    >>> X, y = [[0.0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1]
    >>> RankSelector(Fisher(), n_features_to_select=1).fit(X, y).support_
    array([ True, False])
    """

    _made_last = "support_"
    support_: BoolArray
    ranking_: IntArray
    answer_: Answer
    n_jobs: int | None

    @with_callbacks
    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Select features.

        Callbacks of scikit-learn 1.9 (`set_callbacks`) hear of every step of a search, with the selector as it would be
        if it ended there; one that asks to stop ends the search with its best subset so far.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Missing cells are allowed; string and categorical columns of a frame are nominal.
        y : array of shape (n_samples,)
            Strings, booleans and up to 20 distinct whole numbers are classes; other numbers are quantities.
        **params
            `sample_weight`: how much each row counts. `groups`: rows of one group stay on one side of every split.
            `time`: training rows are earlier than test rows in every split.

        Returns
        -------
        self
        """
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, type):
                raise InputError(f"{name} is the class {value.__name__}, not an object; write {value.__name__}().")
        self._validate_params()
        if isinstance(X, str | Path):
            raise InputError(f"X is the name of a file, {str(X)!r}; read it first, or use fewer.select(file, y='…').")
        problem = self._read(X, y, sparse=True, **params)
        with each_once(), follow_callbacks(self, X, y) as on_step:
            return self.fit_problem(problem, follow_steps(self, on_step))

    def fit_problem(
        self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None, **options: Any
    ) -> Self:
        """Select features of a problem that came through the input reader already.

        If it is interrupted, the selector is not fitted; the best subset so far is in `answer_`, if there was a first
        step. Whoever follows the steps can end the run by raising `Stopped`; the trace then says so.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step of a search.
        trace : Trace, optional
            Of an interrupted run, to go on with.
        **options
            Those of `answer`.

        Returns
        -------
        self
        """
        for name in ("support_", "ranking_", "answer_"):
            self.__dict__.pop(name, None)
        if self.answer(problem, on_step, trace, **options).trace.ending is Ending.INTERRUPTED:
            del self.support_, self.ranking_
            raise KeyboardInterrupt
        return self

    def answer(
        self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None, *, share: bool = False
    ) -> Answer:
        """Fit to a problem and return the answer, also where Ctrl-C ended the run after its first step.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step of a search.
        trace : Trace, optional
            Of an interrupted run, to go on with.
        share : bool, default=False
            Whether the selection will be repeated without each of the selector's own folds, so that work is kept.

        Returns
        -------
        Answer
            With the run, where there was one.
        """
        raise NotImplementedError

    def components(self) -> tuple[Component, Search | None, Control | None]:
        """Return what scores, what searches and what controls, as they would be run.

        Returns
        -------
        scored_by : Component
            A criterion, a ranker, or the selector itself.
        search : Search or None
            None where nothing is searched.
        control : Control or None
            None where there is none.
        """
        raise NotImplementedError

    def for_part(self, rng: np.random.Generator) -> Self:
        """Return a copy to be fitted to some of the rows.

        Parameters
        ----------
        rng : Generator
            For whatever is drawn.

        Returns
        -------
        selector
            Not fitted.
        """
        return cast(Self, clone(self).set_params(random_state=rng))

    def _keep_answer(self, answer: Answer) -> Answer:
        """Keep what an answer holds in attributes; the run, which may be large, is not kept."""
        self.n_features_in_ = len(answer.support)
        self.support_, self.ranking_ = answer.support, answer.ranking
        self.answer_ = replace(answer, folds=None, without=None, run=None)
        return answer

    @property
    def promise_(self) -> str:
        """What the control promises, and under which assumptions; empty without a control that promises something."""
        return self.answer_.promise

    def transform(self, X: Any) -> Any:
        """Keep the chosen columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A table with the columns that were there in `fit`.

        Returns
        -------
        array, or frame as `set_output` says, of shape (n_samples, n_chosen)
        """
        X = sklearn_table(X)
        if is_frame(X) and not hasattr(X, "iloc"):
            return self._keep_columns(X)
        as_frame = _get_output_config("transform", self)["dense"] != "default"
        return super().transform(X if as_frame else without_arrow_text(X))

    def _keep_columns(self, X: Any) -> Any:
        """Take the chosen columns of a frame that is not pandas', whatever cells the other columns hold."""
        chosen = np.flatnonzero(self.get_support())
        _check_feature_names(self, X, reset=False)
        _check_n_features(self, X, reset=False)
        frame = nw.from_native(plain_frame(X)[0], eager_only=True)
        kept = frame[:, chosen.tolist()]
        if _get_output_config("transform", self)["dense"] == "polars" and frame.implementation.is_polars():
            return kept.to_native()
        columns = [column.to_numpy() for column in kept.iter_columns()]
        if any(column.dtype.kind not in "biuf" for column in columns):
            columns = [column.astype(object) for column in columns]
        return np.column_stack(columns) if columns else np.empty((len(frame), 0))

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
