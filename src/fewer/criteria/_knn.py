"""Nearest neighbors judged on held-out folds (Loughrey, chapter 2; specification section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import (
    Criterion,
    Masks,
    PredictiveScorer,
    Resources,
    SearchSpace,
    Sweep,
    Walk,
    best_of,
    gray_states,
)
from fewer.differences import Differences, Scaling
from fewer.kernels import _neighbors as kernels
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.validate import assign_folds

AUTO_NEIGHBORS = (1, 3, 5, 7, 9, 11)
ROW_BLOCK = 64


class KNN(Criterion):
    """Accuracy (or R²) of nearest neighbors, each row judged without its own fold.

    Parameters
    ----------
    n_neighbors : int, sequence of int or "auto", default=1
        How many neighbors vote. Of several numbers each subset uses the one that judges it best, the smaller among
        equals; `"auto"` means 1, 3, 5, 7, 9, 11.
    cv : int, "loo" or scikit-learn splitter, default=10
        Stratified folds, fixed once for a run; or leave-one-out. With fewer rows than folds, leave-one-out.
    voting : {"neighborhood", "neighbors"}, default="neighborhood"
        `"neighborhood"`: the rows at the k smallest *distinct* distances vote, and a tied vote takes in the next
        distance, and so on; when there is none left, the majority of the casebase decides. `"neighbors"`: the k
        nearest rows vote, earlier rows first among equally near ones; a tied vote goes to the nearest row.
    scaling : {"casebase", "global", "none"}, default="casebase"
        Numeric columns are divided by their range in the rows that serve as casebase, in all bound rows, or not.

    Notes
    -----
    Nominal columns count 0 if equal and 1 if not. A missing cell is as far from every other as two cells of its
    column are on average. Row weights count in votes and in the score. See `fewer.differences` for the precision.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.SubsetSelector(KNN(n_neighbors=5), fewer.search.Exhaustive(), random_state=0)
    >>> selector.fit(X, y).get_support()
    array([False, False,  True,  True])
    """

    weights: ClassVar[bool] = True
    predictive: ClassVar[bool] = True

    def __init__(
        self,
        n_neighbors: int | Sequence[int] | Literal["auto"] = 1,
        cv: Any = 10,
        voting: Literal["neighborhood", "neighbors"] = "neighborhood",
        scaling: Scaling = "casebase",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.voting = voting
        self.scaling = scaling

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> KNNScorer:
        """Bind to rows."""
        if self.voting not in ("neighborhood", "neighbors"):
            raise InputError(f"voting={self.voting!r} is not known; choose 'neighborhood' or 'neighbors'.")
        if self.scaling not in ("casebase", "global", "none"):
            raise InputError(f"scaling={self.scaling!r} is not known; choose 'casebase', 'global' or 'none'.")
        fold = assign_folds(problem, self.cv, rng)
        return KNNScorer(problem, fold, self._numbers(problem), self.voting == "neighbors", self.scaling, resources)

    def _numbers(self, problem: Problem) -> IntArray:
        numbers = AUTO_NEIGHBORS if self.n_neighbors == "auto" else self.n_neighbors
        ks = np.unique(np.asarray(numbers, dtype=np.int64))
        if ks.size == 0 or ks[0] < 1:
            raise InputError(f"n_neighbors={self.n_neighbors!r}: at least one neighbor is needed.")
        return np.unique(np.minimum(ks, max(problem.n_rows - 1, 1)))


class KNNScorer(PredictiveScorer):
    """`KNN` bound to rows."""

    def __init__(
        self,
        problem: Problem,
        fold: IntArray,
        ks: IntArray,
        by_rows: bool,
        scaling: Scaling,
        resources: Resources,
    ) -> None:
        self.problem = problem
        self.ks = ks
        self._by_rows = by_rows
        self._resources = resources
        self._differences = Differences.within(problem, fold, scaling)
        everyone = np.zeros(problem.n_rows, dtype=np.int64)
        self._all_rows = Differences.within(problem, everyone, "global" if scaling == "casebase" else scaling)
        self._row_weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
        classification = problem.task == "classification"
        self._targets = (
            problem.y if classification else np.zeros(problem.n_rows, dtype=np.int64),
            np.zeros(problem.n_rows) if classification else problem.y,
            self._row_weights,
            problem.n_classes if classification else 0,
        )
        self._blocks = [(low, min(low + ROW_BLOCK, problem.n_rows)) for low in range(0, problem.n_rows, ROW_BLOCK)]
        total = float(self._row_weights.sum())
        mean = 0.0 if classification else float(np.average(problem.y, weights=self._row_weights))
        spread = 0.0 if classification else float(self._row_weights @ (problem.y - mean) ** 2)
        self._offset, self._unit = (0.0, total) if classification else (1.0, spread or 1.0)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks or weights."""
        return self._best(self._gains(kernels.score_masks, len(masks), masks.astype(np.float64)))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit from one set of running distances."""
        members, offsets = _pack(units)
        return self._best(
            self._gains(
                kernels.score_flips,
                len(units),
                mask.astype(np.float64),
                members,
                offsets,
                values.astype(np.float64),
            )
        )

    def walk(self, mask: Masks, units: Sequence[IntArray]) -> Walk:
        """Stand on one mask with its distances at hand."""
        return KNNWalk(self, mask, units)

    def sweep(self, space: SearchSpace, start: int, stop: int, top: int) -> Sweep:
        """Score a range of subsets in Gray-code order."""
        members, offsets = _pack(space.units)
        best = Sweep(np.zeros((0, space.n_units), dtype=bool), np.empty(0), 0)
        for low in range(start, stop, 1 << 14):
            high = min(low + (1 << 14), stop)
            gains = self._gains(
                kernels.score_gray, high - low, low, high, space.base.astype(np.float64), members, offsets
            )
            states = gray_states(np.arange(low, high), space.n_units)
            allowed = space.allows(states)
            states = states[allowed]
            scores = space.objective(self._best(gains[allowed]), states)
            best = best_of(best, Sweep(states, scores, len(states)), top)
        return best

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from the other folds."""
        return self._predict(mask, self.problem.X, self._differences, self._differences.fold)

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        return self._predict(mask, X, self._all_rows, np.full(len(X), -1, dtype=np.int64))

    def n_neighbors_for(self, mask: Masks) -> int:
        """Give the number of neighbors that judges a subset best."""
        gains = self._gains(kernels.score_masks, 1, mask[None, :].astype(np.float64))[0]
        return int(self.ks[int(np.argmax(gains))])

    def _predict(self, mask: Masks, X: FloatArray, differences: Differences, fold: IntArray) -> FloatArray:
        k = self.ks if len(self.ks) == 1 else np.array([self.n_neighbors_for(mask)])
        holes = np.isnan(X)
        out = np.empty((len(X), max(self._targets[3], 1)))
        kernels.predict_rows(
            np.where(holes, 0.0, X), holes.astype(np.uint8), fold, mask.astype(np.float64),
            *differences.arrays(), *self._targets, k, self._by_rows, out,
        )  # fmt: skip
        return out if self._targets[3] else out[:, 0]

    def _best(self, gains: FloatArray) -> FloatArray:
        return self._offset + gains.max(axis=1) / self._unit

    def _gains(self, kernel: Callable[..., None], n: int, *arguments: Any) -> FloatArray:
        """Run a kernel on blocks of rows and sum what they gain; the blocks do not depend on the threads."""

        def run(block: tuple[int, int]) -> FloatArray:
            gains = np.zeros((n, len(self.ks)))
            kernel(*block, *arguments, *self._differences.arrays(), *self._targets, self.ks, self._by_rows, gains)
            return gains

        return np.asarray(sum(in_threads(run, self._blocks, self._resources.n_jobs)))


class KNNWalk(Walk):
    """Running distances under one mask; each move changes one unit's part of them."""

    def __init__(self, scorer: KNNScorer, mask: Masks, units: Sequence[IntArray]) -> None:
        self._scorer = scorer
        self._mask = mask.astype(np.float64)
        self._units = units
        n = scorer.problem.n_rows
        self._current, self._proposed = np.empty((n, n)), np.empty((n, n))
        kernels.fill_distances(0, n, self._mask, *scorer._differences.arrays(), self._current)
        self._change = (0, 0.0)

    def propose(self, unit: int, value: float) -> float:
        """Score the mask with one unit set to a value."""
        scorer, n = self._scorer, len(self._current)
        self._change = (unit, float(value))
        kernels.move(
            0, n, self._mask, self._units[unit], float(value), *scorer._differences.arrays(),
            self._current, self._proposed,
        )  # fmt: skip
        gains = np.zeros((1, len(scorer.ks)))
        kernels.score_distances(0, n, self._proposed, *scorer._targets, scorer.ks, scorer._by_rows, gains[0])
        return float(scorer._best(gains)[0])

    def accept(self) -> None:
        """Make the proposed change."""
        unit, value = self._change
        self._mask[self._units[unit]] = value
        self._current, self._proposed = self._proposed, self._current

    def reject(self) -> None:
        """Forget the proposed change."""


def in_threads(run: Callable[[Any], FloatArray], jobs: Sequence[Any], n_jobs: int) -> list[FloatArray]:
    """Run jobs that release the interpreter lock in threads and give the results in order."""
    if n_jobs == 1 or len(jobs) == 1:
        return [run(job) for job in jobs]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(run, jobs))


def _pack(units: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    members = np.concatenate([*units, np.empty(0, dtype=np.int64)])
    return members, np.cumsum([0, *(len(unit) for unit in units)]).astype(np.int64)
