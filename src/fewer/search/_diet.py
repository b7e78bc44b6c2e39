"""DIET: weights that move one level at a time (Kohavi, Langley and Yun 1997; Loughrey, chapter 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Objective, Search, SearchSpace
from fewer.contracts.declaring import parameters
from fewer.contracts.trace import Step
from fewer.search._sequential import MinGain


@parameters
class DIET(Search):
    """All weights start in the middle; the best move of one weight to the next level is made while it helps.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    min_gain : float, default=0.0
        A move must raise the score by more than this.

    Notes
    -----
    The middle of an even number of levels is 1/2; of an odd number, the level above it. With one level (masks) it is
    backward elimination that may also add.

    References
    ----------
    R. Kohavi, P. Langley and Y. Yun, The utility of feature weighting in nearest-neighbor algorithms, ECML (1997).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.FeatureWeighter(search=DIET(), random_state=0).fit(X, y).weights_
    array([0.5 , 0.25, 0.5 , 0.5 ])
    """

    command_name = "diet"
    supports_weights: ClassVar[bool] = True

    min_gain: MinGain = 0.0

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        # Move to the best neighbor while it is better.
        levels = space.weight_levels
        if not state:
            weights = middle(space) if space.start is None else space.start.copy()
            state.update(weights=weights, score=float(scorer.score(weights[None])[0]))
            yield Step(weights, state["score"], weights, state["score"])
        while True:
            weights = state["weights"]
            level = np.rint(weights * levels).astype(np.int64)
            units = np.concatenate([np.arange(space.n_units)] * 2)
            moved = np.concatenate([level - 1, level + 1])
            on_grid = (moved >= 0) & (moved <= levels)
            units = units[on_grid]
            values: NDArray[Any] = (moved[on_grid] / levels).astype(space.dtype)
            size = np.count_nonzero(weights) + (values != 0).astype(np.int64) - (weights[units] != 0)
            allowed = (size >= space.min_units) & (size <= space.max_units)
            units, values = units[allowed], values[allowed]
            scores = scorer.flips(weights, units, values)
            if not len(scores) or not scores.max() > state["score"] + self.min_gain:
                return
            # Of equally good moves the one to the smaller weight, then of the earlier feature.
            best = np.lexsort((units, values - weights[units].astype(np.float64), -scores))[0]
            weights = weights.copy()
            weights[units[best]] = values[best]
            state.update(weights=weights, score=float(scores[best]))
            yield Step(weights, state["score"], weights, state["score"])


def middle(space: SearchSpace) -> Any:
    """Return every unit the middle weight; the last ones 0 if so many are not allowed."""
    state = space.empty()
    state[: space.max_units] = ((space.weight_levels + 1) // 2) / space.weight_levels
    return state
