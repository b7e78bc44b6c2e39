"""What `auto` can take: single features, or groups that enter together; some are forced in, some are left out.

The race of `auto`: every path is walked on all rows and in each split, and rows held out judge every size of it.

The rankings and searches are repeated on the training rows of each split, so that a row judges only what was chosen
without it. The path with the least loss answers, with an order that is the average over all parts, and the curve of its
loss against size says how many features to take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fewer.parallel import in_threads
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.selectors.auto import _paths as paths
from fewer.selectors.auto._curve import Curve, Loss, balanced_weights, targets
from fewer.selectors.auto._encoding import Encoder, blocks_of, f_scores
from fewer.selectors.auto._judges import (
    FOREST,
    LINEAR,
    NEIGHBORS,
    Judge,
    Split,
    forest,
    given,
    kernel_ridge,
    neighbor_means,
)
from fewer.selectors.auto._judges import neighbors as neighbors_judge
from fewer.selectors.auto._judges import ridge as ridge_judge
from fewer.validate import Split as Rows


@dataclass(frozen=True, eq=False)
class Units:
    """Features that enter together.

    Attributes
    ----------
    members : tuple of int arrays
        The features of each unit.
    forced : int array
        Units that every subset holds.
    of_feature : int array of shape (n_features,)
        The unit of each feature, −1 for features that are left out.
    """

    members: tuple[IntArray, ...]
    forced: IntArray
    of_feature: IntArray

    @classmethod
    def of(
        cls, n: int, include: Sequence[int] = (), exclude: Sequence[int] = (), groups: Sequence[Sequence[int]] = ()
    ) -> Units:
        """Build from numbers of features.

        Examples
        --------
        >>> units = Units.of(5, include=[4], exclude=[0], groups=[[1, 2]])
        >>> units.features(units.order(np.array([3, 2, 0, 1, 4]))).tolist()
        [4, 3, 1, 2]
        """
        out = set(exclude)
        together = [np.asarray(group, dtype=np.int64) for group in groups if not set(group) & out]
        inside = {int(i) for group in groups for i in group} | out
        members = [*together, *(np.array([i]) for i in range(n) if i not in inside)]
        of_feature = np.full(n, -1, dtype=np.int64)
        for number, group in enumerate(members):
            of_feature[group] = number
        forced = np.unique(of_feature[np.asarray(include, dtype=np.int64)])
        return cls(tuple(members), forced[forced >= 0].astype(np.int64), of_feature)

    def order(self, features: IntArray) -> IntArray:
        """Order units by the first of their features; those forced in come first."""
        own = self.of_feature[features]
        own = own[own >= 0]
        _, first = np.unique(own, return_index=True)
        own = own[np.sort(first)]
        return np.concatenate([self.forced, own[~np.isin(own, self.forced)]]).astype(np.int64)

    def features(self, units: IntArray) -> IntArray:
        """List the features of units."""
        return np.concatenate([self.members[i] for i in units]) if len(units) else np.empty(0, dtype=np.int64)


SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 18, 25, 36, 50, 71, 100, 142, 200, 320, 500, 750)
SCREENED = 1000
"""Columns that rankings see; of more, those that tell most alone (and by Relief, where there is time for it)."""
RELIEF_CELLS = 2e8
"""Rows² × columns up to which Relief sees all columns of a wide table."""
FINALISTS = 2
"""Paths that the slower judges look at, beside the one without near copies."""
HANDICAP: dict[str, float] = {"classification": 0.05, "regression": 0.0}
"""The share of what is gained over knowing nothing by which a search must be better than a ranking, to be believed."""
QUICK: dict[str, Judge] = {NEIGHBORS: neighbors_judge, LINEAR: ridge_judge}
THREE: dict[str, Judge] = {**QUICK, FOREST: forest}


class NothingVaries(InputError):
    """A part of the rows in which no column tells anything."""


@dataclass(eq=False)
class Part:
    """One part of the rows: its encoded rows, and its orders of the features, best first."""

    rows: Rows
    encoder: Encoder
    split: Split
    orders: dict[str, IntArray] = field(default_factory=dict)


@dataclass(eq=False)
class Race:
    """What the parts of the rows said.

    Attributes
    ----------
    whole : Part
        All rows; nothing is held out.
    parts : list of Part
    units : Units
    sizes : int array
        Numbers of units that were judged.
    free : bool array
        Which sizes may be chosen.
    loss : Loss
    held : int array
        The rows that were held out.
    outputs : dict
        By path and judge, the outputs for the held-out rows, (n_rows, n_sizes, n_targets).
    """

    whole: Part
    parts: list[Part]
    units: Units
    sizes: IntArray
    free: Any
    loss: Loss
    held: IntArray
    n_features: int
    n_jobs: int = 1
    outputs: dict[tuple[str, str], FloatArray] = field(default_factory=dict)

    def run(self, path: str, name: str, who: Judge) -> None:
        """Let a judge look at all sizes of a path."""
        if (path, name) in self.outputs:
            return
        results = in_threads(
            lambda part: judged(part, part.orders[path], self.sizes, self.units, who), self.parts, self.n_jobs
        )
        out = np.full((int(self.held.max()) + 1, *results[0].shape[1:]), np.nan)
        for part, result in zip(self.parts, results, strict=True):
            out[part.rows.test] = result
        self.outputs[path, name] = out[self.held]

    def mean_losses(self, path: str, names: Any) -> FloatArray:
        """Average the losses of some judges on a path."""
        return np.mean([self.loss.losses(self.outputs[path, name]) for name in names], axis=0)

    def curve(self, path: str, names: Any) -> Curve:
        """Return loss against size on a path."""
        weights, clusters = self.loss.sides()
        return Curve.of(self.sizes, self.mean_losses(path, names), weights, clusters, self.free)

    def best(self, candidates: Any, names: Any) -> list[str]:
        """Order paths by their least loss; a search, which looks at many subsets, needs to be clearly better."""
        least = {path: float(np.round(self.curve(path, names).loss[self.free].min(), 9)) for path in candidates}
        handicap = HANDICAP[self.loss.problem.task] * self.gained(min(least.values()))
        return sorted(least, key=lambda path: least[path] + (handicap if path in paths.SEARCHED else 0.0))

    def gained(self, loss: float) -> float:
        """Return by how much a loss is below that of knowing nothing; 0 where rows have no loss of their own."""
        if not self.loss.by_rows:
            return 0.0
        base = self.loss.base(self.means())
        return max(float(self.loss.weights @ base / self.loss.weights.sum()) - loss, 0.0)

    def means(self) -> FloatArray:
        """Return the training rows' mean target for each held-out row (of one quantity)."""
        out = np.zeros(int(self.held.max()) + 1)
        for part in self.parts:
            out[part.rows.test] = np.average(part.split.target[:, 0], weights=part.split.weights)
        return out[self.held]

    def order(self, path: str) -> IntArray:
        """Return the answer's order of features on a path: a ranking is averaged over the parts."""
        if path == paths.DISTINCT:
            order = self.order(paths.TREES)
            seen = np.unique(self.whole.encoder.columns)
            local = np.searchsorted(seen, order[np.isin(order, seen)])
            owner = np.searchsorted(seen, self.whole.encoder.columns)
            first = seen[paths.distinct_order(local, self.whole.split, owner)]
            return paths.completed(first, order)
        parts = [self.whole, *self.parts] if path in paths.COMBINED else [self.whole]
        places = sum(np.log(paths.ranks_of(part.orders[path], self.n_features)) for part in parts)
        return paths.order_by(np.asarray(places))

    def finalists(self) -> list[str]:
        """Name the paths that the slower judges look at: the best, the one without near copies, the model's own."""
        best = self.best(self.whole.orders, QUICK)[:FINALISTS]
        return [path for path in self.whole.orders if path in (*best, paths.DISTINCT, paths.OWN)]

    def prefix(self, path: str, size: int) -> Any:
        """Return the mask of the first units of a path."""
        mask = np.zeros(self.n_features, dtype=bool)
        mask[self.units.features(self.units.order(self.order(path))[:size])] = True
        return mask


def prepare(
    problem: Problem, splits: list[Rows], units: Units, sizes: tuple[int, int], *,
    scoring: Any = None, estimator: Any = None, seed: int = 0, n_jobs: int = 1,
) -> Race:  # fmt: skip
    """Encode, screen and order the features of all rows and of the training rows of each split."""
    everything = Rows(np.arange(problem.n_samples), np.arange(0))
    numbered = list(enumerate([everything, *splits]))
    whole, *parts = in_threads(lambda item: _part(problem, item[1], units, estimator, seed + item[0]), numbered, n_jobs)
    most = min(len(units.order(part.orders[paths.MEAN])) for part in (whole, *parts))
    low, high = sizes
    grid = {*SIZES, most, min(low, most), min(high, most)}
    judged_sizes = np.array(sorted(size for size in grid if max(len(units.forced), 1) <= size <= most))
    loss, held = Loss.of(problem, splits, scoring)
    free = (judged_sizes >= min(low, most)) & (judged_sizes <= high)
    return Race(whole, parts, units, judged_sizes, free, loss, held, problem.n_features, n_jobs)


def _part(problem: Problem, rows: Rows, units: Units, estimator: Any, seed: int) -> Part:
    own = replace(problem, X=problem.X[:, :0], names=(), kinds=(), levels={}).take(rows.train)
    weights, target = balanced_weights(own), targets(own)
    features = _screened(problem, rows.train, units, target, weights, seed)
    seen = paths.columns_of(problem, features)
    train = seen.take(rows.train)
    encoder = Encoder.of(train.X, np.arange(len(features)), seen.nominal, weights)
    split = Split(
        encoder.transform(train.X), encoder.transform(seen.X[rows.test]), target, weights,
        own.sample_weight, problem.task == "classification", seed,
    )  # fmt: skip
    orders = paths.all_orders(split, encoder.columns, replace(train, sample_weight=weights), estimator)
    encoder = replace(encoder, columns=features[encoder.columns])
    return Part(rows, encoder, split, {name: features[order] for name, order in orders.items()})


def _screened(
    problem: Problem, rows: IntArray, units: Units, target: FloatArray, weights: FloatArray, seed: int
) -> IntArray:
    """Return the features that rankings see: all that vary, or of very many the best."""
    alone = f_scores(problem, rows, target, weights)
    forced = units.features(units.forced)
    varies = np.flatnonzero((alone > 0) & (units.of_feature >= 0))
    if not len(varies) and not len(forced):
        raise NothingVaries("No column varies in some part of the rows; there is nothing to choose from.")
    if len(varies) > SCREENED:
        order = varies[np.argsort(-np.round(alone[varies], 12), kind="stable")]
        if len(rows) ** 2 * len(varies) <= RELIEF_CELLS:
            part = paths.columns_of(replace(problem.take(rows), sample_weight=weights), varies)
            near = varies[paths.relief_order(part, seed)]
            order = np.concatenate([order[: SCREENED * 3 // 4], near[: SCREENED // 4]])
        varies = order[:SCREENED]
    # A group comes whole.
    whole = units.features(np.unique(units.of_feature[varies]))
    return np.unique(np.concatenate([whole, forced])).astype(np.int64)


def judged(part: Part, order: IntArray, sizes: IntArray, units: Units, who: Judge) -> FloatArray:
    """Predict the test rows of a part from the first units of an order: (n_test, n_sizes, n_targets)."""
    own = units.order(order)
    step_of, before = np.full(len(units.of_feature), -1), 0
    for step, size in enumerate(sizes.tolist()):
        step_of[units.features(own[before:size])] = step
        before = size
    found = step_of[part.encoder.columns]
    steps = [np.flatnonzero(found == step) for step in range(len(sizes))]
    return np.stack(list(who(part.split, steps)), axis=1)


def with_all_features(problem: Problem, splits: list[Rows], units: Units, seed: int) -> dict[str, FloatArray]:
    """Let the judges predict the held-out rows with all features: by judge, (n_rows, n_targets)."""
    features = np.sort(units.features(np.arange(len(units.members))))
    held = np.sort(np.concatenate([split.test for split in splits]))
    names = [NEIGHBORS, LINEAR, FOREST] if len(features) <= SCREENED else [NEIGHBORS, LINEAR]
    out = {name: np.full((problem.n_samples, targets(problem).shape[1]), np.nan) for name in names}
    for number, rows in enumerate(splits):
        own = replace(problem, X=problem.X[:, :0], names=(), kinds=(), levels={}).take(rows.train)
        weights = balanced_weights(own)
        if len(features) > SCREENED:
            found = _by_products(problem, rows, features, targets(own), weights)
        else:
            encoder = Encoder.of(problem.X[rows.train], features, problem.nominal, weights)
            split = Split(
                encoder.transform(problem.X[rows.train]), encoder.transform(problem.X[rows.test]), targets(own),
                weights, own.sample_weight, problem.task == "classification", seed + number,
            )  # fmt: skip
            everything = [np.arange(len(encoder.columns))]
            found = {name: next(iter(judge(split, everything))) for name, judge in THREE.items()}
        for name, values in found.items():
            out[name][rows.test] = values
    return {name: values[held] for name, values in out.items()}


def _by_products(
    problem: Problem, rows: Rows, features: IntArray, target: FloatArray, weights: FloatArray
) -> dict[str, FloatArray]:
    """Predict from all columns of a wide table by the products of rows; it is never encoded all at once."""
    train, test = rows.train, rows.test
    inner, cross, far = np.zeros((len(train),) * 2), np.zeros((len(test), len(train))), np.zeros(len(test))
    for block in blocks_of(problem.n_samples, features):
        cells = problem.X[:, block]
        encoder = Encoder.of(cells[train], np.arange(len(block)), problem.nominal[block], weights)
        own, other = encoder.transform(cells[train]), encoder.transform(cells[test])
        inner += own @ own.T
        cross += other @ own.T
        far += (other**2).sum(axis=1)
    nothing = np.zeros((0, 0))
    split = Split(nothing, nothing, target, weights, None, problem.task == "classification", 0)
    total, root = weights.sum(), np.sqrt(weights)
    constant = weights @ target / total
    dual, _ = kernel_ridge(root[:, None] * inner * root, root[:, None] * (target - constant), weights / total)
    return {
        NEIGHBORS: neighbor_means(far[:, None] + np.diag(inner) - 2.0 * cross, split),
        LINEAR: split.tidy(cross @ (root[:, None] * dual) + constant),
    }


def judges_of(estimator: Any, name: str) -> Mapping[str, Judge]:
    """Return the judges that have the last word: three, or the user's own model."""
    return THREE if estimator is None else {name: given(estimator)}
