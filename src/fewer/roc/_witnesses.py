"""Rows that rates are measured on: what each vertex of a hull calls them, and who they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fewer.problem import BoolArray, FloatArray
from fewer.roc._choice import Digests, joint_digests, shares
from fewer.roc._hull import ChordPoint
from fewer.validate import ConfidenceInterval, wilson_interval

DISTINCT = 0.95
"""Share of rows that must be told apart by the cells in use for their hash to stand in for a draw."""

Choice = Literal["hash", "random"]


@dataclass(frozen=True)
class Rates:
    """False and true positive rate with their intervals, and the rows that they were measured on.

    Attributes
    ----------
    fpr, tpr : ConfidenceInterval
    rows : {"calibration", "validation"}
    """

    fpr: ConfidenceInterval
    tpr: ConfidenceInterval
    rows: Literal["calibration", "validation"]


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Rows that rates are measured on. Their cells are not kept.

    Attributes
    ----------
    called : bool array of shape (n_vertices, n_samples)
        Which rows each vertex calls positive.
    positive : bool array of shape (n_samples,)
    digests : uint64 array of shape (n_vertices, n_samples)
        Numbers made of the cells that each vertex uses.
    weight : float array of shape (n_samples,) or None
    rows : {"calibration", "validation"}
    """

    called: BoolArray
    positive: BoolArray
    digests: Digests
    weight: FloatArray | None
    rows: Literal["calibration", "validation"]

    @cached_property
    def _apart(self) -> dict[tuple[int, int], float]:
        return {}

    @cached_property
    def vertex_rates(self) -> tuple[FloatArray, FloatArray]:
        """Return the false and the true positive rate of each vertex."""
        weight = np.ones(len(self.positive)) if self.weight is None else self.weight
        fpr, tpr = (
            self.called[:, side] @ weight[side] / max(weight[side].sum(), 1e-300)
            for side in (~self.positive, self.positive)
        )
        return fpr, tpr

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Return how many negative and positive rows of equal weight would tell as much (Kish)."""
        if self.weight is None:
            return float((~self.positive).sum()), float(self.positive.sum())
        sides = [self.weight[side] for side in (~self.positive, self.positive)]
        negative, positive = (float(w.sum() ** 2 / (w**2).sum()) if (w > 0).any() else 0.0 for w in sides)
        return negative, positive

    def rates(self, point: ChordPoint) -> Rates:
        """Return the rates of a point: between two vertices, the mean over the draw of who decides."""
        bands = []
        for rates, n in zip(self.vertex_rates, self.sizes, strict=True):
            share = float((1 - point.share) * rates[point.low] + point.share * rates[point.high])
            about = "the probability that a new row of its class is called positive"
            bands.append(
                replace(wilson_interval(min(max(share, 0.0), 1.0) * n, n), estimand=about)
                if n > 0
                else ConfidenceInterval(float("nan"), 0.0, 1.0, 0.95, "no row of this class", about)
            )
        return Rates(bands[0], bands[1], self.rows)

    def told_apart(self, low: int, high: int) -> float:
        """Return the share of rows with distinct cells, among those that two vertices use."""
        if (low, high) not in self._apart:
            found = len(np.unique(joint_digests(self.digests[low], self.digests[high])))
            self._apart[low, high] = found / len(self.positive)
        return self._apart[low, high]

    def draws(self, low: int, high: int, choice: Choice, seed: Any) -> FloatArray:
        """Return the number of each row that decides who decides it."""
        if choice == "random":
            return np.random.default_rng(0 if seed is None else seed).random(len(self.positive))
        return shares(joint_digests(self.digests[low], self.digests[high]), 0 if seed is None else int(seed))
