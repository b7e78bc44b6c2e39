"""Searches that move one unit at a time, and what such searches share.

Forward, backward; down a ranking (Loughrey, chapter 8); plus l, take away r (Nel, section 3; Stearns 1976); floating
(Pudil, Novovičová and Kittler, Pattern Recognition Letters 15, 1994); forward where a test shows that a feature helps
(asked for by Loughrey, chapter 8); weights that move from level to level (Kohavi, Langley and Yun 1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils._param_validation import Interval

from fewer.contracts import Objective, PredictiveScorer, Ranker, Resources, Search, SearchSpace
from fewer.contracts.declaring import Count, Whole, parameters
from fewer.contracts.trace import Step, is_better
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem

State = dict[str, Any]  # Where a search stands, as a trace keeps it.
MinGain = Annotated[float, Interval(Real, None, None, closed="neither")]  # By how much a move must raise the score.


def first_state(space: SearchSpace, adding: bool) -> BoolArray:
    """Return where a search begins: at the given start, else with no unit if it adds them and all if it drops them."""
    if space.start is not None:
        return space.start.astype(bool)
    return np.full(space.n_units, not adding)


def begin(scorer: Objective, mask: NDArray[Any], state: State, **more: Any) -> Step:
    """Stand on the subset that a search begins with."""
    score = float(scorer.score(mask[None])[0])
    state.update(mask=mask, score=score, best=mask, best_score=score, **more)
    return step_of(state)


def step_of(state: State) -> Step:
    """Report where a search stands."""
    return Step(state["mask"], state["score"], state["best"], state["best_score"])


def move_to(mask: BoolArray, score: float, state: State, space: SearchSpace) -> bool:
    """Stand on a subset, and keep it if its size is allowed and it is the best so far; say whether it is."""
    state.update(mask=mask, score=score)
    is_record = not space.allows(state["best"]) or is_better(score, mask, state["best_score"], state["best"])
    if better := bool(space.allows(mask)) and is_record:
        state.update(best=mask, best_score=score)
    return better


def best_move(scorer: Objective, mask: BoolArray, units: IntArray) -> tuple[BoolArray, float, int]:
    """Switch the unit that scores best; return the subset, its score and the unit."""
    choice, score = scorer.best_flip(mask, units)
    moved = mask.copy()
    moved[units[choice]] ^= True
    return moved, score, int(units[choice])


class _Sequential(Search):
    """Greedy moves in one direction: units are added, or dropped."""

    ordered: ClassVar[bool] = True
    adding: ClassVar[bool] = True
    min_gain: float | None

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Move to the best neighbor until none is good enough or the size limit is met.
        if not state:
            yield begin(scorer, first_state(space, self.adding), state, order=[])
        while True:
            mask, score = state["mask"], state["score"]
            units, size = np.flatnonzero(mask != self.adding), int(mask.sum())
            if not len(units) or (size >= space.max_units if self.adding else size <= space.min_units):
                return
            after, new_score, unit = best_move(scorer, mask, units)
            # A subset that could not be scored is no place to stay.
            must_go_on = score == -np.inf or (size < space.min_units if self.adding else size > space.max_units)
            gain = round(new_score - score, 11)
            enough = self.min_gain is None or gain > self.min_gain or (gain == self.min_gain and not self.adding)
            if not must_go_on and not (enough and self._is_shown(scorer, mask, after, len(units))):
                return
            state.update(mask=after, score=new_score, order=[*state["order"], unit])
            best, best_score = state["best"], state["best_score"]
            if self.min_gain is not None or not space.allows(best) or is_better(new_score, after, best_score, best):
                state.update(best=after, best_score=new_score)
            yield step_of(state)

    def _is_shown(self, scorer: Objective, before: Any, after: Any, n_tried: int) -> bool:
        """Say whether the best of so many moves is to be believed."""
        return True


@parameters
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

    min_gain: MinGain | None = 0.0


@parameters
class Backward(_Sequential):
    """Backward elimination: drop the least useful unit while little is lost.

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
    adding: ClassVar[bool] = False

    min_gain: MinGain | None = 0.0


@parameters
class InOrder(Search):
    """Take features in the order of a ranking, and keep each one that raises the score of those kept before it.

    One subset for each feature: the cheapest search there is. The ranking finds what is relevant, the criterion leaves
    out what says nothing new.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    ranker : Ranker
        Such as `InformationGain()`; it ranks the rows that the criterion is bound to.

    See Also
    --------
    fewer.control.Prefilter : Keeps the leading features of a ranking for another search.
    fewer.RankSelector : Follows the ranking alone.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = InOrder(fewer.rankers.InformationGain())
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(5), search, random_state=0).fit(X, y)
    >>> selector.trace_.n_evaluations <= 5
    True
    """

    command_name = "in-order"
    ordered: ClassVar[bool] = True

    ranker: Ranker

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Try one unit after the other.
        if not state:
            place = np.argsort(self.ranker.rank(scorer.problem, rng, Resources()).order)
            start = space.empty().astype(bool)
            score = float(scorer.score(start[None])[0]) if space.allows(start) else -np.inf
            order = np.argsort([place[unit].min() for unit in space.units], kind="stable")
            state.update(order=order, place=0, mask=start, score=score)
            yield Step(start, score, start, score)
        while state["place"] < len(state["order"]) and state["mask"].sum() < space.max_units:
            tried = state["mask"].copy()
            tried[state["order"][state["place"]]] = True
            score = float(scorer.score(tried[None])[0])
            if score > state["score"] or tried.sum() <= space.min_units:
                state.update(mask=tried, score=score)
            state["place"] += 1
            yield Step(state["mask"], state["score"], state["mask"], state["score"])


@parameters
class PlusLTakeAwayR(Search):
    """Add the best units l times, take the worst away r times, and so on.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    l : int, default=2
        Features added in each step.
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
    ordered: ClassVar[bool] = True

    l: Whole = 2  # noqa: E741 - the algorithm's own letters
    r: Whole = 1

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Make one move after the other.
        if self.l == self.r:
            raise InputError(f"l={self.l} and r={self.r}: give two different numbers.")
        climbing = self.l > self.r
        l, r = min(self.l, space.n_units), min(self.r, space.n_units)  # noqa: E741 - no unit is left for more moves
        if not state:
            yield begin(scorer, first_state(space, climbing), state, move=0, end_met=False)
        while not self._is_over(state, space, climbing, l + r):
            place = state["move"] % (l + r)
            adding = place < l if climbing else place >= r
            state["move"] += 1
            units = np.flatnonzero(state["mask"] != adding)
            if len(units):
                move_to(*best_move(scorer, state["mask"], units)[:2], state, space)
                yield step_of(state)

    def _is_over(self, state: State, space: SearchSpace, climbing: bool, n_moves: int) -> bool:
        size = int(state["mask"].sum())
        state["end_met"] = state["end_met"] or size == (space.n_units if climbing else 0)
        if state["move"] % n_moves:
            return False
        if state["end_met"]:
            return True
        return bool(space.allows(state["best"])) and (size >= space.max_units if climbing else size <= space.min_units)


@parameters
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
        Forward only: all subsets of up to this many units are scored first; the search continues from the best of them.
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
    ordered: ClassVar[bool] = True

    direction: Literal["forward", "backward"] = "forward"
    overshoot: Whole = 3
    exhaust: Count = 1

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Alternate inclusion and conditional exclusion (or the reverse).
        forward = self.direction == "forward"
        if not state:
            mask, records = first_state(space, forward), np.full(space.n_units + 1, -np.inf)
            phase = "exhaust" if forward and self.exhaust > 1 and not mask.any() else "advance"
            step = begin(scorer, mask, state, records=records, phase=phase, last=-1)
            records[int(mask.sum())] = step.score
            yield step
        while state["phase"] == "exhaust":
            size = int(state["mask"].sum()) + 1
            if size > min(self.exhaust, space.max_units):
                state["phase"] = "advance"
                break
            self._arrive(*best_of_size(scorer, space, size), state, space)
            yield step_of(state)
        while state["phase"] != "end":
            advancing = state["phase"] == "advance"
            if advancing and self._is_over(state, space, forward):
                state["phase"] = "end"
                return
            self._move(scorer, state, space, adding=advancing == forward, conditional=not advancing)
            yield step_of(state)

    def _move(self, scorer: Objective, state: State, space: SearchSpace, adding: bool, conditional: bool) -> None:
        """Make the best move; a conditional one only if it beats the record of the size that it leads to."""
        size = int(state["mask"].sum()) + (1 if adding else -1)
        state["phase"] = "advance"
        if conditional and not 2 <= size <= space.n_units - 2:
            return
        mask, score, unit = best_move(scorer, state["mask"], np.flatnonzero(state["mask"] != adding))
        if conditional and (score <= state["records"][size] or unit == state["last"]):
            return
        state.update(phase="retreat", last=-1 if conditional else unit)
        self._arrive(mask, score, state, space)

    def _arrive(self, mask: BoolArray, score: float, state: State, space: SearchSpace) -> None:
        """Stand on a subset; keep it if it is the best of its size, or of all."""
        records, size = state["records"], int(mask.sum())
        records[size] = max(records[size], score)
        move_to(mask, score, state, space)

    def _is_over(self, state: State, space: SearchSpace, forward: bool) -> bool:
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


@parameters
class SignificantForward(_Sequential):
    """Forward selection that stops where the next feature is not significantly better on the predicted rows.

    The criterion predicts every row without its own fold, before and after the best feature joins. For classes, the
    rows that only one of the two gets right are compared by the exact test of McNemar; for quantities, squared errors
    by a paired t test; both one-sided. As the feature is the best of all that were tried, its p-value is multiplied by
    their number (Bonferroni).

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    alpha : float, default=0.05
        A feature enters if its corrected p-value is at most this.
    correction : {"bonferroni", "none"}, default="bonferroni"
        `"none"` believes the best of many as if it were the only one: on noise it goes on and on.

    See Also
    --------
    Forward : Takes whatever raises the score by more than a number.
    fewer.control.OneStandardError : Judges sizes by rows that the search did not see.

    Notes
    -----
    Folds share rows, and earlier features were chosen by the same rows, so that the level holds for one step and only
    nearly. A size that was asked for comes first: features enter untested until it is reached.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> plain = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0).fit(X, y)
    >>> tested = fewer.SubsetSelector(fewer.criteria.KNN(), SignificantForward(), random_state=0).fit(X, y)
    >>> int(plain.support_.sum()), int(tested.support_.sum())
    (3, 2)
    """

    command_name = "significant-forward"
    needs: ClassVar[frozenset[str]] = frozenset({"predictive"})
    min_gain = 0.0

    alpha: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.05
    correction: Literal["bonferroni", "none"] = "bonferroni"

    def _is_shown(self, scorer: Objective, before: Any, after: Any, n_tried: int) -> bool:
        p_value = p_value_of_move(scorer, before, after)
        corrected = min(p_value * (n_tried if self.correction == "bonferroni" else 1), 1.0)
        if corrected <= self.alpha:
            return True
        scorer.note(
            f"Stopped at {int(before.sum())} features: the best of {n_tried} others is not significantly better "
            f"(p = {corrected:.2g}{', corrected' if self.correction == 'bonferroni' else ''})."
        )
        return False


def p_value_of_move(scorer: Objective, before: Any, after: Any) -> float:
    """Return the one-sided p-value of a move: how likely rows agree as well with the new subset if it is no better."""
    problem = scorer.problem
    old, new = (_losses(scorer, state, problem) for state in (before, after))
    if problem.task == "classification":
        won, lost = int((new < old).sum()), int((new > old).sum())
        return float(stats.binom.sf(won - 1, won + lost, 0.5)) if won + lost else 1.0
    gaps = old - new
    spread = float(gaps.std(ddof=1))
    if spread == 0.0:
        return 1.0
    return float(stats.t.sf(gaps.mean() / (spread / np.sqrt(len(gaps))), len(gaps) - 1))


def _losses(scorer: Objective, state: Any, problem: Problem) -> FloatArray:
    """Return each row's loss: 0 or 1 for classes, squared errors for quantities; without features, of a constant."""
    if state.any():
        outputs = cast(PredictiveScorer, scorer.scorer).outputs(scorer.space.expand(state[None])[0])
        answers = outputs.argmax(axis=1) if problem.task == "classification" else outputs
    elif problem.task == "classification":
        answers = np.full(problem.n_samples, np.bincount(problem.y, weights=problem.row_weights).argmax())
    else:
        answers = np.full(problem.n_samples, np.average(problem.y, weights=problem.row_weights))
    wrong = answers != problem.y if problem.task == "classification" else (answers - problem.y) ** 2
    return np.asarray(wrong, dtype=np.float64)


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

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
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
