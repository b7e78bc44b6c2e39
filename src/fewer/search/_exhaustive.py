"""The best subset for certain: every subset scored, or most of them cut off by a bound.

Branch and bound: Nel, section 3; Narendra and Fukunaga, IEEE Transactions on Computers 26, 1977.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fewer.contracts import Count, IncompatibleError, Objective, Search, SearchSpace, Sweep, best_of, parameters
from fewer.contracts.trace import Step, is_better
from fewer.problem import BoolArray
from fewer.search._best_first import BestFirst
from fewer.search._sequential import State

REPORT_SECONDS = 0.5  # seconds of work between two reports
KEPT = 100  # subsets kept of each block where every subset is scored


@parameters
class Exhaustive(Search):
    """Score every allowed subset: exact, where time allows.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    max_subsets : int or None, default=None
        Refuse a space with more subsets than this; `None` is 2^30, or 2^36 if the criterion works on a GPU.
    top : int or None, default=100
        Number of best subsets to find exactly. A criterion that can (`KNN`) gives every other subset up as soon as
        it is sure that it is not among them; all others, and `None`, score every subset in full.

    Notes
    -----
    Of equal scores the subset with fewer features wins, then the one with the earlier columns. The best subsets stand
    in the trace: `selector.trace_.top_masks` and `selector.trace_.top_scores`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(cv="loo"), Exhaustive(top=3), random_state=0).fit(X, y)
    >>> selector.trace_.top_masks[:3].astype(int)
    array([[0, 0, 1, 1],
           [1, 1, 1, 1],
           [0, 0, 0, 1]])
    """

    command_name = "exhaustive"
    takes_start = False

    max_subsets: Count | None = None
    top: Count | None = 100

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Judge block after block of subsets.
        q = space.n_units
        sizes = range(space.min_units, space.max_units + 1)
        total = sum(comb(q, size) for size in sizes)
        limit = scorer.scorer.sweep_limit if self.max_subsets is None else self.max_subsets
        if total > limit:
            raise IncompatibleError(
                f"{total:.3g} subsets of {q} features are too many for Exhaustive (max_subsets={limit}): "
                "ask for fewer features, prefilter, or choose Floating, Forward or Annealing."
            )
        in_gray_order = 2**q <= 4 * total
        last, top = 2**q if in_gray_order else total, self.top or KEPT
        scorer.remember(top)
        if not state:
            nothing: BoolArray = np.zeros((0, q), dtype=bool)
            state.update(next=0, states=nothing, scores=np.empty(0), floor=-np.inf)
            if self.top is not None and in_gray_order and scorer.scorer.abandons:
                state.update(floor=first_floor(scorer, space, top))
        block, subsets = 64, subsets_from(q, sizes, 0 if in_gray_order else state["next"])
        while state["next"] < last:
            began = time.perf_counter()
            stop = min(state["next"] + block, last)
            if in_gray_order:
                swept = scorer.sweep(state["next"], stop, top, state["floor"])
            else:
                states = next_states(subsets, stop - state["next"], q)
                swept = Sweep(states, scorer.score(states), len(states))
            best = best_of(Sweep(state["states"], state["scores"], 0), swept, top)
            state.update(next=stop, states=best.states, scores=best.scores)
            if self.top is not None and len(best.scores) == top:
                state.update(floor=max(state["floor"], float(best.scores[-1])))
            # Blocks start at multiples of their size: in Gray-code order such a block is a whole tree of subsets.
            if time.perf_counter() - began < REPORT_SECONDS and stop % (2 * block) == 0:
                block *= 2
            if len(best.scores) and np.isfinite(best.scores[0]):
                score = float(best.scores[0])
                yield Step(best.states[0], score, best.states[0], score)


def first_floor(scorer: Objective, space: SearchSpace, top: int) -> float:
    """Find good subsets by a short best-first search, and return a score that `top` subsets reach, or −∞.

    Nothing is counted or remembered: every subset is judged afterwards.
    """
    everywhere = replace(space, min_units=0, max_units=space.n_units)
    state: State = {}
    search = BestFirst(patience=top, compound=False)
    steps = search.steps(Objective(scorer.scorer, everywhere), everywhere, np.random.default_rng(0), state)
    for _ in islice(steps, min(top, 2**space.n_units >> 13)):
        pass
    scores = state["scores"][space.allows(state["masks"])] if state else np.empty(0)
    return float(np.partition(scores, -top)[-top]) if len(scores) >= top else -np.inf


def subsets_from(n: int, sizes: range, start: int) -> Iterator[tuple[int, ...]]:
    """List the subsets of n by size, then in lexical order, from a number on.

    Examples
    --------
    >>> list(subsets_from(3, range(1, 3), 2))
    [(2,), (0, 1), (0, 2), (1, 2)]
    """
    return islice(chain.from_iterable(combinations(range(n), size) for size in sizes), start, None)


def next_states(subsets: Iterator[tuple[int, ...]], n_states: int, n_units: int) -> BoolArray:
    """Return masks of the next subsets of a list."""
    states = np.zeros((n_states, n_units), dtype=bool)
    for state, chosen in zip(states, subsets, strict=False):  # states first: no subset is taken in vain
        state[list(chosen)] = True
    return states


REPORT_EVERY = 256  # nodes between two reports

OUT, TAKEN, FREE = 0, 1, 2


@parameters
class BranchAndBound(Search):
    """The best subset of a size without looking at most of them.

    Taking units away can only lower a monotone criterion, so a node that is no better than the best subset found so
    far cuts off everything below it. The answer is that of `Exhaustive`, up to ties.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    force : bool, default=False
        Accept a criterion that is not monotone. The answer may then miss the best subset.

    Notes
    -----
    A monotone criterion without prices is best at the largest size, so only that size is searched; otherwise every
    allowed size is, the largest first. At each node the units whose loss hurts most head the largest branches, and
    the branch with the best node is searched first.

    `trace_.state` counts `nodes_visited` (nodes that were scored) and `nodes_pruned` (cut off with all below them).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> criterion = fewer.criteria.Separability("mahalanobis")
    >>> selector = fewer.SubsetSelector(criterion, BranchAndBound(), n_features_to_select=4).fit(X[:, :12], y)
    >>> np.flatnonzero(selector.support_).tolist()
    [0, 1, 3, 7]
    """

    command_name = "branch-and-bound"
    takes_start = False

    force: bool = False

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """A monotone criterion, unless forced."""
        self.check_parameters()
        return frozenset() if self.force else frozenset({"monotone"})

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Search the tree of one size after the other, depth first.
        if not state:
            full = space.full()
            raw = float(scorer.score(full[None])[0]) + float(space.price(full[None])[0])
            state.update(size=space.max_units, nodes=[], raw_scores=[], nodes_visited=1, nodes_pruned=0)
            state.update(full_score=raw, best=full, best_score=-np.inf, started=False, n_taken=0)
        smallest = space.min_units if self.force or space.has_prices else space.max_units
        while state["size"] >= smallest:
            if not state["started"]:
                state.update(nodes=[np.full(space.n_units, FREE, dtype=np.int8)], raw_scores=[state["full_score"]])
                state["started"] = True
            while state["nodes"]:
                improved = self._visit(scorer, space, state)
                state["n_taken"] += 1
                if np.isfinite(state["best_score"]) and (improved or state["n_taken"] % REPORT_EVERY == 0):
                    yield Step(state["best"], state["best_score"], state["best"], state["best_score"])
            state.update(size=state["size"] - 1, started=False)
        yield Step(state["best"], state["best_score"], state["best"], state["best_score"])

    def _visit(self, scorer: Objective, space: SearchSpace, state: State) -> bool:
        """Take the next node: cut it, answer with it, or put its branches on the pile."""
        node, raw = state["nodes"].pop(), state["raw_scores"].pop()
        mask = (node != OUT).astype(space.dtype)
        to_drop = int(np.count_nonzero(mask)) - state["size"]
        bound = raw - _least_price(node, state["size"], space)
        # A node that could not be scored bounds nothing.
        if raw > -np.inf and (bound < state["best_score"] or (bound == state["best_score"] and to_drop > 0)):
            state["nodes_pruned"] += to_drop > 0
            return False
        if to_drop == 0:
            score = float(raw - space.price(mask[None])[0])
            if is_better(score, mask, state["best_score"], state["best"]):
                state.update(best=mask, best_score=score)
                return True
            return False
        units = np.flatnonzero(node == FREE)
        scores = scorer.flips(mask, units)
        if space.has_prices:
            scores = scores + space.price(mask[None]) - space.prices[units]
        state["nodes_visited"] += len(units)
        order = np.argsort(scores, kind="stable")
        kept = node.copy()
        for place in order[: len(units) - to_drop + 1]:
            branch = kept.copy()
            branch[units[place]] = OUT
            state["nodes"].append(branch)
            state["raw_scores"].append(float(scores[place]))
            kept[units[place]] = TAKEN
        return False


def _least_price(node: NDArray[Any], size: int, space: SearchSpace) -> float:
    """Return what the cheapest subset of this size below a node costs."""
    if not space.has_prices:
        return 0.0
    kept, free = space.prices[node == TAKEN], np.sort(space.prices[node == FREE])
    return float(kept.sum() + free[: size - len(kept)].sum())
