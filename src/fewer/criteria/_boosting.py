"""Gradient boosting of scikit-learn, stage by stage on its own compiled trees, without what surrounds them.

As in `_forests`: the trees, their order and the arithmetic stay what they are, so the predictions are the same to the
bit. Two classes with the logistic loss, and quantities with squared errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from fewer.criteria._forests import LARGEST, has_whole_limits, n_tried_of
from fewer.problem import FloatArray

BOOSTINGS = (GradientBoostingClassifier, GradientBoostingRegressor)
PLAIN = {
    "subsample": 1.0, "n_iter_no_change": None, "init": None, "warm_start": False, "ccp_alpha": 0.0,
    "max_leaf_nodes": None, "min_weight_fraction_leaf": 0.0, "verbose": 0,
}  # fmt: skip
"""Options that must stand at these values."""
SCORINGS = (None, "accuracy", "balanced_accuracy", "f1", "f1_macro", "neg_log_loss", "r2")
"""Metrics of classes and memberships, not of decision values; and of errors (`neg_mean…`)."""
CLOSE = 1e-9
"""Decisions so near to zero that memberships may not tell the class are left to scikit-learn."""


def is_plain_boosting(model: Any, scoring: Any) -> bool:
    """Say whether a model is a gradient boosting that can be grown here, for some metric.

    Examples
    --------
    >>> [is_plain_boosting(GradientBoostingClassifier(), scoring) for scoring in ("accuracy", "roc_auc")]
    [True, False]
    """
    if type(model) not in BOOSTINGS or not (scoring in SCORINGS or str(scoring).startswith("neg_mean")):
        return False
    options = model.get_params(deep=False)
    return bool(
        has_whole_limits(options)
        and options["loss"] == ("log_loss" if is_classifier(model) else "squared_error")
        and all(options.get(name, value) == value for name, value in PLAIN.items())
    )


def boosting_outputs(
    model: Any, train: FloatArray, labels: NDArray[Any], test: FloatArray
) -> tuple[FloatArray, Any] | None:
    """Fit a gradient boosting and predict the test rows, as `_forests.forest_outputs`; None where it cannot tell."""
    from sklearn.ensemble import _gb

    rows, cells = np.ascontiguousarray(train, dtype=np.float32), np.ascontiguousarray(test, dtype=np.float32)
    classes, codes = np.unique(labels, return_inverse=True) if is_classifier(model) else (None, labels)
    if classes is not None and len(classes) != 2:
        return None
    target = np.ascontiguousarray(codes, dtype=np.float64)
    loss = _gb.HalfSquaredError() if classes is None else _gb.HalfBinomialLoss()
    start = _start(target, loss, classes is not None)
    inside, outside = np.full((len(rows), 1), start), np.full(len(cells), start)
    kind = model.criterion if model.criterion in ("friedman_mse", "squared_error") else "squared_error"
    grow = _grower(model, rows, kind)
    for _ in range(model.n_estimators):
        gradient = -loss.gradient(y_true=target, raw_prediction=inside, sample_weight=None)
        gradient = np.ascontiguousarray(gradient).reshape(-1)
        tree = grow(gradient)
        leaves = tree.apply(rows)
        values = tree.value[:, 0, 0]
        if classes is not None:
            _newton_step(values, leaves, target, gradient, _gb._safe_divide)
        inside[:, 0] += model.learning_rate * values.take(leaves)
        outside += model.learning_rate * values.take(tree.apply(cells))
    if classes is None:
        return outside, None
    if np.abs(outside).min(initial=1.0) < CLOSE:
        return None
    return loss.predict_proba(outside.reshape(-1, 1)), classes


def _start(target: FloatArray, loss: Any, two_classes: bool) -> float:
    """Return the prediction before the first tree: that of a dummy estimator."""
    if not two_classes:
        return float(np.average(target, axis=0, weights=None))
    eps = np.finfo(np.float64).eps
    share = np.bincount(target.astype(np.int64)) / len(target)
    return float(loss.link.link(np.clip(share[1:], eps, 1 - eps))[0])


def _grower(model: Any, rows: Any, kind: str) -> Any:
    """Return what grows a tree on gradients."""
    from sklearn.tree import _classes as trees
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    (n, p), leaf = rows.shape, int(model.min_samples_leaf)
    n_tried, smallest = n_tried_of(model.max_features, p), max(int(model.min_samples_split), 2 * leaf)
    deepest = LARGEST if model.max_depth is None else model.max_depth
    rng, weights, one = np.random.RandomState(model.random_state), np.ones(n), np.array([1], dtype=np.intp)
    decrease = model.min_impurity_decrease

    def grow(gradient: FloatArray) -> Any:
        splitter = trees.DENSE_SPLITTERS["best"](trees.CRITERIA_REG[kind](1, n), n_tried, leaf, 0.0, rng, None)
        tree = Tree(p, one, 1)
        builder = DepthFirstTreeBuilder(splitter, smallest, leaf, 0.0, deepest, decrease)
        builder.build(tree, rows, gradient.reshape(-1, 1), weights, None)
        return tree

    return grow


def _newton_step(values: Any, leaves: Any, target: Any, gradient: Any, divide: Any) -> None:
    """Write the leaves' values: mean gradient over mean curvature."""
    likely = target - gradient
    order = leaves.argsort(kind="stable")
    gradients, curvatures = gradient.take(order), (likely * (1 - likely)).take(order)
    ends = np.bincount(leaves, minlength=len(values)).cumsum().tolist()
    sum_of, first = np.add.reduce, 0
    for leaf, last in enumerate(ends):
        if last > first:  # slices: sums by scikit-learn's order of rows, to the bit
            n = float(last - first)
            values[leaf] = divide(sum_of(gradients[first:last]) / n, sum_of(curvatures[first:last]) / n)
        first = last
