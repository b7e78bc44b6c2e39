"""Folds as one number a row: row i is judged by the rows whose fold differs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sized
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.utils._param_validation import StrOptions

from fewer.problem import InputError, IntArray, Problem

# What `cv` may be, for `_parameter_constraints`: a number, a splitter, a list or generator of splits, or "loo".
CV_OBJECT: list[Any] = ["cv_object", StrOptions({"loo"})]

# A generator of splits can be read once, but a criterion splits each time that it is bound.
_READ: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()


class FixedFolds:
    """Folds that are known already, as a scikit-learn splitter.

    Parameters
    ----------
    folds : array-like of shape (n_samples,)
        The number of the fold that tests each row.

    Examples
    --------
    >>> [(train.tolist(), test.tolist()) for train, test in FixedFolds([0, 1, 0]).split()]
    [([1], [0, 2]), ([0, 2], [1])]
    """

    def __init__(self, folds: Any) -> None:
        self.folds = np.asarray(folds)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Return the training and test rows of each fold.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn's interface has them.

        Yields
        ------
        train, test : int arrays
            Row numbers.
        """
        for fold in np.unique(self.folds):
            yield np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn's interface has them.

        Returns
        -------
        int
            How many there are.
        """
        return len(np.unique(self.folds))

    def __repr__(self) -> str:
        return f"FixedFolds(<{self.get_n_splits()} folds of {len(self.folds)} rows>)"


def splits_of(cv: Any, problem: Problem) -> list[tuple[IntArray, IntArray]]:
    """Return the training and test rows that a splitter gives a problem, or that a list or generator holds.

    A splitter that knows no row groups is not told of any. A generator gives the same splits however often it is asked.
    """
    if not hasattr(cv, "split"):
        if isinstance(cv, Iterator):
            if cv not in _READ:
                _READ[cv] = list(cv)
            cv = _READ[cv]
        return [_listed(pair, problem.n_samples) for pair in cv]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        return [
            (np.asarray(train), np.asarray(test)) for train, test in cv.split(problem.table, problem.y, problem.groups)
        ]


def count_splits(cv: Any, n_samples: int) -> int:
    """Return how many splits there will be, as far as it is known beforehand; five otherwise.

    Examples
    --------
    >>> count_splits(10, 200), count_splits("loo", 200), count_splits([([0, 1], [2])], 3)
    (10, 200, 1)
    """
    if isinstance(cv, Integral):
        return int(cv)
    if isinstance(cv, str):
        return n_samples
    if isinstance(cv, Sized):
        return len(cv)
    try:
        return int(cv.get_n_splits())
    except (AttributeError, TypeError, ValueError):  # a generator, or a splitter that must see the rows
        return 5


def _listed(pair: Any, n_rows: int) -> tuple[IntArray, IntArray]:
    try:
        train, test = (np.asarray(rows) for rows in pair)
    except (TypeError, ValueError):
        raise InputError(f"cv lists {pair!r}; each split is a pair of training rows and test rows.") from None
    train, test = (np.flatnonzero(rows) if rows.dtype == bool else rows for rows in (train, test))
    for rows in (train, test):
        if len(rows) and (rows.dtype.kind not in "iu" or not 0 <= rows.min() <= rows.max() < n_rows):
            raise InputError(
                f"cv lists rows that are not among the {n_rows} rows here. Listed splits are for the rows of the whole "
                "table; where parts of it are split again, give a number of folds or a splitter."
            )
    return train, test


def assign_folds(problem: Problem, cv: Any, rng: np.random.Generator) -> IntArray:
    """Return each row the number of its fold.

    Parameters
    ----------
    problem : Problem
        The rows.
    cv : int, "loo", scikit-learn splitter, list or generator of (train, test)
        A number of shuffled folds, stratified by class and never splitting a row group; `"loo"` for leave one row
        (or one row group) out, which a number of folds above the number of rows (or groups) means too; or
        splits whose test sets hold every row once. None means 5.
    rng : Generator
        Shuffles them.

    Returns
    -------
    int array of shape (n_samples,)
        From 0.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((6, 1)), [0, 0, 0, 0, 1, 1])
    >>> folds = assign_folds(problem, 2, np.random.default_rng(0))
    >>> np.bincount(folds).tolist()
    [3, 3]
    """
    if problem.time is not None:
        raise InputError(
            "Rows in time have no folds that can stand for each other; use CrossValidated, whose splits go forward."
        )
    cv = 5 if cv is None else cv
    groups = problem.groups
    single = np.arange(problem.n_samples) if groups is None else groups
    if isinstance(cv, str):
        if cv != "loo":
            raise InputError(f"cv={cv!r} is not known; give a number of folds, 'loo' or a splitter.")
        return single.astype(np.int64)
    if not isinstance(cv, int | np.integer):
        return _folds_of_splitter(problem, cv)
    if cv < 2:
        raise InputError(f"cv={cv}: at least 2 folds are needed.")
    if cv >= len(np.unique(single)):
        return single.astype(np.int64)
    stratified = problem.task == "classification" and problem.n_outputs == 1
    if groups is None:
        codes = problem.y if stratified else np.zeros(problem.n_samples, dtype=np.int64)
        return stratified_folds(codes, int(cv), rng)
    seed = int(rng.integers(2**31))
    # Where every class has fewer rows than there are folds, none can be spread over all of them.
    kind = StratifiedGroupKFold if stratified and np.bincount(problem.y).max() >= cv else GroupKFold
    return _folds_of_splitter(problem, kind(n_splits=int(cv), shuffle=True, random_state=seed))


def stratified_folds(codes: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Deal the shuffled rows of each class out to folds, one after the other.

    Fold sizes differ by one row at most and so do a class's shares, also for classes smaller than the number of
    folds. Names and order of the classes do not matter, only the rows at which they first appear.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
        The class of each row.
    n_folds : int
        How many folds.
    rng : Generator
        Shuffles the rows.

    Returns
    -------
    int array of shape (n_samples,)
        The fold of each row, from 0.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, np.random.default_rng(0))
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [1, 1])
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    by_appearance = np.argsort(np.argsort(first))[inverse]
    order = rng.permutation(len(codes))
    order = order[np.argsort(by_appearance[order], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds


def _folds_of_splitter(problem: Problem, splitter: Any) -> IntArray:
    folds = np.full(problem.n_samples, -1, dtype=np.int64)
    for number, (_, test) in enumerate(splits_of(splitter, problem)):
        if (folds[test] >= 0).any():
            raise InputError(f"{splitter} tests some row twice; a partition into folds is needed here.")
        folds[test] = number
    if (folds < 0).any():
        raise InputError(f"{splitter} never tests row {int(np.argmin(folds))}; a partition is needed here.")
    return folds
