"""Simulated annealing (Loughrey, chapter 5; specification section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from fewer.contracts import Moves, Objective, ObjectiveWalk, Search, SearchSpace, moved_on
from fewer.contracts.declaring import Count, NonNegative, Repeats, parameters
from fewer.contracts.trace import Step, is_better
from fewer.search._sequential import State, step_of


@parameters
class Annealing(Search):
    """Random changes of one unit, worse ones accepted less and less often.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    t0 : float, default=15.0
        Temperature before the first level, in points: hundredths of the score.
    cooling : float, default=0.9
        Each level's temperature is this share of the one before.
    levels : int, default=81
        How many temperatures there are.
    effort : float, default=1.0
        K of the thesis. A level ends after 10·effort·p tries or effort·p accepted changes, p units.
    by_weights : bool, default=False
        Count a unit once for each weight above 0 that it can have, and let `max_tries` grow alike: with w of them a
        level ends after w times as many tries. The thesis left its effort as it was, and saw nothing gained by w > 4.
    max_tries : int or None, default=2000
        Cap on the tries of a level, so that thousands of features do not take hours; None for no cap.
    answer : {"best", "final"}, default="best"
        The best subset met, or the one where the search ends (the thesis).

    Notes
    -----
    A change that would leave the allowed sizes becomes an exchange of two units.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = fewer.search.Annealing(levels=5)
    >>> selector = fewer.SubsetSelector(
    ...     fewer.criteria.Separability(), search, n_features_to_select=2, random_state=0
    ... ).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 2])
    """

    command_name = "annealing"
    stochastic: ClassVar[bool] = True
    supports_weights: ClassVar[bool] = True

    t0: NonNegative = 15.0
    cooling: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.9
    levels: Repeats = 81
    effort: Annotated[float, Interval(Real, 0, 1e9, closed="right")] = 1.0  # kernels count tries in 64 bits
    max_tries: Count | None = 2000
    answer: Literal["best", "final"] = "best"
    by_weights: bool = False

    def shortened(self, share: float) -> Annealing:
        # Keep the schedule and try less at each level.
        cap = None if self.max_tries is None else max(1, round(self.max_tries * share))
        return clone(self).set_params(effort=max(self.effort * share, 1e-9), max_tries=cap)

    def max_evaluations(self, space: SearchSpace) -> int:
        # The start, and every try of every level.
        return 1 + self.levels * self._limits(space)[0]

    def rehearse(self, scorer: Objective, space: SearchSpace, rng: Generator, n: int) -> None:
        # Walk for so many tries.
        walk = scorer.walk(space.random(rng))
        for _ in accepted_changes(walk, draw_moves(space, n, self.t0, rng), 0.0, n, space, rng):
            pass

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Anneal, reporting after each level.
        if not state:
            mask = space.random(rng) if space.start is None else space.start.copy()
            walk = scorer.walk(mask)
            score = walk.score()
            state.update(mask=mask, score=score, best=mask, best_score=score, level=0)
            yield step_of(state)
        else:
            walk = scorer.walk(state["mask"])
        max_tries, max_successes = self._limits(space)
        while state["level"] < self.levels:
            temperature = self.t0 * self.cooling ** (state["level"] + 1)
            moves = draw_moves(space, max_tries, temperature, rng)
            for score in accepted_changes(walk, moves, state["score"], max_successes, space, rng):
                state["score"] = score
                if self.answer == "best" and is_better(score, walk.state, state["best_score"], state["best"]):
                    state.update(best=walk.state.copy(), best_score=score)
            state.update(level=state["level"] + 1, mask=walk.state.copy())
            if self.answer == "final":
                state.update(best=state["mask"], best_score=state["score"])
            yield step_of(state)

    def _limits(self, space: SearchSpace) -> tuple[int, int]:
        """Return how many tries and how many accepted changes end a level."""
        times = space.weight_levels if self.by_weights else 1
        size = self.effort * space.n_units * times
        tries = max(1, round(10 * size))
        if self.max_tries is not None:
            tries = min(tries, self.max_tries * times)
        return tries, max(1, round(size))


Change = list[tuple[int, float, float]]


def draw_moves(space: SearchSpace, n: int, temperature: float, rng: Generator) -> Moves:
    """Draw n changes of one unit, and how many points each may cost: less than −T·log(chance)."""
    units = rng.integers(max(space.n_units, 1), size=n)
    shifts = rng.integers(1, space.weight_levels + 1, size=n)
    with np.errstate(divide="ignore"):
        slack = -temperature / 100.0 * np.log(rng.random(n))
    return Moves(units, shifts, slack)


def accepted_changes(
    walk: ObjectiveWalk, moves: Moves, score: float, most: int, space: SearchSpace, rng: Generator
) -> Iterator[float]:
    """Try changes until so many are accepted, giving the score after each of these.

    The walk does as many as it can by itself; where that is none, the rest of the level is tried here.
    """
    tried = n_accepted = 0
    alone = True
    while alone and tried < len(moves):
        for accepted in walk.accepted_moves(moves[tried:], score, most - n_accepted):
            score, n_accepted = accepted, n_accepted + 1
            yield score
        if n_accepted == most:
            return
        tried, alone = tried + walk.n_tried, walk.n_tried > 0
    rest = moves[tried:]
    for unit, shift, slack in zip(rest.units.tolist(), rest.shifts.tolist(), rest.slack.tolist(), strict=True):
        change = change_of(walk.state, unit, shift, space, rng)
        if not change:
            return
        new = propose(walk, change)
        if score > -np.inf and not score - new <= slack:
            take_back(walk, change)
            continue
        walk.accept()
        score, n_accepted = new, n_accepted + 1
        yield score
        if n_accepted == most:
            return


def change_of(state: NDArray[Any], unit: int, shift: int, space: SearchSpace, rng: Generator) -> Change:
    """Return a unit another value, with an exchange where the size limits ask for one.

    A change is a list of (unit, new value, old value); an empty one means that no change is possible.
    """
    if not len(state):
        return []
    old = float(state.item(unit))
    new = moved_on(old, shift, space.weight_levels)
    change = [(unit, new, old)]
    after = int(np.count_nonzero(state)) + (new > 0) - (old > 0)
    if space.min_units <= after <= space.max_units:
        return change
    others = np.flatnonzero(state) if after > space.max_units else np.flatnonzero(state == 0)
    if not len(others):
        return []
    other = int(rng.choice(others))
    swapped = (other, 0.0 if after > space.max_units else 1.0, float(state[other]))
    return [swapped, *change]


def propose(walk: ObjectiveWalk, change: Change) -> float:
    """Score a change; all but its last part are made on the way."""
    for unit, new, _ in change[:-1]:
        walk.propose(unit, new)
        walk.accept()
    return walk.propose(*change[-1][:2])


def take_back(walk: ObjectiveWalk, change: Change) -> None:
    """Undo what `propose` did."""
    walk.reject()
    for unit, _, old in change[:-1]:
        walk.propose(unit, old)
        walk.accept()
