"""The nearest neighbor's class on a GPU: verdicts on all rows that float32 can decide, the others decided exactly.

Every subset judged by nearest neighbors, tree by tree; what cannot be among the best is given up early.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import SearchSpace, Sweep, best_of, gray_states
from fewer.kernels import sweep as kernels
from fewer.kernels.bundles import Units
from fewer.kernels.device import THREADS, Device, deal
from fewer.kernels.nearest import UNSURE, WRONG
from fewer.problem import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from fewer.criteria._exact_device import Asked
    from fewer.criteria._knn import KNNScorer, OnDevice

# Candidates that a kernel is compiled for.
SIZES = (4, 8, 12, 16, 20, 24, 32)
# Blocks that keep a large GPU busy.
BLOCKS = 2048
FAR = 1e30
STEEPEST = 1e30
# Classes among which the device decides votes; of more, the CPU does.
MOST_CLASSES = 8
# A block of the sweep judges 2^13 subsets.
FIXED = 13
# Rows by which a sweep judges; what is left then is scored in full.
ROWS_AT_MOST = 128
# Subsets left by these rows from which on all rows judge.
MANY_LEFT = 1 << 16
# Random subsets that tell which rows are hard.
DEVICE_SAMPLE = 4096


class NeighborDevice:
    """Rows on a device, for one neighbor and classes.

    Verdicts come for rows sorted by class, as in `differences.CoarseRows`.

    Parameters
    ----------
    device : Device
        The GPU.
    scorer : KNNScorer
        The criterion on these rows.
    """

    def __init__(self, device: Device, scorer: KNNScorer) -> None:
        coarse, exact = scorer._coarse, scorer._exact
        assert coarse is not None
        self._device, self._coarse, self._exact = device, coarse, exact
        self.n, self.p, self.n_classes = len(coarse.order), len(coarse.kinds), len(coarse.starts) - 1
        self._by_rows, self._weights = int(scorer._by_rows), scorer._rules.row_weights
        put = device.put
        self._kinds, self._fold = put(coarse.kinds), put(coarse.fold.astype(np.int32))
        self._columns, self._starts = put(coarse.columns), put(coarse.starts.astype(np.int32))
        self._codes = put(coarse.codes.astype(np.int32))
        self._root = put(np.sqrt(np.minimum(coarse.factor, STEEPEST)).astype(np.float32))
        self._gap = put(coarse.gap.astype(np.float32))
        self._deciding: list[Any] | None = None
        self._order: IntArray | None = None
        self._n_rows = ROWS_AT_MOST

    @staticmethod
    def bytes_for(scorer: KNNScorer) -> int:
        """Count the bytes that the rows take up: coarse and exact cells, missing ones, the nearest of each class."""
        n, p = scorer.problem.n_samples, scorer.problem.n_features
        return n * (p * (4 + 8 + 1) + 8 * scorer._rules.n_classes * SIZES[-1])

    # ------------------------------------------------------------------------------------------- given subsets

    def flips(self, base: IntArray, columns: IntArray) -> NDArray[np.uint8]:
        """Return verdicts (u, n) on the base columns with one more column each."""
        size = next((size for size in SIZES if size >= len(columns)), SIZES[-1])
        verdicts = np.empty((len(columns), self.n), dtype=np.uint8)
        for low in range(0, len(columns), size):
            some = columns[low : low + size]
            tried = np.full(size, -1, dtype=np.int32)
            tried[: len(some)] = some
            subsets = [np.append(base, column) for column in some]
            near = self._nearest([base], tried, size)
            verdicts[low : low + size] = self._judge(near, subsets)
        return verdicts

    def masks(self, masks: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Return verdicts (m, n) under masks (m, p)."""
        subsets = [np.flatnonzero(mask) for mask in masks]
        capacity = max(int(self._device.memory // (8 * self.n * self.n_classes)), 1)
        parts = [subsets[low : low + capacity] for low in range(0, len(subsets), capacity)]
        return np.concatenate([self._judge(self._nearest(part, np.full(1, -1), 0), part) for part in parts])

    def _nearest(self, bases: list[IntArray], tried: NDArray[Any], size: int) -> Any:
        device, n_blocks = self._device, -(-self.n // THREADS)
        used = np.concatenate([*bases, np.zeros(1, dtype=np.int64)]).astype(np.int32)
        first = np.cumsum([0, *(len(base) for base in bases)]).astype(np.int32)
        splits = max(min(BLOCKS // (n_blocks * self.n_classes * len(bases)), self.n // 256), 1)
        near = device.full((len(bases) * max(size, 1), self.n_classes, self.n), FAR, np.float32)
        device.run(
            "neighbors", "nearest", n_blocks * self.n_classes * splits * len(bases),
            self._columns, self._kinds, self._root, self._gap, 64.0, self._fold, self._starts, self.n, self.p,
            self.n_classes, splits, device.put(used), device.put(first), device.put(tried.astype(np.int32)), near,
            CANDIDATES=size,
        )  # fmt: skip
        return near

    def _judge(self, near: Any, subsets: list[IntArray]) -> NDArray[np.uint8]:
        device, m = self._device, len(subsets)
        steep = np.minimum(self._coarse.steep, STEEPEST)
        doubt = np.array([[steep[s].sum(), len(s), len(s) * self._exact.quantum] for s in subsets])
        out = device.full((m, self.n), 0, np.uint8)
        device.run(
            "neighbors", "verdicts", -(-m * self.n // THREADS),
            near, device.put(doubt), self._codes, self.n, self.n_classes, self._by_rows, m, out,
        )  # fmt: skip
        verdicts = device.get(out)
        which, rows = np.nonzero(verdicts == UNSURE)
        if len(rows) and self.n_classes <= MOST_CLASSES:
            verdicts[which, rows] = self._decide(which, self._coarse.order[rows], subsets)
        return verdicts

    def _decide(self, which: IntArray, rows: IntArray, subsets: list[IntArray]) -> NDArray[np.uint8]:
        """Judge pairs of a subset and a row (in the table's order) by exact distances; long ties stay unsure."""
        device, exact = self._device, self._exact
        if self._deciding is None:
            shift = 1.5 * 2.0**52 * exact.quantum
            codes = np.empty(self.n, dtype=np.int32)
            codes[self._coarse.order] = self._coarse.codes
            self._deciding = [
                device.put(exact.columns), device.put(exact.missing), device.put(exact.nominal),
                device.put(exact.scale), device.put(exact.gap), shift, device.put(exact.fold.astype(np.int32)),
                self.n, self.p, self.n_classes, self._by_rows, device.put(codes), device.put(self._weights),
            ]  # fmt: skip
        members = np.concatenate([*subsets, np.zeros(1, dtype=np.int64)]).astype(np.int32)
        offsets = np.cumsum([0, *(len(subset) for subset in subsets)]).astype(np.int32)
        out = device.full(len(rows), 0, np.uint8)
        device.run(
            "neighbors", "decide", len(rows), *self._deciding, device.put(rows.astype(np.int32)),
            device.put(which.astype(np.int32)), device.put(members), device.put(offsets), out,
        )  # fmt: skip
        return device.get(out)

    # ------------------------------------------------------------------------------------------- all subsets

    def can_sweep(self) -> bool:
        """Say whether the sweep's two minima, own class and others, decide a vote."""
        return self._by_rows == 1 or self.n_classes == 2

    def hard_rows(self, base: FloatArray, units: Any) -> IntArray:
        """Order the rows (sorted by class): those that most of some random subsets get wrong first."""
        if self._order is None:
            rng = np.random.default_rng(0)
            masks = np.repeat(base[None] > 0, DEVICE_SAMPLE, axis=0)
            for unit in units:
                masks[:, unit] = rng.random(DEVICE_SAMPLE)[:, None] < 0.5
            wrong = (self.masks(masks) == WRONG).sum(axis=0)
            self._order = np.argsort(-wrong, kind="stable")
        return self._order

    def survivors(self, tree: SubsetTree, units: Any, base: FloatArray, bound: int) -> IntArray | None:
        """Return the numbers of a tree's subsets with at most `bound` sure errors; None if they are too many."""
        device, coarse = self._device, self._coarse
        free = [units[u] for u in tree.free]
        fixed = np.concatenate([np.flatnonzero(base > 0), *(units[u] for u in tree.fixed)]).astype(np.int64)
        m, capacity = len(free), 1 << 20
        used = np.concatenate([*free, fixed])
        unit = coarse.unit_for(float(coarse.largest[used].sum()))
        layout = coarse.arrays(unit)
        tol = int(np.ceil(coarse.errors(unit)[used, 0].sum())) + 1
        members = np.concatenate([*free, fixed, np.zeros(1, dtype=np.int64)]).astype(np.int32)
        offsets = np.cumsum([0, *(len(unit) for unit in free), len(fixed)]).astype(np.int32)
        hardest = self.hard_rows(base, units)
        while True:
            order = hardest[: max(self._n_rows, 2 * bound)]
            found, count = device.full(capacity, 0, np.uint64), device.full(1, 0, np.uint32)
            device.run(
                "neighbors", "sweep", 1 << (m - FIXED),
                self._columns, self._kinds, device.put(layout.factor), device.put(layout.gap), layout.clip, self._fold,
                self._starts, self.n, self.p, self.n_classes, device.put(members), device.put(offsets), m, tol,
                device.put(order.astype(np.int32)), len(order), bound, 0, found, count, capacity,
            )  # fmt: skip
            n_found = int(device.get(count)[0])
            if n_found <= MANY_LEFT or len(order) == self.n:
                return None if n_found > capacity else device.get(found)[:n_found].astype(np.int64)
            # Scoring that many in full would cost more than comparing them all on every row here.
            self._n_rows = self.n


# Units of the smallest tree that a device judges.
SMALLEST = 13
# Subsets scored at once.
BATCH = 1 << 14
# Rows after which a device gives subsets up: most fall at the hardest few.
STAGES = (64, 128, 256)
# Subsets that tell which rows are hard.
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
        """Return the best subsets of a tree; those that score below the floor may be left out."""
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
        found = Sweep(states, space.objective(scores, states), int(np.count_nonzero(allowed)))
        return best_of(found, nothing(space), top)

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

        return [found for some in deal(devices, run, len(trees)) for found in some]

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
        found = Sweep(states, space.objective(np.concatenate([*scores, np.empty(0)]), states), self._n_allowed(tree))
        return best_of(found, nothing(space), top)

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
            for some, scores in deal(devices, run, len(states)):
                best = best_of(best, Sweep(some, space.objective(scores, some), 0), top)
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
        """Cut the rows into stages: those that lose most under some of the masks first."""
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
        shape = (2 * tree.n_subsets, len(self._scorer.ks))
        nodes = kernels.LossTree(np.empty(shape), np.empty(shape))
        kernels.plant(against, nodes)
        base = self._space.base.astype(np.float64)
        for unit in tree.fixed:
            base[self._space.units[unit]] = 1.0
        units = Units.of([self._space.units[unit] for unit in tree.free])
        worth = self._worth.copy()
        rows = np.argsort(-worth, kind="stable") if asked is None else asked
        self.n_looked += kernels.score_tree(rows, worth, bound, base, units, self._exact, self._rules, nodes)
        self._worth = worth
        losses = np.empty((tree.n_subsets, len(self._scorer.ks)))
        kernels.harvest(nodes, losses)
        # Rows were not judged where a subset was given up: what it lost so far is beyond the bound already.
        return losses

    def _bound(self, floor: float) -> float:
        """Return the largest loss with which a subset may still reach a score."""
        if floor == -np.inf:
            return np.finfo(np.float64).max
        scorer = self._scorer
        return self._most - (floor - 1e-11 * max(abs(floor), 1.0) - scorer._offset) * scorer._unit


def nothing(space: SearchSpace) -> Sweep:
    """Return a sweep of no subsets."""
    return Sweep(np.zeros((0, space.n_units), dtype=bool), np.empty(0), 0)
