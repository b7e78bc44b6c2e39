"""Mutual information of columns: by bins, or by Gaussian kernels (Nel, chapter 4)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from fewer.kernels._information import information_with
from fewer.problem import FloatArray, IntArray, Problem

Codes = NDArray[np.int32]


class Bins:
    """Columns and target as integer codes, and the information between them.

    A column with at most `n_bins` values, or a nominal one, keeps them; others are cut into bins that hold about as
    many rows each. Missing cells are a level of their own.
    """

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        nominal = problem.nominal
        columns = np.ascontiguousarray(problem.X.T)
        coded = [to_codes(column, n_bins, bool(nominal[f])) for f, column in enumerate(columns)]
        self.codes: Codes = np.array([codes for codes, _ in coded], dtype=np.int32).reshape(len(coded), problem.n_rows)
        self.levels: IntArray = np.array([n for _, n in coded], dtype=np.int64)
        if problem.task == "classification":
            self.target, self.n_target = problem.y.astype(np.int32), max(problem.n_classes, 1)
        else:
            self.target, self.n_target = to_codes(problem.y, n_bins, False)
        self.weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        self._n_jobs = n_jobs

    def relevance(self, target: Codes | None = None) -> FloatArray:
        """Give I(C; f) of every feature."""
        return self.with_codes(self.target if target is None else target, self.n_target)

    def redundancy(self, feature: int) -> FloatArray:
        """Give I(f; s) of every feature f with one feature s."""
        return self.with_codes(self.codes[feature], int(self.levels[feature]))

    def conditional(self, feature: int) -> FloatArray:
        """Give I(f; C | s) = I(f; (s, C)) − I(f; s) of every feature f, given one feature s."""
        pair = self.codes[feature] * np.int32(self.n_target) + self.target
        both = self.with_codes(pair, int(self.levels[feature]) * self.n_target)
        return np.maximum(both - self.redundancy(feature), 0.0)

    def with_codes(self, target: Codes, n_target: int) -> FloatArray:
        """Give the information of every feature and one vector of codes, blocks of features in threads."""
        p = len(self.codes)
        out = np.zeros(p)
        edges = np.linspace(0, p, max(min(self._n_jobs, p), 1) + 1).astype(np.int64)

        def run(block: tuple[int, int]) -> None:
            information_with(*block, self.codes, self.levels, target, n_target, self.weights, out)

        blocks = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        if len(blocks) == 1:
            run(blocks[0])
        else:
            with ThreadPoolExecutor(len(blocks)) as pool:
                list(pool.map(run, blocks))
        return out


class Kernels:
    """The information between columns and target from kernel estimates of their densities, at most two at a time.

    With classes, I(C; f) compares the density of f in the row's class with that in all classes, averaged over rows;
    each class has its own normal-reference width, σ (4 / 3n)^(1/5). Two quantities share a product kernel of widths
    σ n^(−1/6). Levels of nominal columns act as classes. Missing cells count as the column's mean.
    """

    def __init__(self, problem: Problem, width: float = 1.0) -> None:
        self._weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        self._share = self._weights / self._weights.sum()
        self._width = width
        self._nominal = problem.nominal
        self._columns: list[FloatArray] = []
        for f, cells in enumerate(problem.X.T):
            holes = np.isnan(cells)
            if self._nominal[f]:
                self._columns.append(to_codes(cells, 2, True)[0].astype(np.float64))
            else:
                mean = float(cells[~holes].mean()) if not holes.all() else 0.0
                self._columns.append(np.where(holes, mean, cells))
        self.target = problem.y.astype(np.float64)
        self._classes = problem.task == "classification"
        self._matrix: FloatArray | None = None

    def relevance(self, target: NDArray[np.float64] | None = None) -> FloatArray:
        """Give I(C; f) of every feature."""
        y = self.target if target is None else target
        return np.array([self._pair(f, y, self._classes) for f in range(len(self._columns))])

    def redundancy(self, feature: int) -> FloatArray:
        """Give I(f; s) of every feature f with one feature s."""
        if self._matrix is None:
            self._matrix = self._all_pairs()
        return self._matrix[feature]

    def _pair(self, feature: int, other: FloatArray, other_is_nominal: bool) -> float:
        one, one_is_nominal = self._columns[feature], bool(self._nominal[feature])
        if one_is_nominal and other_is_nominal:
            return count_information(one, other, self._weights)
        if one_is_nominal or other_is_nominal:
            codes, values = (one, other) if one_is_nominal else (other, one)
            return class_information(values, codes, self._weights, self._width)
        kernels = [self._kernel(values) for values in (one, other)]
        densities = [kernel @ self._share for kernel in kernels]
        joint = (kernels[0] * kernels[1]) @ self._share
        return max(float(self._share @ np.log(joint / (densities[0] * densities[1]))), 0.0)

    def _all_pairs(self) -> FloatArray:
        """Give I(f; g) for all pairs; those of two quantities by one matrix product a row."""
        p, n = len(self._columns), len(self._share)
        matrix = np.zeros((p, p))
        numeric = [f for f in range(p) if not self._nominal[f]]
        if numeric:
            widths = np.array([self._width_of(self._columns[f]) for f in numeric])
            scaled = np.array([self._columns[f] for f in numeric]) / widths[:, None]
            total = np.zeros((len(numeric),) * 2)
            for low in range(0, n, 32):
                gaps = scaled[:, low : low + 32, None] - scaled[:, None, :]
                kernels = np.exp(-0.5 * gaps**2).transpose(1, 0, 2)
                alone = kernels @ self._share
                joint = (kernels * self._share) @ kernels.transpose(0, 2, 1)
                logs = np.log(joint) - np.log(alone)[:, :, None] - np.log(alone)[:, None, :]
                total += np.tensordot(self._share[low : low + 32], logs, axes=1)
            matrix[np.ix_(numeric, numeric)] = np.maximum(total, 0.0)
        for f in np.flatnonzero(self._nominal):
            for g in range(p):
                matrix[f, g] = matrix[g, f] = self._pair(g, self._columns[f], True)
        return matrix

    def _kernel(self, values: FloatArray) -> FloatArray:
        scaled = values / self._width_of(values)
        return np.exp(-0.5 * (scaled[:, None] - scaled) ** 2)

    def _width_of(self, values: FloatArray) -> float:
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return self._width * spread * len(values) ** (-1.0 / 6.0) or 1.0


def to_codes(values: NDArray[np.float64], n_bins: int, nominal: bool) -> tuple[Codes, int]:
    """Give a column as codes 0, 1, …, and how many codes there may be.

    Examples
    --------
    >>> to_codes(np.array([5.0, 7.0, np.nan, 5.0]), 10, False)
    (array([0, 1, 2, 0], dtype=int32), 3)
    """
    ordered = np.sort(values)  # NaN comes last
    n_present = len(values) - int(np.isnan(values).sum())
    present = ordered[:n_present]
    first = np.flatnonzero(np.diff(present, prepend=-np.inf) > 0) if n_present else np.empty(0, dtype=np.int64)
    if nominal or len(first) <= n_bins:
        edges = present[first][1:]
    else:
        # A value goes to the bin of the middle of the ranks that its rows take up.
        middle = (first + np.append(first[1:], n_present)) * n_bins // (2 * n_present)
        edges = present[first[np.flatnonzero(np.diff(middle)) + 1]]
    codes = _count_below(edges, values)
    if n_present < len(values):
        codes[np.isnan(values)] = len(edges) + 1
        return codes, len(edges) + 2
    return codes, len(edges) + 1


def _count_below(edges: FloatArray, values: FloatArray) -> Codes:
    """Count, for each value, the edges that it reaches; a few edges are compared faster than searched."""
    if len(edges) > 32:
        return np.searchsorted(edges, values, side="right").astype(np.int32)
    codes = np.zeros(len(values), dtype=np.int8)
    for edge in edges:
        codes += values >= edge
    return codes.astype(np.int32)


def class_information(values: FloatArray, classes: FloatArray, weights: FloatArray, width: float = 1.0) -> float:
    """Give I(C; f) by kernel densities of f in each class, averaged over the rows."""
    share = weights / weights.sum()
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    if spread == 0:
        return 0.0
    codes = np.unique(classes)
    densities, priors = np.zeros((len(codes), len(values))), np.zeros(len(codes))
    for place, code in enumerate(codes):
        rows = classes == code
        mine, mass = values[rows], weights[rows]
        if mass.sum() == 0:
            continue
        own = float(np.std(mine, ddof=1)) if len(mine) > 1 else 0.0
        h = width * max(own, 1e-3 * spread) * (4.0 / (3.0 * len(mine))) ** 0.2
        kernel = np.exp(-0.5 * ((values[:, None] - mine) / h) ** 2)
        densities[place] = kernel @ mass / (mass.sum() * h)
        priors[place] = share[rows].sum()
    mixture = priors @ densities
    own_density = densities[np.searchsorted(codes, classes), np.arange(len(values))]
    counted = share > 0
    return max(float(share[counted] @ np.log(own_density[counted] / mixture[counted])), 0.0)


def count_information(one: FloatArray, other: FloatArray, weights: FloatArray) -> float:
    """Give the mutual information of two columns of codes."""
    out = np.zeros(1)
    codes = one.astype(np.int32)[None]
    levels = np.array([int(one.max()) + 1])
    information_with(0, 1, codes, levels, other.astype(np.int32), int(other.max()) + 1, weights, out)
    return float(out[0])
