"""Bins of a sparse table: only stored cells are coded, the others share one bin a column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fewer.kernels._sparse_information import Other, Stored, information_with_sparse
from fewer.parallel import in_threads
from fewer.problem import FloatArray, IntArray, Problem
from fewer.rankers._density import bin_edges, to_codes


class SparseBins:
    """Columns and target as codes, and the information between them, as `Bins` has it, without a dense table."""

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        table = problem.sparse
        self._starts, self._rows = table.indptr.astype(np.int64), table.indices.astype(np.int64)
        self._codes = np.empty(table.nnz, dtype=np.uint16)
        self._empty, self.levels = (np.zeros(problem.n_features, dtype=np.int64) for _ in range(2))
        for f in range(problem.n_features):
            edges, _ = bin_edges(problem.column(f), n_bins, False)
            own = slice(self._starts[f], self._starts[f + 1])
            cells = table.data[own]
            missing = np.isnan(cells)
            self._codes[own] = np.where(missing, len(edges) + 1, np.searchsorted(edges, cells, side="right"))
            self._empty[f] = np.searchsorted(edges, 0.0, side="right")
            self.levels[f] = len(edges) + 1 + bool(missing.any())
        if problem.task == "classification":
            self.target, self.n_target = problem.y.astype(np.int64), max(problem.n_classes, 1)
        else:
            codes, self.n_target = to_codes(problem.y, n_bins, False)
            self.target = codes.astype(np.int64)
        self.weights = problem.row_weights
        self._n_jobs = n_jobs

    def relevance(self, target: NDArray[np.int64] | None = None) -> FloatArray:
        """Return I(C; f) of every feature."""
        return self._with(self.target if target is None else target, self.n_target)[0]

    def redundancy(self, feature: int) -> FloatArray:
        """Return I(f; s) of every feature f with one feature s."""
        return self._with(self._column(feature), int(self.levels[feature]))[0]

    def conditional(self, feature: int) -> FloatArray:
        """Return I(f; C | s) = I(f; (s, C)) − I(f; s) of every feature f, given one feature s."""
        return np.maximum(self._with(*self._pair(feature))[0] - self.redundancy(feature), 0.0)

    def entropy(self, feature: int) -> FloatArray:
        """Return H(f, s, C) of every feature f, with one feature s and the target."""
        pair, n_pair = self._pair(feature)
        both, own = self._with(pair, n_pair)
        shares = np.bincount(pair, self.weights) / self.weights.sum()
        shares = shares[shares > 0]
        return np.asarray(own - float((shares * np.log(shares)).sum()) - both)

    def _pair(self, feature: int) -> tuple[IntArray, int]:
        return self._column(feature) * self.n_target + self.target, int(self.levels[feature]) * self.n_target

    def _column(self, feature: int) -> IntArray:
        """Return the codes of one column, all rows."""
        codes = np.full(len(self.target), self._empty[feature], dtype=np.int64)
        own = slice(self._starts[feature], self._starts[feature + 1])
        codes[self._rows[own]] = self._codes[own]
        return codes

    def _with(self, other: IntArray, n_other: int) -> tuple[FloatArray, FloatArray]:
        """Return the information of every feature and one vector of codes, and every feature's entropy."""
        p = len(self.levels)
        out, own = np.zeros(p), np.zeros(p)
        mass = np.bincount(other, self.weights, minlength=n_other)
        edges = np.linspace(0, p, max(min(self._n_jobs, p), 1) + 1).astype(np.int64)
        columns = Stored(self._starts, self._rows, self._codes, self._empty, self.levels)
        told = Other(other, mass, self.weights)

        def run(block: tuple[int, int]) -> None:
            information_with_sparse(*block, columns, told, out, own)

        in_threads(run, list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)), self._n_jobs)
        return out, own
