"""The subsets that a search may visit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fewer.problem import BoolArray, FloatArray, InputError, IntArray

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
            space.__dict__.update(_owner=columns, _first_columns=columns, is_plain=True)
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
    def _owner(self) -> IntArray:
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
        return bool(np.array_equal(self._owner, np.arange(self.n_features)))

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
        columns = self._owner >= 0
        masks[:, columns] = states[:, self._owner[columns]]
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
        state: NDArray[Any] = (rng.integers(0, self.weight_levels + 1, self.n_units) / self.weight_levels).astype(
            self.dtype
        )
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


MOST_REMEMBERED = 20_000
"""Columns up to which the units of a plain space are made once and not again for each run."""


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
