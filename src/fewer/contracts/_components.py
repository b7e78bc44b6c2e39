"""The components' types: criterion, search, control and ranker."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError

from fewer.contracts._scorer import Scorer
from fewer.contracts._space import SearchSpace
from fewer.problem import FloatArray, InputError, IntArray, Problem, Task
from fewer.trace import Step, Trace

if TYPE_CHECKING:
    from fewer.contracts._objective import Objective
    from fewer.contracts._run import Resources, Run

OnStep = Callable[[Trace], None]


class IncompatibleError(InputError):
    """Components that cannot work together; the message says why."""


class Component(BaseEstimator, ABC):
    """What criteria, searches, controls and rankers share: declared parameters and a name to type.

    A component lists what its parameters may be in scikit-learn's `_parameter_constraints`. Before its work begins
    (`bind`, `steps`, `run`, `rank`), parameters outside of that are refused in one line. `command_name` is what people
    type on the command line; `python -m fewer.registry` collects the names.
    """

    command_name: ClassVar[str] = ""
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in {"bind", "steps", "run", "rank"} & set(vars(cls)):
            setattr(cls, name, _checked(vars(cls)[name]))

    def check_parameters(self) -> None:
        """Refuse parameters that the class does not allow, naming the parameter, what was given and what is allowed."""
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise InputError(" ".join(str(error).split())) from None


def _checked(method: Any) -> Any:
    """Check the parameters before a method begins."""
    if getattr(method, "__isabstractmethod__", False):
        return method

    @wraps(method)
    def checked(self: Component, *args: Any, **kwargs: Any) -> Any:
        self.check_parameters()
        return method(self, *args, **kwargs)

    return checked


class Criterion(Component):
    """How good is a subset? Parameters only; `bind` gives the scorer that knows the rows."""

    monotone: ClassVar[bool] = False
    """Adding a feature never lowers the score."""
    supports_weights: ClassVar[bool] = False
    """Masks may hold weights between 0 and 1."""
    predictive: ClassVar[bool] = False
    """`bind` gives a `PredictiveScorer`."""
    respects_time: ClassVar[bool] = False
    """Where rows have a time, judges them by earlier rows alone. A criterion that does not predict need not."""
    has_importances: ClassVar[bool] = False
    """Its scorer can `examine`: tell how important each column is to its own model."""
    least_squares: ClassVar[bool] = False
    """Its scores go by the residual sums of squares of linear fits."""
    multi_output: ClassVar[bool] = False
    """Takes a target of several columns."""
    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")
    statistics: ClassVar[tuple[str, ...]] = ()
    """What it needs to know of a table that is read in chunks; nothing means that it needs the rows."""

    @abstractmethod
    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        """Bind to rows: scaling, imputation and discretisation learn from these rows alone."""


class Search(Component):
    """Which subset next? Sees units and scores, never the rows."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the criterion must declare, such as "monotone"."""
    stochastic: ClassVar[bool] = False
    """Draws random numbers, and can be shortened."""
    supports_weights: ClassVar[bool] = False
    """Moves on weight grids too, not only on masks."""
    takes_start: ClassVar[bool] = True
    """Can begin from a given subset."""
    ordered: ClassVar[bool] = False
    """Takes features one after the other, so that the order in which they came is worth telling."""

    @abstractmethod
    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        """Search, yielding after each step.

        `state` is empty at the start. Before each yield the search puts into it whatever it needs to go on from
        there; after an interruption it finds it filled, with `rng` as it was.
        """

    def shortened(self, share: float) -> Search:
        """Return this search with a share of its effort."""
        raise IncompatibleError(f"{type(self).__name__} cannot be shortened: it is not a stochastic search.")

    def run(
        self,
        scorer: Objective,
        space: SearchSpace,
        rng: np.random.Generator,
        on_step: OnStep | None = None,
        trace: Trace | None = None,
    ) -> Trace:
        """Run from the start, or go on from where a trace ends."""
        trace = Trace() if trace is None else trace
        if trace.done:
            return trace
        if trace.rng_state is not None:
            rng.bit_generator.state = trace.rng_state
        scorer.follow(trace)
        try:
            for step in self.steps(scorer, space, rng, trace.state):
                trace.rng_state = dict(rng.bit_generator.state)
                trace.record(
                    replace(step, mask=space.expand(step.mask[None])[0], best=space.expand(step.best[None])[0])
                )
                if on_step is not None:
                    on_step(trace)
        except KeyboardInterrupt:
            trace.interrupted = True
            raise
        scorer.refuse_undefined(trace.best_score)
        trace.done, trace.interrupted = True, False
        return trace


class Control(Component):
    """When to stop believing it? Runs searches on parts of the rows and decides what to keep.

    A control nests: the one in its `control` parameter runs inside each of its own runs.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the criterion must declare."""
    search_needs: ClassVar[frozenset[str]] = frozenset()
    """What the search must declare, such as "stochastic"."""
    control: Control | None = None

    @abstractmethod
    def run(self, run: Run) -> Trace:
        """Run the method under this control; what is found goes to `run.trace`, which is returned."""


@dataclass(frozen=True)
class Ranking:
    """One number a feature (higher is better) and the order that follows from it, best first."""

    scores: FloatArray
    order: IntArray
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def by_score(cls, scores: FloatArray, **extra: NDArray[Any]) -> Ranking:
        """Order by score; equal scores keep the order of the columns, undefined ones come last."""
        order = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")
        return cls(scores, order.astype(np.int64), extra)


MOSTLY_MISSING = 0.9


def _bare_last(rank: Any) -> Any:
    """Put columns that are mostly missing behind all others: what their few cells tell is chance."""
    if getattr(rank, "__isabstractmethod__", False):
        return rank

    @wraps(rank)
    def ranked(self: Ranker, problem: Problem, *args: Any, **kwargs: Any) -> Ranking:
        ranking: Ranking = rank(self, problem, *args, **kwargs)
        bare = _missing_shares(problem) >= MOSTLY_MISSING
        if not bare.any():
            return ranking
        place = np.where(problem.constant, 2, bare)[ranking.order]
        return replace(ranking, order=ranking.order[np.argsort(place, kind="stable")])

    return ranked


def _missing_shares(problem: Problem) -> FloatArray:
    """Return the share of missing cells of each column, of a sparse table without filling it."""
    if problem.sparse is None:
        return np.asarray(problem.missing.mean(axis=0))
    gone = np.flatnonzero(np.isnan(problem.sparse.data))
    columns = np.searchsorted(problem.sparse.indptr, gone, side="right") - 1
    return np.bincount(columns, minlength=problem.n_features) / max(problem.n_samples, 1)


class Ranker(Component):
    """How good is each feature? Columns with at least nine of ten cells missing come after all others that vary."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "rank" in vars(cls):
            cls.rank = _bare_last(vars(cls)["rank"])  # type: ignore[method-assign]

    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")
    symmetric: ClassVar[bool] = True
    """Treats columns alike: where two columns change places, so do their scores, and nothing else happens."""
    p_values: ClassVar[bool] = False
    """Each feature's p-value is in the ranking's `extra` as `p_value`."""
    uses_sample_weight: ClassVar[bool] = True
    """Row weights count."""
    unit: ClassVar[str] = ""
    """What scores are measured in, such as "nats"."""
    statistics: ClassVar[tuple[str, ...]] = ()
    """What it needs to know of a table that is read in chunks; nothing means that it needs the rows."""

    @abstractmethod
    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        """Rank the columns of these rows."""
