"""Rows drawn with replacement, judged by those that were not drawn (Efron; Loughrey, section 3; Kohavi & John)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from fewer.problem import InputError, IntArray


class Bootstrap:
    """A splitter: training rows are drawn with replacement, the others test. For `cv=` of any wrapper.

    Parameters
    ----------
    n_splits : int, default=100
    random_state : int, RandomState or None

    Examples
    --------
    >>> train, test = next(Bootstrap(1, random_state=0).split(np.zeros((6, 1))))
    >>> sorted(set(train.tolist()) | set(test.tolist())), len(train)
    ([0, 1, 2, 3, 4, 5], 6)
    """

    def __init__(self, n_splits: int = 100, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits.

        Parameters
        ----------
        X, y, groups : ignored

        Returns
        -------
        int
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Draw rows; every class is drawn at least once where labels are given, and some rows are always left.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
        groups : array of shape (n_samples,), optional
            Whole groups are drawn.

        Yields
        ------
        (int array, int array)
            Training rows, with repetitions, and test rows.
        """
        rng = check_random_state(self.random_state)
        n = _num_samples(X)
        units = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        n_units = int(units.max()) + 1
        labels = None if y is None else np.asarray(y)
        discrete = labels is not None and (labels.dtype.kind in "OUSbi")
        for _ in range(self.n_splits):
            for _ in range(1000):
                drawn = np.bincount(rng.randint(n_units, size=n_units), minlength=n_units)
                train, test = np.repeat(np.arange(n), drawn[units]), np.flatnonzero(drawn[units] == 0)
                whole = labels is None or not discrete or len(np.unique(labels[train])) == len(np.unique(labels))
                if len(test) and whole:
                    break
            else:
                raise InputError("No draw of the rows holds every class and leaves a row out; give more rows.")
            yield train, test


def accuracy_632(estimator: Any, X: Any, y: Any, *, n_splits: int = 100, random_state: Any = None) -> float:
    """Estimate accuracy by the .632 bootstrap: 0.632 of that on rows not drawn, 0.368 of that on training rows.

    Parameters
    ----------
    estimator : classifier
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    n_splits : int, default=100
    random_state : int, RandomState or None

    Returns
    -------
    float

    References
    ----------
    B. Efron, Estimating the error rate of a prediction rule, Journal of the American Statistical Association 78 (1983).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> round(accuracy_632(GaussianNB(), X, y, n_splits=20, random_state=0), 2)
    0.95
    """
    cells, labels = np.asarray(X), np.asarray(y)
    outside = []
    for train, test in Bootstrap(n_splits, random_state).split(cells, labels):
        fitted = clone(estimator).fit(cells[train], labels[train])
        outside.append(float(np.mean(fitted.predict(cells[test]) == labels[test])))
    inside = float(np.mean(clone(estimator).fit(cells, labels).predict(cells) == labels))
    return 0.632 * float(np.mean(outside)) + 0.368 * inside
