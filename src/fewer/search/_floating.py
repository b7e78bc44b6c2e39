"""Sequential floating search (Pudil, Novovičová and Kittler, Pattern Recognition Letters 15, 1994)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from fewer.contracts import Objective, Search, SearchSpace
from fewer.problem import BoolArray
from fewer.trace import Step, is_better


class Floating(Search):
    """SFFS and SBFS: after each step in the search's direction, step back for as long as that beats the record.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    direction : {"forward", "backward"}, default="forward"
        Forward adds the best unit, then drops units while the smaller subset is better than the best of that size
        found so far (SFFS); backward is the mirror image (SBFS).
    overshoot : int, default=3
        How many sizes past the target the search goes on, since floating back from there may still improve the
        target. The target is the size asked for or, where sizes are free, the best size so far.
    exhaust : int, default=1
        Forward only: all subsets of up to so many units are scored before it goes on one by one from the best of them.
        2 finds pairs that say nothing alone, such as the two of an exclusive or.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), Floating(), random_state=0).fit(X, y)
    >>> round(selector.trace_.best_score, 3)
    0.989
    """

    command_name = "floating"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions({"forward", "backward"})],
        "overshoot": [Interval(Integral, 0, None, closed="left")],
        "exhaust": [Interval(Integral, 1, None, closed="left")],
    }
    ordered: ClassVar[bool] = True

    def __init__(
        self, direction: Literal["forward", "backward"] = "forward", overshoot: int = 3, exhaust: int = 1
    ) -> None:
        self.direction = direction
        self.overshoot = overshoot
        self.exhaust = exhaust

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        # Alternate inclusion and conditional exclusion (or the reverse).
        forward = self.direction == "forward"
        if not state:
            mask = (space.empty() if forward else space.full()) if space.start is None else space.start.astype(bool)
            score = float(scorer.score(mask[None])[0])
            records = np.full(space.n_units + 1, -np.inf)
            records[int(mask.sum())] = score
            phase = "exhaust" if forward and self.exhaust > 1 and not mask.any() else "advance"
            state.update(mask=mask, score=score, best=mask, best_score=score, records=records, phase=phase, last=-1)
            yield Step(mask, score, mask, score)
        while state["phase"] == "exhaust":
            size = int(state["mask"].sum()) + 1
            if size > min(self.exhaust, space.max_units):
                state["phase"] = "advance"
                break
            self._arrive(*best_of_size(scorer, space, size), state, space)
            yield Step(state["mask"], state["score"], state["best"], state["best_score"])
        while state["phase"] != "end":
            advancing = state["phase"] == "advance"
            if advancing and self._is_over(state, space, forward):
                state["phase"] = "end"
                return
            self._move(scorer, state, space, adding=advancing == forward, conditional=not advancing)
            yield Step(state["mask"], state["score"], state["best"], state["best_score"])

    def _move(
        self, scorer: Objective, state: dict[str, Any], space: SearchSpace, adding: bool, conditional: bool
    ) -> None:
        """Make the best move; a conditional one only if it beats the record of the size that it leads to."""
        mask, records = state["mask"], state["records"]
        units = np.flatnonzero(~mask if adding else mask)
        size = int(mask.sum()) + (1 if adding else -1)
        if conditional and not 2 <= size <= space.n_units - 2:
            state["phase"] = "advance"
            return
        choice, score = scorer.best_flip(mask, units)
        unit = int(units[choice])
        if conditional and (score <= records[size] or unit == state["last"]):
            state["phase"] = "advance"
            return
        mask = mask.copy()
        mask[unit] = adding
        state.update(phase="retreat", last=-1 if conditional else unit)
        self._arrive(mask, score, state, space)

    def _arrive(self, mask: BoolArray, score: float, state: dict[str, Any], space: SearchSpace) -> None:
        """Stand on a subset; keep it if it is the best of its size, or of all."""
        records, size = state["records"], int(mask.sum())
        records[size] = max(records[size], score)
        state.update(mask=mask, score=score)
        if space.allows(mask) and (
            not space.allows(state["best"]) or is_better(score, mask, state["best_score"], state["best"])
        ):
            state.update(best=mask, best_score=score)

    def _is_over(self, state: dict[str, Any], space: SearchSpace, forward: bool) -> bool:
        size = int(state["mask"].sum())
        if size == (space.n_units if forward else 0):
            return True
        if not space.allows(state["best"]) or state["best_score"] == -np.inf:
            return False
        target = int(state["best"].sum())
        return size >= target + self.overshoot if forward else size <= max(target - self.overshoot, 0)


def best_of_size(scorer: Objective, space: SearchSpace, size: int) -> tuple[BoolArray, float]:
    """Score all subsets of one size, each as one unit more than a smaller one; of equals the first columns win."""
    best, best_score = space.empty(), -np.inf
    for others in combinations(range(space.n_units), size - 1):
        units = np.arange(others[-1] + 1 if others else 0, space.n_units)
        state = space.empty()
        state[list(others)] = True
        scores = scorer.flips(state, units)
        if len(scores) and (scores.max() > best_score or best.sum() < size):
            state[units[int(np.argmax(scores))]] = True
            best, best_score = state, float(scores.max())
    return best, best_score
