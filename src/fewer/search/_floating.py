"""Sequential floating search (Pudil, Novovičová and Kittler, Pattern Recognition Letters 15, 1994)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from fewer.contracts import Search, SearchSpace
from fewer.objective import Objective
from fewer.problem import InputError
from fewer.trace import Step, is_better


class Floating(Search):
    """SFFS and SBFS: after each step in the search's direction, step back for as long as that beats the record.

    Parameters
    ----------
    direction : {"forward", "backward"}, default="forward"
        Forward adds the best unit, then drops units while the smaller subset is better than the best of that size
        found so far (SFFS); backward is the mirror image (SBFS).
    overshoot : int, default=3
        How many sizes past the target the search goes on, since floating back from there may still improve the
        target. The target is the size asked for or, where sizes are free, the best size so far.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), Floating(), random_state=0).fit(X, y)
    >>> round(selector.trace_.best_score, 3)
    0.989
    """

    ordered: ClassVar[bool] = True

    def __init__(self, direction: Literal["forward", "backward"] = "forward", overshoot: int = 3) -> None:
        self.direction = direction
        self.overshoot = overshoot

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        """Alternate inclusion and conditional exclusion (or the reverse)."""
        if self.direction not in ("forward", "backward"):
            raise InputError(f"direction={self.direction!r} is not known; choose 'forward' or 'backward'.")
        forward = self.direction == "forward"
        if not state:
            mask = (space.empty() if forward else space.full()) if space.start is None else space.start.astype(bool)
            score = float(scorer.score(mask[None])[0])
            records = np.full(space.n_units + 1, -np.inf)
            records[int(mask.sum())] = score
            state.update(mask=mask, score=score, best=mask, best_score=score, records=records, phase="advance", last=-1)
            yield Step(mask, score, mask, score)
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
        scores = scorer.flips(mask, units)
        choice = int(np.argmax(scores))
        unit, score = int(units[choice]), float(scores[choice])
        if conditional and (score <= records[size] or unit == state["last"]):
            state["phase"] = "advance"
            return
        mask = mask.copy()
        mask[unit] = adding
        records[size] = max(records[size], score)
        state.update(mask=mask, score=score, phase="retreat", last=-1 if conditional else unit)
        if space.allows(mask) and (
            not space.allows(state["best"]) or is_better(score, mask, state["best_score"], state["best"])
        ):
            state.update(best=mask, best_score=score)

    def _is_over(self, state: dict[str, Any], space: SearchSpace, forward: bool) -> bool:
        size = int(state["mask"].sum())
        if size == (space.n_units if forward else 0):
            return True
        if not space.allows(state["best"]):
            return False
        target = int(state["best"].sum())
        return size >= target + self.overshoot if forward else size <= max(target - self.overshoot, 0)
