"""A bound criterion as a search sees it: units instead of columns, prices, ties, counting, memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts._scorer import Moves, Scorer, Sweep, Walk
from fewer.contracts._space import SearchSpace, round_scores
from fewer.contracts.trace import Cache, Trace
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.text import NoteKind


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
    n_evaluations : int
        How many scores were asked for.
    n_undefined : int
        How many subsets could not be scored.

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
        self.scorer = scorer
        self._problem = problem
        self.space = space
        self.n_evaluations = 0
        self.n_undefined = 0
        self._trace: Trace | None = None
        self._cache = Cache()

    @property
    def problem(self) -> Problem:
        """The rows that the criterion is bound to, for searches that look at them."""
        if self._problem is None:
            raise InputError("This search looks at the rows; give them to Objective(scorer, space, problem).")
        return self._problem

    def note(self, text: str) -> None:
        """Tell the reader of the result something, once.

        Parameters
        ----------
        text : str
            A sentence.
        """
        if self._trace is not None:
            self._trace.note(text)

    def follow(self, trace: Trace) -> None:
        """Report to a trace from now on.

        Parameters
        ----------
        trace : Trace
            Where scores are counted and offered.
        """
        self._trace = trace
        self.n_evaluations = trace.n_evaluations
        self.n_undefined = trace.n_undefined
        for text in self.scorer.notes:
            trace.note(text)

    def refuse_undefined(self, best_score: float) -> None:
        """Refuse an answer that is none: not one subset of an allowed size could be scored.

        Parameters
        ----------
        best_score : float
            The best score of the run; minus infinity if there is none.
        """
        if self.n_undefined and not best_score > -np.inf:
            raise InputError(
                f"No subset could be scored ({self.n_undefined} were tried){self._why()}. "
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
        known = {key: score for key in keys if (score := self._cache.get(key)) is not None}
        new = {key: i for i, key in enumerate(keys) if key not in known}
        if new:
            fresh = states[list(new.values())]
            for key, score in zip(new, self._compute(fresh), strict=True):
                known[key] = float(score)
                self._cache.put(key, float(score))
        scores = np.array([known[key] for key in keys])
        self._count(len(scores))
        self._offer(states, scores)
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
        self._count(len(scores))
        if self._trace is not None:
            best = np.argsort(-scores, kind="stable")[: self._trace.keep]
            states = np.repeat(state[None, :], len(best), axis=0)
            states[np.arange(len(best)), units[best]] = values[best]
            self._offer(states, scores[best])
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
        found = None
        if columns is not None and not self.space.has_prices and len(units):
            found = self.scorer.best_flip(self.space.expand(state[None, :])[0], columns[units])
        if found is None:
            scores = self.flips(state, units)
            choice = int(np.argmax(scores))
            return choice, float(scores[choice])
        places, raw = found
        scores = self._defined(round_scores(raw))
        self._count(len(units))
        if self._trace is not None:
            self._offer_switched(state, units[places], scores)
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
        asked = () if importance == "auto" else (importance,)
        importances, score = self.scorer.examine(self.space.expand(state[None, :])[0], part, *asked)
        self._count(1)
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
        if self._trace is not None:
            self._trace.keep = max(self._trace.keep, n)

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
        found = self.scorer.sweep(self.space, start, stop, top, floor)
        self._count(found.n_evaluated)
        self._count_undefined(found.n_undefined)
        if self._trace is not None and len(found.scores):
            self._trace.offer(self.space.expand(found.states), found.scores)
        return found

    def _compute(self, states: NDArray[Any]) -> FloatArray:
        return self._defined(self.space.objective(self.scorer.score(self.space.expand(states)), states))

    def _defined(self, scores: FloatArray) -> FloatArray:
        """Put subsets that could not be scored (NaN) behind all others, so that none of them wins, and count them."""
        undefined = np.isnan(scores)
        if not undefined.any():
            return scores
        self._count_undefined(int(undefined.sum()))
        return np.where(undefined, -np.inf, scores)

    def _count_undefined(self, n: int) -> None:
        self.n_undefined += n
        if n and self._trace is not None:
            self._trace.n_undefined = self.n_undefined
            text = f"Subsets skipped because they could not be scored: {self.n_undefined}{self._why()}."
            self._trace.note(text, NoteKind.UNDEFINED)

    def _why(self) -> str:
        return f"; the first failed with {self.scorer.failure}" if self.scorer.failure else ""

    def _count(self, n: int) -> None:
        self.n_evaluations += n
        if self._trace is not None:
            self._trace.n_evaluations = self.n_evaluations

    def _offer_switched(self, state: NDArray[Any], units: IntArray, scores: FloatArray) -> None:
        """Offer the trace a mask with each of some units switched, those of an allowed size."""
        assert self._trace is not None
        size = int(np.count_nonzero(state))
        if size + 1 < self.space.min_units or size - 1 > self.space.max_units:
            return
        sizes = size + np.where(state[units], -1, 1)
        allowed = np.flatnonzero((sizes >= self.space.min_units) & (sizes <= self.space.max_units))
        if not len(allowed):
            return
        # Of all that were scored, the best few are offered.
        best = np.argsort(-scores, kind="stable")[: self._trace.keep]
        best = best[np.isin(best, allowed)]
        states = np.repeat(state[None, :], len(best), axis=0)
        states[np.arange(len(best)), units[best]] ^= True
        if len(best):
            self._trace.offer(self.space.expand(states), scores[best])

    def _offer(self, states: NDArray[Any], scores: FloatArray) -> None:
        if self._trace is not None:
            allowed = self.space.allows(states)
            if allowed.any():
                self._trace.offer(self.space.expand(states[allowed]), scores[allowed])


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

    def propose(self, unit: int, value: float) -> float:
        self._change = (unit, value)
        objective, old = self._objective, self.state[unit]
        self.state[unit] = value
        key = _key(self.state)
        known = objective._cache.get(key)
        self._computed = known is None
        if known is None:
            score = np.array([self._walk.propose(unit, value)])
            if objective.space.has_prices:
                score -= objective.space.price(self.state[None])
            known = float(objective._defined(round_scores(score))[0])
            objective._cache.put(key, known)
        self.state[unit] = old
        objective._count(1)
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
        self._objective._count(result.n_tried)
        units, shifts = moves.units[result.accepted].tolist(), moves.shifts[result.accepted].tolist()
        for unit, shift, found in zip(units, shifts, result.scores.tolist(), strict=True):
            self.state[unit] = moved_on(self.state.item(unit), shift, space.weight_levels)
            self._note(found)
            yield found

    def _note(self, score: float) -> None:
        trace = self._objective._trace
        if trace is not None and (len(trace.top_scores) < trace.keep or score > trace.top_scores[-1]):
            self._objective._offer(self.state[None].copy(), np.array([score]))


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
