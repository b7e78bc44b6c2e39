"""`KNeighborsClassifier`, `KNeighborsRegressor`: distances add up over columns; ties are left to scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KDTree

from fewer.criteria.engines._engine import Engine, EngineMetric, Folds
from fewer.kernels import held_out_neighbors as kernels
from fewer.problem import BoolArray, FloatArray, IntArray

# Largest number of columns for which scikit-learn's algorithm='auto' builds a tree.
TREE_FEATURES = 15
# Distances nearer to each other than this share count as equal; as many distances at most are kept.
NEAR, MOST_DISTANCES = 1e-10, 2 * 10**7


class NeighborsEngine(Engine):
    """The k nearest rows, each with one vote.

    Where several rows are equally near and it matters which of them are taken, scikit-learn's tree is asked.
    """

    tolerance = 0.0
    by_share = True

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        rows = folds.problem
        super().__init__(folds, metric, max(rows.n_classes, 1))
        self._k = int(estimator.n_neighbors)
        self._leaf_size = int(estimator.leaf_size)
        sizes = np.array([len(train) for train, _ in folds.splits], dtype=np.int64)
        if not 1 <= self._k <= min(kernels.LANES, sizes.min() // 2 - 1):
            raise ValueError(f"{self._k} neighbors of {sizes.min()} training rows")
        self._sizes = sizes
        width = -(-int(sizes.max()) // kernels.LANES) * kernels.LANES
        self._trains = np.zeros((folds.n_folds, rows.n_features, width))
        self._targets = np.zeros((folds.n_folds, width))
        for fold, (X, y, _) in enumerate(folds.training()):
            self._trains[fold, :, : len(X)] = X.T
            self._targets[fold, : len(X)] = y
        self._tests = folds.columns
        self._codes = folds.y.astype(np.int64) if self._is_classifier else np.zeros(folds.n_tests, dtype=np.int64)
        # What the step before has shown: rows that were wrong, and columns that did badly. At first, those that
        # tell the classes apart least.
        self._wrong: dict[int, BoolArray] = {}
        self._members = np.empty(0, dtype=np.int64)
        self._lost_before = -_shares_between(self._tests, self._codes)
        self._kept: list[tuple[IntArray, kernels.FoldStanding]] = []
        counts = np.diff(folds.bounds)
        self._costs = folds.weights / np.repeat(np.add.reduceat(folds.weights, folds.bounds[:-1]) * len(counts), counts)
        self._tables = self._in_both_precisions()
        shares = not metric.needs_classes
        self._rule = kernels.Rule(self._targets, self._k, self._is_classifier, shares)

    def _in_both_precisions(self) -> kernels.Tables:
        """Single precision is about the middle of each column, so that few digits go to its distance from zero."""
        middle = np.median(self._tests, axis=1)
        tests = (self._tests - middle[:, None]).astype(np.float32)
        trains = (self._trains - middle[:, None]).astype(np.float32)
        for fold, size in enumerate(self._sizes):
            trains[fold, :, size:] = 0.0
        largest = np.maximum(np.abs(tests).max(axis=1), np.abs(trains).max(axis=(0, 2)))
        parts = [self._trains[fold, :, :size] for fold, size in enumerate(self._sizes)]
        return kernels.Tables(
            tests=self._tests,
            tests_32=tests,
            trains=self._trains,
            trains_32=trains,
            sizes=self._sizes,
            folds=np.repeat(np.arange(self.folds.n_folds), np.diff(self.folds.bounds)),
            lows=np.stack([part.min(axis=1) for part in parts]),
            highs=np.stack([part.max(axis=1) for part in parts]),
            errors=largest.astype(np.float64) * 2.0**-22,
        )

    @property
    def _is_classifier(self) -> bool:
        return self.folds.problem.task == "classification"

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Add each column's squared differences to the distances of the members."""
        nothing = np.zeros(self.folds.n_tests)
        race = kernels.FoldRace(np.arange(self.folds.n_tests), self._codes, nothing, np.inf)
        standing = self._stand(members)
        open_rows = self._vote(standing, members, added, race, out).open_rows
        self._kept = [(members, standing)]
        sure = np.ones((len(added), self.folds.n_folds), dtype=bool)
        for q in np.flatnonzero(open_rows.any(axis=1)):
            self._ask_trees(np.sort([*members, added[q]]), open_rows[q], out[q], sure[q])
        return sure

    def score_best(self, members: IntArray, added: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Score columns until the others are sure to lose, rows that were wrong before first.

        Rows that only a tree can decide count as right until a column may win.
        """
        if self.metric.name != "accuracy" or len(added) < 2:
            return None
        promising = np.argsort(self._lost_before[added], kind="stable")
        out = np.empty((len(added), self.folds.n_tests, self._n_outputs))
        votes = self._race(members, added[promising], out)
        lost, hopeless = np.abs(votes.lost), np.signbit(votes.lost)
        self._lost_before[added[promising]] = lost
        sure = np.ones((len(added), self.folds.n_folds), dtype=bool)
        is_open: BoolArray = np.asarray(votes.open_rows.any(axis=1))
        chosen, least = [], np.inf
        for q in np.argsort(np.where(hopeless, np.inf, lost), kind="stable").tolist():
            if hopeless[q] or lost[q] > least + 1e-9:
                break
            if is_open[q]:
                self._ask_trees(np.sort([*members, added[promising[q]]]), votes.open_rows[q], out[q], sure[q])
                votes.wrong[q] = out[q].argmax(axis=1) != self._codes
                lost[q] = self._costs @ votes.wrong[q]
            if sure[q].all():
                least = min(least, float(lost[q]))
            chosen.append(q)
        chosen.sort(key=promising.__getitem__)
        places = promising[chosen]
        self._wrong = {int(added[place]): votes.wrong[q] for place, q in zip(places, chosen, strict=True)}
        self._members = members
        return places, self._grade(out[chosen], sure[chosen])

    def _race(self, members: IntArray, added: IntArray, out: FloatArray) -> kernels.Votes:
        """Let two columns run first: rows that they or the members have wrong are hard ones, on which to drop out."""
        new = np.setdiff1d(members, self._members)
        known = self._wrong.get(int(new[0])) if len(new) == 1 == len(members) - len(self._members) else None
        hard = np.zeros(self.folds.n_tests) if known is None else 2.0 * known
        parts = []
        most, standing = np.inf, self._stand(members)
        for part in (slice(0, 2), slice(2, None)):
            visits = np.argsort(-hard, kind="stable")
            race = kernels.FoldRace(visits, self._codes, self._costs, most)
            votes = self._vote(standing, members, added[part], race, out[part])
            parts.append(votes)
            finished = ~np.signbit(votes.lost)
            hard = hard + votes.wrong[finished].sum(axis=0)
            closed = finished & ~votes.open_rows.any(axis=1)
            most = min(most, votes.lost[closed].min(initial=np.inf) + kernels.SLACK)
        self._kept = [(members, standing)]
        return kernels.Votes(out, *(np.concatenate(pair) for pair in list(zip(*parts, strict=True))[1:]))

    def _stand(self, members: IntArray) -> kernels.FoldStanding:
        """Return what is known of the members by themselves: of some of them it may be known from the call before."""
        before, standing = self._kept.pop() if self._kept else (members, None)
        if standing is None or not np.isin(before, members).all():
            before, standing = members[:0], self._stand_alone()
        room = kernels.VotingRoom.of(standing, len(members))
        for new in members[~np.isin(members, before)]:
            kernels.stand(before, new, self._tables, self._rule, self.folds.bounds, standing, room)
            before = np.append(before, new)
        return standing

    def _stand_alone(self) -> kernels.FoldStanding:
        """Return what is known of no members: all training rows are equally near, those that are not there far."""
        n, width = self.folds.n_tests, self._trains.shape[2]
        base = np.zeros((n, width), dtype=np.float32)
        for fold, size in enumerate(self._sizes):
            base[self.folds.bounds[fold] : self.folds.bounds[fold + 1], size:] = kernels.FARTHEST
        return kernels.FoldStanding(
            base,
            gap=np.full(n, -1.0),
            before=np.zeros((n, self._n_outputs)),
            near_rows=np.empty((n, kernels.LONGEST), dtype=np.int32),
            near=np.empty((n, kernels.LONGEST), dtype=np.float32),
            lengths=np.zeros(n, dtype=np.int64),
            beyond=np.zeros(n, dtype=np.float32),
        )

    def _vote(
        self,
        standing: kernels.FoldStanding,
        members: IntArray,
        added: IntArray,
        race: kernels.FoldRace,
        out: FloatArray,
    ) -> kernels.Votes:
        """Vote with each of the added columns."""
        shape, room = (len(added), self.folds.n_tests), kernels.VotingRoom.of(standing, len(members))
        votes = kernels.Votes(out, np.zeros(shape, dtype=bool), np.zeros(len(added)), np.zeros(shape, dtype=bool))
        kernels.vote(standing, members, added, self._tables, self._rule, race, votes, room)
        return votes

    def _ask_trees(self, columns: IntArray, open_rows: BoolArray, out: FloatArray, sure: BoolArray) -> None:
        """Let scikit-learn's tree say which rows are the nearest, for rows that ties leave open."""
        for fold in range(self.folds.n_folds):
            low, high = self.folds.bounds[fold], self.folds.bounds[fold + 1]
            rows = low + np.flatnonzero(open_rows[low:high])
            if not len(rows):
                continue
            if len(columns) > TREE_FEATURES:
                sure[fold] = False
                continue
            train, test = self.folds.prepared(fold, self.folds.problem.X[:, columns])
            nearest = KDTree(train, self._leaf_size).query(test[rows - low], self._k, return_distance=False)
            votes = self._targets[fold][nearest]
            if self._is_classifier:
                out[rows] = (votes[:, :, None] == np.arange(self._n_outputs)).mean(axis=1)
            else:
                out[rows, 0] = votes.mean(axis=1)


class WeightedNeighborsEngine(Engine):
    """Neighbors that vote by the reciprocals of their distances, or whose differences are added up without squares.

    Distances are computed in double precision, to all training rows. Where another row is as near as the last neighbor,
    scikit-learn's tree is asked; subsets for which it grows none are left to it.
    """

    by_share = True

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        rows = folds.problem
        super().__init__(folds, metric, max(rows.n_classes, 1))
        self._k, self._weighted = int(estimator.n_neighbors), estimator.weights == "distance"
        self._leaf_size = int(estimator.leaf_size)
        self._squared = estimator.p == 2 if estimator.metric == "minkowski" else estimator.metric == "euclidean"
        self.tolerance = 1e-9 if self._weighted else 0.0
        smallest, largest = (how(len(train) for train, _ in folds.splits) for how in (min, max))
        if not 1 <= self._k < smallest // 2 or folds.n_tests * largest > MOST_DISTANCES:
            raise ValueError(f"{self._k} neighbors of {smallest} training rows, {folds.n_tests} rows to predict")
        self._parts = [(X.T.copy(), y) for X, y, _ in folds.training()]
        self._kept: tuple[IntArray, list[FloatArray]] = (np.empty(0, dtype=np.int64), self._nothing())

    def _nothing(self) -> list[FloatArray]:
        return [np.zeros((len(self.folds.tests(fold)), len(y))) for fold, (_, y) in enumerate(self._parts)]

    def _cells(self, fold: int, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the test rows' and the training rows' cells of a column."""
        return self.folds.columns[column, self.folds.rows(fold)], self._parts[fold][0][column]

    def _add(self, distances: FloatArray, fold: int, column: int) -> FloatArray:
        tests, trains = self._cells(fold, column)
        apart = tests[:, None] - trains
        return np.asarray(distances + (apart * apart if self._squared else np.abs(apart)))

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Add each column's differences to the distances of the members, which may be known from the call before."""
        before, kept = self._kept
        if not np.isin(before, members).all():
            before, kept = members[:0], self._nothing()
        for column in members[~np.isin(members, before)].tolist():
            kept = [self._add(distances, fold, column) for fold, distances in enumerate(kept)]
        self._kept = members, kept
        sure = np.full((len(added), self.folds.n_folds), len(members) < TREE_FEATURES)
        for fold, distances in enumerate(kept):
            for q, column in enumerate(added.tolist()):
                near, far = self._nearest(distances, fold, column, members)
                out[q, self.folds.rows(fold)] = self._vote(near, far, self._parts[fold][1])
        return sure

    def _nearest(self, distances: FloatArray, fold: int, column: int, members: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the nearest rows with a column added, and how far they are; where rows tie, those of a tree."""
        near = np.empty((len(distances), self._k + 1), dtype=np.int64)
        far = np.empty(near.shape)
        kernels.list_with(distances, *self._cells(fold, column), self._squared, near, far)
        tied = far[:, -1] - far[:, -2] <= NEAR * far[:, -2]
        near, far = near[:, :-1], np.sqrt(far[:, :-1]) if self._squared else far[:, :-1]
        if tied.any() and len(members) < TREE_FEATURES:
            train, test = self.folds.prepared(fold, self.folds.problem.X[:, np.sort([*members, column])])
            tree = KDTree(train, self._leaf_size, metric="euclidean" if self._squared else "manhattan")
            far[tied], near[tied] = tree.query(test[tied], self._k)
        return near, far

    def _vote(self, near: IntArray, far: FloatArray, targets: Any) -> FloatArray:
        """Return the shares of the classes, or the means."""
        votes = np.ones_like(far)
        if self._weighted:  # rows at no distance outvote all others
            same = far == 0.0
            votes = np.where(same.any(axis=1, keepdims=True), same, 1.0 / np.where(same, 1.0, far))
        total = votes.sum(axis=1, keepdims=True)  # divided by at the end: equal numbers of votes stay equal
        if self.folds.problem.task == "regression":
            return np.asarray((votes * targets[near]).sum(axis=1, keepdims=True) / total)
        shares = [(votes * (targets[near] == c)).sum(axis=1) for c in range(self._n_outputs)]
        return np.stack(shares, axis=1) / total


def neighbors_engine(estimator: Any, folds: Folds, metric: EngineMetric) -> Engine:
    """Return the engine for the weights and the distance of neighbors."""
    euclidean = estimator.metric == "euclidean" or (estimator.metric == "minkowski" and estimator.p == 2)
    plain = euclidean and estimator.weights == "uniform"
    return (NeighborsEngine if plain else WeightedNeighborsEngine)(estimator, folds, metric)


def _shares_between(columns: FloatArray, codes: IntArray) -> FloatArray:
    """Return how much of the variance of each of (p, n) columns lies between the classes."""
    members = np.eye(int(codes.max()) + 1)[codes]
    centered = columns - columns.mean(axis=1, keepdims=True)
    between = (centered @ members) ** 2 @ (1.0 / np.maximum(members.sum(axis=0), 1.0))
    total = np.einsum("ij,ij->i", centered, centered)
    return np.divide(between, total, out=np.zeros(len(columns)), where=total > 0.0)
