"""Every subset."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np

from fewer.contracts import IncompatibleError, Objective, Search, SearchSpace, Sweep, best_of
from fewer.problem import BoolArray
from fewer.trace import Step

PATIENCE = 0.25  # seconds of work between two reports


class Exhaustive(Search):
    """Score every allowed subset: the truth, where there is time for it.

    Parameters
    ----------
    max_subsets : int, default=2**30
        Refuse a space with more subsets than this.

    Notes
    -----
    Of equal scores the subset with fewer features wins, then the one with the earlier columns.
    """

    command_name = "exhaustive"

    def __init__(self, max_subsets: int = 2**30) -> None:
        self.max_subsets = max_subsets

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        """Score block after block of subsets."""
        q = space.n_units
        counts = [comb(q, size) for size in range(space.min_units, space.max_units + 1)]
        total = sum(counts)
        if total > self.max_subsets:
            raise IncompatibleError(
                f"{total:.3g} subsets of {q} features are too many for Exhaustive (max_subsets={self.max_subsets}): "
                "ask for fewer features, prefilter, or choose Floating, Forward or Annealing."
            )
        in_gray_order = 2**q <= 4 * total
        last = 2**q if in_gray_order else total
        if not state:
            state.update(next=0, best=space.empty(), best_score=-np.inf)
        block = 64
        while state["next"] < last:
            began = time.perf_counter()
            stop = min(state["next"] + block, last)
            if in_gray_order:
                found = scorer.sweep(state["next"], stop, 100)
            else:
                states = combination_block(q, space.min_units, state["next"], stop)
                found = Sweep(states, scorer.score(states), len(states))
            best = best_of(Sweep(state["best"][None], np.array([state["best_score"]]), 0), found, 1)
            state.update(next=stop, best=best.states[0], best_score=float(best.scores[0]))
            # Blocks start at multiples of their size: in Gray-code order such a block is a whole tree of subsets.
            if time.perf_counter() - began < PATIENCE and stop % (2 * block) == 0:
                block *= 2
            if np.isfinite(state["best_score"]):
                yield Step(state["best"], state["best_score"], state["best"], state["best_score"])


def combination_block(n: int, smallest: int, start: int, stop: int) -> BoolArray:
    """Return the masks numbered start … stop−1 when the subsets of n are listed by size, then in lexical order.

    Examples
    --------
    >>> combination_block(3, 1, 2, 5).astype(int).tolist()
    [[0, 0, 1], [1, 1, 0], [1, 0, 1]]
    """
    size, skip = smallest, start
    while skip >= comb(n, size):
        skip -= comb(n, size)
        size += 1
    chosen: list[int] | None = _unrank(n, size, skip)
    masks = np.zeros((stop - start, n), dtype=bool)
    for mask in masks:
        if chosen is None:
            size += 1
            chosen = list(range(size))
        mask[chosen] = True
        chosen = _successor(chosen, n)
    return masks


def _unrank(n: int, size: int, number: int) -> list[int]:
    chosen: list[int] = []
    candidate = 0
    for left in range(size, 0, -1):
        while number >= (block := comb(n - candidate - 1, left - 1)):
            number -= block
            candidate += 1
        chosen.append(candidate)
        candidate += 1
    return chosen


def _successor(chosen: list[int], n: int) -> list[int] | None:
    size = len(chosen)
    for place in range(size - 1, -1, -1):
        if chosen[place] < n - size + place:
            first = chosen[place] + 1
            return chosen[:place] + list(range(first, first + size - place))
    return None
