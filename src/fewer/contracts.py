"""The components of the grammar, criterion × search × control, and the space in which they meet.

Whoever adds a component writes one class: a `Criterion` with `bind`, a `Search` with `steps`, a `Control` with `run`
or a `Ranker` with `rank`. Everything else here has a default.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, Task
from fewer.trace import Step, Trace, best_first

if TYPE_CHECKING:
    from fewer.objective import Objective

Masks = NDArray[Any]
OnStep = Callable[[Trace], None]


class IncompatibleError(InputError):
    """Components that cannot work together; the message says why."""


class Stopped(Exception):
    """Raised by whoever follows the steps of a run, to end it with its best subset so far.

    The message is a sentence for the reader of the result: which budget is spent, or that a callback has seen enough.
    It may only be raised once there is a step, and whoever raised it raises it again if asked again.
    """


@dataclass(frozen=True)
class Resources:
    """What a scorer may use: threads or processes, and bytes beside the data."""

    n_jobs: int = 1
    memory: int = 1 << 30


# --------------------------------------------------------------------------------------------------- scorer


class Walk(ABC):
    """A cursor on one subset that tries one change at a time."""

    @abstractmethod
    def propose(self, unit: int, value: float) -> float:
        """Score the subset with one unit set to a value (0 or 1, or a weight)."""

    @abstractmethod
    def accept(self) -> None:
        """Make the proposed change."""

    @abstractmethod
    def reject(self) -> None:
        """Forget the proposed change."""

    def run_moves(self, moves: Moves, state: NDArray[Any], score: float, space: SearchSpace, most: int) -> MovesResult:
        """Try changes one after the other, as many as this walk can do by itself: by default none.

        A change is accepted if it lowers the rounded score by no more than its slack. The walk stands on `state`, which
        scores `score`. It stops after `most` accepted changes and before a change that the space does not allow.
        """
        return MovesResult(0, np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True)
class Moves:
    """Changes to try in a row: a unit, how many weight levels it goes on (in a circle), how far the score may fall."""

    units: IntArray
    shifts: IntArray
    slack: FloatArray

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, some: slice) -> Moves:
        return Moves(self.units[some], self.shifts[some], self.slack[some])


@dataclass(frozen=True)
class MovesResult:
    """How many changes were tried, which of them were accepted, and the rounded score after each of these."""

    n_tried: int
    accepted: IntArray
    scores: FloatArray


@dataclass(frozen=True)
class Sweep:
    """The best subsets of a range of subset numbers, best first, and how many were allowed."""

    states: NDArray[Any]
    scores: FloatArray
    n_evaluated: int


class Scorer(ABC):
    """A criterion bound to rows: scores for masks over all p columns, higher is better, always.

    Only `score` must be written. It must be stateless and score the empty mask too.
    """

    @abstractmethod
    def score(self, masks: Masks) -> FloatArray:
        """Score an (m, p) array of masks (bool) or weights (float): m numbers."""

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score the masks that differ from one mask in one unit: unit u set to `values[u]`."""
        masks = np.repeat(mask[None, :], len(units), axis=0)
        for row, unit, value in zip(masks, units, values, strict=True):
            row[unit] = value
        return self.score(masks)

    def walk(self, mask: Masks, units: Sequence[IntArray]) -> Walk:
        """Stand on one mask and try changes."""
        return _ScoredWalk(self, mask, units)

    def sweep(self, space: SearchSpace, start: int, stop: int, top: int) -> Sweep:
        """Score the subsets numbered start … stop−1 in Gray-code order and keep the best.

        Subset g holds the units whose bit is set in g ^ (g >> 1), so neighbors differ in one unit.
        """
        best = Sweep(np.zeros((0, space.n_units), dtype=bool), np.empty(0), 0)
        for low in range(start, stop, 4096):
            states = gray_states(np.arange(low, min(low + 4096, stop)), space.n_units)
            states = states[space.allows(states)]
            scores = space.objective(self.score(space.expand(states)), states)
            best = best_of(best, Sweep(states, scores, len(states)), top)
        return best


class PredictiveScorer(Scorer):
    """A scorer whose criterion predicts rows: class memberships (m, c), or numbers (m,) for regression."""

    @abstractmethod
    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold."""

    @abstractmethod
    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows in the criterion's own units: accuracy, or R² for regression."""
        weights = rows.row_weights
        if rows.task == "classification":
            return float(np.average(outputs.argmax(axis=1) == rows.y, weights=weights))
        error = weights @ (rows.y - outputs) ** 2
        spread = weights @ (rows.y - np.average(rows.y, weights=weights)) ** 2
        return float(1.0 - error / spread) if spread > 0 else float(-error)


class _ScoredWalk(Walk):
    def __init__(self, scorer: Scorer, mask: Masks, units: Sequence[IntArray]) -> None:
        self._scorer, self._mask, self._units = scorer, mask.copy(), units
        self._proposed = self._mask

    def propose(self, unit: int, value: float) -> float:
        self._proposed = self._mask.copy()
        self._proposed[self._units[unit]] = value
        return float(self._scorer.score(self._proposed[None, :])[0])

    def accept(self) -> None:
        self._mask = self._proposed

    def reject(self) -> None:
        self._proposed = self._mask


def gray_states(numbers: IntArray, n_units: int) -> BoolArray:
    """Return the subsets with these Gray-code numbers as masks."""
    codes = numbers ^ (numbers >> 1)
    return (codes[:, None] >> np.arange(n_units)) & 1 == 1


def best_of(one: Sweep, other: Sweep, top: int) -> Sweep:
    """Merge two sweeps."""
    states = np.concatenate([one.states, other.states])
    scores = np.concatenate([one.scores, other.scores])
    if len(scores) > 4 * top:
        good = scores >= np.partition(scores, -top)[-top]
        states, scores = states[good], scores[good]
    order = best_first(states, scores)[:top]
    return Sweep(states[order], scores[order], one.n_evaluated + other.n_evaluated)


# ---------------------------------------------------------------------------------------------------- components


class Criterion(BaseEstimator, ABC):
    """How good is a subset? Parameters only; `bind` gives the scorer that knows the rows."""

    monotone: ClassVar[bool] = False
    """Adding a feature never lowers the score."""
    supports_weights: ClassVar[bool] = False
    """Masks may hold weights between 0 and 1."""
    predictive: ClassVar[bool] = False
    """`bind` gives a `PredictiveScorer`."""
    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")

    @abstractmethod
    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        """Bind to rows: scaling, imputation and discretisation learn from these rows alone."""


class Search(BaseEstimator, ABC):
    """Which subset next? Sees units and scores, never the rows."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the criterion must declare, such as "monotone"."""
    stochastic: ClassVar[bool] = False
    """Draws random numbers, and can be shortened."""
    supports_weights: ClassVar[bool] = False
    """Moves on weight grids too, not only on masks."""
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
        trace.done, trace.interrupted = True, False
        return trace


class Control(BaseEstimator, ABC):
    """When to stop believing it? Runs searches on parts of the rows and decides what to keep.

    A control nests: the one in its `control` parameter runs inside each of its own runs.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    """What the criterion must declare."""
    search_needs: ClassVar[frozenset[str]] = frozenset()
    """What the search must declare, such as "stochastic"."""
    control: Control | None = None

    @abstractmethod
    def run(
        self,
        criterion: Criterion,
        problem: Problem,
        search: Search,
        space: SearchSpace,
        rng: np.random.Generator,
        on_step: OnStep | None = None,
        *,
        resources: Resources,
        trace: Trace,
    ) -> Trace:
        """Run the method under this control."""


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


class Ranker(BaseEstimator, ABC):
    """How good is each feature?"""

    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")

    @abstractmethod
    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        """Rank the columns of these rows."""


# ---------------------------------------------------------------------------------------------------- space


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The subsets that a search may visit.

    A search moves in *states*: one value for each free unit. A unit is a column, or a group of columns that enter
    together. Forced columns are no units: `expand` adds those forced in and leaves out those forced out.

    Attributes
    ----------
    n_features : int
        Columns of the table.
    units : tuple of int arrays
        The columns of each free unit.
    base : bool array of shape (n_features,)
        Columns forced in.
    min_units, max_units : int
        How many free units a state may hold.
    levels : int
        Weights come from {0, 1/levels, …, 1}; 1 means masks.
    prices : array of shape (n_units,)
        Points of score that a unit must earn to be worth having.
    start : array of shape (n_units,), optional
        Where the search begins, if not where it would by itself.
    """

    n_features: int
    units: tuple[IntArray, ...]
    base: BoolArray
    min_units: int
    max_units: int
    levels: int = 1
    prices: FloatArray = field(default_factory=lambda: np.zeros(0))
    start: NDArray[Any] | None = None

    @classmethod
    def of(
        cls,
        n_features: int,
        *,
        sizes: tuple[int, int] | None = None,
        include: Sequence[int] = (),
        exclude: Sequence[int] = (),
        groups: Sequence[Sequence[int]] = (),
        prices: FloatArray | None = None,
        levels: int = 1,
    ) -> SearchSpace:
        """Lay out a space; `sizes` counts units, a group as one, with those forced in.

        Examples
        --------
        >>> space = SearchSpace.of(5, include=[0], groups=[[1, 2]])
        >>> [unit.tolist() for unit in space.units]
        [[1, 2], [3], [4]]
        >>> space.expand(np.array([[True, False, False]])).astype(int)
        array([[1, 1, 1, 0, 0]])
        """
        price = np.zeros(n_features) if prices is None else np.asarray(prices, dtype=np.float64)
        grouped = {column for group in groups for column in group}
        blocks = sorted([sorted(group) for group in groups] + [[i] for i in range(n_features) if i not in grouped])
        inside, outside = set(include), set(exclude)
        forced = [block for block in blocks if inside.intersection(block)]
        free = [block for block in blocks if not inside.intersection(block) and not outside.intersection(block)]
        base = np.zeros(n_features, dtype=bool)
        for block in forced:
            base[block] = True
        low, high = (1, n_features) if sizes is None else sizes
        return cls(
            n_features=n_features,
            units=tuple(np.array(block, dtype=np.int64) for block in free),
            base=base,
            min_units=max(low - len(forced), 0),
            max_units=min(max(high - len(forced), 0), len(free)),
            levels=levels,
            prices=np.array([price[block].sum() for block in free]),
        )

    @property
    def n_units(self) -> int:
        """How many units are free to enter."""
        return len(self.units)

    @property
    def dtype(self) -> type:
        """What a state is made of."""
        return bool if self.levels == 1 else float

    @cached_property
    def _owner(self) -> IntArray:
        owner = np.full(self.n_features, -1, dtype=np.int64)
        for number, unit in enumerate(self.units):
            owner[unit] = number
        return owner

    @cached_property
    def _first_columns(self) -> IntArray:
        return np.array([unit[0] for unit in self.units], dtype=np.int64)

    @cached_property
    def is_plain(self) -> bool:
        """Every column is a unit of its own, none forced: a state is a mask."""
        return bool(np.array_equal(self._owner, np.arange(self.n_features)))

    @cached_property
    def has_prices(self) -> bool:
        """Some unit costs something."""
        return bool(np.any(self.prices))

    def expand(self, states: NDArray[Any]) -> Masks:
        """Turn (m, n_units) states into (m, n_features) masks."""
        if self.is_plain:
            return states
        masks = np.zeros((len(states), self.n_features), dtype=states.dtype)
        columns = self._owner >= 0
        masks[:, columns] = states[:, self._owner[columns]]
        masks[:, self.base] = 1
        return masks

    def shrink(self, mask: Masks) -> NDArray[Any]:
        """Turn a mask back into a state: the value of each unit's first column."""
        return mask[self._first_columns].astype(self.dtype)

    def allows(self, states: NDArray[Any]) -> BoolArray:
        """Say which states have an allowed size."""
        sizes = np.count_nonzero(states, axis=-1)
        return np.asarray((sizes >= self.min_units) & (sizes <= self.max_units))

    def price(self, states: NDArray[Any]) -> FloatArray:
        """Sum the prices of the units in each state."""
        return np.asarray((states != 0) @ self.prices)

    def objective(self, scores: FloatArray, states: NDArray[Any]) -> FloatArray:
        """Take the price off the score, and drop digits that only the order of summation wrote."""
        return round_scores(scores - self.price(states) if self.has_prices else scores)

    def empty(self) -> NDArray[Any]:
        """Return the state without any unit."""
        return np.zeros(self.n_units, dtype=self.dtype)

    def full(self) -> NDArray[Any]:
        """Return the state with every unit."""
        return np.ones(self.n_units, dtype=self.dtype)

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a state: every value of every unit equally likely, then repaired to an allowed size."""
        state: NDArray[Any] = (rng.integers(0, self.levels + 1, self.n_units) / self.levels).astype(self.dtype)
        order = rng.permutation(self.n_units)
        on, off = order[state[order] != 0], order[state[order] == 0]
        if len(on) > self.max_units:
            state[on[self.max_units :]] = 0
        elif len(on) < self.min_units:
            state[off[: self.min_units - len(on)]] = 1
        return state

    def without(self, columns: BoolArray) -> SearchSpace:
        """Return the space without the units that lie wholly in these columns."""
        kept = [i for i, unit in enumerate(self.units) if not columns[unit].all()]
        if len(kept) == self.n_units:
            return self
        if len(kept) < self.min_units:
            raise InputError(
                f"{self.min_units} features are asked for beside those forced in, but only {len(kept)} can vary: "
                f"ask for at most {len(kept)}."
            )
        return replace(
            self,
            units=tuple(self.units[i] for i in kept),
            max_units=min(self.max_units, len(kept)),
            prices=self.prices[kept],
            start=None if self.start is None else self.start[kept],
        )


def round_scores(scores: FloatArray) -> FloatArray:
    """Round to 40 significant bits (12 digits), so that equal scores are equal whatever the order of sums."""
    mantissa, exponent = np.frexp(scores)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)


# ------------------------------------------------------------------------------------------------ methods

_WHY = {
    "monotone": "a criterion that never falls when a feature is added",
    "weights": "a criterion that takes weights, not only masks",
    "predictive": "a criterion that predicts rows",
    "stochastic": "a stochastic search, which can be shortened",
}


def refuse_unmet_needs(
    criterion: Criterion, search: Search, control: Control | None, space: SearchSpace, problem: Problem
) -> None:
    """Raise one clear sentence if these components cannot work together."""
    names = [type(component).__name__ for component in (criterion, search)]
    if problem.task not in criterion.tasks:
        raise IncompatibleError(
            f"{names[0]} works for {' and '.join(criterion.tasks)}, but the target is for {problem.task}."
        )
    for need in sorted(search.needs):
        if not getattr(criterion, need):
            raise IncompatibleError(f"{names[1]} needs {_WHY[need]}, and {names[0]} is not {need}.")
    if space.levels > 1 and not criterion.supports_weights:
        raise IncompatibleError(f"Weighting needs {_WHY['weights']}, and {names[0]} takes masks only.")
    if space.levels > 1 and not search.supports_weights:
        raise IncompatibleError(f"{names[1]} moves on masks only, so it cannot search weights.")
    while control is not None:
        name = type(control).__name__
        for need in sorted(control.needs):
            if not getattr(criterion, need):
                raise IncompatibleError(f"{name} needs {_WHY[need]}, and {names[0]} is not {need}.")
        for need in sorted(control.search_needs):
            if not getattr(search, need):
                raise IncompatibleError(f"{name} needs {_WHY[need]}, and {names[1]} is not {need}.")
        control = control.control
