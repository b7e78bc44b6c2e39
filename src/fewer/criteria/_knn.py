"""Nearest neighbors as criterion, scored on held-out folds (Loughrey, chapter 2; specification section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import (
    ROWS,
    Criterion,
    Masks,
    Moves,
    MovesResult,
    PredictiveScorer,
    Resources,
    SearchSpace,
    Sweep,
    Walk,
    best_of,
)
from fewer.contracts.declaring import Count, parameters
from fewer.criteria._exact_device import MOST_CLASSES, MOST_KS, Asked, ExactDevice, capacity_for
from fewer.criteria._knn_device import NeighborDevice
from fewer.criteria._knn_sweep import SMALLEST, TREE, Sweeper, nothing, trees_of
from fewer.kernels import moves as walking
from fewer.kernels import nearest
from fewer.kernels import neighbors as kernels
from fewer.kernels.bundles import Exact, Moved, Queries, Rules, Units, changes_from_none, changes_of
from fewer.kernels.device import Device, deal, on_devices, tell
from fewer.kernels.differences import CoarseRows, Scaling, exact_rows
from fewer.kernels.distances import FAR, FAR_32, first_distances
from fewer.kernels.neighbors import column_gains
from fewer.kernels.votes import make_ballot
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.validate import CV, assign_folds

AUTO_NEIGHBORS = (1, 3, 5, 7, 9, 11)
TABLE_WIDTH = 512  # columns that the tables of `coarse_masks` cover at once: they stay in the cache
TABLES = 1 << 17  # numbers in all tables at once: they stay in the second cache
TABLE_SIZE = 16  # combinations of levels in one such table
BATCH = 4096  # masks whose verdicts are held at once
MOVES_REMEMBERED = 1 << 16  # states whose scores a run of moves remembers
MOVES_AT_ONCE = 1 << 28  # distances of one run of moves: the interpreter is deaf for about a tenth of a second
DEVICE_LIMIT = 1 << 36  # subsets that an exhaustive search may have on a GPU
WORTH_A_DEVICE = 4096  # rows: with fewer, running distances on the CPU try a change faster than a GPU starts
WORTH_SORTING = 1024  # rows: with fewer, columns by themselves are judged before another kernel is loaded
WORTH_A_TREE = 4096  # rows: with fewer, all distances are summed before a tree is built
TREE_COST = 600, 60  # distances, coarse and exact, that are summed while a search in a tree looks at one row
TRIED = 256  # rows on which it is tried how many rows a search looks at
WORTH_A_THREAD = 1_000_000  # distances: less than this is done before a thread has woken up

# Masks as `bundles.changes_of` lays them out: columns, weights and bounds.
Changes = tuple[Any, Any, Any]


@parameters
class KNN(Criterion):
    """Cross-validated accuracy (or R²) of nearest neighbors.

    Read more in the guide: :doc:`/methods/neighbors`.

    Parameters
    ----------
    n_neighbors : int, sequence of int or "auto", default=1
        How many neighbors vote. Of several numbers each subset uses the one that judges it best, the smaller among
        equals; `"auto"` means 1, 3, 5, 7, 9, 11.
    cv : int, "loo" or scikit-learn splitter, default=10
        Stratified folds, fixed once for a run; or leave-one-out. With fewer rows than folds, leave-one-out.
    voting : {"neighborhood", "neighbors"}, default="neighborhood"
        `"neighborhood"`: the rows at the k smallest *distinct* distances vote, and a tied vote takes in the next
        distance, and so on; when there is none left, the majority of the training rows decides. `"neighbors"`: the k
        nearest rows vote, earlier rows first among equally near ones; a tied vote goes to the nearest row.
    scaling : {"training", "global", "none"}, default="training"
        Numeric columns are divided by their range in the rows that serve as training rows, in all bound rows, or not.

    Notes
    -----
    Nominal columns count 0 if equal and 1 if not. A missing cell is as far from every other as two cells of its
    column are on average. Row weights count in votes and in the score. `fewer.kernels.differences` has the precision.
    `device="cuda"` scores subsets on a GPU, to the same bits: one neighbor and classes fastest, up to 62 neighbors, 8
    numbers of them and 64 classes; what goes beyond is scored on the CPU, with a warning that says so. Searches of
    fewer than 2^13 subsets, and changes of one column on fewer than 4,096 rows, take less time on the CPU and are done
    there.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.SubsetSelector(KNN(n_neighbors=5), fewer.search.Exhaustive(), random_state=0)
    >>> selector.fit(X, y).get_support()
    array([False, False, False,  True])
    """

    command_name = "knn"
    takes: ClassVar[frozenset[str]] = ROWS - {"time"}
    depends_on: ClassVar[frozenset[str]] = frozenset({"row order"})
    supports_weights: ClassVar[bool] = True
    supports_device: ClassVar[bool] = True
    predictive: ClassVar[bool] = True

    n_neighbors: Count | Literal["auto"] | Annotated[Sequence[int], tuple, list, np.ndarray] = 1
    cv: CV = 10
    voting: Literal["neighborhood", "neighbors"] = "neighborhood"
    scaling: Scaling = "training"

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> KNNScorer:
        numbers = AUTO_NEIGHBORS if isinstance(self.n_neighbors, str) else self.n_neighbors
        ks = np.unique(np.asarray(numbers))
        if ks.size == 0 or ks.dtype.kind not in "iu" or ks[0] < 1:
            raise InputError(
                "The 'n_neighbors' parameter of KNN must be 'auto', a whole number from 1 on or several of them. "
                f"Got {self.n_neighbors!r} instead."
            )
        if ks[0] > problem.n_samples:
            raise InputError(f"n_neighbors={ks[0]:,}, but there are {problem.n_samples:,} rows; take fewer neighbors.")
        ks = np.unique(np.minimum(ks.astype(np.int64), max(problem.n_samples - 1, 1)))
        fold = assign_folds(problem, self.cv, rng)
        return KNNScorer(problem, fold, ks, self.voting == "neighbors", self.scaling, resources)


class KNNScorer(PredictiveScorer):
    """`KNN` bound to rows.

    One neighbor and classes: coarse distances decide all rows they can, exact ones the others. Otherwise exact
    distances throughout. The scores are the same either way, and do not depend on the number of threads.
    """

    abandons: ClassVar[bool] = True

    def __init__(
        self, problem: Problem, fold: IntArray, ks: IntArray, by_rows: bool, scaling: Scaling, resources: Resources
    ) -> None:
        self.problem = problem
        self.ks = ks
        self._by_rows = by_rows
        self._scaling = scaling
        self._resources = resources
        self._exact = exact_rows(problem, fold, scaling)
        self._own_rows = Queries(self._exact.columns, self._exact.missing, self._exact.fold)
        n = problem.n_samples
        weights = problem.row_weights if problem.sample_weight is None else whole_multiples(problem.sample_weight)
        classification = problem.task == "classification"
        self._center = 0.0 if classification else float(np.average(problem.y, weights=weights))
        values = np.zeros(n) if classification else problem.y - self._center
        most = float(weights.max(initial=1.0) * (2.0 * np.abs(values).max(initial=0.0)) ** 2) or 1.0
        self._rules = Rules(
            codes=problem.y if classification else np.zeros(n, dtype=np.int64),
            values=values,
            row_weights=weights,
            n_classes=problem.n_classes if classification else 0,
            grain=float(2.0 ** np.ceil(np.log2(n * most / 2.0**52))),
            ks=ks,
            by_rows=by_rows,
        )
        spread = float(weights @ values**2)
        self._offset, self._unit = (0.0, float(weights.sum())) if classification else (1.0, spread or 1.0)
        self._swept: tuple[SearchSpace, Sweeper] | None = None
        self._coarse: CoarseRows | None = None
        if classification and ks[-1] == 1 and weights.min(initial=1.0) > 0:
            self._coarse = CoarseRows.of(self._exact, problem.y, problem.n_classes)
        self._devices = self._on_devices() if resources.device != "cpu" else []
        self._sorts = not self._devices and n >= WORTH_SORTING  # columns by themselves are judged by sorting them
        if self._devices and self._coarse is not None:
            self.sweep_limit = DEVICE_LIMIT

    def _on_devices(self) -> list[OnDevice]:
        """Bring the rows to the devices asked for, if their kernels can judge them."""
        why = ""
        if self._rules.n_classes > MOST_CLASSES:
            why = f"{self._rules.n_classes} classes are more than {MOST_CLASSES}"
        elif capacity_for(int(self.ks[-1])) is None or len(self.ks) > MOST_KS:
            why = f"n_neighbors={self.ks.tolist()} is more than its lists hold"
        if why:
            tell(self._resources.device, "KNN", why)
            return []
        return on_devices(self._resources.device, lambda device: OnDevice(device, self))

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks or weights."""
        weights = np.ascontiguousarray(masks, dtype=np.float64)
        if not len(weights):
            return np.empty(0)
        if self._devices:
            return self._best(np.concatenate(self._deal(lambda on, batch: on.gains(batch), weights)))
        single = np.count_nonzero(weights, axis=1) <= 1
        if self._sorts and single.any():
            scores = np.empty(len(weights))
            columns = weights[single].argmax(axis=1)
            scores[single] = self._score_columns(columns, weights[single, columns])
            if not single.all():
                scores[~single] = self.score(weights[~single])
            return scores
        if self._coarse is None or len(weights) <= TABLE_SIZE:
            return self._best(self._gains(changes_from_none(weights)))
        batches = [weights[first : first + BATCH] for first in range(0, len(weights), BATCH)]
        return self._best(np.concatenate([self._coarse_masks(self._coarse, batch) for batch in batches]))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit from one set of running distances."""
        if not len(units):
            return np.empty(0)
        weights, new = mask.astype(np.float64), np.asarray(values, dtype=np.float64)
        if not self._sorts or weights.any():
            return self._running_flips(weights, units, new)
        # Changes that make one column by itself out of none.
        alone = np.array([len(unit) == 1 for unit in units])
        scores, others = np.empty(len(units)), np.flatnonzero(~alone)
        columns = np.array([unit[0] for unit in units if len(unit) == 1], dtype=np.int64)
        scores[alone] = self._score_columns(columns, new[alone])
        if len(others):
            scores[others] = self._running_flips(weights, [units[u] for u in others.tolist()], new[others])
        return scores

    def _tree_flips(self, weights: FloatArray, units: Sequence[IntArray], new: FloatArray) -> FloatArray | None:
        """Judge columns that come to a few others: (u, t). None where a tree over these does not pay."""
        n, exact, used = self.problem.n_samples, self._exact, np.flatnonzero(weights)
        tried = np.array([unit[0] if len(unit) == 1 else -1 for unit in units])
        both = np.append(used, tried)
        if (both < 0).any() or weights[tried].any():
            return None
        if not (new > 0).all() or exact.nominal[both].any() or exact.missing[both].any():
            return None
        tree = kernels.tree_of(exact, used, tried, new)

        def judge(places: IntArray) -> tuple[FloatArray, BoolArray, int]:
            return kernels.tree_gains(places, tree, weights, exact, self._rules)

        first = np.arange(0, n, n // TRIED)
        _, left, n_seen = judge(first)
        if n_seen * TREE_COST[self._coarse is None] > len(first) * n * len(units) or left.mean() > 1 / TRIED:
            return None
        blocks = [np.arange(*block) for block in in_parts(n, 4 * self._resources.n_jobs)]
        parts = in_threads(judge, blocks, self._resources.n_jobs)
        gains, left = np.sum([part[0] for part in parts], axis=0), np.concatenate([part[1] for part in parts], axis=1)
        for u in np.flatnonzero(left.any(axis=1)).tolist():
            mask = weights.copy()
            mask[tried[u]] = new[u]
            self.judge_rows(tree.order[left[u]], mask, gains[u])
        return np.asarray(gains, dtype=np.float64)

    def _score_columns(self, columns: IntArray, weights: FloatArray) -> FloatArray:
        """Score columns by themselves, each with a weight; 0 means none."""

        def judge(column: tuple[int, float]) -> FloatArray:
            return column_gains(self._exact, *column, self._rules)

        n_jobs = self._resources.n_jobs if len(columns) * self.problem.n_samples > WORTH_A_THREAD else 1
        gains = in_threads(judge, list(zip(columns.tolist(), weights.tolist(), strict=True)), n_jobs)
        return self._best(np.array(gains).reshape(-1, len(self.ks)))

    def _running_flips(self, weights: FloatArray, units: Sequence[IntArray], new: FloatArray) -> FloatArray:
        if self._devices:
            places = np.arange(len(units))
            run = partial(OnDevice.flip_gains, mask=weights, units=units, values=new)
            return self._best(np.concatenate([np.empty((0, len(self.ks))), *self._deal(run, places)]))
        gains = None
        if self.problem.n_samples >= WORTH_A_TREE and weights.any():
            gains = self._tree_flips(weights, units, new)
        return self._best(self._gains(changes_of(weights, Units.of(units), new)) if gains is None else gains)

    def _gains(self, changes: Changes) -> FloatArray:
        """Judge masks, by exact distances where coarse ones do not decide: (m, t)."""
        columns, weights, bounds = changes
        coarse, n_units, n = self._coarse, len(bounds) - 2, self.problem.n_samples
        if coarse is None:
            return self._in_blocks(lambda low, high: self._decide(np.arange(low, high), None, changes), n_units)
        largest = np.add.reduceat(np.append(np.abs(weights) * coarse.largest[columns], 0.0), bounds[:-1])
        largest[np.diff(bounds) == 0] = 0.0
        unit = coarse.unit_for(float(largest[0] + largest[1:].max()))
        layout, errors, single = coarse.arrays(unit), coarse.errors(unit), (columns, weights.astype(np.float32), bounds)

        def look(low: int, high: int) -> FloatArray:
            verdicts, numbers = np.empty((n_units, high - low), dtype=np.uint8), np.empty((3, n), dtype=np.int32)
            scratch = *numbers, np.empty(len(layout.starts) - 1, dtype=np.int32)
            nearest.coarse_flips(low, high, single, layout, self._by_rows, errors, scratch, verdicts)
            return self._decide(coarse.order[low:high], verdicts, changes)

        return self._in_blocks(look, len(columns))

    def judge_rows(self, rows: IntArray, mask: FloatArray, gains: FloatArray) -> None:
        """Add to gains (t,) what rows gain under one mask by exact distances."""
        gains += self._decide(rows, None, changes_from_none(mask[None]))[0]

    def _decide(self, rows: IntArray, verdicts: NDArray[np.uint8] | None, changes: Changes) -> FloatArray:
        """Sum what rows gain with each mask, (m, t), asking exact distances where verdicts (m, r) are unsure.

        Without verdicts they are asked about all rows.
        """
        n, rules = self.problem.n_samples, self._rules
        if verdicts is None:
            verdicts = np.full((len(changes[2]) - 2, len(rows)), nearest.UNSURE)
        gains = np.zeros((len(verdicts), len(self.ks)))
        gains += ((verdicts == nearest.RIGHT) @ rules.row_weights[rows])[:, None]
        room = np.empty(n), np.empty(n), make_ballot(rules)
        kernels.judge_rows(
            rows, self._own_rows, verdicts, changes, self._exact, rules, room, gains, np.empty((0, 0))
        )  # fmt: skip
        return gains

    def _deal(self, run: Callable[[OnDevice, Any], Any], things: NDArray[Any]) -> list[Any]:
        """Deal out masks or units to the devices."""
        return deal(self._devices, lambda on, low, high: run(on, things[low:high]), len(things))

    def walk(self, mask: Masks, units: Sequence[IntArray]) -> Walk:
        """Stand on one mask with its distances at hand, if they fit into memory."""
        n = self.problem.n_samples
        too_large = n * n * (8 if self._coarse is None else 4) > self._resources.memory
        if too_large or (self._devices and n >= WORTH_A_DEVICE):
            return super().walk(mask, units)
        return ExactWalk(self, mask, units) if self._coarse is None else CoarseWalk(self, self._coarse, mask, units)

    def sweep(self, space: SearchSpace, start: int, stop: int, top: int, floor: float = -np.inf) -> Sweep:
        """Score a range of subsets in Gray-code order; those below the floor are given up as soon as that is sure."""
        sweeper, n_jobs, best = self._sweeper(space), self._resources.n_jobs, nothing(space)
        if self._devices and floor > -np.inf:
            on = [on.neighbor for on in self._devices if on.neighbor is not None]
            if on and sweeper.can_use(on[0]):
                for tree in trees_of(start, stop, space.n_units, sweeper.typical):
                    for swept in sweeper.judge_on_all(on, tree, top, floor):
                        best = best_of(best, swept, top)
                return best
        if self._devices and space.n_units >= SMALLEST:
            return sweeper.judge_batches(self._devices, start, stop, top, floor)
        trees = list(trees_of(start, stop, self._height(start, stop), sweeper.typical))
        for first in range(0, len(trees), 4 * n_jobs):
            batch = trees[first : first + 4 * n_jobs]
            for swept in in_threads(partial(sweeper.judge, top=top, floor=floor), batch, n_jobs):
                best = best_of(best, swept, top)
            if len(best.scores) == top:
                floor = max(floor, float(best.scores[-1]))
        return best

    def sweep_against(
        self, space: SearchSpace, start: int, stop: int, wrong: IntArray, allowed: IntArray
    ) -> Sweep | None:
        """Judge tree by tree, on a device those subsets alone that have few enough errors."""
        weights, n_jobs = self._rules.row_weights, self._resources.n_jobs
        if not self._rules.n_classes or len(self.ks) > 1 or not (weights == weights[0]).all() or space.has_prices:
            return None
        sweeper, n_evaluated = self._sweeper(space), None
        if self._devices:
            n_errors = int((len(wrong) - np.arange(len(allowed)) + allowed).max())
            swept = self.sweep(space, start, stop, stop - start, 1.0 - (n_errors + 0.5) / len(weights))
            parts, n_evaluated = list(sweeper.trees_with(swept.states)), swept.n_evaluated
        else:
            trees = trees_of(start, stop, self._height(start, stop), sweeper.typical)
            parts = [(tree, sweeper.allowed(tree)) for tree in trees]
        good = in_threads(partial(sweeper.judge_against, wrong=wrong, allowed=allowed), parts, n_jobs)
        states = np.concatenate([nothing(space).states, *(part.states for part in good)])
        scores = np.concatenate([np.empty(0), *(part.scores for part in good)])
        return Sweep(states, scores, sum(part.n_evaluated for part in good) if n_evaluated is None else n_evaluated)

    def _height(self, start: int, stop: int) -> int:
        """Return how many units a tree of a sweep decides: a tree for each thread at least, if there is work."""
        n_jobs = self._resources.n_jobs
        return TREE if n_jobs == 1 else max(min(TREE, (stop - start).bit_length() - n_jobs.bit_length() - 2), 4)

    def _sweeper(self, space: SearchSpace) -> Sweeper:
        """Keep what was learnt about the rows of one space from one range of subsets to the next."""
        if self._swept is None or self._swept[0] is not space:
            self._swept = (space, Sweeper(self, space))
        return self._swept[1]

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from the other folds."""
        return self._predict(mask, self._own_rows, self._exact)

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        return self._predict(mask, Queries.of(X), self._together)

    @cached_property
    def _together(self) -> Exact:
        """All bound rows as one set of training rows."""
        everyone = np.zeros(self.problem.n_samples, dtype=np.int64)
        return exact_rows(self.problem, everyone, "global" if self._scaling == "training" else self._scaling)

    def _predict(self, mask: Masks, queries: Queries, exact: Exact) -> FloatArray:
        """Predict by the number of neighbors that judges the subset best."""
        best = 0
        if len(self.ks) > 1:
            best = int(np.argmax(self._gains(changes_from_none(mask[None, :].astype(np.float64)))[0]))
        rules = self._rules._replace(ks=self.ks[best : best + 1])
        out = kernels.predicted(queries, mask.astype(np.float64), exact, rules)
        return out if rules.n_classes else out[:, 0] + self._center

    def _best(self, gains: FloatArray) -> FloatArray:
        return self._offset + gains.max(axis=1) / self._unit

    def _in_blocks(self, run: Callable[[int, int], FloatArray], work: int) -> FloatArray:
        """Deal the rows out to threads and sum the results, which are exact in any order."""
        n, n_jobs = self.problem.n_samples, self._resources.n_jobs
        if n_jobs == 1 or n * n * work <= WORTH_A_THREAD:
            return run(0, n)
        return np.sum(in_threads(lambda block: run(*block), in_parts(n, 4 * n_jobs), n_jobs), axis=0)

    def _coarse_masks(self, coarse: CoarseRows, masks: FloatArray) -> FloatArray:
        used = np.flatnonzero(masks.any(axis=0))
        unit = coarse.unit_for(float((masks @ coarse.largest).max(initial=0.0)))
        layout = coarse.arrays(unit)
        margins = (masks > 0) @ np.column_stack([coarse.errors(unit), np.ones(masks.shape[1])])
        levels = np.unique(np.append(masks[:, used], 0.0))
        n_digits = max(int(np.log(TABLE_SIZE) / np.log(max(len(levels), 2))), 1)
        n_groups = -(-len(used) // n_digits)
        tables_pay = len(masks) > TABLE_SIZE >= len(levels) and np.count_nonzero(masks) > len(masks) * n_groups / 2
        if not tables_pay:
            return self._gains(changes_from_none(masks))
        digits = np.zeros((len(masks), n_groups * n_digits), dtype=np.int64)
        digits[:, : len(used)] = np.searchsorted(levels, masks[:, used])
        numbers = digits.reshape(len(masks), n_groups, n_digits) @ len(levels) ** np.arange(n_digits)
        picks = walking.Picks(numbers, used, levels, n_digits, margins)

        def look(low: int, high: int) -> FloatArray:
            verdicts = np.empty((len(masks), high - low), dtype=np.uint8)
            walking.coarse_masks(low, high, picks, TABLE_WIDTH, TABLES, layout, self._by_rows, verdicts)
            return self._decide(coarse.order[low:high], verdicts, changes_from_none(masks))

        return self._in_blocks(look, int(np.count_nonzero(masks)))


class OnDevice:
    """A bound `KNN` on one device: one neighbor and classes by bounds that decide most rows, all else exactly."""

    def __init__(self, device: Device, scorer: KNNScorer) -> None:
        self._scorer, self._device = scorer, device
        fits = scorer._coarse is not None and NeighborDevice.bytes_for(scorer) <= device.memory // 2
        self.neighbor = NeighborDevice(device, scorer) if fits else None
        self._exact = self._open_exact() if self.neighbor is None else None

    def _open_exact(self) -> ExactDevice:
        exact = self._scorer._exact
        return ExactDevice(self._device, exact, exact.fold)

    def gains(self, weights: FloatArray) -> FloatArray:
        """Sum what the rows gain for each of (m, p) masks or weights: (m, t)."""
        scorer = self._scorer
        if self.neighbor is not None and _is_mask(weights):
            assert scorer._coarse is not None
            verdicts = self.neighbor.masks(weights > 0)
            return scorer._decide(scorer._coarse.order, verdicts, changes_from_none(weights))
        return self.exact_gains(weights)

    def exact_gains(
        self, weights: FloatArray, asked: Asked | None = None, by_row: FloatArray | None = None
    ) -> FloatArray:
        """Sum what rows gain by exact distances, all or those asked: (m, t)."""
        scorer = self._scorer
        gains, left = self.exact.gains(weights, scorer._rules, asked, by_row)
        for m, rows in left:
            scorer.judge_rows(rows, weights[m], gains[m])
        return gains

    @property
    def exact(self) -> ExactDevice:
        """The rows for exact distances, there when first asked for."""
        if self._exact is None:
            self._exact = self._open_exact()
        return self._exact

    def flip_gains(
        self, places: IntArray, mask: FloatArray, units: Sequence[IntArray], values: FloatArray
    ) -> FloatArray:
        """Sum what the rows gain for one mask with each of some units set to a value: (u, t)."""
        flipped, new = [units[u] for u in places.tolist()], values[places]
        if self.neighbor is not None and _is_mask(mask) and _is_mask(new):
            return self._neighbor_flips(self.neighbor, mask, flipped, new)
        masks = np.repeat(mask[None], len(flipped), axis=0)
        for row, unit, value in zip(masks, flipped, new, strict=True):
            row[unit] = value
        return self.gains(masks)

    def _neighbor_flips(
        self, on: NeighborDevice, mask: FloatArray, units: Sequence[IntArray], new: FloatArray
    ) -> FloatArray:
        """Columns that come to the mask are judged together, all else as masks of its own."""
        scorer = self._scorer
        assert scorer._coarse is not None
        verdicts = np.empty((len(units), scorer.problem.n_samples), dtype=np.uint8)
        comes = np.array([len(unit) == 1 and v > 0 and not mask[unit[0]] for unit, v in zip(units, new, strict=True)])
        together, alone = np.flatnonzero(comes), np.flatnonzero(~comes)
        if len(together):
            verdicts[together] = on.flips(np.flatnonzero(mask), np.array([units[u][0] for u in together.tolist()]))
        if len(alone):
            masks = np.repeat(mask[None] > 0, len(alone), axis=0)
            for row, u in zip(masks, alone.tolist(), strict=True):
                row[units[u]] = new[u] > 0
            verdicts[alone] = on.masks(masks)
        return scorer._decide(scorer._coarse.order, verdicts, changes_of(mask, Units.of(units), new))


class RunningWalk(Walk):
    """Running distances under one mask. An accepted change is written into them on the next pass."""

    def __init__(self, scorer: KNNScorer, mask: Masks, units: Sequence[IntArray]) -> None:
        n = scorer.problem.n_samples
        self._scorer = scorer
        self._units = units
        self._masks = np.repeat(mask[None, :].astype(np.float64), 3, axis=0)  # decided, accepted, proposed
        self._masks[0] = 0.0
        self._before, self._unit = np.flatnonzero(mask), np.empty(0, dtype=np.int64)
        self._n_jobs = scorer._resources.n_jobs if n * n > WORTH_A_THREAD else 1
        self._blocks = in_parts(n, self._n_jobs)

    def propose(self, unit: int, value: float) -> float:
        """Score the mask with one unit set to a value."""
        masks = self._masks
        masks[2, self._unit] = masks[1, self._unit]
        self._unit = self._units[unit]
        masks[2, self._unit] = value
        if self._n_jobs == 1:
            gains = self._pass(self._blocks[0])
        else:
            gains = np.sum(in_threads(self._pass, self._blocks, self._n_jobs), axis=0)
        if len(self._before):
            masks[0, self._before] = masks[1, self._before]
            self._before = self._before[:0]
        return self._scorer._offset + float(gains.max()) / self._scorer._unit

    def accept(self) -> None:
        """Make the proposed change."""
        self._masks[1, self._unit] = self._masks[2, self._unit]
        self._before = self._unit

    def reject(self) -> None:
        """Forget the proposed change."""

    def _pass(self, block: tuple[int, int]) -> FloatArray:
        raise NotImplementedError


class ExactWalk(RunningWalk):
    """A walk on exact distances."""

    def __init__(self, scorer: KNNScorer, mask: Masks, units: Sequence[IntArray]) -> None:
        super().__init__(scorer, mask, units)
        self._exact = scorer._exact
        self._distances = first_distances(self._exact, FAR)

    def _pass(self, block: tuple[int, int]) -> FloatArray:
        rules, moved = self._scorer._rules, Moved(self._masks, self._before, self._unit)
        gains, room = np.zeros(len(rules.ks)), (np.empty(len(self._distances)), make_ballot(rules))
        kernels.score_move(*block, self._distances, moved, self._exact, rules, room, gains)
        return gains


class CoarseWalk(RunningWalk):
    """A walk on coarse distances."""

    def __init__(self, scorer: KNNScorer, coarse: CoarseRows, mask: Masks, units: Sequence[IntArray]) -> None:
        super().__init__(scorer, mask, units)
        n, unit = scorer.problem.n_samples, coarse.unit_for(float(coarse.largest.sum()))
        self._judges = walking.Judges(
            coarse.arrays(unit), coarse.errors(unit), coarse.order,
            scorer._exact, scorer._rules, scorer._offset, scorer._unit,
        )  # fmt: skip
        self._running = nearest.Running(
            distances=first_distances(self._judges.coarse, FAR_32),
            row_weights=scorer._rules.row_weights[coarse.order],
            row=np.empty(n, dtype=np.int32),
            part=np.empty(n, dtype=np.int32),
            nearest=np.empty(len(self._judges.coarse.starts) - 1, dtype=np.int32),
            unsure=np.empty(n, dtype=np.int64),
        )
        self._standing: walking.Standing | None = None

    def run_moves(self, moves: Moves, state: NDArray[Any], score: float, space: SearchSpace, most: int) -> MovesResult:
        """Try changes in one call of a kernel, for about a tenth of a second."""
        scorer, n = self._scorer, self._scorer.problem.n_samples
        if self._n_jobs > 1 or 12 * n * n > scorer._resources.memory:
            return super().run_moves(moves, state, score, space, most)
        decided, accepted, proposed = self._masks
        if self._standing is None:
            self._standing = walking.Standing(
                state=np.empty(0, dtype=np.int64), mask=accepted, coarse_mask=decided,
                exact_masks=np.zeros((n, len(accepted))), running=self._running,
                distances=first_distances(self._judges.exact, FAR),
                names=np.zeros((MOVES_REMEMBERED, 2), dtype=np.uint64), remembered=np.empty(MOVES_REMEMBERED),
            )  # fmt: skip
        standing = self._standing._replace(state=np.rint(state * space.weight_levels).astype(np.int64))
        moves = moves[: max(MOVES_AT_ONCE // (n * n), 1)]
        plan = walking.MovePlan(
            moves.units, moves.shifts, moves.slack, space.weight_levels, space.min_units, space.max_units, most
        )  # fmt: skip
        numbers, scores = np.empty(len(moves), dtype=np.int64), np.empty(len(moves))
        room = np.empty(n), np.zeros(1), make_ballot(scorer._rules)
        n_tried, n_accepted = walking.run_moves(
            score, plan, self._packed, standing, self._judges, room, numbers, scores
        )  # fmt: skip
        proposed[:] = accepted
        self._before = self._before[:0]
        return MovesResult(n_tried, numbers[:n_accepted], scores[:n_accepted])

    @cached_property
    def _packed(self) -> Units:
        return Units.of(self._units)

    def _pass(self, block: tuple[int, int]) -> FloatArray:
        gains, low, judges = np.empty(1), block[0], self._judges
        moved, running = Moved(self._masks, self._before, self._unit), self._running
        if self._n_jobs > 1:  # threads share the running distances, but not the room to judge in
            rooms = {name: np.empty_like(getattr(running, name)) for name in ("row", "part", "nearest")}
            running = running._replace(**rooms)
        gains[0], n_unsure = nearest.coarse_move(
            *block, moved, judges.coarse, judges.rules.by_rows, judges.errors, running
        )
        if n_unsure:
            rows = judges.order[self._running.unsure[low : low + n_unsure]]
            self._scorer.judge_rows(rows, self._masks[2], gains)
        return gains


def _is_mask(weights: FloatArray) -> bool:
    return bool(((weights == 0.0) | (weights == 1.0)).all())


def in_parts(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Cut 0 … n−1 into contiguous parts of nearly equal size.

    Examples
    --------
    >>> in_parts(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    edges = [n * part // n_parts for part in range(n_parts + 1)]
    return [(low, high) for low, high in pairwise(edges) if high > low]


def whole_multiples(weights: FloatArray) -> FloatArray:
    """Round weights to multiples of a power of two so fine that nobody minds and so coarse that all sums are exact.

    Examples
    --------
    >>> whole_multiples(np.array([1.0, 0.5, 3.0])).tolist()
    [1.0, 0.5, 3.0]
    """
    total = float(weights.sum())
    if total <= 0:
        return weights
    grain = 2.0 ** np.ceil(np.log2(total / 2.0**50))
    return np.rint(weights / grain) * grain
