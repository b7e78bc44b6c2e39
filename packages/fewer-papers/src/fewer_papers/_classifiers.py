"""ID3 and naive Bayes as machine-learning papers around 2000 used them, on numbers and levels with missing cells.

They are the judges of printed tables, nothing more: cells are numbers, nominal columns hold level codes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from fewer.problem import BoolArray, FloatArray, IntArray


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes: normal densities for numbers, Laplace-corrected shares for levels, missing cells skipped.

    Parameters
    ----------
    nominal : bool array of shape (n_features,), optional
        Which columns hold level codes.
    """

    def __init__(self, nominal: BoolArray | None = None) -> None:
        self.nominal = nominal

    def fit(self, X: FloatArray, y: NDArray[Any]) -> NaiveBayes:
        """Learn priors, means, spreads and shares."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        nominal = np.zeros(X.shape[1], dtype=bool) if self.nominal is None else np.asarray(self.nominal)
        self._is_nominal = nominal
        counts = np.bincount(codes)
        self._prior = np.log(counts / counts.sum())
        members = [X[codes == k] for k in range(len(counts))]
        numbers = [part[:, ~nominal] for part in members]
        self._mean = np.array([_mean(part) for part in numbers])
        spread = np.array([_mean((part - mean) ** 2) for part, mean in zip(numbers, self._mean, strict=True)])
        floor = 1e-9 * np.maximum(_mean((X[:, ~nominal] - _mean(X[:, ~nominal])) ** 2), 1e-12)
        self._variance = np.maximum(spread, floor)
        self._shares = [self._log_shares(X[:, f], codes, len(counts)) for f in np.flatnonzero(nominal)]
        return self

    def predict(self, X: FloatArray) -> NDArray[Any]:
        """Return the most probable class; of equals the first."""
        joint = np.repeat(self._prior[None], len(X), axis=0)
        numbers = X[:, ~self._is_nominal]
        for k in range(len(self.classes_)):
            density = -0.5 * (np.log(self._variance[k]) + (numbers - self._mean[k]) ** 2 / self._variance[k])
            joint[:, k] += np.nansum(density, axis=1)
        for f, shares in zip(np.flatnonzero(self._is_nominal), self._shares, strict=True):
            for level, logs in shares.items():
                joint[X[:, f] == level] += logs
        return self.classes_[joint.argmax(axis=1)]

    @staticmethod
    def _log_shares(column: FloatArray, codes: IntArray, n_classes: int) -> dict[float, FloatArray]:
        levels = np.unique(column[~np.isnan(column)])
        counts = np.array([np.bincount(codes[column == level], minlength=n_classes) for level in levels]) + 1.0
        return dict(zip(levels.tolist(), np.log(counts / counts.sum(axis=0)), strict=True))


class ID3(ClassifierMixin, BaseEstimator):
    """ID3 (Quinlan 1986): the largest gain in entropy, a branch for each level, thresholds for numbers, no pruning.

    Where all columns are numbers without missing cells it is scikit-learn's entropy tree. A missing cell follows the
    largest branch; a level that the node never saw gets the node's majority.

    Parameters
    ----------
    nominal : bool array of shape (n_features,), optional
        Which columns hold level codes.
    random_state : int, default=0
        Chooses among equal splits of scikit-learn's tree; ours takes the first column.
    """

    def __init__(self, nominal: BoolArray | None = None, random_state: int = 0) -> None:
        self.nominal = nominal
        self.random_state = random_state

    def fit(self, X: FloatArray, y: NDArray[Any]) -> ID3:
        """Grow the tree until every leaf is pure or nothing splits it."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        nominal = np.zeros(X.shape[1], dtype=bool) if self.nominal is None else np.asarray(self.nominal)
        if not nominal.any() and not np.isnan(X).any():
            tree = DecisionTreeClassifier(criterion="entropy", random_state=self.random_state)
            self._tree: Any = tree.fit(X, codes)
        else:
            self._tree = _grow(X, codes, nominal, len(self.classes_), frozenset())
        return self

    def predict(self, X: FloatArray) -> NDArray[Any]:
        """Follow each row to its leaf."""
        if isinstance(self._tree, DecisionTreeClassifier):
            return self.classes_[self._tree.predict(X)]
        return self.classes_[np.array([_descend(self._tree, row) for row in X])]


@dataclass
class _Node:
    majority: int
    feature: int = -1
    threshold: float = np.nan
    branches: dict[float, _Node] = field(default_factory=dict)
    largest: float = 0.0


def _grow(X: FloatArray, codes: IntArray, nominal: BoolArray, n_classes: int, spent: frozenset[int]) -> _Node:
    counts = np.bincount(codes, minlength=n_classes)
    node = _Node(int(counts.argmax()))
    if counts.max() == len(codes):
        return node
    best = 1e-12
    for f in range(X.shape[1]):
        if f in spent:
            continue
        gain, threshold = _nominal_gain(X[:, f], codes, n_classes) if nominal[f] else _split(X[:, f], codes, n_classes)
        if gain > best + 1e-12:
            best, node.feature, node.threshold = gain, f, threshold
    if node.feature < 0:
        return _grow_blindly(X, codes, nominal, n_classes, spent, node)
    return _branch(X, codes, nominal, n_classes, spent, node)


def _grow_blindly(
    X: FloatArray, codes: IntArray, nominal: BoolArray, n_classes: int, spent: frozenset[int], node: _Node
) -> _Node:
    """Split a mixed node by the first level column that varies, where no column gains anything by itself."""
    for f in np.flatnonzero(nominal).tolist():
        if f not in spent and len(np.unique(X[~np.isnan(X[:, f]), f])) > 1:
            node.feature = f
            return _branch(X, codes, nominal, n_classes, spent, node)
    return node


def _branch(
    X: FloatArray, codes: IntArray, nominal: BoolArray, n_classes: int, spent: frozenset[int], node: _Node
) -> _Node:
    f = node.feature
    column = X[:, f]
    keys = column if nominal[f] else (column > node.threshold).astype(np.float64)
    missing = np.isnan(column)
    levels, sizes = np.unique(keys[~missing], return_counts=True)
    node.largest = float(levels[sizes.argmax()])
    keys = np.where(missing, node.largest, keys)
    spent = spent | {f} if nominal[f] else spent
    for level in levels.tolist():
        rows = keys == level
        node.branches[level] = _grow(X[rows], codes[rows], nominal, n_classes, spent)
    return node


def _descend(node: _Node, row: FloatArray) -> int:
    while node.branches:
        value = row[node.feature]
        if np.isnan(value):
            value = node.largest
        elif not np.isnan(node.threshold):
            value = float(value > node.threshold)
        if value not in node.branches:
            break
        node = node.branches[value]
    return node.majority


def _entropy(counts: NDArray[Any]) -> FloatArray:
    """Return the entropy of rows of counts in bits, times their sums."""
    total = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
    logs = np.log2(shares, out=np.zeros(counts.shape), where=shares > 0)
    return np.asarray(-(counts * logs).sum(axis=-1))


def _nominal_gain(column: FloatArray, codes: IntArray, n_classes: int) -> tuple[float, float]:
    present = ~np.isnan(column)
    levels, places = np.unique(column[present], return_inverse=True)
    if len(levels) < 2:
        return 0.0, np.nan
    counts = np.zeros((len(levels), n_classes))
    np.add.at(counts, (places, codes[present]), 1.0)
    return float(_entropy(counts.sum(axis=0)) - _entropy(counts).sum()) / len(column), np.nan


def _split(column: FloatArray, codes: IntArray, n_classes: int) -> tuple[float, float]:
    """Return the best threshold of a column of numbers and its gain."""
    present = ~np.isnan(column)
    order = np.argsort(column[present], kind="stable")
    values, sorted_codes = column[present][order], codes[present][order]
    cuts = np.flatnonzero(values[1:] > values[:-1])
    if not len(cuts):
        return 0.0, np.nan
    left = np.cumsum(np.eye(n_classes)[sorted_codes], axis=0)
    total = left[-1]
    gains = _entropy(total) - _entropy(left[cuts]) - _entropy(total - left[cuts])
    best = int(gains.argmax())
    return float(gains[best]) / len(column), float((values[cuts[best]] + values[cuts[best] + 1]) / 2)


def _mean(table: FloatArray) -> FloatArray:
    """Return the mean of each column over its present cells, 0 where there is none."""
    present = ~np.isnan(table)
    count = np.maximum(present.sum(axis=0), 1)
    return np.asarray(np.where(present, table, 0.0).sum(axis=0) / count)
