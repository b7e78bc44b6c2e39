"""The components' types: criterion, search, control and ranker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from fewer.contracts._scorer import Objective, Scorer, SearchSpace
from fewer.contracts.trace import Step, Trace
from fewer.errors import interruptible, one_line
from fewer.problem import FloatArray, InputError, IntArray, Problem, Task

if TYPE_CHECKING:
    from fewer.contracts._run import Resources, Run

OnStep = Callable[[Trace], None]


class IncompatibleError(InputError):
    """Components that cannot work together; the message says why.

    Parameters
    ----------
    *args : object
        The message.

    Examples
    --------
    >>> from fewer.contracts import Run
    >>> from fewer.criteria import KNN
    >>> from fewer.search import BranchAndBound
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> Run(KNN(), problem, BranchAndBound(), SearchSpace.of(2), np.random.default_rng(0)).under(None)
    Traceback (most recent call last):
    ...
    fewer.contracts._components.IncompatibleError: BranchAndBound needs a criterion that never falls ...
    """


PLAIN_TYPES = (int, float, str, bool, type(None))
# What parameters were when they were found valid: not looked at again until they change.
_VALID: WeakKeyDictionary[Any, tuple[Any, ...]] = WeakKeyDictionary()


parameter_names: Any = cache(BaseEstimator._get_param_names.__func__)
"""Returns the names of a class's parameters; scikit-learn reads the signature anew whenever it is asked."""


# What rows may come with beside numbers and a target.
ROWS = frozenset({"weights", "groups", "time", "missing", "nominal"})
# Changes of a table that add no information: a result should not depend on them.
CHANGES = frozenset({"row order", "column order", "sign", "shift", "scale", "labels"})
_CANNOT = {
    "weights": "cannot use row weights; leave sample_weight out, or repeat rows instead",
    "groups": "cannot use row groups; leave groups out, or keep one row of each group",
    "time": "judges rows by later ones too; leave time out, or use CrossValidated, whose splits go forward",
    "missing": "cannot use missing cells; fill them first, for example with SimpleImputer",
    "nominal": "cannot use nominal columns, and {column!r} is nominal; encode it as numbers, or choose another",
}


class CheckedOnce(BaseEstimator):
    """Has parameters that are checked when they are first used, and again only after a change.

    Examples
    --------
    >>> from fewer.search import Annealing
    >>> Annealing(levels=True).check_parameters()
    Traceback (most recent call last):
    ...
    fewer.errors.InputError: The 'levels' parameter of Annealing is a number, not True.
    """

    _get_param_names: ClassVar[Any] = classmethod(parameter_names)

    def _validate_params(self) -> None:
        """Refuse parameters that the class does not allow, naming the parameter, what was given and what is allowed."""
        given = self.get_params(deep=False)
        key = tuple((type(value), value) for value in given.values())  # True and 1 are equal
        if all(issubclass(kind, (*PLAIN_TYPES, BaseEstimator)) for kind, _ in key) and _VALID.get(self) == key:
            return
        with one_line():
            super()._validate_params()
        for name, value in given.items():  # to scikit-learn, True is a whole number
            rules = self._parameter_constraints.get(name, ())
            if isinstance(value, bool) and "boolean" not in rules and any(isinstance(rule, Interval) for rule in rules):
                raise InputError(f"The {name!r} parameter of {type(self).__name__} is a number, not {value}.")
        _VALID[self] = key


class Component(CheckedOnce, ABC):
    """What criteria, searches, controls and rankers share: declared parameters and a name to type.

    A component lists what its parameters may be in scikit-learn's `_parameter_constraints`. Before its work begins
    (`bind`, `steps`, `run`, `rank`), parameters outside of that are refused in one line. `command_name` is what people
    type on the command line; `python -m fewer.registry` collects the names.

    Read more in the guide: :doc:`/guide/own-components`.

    See Also
    --------
    fewer.registry.build : Build a component from the name that people type.

    Examples
    --------
    >>> from fewer.search import Genetic
    >>> Genetic(mutation=7).check_parameters()
    Traceback (most recent call last):
    ...
    fewer.errors.InputError: The 'mutation' parameter of Genetic must be ... Got 7 instead.
    """

    command_name: ClassVar[str] = ""
    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")
    takes: ClassVar[frozenset[str]] = frozenset()
    """What of `ROWS` a criterion or ranker can use; rows that come with anything else are refused by its name."""
    depends_on: ClassVar[frozenset[str]] = frozenset()
    """What of `CHANGES` changes its result."""
    weights_repeat_rows: ClassVar[bool] = False
    """A weight of 3 means what three copies of the row mean; otherwise weights are shares of the rows' total."""
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in {"bind", "steps", "run", "rank", "rank_stream"} & set(vars(cls)):
            setattr(cls, name, _checked(vars(cls)[name]))

    check_parameters = CheckedOnce._validate_params

    def check_task(self, task: Task) -> None:
        """Refuse a task that the component is not for.

        Parameters
        ----------
        task : {"classification", "regression"}
            What the target is for.
        """
        if task not in self.tasks:
            raise IncompatibleError(
                f"{type(self).__name__} is for {' and '.join(self.tasks)}, but the task is {task}; choose another "
                f"method, or say what the target is (task={self.tasks[0]!r}, --task {self.tasks[0]})."
            )

    def check_rows(self, problem: Problem) -> None:
        """Refuse rows that come with something that the component does not say it can use.

        Parameters
        ----------
        problem : Problem
            The rows that it is asked to use.
        """
        comes_with = {
            "weights": problem.sample_weight is not None,
            "groups": problem.groups is not None,
            "time": problem.time is not None,
            "missing": "missing" not in self.takes and problem.has_missing,
            "nominal": problem.nominal.any(),
        }
        for trait in sorted(ROWS - self.takes):
            if comes_with[trait]:
                is_ours = type(self).__module__.startswith("fewer")
                hint = "" if is_ours else f". If it can, add {trait!r} to its `takes`"
                column = problem.names[int(np.argmax(problem.nominal))]
                raise IncompatibleError(f"{type(self).__name__} {_CANNOT[trait].format(column=column)}{hint}.")


def _checked(method: Any) -> Any:
    """Check the parameters, and the rows where there are some, before a method begins; look at a ranking after it."""
    if vars(method).get("__isabstractmethod__"):
        return method

    @wraps(method)
    def checked(self: Component, *args: Any, **kwargs: Any) -> Any:
        self.check_parameters()
        if method.__name__ == "rank_stream":
            self.check_task(args[0].like.task)
        if method.__name__ not in ("bind", "rank"):
            return method(self, *args, **kwargs)
        problem: Problem = args[0] if args else kwargs["problem"]
        self.check_rows(problem)
        result = method(self, *args, **kwargs)
        if isinstance(result, Ranking) and problem.has_missing:
            # Columns that are mostly missing come behind all others: their few cells may fit by chance.
            shares = problem.n_missing / problem.n_samples
            return result.bare_last(shares, problem.constant) if (shares >= MOSTLY_MISSING).any() else result
        return result

    return checked


class Criterion(Component):
    """How good is a subset? Parameters only; `bind` returns the scorer that knows the rows.

    Read more in the guide: :doc:`/guide/own-components`.

    See Also
    --------
    Scorer : What `bind` returns.
    PredictiveScorer : What it returns if the criterion predicts rows.

    Examples
    --------
    A criterion of your own is one class with `bind`:

    >>> from fewer import SubsetSelector
    >>> from fewer.search import Forward
    >>> class Correlation(Criterion):
    ...     def bind(self, problem, rng, resources):
    ...         return CorrelationScorer(problem)
    >>> class CorrelationScorer(Scorer):
    ...     def __init__(self, problem):
    ...         self.gains = np.corrcoef(problem.X.T, problem.y)[-1, :-1] ** 2 - 0.5
    ...     def score(self, masks):
    ...         return masks @ self.gains
    >>> X = [[0.0, 3, 1], [1, 9, 0], [10, 4, 1], [11, 8, 0]]
    >>> SubsetSelector(Correlation(), Forward()).fit(X, [0, 0, 1, 1]).get_support()
    array([ True, False, False])
    """

    monotone: ClassVar[bool] = False
    """Adding a feature never lowers the score."""
    supports_weights: ClassVar[bool] = False
    """Masks may hold weights between 0 and 1."""
    supports_device: ClassVar[bool] = False
    """Has kernels for a GPU."""
    predictive: ClassVar[bool] = False
    """`bind` gives a `PredictiveScorer`."""
    respects_time: ClassVar[bool] = False
    """Where rows have a time, judges them by earlier rows alone. A criterion that does not predict need not."""
    has_importances: ClassVar[bool] = False
    """Its scorer can `examine`: return how important each column is to its own model."""
    least_squares: ClassVar[bool] = False
    """Its scores go by the residual sums of squares of linear fits."""
    multi_output: ClassVar[bool] = False
    """Takes a target of several columns."""
    statistics: ClassVar[tuple[str, ...]] = ()
    """What it needs to know of a table that is read in chunks; nothing means that it needs the rows."""
    scoring: Any = None
    """The metric of a criterion that takes one; None stands for accuracy or R²."""

    @abstractmethod
    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        """Bind to rows: scaling, imputation and discretisation learn from these rows alone.

        Parameters
        ----------
        problem : Problem
            The rows, with their target, weights and groups.
        rng : Generator
            For splits and anything else that is drawn.
        resources : Resources
            Threads, memory and device that the scorer may use.

        Returns
        -------
        Scorer
            Scores subsets of the columns on these rows; a `PredictiveScorer` if the class says `predictive`.
        """


class Search(Component):
    """Which subset next? Sees units and scores, never the rows.

    Read more in the guide: :doc:`/guide/own-components`.

    Examples
    --------
    A search of your own is one class with `steps`; this one tries all columns at once and stops:

    >>> from fewer import SubsetSelector
    >>> from fewer.criteria import KNN
    >>> class Everything(Search):
    ...     def steps(self, scorer, space, rng, state):
    ...         full = space.full()
    ...         score = float(scorer.score(full[None])[0])
    ...         yield Step(full, score, full, score)
    >>> X = [[0.0, 3, 1], [1, 9, 0], [10, 4, 1], [11, 8, 0]]
    >>> SubsetSelector(KNN(cv="loo"), Everything()).fit(X, [0, 0, 1, 1]).get_support()
    array([ True,  True,  True])
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the criterion must declare, such as "monotone"."""
    stochastic: ClassVar[bool] = False
    """Draws random numbers, and can be shortened."""
    supports_weights: ClassVar[bool] = False
    """Moves on weight grids too, not only on masks."""
    takes_start: ClassVar[bool] = True
    """Can begin from a given subset."""
    ordered: ClassVar[bool] = False
    """Takes features one after the other, so that their order is worth reporting."""

    @abstractmethod
    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        """Search, yielding after each step.

        `state` is empty at the start. Before each yield the search puts into it whatever it needs to go on from
        there; after an interruption it finds it filled, with `rng` as it was.

        Parameters
        ----------
        scorer : Objective
            Scores states: one, several, all that differ in one unit, or along a walk.
        space : SearchSpace
            The units that may enter and how many of them.
        rng : Generator
            For whatever the search draws.
        state : dict
            All that is needed to go on from here; empty at the start.

        Yields
        ------
        Step
            The subset at hand and its score, the best subset so far and its score.
        """

    def shortened(self, share: float) -> Search:
        """Return this search with a share of its effort.

        Parameters
        ----------
        share : float
            Between 0 and 1.

        Returns
        -------
        Search
            A copy; this one stays as it is.
        """
        raise IncompatibleError(f"{type(self).__name__} cannot be shortened: it is not a stochastic search.")

    def max_evaluations(self, space: SearchSpace) -> int | None:
        """Return how many subsets a whole search scores at the most, where that is known beforehand.

        Parameters
        ----------
        space : SearchSpace
            Where the search may go.

        Returns
        -------
        int or None
            None where it follows from the scores.
        """
        return None

    def rehearse(self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, n: int) -> None:
        """Score some subsets in the way that the search does, to measure what they cost.

        Parameters
        ----------
        scorer : Objective
            Scores states.
        space : SearchSpace
            Where the search may go.
        rng : Generator
            Draws the subsets.
        n : int
            How many.
        """
        scorer.score(np.array([space.random(rng) for _ in range(n)]))

    def run(
        self,
        scorer: Objective,
        space: SearchSpace,
        rng: np.random.Generator,
        on_step: OnStep | None = None,
        trace: Trace | None = None,
    ) -> Trace:
        """Run from the start, or go on from where a trace ends.

        Parameters
        ----------
        scorer : Objective
            Scores states.
        space : SearchSpace
            Where the search may go.
        rng : Generator
            For whatever the search draws; a trace that is gone on with brings its own state.
        on_step : callable, optional
            Called with the trace after each step.
        trace : Trace, optional
            Where to record; one that holds steps already is gone on with.

        Returns
        -------
        Trace
            What the search did, with the best subset it met.
        """
        trace = Trace() if trace is None else trace
        if trace.done:
            return trace
        if trace.rng_state is not None:
            rng.bit_generator.state = trace.rng_state
        scorer.follow(trace)
        with trace.finishing():
            with interruptible():
                for step in self.steps(scorer, space, rng, trace.state):
                    trace.rng_state = dict(rng.bit_generator.state)
                    mask, best = (space.expand(state[None])[0] for state in (step.mask, step.best))
                    trace.record(replace(step, mask=mask, best=best))
                    if on_step is not None:
                        on_step(trace)
            if trace.n_undefined:
                scorer.refuse_undefined()
        return trace


class Control(Component):
    """Guards against overfitting. Runs searches on parts of the rows and decides what to keep.

    A control nests: the one in its `control` parameter runs inside each of its own runs.

    Read more in the guide: :doc:`/guide/own-components`.

    Examples
    --------
    A control of your own is one class with `run`; this one searches the first half of the rows only:

    >>> from fewer import SubsetSelector
    >>> from fewer.criteria import KNN
    >>> from fewer.search import Forward
    >>> class FirstHalf(Control):
    ...     def run(self, run):
    ...         half = run.on(np.arange(run.problem.n_samples // 2), run.rng).under(None)
    ...         with run.trace.finishing():
    ...             run.trace.go_on_with(half, 0)
    ...         return run.trace
    >>> X = [[0.0, 3], [10, 9], [1, 4], [11, 8], [0, 1], [9, 2]]
    >>> selector = SubsetSelector(KNN(1, cv="loo"), Forward(), control=FirstHalf())
    >>> selector.fit(X, [0, 1, 0, 1, 0, 1]).get_support()
    array([ True, False])
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the criterion must declare."""
    search_needs: ClassVar[frozenset[str]] = frozenset()
    """What the search must declare, such as "stochastic"."""
    control: Control | None = None

    @abstractmethod
    def run(self, run: Run) -> Trace:
        """Run the method under this control; what is found goes to `run.trace`, which is returned.

        Parameters
        ----------
        run : Run
            Criterion, search, rows, space, generator, resources, trace and follower.

        Returns
        -------
        Trace
            `run.trace`, finished.
        """

    def n_searches(self, n_samples: int) -> int:
        """Return how many searches run under this control, with those inside it.

        Parameters
        ----------
        n_samples : int
            Rows of the run.

        Returns
        -------
        int
            As far as it is known beforehand.
        """
        return 1 if self.control is None else self.control.n_searches(n_samples)


MOSTLY_MISSING = 0.9
MANY_SCORES = 10_000


@dataclass(frozen=True, eq=False)
class Ranking:
    """One number a feature (higher is better) and the order that follows from it, best first.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Higher is better; NaN where a feature could not be scored.
    order : int array of shape (n_features,)
        The columns, best first.
    extra : dict of arrays
        What the ranker tells beside the scores, such as `p_value`.

    Examples
    --------
    >>> Ranking.by_score(np.array([0.1, 0.9, np.nan, 0.9])).order
    array([1, 3, 0, 2])
    """

    scores: FloatArray
    order: IntArray
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def by_score(cls, scores: FloatArray, **extra: NDArray[Any]) -> Ranking:
        """Order by score; equal scores keep the order of the columns, undefined ones come last.

        Parameters
        ----------
        scores : array of shape (n_features,)
            Higher is better.
        **extra : arrays
            Kept in `extra`.

        Returns
        -------
        Ranking
            The scores and the order.
        """
        return cls(scores, _downwards(np.where(np.isnan(scores), -np.inf, scores)), extra)

    @classmethod
    def averaged(cls, rounds: FloatArray, **extra: NDArray[Any]) -> Ranking:
        """Order by the mean of several rounds, whose standard deviation is the `spread`.

        Parameters
        ----------
        rounds : array of shape (n_rounds, n_features)
            The scores of each.
        **extra : arrays
            Kept in `extra`.

        Returns
        -------
        Ranking
        """
        spread = rounds.std(axis=0, ddof=1) if len(rounds) > 1 else np.zeros(rounds.shape[1])
        return cls.by_score(rounds.mean(axis=0), spread=spread, **extra)

    def bare_last(self, missing: FloatArray, constant: NDArray[np.bool_]) -> Ranking:
        """Put columns whose cells are mostly missing behind all others but those that do not vary.

        Parameters
        ----------
        missing : array of shape (n_features,)
            The share of missing cells.
        constant : bool array of shape (n_features,)
            Columns with one value on these rows.

        Returns
        -------
        Ranking

        Examples
        --------
        >>> ranking = Ranking.by_score(np.array([3.0, 2.0, 1.0]))
        >>> ranking.bare_last(np.array([0.95, 0.0, 0.2]), np.zeros(3, dtype=bool)).order
        array([1, 2, 0])
        """
        place = np.where(constant, 2, missing >= MOSTLY_MISSING)[self.order]
        return replace(self, order=self.order[np.argsort(place, kind="stable")])


def _downwards(scores: FloatArray) -> IntArray:
    """Return the places of scores, none NaN, from high to low, those of equal ones as they come.

    Of many, equal ones are put in order afterwards, as whole numbers: half the time of a sort that keeps their order.
    """
    if len(scores) < MANY_SCORES:
        return np.argsort(-scores, kind="stable").astype(np.int64)
    values = 0.0 - scores
    order = np.argsort(values).astype(np.int64)
    values = values[order]
    higher = np.concatenate([[0], np.cumsum(values[1:] != values[:-1])]) * len(scores)
    return np.asarray(np.sort(order + higher) - higher)


class Ranker(Component):
    """How good is each feature? Columns with at least nine of ten cells missing come after all others that vary.

    Read more in the guide: :doc:`/guide/own-components`.

    See Also
    --------
    fewer.RankSelector : Keep the best features of a ranking, in a pipeline.

    Examples
    --------
    A ranker of your own is one class with `rank`:

    >>> from fewer.contracts import Resources
    >>> class Spread(Ranker):
    ...     def rank(self, problem, rng, resources):
    ...         return Ranking.by_score(np.nanstd(problem.X, axis=0))
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> Spread().rank(problem, np.random.default_rng(0), Resources()).order
    array([0, 1])
    """

    symmetric: ClassVar[bool] = True
    """Treats columns alike: where two columns change places, so do their scores, and nothing else happens."""
    p_values: ClassVar[bool] = False
    """Each feature's p-value is in the ranking's `extra` as `p_value`."""
    chooses: bool = False
    """Says by itself how many features are worth keeping: the first `n_relevant` of the ranking's `extra`."""
    supports_device: ClassVar[bool] = False
    """Has kernels for a GPU."""
    unit: ClassVar[str] = ""
    """What scores are measured in, such as "nats"."""
    statistics: ClassVar[tuple[str, ...]] = ()
    """What it needs to know of a table that is read in chunks; nothing means that it needs the rows."""

    @abstractmethod
    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        """Rank the columns of these rows.

        Parameters
        ----------
        problem : Problem
            The rows, with their target and weights.
        rng : Generator
            For whatever the ranker draws.
        resources : Resources
            Threads, memory and device that it may use.

        Returns
        -------
        Ranking
            A score for each column and the order that follows, best first; p-values in `extra` if the class says so.
        """

    def rank_stream(self, stream: Any, rng: np.random.Generator, resources: Resources) -> Ranking:
        """Rank the columns of a table that is read in chunks; only rankers with `statistics` can.

        Parameters
        ----------
        stream : Stream
            The table in chunks.
        rng : Generator
            Draws all that is random.
        resources : Resources
            Threads, memory and device.

        Returns
        -------
        Ranking
            Where bins were cut, `extra["cuts"]` holds the edges (one row a column, NaN where there are fewer) and
            `extra["rank_error"]` how far a cut may be from the quantile it is meant to be, as a share of the rows.
        """
        raise IncompatibleError(
            f"{type(self).__name__} needs all rows in memory; choose one that reads a table in chunks (f-test, fisher, "
            "chi2, information-gain, mifs, mrmr, jmi, jim, cmim, disr), or rank a sample of the rows."
        )
