"""Best-first search with compound operators (Kohavi & John, Artificial Intelligence 97, 1997, sections 3.2 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.random import Generator

from fewer.contracts import Count, Objective, Search, SearchSpace, parameters
from fewer.contracts.trace import Step, size_of
from fewer.problem import BoolArray, FloatArray, IntArray
from fewer.search._sequential import MinGain, State, first_state


@parameters
class BestFirst(Search):
    """Always expand the most promising subset that was not expanded yet, wherever it lies.

    Expanding a subset scores all subsets that have one unit more or less. A search that only climbs stops where no
    single change helps; this one looks around from the next best subsets before it gives up, and so finds features
    that help only together.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    patience : int, default=5
        Stop after this many expansions in a row without improvement.
    compound : bool, default=True
        After an expansion try the best two changes at once, the best three, and so on, for as long as that improves.
        Such jumps cross the space quickly and pass over single changes that do not pay by themselves.
    min_gain : float, default=0.0
        A subset is better if it scores more than this above the best so far (Kohavi & John: 0.001 of accuracy).
    direction : {"forward", "backward"}, default="forward"
        Start with no unit or with all; the search adds and drops units either way.

    Notes
    -----
    `BestFirst(patience=1, compound=False)` is hill climbing: it moves to the best neighbor while that is better.
    Of equally promising subsets the smaller is expanded first, then the one met first. Every subset is scored once.

    Examples
    --------
    Two features that help only together, beside one that helps a little by itself:

    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5)).round(2)
    >>> y = (X[:, 3] * X[:, 4] > 0).astype(int)
    >>> criterion = fewer.criteria.KNN(n_neighbors=5)
    >>> selector = fewer.SubsetSelector(criterion, BestFirst(), random_state=0).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 4])
    """

    command_name = "best-first"

    patience: Count = 5
    compound: bool = True
    min_gain: MinGain = 0.0
    direction: Literal["forward", "backward"] = "forward"

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Expand one subset after the other.
        if not state:
            start = first_state(space, self.direction == "forward")
            score = float(scorer.score(start[None])[0])
            state.update(
                masks=start[None], scores=np.array([score]), expanded=np.zeros(1, dtype=bool),
                best=start, best_score=score, idle=0,
            )  # fmt: skip
        known = dict(zip(_keys(state["masks"]), state["scores"].tolist(), strict=True))
        while (chosen := self._most_promising(state, space)) is not None:
            if state["idle"] >= self.patience:
                return
            mask, score = state["masks"][chosen], float(state["scores"][chosen])
            children, scores = self._expand(mask, scorer, space, known)
            expanded = np.concatenate([state["expanded"], np.zeros(len(children), dtype=bool)])
            expanded[chosen] = True
            state.update(
                masks=np.concatenate([state["masks"], children]),
                scores=np.concatenate([state["scores"], scores]),
                expanded=expanded,
                idle=state["idle"] + 1,
            )
            self._crown(children, scores, space, state)
            yield Step(mask, score, state["best"], state["best_score"])

    def _most_promising(self, state: State, space: SearchSpace) -> int | None:
        """Return the best subset that was not expanded: nearer to an allowed size, higher score, smaller, earlier."""
        waiting = np.flatnonzero(~state["expanded"])
        if not len(waiting):
            return None
        masks = state["masks"][waiting]
        order = np.lexsort((waiting, size_of(masks), -state["scores"][waiting], _distance(masks, space)))
        return int(waiting[order[0]])

    def _crown(self, children: BoolArray, scores: FloatArray, space: SearchSpace, state: State) -> None:
        """Let the best child be the best so far if it is better, and be patient anew.

        A smaller subset with the same score takes the place quietly. Nothing is idle on the way to an allowed size.
        """
        allowed = space.allows(children)
        if not space.allows(state["best"]):
            state["idle"] = 0
        if not allowed.any():
            return
        children, scores = children[allowed], scores[allowed]
        child = int(np.lexsort((size_of(children), -scores))[0])
        mask, score = children[child], float(scores[child])
        if not space.allows(state["best"]) or score > state["best_score"] + self.min_gain:
            state.update(best=mask, best_score=score, idle=0)
        elif score == state["best_score"] and mask.sum() < state["best"].sum():
            state["best"] = mask

    def _expand(
        self, mask: BoolArray, scorer: Objective, space: SearchSpace, known: dict[bytes, float]
    ) -> tuple[BoolArray, FloatArray]:
        """Score the neighbors of a subset, and compounds of its best changes while scores rise; give what is new."""
        units = _changes(mask, space)
        neighbors = np.repeat(mask[None], len(units), axis=0)
        neighbors[np.arange(len(units)), units] ^= True
        keys = _keys(neighbors)
        new = np.array([key not in known for key in keys], dtype=bool)
        if new.any():
            known.update(zip(np.array(keys, dtype=object)[new], scorer.flips(mask, units[new]).tolist(), strict=True))
        scores = np.array([known[key] for key in keys])
        children, child_scores = [neighbors[new]], [scores[new]]
        if self.compound and len(units) > 1:
            order = np.argsort(-scores, kind="stable")
            last = float(scores[order[0]])
            for child in _compounds(mask, units[order], space):
                key = child.tobytes()
                if key not in known:
                    known[key] = float(scorer.score(child[None])[0])
                    children.append(child[None])
                    child_scores.append(np.array([known[key]]))
                if known[key] <= last:
                    break
                last = known[key]
        return np.concatenate(children), np.concatenate(child_scores)


def _compounds(mask: BoolArray, units: IntArray, space: SearchSpace) -> Iterator[BoolArray]:
    """Change the first two units, the first three, …, as long as the size gets no farther from the allowed ones."""
    child = mask.copy()
    child[units[0]] ^= True
    for unit in units[1:]:
        child = child.copy()
        child[unit] ^= True
        if _distance(child[None], space)[0] > _distance(mask[None], space)[0]:
            return
        yield child


def _changes(mask: BoolArray, space: SearchSpace) -> IntArray:
    """Return the units that may change: towards the allowed sizes, or within them."""
    size = int(mask.sum())
    may_grow = size < space.max_units
    return np.flatnonzero(np.where(mask, size > space.min_units, may_grow))


def _distance(masks: BoolArray, space: SearchSpace) -> IntArray:
    """Return how many units each subset is away from an allowed size."""
    sizes = size_of(masks)
    return np.maximum(np.maximum(space.min_units - sizes, sizes - space.max_units), 0)


def _keys(masks: BoolArray) -> list[bytes]:
    return [mask.tobytes() for mask in masks]
