"""Near rows for Relief on a GPU: distances in float64; the differences to the rows found are summed on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Resources
from fewer.kernels._device import THREADS, Device, deal, on_devices, tell
from fewer.problem import FloatArray, IntArray

CAPACITIES = (4, 12, 24, 48, 96)
"""Lengths of lists that a kernel is compiled for."""
SPAN = 256
GROUP = 8
AT_ONCE = 1 << 33
"""Bytes of distances that are held at once."""
BAND = 1e-11
"""Rows so near to a radius, relative to it, are decided on the CPU."""


class ReliefDevice:
    """Rows on a device.

    Parameters
    ----------
    device : Device
    rows : array of shape (n, p)
        Numeric features scaled to 0 … 1, nominal ones as codes; NaN where missing. Sorted by class.
    nominal : uint8 array of shape (p,)
    bounds : int array of shape (c + 1,)
        Where the rows of each class begin.
    """

    def __init__(self, device: Device, rows: FloatArray, nominal: NDArray[np.uint8], bounds: IntArray) -> None:
        self._device, (self.n, self.p) = device, rows.shape
        self.bounds = bounds
        half = device.memory // 2
        if device.capacity_for(8 * self.p, half, "rows of this table") < self.n:
            device.capacity_for(8 * self.p * self.n, half, "times this table")  # says that it does not fit
        self._tile = min(device.capacity_for(8 * self.n, min(half, AT_ONCE), "rows of distances"), self.n)
        self._mixed = int(bool(nominal.any()) or bool(np.isnan(rows).any()))
        self._columns = device.put(np.ascontiguousarray(rows.T))
        self._nominal, self._bounds = device.put(nominal), device.put(bounds.astype(np.int32))

    def _distances(self, low: int, high: int, on_grid: bool) -> Iterator[tuple[int, int, int, Any]]:
        """Yield the distances of rows low … high − 1 to all rows, tile after tile."""
        device = self._device
        for first in range(low, high, self._tile):
            width = min(self._tile, high - first)
            blocks = -(-width // THREADS)
            out = device.full((self.n, width), 0.0, np.float64)
            device.run(
                "relief", "gaps", blocks * -(-self.n // SPAN), self._columns, self._nominal, self.n, self.p, first,
                width, int(on_grid), out, MIXED=self._mixed,
            )  # fmt: skip
            yield first, width, blocks, out

    def near(self, k: int, low: int, high: int) -> tuple[NDArray[np.int32], FloatArray]:
        """List the k nearest rows of each class of rows low … high − 1, and how far they are: (high − low, c, k)."""
        device, capacity = self._device, next(capacity for capacity in CAPACITIES if capacity >= k)
        n_classes, parts = len(self.bounds) - 1, []
        for first, width, blocks, distances in self._distances(low, high, on_grid=True):
            found = device.full((n_classes, k, width), 0, np.int32)
            near = device.full((n_classes, k, width), 0.0, np.float64)
            device.run(
                "relief", "nearest_gaps", blocks * n_classes, distances, self._bounds, first, width, k, found, near,
                CAPACITY=capacity, MIXED=self._mixed,
            )  # fmt: skip
            parts.append([np.moveaxis(device.get(array), -1, 0) for array in (found, near)])
        lists, far = (np.ascontiguousarray(np.concatenate(arrays)) for arrays in zip(*parts, strict=True))
        return lists, far

    def distance_sum(self, low: int, high: int) -> FloatArray:
        """Sum and count the known distances of rows low … high − 1 to all rows, the zero to themselves included."""
        total = np.zeros(2)
        for first, width, blocks, distances in self._distances(low, high, on_grid=False):
            _, _, sums, counts = self._radii(distances, first, width, blocks, 0.0)
            total += [sums.sum(), counts.sum() + width]
        return total

    def _radii(self, distances: Any, first: int, width: int, blocks: int, radius: float) -> list[NDArray[Any]]:
        device = self._device
        out = [device.full(width, 0, dtype) for dtype in (np.float64, np.uint8, np.float64, np.float64)]
        device.run("relief", "radii", blocks, distances, self.n, first, width, radius, BAND, *out, MIXED=self._mixed)
        return [device.get(array) for array in out]

    def within_radius(
        self, votes: FloatArray, radius: float, target: Any, low: int, high: int
    ) -> tuple[FloatArray, IntArray]:
        """Sum the scores of rows low … high − 1 as `surf_scores` does; and list the rows that must be decided.

        Those have no part in the sum.
        """
        device, total, left = self._device, np.zeros(self.p), []
        codes, y, bound, shares = target
        weights = np.append(np.zeros(1), shares) if bound > 0.0 else shares
        about = [
            device.put(codes.astype(np.int32)), self._bounds, device.put(weights), len(weights), device.put(y), bound
        ]  # fmt: skip
        for first, width, blocks, distances in self._distances(low, high, on_grid=False):
            limits, unsure, _, _ = self._radii(distances, first, width, blocks, radius)
            parts = device.full((self.p, width), 0.0, np.float64)
            device.run(
                "relief", "within_radius", blocks * -(-self.p // GROUP), self._columns, self._nominal, self.n, self.p,
                first, width, distances, device.put(limits), device.put(votes), *about, parts, MIXED=self._mixed,
            )  # fmt: skip
            total += device.get(parts)[:, unsure == 0].sum(axis=1)
            left.append(first + np.flatnonzero(unsure))
        return total, np.concatenate(left)


def relief_devices(
    resources: Resources, rows: FloatArray, nominal: NDArray[np.uint8], bounds: IntArray, k: int = 0
) -> list[ReliefDevice]:
    """Bring the rows to the devices asked for; none if the CPU does the work."""
    if resources.device != "cpu" and k > CAPACITIES[-1]:
        tell("Relief", f"n_neighbors={k} is more than {CAPACITIES[-1]}")
        return []
    return on_devices(resources.device, lambda device: ReliefDevice(device, rows, nominal, bounds))


def nearest_lists(devices: list[ReliefDevice], k: int) -> tuple[NDArray[np.int32], FloatArray]:
    """List the k nearest rows of each class of all rows, (n, c, k), and how far they are."""
    parts = deal(devices, lambda on, low, high: on.near(k, low, high), devices[0].n)
    lists, far = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return lists, far


def pooled(lists: NDArray[np.int32], far: FloatArray, codes: IntArray, numbers: IntArray) -> NDArray[np.int32]:
    """Merge the lists of all other classes: (n, 2, k), hits and misses; of equally near rows the smaller number."""
    n, _, k = lists.shape
    rows = np.arange(n)
    hits = lists[rows, codes]
    others, distances = lists.copy(), far.copy()
    others[rows, codes], distances[rows, codes] = -1, np.inf
    others, distances = others.reshape(n, -1), distances.reshape(n, -1)
    distances[others < 0] = np.inf
    order = np.lexsort((numbers[others], distances), axis=1)[:, :k]
    return np.ascontiguousarray(np.stack([hits, np.take_along_axis(others, order, axis=1)], axis=1))
