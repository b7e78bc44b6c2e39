"""Trees, forests and gradient boosting of scikit-learn on rows that stay the same: the same predictions to the bit."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from fewer.criteria._sklearn_internals import LARGEST, TreeGrower, drawn_rows, loss_of, n_tried_of, newton_step
from fewer.criteria.engines._parts import Part, Weights, codes_of, odd_option
from fewer.kernels import cart
from fewer.problem import FloatArray, IntArray

TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
EXTRA = (ExtraTreesClassifier, ExtraTreesRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
BOOSTINGS = (GradientBoostingClassifier, GradientBoostingRegressor)
CRITERIA = ("gini", "entropy", "log_loss", "squared_error", "friedman_mse", "deprecated")
# Options that must stand at these values.
COVERED_TREES = {
    "criterion": CRITERIA, "warm_start": (False,), "oob_score": (False,), "ccp_alpha": (0.0,), "monotonic_cst": (None,),
    "max_samples": (None,), "min_weight_fraction_leaf": (0.0,), "verbose": (0,), "splitter": ("best", "random"),
    "subsample": (1.0,), "n_iter_no_change": (None,), "init": (None,), "loss": ("log_loss", "squared_error"),
}  # fmt: skip
DRAWS_REMEMBERED = 10**6  # Rows times trees up to which the rows that trees draw are kept.


class TreePart(Part):
    """What trees, forests and boosting share: cells in single precision."""

    takes_missing = True

    @classmethod
    def refuses(cls, model: Any, n_rows: int, n_columns: int) -> str:
        """Say why a model is not grown here; the empty string if it is."""
        options = model.get_params(deep=False)
        if odd := odd_option(model, COVERED_TREES):
            return odd
        for name in ("min_samples_leaf", "min_samples_split"):
            if not isinstance(options[name], int | np.integer):
                return f"{type(model).__name__}({name}={options[name]!r}) is not covered"
        if not isinstance(options["random_state"], int | np.integer):
            return "a seed that is not an integer"
        return ""

    def __init__(self, model: Any, train: FloatArray, labels: Any, test: FloatArray, weights: Weights = None) -> None:
        self._model, self._settings = model, model.get_params(deep=False)
        self.classes_, codes = codes_of(labels, is_classifier(model))
        self._target = codes.reshape(-1, 1)
        self._weights = weights
        balance = self._settings.get("class_weight")
        if balance is not None and not (balance == "balanced_subsample" and model.bootstrap):
            if weights is not None and isinstance(balance, str) and isinstance(model, FORESTS):
                # Forests, unlike trees, weigh the rows when they count classes.
                each = compute_class_weight("balanced", classes=self.classes_, y=labels, sample_weight=weights)
                balance = dict(zip(self.classes_, each, strict=True))  # type: ignore[arg-type]
            balance = compute_sample_weight("balanced" if isinstance(balance, str) else balance, labels)
            self._weights = balance if weights is None else weights * balance
        with np.errstate(over="ignore"):
            self._train, self._test = train.astype(np.float32), test.astype(np.float32)
        if np.isinf(self._train).any() or np.isinf(self._test).any():
            raise ValueError("cells that are infinite in single precision")

    def _cells(self, columns: IntArray) -> tuple[Any, Any]:
        return np.ascontiguousarray(self._train[:, columns]), np.ascontiguousarray(self._test[:, columns])

    @property
    def _n_classes(self) -> int:
        return 0 if self.classes_ is None else len(self.classes_)


class ForestPart(TreePart):
    """A tree, or a forest of them, each with its own seed and rows."""

    def outputs(self, columns: IntArray) -> FloatArray:
        """Grow the trees and take the mean of what they say."""
        model = self._model
        if self._has_whole_counts:
            return self._grown_here(columns)
        rows, cells = self._cells(columns)
        is_random = isinstance(model, EXTRA) or self._settings.get("splitter") == "random"
        grower = TreeGrower(model, rows, self._n_classes, model.criterion, is_random)
        predicted = np.zeros((len(cells), max(self._n_classes, 1)))
        plans, self._gains = self._plans(), []
        for weights, rng in plans:
            tree = grower.grow(self._target, weights, rng)
            self._gains.append(tree.compute_feature_importances(normalize=False))
            predicted += tree.predict(cells).reshape(predicted.shape)
        predicted /= len(plans)
        return predicted if self._n_classes else predicted[:, 0]

    @cached_property
    def _has_whole_counts(self) -> bool:
        """Whether trees are cut by Gini's index among the best cuts, and rows count whole numbers of times."""
        model = self._model
        is_best = not isinstance(model, EXTRA) and self._settings.get("splitter", "best") == "best"
        is_plain = self._settings.get("criterion") == "gini" and model.max_leaf_nodes is None
        if not is_best or not is_plain or np.isnan(self._train).any() or np.isnan(self._test).any():
            return False
        return all(weights is None or (weights % 1.0 == 0.0).all() for weights, _ in self._plans())

    @cached_property
    def _laid_out(self) -> tuple[Any, Any, Any, Any, Any]:
        """Columns, their orders, test columns, counts of rows and seeds of trees."""
        plans, n = self._plans(), len(self._target)
        counts = np.stack([np.ones(n) if weights is None else weights for weights, _ in plans])
        seeds = np.array([rng.randint(0, LARGEST) for _, rng in plans], dtype=np.uint32)
        train, test = np.ascontiguousarray(self._train.T), np.ascontiguousarray(self._test.T)
        return train, train.argsort(axis=1).astype(np.int32), test, counts, seeds

    def _grown_here(self, columns: IntArray) -> FloatArray:
        model, (train, orders, test, counts, seeds) = self._model, self._laid_out
        predicted = np.zeros((test.shape[1], self._n_classes))
        limits = cart.Limits(
            n_tried_of(model.max_features, len(columns)),
            max(int(model.min_samples_split), 2 * int(model.min_samples_leaf)), int(model.min_samples_leaf),
            LARGEST if model.max_depth is None else int(model.max_depth),
        )  # fmt: skip
        decrease = float(model.min_impurity_decrease) or None
        table = cart.SortedColumns(train[columns], orders[columns], test[columns], self._codes)
        gains = np.zeros((len(seeds), len(columns)))
        cart.grow(table, counts, seeds, limits, decrease, cart.TreeRoom.of(table, self._n_classes), predicted, gains)
        self._gains = list(gains)
        return predicted / len(seeds)

    def importances(self) -> FloatArray:
        """Return the mean over trees of the share of each column in what cuts gain."""
        shares = [each / each.sum() for each in self._gains if each.sum() > 0.0]
        total = np.mean(shares, axis=0) if shares else np.zeros(len(self._gains[0]))
        return total / total.sum() if total.sum() > 0.0 else total

    @cached_property
    def _codes(self) -> IntArray:
        return self._target[:, 0].astype(np.int64)

    def _plans(self) -> list[tuple[FloatArray | None, Any]]:
        """Return how often each tree takes each row, and its seed; the same in all folds of as many rows."""
        model, n = self._model, len(self._target)
        if isinstance(model, TREES):
            return [(self._weights, _Seed(model.random_state))]
        if not model.bootstrap:
            plain = _plan(model.random_state, int(model.n_estimators), n, False)
            return [(self._weights, rng) for _, rng in plain]
        if self._weights is None and self._settings.get("class_weight") is None:
            plan = _plan if n * model.n_estimators <= DRAWS_REMEMBERED else _plan.__wrapped__
            return plan(model.random_state, int(model.n_estimators), n, True)
        return self._drawn

    @cached_property
    def _drawn(self) -> list[tuple[FloatArray | None, Any]]:
        seeds = _seeds(self._model.random_state, self._model.n_estimators)
        return [(self._count(seed), _Seed(seed)) for seed in seeds]

    def _count(self, seed: int) -> FloatArray:
        """Return how often a tree takes each row: rows are drawn by their weights."""
        rows = drawn_rows(seed, len(self._target), self._weights)
        counts = np.bincount(rows, minlength=len(self._target)).astype(np.float64)
        if self._settings.get("class_weight") == "balanced_subsample":
            counts *= compute_sample_weight("balanced", self._target, indices=rows)
        return counts


class BoostingPart(TreePart):
    """Gradient boosting, stage by stage: two classes with the logistic loss, or quantities with squared errors."""

    takes_missing = False

    def outputs(self, columns: IntArray) -> FloatArray | None:
        """Grow the trees, each on the gradients that those before it left."""
        if self._n_classes not in (0, 2) or self._weights is not None:
            return None
        model, (rows, cells), target = self._model, self._cells(columns), self._target[:, 0]
        loss, two = loss_of(self._n_classes), self._n_classes == 2
        start = _start(target, loss, two)
        inside, outside = np.full((len(rows), 1), start), np.full(len(cells), start)
        # Whatever `criterion` says: scikit-learn names it only to warn that it has no effect.
        grower, rng = TreeGrower(model, rows, 0, "squared_error", False), np.random.RandomState(model.random_state)
        ones = np.ones(len(rows))
        for _ in range(model.n_estimators):
            gradient = -loss.gradient(y_true=target, raw_prediction=inside, sample_weight=None)
            gradient = np.ascontiguousarray(gradient).reshape(-1)
            tree = grower.grow(gradient.reshape(-1, 1), ones, rng)
            leaves = tree.apply(rows)
            values = tree.value[:, 0, 0]
            if two:
                newton_step(values, leaves, target, gradient)
            inside[:, 0] += model.learning_rate * values.take(leaves)
            outside += model.learning_rate * values.take(tree.apply(cells))
        self._outside = outside
        return np.asarray(loss.predict_proba(outside.reshape(-1, 1))) if two else outside

    def decisions(self, outputs: FloatArray) -> FloatArray | None:
        """Return the sums before the logistic function."""
        return self._outside if self._n_classes else None

    def codes(self, outputs: FloatArray) -> IntArray:
        """Return class codes: a sum of zero is the second class."""
        return (self._outside >= 0.0).astype(np.int64)


class _Seed:
    """Stands for a generator of which a tree takes one number; making generators would take longer than the tree."""

    def __init__(self, seed: int) -> None:
        self._seed, self._known = seed, -1

    def randint(self, low: int, high: int) -> int:
        """Draw the first number."""
        if self._known < 0:
            self._known = int(np.random.RandomState(self._seed).randint(low, high))
        return self._known


def _seeds(random_state: int, n_trees: int) -> list[int]:
    return np.random.RandomState(random_state).randint(LARGEST, size=n_trees).tolist()


@lru_cache(maxsize=4)
def _plan(random_state: int, n_trees: int, n: int, bootstrap: bool) -> list[tuple[FloatArray | None, Any]]:
    seeds = _seeds(random_state, n_trees)
    if not bootstrap:
        return [(None, _Seed(seed)) for seed in seeds]
    return [(np.bincount(drawn_rows(seed, n, None), minlength=n).astype(float), _Seed(seed)) for seed in seeds]


def _start(target: FloatArray, loss: Any, two_classes: bool) -> float:
    """Return the prediction before the first tree: that of a dummy estimator."""
    if not two_classes:
        return float(np.average(target, axis=0, weights=None))
    eps = np.finfo(np.float64).eps
    share = np.bincount(target.astype(np.int64)) / len(target)
    return float(loss.link.link(np.clip(share[1:], eps, 1 - eps))[0])
