"""Plus l, take away r (Nel, section 3; Stearns 1976)."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from fewer.contracts import Objective, Search, SearchSpace
from fewer.problem import InputError
from fewer.trace import Step, is_better


class PlusLTakeAwayR(Search):
    """Add the best units l times, take the worst away r times, and so on.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    l : int, default=2
    r : int, default=1
        With l > r the search climbs from the empty set, with l < r it starts full and first takes away.

    Notes
    -----
    The search ends when a round leaves it at the far end of the sizes asked for or has met the last unit, and answers
    with the best allowed subset on the way, the smallest among equals.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), PlusLTakeAwayR(3, 2), random_state=0).fit(X, y)
    >>> round(selector.score_, 3)
    0.989
    """

    command_name = "plus-l-take-away-r"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "l": [Interval(Integral, 0, None, closed="left")],
        "r": [Interval(Integral, 0, None, closed="left")],
    }
    ordered: ClassVar[bool] = True

    def __init__(self, l: int = 2, r: int = 1) -> None:  # noqa: E741 - the algorithm's own letters
        self.l = l
        self.r = r

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        # Make one move after the other.
        if self.l == self.r:
            raise InputError(f"l={self.l} and r={self.r}: give two different numbers.")
        climbing = self.l > self.r
        if not state:
            mask = (space.empty() if climbing else space.full()) if space.start is None else space.start.astype(bool)
            score = float(scorer.score(mask[None])[0])
            state.update(mask=mask, score=score, best=mask, best_score=score, move=0, end_met=False)
            yield Step(mask, score, mask, score)
        while not self._is_over(state, space, climbing):
            place = state["move"] % (self.l + self.r)
            adding = place < self.l if climbing else place >= self.r
            state["move"] += 1
            if self._move(scorer, state, space, adding):
                yield Step(state["mask"], state["score"], state["best"], state["best_score"])

    def _move(self, scorer: Objective, state: dict[str, Any], space: SearchSpace, adding: bool) -> bool:
        """Make the best move in one direction, if there is any."""
        units = np.flatnonzero(~state["mask"] if adding else state["mask"])
        if not len(units):
            return False
        choice, score = scorer.best_flip(state["mask"], units)
        mask = state["mask"].copy()
        mask[units[choice]] = adding
        state.update(mask=mask, score=score)
        if space.allows(mask) and (
            not space.allows(state["best"]) or is_better(score, mask, state["best_score"], state["best"])
        ):
            state.update(best=mask, best_score=score)
        return True

    def _is_over(self, state: dict[str, Any], space: SearchSpace, climbing: bool) -> bool:
        size = int(state["mask"].sum())
        state["end_met"] = state["end_met"] or size == (space.n_units if climbing else 0)
        if state["move"] % (self.l + self.r):
            return False
        if state["end_met"]:
            return True
        return bool(space.allows(state["best"])) and (size >= space.max_units if climbing else size <= space.min_units)
