"""Branch and bound (Nel, section 3; Narendra and Fukunaga, IEEE Transactions on Computers 26, 1977)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Objective, Search, SearchSpace
from fewer.trace import Step, is_better

REPORT_EVERY = 256  # nodes between two reports

OUT, KEPT, FREE = 0, 1, 2


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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "force": ["boolean"],
    }

    def __init__(self, force: bool = False) -> None:
        self.force = force

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """A monotone criterion, unless forced."""
        return frozenset() if self.force else frozenset({"monotone"})

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
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

    def _visit(self, scorer: Objective, space: SearchSpace, state: dict[str, Any]) -> bool:
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
            kept[units[place]] = KEPT
        return False


def _least_price(node: NDArray[Any], size: int, space: SearchSpace) -> float:
    """Return what the cheapest subset of this size below a node costs."""
    if not space.has_prices:
        return 0.0
    kept, free = space.prices[node == KEPT], np.sort(space.prices[node == FREE])
    return float(kept.sum() + free[: size - len(kept)].sum())
