"""What searches with a population share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import SearchSpace


def repair(states: NDArray[Any], space: SearchSpace, rng: np.random.Generator) -> NDArray[Any]:
    """Switch random units until every state has an allowed size; units switched on get a random weight above 0.

    Examples
    --------
    >>> space = SearchSpace.of(4, sizes=(2, 3))
    >>> states = np.array([[True] * 4, [False] * 4])
    >>> repair(states, space, np.random.default_rng(0)).sum(axis=1).tolist()
    [3, 2]
    """
    for row in np.flatnonzero(~space.allows(states)):
        order = rng.permutation(space.n_units)
        on, off = order[states[row, order] != 0], order[states[row, order] == 0]
        states[row, on[space.max_units :]] = 0
        missing = off[: max(space.min_units - len(on), 0)]
        states[row, missing] = rng.integers(1, space.weight_levels + 1, len(missing)) / space.weight_levels
    return states
