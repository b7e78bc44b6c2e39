"""Training and test rows of any cross-validation: repeated, stratified, grouped, time-ordered."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewer.errors import InputError
from fewer.problem import IntArray, Problem
from fewer.validate._folds import assign_folds, splits_of


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to test on.

    Parameters
    ----------
    train, test : int arrays
        Row numbers.
    fold : int
        Number of the split within its repeat.
    repeat : int
        Number of the cross-validation that it belongs to.

    See Also
    --------
    split_rows : Makes them.

    Examples
    --------
    >>> split = Split(np.array([0, 1]), np.array([2]))
    >>> split.fold, split.repeat
    (0, 0)
    """

    train: IntArray
    test: IntArray
    fold: int = 0
    repeat: int = 0


def split_rows(problem: Problem, cv: Any, rng: np.random.Generator, *, n_repeats: int = 1) -> list[Split]:
    """Split the rows of a problem into training and test rows.

    Read more in the guide: :doc:`/guide/groups-and-time`.

    Parameters
    ----------
    problem : Problem
        Its row groups are never split. Where its rows have a time, training rows are always earlier than test rows.
    cv : int, "loo", scikit-learn splitter, list or generator of (train, test)
        A number of shuffled folds, stratified by class (where rows have a time, of forward splits); leave-one-out; or
        any splitter, such as `GroupKFold`, `TimeSeriesSplit` or `RepeatedStratifiedKFold`. A splitter that shuffles
        without a seed gets one from `rng`. None means 5.
    rng : Generator
        Shuffles the rows.
    n_repeats : int, default=1
        How often to split anew, for a number of folds.

    Returns
    -------
    list of Split
        In the order in which they are to be used.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> problem = Problem.from_arrays(np.zeros((6, 1)), np.arange(6.0), task="regression")
    >>> splits = split_rows(problem, TimeSeriesSplit(2), np.random.default_rng(0))
    >>> [(split.train.tolist(), split.test.tolist()) for split in splits]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, int | np.integer) and problem.time is not None:
        splits = forward_splits(problem, int(cv))
    elif isinstance(cv, int | np.integer | str):
        splits = [
            Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), number, repeat)
            for repeat in range(n_repeats)
            for folds in [assign_folds(problem, cv, rng)]
            for number, fold in enumerate(np.unique(folds))
        ]
    else:
        if n_repeats != 1:
            raise InputError("Repeats are for a number of folds; give a splitter that repeats instead.")
        pairs = splits_of(_seeded(cv, rng), problem)
        splits = _number([Split(train, test) for train, test in pairs], problem.n_samples)
    if len(splits) < 2:
        raise InputError(f"cv={cv} gives {len(splits)} split(s); at least 2 are needed.")
    for split in splits:
        _refuse_leak(problem, split, cv)
    return splits


def forward_splits(problem: Problem, n_splits: int) -> list[Split]:
    """Split rows in time: each of `n_splits` later blocks is tested by the rows before it; equal times stay together.

    Training rows of a group that is tested are left out.

    Read more in the guide: :doc:`/guide/groups-and-time`.

    Parameters
    ----------
    problem : Problem
        With `time`.
    n_splits : int

    Returns
    -------
    list of Split

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((5, 1)), np.arange(5.0), task="regression", time=[3, 1, 1, 2, 9])
    >>> [(split.train.tolist(), split.test.tolist()) for split in forward_splits(problem, 2)]
    [([1, 2], [3]), ([1, 2, 3], [0, 4])]
    """
    time = problem.time
    assert time is not None
    moments, moment, counts = np.unique(time, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    block = np.unique(np.floor(middle * (n_splits + 1) / len(time)), return_inverse=True)[1][moment]
    if n_splits < 2 or block.max() < 2:
        raise InputError(
            f"cv={n_splits}: rows at {len(moments)} different times cannot be split so often into earlier and later."
        )
    splits = []
    for number in range(1, int(block.max()) + 1):
        train, test = np.flatnonzero(block < number), np.flatnonzero(block == number)
        if problem.groups is not None:
            train = train[~np.isin(problem.groups[train], problem.groups[test])]
        if len(train):
            splits.append(Split(train, test, number - 1))
    return splits


def folds_of(splits: list[Split], n_rows: int) -> IntArray | None:
    """Return each row the number of the split that tests it, or None if the splits are no plain cross-validation.

    Plain: every row is tested once, by a rule trained on all rows of the other folds.

    Parameters
    ----------
    splits : list of Split
        Made by `split_rows`.
    n_rows : int
        How many rows there are.

    Returns
    -------
    int array of shape (n_rows,) or None
        The split that tests each row.

    Examples
    --------
    >>> folds_of([Split(np.array([1]), np.array([0, 2])), Split(np.array([0, 2]), np.array([1]), fold=1)], 3)
    array([0, 1, 0])
    """
    folds = np.full(n_rows, -1, dtype=np.int64)
    for split in splits:
        folds[split.test] = split.fold
    plain = all(
        np.array_equal(np.flatnonzero(folds == split.fold), np.sort(split.test))
        and np.array_equal(np.flatnonzero(folds != split.fold), np.sort(split.train))
        for split in splits
    )
    return folds if plain and (folds >= 0).all() else None


def _seeded(splitter: Any, rng: np.random.Generator) -> Any:
    if getattr(splitter, "random_state", 0) is None:
        splitter = copy.copy(splitter)
        splitter.random_state = int(rng.integers(2**31))
    return splitter


def _number(splits: list[Split], n_rows: int) -> list[Split]:
    """Number the splits, and begin a new repeat whenever every row was tested once; else they are one repeat."""
    numbered, repeat, fold, tested = [], 0, 0, np.zeros(n_rows, dtype=bool)
    for split in splits:
        if tested.all():
            repeat, fold, tested = repeat + 1, 0, np.zeros(n_rows, dtype=bool)
        if tested[split.test].any():
            return [replace(split, fold=number, repeat=0) for number, split in enumerate(splits)]
        tested[split.test] = True
        numbered.append(replace(split, fold=fold, repeat=repeat))
        fold += 1
    return numbered


def _refuse_leak(problem: Problem, split: Split, cv: Any) -> None:
    both = np.intersect1d(split.train, split.test)
    if len(both):
        raise InputError(f"cv={cv} has row {both[0]} among its training and its test rows.")
    if problem.groups is not None:
        torn = np.intersect1d(problem.groups[split.train], problem.groups[split.test])
        if len(torn):
            raise InputError(f"cv={cv} has rows of one group on both sides of a split; use GroupKFold or a number.")
    both_there = len(split.train) and len(split.test)
    if problem.time is not None and both_there and problem.time[split.train].max() >= problem.time[split.test].min():
        raise InputError(f"cv={cv} trains on rows that are not earlier than those it tests; give a number.")
