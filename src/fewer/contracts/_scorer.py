"""A criterion bound to rows: scores for subsets, one by one, around one subset, along a walk, or all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewer.contracts._space import Masks, SearchSpace
from fewer.contracts.trace import best_first
from fewer.problem import BoolArray, FloatArray, IntArray, Problem


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

    def __getitem__(self, some: slice) -> Moves:
        return Moves(self.units[some], self.shifts[some], self.slack[some])


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
    """`sweep` gives subsets up early once it is told what score they must reach."""
    sweep_limit: int = 1 << 30
    """How many subsets a search of all of them may have, unless it is told otherwise."""
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
        """Predict each bound row without its own fold.

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
