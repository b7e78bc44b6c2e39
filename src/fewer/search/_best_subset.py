"""The subset of least residual sum of squares of every size: leaps and bounds, and splicing beyond its reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from sklearn.utils._param_validation import Interval

from fewer.contracts import Count, Objective, Search, SearchSpace, parameters
from fewer.contracts.trace import Step
from fewer.kernels.leaps import leap
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.search._sequential import State, begin, move_to, step_of
from fewer.statistics.encoding import scaled_inputs

NODES_PER_REPORT = 20_000  # Nodes between two reports.
RIDGE = 1e-12  # Added to the diagonal of columns of unit variance, so that copies do no harm.
SHARE = 1e-10
STALE_SIZES = 10  # Splicing ends when so many sizes in a row did not raise the score.
MOST_SPLICED = 5


@parameters
class BestSubset(Search):
    """Find the linear fit of least residual sum of squares of each size; the criterion's score picks the size.

    Up to `exact_up_to` units the fits are the best there are, by leaps and bounds (Furnival and Wilson), if the tree is
    closed within `max_nodes`; else the answer tells the gap that remains. Beyond that splicing looks for them (Zhu,
    Wen, Zhu, Zhang and Wang): units of a fit change places with others as long as that helps, without a proof. Only for
    `LeastSquares`.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    exact_up_to : int, default=50
        Most units for leaps and bounds.
    max_nodes : int or None, default=5_000_000
        Fits that leaps and bounds may look at; None for no limit.

    Notes
    -----
    Several targets, and the codes of classes, are summed. Features forced in are in every fit; columns of a feature
    group and the indicators of a nominal column go together. Row weights count; missing cells are the mean. The ridge
    of `LeastSquares` plays no part in the fits, only in the scores. `trace_.state["sums"]` holds the least sum of each
    size as a share of the target's own.

    See Also
    --------
    Exhaustive : Every subset, by any criterion.
    BranchAndBound : One size, by any monotone criterion.

    References
    ----------
    G. Furnival and R. Wilson, Regressions by leaps and bounds, Technometrics 16, 1974.
    J. Zhu, C. Wen, J. Zhu, H. Zhang and X. Wang, A polynomial algorithm for best-subset selection problem, PNAS 117,
    2020.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fewer
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.LeastSquares(), BestSubset(), n_features_to_select=4).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['bmi', 'bp', 's1', 's5']
    """

    command_name = "best-subset"
    needs: ClassVar[frozenset[str]] = frozenset({"least_squares"})

    exact_up_to: Annotated[int, Interval(Integral, 0, 200, closed="both")] = 50
    max_nodes: Count | None = 5_000_000

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Search the tree, or splice size after size; then score the best fit of each size.
        equations = NormalEquations.of(scorer.problem, space)
        if space.n_units <= self.exact_up_to:
            yield from self._leap(scorer, space, equations, state)
        else:
            yield from self._splice(scorer, space, equations, state)

    def _leap(self, scorer: Objective, space: SearchSpace, equations: NormalEquations, state: State) -> Iterator[Step]:
        if not state:
            state.update(tree_of(equations, space))
            yield self._answer(scorer, space, state)
        limit = np.inf if self.max_nodes is None else self.max_nodes
        stack = tuple(state[name] for name in STACK)
        while state["progress"][0] >= 0 and state["progress"][1] < limit:
            n_nodes = int(min(NODES_PER_REPORT, limit - state["progress"][1]))
            limits = (space.min_units, space.max_units, n_nodes, SHARE)
            best = state["best_sums"], state["best_masks"]
            leap(state["progress"], equations.starts, stack, best, equations.block, limits)
            yield self._answer(scorer, space, state)
        scorer.note(self._proof(equations, space, state))
        state["sums"] = state["best_sums"] / equations.total
        yield self._answer(scorer, space, state)

    def _proof(self, equations: NormalEquations, space: SearchSpace, state: State) -> str:
        visited, n = int(state["progress"][1]), space.n_units
        if state["progress"][0] < 0:
            return (
                f"Leaps and bounds looked at {visited:,} fits: of every size, no subset of the {n} features has a "
                "smaller residual sum of squares. The criterion's score picked the size."
            )
        gap = open_gap(state, int(np.count_nonzero(state["best"])), space)
        return (
            f"Leaps and bounds was ended after {visited:,} fits: a subset of this size may have a residual sum of "
            f"squares smaller by up to {100 * gap:.2g} %. The criterion's score picked the size."
        )

    def _answer(self, scorer: Objective, space: SearchSpace, state: State) -> Step:
        """Score the best fits that are new, and answer with the best of an allowed size."""
        known = state.setdefault("scored", np.zeros_like(state["best_masks"]))
        scores = state.setdefault("scores", np.full(len(known), -np.inf))
        for size in range(space.min_units, space.max_units + 1):
            mask = state["best_masks"][size]
            if np.isfinite(state["best_sums"][size]) and (scores[size] == -np.inf or (known[size] != mask).any()):
                known[size], scores[size] = mask, float(scorer.score(mask[None])[0])
        best = max(range(space.min_units, space.max_units + 1), key=lambda size: (scores[size], -size))
        state.update(best=known[best].astype(bool), best_score=float(scores[best]))
        return Step(state["best"], state["best_score"], state["best"], state["best_score"])

    def _splice(
        self, scorer: Objective, space: SearchSpace, equations: NormalEquations, state: State
    ) -> Iterator[Step]:
        if not state:
            yield begin(scorer, space.empty(), state, size=0, stale=0, sums=[])
        most = min(space.max_units, equations.n_rows - 2)
        while state["size"] < most and (state["stale"] < STALE_SIZES or state["size"] < space.min_units):
            state["size"] += 1
            mask, total = spliced(equations, state["mask"], state["size"])
            better = move_to(mask, float(scorer.score(mask[None])[0]), state, space)
            state.update(stale=0 if better else state["stale"] + 1, sums=[*state["sums"], total / equations.total])
            yield step_of(state)
        scorer.note(
            f"Splicing looked for the best fit of each size up to {state['size']} (more than {self.exact_up_to} "
            "features: no proof that there is none better). The criterion's score picked the size."
        )
        yield Step(state["best"], state["best_score"], state["best"], state["best_score"])


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """Products of inputs and targets, inputs of a unit side by side, those forced in taken out beforehand.

    Attributes
    ----------
    gram : array of shape (p, p)
    moments : array of shape (p, q)
    total : float
        Sum of squares of the targets, given the inputs forced in.
    starts : int array of shape (n_units + 1,)
    n_rows : int
    """

    gram: FloatArray
    moments: FloatArray
    total: float
    starts: IntArray
    n_rows: int

    @classmethod
    def of(cls, problem: Problem, space: SearchSpace) -> NormalEquations:
        """Compute the products on the rows of a problem, for the units of a space."""
        shares = problem.row_weights / problem.row_weights.sum()
        inputs, owner = scaled_inputs(problem, shares)
        root = np.sqrt(shares)[:, None]
        targets = _targets_of(problem)
        targets = (targets - shares @ targets) * root
        blocks = [np.flatnonzero(np.isin(owner, unit)) for unit in space.units]
        X = inputs[:, np.concatenate([*blocks, np.empty(0, dtype=np.int64)]).astype(np.int64)] * root
        forced = inputs[:, space.base[owner]] * root
        if forced.shape[1]:
            vectors, lengths, _ = np.linalg.svd(forced, full_matrices=False)
            basis = vectors[:, lengths > 1e-10]
            X, targets = X - basis @ (basis.T @ X), targets - basis @ (basis.T @ targets)
        starts = np.cumsum([0, *(len(block) for block in blocks)]).astype(np.int64)
        gram = X.T @ X + RIDGE * np.eye(X.shape[1])
        return cls(gram, X.T @ targets, float((targets**2).sum()), starts, problem.n_samples)

    @property
    def block(self) -> FloatArray | None:
        """Room for the inputs of a unit, if some have several."""
        k = int(np.diff(self.starts).max(initial=1))
        return np.empty((k, k + 1)) if (np.diff(self.starts) != 1).any() else None

    def inputs_of(self, mask: BoolArray) -> IntArray:
        """List the inputs of the units in a state."""
        return np.flatnonzero(np.repeat(mask, np.diff(self.starts)))

    def fit(self, mask: BoolArray) -> tuple[FloatArray, FloatArray, IntArray, float]:
        """Return the inverse, the coefficients, the inputs and the residual sum of squares of a state."""
        columns = self.inputs_of(mask)
        inverse = np.asarray(np.linalg.inv(self.gram[np.ix_(columns, columns)]), dtype=np.float64)
        coefficients = inverse @ self.moments[columns]
        return inverse, coefficients, columns, self.total - float((self.moments[columns] * coefficients).sum())

    def losses_and_gains(self, mask: BoolArray) -> tuple[FloatArray, FloatArray, float]:
        """Return what each unit in a fit is worth, what each of the others would be, and the fit's sum."""
        inverse, coefficients, columns, total = self.fit(mask)
        worth = np.zeros(len(mask))
        place = np.full(len(self.gram), -1)
        place[columns] = np.arange(len(columns))
        left = self.gram - self.gram[:, columns] @ inverse @ self.gram[columns]
        pull = self.moments - self.gram[:, columns] @ coefficients
        for unit in range(len(mask)):
            inputs = np.arange(self.starts[unit], self.starts[unit + 1])
            if mask[unit]:
                inner = place[inputs]
                block, effect = inverse[np.ix_(inner, inner)], coefficients[inner]
            else:
                block, effect = left[np.ix_(inputs, inputs)], pull[inputs]
            worth[unit] = (effect * np.linalg.solve(block + 1e-14 * np.eye(len(inputs)), effect)).sum()
        return np.where(mask, worth, 0.0), np.where(mask, 0.0, worth), total


STACK = ("inverses", "coefficients", "orders", "losses", "places", "node_sums", "node_sizes", "alive")


def tree_of(equations: NormalEquations, space: SearchSpace) -> dict[str, Any]:
    """Lay out the tree at its root, with fits of a forward and a backward search as the best so far.

    Parameters
    ----------
    equations : NormalEquations
        Sums of products of the columns and the target.
    space : SearchSpace
        What may be chosen.

    Returns
    -------
    dict of arrays
    """
    n, p, q = space.n_units, *equations.moments.shape
    best_sums, best_masks = np.full(n + 1, np.inf), np.zeros((n + 1, n), dtype=bool)
    full = np.ones(n, dtype=bool)
    inverse, coefficients, _, total = equations.fit(full)
    best_sums[0], best_sums[n], best_masks[n] = equations.total, total, full
    mask = np.zeros(n, dtype=bool)
    for size in range(1, n):
        mask, least_sum = spliced(equations, mask, size)
        best_sums[size], best_masks[size] = least_sum, mask
    depth = n + 1
    tree: dict[str, Any] = {
        "inverses": np.zeros((depth, p, p)), "coefficients": np.zeros((depth, p, q)),
        "orders": np.zeros((depth, n), dtype=np.int64), "losses": np.zeros((depth, n)),
        "places": np.zeros(depth, dtype=np.int64), "node_sums": np.zeros(depth),
        "node_sizes": np.zeros((depth, 3), dtype=np.int64), "alive": np.zeros((depth, n), dtype=bool),
        "best_sums": best_sums, "best_masks": best_masks, "progress": np.zeros(2, dtype=np.int64),
    }  # fmt: skip
    tree["inverses"][0], tree["coefficients"][0], tree["node_sums"][0] = inverse, coefficients, total
    tree["orders"][0], tree["node_sizes"][0], tree["alive"][0] = np.arange(n), (n, 0, n), True
    stack = tuple(tree[name] for name in STACK)
    leap(tree["progress"], equations.starts, stack, (best_sums, best_masks), equations.block, (0, n, 1, SHARE))
    return tree


def open_gap(state: State, size: int, space: SearchSpace) -> float:
    """Return by what share the best sum of a size may still fall: from the least sum of a branch that was not taken.

    Parameters
    ----------
    state : dict
        Where the search stands.
    size : int
        Number of features.
    space : SearchSpace
        What may be chosen.

    Returns
    -------
    float
    """
    best = float(state["best_sums"][size])
    lowest = best
    for depth in range(int(state["progress"][0]) + 1):
        n_free, n_fixed, n_alive = state["node_sizes"][depth]
        for place in range(int(state["places"][depth]), int(n_free)):
            if n_fixed + place <= size <= n_alive - 1:
                lowest = min(lowest, float(state["losses"][depth, place]))
    return 1.0 - lowest / best if best > 0 else 0.0


def spliced(equations: NormalEquations, start: BoolArray, size: int) -> tuple[BoolArray, float]:
    """Fill a state up to a size by what is worth most, then let units change places as long as the sum falls.

    Parameters
    ----------
    equations : NormalEquations
        Sums of products of the columns and the target.
    start : bool array of shape (n_units,)
        The units that it starts from.
    size : int
        Number of units.

    Returns
    -------
    mask : bool array of shape (n_units,)
    total : float
    """
    mask = np.asarray(start, dtype=bool).copy()
    while mask.sum() < size:
        _, gains, _ = equations.losses_and_gains(mask)
        mask[int(np.argmax(np.where(mask, -1.0, gains)))] = True
    while True:
        losses, gains, total = equations.losses_and_gains(mask)
        inside, outside = np.flatnonzero(mask), np.flatnonzero(~mask)
        weakest = inside[np.argsort(losses[inside], kind="stable")]
        strongest = outside[np.argsort(-gains[outside], kind="stable")]
        for n in range(min(MOST_SPLICED, len(inside), len(outside)), 0, -1):
            other = mask.copy()
            other[weakest[:n]], other[strongest[:n]] = False, True
            if equations.fit(other)[3] < total * (1.0 - 1e-10):
                mask = other
                break
        else:
            return mask, total


def _targets_of(problem: Problem) -> FloatArray:
    """Return the targets as columns; classes as indicators."""
    if problem.task == "classification" and problem.y.ndim == 1:
        codes = problem.class_indicators
        return codes[:, 1:] if problem.n_classes == 2 else codes
    return np.asarray(problem.y, dtype=np.float64).reshape(problem.n_samples, -1)
