"""A criterion that looks at some columns only: a sparse table becomes dense there and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Criterion, Masks, PredictiveScorer, Resources, Scorer
from fewer.io import SparseProblem
from fewer.problem import FloatArray, IntArray, Problem


class NarrowCriterion(Criterion):
    """Another criterion on some columns of a sparse table; masks still stand for all columns.

    Parameters
    ----------
    criterion : Criterion
    columns : int array
        Ascending; a mask may hold these only.
    """

    def __init__(self, criterion: Criterion, columns: IntArray) -> None:
        self.criterion = criterion
        self.columns = columns
        for name in ("monotone", "supports_weights", "predictive", "multi_output", "tasks"):
            setattr(self, name, getattr(criterion, name))

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        assert isinstance(problem, SparseProblem)
        inner = self.criterion.bind(problem.narrowed(self.columns), rng, resources)
        return NarrowScorer(inner, self.columns)


class NarrowScorer(PredictiveScorer):
    """A scorer of some columns that is asked about all."""

    def __init__(self, scorer: Any, columns: IntArray) -> None:
        self._scorer, self._columns = scorer, columns

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        return np.asarray(self._scorer.score(np.asarray(masks)[:, self._columns]))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score the masks that differ from one mask in one unit."""
        own = [np.searchsorted(self._columns, unit) for unit in units]
        return np.asarray(self._scorer.flips(np.asarray(mask)[self._columns], own, values))

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold."""
        return np.asarray(self._scorer.outputs(np.asarray(mask)[self._columns]))

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        return np.asarray(self._scorer.predict(np.asarray(mask)[self._columns], X[:, self._columns]))

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows in the criterion's own units."""
        return float(self._scorer.grade(outputs, rows))
