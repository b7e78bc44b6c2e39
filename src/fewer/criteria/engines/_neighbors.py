"""`KNeighborsClassifier`, `KNeighborsRegressor`: distances add up over columns; ties are left to scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KDTree

from fewer.criteria.engines._engine import Engine
from fewer.criteria.engines._folds import Folds
from fewer.criteria.engines._metric import Metric
from fewer.kernels import _held_out_neighbors as kernels
from fewer.problem import BoolArray, FloatArray, IntArray

TREE_FEATURES = 15
"""Up to so many columns scikit-learn grows a tree, if it may choose."""


class NeighborsEngine(Engine):
    """The k nearest rows, each with one vote.

    Where several rows are equally near and it matters which of them are taken, scikit-learn's tree is asked.
    """

    tolerance = 0.0
    by_share = True

    def __init__(self, estimator: Any, folds: Folds, metric: Metric) -> None:
        rows = folds.problem
        super().__init__(folds, metric, max(rows.n_classes, 1))
        self._k = int(estimator.n_neighbors)
        self._leaf_size = int(estimator.leaf_size)
        sizes = np.array([len(train) for train, _ in folds.splits], dtype=np.int64)
        if not 1 <= self._k <= min(kernels.LANES, sizes.min() // 2 - 1):
            raise ValueError(f"{self._k} neighbors of {sizes.min()} training rows")
        self._sizes = sizes
        self._trains = np.zeros((folds.n_folds, rows.n_features, int(sizes.max())))
        self._targets = np.zeros((folds.n_folds, int(sizes.max())))
        for fold, (X, y, _) in enumerate(folds.training()):
            self._trains[fold, :, : len(X)] = X.T
            self._targets[fold, : len(X)] = y
        self._tests = folds.columns
        self._codes = folds.y.astype(np.int64) if self._is_classifier else np.zeros(folds.n_tests, dtype=np.int64)
        # What the step before has shown: rows that were wrong, and columns that did badly.
        self._wrong: dict[bytes, BoolArray] = {}
        self._lost_before = np.zeros(rows.n_features)
        self._tables = self._in_both_precisions()
        shares = metric.name in ("roc_auc", "neg_log_loss")
        self._rule = kernels.Rule(self._targets, self._k, self._is_classifier, shares)

    def _in_both_precisions(self) -> kernels.Tables:
        """Single precision is about the middle of each column, so that few digits go to its distance from zero."""
        middle = np.median(self._tests, axis=1)
        tests = (self._tests - middle[:, None]).astype(np.float32)
        trains = (self._trains - middle[:, None]).astype(np.float32)
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
        race = kernels.Race(np.arange(self.folds.n_tests), self._codes, nothing, np.inf)
        open_rows, _ = self._vote(self._stand(members), members, added, race, out)
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
        folds = self.folds
        rows = np.diff(folds.bounds)
        costs = folds.weights / np.repeat(np.add.reduceat(folds.weights, folds.bounds[:-1]) * len(rows), rows)
        promising = np.argsort(self._lost_before[added], kind="stable")
        out = np.empty((len(added), folds.n_tests, self._n_outputs))
        open_rows, lost = self._race(members, added[promising], costs, out)
        self._lost_before[added[promising]] = np.abs(lost)
        places, scores, least = [], [], np.inf
        self._wrong.clear()
        for q in np.argsort(np.where(np.signbit(lost), np.inf, lost), kind="stable"):
            if np.signbit(lost[q]) or lost[q] > least + 1e-9:
                break
            columns = np.sort([*members, added[promising[q]]])
            sure = np.ones((1, folds.n_folds), dtype=bool)
            if open_rows[q].any():
                self._ask_trees(columns, open_rows[q], out[q], sure[0])
            wrong = out[q].argmax(axis=1) != folds.y
            if sure.all():
                least = min(least, float(costs @ wrong))
            self._wrong[columns.tobytes()] = wrong
            places.append(int(promising[q]))
            scores.append(self._grade(out[q : q + 1], sure)[0])
        order = np.argsort(places)
        return np.array(places, dtype=np.int64)[order], np.array(scores)[order]

    def _race(
        self, members: IntArray, added: IntArray, costs: FloatArray, out: FloatArray
    ) -> tuple[BoolArray, FloatArray]:
        """Let two columns run first: rows that they or the members have wrong are hard ones, on which to drop out."""
        known = self._wrong.get(members.tobytes())
        hard = np.zeros(self.folds.n_tests) if known is None else 2.0 * known
        parts = []
        most, standing = np.inf, self._stand(members)
        for part in (slice(0, 2), slice(2, None)):
            visits = np.argsort(-hard, kind="stable")
            race = kernels.Race(visits, self._codes, costs, most)
            open_rows, lost = self._vote(standing, members, added[part], race, out[part])
            parts.append((open_rows, lost))
            finished = ~np.signbit(lost)
            hard = hard + (out[part][finished].argmax(axis=2) != self._codes).sum(axis=0)
            closed = finished & ~open_rows.any(axis=1)
            most = min(most, lost[closed].min(initial=np.inf) + kernels.SLACK)
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([lost for _, lost in parts])

    def _stand(self, members: IntArray) -> kernels.Standing:
        """Return what is known of the members by themselves."""
        n = self.folds.n_tests
        standing = kernels.Standing(
            np.zeros((n, self._trains.shape[2]), dtype=np.float32), np.full(n, -1.0), np.zeros((n, self._n_outputs))
        )
        kernels.stand(members, self._tables, self._rule, self.folds.bounds, standing)
        return standing

    def _vote(
        self, standing: kernels.Standing, members: IntArray, added: IntArray, race: kernels.Race, out: FloatArray
    ) -> tuple[BoolArray, FloatArray]:
        """Vote; return the rows that are left open, and what each column lost."""
        open_rows = np.zeros((len(added), self.folds.n_tests), dtype=bool)
        votes = kernels.Votes(out, open_rows, np.zeros(len(added)))
        kernels.vote(standing, members, added, self._tables, self._rule, race, votes)
        return votes.open_rows, votes.lost

    def predict_members(self, members: IntArray, out: FloatArray) -> BoolArray:
        """Add the last member to the others."""
        return self.predict_added(members[:-1], members[-1:], out[None])[0]

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
            train = np.ascontiguousarray(self._trains[fold, columns, : self._sizes[fold]].T)
            tree = KDTree(train, leaf_size=self._leaf_size)
            nearest = tree.query(np.ascontiguousarray(self._tests[columns][:, rows].T), self._k, return_distance=False)
            votes = self._targets[fold][nearest]
            if self._is_classifier:
                out[rows] = (votes[:, :, None] == np.arange(self._n_outputs)).mean(axis=1)
            else:
                out[rows, 0] = votes.mean(axis=1)
