"""Scores of a linear fit from its residual sum of squares alone: AIC, BIC, Mallows's Cp, adjusted R²."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Masks, PredictiveScorer, Resources
from fewer.criteria._least_squares import LeastSquaresScorer
from fewer.problem import FloatArray, IntArray, Problem

TINY = 1e-300


class FitScorer(LeastSquaresScorer):
    """`LeastSquares` bound to rows, scored by the fit on all of them and the number of its inputs.

    With n rows, k inputs beside the constant, residual sum of squares S and q targets, all higher is better:

        aic = −n q log(S / n q) − 2 k q,    bic = −n q log(S / n q) − log(n) k q,
        cp = −(S / s² − n q + 2 (k + 1) q),    adjusted_r2 = 1 − S / S₀ · (n − 1) / (n − k − 1),

    s² being the residual variance with all columns and S₀ the sum with none.
    """

    def __init__(self, problem: Problem, alpha: float, resources: Resources, score: str) -> None:
        super().__init__(problem, alpha, resources)
        self._score = score

    @cached_property
    def _products(self) -> tuple[FloatArray, FloatArray, float]:
        """Products of inputs with each other, with the targets, and of the targets; weights have a mean of one."""
        shares = self._weights / self._weights.mean()
        targets = self._targets - np.average(self._targets, axis=0, weights=self._weights)
        weighted = self._inputs * shares[:, None]
        gram = weighted.T @ self._inputs + self._ridge / self._weights.mean() * np.eye(self._inputs.shape[1])
        return gram, weighted.T @ targets, float((shares @ targets**2).sum())

    @cached_property
    def _noise(self) -> float:
        """The residual variance with all inputs, for Cp."""
        everything = np.arange(self._inputs.shape[1])
        n_left = (self.problem.n_samples - 1 - len(everything)) * self._targets.shape[1]
        return self._sum_of(everything) / max(n_left, 1)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        used = np.asarray(masks, dtype=bool)[:, self._owner]
        return np.array([self._value(self._sum_of(np.flatnonzero(row)), int(row.sum())) for row in used])

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit."""
        return PredictiveScorer.flips(self, mask, units, values)

    def best_flip(self, mask: Masks, columns: IntArray) -> None:
        """Leave it to `flips`."""
        return

    def _sum_of(self, columns: IntArray) -> float:
        gram, moments, total = self._products
        if not len(columns):
            return total
        own = moments[columns]
        return max(total - float((own * np.linalg.solve(gram[np.ix_(columns, columns)], own)).sum()), 0.0)

    def _value(self, rest: float, k: int) -> float:
        n, q = self.problem.n_samples, self._targets.shape[1]
        if self._score == "adjusted_r2":
            total = self._products[2]
            return 1.0 - rest / max(total, TINY) * (n - 1) / (n - k - 1) if n > k + 1 else -np.inf
        if self._score == "cp":
            return -(rest / max(self._noise, TINY) - n * q + 2.0 * (k + 1) * q)
        price = 2.0 if self._score == "aic" else float(np.log(n))
        return -n * q * float(np.log(max(rest, TINY) / (n * q))) - price * k * q
