"""Near rows by exact distances on a GPU: any number of neighbors, classes or quantities, columns with weights.

The CPU's distances to the bit. Rows beyond the card's memory go there in tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewer.kernels.bundles import Exact, Rules
from fewer.kernels.device import THREADS, Device
from fewer.kernels.differences import kinds_of, unit_columns
from fewer.kernels.distances import FAR
from fewer.kernels.votes import SPARE
from fewer.problem import FloatArray, IntArray

# Lengths of lists that a kernel is compiled for.
CAPACITIES = (4, 8, 12, 16, 24, 32, 48, 64)
MOST_CLASSES = 64
MOST_KS = 8
# Bytes of results that are brought back at once.
AT_ONCE = 1 << 30


class Asked(NamedTuple):
    """Rows that ask for their neighbors: their numbers, here and on the device, and their cells there."""

    numbers: IntArray
    ids: Any
    cells: Any


class DeviceLists(NamedTuple):
    """The nearest rows of each row under each mask, (m, capacity, n), −1 where there is none; and how far they are."""

    found: NDArray[np.int32]
    distance: FloatArray


def capacity_for(n_neighbors: int) -> int | None:
    """Return the length of a list that holds this number of neighbors and a few more, None if there is no such kernel.

    Examples
    --------
    >>> capacity_for(5), capacity_for(100)
    (8, None)
    """
    return next((capacity for capacity in CAPACITIES if capacity >= n_neighbors + SPARE), None)


class ExactDevice:
    """Rows on a device, for exact distances.

    Parameters
    ----------
    device : Device
        The GPU.
    exact : Exact
        Its `fold` says which scale a row has.
    group : int array of shape (n,)
        Rows of one group are not each other's neighbors.
    """

    def __init__(self, device: Device, exact: Exact, group: IntArray) -> None:
        self._device, self._quantum = device, exact.quantum
        self.n, self.p = exact.columns.shape[1], exact.columns.shape[0]
        self._cells = np.where(exact.missing != 0, np.nan, exact.columns)
        self._shared = [
            device.put(kinds_of(exact, unit_columns(exact)[1])), device.put(exact.scale), device.put(exact.gap),
            1.5 * 2.0**52 * exact.quantum, device.put(exact.fold.astype(np.int32)),
        ]  # fmt: skip
        self._group = device.put(group.astype(np.int32))
        # Half of the memory is for two tiles of rows, a quarter for results.
        self._tile = int(min(device.capacity_for(2 * 8 * self.p, device.memory // 2, "rows of this table"), self.n))
        self._whole = device.put(self._cells) if self._tile == self.n else None
        self._voting: list[Any] | None = None

    # ------------------------------------------------------------------------------------------------- lists

    def near(self, weights: FloatArray, capacity: int) -> DeviceLists:
        """List the nearest rows of all rows under (m, p) weights."""
        rows = np.empty((len(weights), capacity, self.n), dtype=np.int32)
        distance = np.empty((len(weights), capacity, self.n))
        for low, high, batch in self._batches(weights, 12 * capacity):
            for part, lists, far, _ in self._lists(batch, capacity):
                a, b = part.numbers[0], part.numbers[-1] + 1
                rows[low:high, :, a:b] = self._device.get(lists)
                distance[low:high, :, a:b] = self._device.get(far)
        return DeviceLists(rows, distance)

    def _batches(self, weights: FloatArray, n_bytes: int) -> Iterator[tuple[int, int, FloatArray]]:
        """Cut masks into batches whose results fit, given the bytes for each mask and row."""
        size = max(min(self._device.memory // 4, AT_ONCE) // (n_bytes * self._tile), 1)
        for low in range(0, len(weights), size):
            high = min(low + size, len(weights))
            yield low, high, weights[low:high]

    def _tiles(self) -> Iterator[tuple[int, int, Any]]:
        """Yield the rows tile after tile, on the device."""
        for low in range(0, self.n, self._tile):
            high = min(low + self._tile, self.n)
            yield low, high, self._whole if self._whole is not None else self._device.put(self._cells[:, low:high])

    def _subsets(self, weights: FloatArray) -> list[Any]:
        """Lay out the columns of masks end to end: members, their weights, where each mask begins."""
        which, members = np.nonzero(weights)
        offsets = np.searchsorted(which, np.arange(len(weights) + 1))
        put = self._device.put
        return [
            put(np.append(members, 0).astype(np.int32)), put(np.append(weights[which, members], 0.0)),
            put(offsets.astype(np.int32)),
        ]  # fmt: skip

    def some(self, numbers: IntArray) -> Asked:
        """Bring some rows, in any order, to the device."""
        put = self._device.put
        return Asked(numbers, put(numbers.astype(np.int32)), put(np.ascontiguousarray(self._cells[:, numbers])))

    def _asked(self) -> Iterator[Asked]:
        """Yield all rows that ask, tile after tile."""
        for low, high, cells in self._tiles():
            numbers = np.arange(low, high)
            yield Asked(numbers, self._device.put(numbers.astype(np.int32)), cells)

    def _lists(
        self, weights: FloatArray, capacity: int, asked: Asked | None = None
    ) -> Iterator[tuple[Asked, Any, Any, list[Any]]]:
        device, subsets = self._device, self._subsets(weights)
        for part in self._asked() if asked is None else [asked]:
            width = len(part.numbers)
            near = device.full((len(weights), capacity, width), -1, np.int32)
            distance = device.full((len(weights), capacity, width), FAR, np.float64)
            for first, last, rows in self._tiles():
                device.run(
                    "exact", "listed", -(-width // THREADS) * len(weights), part.cells, width, part.ids, rows,
                    last - first, first, *self._shared, self._group, self.p, *subsets, near, distance,
                    CAPACITY=capacity,
                )  # fmt: skip
            yield part, near, distance, subsets

    # ------------------------------------------------------------------------------------------------- votes

    def gains(
        self, weights: FloatArray, rules: Rules, asked: Asked | None = None, by_row: FloatArray | None = None
    ) -> tuple[FloatArray, list[tuple[int, IntArray]]]:
        """Return what rows gain under (m, p) weights, (m, t), and the rows that could not be judged, mask by mask.

        Those must be judged by exact distances to all rows: quantities with long ties, or rows that came in tiles.
        `asked` are the rows to judge, all if left out; `by_row` grows by what each of them gains, unless it could not
        be judged at once.
        """
        device, t = self._device, len(rules.ks)
        capacity = capacity_for(int(rules.ks[-1]))
        assert capacity is not None, "no kernel lists so many rows"
        if self._voting is None:
            self._voting = [
                device.put(rules.codes.astype(np.int32)), device.put(rules.values), device.put(rules.row_weights),
                rules.n_classes, rules.grain, device.put(rules.ks.astype(np.int32)), t, int(rules.by_rows),
            ]  # fmt: skip
        total, left = np.zeros((len(weights), t)), []
        for low, high, batch in self._batches(weights, 12 * capacity + 1):
            gains = device.full((len(batch), t), 0.0, np.float64)
            for part, near, distance, subsets in self._lists(batch, capacity, asked):
                width = len(part.numbers)
                unsure = device.full((len(batch), width), 0, np.uint8)
                rows_gain = device.full(width if by_row is not None else 1, 0.0, np.float64)
                device.run(
                    "exact", "vote", -(-width // THREADS) * len(batch), near, distance, capacity, width, part.ids,
                    *self._voting, gains, unsure, int(by_row is not None), rows_gain,
                )  # fmt: skip
                if by_row is not None:
                    by_row[part.numbers] += device.get(rows_gain)
                which, rows = np.nonzero(device.get(unsure)) if not rules.by_rows else (np.empty(0, int),) * 2
                if len(rows) and self._whole is not None and rules.n_classes:
                    self._by_levels(which, part.numbers[rows], subsets, gains)
                elif len(rows):
                    starts = np.searchsorted(which, np.arange(len(batch) + 1))
                    unsure_in = np.flatnonzero(np.diff(starts)).tolist()
                    left += [(low + m, part.numbers[rows[starts[m] : starts[m + 1]]]) for m in unsure_in]
            total[low:high] = device.get(gains)
        return total, left

    def _by_levels(self, which: IntArray, rows: IntArray, subsets: list[Any], gains: Any) -> None:
        """Judge pairs of a mask and a row by distances to all rows, level by level, on the device."""
        device, voting = self._device, self._voting
        assert voting is not None
        at_once = max(device.memory // 4 // (8 * self.n), 1)
        for low in range(0, len(rows), at_once):
            piece = slice(low, low + at_once)
            n_pairs = len(rows[piece])
            device.run(
                "exact", "levels", n_pairs, self._whole, self.n, *self._shared, self._group, self.p, *subsets,
                device.put(rows[piece].astype(np.int32)), device.put(which[piece].astype(np.int32)), voting[0],
                voting[2], voting[3], voting[5], voting[6], device.full((n_pairs, self.n), 0.0, np.float64), gains,
            )  # fmt: skip

    # ----------------------------------------------------------------------------------------- neighborhoods

    def within(self, weights: FloatArray, limits: FloatArray, targets: Any, n_tallies: int) -> FloatArray:
        """Sum over the rows within each mask's limit of each row: (m, n_tallies, n), as `exact.cu` says."""
        device = self._device
        about = [
            int(targets.mode), int(targets.with_self), device.put(targets.codes.astype(np.int32)),
            device.put(targets.values), device.put(targets.row_weights), n_tallies,
        ]  # fmt: skip
        out = np.empty((len(weights), n_tallies, self.n))
        for low, high, batch in self._batches(weights, 8 * n_tallies):
            subsets, bounds = self._subsets(batch), device.put(limits[low:high])
            for a, b, asked in self._tiles():
                tallies = device.full((len(batch), n_tallies, b - a), 0.0, np.float64)
                for first, last, rows in self._tiles():
                    device.run(
                        "exact", "within", -(-(b - a) // THREADS) * len(batch), asked, b - a, a, rows, last - first,
                        first, *self._shared, self.p, *subsets, bounds, *about, tallies,
                    )  # fmt: skip
                out[low:high, :, a:b] = device.get(tallies)
        return out
