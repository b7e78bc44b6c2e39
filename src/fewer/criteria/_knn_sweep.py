"""Every subset scored by nearest neighbors, tree by tree; subsets that cannot be among the best are given up early."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewer.contracts import SearchSpace, Sweep, best_of, gray_states
from fewer.criteria._knn_device import NeighborDevice
from fewer.kernels import sweep as kernels
from fewer.kernels.bundles import Units
from fewer.kernels.device import deal
from fewer.problem import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from fewer.criteria._exact_device import Asked
    from fewer.criteria._knn import KNNScorer, OnDevice

# Units of the smallest tree that a device judges.
SMALLEST = 13
# Subsets scored at once.
BATCH = 1 << 14
# Rows after which a device gives subsets up: most fall at the hardest few.
STAGES = (64, 128, 256)
# Subsets that show which rows are hard.
SAMPLE = 256
# Units decided in one tree at most: to begin with a row costs as much as some thousand subsets.
TREE = 18


class SubsetTree(NamedTuple):
    """All subsets of some units beside those fixed: a range of 2^m Gray-code numbers that starts at a multiple."""

    fixed: IntArray
    free: IntArray

    @property
    def n_subsets(self) -> int:
        """How many subsets the tree has."""
        return 1 << len(self.free)

    def half(self, chosen: bool) -> SubsetTree:
        """Return the subsets with, or without, the unit decided first."""
        fixed = np.append(self.fixed, self.free[-1:]) if chosen else self.fixed
        return SubsetTree(fixed, self.free[:-1])

    def sizes(self) -> IntArray:
        """Count the units of each subset."""
        return np.bitwise_count(np.arange(self.n_subsets)).astype(np.int64) + len(self.fixed)

    def states(self, leaves: IntArray, n_units: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return the subsets with these numbers in the tree as states."""
        states = np.zeros((len(leaves), n_units), dtype=bool)
        states[:, self.fixed] = True
        states[:, self.free] = leaves[:, None] >> np.arange(len(self.free)) & 1 == 1
        return states


def trees_of(start: int, stop: int, highest: int, typical: FloatArray) -> Iterator[SubsetTree]:
    """Cut a range of Gray-code numbers into trees, in each of which the units with the smallest terms come first.

    Examples
    --------
    >>> [(tree.fixed.tolist(), tree.free.tolist()) for tree in trees_of(2, 8, 3, np.array([3.0, 2.0, 1.0]))]
    [([1], [0]), ([2], [1, 0])]
    """
    q = len(typical)
    while start < stop:
        height = 0
        while height < min(highest, q) and start & ((2 << height) - 1) == 0 and start + (2 << height) <= stop:
            height += 1
        code = start ^ (start >> 1)
        fixed = np.array([u for u in range(height, q) if code >> u & 1], dtype=np.int64)
        yield SubsetTree(fixed, np.argsort(typical[:height], kind="stable").astype(np.int64))
        start += 1 << height


class Sweeper:
    """Judges trees of subsets for one scorer and one space, and learns which rows decide most for the least work.

    Parameters
    ----------
    scorer : KNNScorer
        The criterion on these rows.
    space : SearchSpace
        What may be chosen.
    """

    def __init__(self, scorer: KNNScorer, space: SearchSpace) -> None:
        self._scorer, self._space = scorer, space
        self._exact, self._rules = scorer._exact, scorer._rules
        self._worth = np.zeros(scorer.problem.n_samples)
        self.typical = np.array([self._exact.gap[0, unit].sum() for unit in space.units])
        self._most = float(self._rules.row_weights.sum()) if self._rules.n_classes else 0.0
        self.n_looked = 0.0
        self._staged_rows: dict[OnDevice, list[Asked]] = {}

    def allowed(self, tree: SubsetTree) -> BoolArray:
        """Say which subsets of a tree have an allowed size."""
        sizes = tree.sizes()
        return (sizes >= self._space.min_units) & (sizes <= self._space.max_units)

    def judge(self, tree: SubsetTree, top: int, floor: float) -> Sweep:
        """Return the best subsets of a tree; subsets below the floor may be left out."""
        space, scorer = self._space, self._scorer
        allowed = self.allowed(tree)
        against = np.where(allowed, 0.0, np.inf)
        if space.has_prices:
            against += scorer._unit * space.price(tree.states(np.arange(tree.n_subsets), space.n_units))
        losses = self._losses(tree, against, self._bound(floor))
        gains = self._most - losses
        leaves = np.flatnonzero(losses.min(axis=1) + against <= self._bound(floor))
        scores = scorer._best(gains[leaves])
        if not space.has_prices and len(leaves) > top:
            # Rounded scores keep their order, so that what is below the top ones by more than that stays out.
            least = np.partition(scores, -top)[-top]
            good = scores >= least - 1e-11 * max(abs(least), 1.0)
            leaves, scores = leaves[good], scores[good]
        states = tree.states(leaves, space.n_units)
        swept = Sweep(states, space.objective(scores, states), int(np.count_nonzero(allowed)))
        return best_of(swept, nothing(space), top)

    def can_use(self, device: NeighborDevice) -> bool:
        """Say whether a device can count this space's sure errors: rows weigh the same, and no unit has a reward."""
        weights = self._rules.row_weights
        return device.can_sweep() and bool((weights == weights[0]).all()) and bool((self._space.prices >= 0).all())

    def judge_on_all(self, devices: list[NeighborDevice], tree: SubsetTree, top: int, floor: float) -> list[Sweep]:
        """Do as `judge_on` on several devices, each its share of the tree."""
        trees = [tree]
        while len(trees) < len(devices) and len(trees[0].free) > SMALLEST:
            trees = [half for tree in trees for half in (tree.half(False), tree.half(True))]

        def run(device: NeighborDevice, low: int, high: int) -> list[Sweep]:
            return [self.judge_on(device, part, top, floor) for part in trees[low:high]]

        return [sweep for sweeps in deal(devices, run, len(trees)) for sweep in sweeps]

    def judge_on(self, device: NeighborDevice, tree: SubsetTree, top: int, floor: float) -> Sweep:
        """Do as `judge` on a device, which gives up most subsets; those left are scored in full."""
        space, scorer = self._space, self._scorer
        bound = int(self._bound(floor) / self._rules.row_weights[0])
        leaves = None
        if len(tree.free) >= SMALLEST and bound < len(self._rules.row_weights):
            leaves = device.survivors(tree, space.units, space.base.astype(np.float64), bound)
        elif len(tree.free) <= TREE:
            return self.judge(tree, top, floor)
        if leaves is None:
            halves = [tree.half(False), tree.half(True)]
            one, other = (self.judge_on(device, half, top, floor) for half in halves)
            return best_of(one, other, top)
        states = tree.states(leaves, space.n_units)
        states = states[space.allows(states)]
        scores = [scorer.score(space.expand(states[low : low + BATCH])) for low in range(0, len(states), BATCH)]
        swept = Sweep(states, space.objective(np.concatenate([*scores, np.empty(0)]), states), self._n_allowed(tree))
        return best_of(swept, nothing(space), top)

    def judge_batches(self, devices: list[OnDevice], start: int, stop: int, top: int, floor: float) -> Sweep:
        """Judge a range of Gray-code numbers on devices, batch by batch, whatever the neighbors, classes and weights.

        Each batch is judged by a few hard rows first; subsets that lose more on them than the floor allows are given
        up, and the others judged by more rows.
        """
        space, best = self._space, nothing(self._space)
        for low in range(start, stop, BATCH):
            states = gray_states(np.arange(low, min(low + BATCH, stop)), space.n_units)
            states = states[space.allows(states)]
            bounds = np.full(len(states), self._bound(floor))
            if space.has_prices:
                bounds -= self._scorer._unit * space.price(states)
            run = partial(self._judge_part, states=states, bounds=bounds)
            for batch, scores in deal(devices, run, len(states)):
                best = best_of(best, Sweep(batch, space.objective(scores, batch), 0), top)
            best = best_of(best, Sweep(states[:0], np.empty(0), len(states)), top)
            if len(best.scores) == top:
                floor = max(floor, float(best.scores[-1]))
        return best

    def _judge_part(
        self, on: OnDevice, low: int, high: int, states: BoolArray, bounds: FloatArray
    ) -> tuple[BoolArray, FloatArray]:
        """Return the states of a part that may keep within their bounds, and their scores.

        Stage after stage of rows is judged, and what has lost too much by then is given up.
        """
        states, bounds = states[low:high], bounds[low:high]
        masks = self._space.expand(states).astype(np.float64)
        left, gains, most = np.arange(len(masks)), np.zeros((len(masks), len(self._scorer.ks))), 0.0
        for asked in self._stages(on, masks):
            gains = gains + on.exact_gains(masks[left], asked)
            most += float(self._rules.row_weights[asked.numbers].sum()) if self._rules.n_classes else 0.0
            good = most - gains.max(axis=1) <= bounds[left]
            left, gains = left[good], gains[good]
            if not len(left):
                break
        return states[left], self._scorer._best(gains)

    def _stages(self, on: OnDevice, masks: FloatArray) -> list[Asked]:
        """Cut the rows into stages: first the ones that lose most under some of the masks."""
        if on not in self._staged_rows:
            by_row = np.zeros(len(self._worth))
            sample = np.random.default_rng(0).permutation(len(masks))[:SAMPLE]
            on.exact_gains(masks[sample], None, by_row)
            most = self._rules.row_weights if self._rules.n_classes else np.zeros(len(by_row))
            order = np.argsort(by_row - len(sample) * most, kind="stable")
            edges = [edge for edge in STAGES if edge < len(order)]
            self._staged_rows[on] = [on.exact.some(part) for part in np.split(order, edges)]
        return self._staged_rows[on]

    def _n_allowed(self, tree: SubsetTree) -> int:
        fixed, space = len(tree.fixed), self._space
        return sum(
            comb(len(tree.free), size - fixed) for size in range(space.min_units, space.max_units + 1) if size >= fixed
        )

    def trees_with(self, states: BoolArray) -> Iterator[tuple[SubsetTree, BoolArray]]:
        """Return the trees that hold some subsets, and which of a tree's subsets these are."""
        height = min(TREE, self._space.n_units)
        free = np.argsort(self.typical[:height], kind="stable").astype(np.int64)
        leaves = states[:, free] @ (1 << np.arange(height))
        above = states[:, height:] @ (1 << np.arange(self._space.n_units - height))
        order = np.argsort(above, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(above[order])) + 1) if len(order) else ():
            tree = SubsetTree(height + np.flatnonzero(states[part[0], height:]), free)
            asked = np.zeros(tree.n_subsets, dtype=bool)
            asked[leaves[part]] = True
            yield tree, asked

    def judge_against(self, part: tuple[SubsetTree, BoolArray], wrong: IntArray, allowed: IntArray) -> Sweep:
        """Return a tree's subsets that compare well with another subset, which gets the `wrong` rows wrong.

        These rows come first. They say how many others a subset may get wrong, and most subsets may few.
        """
        tree, asked = part
        weight, most = self._rules.row_weights[0], int(allowed.max())
        against = np.where(asked, 0.0, np.inf)
        missed = self._losses(tree, against, self._bound(-np.inf), wrong)[:, 0]
        right = np.where(asked, len(wrong) - np.rint(missed / weight), 0).astype(np.int64)
        against += weight * (most - allowed[right])
        rest = np.argsort(-self._worth, kind="stable")
        losses = self._losses(tree, against, weight * (most + 0.5), rest[~np.isin(rest, wrong)])[:, 0]
        leaves = np.flatnonzero(losses + against <= weight * (most + 0.5))
        states = tree.states(leaves, self._space.n_units)
        scores = self._scorer._best(self._most - (missed + losses)[leaves, None])
        return Sweep(states, self._space.objective(scores, states), int(np.count_nonzero(asked)))

    def _losses(self, tree: SubsetTree, against: FloatArray, bound: float, asked: IntArray | None = None) -> FloatArray:
        """Sum the losses of all rows, or of those asked, under each subset of a tree: (2^h, t)."""
        nodes = kernels.plant(against, len(self._scorer.ks))
        base = self._space.base.astype(np.float64)
        for unit in tree.fixed:
            base[self._space.units[unit]] = 1.0
        units = Units.of([self._space.units[unit] for unit in tree.free])
        worth = self._worth.copy()
        rows = np.argsort(-worth, kind="stable") if asked is None else asked
        room = kernels.room_for(len(tree.free), len(worth), bound, self._rules)
        self.n_looked += kernels.score_tree(rows, worth, base, units, self._exact, self._rules, nodes, room)
        self._worth = worth
        # Rows were not judged where a subset was given up: what it lost so far is beyond the bound already.
        return kernels.harvest(nodes)

    def _bound(self, floor: float) -> float:
        """Return the largest loss with which a subset may still reach a score."""
        if floor == -np.inf:
            return np.finfo(np.float64).max
        scorer = self._scorer
        return self._most - (floor - 1e-11 * max(abs(floor), 1.0) - scorer._offset) * scorer._unit


def nothing(space: SearchSpace) -> Sweep:
    """Return a sweep of no subsets."""
    return Sweep(np.zeros((0, space.n_units), dtype=bool), np.empty(0), 0)
