"""The nearest neighbor's class on a GPU: float32 decides the rows that it can, exact distances decide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.device import THREADS, Device
from fewer.kernels.nearest import UNSURE, WRONG
from fewer.problem import FloatArray, IntArray

if TYPE_CHECKING:
    from fewer.criteria._knn import KNNScorer
    from fewer.criteria._knn_sweep import SubsetTree

# Candidates that a kernel is compiled for.
SIZES = (4, 8, 12, 16, 20, 24, 32)
# Blocks that keep a large GPU busy.
BLOCKS = 2048
FAR_ON_DEVICE = 1e30
STEEPEST = 1e30
# Classes among which the device decides votes; of more, the CPU does.
MOST_CLASSES = 8
# A block of the sweep judges 2^13 subsets.
FIXED = 13
# Rows by which a sweep judges; what is left then is scored in full.
ROWS_AT_MOST = 128
# Subsets left by these rows from which on all rows judge.
MANY_LEFT = 1 << 16
# Random subsets that show which rows are hard.
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
            batch = columns[low : low + size]
            tried = np.full(size, -1, dtype=np.int32)
            tried[: len(batch)] = batch
            subsets = [np.append(base, column) for column in batch]
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
        near = device.full((len(bases) * max(size, 1), self.n_classes, self.n), FAR_ON_DEVICE, np.float32)
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
        """Order the rows (sorted by class): first the ones that most of some random subsets get wrong."""
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
            numbers, count = device.full(capacity, 0, np.uint64), device.full(1, 0, np.uint32)
            device.run(
                "neighbors", "sweep", 1 << (m - FIXED),
                self._columns, self._kinds, device.put(layout.factor), device.put(layout.gap), layout.clip, self._fold,
                self._starts, self.n, self.p, self.n_classes, device.put(members), device.put(offsets), m, tol,
                device.put(order.astype(np.int32)), len(order), bound, 0, numbers, count, capacity,
            )  # fmt: skip
            n_found = int(device.get(count)[0])
            if n_found <= MANY_LEFT or len(order) == self.n:
                return None if n_found > capacity else device.get(numbers)[:n_found].astype(np.int64)
            # Scoring that many in full would cost more than comparing them all on every row here.
            self._n_rows = self.n
