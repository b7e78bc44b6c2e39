"""The subsets that a search may visit, and a criterion bound to rows, which scores them.

Scores come one by one, around one subset, along a walk, or all of them. `Objective` is how a search sees a scorer:
units instead of columns, prices, ties, counting, memory.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from fewer.contracts.trace import Trace, best_first
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.text import NoteKind

Masks = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The subsets that a search may visit.

    A search moves in *states*: one value for each free unit. A unit is a column, or a group of columns that enter
    together. Forced columns are no units: `expand` adds those forced in and leaves out those forced out.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    units : tuple of int arrays
        The columns of each free unit.
    base : bool array of shape (n_features,)
        Columns forced in.
    min_units, max_units : int
        How many free units a state may hold.
    weight_levels : int
        Weights come from {0, 1/weight_levels, …, 1}; 1 means masks.
    prices : array of shape (n_units,)
        Points of score that a unit must earn to be worth having.
    start : array of shape (n_units,), optional
        Where the search begins, if not where it would by itself.
    n_forced : int
        How many units are forced in: columns, or groups of them.

    See Also
    --------
    SearchSpace.of : Lay one out from what is forced in or out, grouped and priced.

    Examples
    --------
    >>> space = SearchSpace.of(4, sizes=(1, 2), exclude=[3])
    >>> space.n_units, space.max_units, space.allows(np.array([[True, True, True], [True, False, False]])).tolist()
    (3, 2, [False, True])
    """

    n_features: int
    units: tuple[IntArray, ...]
    base: BoolArray
    min_units: int
    max_units: int
    weight_levels: int = 1
    prices: FloatArray = field(default_factory=lambda: np.zeros(0))
    start: NDArray[Any] | None = None
    n_forced: int = 0

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
        weight_levels: int = 1,
    ) -> SearchSpace:
        """Lay out a space; `sizes` counts units, a group as one, with those forced in.

        Parameters
        ----------
        n_features : int
            Columns of the table.
        sizes : (int, int), optional
            The fewest and the most units; 1 to all by default.
        include, exclude : sequence of int
            Columns forced in and out; a group follows any of its columns.
        groups : sequence of sequences of int
            Columns that enter together.
        prices : array of shape (n_features,), optional
            What each column must earn.
        weight_levels : int, default=1
            How many weights there are above 0; 1 means masks.

        Returns
        -------
        SearchSpace
            The space.

        Examples
        --------
        >>> space = SearchSpace.of(5, include=[0], groups=[[1, 2]])
        >>> [unit.tolist() for unit in space.units]
        [[1, 2], [3], [4]]
        >>> space.expand(np.array([[True, False, False]])).astype(int)
        array([[1, 1, 1, 0, 0]])
        """
        price = np.zeros(n_features) if prices is None else np.asarray(prices, dtype=np.float64)
        low, high = (1, n_features) if sizes is None else sizes
        if not (include or exclude or groups):
            if n_features <= MOST_REMEMBERED:
                columns, units = _single_units(n_features)
            else:  # rows of an array, which are made when asked for
                columns = np.arange(n_features)
                units = cast("tuple[IntArray, ...]", columns[:, None])
            space = cls(
                n_features=n_features,
                units=units,
                base=np.zeros(n_features, dtype=bool),
                min_units=max(low, 0),
                max_units=min(max(high, 0), n_features),
                weight_levels=weight_levels,
                prices=price.copy(),
            )
            # Known without a loop over the columns, of which there may be very many.
            space.__dict__.update(owner=columns, _first_columns=columns, is_plain=True, has_prices=bool(price.any()))
            space.__dict__["single_columns"] = columns if weight_levels == 1 else None
            return space
        grouped = {column for group in groups for column in group}
        blocks = sorted([sorted(group) for group in groups] + [[i] for i in range(n_features) if i not in grouped])
        inside, outside = set(include), set(exclude)
        forced = [block for block in blocks if inside.intersection(block)]
        free = [block for block in blocks if not inside.intersection(block) and not outside.intersection(block)]
        base = np.zeros(n_features, dtype=bool)
        for block in forced:
            base[block] = True
        return cls(
            n_features=n_features,
            units=tuple(np.array(block, dtype=np.int64) for block in free),
            base=base,
            min_units=max(low - len(forced), 0),
            max_units=min(max(high - len(forced), 0), len(free)),
            weight_levels=weight_levels,
            prices=np.array([price[block].sum() for block in free]) if price.any() else np.zeros(len(free)),
            n_forced=len(forced),
        )

    @property
    def n_units(self) -> int:
        """How many units are free to enter."""
        return len(self.units)

    @property
    def dtype(self) -> type:
        """What a state is made of."""
        return bool if self.weight_levels == 1 else float

    @cached_property
    def owner(self) -> IntArray:
        """The free unit of each column, −1 for those that are forced in or left out."""
        owner = np.full(self.n_features, -1, dtype=np.int64)
        if self.n_units:
            owner[np.concatenate(self.units)] = np.repeat(np.arange(self.n_units), [len(unit) for unit in self.units])
        return owner

    @cached_property
    def _first_columns(self) -> IntArray:
        return np.array([unit[0] for unit in self.units], dtype=np.int64)

    @cached_property
    def is_plain(self) -> bool:
        """Every column is a unit of its own, none forced: a state is a mask."""
        return bool(np.array_equal(self.owner, np.arange(self.n_features)))

    @cached_property
    def single_columns(self) -> IntArray | None:
        """The column of each unit, where states are masks and every unit is one column."""
        single = self.weight_levels == 1 and all(len(unit) == 1 for unit in self.units)
        return self._first_columns if single else None

    @cached_property
    def has_prices(self) -> bool:
        """Whether any unit has a cost."""
        return bool(np.any(self.prices))

    def expand(self, states: NDArray[Any]) -> Masks:
        """Turn (m, n_units) states into (m, n_features) masks.

        Parameters
        ----------
        states : array of shape (m, n_units)
            The states.

        Returns
        -------
        array of shape (m, n_features)
            The masks, with what is forced in.
        """
        if self.is_plain:
            return states
        masks = np.zeros((len(states), self.n_features), dtype=states.dtype)
        columns = self.owner >= 0
        masks[:, columns] = states[:, self.owner[columns]]
        masks[:, self.base] = 1
        return masks

    def shrink(self, mask: Masks) -> NDArray[Any]:
        """Turn a mask back into a state: the value of each unit's first column.

        Parameters
        ----------
        mask : array of shape (n_features,)
            A mask over all columns.

        Returns
        -------
        array of shape (n_units,)
            The state.
        """
        return mask[self._first_columns].astype(self.dtype)

    def allows(self, states: NDArray[Any]) -> BoolArray:
        """Say which states have an allowed size.

        Parameters
        ----------
        states : array of shape (m, n_units)
            The states.

        Returns
        -------
        bool array of shape (m,)
            True where the number of units is allowed.
        """
        sizes = np.count_nonzero(states, axis=-1)
        return np.asarray((sizes >= self.min_units) & (sizes <= self.max_units))

    def price(self, states: NDArray[Any]) -> FloatArray:
        """Sum the prices of the units in each state.

        Parameters
        ----------
        states : array of shape (m, n_units)
            The states.

        Returns
        -------
        array of shape (m,)
            Points of score.
        """
        return np.asarray((states != 0) @ self.prices)

    def objective(self, scores: FloatArray, states: NDArray[Any]) -> FloatArray:
        """Take the price off the score, and drop digits that only the order of summation wrote.

        Parameters
        ----------
        scores : array of shape (m,)
            What the criterion says.
        states : array of shape (m, n_units)
            The states that were scored.

        Returns
        -------
        array of shape (m,)
            What the search compares.
        """
        return round_scores(scores - self.price(states) if self.has_prices else scores)

    def empty(self) -> NDArray[Any]:
        """Return the state without any unit.

        Returns
        -------
        array of shape (n_units,)
            Zeros.
        """
        return np.zeros(self.n_units, dtype=self.dtype)

    def full(self) -> NDArray[Any]:
        """Return the state with every unit.

        Returns
        -------
        array of shape (n_units,)
            Ones.
        """
        return np.ones(self.n_units, dtype=self.dtype)

    def random(self, rng: np.random.Generator) -> NDArray[Any]:
        """Draw a state: every value of every unit equally likely, then repaired to an allowed size.

        Parameters
        ----------
        rng : Generator
            Draws the state.

        Returns
        -------
        array of shape (n_units,)
            A state of an allowed size.
        """
        levels = rng.integers(0, self.weight_levels + 1, self.n_units)
        state: NDArray[Any] = (levels / self.weight_levels).astype(self.dtype)
        order = rng.permutation(self.n_units)
        on, off = order[state[order] != 0], order[state[order] == 0]
        if len(on) > self.max_units:
            state[on[self.max_units :]] = 0
        elif len(on) < self.min_units:
            state[off[: self.min_units - len(on)]] = 1
        return state

    def without(self, columns: BoolArray) -> SearchSpace:
        """Return the space without the units that lie wholly in these columns.

        Parameters
        ----------
        columns : bool array of shape (n_features,)
            Columns that may not enter.

        Returns
        -------
        SearchSpace
            This one if nothing changes.
        """
        if not columns.any():
            return self
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


# Columns up to which the units of a plain space are made once and not again for each run.
MOST_REMEMBERED = 20_000


@lru_cache(maxsize=8)
def _single_units(n_features: int) -> tuple[IntArray, tuple[IntArray, ...]]:
    """Return all columns, and a unit for each."""
    columns = np.arange(n_features)
    return columns, tuple(columns[:, None])


def round_scores(scores: FloatArray) -> FloatArray:
    """Round to 40 significant bits (12 digits), so that equal scores are equal whatever the order of sums.

    Parameters
    ----------
    scores : array
        Scores, or one score.

    Returns
    -------
    array
        The rounded scores.

    Examples
    --------
    >>> round_scores(np.array([0.1 + 0.2])) == round_scores(np.array([0.3]))
    array([ True])
    """
    mantissa, exponent = np.frexp(scores)
    with np.errstate(over="ignore"):  # the largest number may be rounded up to infinity
        return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)


class Walk(ABC):
    """A cursor on one subset that tries one change at a time.

    See Also
    --------
    Scorer.walk : Start a walk.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> scorer = KNN(1, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    >>> walk = scorer.walk(np.array([True, True]), [np.array([0]), np.array([1])])
    >>> walk.propose(1, 0)
    1.0
    >>> walk.accept()
    """

    @abstractmethod
    def propose(self, unit: int, value: float) -> float:
        """Score the subset with one unit set to a value (0 or 1, or a weight).

        Parameters
        ----------
        unit : int
            Which unit changes.
        value : float
            What it becomes.

        Returns
        -------
        float
            The score with the change; the walk stays where it is until `accept`.
        """

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

        Parameters
        ----------
        moves : Moves
            What to try, in order.
        state : array of shape (n_units,)
            Where the walk stands.
        score : float
            The rounded score there.
        space : SearchSpace
            Says which changes are allowed.
        most : int
            How many changes may be accepted.

        Returns
        -------
        MovesResult
            How far it went.
        """
        return MovesResult(0, np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True, eq=False)
class Moves:
    """Changes to try in a row: a unit, how many weight levels it goes on (in a circle), how far the score may fall.

    Parameters
    ----------
    units : int array
        The unit that each change is about.
    shifts : int array
        How many weight levels the unit goes on; 1 switches a mask's bit.
    slack : array
        How far the score may fall for the change to be accepted.

    Examples
    --------
    >>> moves = Moves(np.array([2, 0, 1]), np.ones(3, dtype=np.int64), np.zeros(3))
    >>> len(moves), moves[:2].units
    (3, array([2, 0]))
    """

    units: IntArray
    shifts: IntArray
    slack: FloatArray

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, places: slice) -> Moves:
        return Moves(self.units[places], self.shifts[places], self.slack[places])


@dataclass(frozen=True, eq=False)
class MovesResult:
    """How many changes were tried, which of them were accepted, and the rounded score after each of these.

    Parameters
    ----------
    n_tried : int
        How many changes were tried.
    accepted : int array
        The places in `Moves` of those that were accepted.
    scores : array
        The rounded score after each of them.

    Examples
    --------
    >>> MovesResult(n_tried=3, accepted=np.array([1]), scores=np.array([0.8])).n_tried
    3
    """

    n_tried: int
    accepted: IntArray
    scores: FloatArray


@dataclass(frozen=True, eq=False)
class Sweep:
    """The best subsets of a range of subset numbers, best first, and how many were allowed.

    Parameters
    ----------
    states : array of shape (n, n_units)
        The best subsets, best first.
    scores : array of shape (n,)
        Their scores.
    n_evaluated : int
        How many subsets of the range were allowed.
    n_undefined : int, default=0
        How many of them could not be scored (NaN).

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> scorer = KNN(1, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    >>> found = scorer.sweep(SearchSpace.of(2), 0, 4, top=1)
    >>> found.states.tolist(), found.scores.tolist(), found.n_evaluated
    ([[True, False]], [1.0], 3)
    """

    states: NDArray[Any]
    scores: FloatArray
    n_evaluated: int
    n_undefined: int = 0
    """How many of them could not be scored (NaN)."""


class Scorer(ABC):
    """A criterion bound to rows: scores for masks over all p columns, higher is better, always.

    Only `score` must be written. It must be stateless and score the empty mask too. NaN stands for a subset that could
    not be scored: no search prefers it to one that could.

    Read more in the guide: :doc:`/guide/own-components`.

    See Also
    --------
    Criterion : How to write one.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> scorer = KNN(1, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    >>> scorer.score(np.array([[True, False], [False, True]])).tolist()
    [1.0, 0.0]
    """

    abandons: ClassVar[bool] = False
    """`sweep` gives subsets up early if it knows the score that they must reach."""
    sweep_limit: int = 1 << 30
    """How many subsets a search of all of them may have, unless set otherwise."""
    failure: str = ""
    """Why the first subset that could not be scored failed, where that is known."""

    @property
    def notes(self) -> list[str]:
        """What a reader of the result should know of these rows, in sentences."""
        return []

    @abstractmethod
    def score(self, masks: Masks) -> FloatArray:
        """Score an (m, p) array of masks (bool) or weights (float): m numbers.

        Parameters
        ----------
        masks : array of shape (m, n_features)
            Booleans, or weights between 0 and 1 if the criterion takes them.

        Returns
        -------
        array of shape (m,)
            A score for each mask, higher is better; NaN where there is none.
        """

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score the masks that differ from one mask in one unit: unit u set to `values[u]`.

        Parameters
        ----------
        mask : array of shape (n_features,)
            The subset in the middle.
        units : sequence of int arrays
            The columns of each unit to change.
        values : array
            What each of these units becomes.

        Returns
        -------
        array of shape (len(units),)
            A score for each change.
        """
        masks = np.repeat(mask[None, :], len(units), axis=0)
        for row, unit, value in zip(masks, units, values, strict=True):
            row[unit] = value
        return self.score(masks)

    def best_flip(self, mask: Masks, columns: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Find the best of some columns to switch without scoring all of them, where the criterion can.

        Parameters
        ----------
        mask : bool array of shape (n_features,)
            The subset in the middle.
        columns : int array
            Columns that may be switched.

        Returns
        -------
        places : int array
            Columns that were scored, as places in `columns`, in order: every one whose score may be the highest.
        scores : array
            The scores with each of them switched. None instead of the two: score them all with `flips`.
        """
        return None

    @property
    def n_parts(self) -> int:
        """How many splits `examine` can work on; 0 where it knows all rows only."""
        return 0

    def examine(self, mask: Masks, part: int | None = None, importance: Any = "auto") -> tuple[FloatArray, float]:
        """Fit the criterion's own model on a subset, if it has one with importances.

        Parameters
        ----------
        mask : bool array of shape (n_features,)
            The subset.
        part : int, optional
            Fit to the training rows of this split; all rows if left out.
        importance : str or callable, default="auto"
            What importance is, as in `fewer.search.Elimination`.

        Returns
        -------
        importances : array of shape (n_features,)
            Zero for columns that are not in the subset.
        score : float
            On the test rows of the split; NaN for all rows.
        """
        raise NotImplementedError

    def walk(self, mask: Masks, units: Sequence[IntArray]) -> Walk:
        """Stand on one mask and try changes.

        Parameters
        ----------
        mask : array of shape (n_features,)
            Where the walk begins.
        units : sequence of int arrays
            The columns of each unit.

        Returns
        -------
        Walk
            Tries one change at a time.
        """
        return _ScoredWalk(self, mask, units)

    def sweep(self, space: SearchSpace, start: int, stop: int, top: int, floor: float = -np.inf) -> Sweep:
        """Score the subsets numbered start … stop−1 in Gray-code order and keep the best.

        Subset g holds the units whose bit is set in g ^ (g >> 1), so neighbors differ in one unit. Subsets whose
        objective is below the floor may be left out.

        Parameters
        ----------
        space : SearchSpace
            Units, allowed sizes and prices.
        start, stop : int
            The range of subset numbers.
        top : int
            How many subsets to keep.
        floor : float, optional
            The score that a subset must reach to count.

        Returns
        -------
        Sweep
            The best subsets of the range.
        """
        best = Sweep(np.zeros((0, space.n_units), dtype=bool), np.empty(0), 0)
        for low in range(start, stop, 4096):
            states = gray_states(np.arange(low, min(low + 4096, stop)), space.n_units)
            states = states[space.allows(states)]
            scores = space.objective(self.score(space.expand(states)), states)
            undefined = np.isnan(scores)
            scores = np.where(undefined, -np.inf, scores)
            best = best_of(best, Sweep(states, scores, len(states), int(undefined.sum())), top)
        return best


class PredictiveScorer(Scorer):
    """A scorer whose criterion predicts rows: class memberships (m, c), or numbers (m,) for regression.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> scorer = KNN(1, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    >>> scorer.predict(np.array([True, False]), np.array([[2.0, 5.0]])).argmax(axis=1)
    array([0])
    """

    def sweep_against(
        self, space: SearchSpace, start: int, stop: int, wrong: IntArray, allowed: IntArray
    ) -> Sweep | None:
        """Score a range of subsets in Gray-code order and keep those that compare well with another one row by row.

        Parameters
        ----------
        space : SearchSpace
            Units and allowed sizes.
        start, stop : int
            The range of subset numbers.
        wrong : int array
            The rows that the other subset predicts wrong.
        allowed : int array of shape (len(wrong) + 1,)
            How many of the other rows a subset may get wrong that gets c of these right, for each c.

        Returns
        -------
        Sweep or None
            All of them; None where only `outputs` can say it, or scores are not the share of rows that are right.
        """
        return None

    @abstractmethod
    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from the other folds.

        Parameters
        ----------
        mask : array of shape (n_features,)
            The subset.

        Returns
        -------
        array of shape (n_samples, n_classes) or (n_samples,)
            Class memberships, or numbers for regression.
        """

    @abstractmethod
    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows.

        Parameters
        ----------
        mask : array of shape (n_features,)
            The subset.
        X : array of shape (m, n_features)
            New rows, with all columns.

        Returns
        -------
        array of shape (m, n_classes) or (m,)
            Class memberships, or numbers for regression.
        """

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows in the criterion's own units: accuracy, or R² for regression.

        Parameters
        ----------
        outputs : array
            What `outputs` or `predict` returned.
        rows : Problem
            The rows that were predicted; their weights count.

        Returns
        -------
        float
            Higher is better.
        """
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
    """Return the subsets with these Gray-code numbers as masks.

    Parameters
    ----------
    numbers : int array of shape (m,)
        Places in Gray-code order.
    n_units : int
        How many units there are.

    Returns
    -------
    bool array of shape (m, n_units)
        One subset a row; neighbors differ in one unit.

    Examples
    --------
    >>> gray_states(np.arange(4), 2).astype(int).tolist()
    [[0, 0], [1, 0], [1, 1], [0, 1]]
    """
    codes = numbers ^ (numbers >> 1)
    return (codes[:, None] >> np.arange(n_units)) & 1 == 1


def best_of(one: Sweep, other: Sweep, top: int) -> Sweep:
    """Merge two sweeps.

    Parameters
    ----------
    one, other : Sweep
        Two ranges of subsets.
    top : int
        How many subsets to keep.

    Returns
    -------
    Sweep
        The best of both, and all that was evaluated.

    Examples
    --------
    >>> one = Sweep(np.array([[True, False]]), np.array([0.5]), 10)
    >>> other = Sweep(np.array([[False, True]]), np.array([0.7]), 12)
    >>> best = best_of(one, other, top=1)
    >>> best.scores.tolist(), best.n_evaluated
    ([0.7], 22)
    """
    states = np.concatenate([one.states, other.states])
    scores = np.concatenate([one.scores, other.scores])
    if len(scores) > 4 * top:
        good = scores >= np.partition(scores, -top)[-top]
        states, scores = states[good], scores[good]
    order = best_first(states, scores)[:top]
    n_evaluated, n_undefined = one.n_evaluated + other.n_evaluated, one.n_undefined + other.n_undefined
    return Sweep(states[order], scores[order], n_evaluated, n_undefined)


# Scores that an objective remembers.
MOST_KNOWN = 100_000


class Objective:
    """Scores the states of a space.

    Scores are what the criterion says, less the price of the units, rounded to 12 digits so that equal subsets
    tie. Every score asked for is counted and offered to the trace.

    Parameters
    ----------
    scorer : Scorer
        A criterion bound to rows.
    space : SearchSpace
        Units, allowed sizes and prices.
    problem : Problem, optional
        The rows, for searches that look at them.

    Attributes
    ----------
    trace : Trace
        Where scores are counted and offered.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> from fewer.problem import Problem
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> space = SearchSpace.of(2)
    >>> scorer = KNN(cv="loo").bind(problem, np.random.default_rng(0), Resources())
    >>> Objective(scorer, space).flips(space.empty()).tolist()
    [1.0, 0.0]
    """

    def __init__(self, scorer: Scorer, space: SearchSpace, problem: Problem | None = None) -> None:
        self.scorer, self.space, self._problem = scorer, space, problem
        self.trace = Trace(keep=0)  # which counts and keeps nothing, until another one is followed
        self._known: OrderedDict[bytes, float] = OrderedDict()

    @property
    def n_evaluations(self) -> int:
        """How many scores were asked for."""
        return self.trace.n_evaluations

    @property
    def problem(self) -> Problem:
        """The rows that the criterion is bound to, for searches that look at them."""
        if self._problem is None:
            raise InputError("This search looks at the rows; give them to Objective(scorer, space, problem).")
        return self._problem

    def note(self, text: str) -> None:
        """Add a note for the reader of the result, once.

        Parameters
        ----------
        text : str
            A sentence.
        """
        self.trace.note(text)

    def follow(self, trace: Trace) -> None:
        """Report to a trace from now on.

        Parameters
        ----------
        trace : Trace
            Where scores are counted and offered.
        """
        self.trace = trace
        for text in self.scorer.notes:
            trace.note(text)

    def refuse_undefined(self) -> None:
        """Refuse an answer that is none: not one subset of an allowed size could be scored."""
        if not self.trace.best_score > -np.inf:
            raise InputError(
                f"No subset could be scored ({self.trace.n_undefined} were tried){self._why()}. "
                "Score one subset by hand with the same estimator, metric and splits to see what fails."
            )

    def score(self, states: NDArray[Any]) -> FloatArray:
        """Score (m, n_units) states; a state met before is not computed again.

        Parameters
        ----------
        states : array of shape (m, n_units)
            The states.

        Returns
        -------
        array of shape (m,)
            A score for each, higher is better; minus infinity where there is none.
        """
        keys = [_key(state) for state in states]
        known = {key: self._known[key] for key in keys if key in self._known}
        new = {key: i for i, key in enumerate(keys) if key not in known}
        if new:
            fresh = states[list(new.values())]
            raw = self.space.objective(self.scorer.score(self.space.expand(fresh)), fresh)
            scored = dict(zip(new, self._defined(raw).tolist(), strict=True))
            known |= scored
            self._known |= scored
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        scores = np.array([known[key] for key in keys])
        self.trace.n_evaluations += len(scores)
        allowed = self.space.allows(states)
        if allowed.any():
            self.trace.offer(self.space.expand(states[allowed]), scores[allowed])
        return scores

    def flips(
        self, state: NDArray[Any], units: IntArray | None = None, values: NDArray[Any] | None = None
    ) -> FloatArray:
        """Score the states that differ in one of `units` (default all): switched, or set to `values`.

        Parameters
        ----------
        state : array of shape (n_units,)
            The state in the middle.
        units : int array, optional
            Units to change, one at a time.
        values : array, optional
            What each of them becomes.

        Returns
        -------
        array of shape (len(units),)
            A score for each change.
        """
        space = self.space
        units = np.arange(space.n_units) if units is None else units
        if values is None:
            values = (state[units] == 0).astype(state.dtype)
        if not len(units):
            return np.empty(0)
        mask = space.expand(state[None, :])[0]
        scores = self.scorer.flips(mask, [space.units[u] for u in units], values)
        if space.has_prices:
            change = (values != 0).astype(np.int64) - (state[units] != 0)
            scores = scores - (space.price(state[None]) + change * space.prices[units])
        scores = self._defined(round_scores(scores))
        self.trace.n_evaluations += len(scores)
        self._offer_changed(state, units, values, scores)
        return scores

    def best_flip(self, state: NDArray[Any], units: IntArray) -> tuple[int, float]:
        """Return the place of the best of `units` to switch, the first among equals, and the score with it switched.

        A criterion that can rule units out without scoring them does so; the trace is then offered the others.

        Parameters
        ----------
        state : array of shape (n_units,)
            The state in the middle.
        units : int array
            Units that may be switched.

        Returns
        -------
        place : int
            The best one's place in `units`.
        score : float
            The score with it switched.
        """
        columns = self.space.single_columns
        remaining = None
        if columns is not None and not self.space.has_prices and len(units):
            remaining = self.scorer.best_flip(self.space.expand(state[None, :])[0], columns[units])
        if remaining is None:
            places, scores = np.arange(len(units)), self.flips(state, units)
        else:
            places, scores = remaining[0], self._defined(round_scores(remaining[1]))
            self.trace.n_evaluations += len(units)
            self._offer_changed(state, units[places], ~state[units[places]], scores)
        choice = int(np.argmax(scores))
        return int(places[choice]), float(scores[choice])

    def examine(
        self, state: NDArray[Any], part: int | None = None, importance: Any = "auto"
    ) -> tuple[FloatArray, float]:
        """Return the importance of each unit to the criterion's own model and, of a split, its score.

        Parameters
        ----------
        state : array of shape (n_units,)
            The units that the model sees.
        part : int, optional
            A split of the criterion; all rows if left out.
        importance : str or callable, default="auto"
            What importance is, as in `fewer.search.Elimination`.

        Returns
        -------
        importances : array of shape (n_units,)
            Summed over the columns of a unit.
        score : float
            Less the price of the units; NaN for all rows.
        """
        arguments = () if importance == "auto" else (importance,)
        importances, score = self.scorer.examine(self.space.expand(state[None, :])[0], part, *arguments)
        self.trace.n_evaluations += 1
        if self.space.has_prices:
            score -= float(self.space.price(state[None])[0])
        return np.array([importances[unit].sum() for unit in self.space.units]), score

    def remember(self, n: int) -> None:
        """Ask the trace to keep at least a number of the best subsets.

        Parameters
        ----------
        n : int
            How many.
        """
        self.trace.keep = max(self.trace.keep, n)

    def walk(self, state: NDArray[Any]) -> ObjectiveWalk:
        """Stand on a state and try changes.

        Parameters
        ----------
        state : array of shape (n_units,)
            Where the walk begins.

        Returns
        -------
        ObjectiveWalk
            Tries one change at a time.
        """
        mask = self.space.expand(state[None, :])[0]
        return ObjectiveWalk(self, state, self.scorer.walk(mask, self.space.units))

    def sweep(self, start: int, stop: int, top: int, floor: float = -np.inf) -> Sweep:
        """Score the states numbered start … stop−1 in Gray-code order and return the best; the floor as in `Scorer`.

        Parameters
        ----------
        start, stop : int
            The range of state numbers.
        top : int
            How many states to keep.
        floor : float, optional
            The score that a state must reach to count.

        Returns
        -------
        Sweep
            The best states of the range.
        """
        result = self.scorer.sweep(self.space, start, stop, top, floor)
        self.trace.n_evaluations += result.n_evaluated
        self._count_undefined(result.n_undefined)
        if len(result.scores):
            self.trace.offer(self.space.expand(result.states), result.scores)
        return result

    def _defined(self, scores: FloatArray) -> FloatArray:
        """Put subsets that could not be scored (NaN) behind all others, so that none of them wins, and count them."""
        undefined = np.isnan(scores)
        if not undefined.any():
            return scores
        self._count_undefined(int(undefined.sum()))
        return np.where(undefined, -np.inf, scores)

    def _count_undefined(self, n: int) -> None:
        if n:
            self.trace.n_undefined += n
            text = f"Subsets skipped because they could not be scored: {self.trace.n_undefined}{self._why()}."
            self.trace.note(text, NoteKind.UNDEFINED)

    def _why(self) -> str:
        return f"; the first failed with {self.scorer.failure.rstrip('.')}" if self.scorer.failure else ""

    def _offer_changed(self, state: NDArray[Any], units: IntArray, values: NDArray[Any], scores: FloatArray) -> None:
        """Offer the trace the state with one of some units changed: of all that were scored the best few."""
        sizes = np.count_nonzero(state) + (values != 0).astype(np.int64) - (state[units] != 0)
        best = np.argsort(-scores, kind="stable")[: self.trace.keep]
        best = best[(sizes[best] >= self.space.min_units) & (sizes[best] <= self.space.max_units)]
        if len(best):
            states = np.repeat(state[None, :], len(best), axis=0)
            states[np.arange(len(best)), units[best]] = values[best]
            self.trace.offer(self.space.expand(states), scores[best])


class ObjectiveWalk(Walk):
    """A walk in units, with prices and rounded scores; a state met before is not computed again.

    Parameters
    ----------
    objective : Objective
        Counts, rounds and remembers the scores.
    state : array of shape (n_units,)
        Where the walk begins.
    walk : Walk
        The criterion's own walk.

    Attributes
    ----------
    n_tried : int
        How many changes the last `accepted_moves` tried.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> space = SearchSpace.of(2)
    >>> scorer = KNN(1, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    >>> walk = Objective(scorer, space).walk(space.full())
    >>> walk.propose(1, 0)
    1.0
    >>> walk.accept()
    >>> walk.state
    array([ True, False])
    """

    def __init__(self, objective: Objective, state: NDArray[Any], walk: Walk) -> None:
        self.state = state.copy()
        self._objective = objective
        self._walk = walk
        self._change = (0, 0.0)
        self._score = 0.0
        self._computed = False
        self.n_tried = 0

    def score(self) -> float:
        """Score the state at hand, by a move that changes nothing where the criterion makes moves by itself.

        Returns
        -------
        float
            The score.
        """
        nothing = np.zeros(1, dtype=np.int64)
        for score in self.accepted_moves(Moves(nothing, nothing, np.full(1, np.inf)), 0.0, 1):
            return score
        return float(self._objective.score(self.state[None])[0])

    def propose(self, unit: int, value: float) -> float:
        self._change = (unit, value)
        objective, old = self._objective, self.state[unit]
        self.state[unit] = value
        key = _key(self.state)
        known = objective._known.get(key)
        self._computed = known is None
        if known is None:
            score = np.array([self._walk.propose(unit, value)])
            if objective.space.has_prices:
                score -= objective.space.price(self.state[None])
            known = float(objective._defined(round_scores(score))[0])
            objective._known[key] = known
            if len(objective._known) > MOST_KNOWN:
                objective._known.popitem(last=False)
        self.state[unit] = old
        objective.trace.n_evaluations += 1
        self._score = known
        return known

    def accept(self) -> None:
        unit, value = self._change
        self.state[unit] = value
        if not self._computed:
            self._walk.propose(unit, value)
        self._walk.accept()
        self._note(self._score)

    def reject(self) -> None:
        if self._computed:
            self._walk.reject()

    def accepted_moves(self, moves: Moves, score: float, most: int) -> Iterator[float]:
        """Try changes in a row, as many as the criterion can do by itself.

        Afterwards `n_tried` says how many were tried.

        Parameters
        ----------
        moves : Moves
            What to try, in order.
        score : float
            The score of the state at hand.
        most : int
            How many changes may be accepted.

        Yields
        ------
        float
            The score after each accepted change.
        """
        space = self._objective.space
        self.n_tried = 0
        if space.has_prices or not space.n_units:
            return
        result = self._walk.run_moves(moves, self.state, score, space, most)
        self.n_tried = result.n_tried
        self._objective.trace.n_evaluations += result.n_tried
        units, shifts = moves.units[result.accepted].tolist(), moves.shifts[result.accepted].tolist()
        for unit, shift, new_score in zip(units, shifts, result.scores.tolist(), strict=True):
            self.state[unit] = moved_on(self.state.item(unit), shift, space.weight_levels)
            self._note(new_score)
            yield new_score

    def _note(self, score: float) -> None:
        trace, space = self._objective.trace, self._objective.space
        is_good = len(trace.top_scores) < trace.keep or (trace.keep and score > trace.top_scores[-1])
        if is_good and space.allows(self.state):
            trace.offer(space.expand(self.state[None].copy()), np.array([score]))


def moved_on(value: float, shift: int, levels: int) -> float:
    """Go on by some weight levels, around the circle 0, 1/levels, …, 1.

    Parameters
    ----------
    value : float
        A weight on the circle.
    shift : int
        How many levels to go on.
    levels : int
        How many levels there are above 0.

    Returns
    -------
    float
        The weight after that.

    Examples
    --------
    >>> moved_on(0.75, 2, 4), moved_on(1.0, 1, 1)
    (0.0, 0.0)
    """
    return ((round(value * levels) + shift) % (levels + 1)) / levels


def _key(state: NDArray[Any]) -> bytes:
    """Name a state: by its bytes, or by a digest of them where they are many."""
    name = state.tobytes()
    return name if len(name) <= 256 else hashlib.blake2b(name, digest_size=16).digest()
