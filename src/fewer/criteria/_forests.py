"""Forests of scikit-learn, grown by its own compiled trees without what surrounds them.

On a few hundred rows a forest spends five sixths of its time on checks, copies of estimators and tasks for each tree;
the trees themselves, their seeds and their order stay what they are, so the predictions are the same to the bit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from fewer.problem import FloatArray

FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
PLAIN = {
    "class_weight": None, "warm_start": False, "oob_score": False, "max_leaf_nodes": None, "ccp_alpha": 0.0,
    "monotonic_cst": None, "max_samples": None, "min_weight_fraction_leaf": 0.0, "verbose": 0,
}  # fmt: skip
"""Options that must stand at these values."""
CRITERIA = ("gini", "entropy", "log_loss", "squared_error")
LARGEST = np.iinfo(np.int32).max
REMEMBERED = 10**6
"""Rows times trees up to which the rows that trees draw are kept."""


def is_plain_forest(model: Any) -> bool:
    """Say whether a model is a forest that can be grown here.

    Examples
    --------
    >>> is_plain_forest(RandomForestClassifier(30)), is_plain_forest(RandomForestClassifier(class_weight="balanced"))
    (True, False)
    """
    if type(model) not in FORESTS:
        return False
    options = model.get_params(deep=False)
    return bool(
        has_whole_limits(options)
        and options["criterion"] in CRITERIA
        and all(options.get(name, value) == value for name, value in PLAIN.items())
    )


def has_whole_limits(options: dict[str, Any]) -> bool:
    """Say whether the smallest nodes are whole numbers of rows, and the seed is no generator that goes on."""
    whole = all(isinstance(options[name], int | np.integer) for name in ("min_samples_leaf", "min_samples_split"))
    return whole and not isinstance(options["random_state"], np.random.RandomState)


def can_be_cut(cells: Any) -> bool:
    """Say whether cells are numbers that trees can be built on as they are.

    Examples
    --------
    >>> can_be_cut(np.eye(2)), can_be_cut(np.array([[1.0, np.nan]])), can_be_cut([[1.0]])
    (True, False, False)
    """
    # False for NaN, and for what would be infinite in single precision.
    return isinstance(cells, np.ndarray) and bool(np.abs(cells).max(initial=0.0) < np.finfo(np.float32).max)


def forest_outputs(model: Any, train: FloatArray, labels: NDArray[Any], test: FloatArray) -> tuple[FloatArray, Any]:
    """Fit a forest and predict the test rows.

    Parameters
    ----------
    model : estimator
        A forest for which `is_plain_forest` holds, with a seed.
    train, test : float arrays of shape (n_train, n_columns), (n_test, n_columns)
        Without missing cells.
    labels : array of shape (n_train,)

    Returns
    -------
    outputs : array of shape (n_test, n_classes) or (n_test,)
        Class memberships, or numbers.
    classes : array of shape (n_classes,) or None
    """
    from sklearn.tree import _classes as trees
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    rows, cells = np.ascontiguousarray(train, dtype=np.float32), np.ascontiguousarray(test, dtype=np.float32)
    n, p = rows.shape
    classes, codes = np.unique(labels, return_inverse=True) if is_classifier(model) else (None, labels)
    target = np.ascontiguousarray(codes, dtype=np.float64).reshape(-1, 1)
    n_classes = np.array([1 if classes is None else len(classes)], dtype=np.intp)
    kinds = trees.CRITERIA_REG if classes is None else trees.CRITERIA_CLF
    splitter_of = trees.DENSE_SPLITTERS["random" if isinstance(model, FORESTS[2:]) else "best"]
    leaf = int(model.min_samples_leaf)
    n_tried, smallest = n_tried_of(model.max_features, p), max(int(model.min_samples_split), 2 * leaf)
    deepest = LARGEST if model.max_depth is None else model.max_depth
    outputs = np.zeros((len(cells), int(n_classes[0])))
    for weights, rng in _plans(model, n):
        criterion = kinds[model.criterion](1, n if classes is None else n_classes)
        splitter = splitter_of(criterion, n_tried, leaf, 0.0, rng, None)
        tree = Tree(p, n_classes, 1)
        DepthFirstTreeBuilder(splitter, smallest, leaf, 0.0, deepest, model.min_impurity_decrease).build(
            tree, rows, target, weights, None
        )
        outputs += tree.predict(cells).reshape(outputs.shape)
    outputs /= model.n_estimators
    return (outputs[:, 0] if classes is None else outputs), classes


class _Seed:
    """Stands for a generator of which a tree takes one number; making generators would take longer than the tree."""

    def __init__(self, seed: int) -> None:
        self._seed, self._known = seed, -1

    def randint(self, low: int, high: int) -> int:
        """Draw the first number."""
        if self._known < 0:
            self._known = int(np.random.RandomState(self._seed).randint(low, high))
        return self._known


def _plans(model: Any, n: int) -> list[tuple[FloatArray | None, _Seed]]:
    """Return how often each tree takes each row, and its seed; the same in all folds of as many rows."""
    plan = _plan if n * model.n_estimators <= REMEMBERED else _plan.__wrapped__
    return plan(model.random_state, int(model.n_estimators), n, bool(model.bootstrap))


@lru_cache(maxsize=4)
def _plan(random_state: int, n_trees: int, n: int, bootstrap: bool) -> list[tuple[FloatArray | None, _Seed]]:
    seeds = np.random.RandomState(random_state).randint(LARGEST, size=n_trees).tolist()
    if not bootstrap:
        return [(None, _Seed(seed)) for seed in seeds]
    return [(np.bincount(_drawn(seed, n), minlength=n).astype(np.float64), _Seed(seed)) for seed in seeds]


def _drawn(seed: int, n: int) -> NDArray[Any]:
    """Draw the rows of a tree as scikit-learn does, which has changed how."""
    from sklearn.ensemble._forest import _generate_sample_indices

    try:
        return np.asarray(_generate_sample_indices(seed, n, n, None))
    except TypeError:
        return np.asarray(_generate_sample_indices(seed, n, n))


def n_tried_of(max_features: Any, p: int) -> int:
    """Return how many columns a cut tries."""
    if max_features is None:
        return p
    if isinstance(max_features, str):
        return max(1, int(np.sqrt(p) if max_features == "sqrt" else np.log2(p)))
    return int(max_features) if isinstance(max_features, int | np.integer) else max(1, int(max_features * p))
