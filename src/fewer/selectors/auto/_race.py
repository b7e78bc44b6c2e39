"""The race of `auto`: every path is walked on all rows and in each split, and rows held out judge every size of it.

The rankings and searches are repeated on the training rows of each split, so that a row judges only what was chosen
without it. Selections without one fold after the other share their parts: the rows without the folds i and j serve the
selection without i, which they predict j for, and the selection without j. Nothing of i is used for i: what is encoded,
ordered and fitted belongs to the part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fewer.contracts import SearchSpace
from fewer.parallel import in_threads
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.selectors.auto import _paths as paths
from fewer.selectors.auto._curve import AREA, Curve, Loss, balanced_weights, mean_and_error, scale_of, targets
from fewer.selectors.auto._encoding import blocks_of, encoded, f_scores
from fewer.selectors.auto._judges import (
    BOOSTING,
    FOREST,
    LINEAR,
    NEIGHBORS,
    Judge,
    NodeSplit,
    boosting,
    forest,
    given,
    kernel_ridge,
    linear,
    neighbor_means,
    neighbors,
)
from fewer.validate import Split as Rows

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 18, 25, 36, 50, 71, 100, 142, 200)
# Sizes of tables with more than 200 columns: rows are few beside them, and tell sizes that are close no more apart.
WIDE_SIZES = (1, 2, 3, 5, 8, 12, 18, 25, 36, 50, 100, 200)
# Columns up to which rankings see all; of more, those that tell most alone (and by Relief, where there is time).
SCREENED, KEPT = 1000, 500
# Rows² × columns up to which Relief sees all columns of a wide table.
RELIEF_CELLS = 2e8
# The share of what is gained over knowing nothing by which a search must be better than a ranking, to be believed.
HANDICAP: dict[str, float] = {"classification": 0.05, "regression": 0.0}
# Standard errors by which a slow model, asked about two sizes, is behind before it is asked about no more.
HOPELESS = 2.0
ALL = "all features"
QUICK: dict[str, Judge] = {NEIGHBORS: neighbors, LINEAR: linear}
SLOW: dict[str, Judge] = {FOREST: forest, BOOSTING: boosting}
MODELS: dict[str, Judge] = {**QUICK, **SLOW}


class NothingVaries(InputError):
    """A part of the rows in which no column tells anything."""


@dataclass(eq=False)
class RacePart:
    """One part of the rows, encoded: its orders of the features, best first, and what models said of the other rows.

    Attributes
    ----------
    rows : Split
        The rows of the part, and all others.
    columns : int array
        The feature that each input belongs to.
    split : Split
    orders : dict
    said : dict
        By model and the features it saw, its outputs for the other rows.
    """

    rows: Rows
    columns: IntArray
    split: NodeSplit
    orders: dict[str, IntArray] = field(default_factory=dict)
    said: dict[Any, Any] = field(default_factory=dict)

    def judged(self, path: str, name: str, who: Judge, sizes: IntArray, space: SearchSpace) -> FloatArray:
        """Predict the other rows from the first units of a path: (n_others, n_sizes, n_targets)."""
        key = (path, name, sizes.tobytes())
        if key not in self.said:
            self.said[key] = judged(self, self.orders[path], sizes, space, who)
        return self.said[key]


@dataclass(eq=False)
class PathRace:
    """What the parts of the rows said.

    Attributes
    ----------
    whole : Part
        All rows; nothing is held out.
    parts : list of Part
    space : SearchSpace
        Features, or groups that enter together; some are forced in, some are left out.
    sizes : int array
        Numbers of units that were judged, those forced in among them.
    free : bool array
        Which sizes may be chosen.
    loss : Loss
    held : int array
        The rows that were held out.
    folds : list of int arrays
        The rows that each part predicts.
    outputs : dict
        By path and model, the outputs for the held-out rows, (n_rows, n_sizes, n_targets).
    probes : dict
        The same of models that were asked about two sizes and are hopeless, with these sizes.
    """

    whole: RacePart
    parts: list[RacePart]
    space: SearchSpace
    sizes: IntArray
    free: Any
    loss: Loss
    held: IntArray
    n_jobs: int = 1
    folds: list[IntArray] = field(default_factory=list)
    outputs: dict[tuple[str, str], FloatArray] = field(default_factory=dict)
    probes: dict[str, FloatArray] = field(default_factory=dict)

    def run(self, path: str, name: str, who: Judge) -> None:
        """Let a model look at all sizes of a path."""
        if (path, name) not in self.outputs:
            self.outputs[path, name] = self._asked(path, name, who, self.sizes)

    def _asked(self, path: str, name: str, who: Judge, sizes: IntArray) -> FloatArray:
        results = in_threads(lambda part: part.judged(path, name, who, sizes, self.space), self.parts, self.n_jobs)
        out = np.full((int(self.held.max()) + 1, *results[0].shape[1:]), np.nan)
        for part, fold, result in zip(self.parts, self.folds, results, strict=True):
            out[fold] = result[np.searchsorted(part.rows.test, fold)]
        return out[self.held]

    def narrow(self, places: list[int]) -> None:
        """Look at some of the sizes alone from here on."""
        self.sizes, self.free = self.sizes[places], self.free[places]
        self.outputs = {key: outputs[:, places] for key, outputs in self.outputs.items()}

    def hopeful(self, path: str, name: str, who: Judge, best: tuple[str, str, int]) -> bool:
        """Ask a slow model about the best size so far and the largest; is it worth asking about the others?"""
        last = len(self.sizes) - 1
        places = sorted({best[2], last})
        outputs = self._asked(path, name, who, self.sizes[places])
        weights, clusters = self.loss.sides()
        least = self.loss.losses(self.outputs[best[:2]][:, [best[2]]])
        behind, error = mean_and_error(self.loss.losses(outputs) - least, weights, clusters)
        if bool((behind <= HOPELESS * error).any()):
            return True
        self.probes[name] = outputs[:, [-1]]
        return False

    def leader(self, names: Any = None) -> tuple[str, str, int]:
        """Name the path, model and place of the size with the least loss; a search needs to be clearly better."""
        weights, _ = self.loss.sides()
        least = {}
        for key, outputs in self.outputs.items():
            if names is None or key[1] in names:
                mean = weights @ self.loss.losses(outputs) / weights.sum()
                place = int(np.argmin(np.where(self.allowed(key[0]), np.round(mean, 9), np.inf)))
                least[key] = (float(np.round(mean[place], 9)), place)
        handicap = HANDICAP[self.loss.problem.task] * self.gained(min(value for value, _ in least.values()))
        path, name = min(least, key=lambda key: least[key][0] + (handicap if key[0] in paths.SEARCHED else 0.0))
        return path, name, least[path, name][1]

    def mean_losses(self, path: str, names: Any) -> FloatArray:
        """Average the losses of some judges on a path."""
        return np.mean([self.loss.losses(self.outputs[path, name]) for name in names], axis=0)

    def allowed(self, path: str) -> Any:
        """Say which sizes of a path may be chosen.

        Where a class is rare, a few features can rank rows as well as all, and yet models stop answering with the
        class: sizes at which they are right less often than with all features, in the mean of the classes and by more
        than a standard error, are left out.
        """
        if self.loss.scoring != AREA or not self.loss.by_rows or not self.complete:
            return self.free
        predicted = [outputs.argmax(axis=2) for (name, _), outputs in self.outputs.items() if name == path]
        right = np.mean([answers == self.loss.problem.y[:, None] for answers in predicted], axis=0)
        behind, error = mean_and_error(right[:, [-1]] - right, *self.loss.sides())
        kept = self.free & (behind <= error + 1e-12)
        return kept if kept.any() else self.free

    def curve(self, path: str, names: Any) -> Curve:
        """Return loss against size on a path."""
        weights, clusters = self.loss.sides()
        return Curve.of(self.sizes, self.mean_losses(path, names), weights, clusters, self.allowed(path))

    def best(self, candidates: list[str], names: list[str]) -> str:
        """Name the path with the least mean loss of some models; a search needs to be clearly better."""
        least = {p: float(np.round(self.curve(p, names).loss[self.allowed(p)].min(), 9)) for p in candidates}
        handicap = HANDICAP[self.loss.problem.task] * self.gained(min(least.values()))
        return min(least, key=lambda path: least[path] + (handicap if path in paths.SEARCHED else 0.0))

    def gained(self, loss: float) -> float:
        """Return by how much a loss is below that of knowing nothing; 0 where rows have no loss of their own."""
        return max(self.loss.of_nothing(self.means()) - loss, 0.0) if self.loss.by_rows else 0.0

    def means(self) -> FloatArray:
        """Return the training rows' mean targets for each held-out row."""
        out = np.zeros((int(self.held.max()) + 1, self.loss.target.shape[1]))
        for part, fold in zip(self.parts, self.folds, strict=True):
            out[fold] = np.average(part.split.target, axis=0, weights=part.split.plain)
        return out[self.held]

    def order(self, path: str) -> IntArray:
        """Return the answer's order of features on a path: a ranking is averaged over the parts."""
        if path == paths.DISTINCT:
            order = self.order(paths.TREES)
            seen = np.unique(self.whole.columns)
            local = np.searchsorted(seen, order[np.isin(order, seen)])
            owner = np.searchsorted(seen, self.whole.columns)
            first = seen[paths.distinct_order(local, self.whole.split, owner)]
            return paths.completed(first, order)
        parts = [self.whole, *self.parts] if path in paths.COMBINED else [self.whole]
        places = sum(np.log(paths.ranks_of(part.orders[path], self.space.n_features)) for part in parts)
        return paths.order_by(np.asarray(places))

    def finalists(self) -> list[str]:
        """Name the paths that slow models look at: the best of the quick ones, and the model's own or that of trees."""
        second = paths.OWN if paths.OWN in self.whole.orders else paths.DISTINCT
        return list(dict.fromkeys([self.leader(QUICK)[0], second]))

    @property
    def complete(self) -> bool:
        """Whether the largest size has all features that vary."""
        n_units = self.space.n_forced + self.space.n_units
        return int(self.sizes[-1]) == n_units or self.space.n_features <= SCREENED

    def prefix(self, path: str, size: int) -> Any:
        """Return the mask of the first units of a path."""
        state = self.space.empty()
        state[units_in(self.space, self.order(path))[: size - self.space.n_forced]] = True
        return self.space.expand(state[None])[0]


@dataclass(eq=False)
class Rounds:
    """The parts of a table, by the folds that they leave out; selections without a fold share them.

    Attributes
    ----------
    problem : Problem
    splits : list of Split
    space : SearchSpace
    estimator : estimator or None
        Orders features of its own, if it can.
    seed : int
    n_jobs : int
    parts : dict
    """

    problem: Problem
    splits: list[Rows]
    space: SearchSpace
    estimator: Any = None
    seed: int = 0
    n_jobs: int = 1
    parts: dict[tuple[int, ...], RacePart] = field(default_factory=dict)

    @cached_property
    def scale(self) -> float:
        """What one is of the targets that our own models see, in the user's unit."""
        return scale_of(self.problem)

    @cached_property
    def scaled(self) -> Problem:
        """The rows with these targets."""
        return self.problem if self.scale == 1.0 else replace(self.problem, y=self.problem.y / self.scale)

    def part(self, held: tuple[int, ...]) -> RacePart:
        """Return the part without some folds; it is made once."""
        if held not in self.parts:
            n = self.problem.n_samples
            if len(held) == 1:
                rows = self.splits[held[0]]
            else:
                out = [self.splits[i].test for i in held]
                test = np.sort(np.concatenate(out)) if out else np.arange(0)
                rows = Rows(np.setdiff1d(np.arange(n), test, assume_unique=True), test)
            number = sum((i + 1) * 61**place for place, i in enumerate(held)) % 9000
            self.parts[held] = _part(self.scaled, rows, self.space, self.estimator, self.seed + number, self.scale)
        return self.parts[held]

    def race(self, scoring: Any, without: int | None = None) -> PathRace:
        """Order the features of all rows (or of those without a fold) and without each (other) fold."""
        out = () if without is None else (without,)
        left = [i for i in range(len(self.splits)) if i != without]
        keys = [out, *(tuple(sorted((*out, i))) for i in left)]
        whole, *parts = in_threads(self.part, keys, self.n_jobs)
        space, n_forced = self.space, self.space.n_forced
        most = n_forced + min(len(units_in(space, part.orders[paths.MEAN])) for part in (whole, *parts))
        low, high = n_forced + space.min_units, n_forced + space.max_units
        grid = {*(SIZES if most <= SIZES[-1] else WIDE_SIZES), most, min(low, most), min(high, most)}
        tried = np.array(sorted(size for size in grid if max(n_forced, 1) <= size <= most))
        folds = [self.splits[i] for i in left]
        loss, held = Loss.of(self.problem, folds, scoring, self.scale)
        free = (tried >= min(low, most)) & (tried <= high)
        tests = [np.sort(fold.test) for fold in folds]
        return PathRace(whole, parts, space, tried, free, loss, held, self.n_jobs, tests)


def units_in(space: SearchSpace, features: IntArray) -> list[int]:
    """List the free units of a space by the first of their features in an order."""
    units = space.owner[features]
    return list(dict.fromkeys(units[units >= 0].tolist()))


def _part(problem: Problem, rows: Rows, space: SearchSpace, estimator: Any, seed: int, scale: float) -> RacePart:
    plain = replace(problem, X=problem.X[:, :0], names=(), kinds=(), levels={}).take(rows.train)
    weights, target = balanced_weights(plain), targets(plain)
    features = _screened(problem, rows.train, space, target, weights, seed)
    seen = problem.narrowed(features)
    train = seen.take(rows.train)
    test = np.sort(rows.test)
    inputs, others, columns = encoded(train.X, seen.X[test], seen.nominal, target, weights)
    split = NodeSplit(
        inputs, others, target, weights, plain.sample_weight, problem.task == "classification", seed, scale=scale
    )
    orders = paths.all_orders(split, columns, replace(train, sample_weight=weights), estimator)
    ordered = {name: features[order] for name, order in orders.items()}
    return RacePart(Rows(rows.train, test), features[columns], split, ordered)


def _screened(
    problem: Problem, rows: IntArray, space: SearchSpace, target: FloatArray, weights: FloatArray, seed: int
) -> IntArray:
    """Return the features that rankings see: all that vary, or of very many the best."""
    alone = f_scores(problem, rows, target, weights)
    varies = np.flatnonzero((alone > 0) & (space.base | (space.owner >= 0)))
    if not len(varies) and not space.base.any():
        raise NothingVaries("In some split of the rows every column is constant; nothing to choose from.")
    if len(varies) > SCREENED:
        order = varies[np.argsort(-np.round(alone[varies], 12), kind="stable")]
        if len(rows) ** 2 * len(varies) <= RELIEF_CELLS:
            part = replace(problem.take(rows), sample_weight=weights).narrowed(varies)
            near = varies[paths.relief_order(part, seed)]
            order = np.concatenate([order[: KEPT * 3 // 4], near[: KEPT // 4]])
        varies = order[:KEPT]
    # A group comes whole.
    return np.flatnonzero(space.base | ((space.owner >= 0) & np.isin(space.owner, space.owner[varies])))


def judged(part: RacePart, order: IntArray, sizes: IntArray, space: SearchSpace, who: Judge) -> FloatArray:
    """Predict the test rows of a part from the first units of an order: (n_test, n_sizes, n_targets)."""
    ordered = units_in(space, order)
    entry = np.full(space.n_units + 1, len(sizes))  # the step at which each unit enters; the last stands for none
    entry[ordered] = np.searchsorted(sizes, space.n_forced + 1 + np.arange(len(ordered)))
    entry_of_columns = np.where(space.base, 0, entry[space.owner])[part.columns]
    steps = [np.flatnonzero(entry_of_columns == step) for step in range(len(sizes))]
    return np.stack(list(who(part.split, steps)), axis=1)


def with_all_features(race: PathRace, problem: Problem) -> dict[str, FloatArray]:
    """Return what models predict with all features: by model, (n_rows, n_targets).

    Where rankings see all columns, the largest size has them; of wide tables neighbors and a linear fit see them all.
    """
    if race.complete:
        predicted = {name: outputs[:, -1] for (_, name), outputs in race.outputs.items()}
        return predicted | {name: outputs[:, -1] for name, outputs in race.probes.items()}
    features = np.flatnonzero(race.space.base | (race.space.owner >= 0))
    out = {name: np.full((problem.n_samples, race.loss.target.shape[1]), np.nan) for name in QUICK}
    for part, fold in zip(race.parts, race.folds, strict=True):
        if ALL not in part.said:
            part.said[ALL] = _by_products(problem, part.rows, features, part.split)
        for name, values in part.said[ALL].items():
            out[name][fold] = values[np.searchsorted(part.rows.test, fold)]
    return {name: values[race.held] for name, values in out.items()}


def _by_products(problem: Problem, rows: Rows, features: IntArray, part: NodeSplit) -> dict[str, FloatArray]:
    """Predict from all columns of a wide table by the products of rows; it is never encoded all at once."""
    train, test, target, weights = rows.train, rows.test, part.target, part.plain
    inner, cross, far = np.zeros((len(train),) * 2), np.zeros((len(test), len(train))), np.zeros(len(test))
    for block in blocks_of(problem.n_samples, features):
        cells = problem.X[:, block]
        train_inputs, test_inputs, _ = encoded(cells[train], cells[test], problem.nominal[block], target, weights)
        inner += train_inputs @ train_inputs.T
        cross += test_inputs @ train_inputs.T
        far += (test_inputs**2).sum(axis=1)
    empty = np.zeros((0, 0))
    split = NodeSplit(empty, empty, target, weights, part.own_weights, part.classes, 0)
    total, root = weights.sum(), np.sqrt(weights)
    constant = weights @ target / total
    dual, _ = kernel_ridge(root[:, None] * inner * root, root[:, None] * (target - constant), weights / total)
    return {
        NEIGHBORS: neighbor_means(far[:, None] + np.diag(inner) - 2.0 * cross, split),
        LINEAR: split.tidy(cross @ (root[:, None] * dual) + constant),
    }


def judges_of(estimator: Any, name: str) -> Mapping[str, Judge]:
    """Return the models that have the last word: four, or the user's own."""
    return MODELS if estimator is None else {name: given(estimator)}
