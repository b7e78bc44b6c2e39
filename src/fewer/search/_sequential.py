"""Forward and backward selection, one unit at a time."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from fewer.contracts import Objective, Search, SearchSpace
from fewer.trace import Step, is_better


class _Sequential(Search):
    """Greedy moves in one direction; subclasses say which moves there are and which gain is enough."""

    ordered: ClassVar[bool] = True

    def __init__(self, min_gain: float | None = 0.0) -> None:
        self.min_gain = min_gain

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        # Move to the best neighbor until none is good enough or the size limit is met.
        if not state:
            mask = self._begin(space) if space.start is None else space.start.astype(bool)
            score = float(scorer.score(mask[None])[0])
            state.update(mask=mask, score=score, best=mask, best_score=score, order=[])
            yield Step(mask, score, mask, score)
        while True:
            mask, score = state["mask"], state["score"]
            units = self._moves(mask)
            if not len(units) or not self._may_move(mask, space):
                return
            choice, found = scorer.best_flip(mask, units)
            # A subset that could not be scored is no place to stay.
            must_go_on = score == -np.inf or self._must_go_on(mask, space)
            if self.min_gain is not None and not must_go_on:
                gain = round(found - score, 11)
                if not self._is_enough(gain):
                    return
            before, mask = mask, mask.copy()
            mask[units[choice]] = ~mask[units[choice]]
            if not must_go_on and not self._is_shown(scorer, before, mask, len(units)):
                return
            score = found
            if (
                self.min_gain is not None
                or not space.allows(state["best"])
                or (space.allows(mask) and is_better(score, mask, state["best_score"], state["best"]))
            ):
                state.update(best=mask, best_score=score)
            state.update(mask=mask, score=score, order=[*state["order"], int(units[choice])])
            yield Step(mask, score, state["best"], state["best_score"])

    def _begin(self, space: SearchSpace) -> Any:
        raise NotImplementedError

    def _moves(self, mask: Any) -> Any:
        raise NotImplementedError

    def _may_move(self, mask: Any, space: SearchSpace) -> bool:
        raise NotImplementedError

    def _must_go_on(self, mask: Any, space: SearchSpace) -> bool:
        raise NotImplementedError

    def _is_enough(self, gain: float) -> bool:
        raise NotImplementedError

    def _is_shown(self, scorer: Objective, before: Any, after: Any, n_tried: int) -> bool:
        """Say whether the best of so many moves is to be believed."""
        return True


class Forward(_Sequential):
    """Forward selection: add the unit that helps most, as long as it helps enough.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    min_gain : float or None, default=0.0
        A unit enters while it raises the score by *more* than this (Dong & Kothari's ε). None walks on to the
        largest allowed size and answers with the best subset on the way, the smallest among equals.

    Notes
    -----
    Of equally good units the first column enters. Sizes asked for come first: with `n_features_to_select=5`
    exactly five enter, whatever they gain.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), Forward(), random_state=0).fit(X, y)
    >>> int(selector.support_.sum())
    3
    """

    command_name = "forward"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_gain": [Interval(Real, None, None, closed="neither"), None],
    }

    def _begin(self, space: SearchSpace) -> Any:
        return space.empty()

    def _moves(self, mask: Any) -> Any:
        return np.flatnonzero(~mask)

    def _may_move(self, mask: Any, space: SearchSpace) -> bool:
        return int(mask.sum()) < space.max_units

    def _must_go_on(self, mask: Any, space: SearchSpace) -> bool:
        return int(mask.sum()) < space.min_units

    def _is_enough(self, gain: float) -> bool:
        return self.min_gain is None or gain > self.min_gain


class Backward(_Sequential):
    """Backward elimination: drop the unit that is missed least, as long as little is lost.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    min_gain : float or None, default=0.0
        A unit is dropped while that raises the score by *at least* this; at 0.0 an equal score with fewer features
        is an improvement, and a negative number allows small losses. None walks on to the smallest allowed size
        and answers with the best subset on the way, the smallest among equals.

    See Also
    --------
    Elimination : Drops by a model's importances instead of by the score.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), Backward(), random_state=0).fit(X, y)
    >>> bool(selector.score_ > 0.95)
    True
    """

    command_name = "backward"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_gain": [Interval(Real, None, None, closed="neither"), None],
    }

    def _begin(self, space: SearchSpace) -> Any:
        return space.full()

    def _moves(self, mask: Any) -> Any:
        return np.flatnonzero(mask)

    def _may_move(self, mask: Any, space: SearchSpace) -> bool:
        return int(mask.sum()) > space.min_units

    def _must_go_on(self, mask: Any, space: SearchSpace) -> bool:
        return int(mask.sum()) > space.max_units

    def _is_enough(self, gain: float) -> bool:
        return self.min_gain is None or gain >= self.min_gain
