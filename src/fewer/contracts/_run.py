"""A run: a criterion and a search on some rows, with what it may use, where it is recorded and who follows it.

`Answer` is what every fit of a selector ends in: the features, what they rest on, and why the run ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewer.contracts._components import Component, Control, Criterion, IncompatibleError, OnStep, Search
from fewer.contracts._scorer import Objective, Scorer, SearchSpace
from fewer.contracts.trace import Ending, Trace, size_of
from fewer.errors import interruptible
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.text import NoteKind


class Stopped(Exception):
    """Raised by whoever follows the steps of a run, to end it with its best subset so far.

    The message is a sentence for the reader of the result: which budget is spent, or that a callback has seen enough.
    It may only be raised once there is a step, and whoever raised it raises it again if asked again.

    Parameters
    ----------
    message : str
        The sentence.
    ending : Ending, default=Ending.FOLLOWER
        Why the run ends.

    Examples
    --------
    >>> def at_most_100(trace):
    ...     if trace.n_evaluations > 100:
    ...         raise Stopped("The budget of 100 subsets is spent.")
    """

    def __init__(self, message: str, ending: Ending = Ending.FOLLOWER) -> None:
        super().__init__(message)
        self.ending = ending


@dataclass(frozen=True)
class Resources:
    """What a scorer may use: threads or processes, bytes beside the data, and where to compute.

    Parameters
    ----------
    n_jobs : int, default=1
        Threads or processes.
    memory : int, default=2**30
        Bytes beside the data.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to compute.
    executor : Dask client, optional
        Does whole tasks (folds, runs, methods, parts of a table). Without one, joblib does, on the backend that
        `joblib.parallel_config` says.

    Examples
    --------
    >>> Resources(n_jobs=4, memory=2**30).alone()
    Resources(n_jobs=1, memory=268435456, device='cpu', executor=None)
    """

    n_jobs: int = 1
    memory: int = 1 << 30
    device: str = "cpu"
    executor: Any = None

    def alone(self) -> Resources:
        """Return what one of several tasks that run at the same time may use.

        Returns
        -------
        Resources
            One thread, and a share of the memory.
        """
        return Resources(1, self.memory // max(self.n_jobs, 1), self.device)


def generator_of(random_state: Any) -> np.random.Generator:
    """Return the generator that a run draws from.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        As scikit-learn's estimators take it; a generator is used as it is.

    Returns
    -------
    Generator

    Examples
    --------
    >>> generator_of(0).integers(10) == generator_of(0).integers(10)
    np.True_
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, int | np.integer):
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


@dataclass(frozen=True, eq=False)
class Run:
    """Everything that one run needs: the one argument of `Control.run`.

    Parameters
    ----------
    criterion : Criterion
        Says how good a subset is.
    problem : Problem
        The rows of this run.
    search : Search
        Says which subset comes next.
    space : SearchSpace
        The subsets that it may visit.
    rng : Generator
        For whatever is drawn.
    resources : Resources, optional
        Threads, memory and device; one thread by default.
    trace : Trace, optional
        Where the run is recorded; one that holds steps already is gone on with.
    follower : callable, optional
        Called with the trace after each step.

    See Also
    --------
    Control : Runs it on parts of the rows and decides what to keep.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from fewer.search import Forward
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> run = Run(KNN(1, cv="loo"), problem, Forward(), SearchSpace.of(2), np.random.default_rng(0))
    >>> trace = run.under(None)
    >>> trace.best, trace.best_score
    (array([ True, False]), 1.0)
    """

    criterion: Criterion
    problem: Problem
    search: Search
    space: SearchSpace
    rng: np.random.Generator
    resources: Resources = field(default_factory=Resources)
    trace: Trace = field(default_factory=Trace)
    follower: OnStep | None = None
    _bound: dict[tuple[int, int], tuple[Criterion, Problem, Scorer]] = field(default_factory=dict, repr=False)

    @property
    def scorer(self) -> Scorer:
        """The criterion bound to the rows; bound once, however often it is asked for."""
        key = id(self.criterion), id(self.problem)
        if key not in self._bound:
            scorer = self.criterion.bind(self.problem, self.rng, self.resources)
            self._bound[key] = self.criterion, self.problem, scorer
        return self._bound[key][2]

    @property
    def is_bound(self) -> bool:
        """Whether the criterion is bound to the rows already."""
        return (id(self.criterion), id(self.problem)) in self._bound

    def on(self, rows: NDArray[Any], rng: np.random.Generator, **changes: Any) -> Run:
        """Return the run on some of the rows: with a generator and a trace of its own, followed by nobody.

        Parameters
        ----------
        rows : array
            Indices, or a boolean mask.
        rng : Generator
            For whatever is drawn on these rows.
        **changes
            Other fields of the new run.

        Returns
        -------
        Run
            A copy; this one stays as it is.
        """
        fresh: dict[str, Any] = {"trace": Trace(), "follower": None, "_bound": {}}
        return replace(self, problem=self.problem.take(rows), rng=rng, **{**fresh, **changes})

    def shipped(self) -> Run:
        """Return the run as it travels to whoever does a task of it: alone, followed by nobody, nothing bound.

        Returns
        -------
        Run
            A copy; this one stays as it is.
        """
        return replace(self, resources=self.resources.alone(), trace=Trace(), follower=None, _bound={})

    def under(self, control: Control | None) -> Trace:
        """Run the search on these rows, under a control if there is one.

        Columns that do not vary in these rows are set aside before a search begins.

        Parameters
        ----------
        control : Control or None
            Runs the search; None searches once, on all rows of the run.

        Returns
        -------
        Trace
            What was done, with the best subset.
        """
        refuse_unmet_needs(self.criterion, self.search, control, self.space, self.problem)
        if control is not None:
            return control.run(self)
        self.criterion.check_parameters()
        self.search.check_parameters()
        space = self.space.without(self.problem.constant)
        return self.search.run(Objective(self.scorer, space, self.problem), space, self.rng, self.follower, self.trace)

    def tell(self) -> None:
        """Pass the current trace to the follower, if there is one."""
        if self.follower is not None:
            self.follower(self.trace)


_WHY = {
    "monotone": "a criterion that never falls when a feature is added",
    "weights": "a criterion that takes weights, not only masks",
    "predictive": "a criterion that predicts rows",
    "has_importances": "a criterion whose model has feature importances",
    "least_squares": "the residual sums of squares of LeastSquares",
    "stochastic": "a stochastic search, which can be shortened",
}


def refuse_unmet_needs(
    criterion: Criterion, search: Search, control: Control | None, space: SearchSpace, problem: Problem
) -> None:
    """Raise one clear sentence if these components cannot work together.

    Parameters
    ----------
    criterion : Criterion
        Says how good a subset is.
    search : Search
        Says which subset comes next.
    control : Control or None
        With those inside it.
    space : SearchSpace
        The subsets that may be visited.
    problem : Problem
        The rows.

    Raises
    ------
    IncompatibleError
        If they cannot.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from fewer.search import BranchAndBound
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> refuse_unmet_needs(KNN(), BranchAndBound(), None, SearchSpace.of(2), problem)
    Traceback (most recent call last):
    ...
    fewer.contracts._components.IncompatibleError: BranchAndBound needs a criterion that never falls ...
    """
    names = [type(component).__name__ for component in (criterion, search)]
    criterion.check_task(problem.task)
    if problem.n_outputs > 1 and (control is not None or not criterion.multi_output):
        name = names[0] if control is None else type(control).__name__
        raise IncompatibleError(
            f"{name} works with one target, but there are {problem.n_outputs}: give one, "
            "or choose CrossValidated or LeastSquares without a control."
        )
    if problem.time is not None and criterion.predictive and not criterion.respects_time:
        raise IncompatibleError(
            f"{names[0]} predicts each row from all others, even later ones, but the rows have a time; use "
            "CrossValidated (--criterion cross-validated:estimator=knn), which respects time."
        )
    needs = [(search, search.needs, criterion)]
    if space.start is not None and not search.takes_start:
        raise IncompatibleError(f"{names[1]} visits subsets in its own order and cannot begin from a given one.")
    if space.weight_levels > 1 and not criterion.supports_weights:
        raise IncompatibleError(f"Weighting needs {_WHY['weights']}, and {names[0]} takes masks only.")
    if space.weight_levels > 1 and not search.supports_weights:
        raise IncompatibleError(f"{names[1]} moves on masks only, so it cannot search weights.")
    while control is not None:
        if not isinstance(control, Control):
            raise IncompatibleError(f"control={control!r} is no control; give one of fewer.control, or None.")
        needs += [(control, control.needs, criterion), (control, control.search_needs, search)]
        control = control.control
    for owner, wanted, component in needs:
        for need in sorted(wanted):
            if not getattr(component, need):
                lacks = {"has_importances": "is not one", "least_squares": "has none"}.get(need, f"is not {need}")
                who, whose = type(owner).__name__, type(component).__name__
                raise IncompatibleError(f"{who} needs {_WHY[need]}, and {whose} {lacks}.")


# Features up to which the answers of other sizes are given.
LARGEST_SHOWN = 60


@dataclass(frozen=True, eq=False)
class Answer:
    """What a fit ends in. Nothing needs to ask which selector made it.

    Parameters
    ----------
    support : bool array of shape (n_features,)
        The chosen features.
    ranking : int array of shape (n_features,)
        1 is best.
    scored_by : Component
        The criterion, the ranker, or the model that stands for `auto`.
    search : Search or None
        Which search found them, if one did.
    control : Control or None
        What decided when to stop believing it.
    trace : Trace
        The history: steps, notes, how many subsets were scored, why it ended.
    believed : float or None
        The score by which a search chose; optimistic.
    judge, judge_all : Criterion or None
        Which model predicts with the chosen features, and with all of them, where the method has one.
    judge_names : dict
        The names of these models, by "chosen" and "all".
    curve : dict
        Score against the number of features, by `size`; empty if it was not measured.
    choices : dict
        By preference, the features that it gets.
    stand_ins : dict
        For chosen features, others that can replace them.
    reason : str
        Why these features.
    nothing_found : bool, default=False
        No feature predicts better than chance.
    is_empty : bool, default=False
        Nothing was found and no number of features was asked for: `support` is the best guess only.
    smallest_without_loss : int or None
        The smallest size with no measurable loss, where the chosen one has some.
    n_seen : int or None
        Rows that the method looked at, if not all.
    folds : list of Split or None
        The folds without which the selection can be repeated with work that was done already.
    without : callable or None
        Given the number of such a fold, returns the answer without it; a fitted selector does not keep it.
    tried : (array, array) or None
        What the model predicted for each row while the answer was chosen, by the parts that did not see the row: with
        the chosen number of features, and with all.
    run : Run or None
        The run, whose bound criterion scores more subsets; a fitted selector does not keep it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), n_features_to_select=2).fit(*load_iris(return_X_y=True))
    >>> selector.answer_.order, selector.answer_.ending.value
    (array([2, 3]), 'finished')
    """

    support: BoolArray
    ranking: IntArray
    scored_by: Component
    search: Search | None = None
    control: Control | None = None
    trace: Trace = field(default_factory=Trace)
    believed: float | None = None
    judge: Criterion | None = None
    judge_all: Criterion | None = None
    judge_names: dict[str, str] = field(default_factory=dict)
    curve: dict[str, Any] = field(default_factory=dict)
    choices: dict[str, BoolArray] = field(default_factory=dict)
    stand_ins: dict[int, list[int]] = field(default_factory=dict)
    reason: str = ""
    nothing_found: bool = False
    is_empty: bool = False
    smallest_without_loss: int | None = None
    n_seen: int | None = None
    folds: list[Any] | None = None
    without: Callable[[int], Answer] | None = None
    tried: tuple[FloatArray, FloatArray] | None = None
    run: Run | None = None

    @property
    def order(self) -> IntArray:
        """The chosen features, best first."""
        chosen = np.flatnonzero(self.support)
        return chosen[np.argsort(self.ranking[chosen], kind="stable")]

    @property
    def ending(self) -> Ending:
        """Why the run ended."""
        return self.trace.ending

    @property
    def promise(self) -> str:
        """What a control promises: a rate of false discoveries, a number of false selections."""
        return str(self.trace.state.get("promise", ""))

    def by_size(self) -> dict[int, BoolArray]:
        """Return the subset that the selector would take at each size that it looked at, up to 60 features.

        Returns
        -------
        dict
            Masks by size, in ascending order; those of a ranking nest. The answer itself stands at its own size.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import fewer
        >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), random_state=0).fit(*load_iris(return_X_y=True))
        >>> list(selector.answer_.by_size())
        [1, 2, 3, 4]
        """
        prefixes = {int(size): self.ranking <= size for size in self.curve.get("size", ())}
        masks = prefixes
        if self.choices:
            chosen = {int(mask.sum()): np.asarray(mask, dtype=bool) for mask in self.choices.values()}
            nest = all(size in prefixes and np.array_equal(mask, prefixes[size]) for size, mask in chosen.items())
            masks = prefixes if nest else chosen
        elif self.search is not None:
            masks = {size: mask for size, (_, mask) in best_by_size(self.trace).items()}
        masks = {size: mask for size, mask in masks.items() if size <= LARGEST_SHOWN}
        if not self.is_empty and self.support.any():
            masks[int(self.support.sum())] = self.support
        return dict(sorted(masks.items()))


def best_by_size(trace: Trace) -> dict[int, tuple[float, BoolArray]]:
    """Return score and mask of the best subset of each size among the steps and the best subsets of a run.

    Parameters
    ----------
    trace : Trace
        Of a search.

    Returns
    -------
    dict
        By size, in ascending order.

    Examples
    --------
    >>> from fewer.contracts.trace import Step
    >>> trace = Trace()
    >>> one, two = np.array([True, False]), np.array([True, True])
    >>> for mask, score in ((one, 0.5), (two, 0.7)):
    ...     _ = trace.record(Step(mask, score, mask, score))
    >>> {size: score for size, (score, _) in best_by_size(trace).items()}
    {1: 0.5, 2: 0.7}
    """
    best: dict[int, tuple[float, BoolArray]] = {}
    for mask, score in trace.subsets_met():
        size = int(size_of(mask))
        if size and np.isfinite(score) and (size not in best or score > best[size][0]):
            best[size] = (float(score), np.asarray(mask) != 0)
    return dict(sorted(best.items()))


@contextmanager
def best_so_far(trace: Trace) -> Iterator[None]:
    """Let a run end early with its best subset: whoever follows it has seen enough, or Ctrl-C came after a step.

    Parameters
    ----------
    trace : Trace
        Says afterwards why the run ended.

    Yields
    ------
    None
        Nothing: the work stands inside the `with`.

    Examples
    --------
    >>> trace = Trace()
    >>> with best_so_far(trace):
    ...     raise Stopped("Seen enough.")
    >>> trace.ending.value, trace.notes
    ('follower', ['Seen enough.'])
    """
    if trace.ending is Ending.INTERRUPTED:  # and goes on now
        trace.ending = Ending.FINISHED
    try:
        with interruptible():
            yield
    except Stopped as stop:
        trace.note(str(stop), NoteKind.STOPPED)
        trace.ending = stop.ending
    except KeyboardInterrupt:
        if not trace.steps:
            raise
        trace.ending = Ending.INTERRUPTED
