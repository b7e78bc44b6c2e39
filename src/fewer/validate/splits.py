"""Folds, training and test rows, samples of rows, and near-copies among rows.

Folds are one number a row: row i is predicted by the rows whose fold differs. Splits are repeated, stratified,
grouped or ordered in time.

Cross-validation in layers: test, validation and training (Loughrey, chapter 5; specification section 6).

The outer layer holds rows back for the final test; the middle one holds some of the others back to decide when to stop
believing the search; the inner one is the cross-validation that gives a subset its score.
"""

from __future__ import annotations

import copy
import reprlib
import warnings
from collections.abc import Iterator, Sized
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Annotated, Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import cKDTree
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples

from fewer.errors import telling
from fewer.io import to_problem
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem

# What `cv` may be, for `_parameter_constraints`: a number, a splitter, a list or generator of splits, or "loo".
CV_OBJECT: list[Any] = ["cv_object", StrOptions({"loo"})]
CV = Annotated[Any, *CV_OBJECT]

# Rows of a second class that the first training rows have, if there are twice as many: five folds can split them again.
ENOUGH_OF_CLASS = 5
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
    if isinstance(cv, type):
        raise InputError(f"cv is the class {cv.__name__}, not an object; write {cv.__name__}().")
    if not hasattr(cv, "split"):
        if isinstance(cv, Iterator):
            try:
                cv = _READ[cv] if cv in _READ else _READ.setdefault(cv, list(cv))
            except TypeError:  # nothing can be remembered of it
                raise InputError(f"cv is a {type(cv).__name__}, which can be read only once; give a list.") from None
        return [_listed(pair, problem) for pair in cv]
    if problem.groups is None and "Group" in type(cv).__name__:
        raise InputError(f"cv={_short(cv)} needs groups; name them (groups=, --groups), or choose another splitter.")
    with warnings.catch_warnings(), telling("Splitting the rows by cv={}", _short(cv)):
        warnings.filterwarnings("ignore", message="The groups parameter is ignored|The least populated class in y")
        pairs = cv.split(problem.table, problem.labels, problem.groups)
        return [within_rows(pair, problem.n_samples) for pair in pairs]


def count_splits(cv: Any, n_samples: int) -> int:
    """Return how many splits there will be, as far as it is known beforehand; five otherwise.

    Examples
    --------
    >>> count_splits(10, 200), count_splits("loo", 200), count_splits([([0, 1], [2])], 3)
    (10, 200, 1)
    """
    if isinstance(cv, Integral):
        return int(cv)
    if isinstance(cv, Sized):
        return n_samples if isinstance(cv, str) else len(cv)
    try:
        return int(cv.get_n_splits())
    except (AttributeError, TypeError, ValueError):  # a generator, or a splitter that must see the rows
        return 5


def _listed(pair: Any, problem: Problem) -> tuple[IntArray, IntArray]:
    try:
        train, test = (np.asarray(rows) for rows in pair)
        if train.ndim != 1 or test.ndim != 1:
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(f"cv lists {_short(pair)}; each split is a pair of training rows and test rows.") from None
    train, test = (np.flatnonzero(rows) if rows.dtype == bool else rows for rows in (train, test))
    if problem.row_numbers is not None:  # splits number the rows of the table, of which some were dropped
        places = {number: place for place, number in enumerate(problem.row_numbers.tolist())}
        train, test = (
            np.array([places[row] for row in rows.tolist() if row in places], dtype=np.int64) for rows in (train, test)
        )
    return within_rows((train, test), problem.n_samples)


def _short(cv: Any) -> str:
    """Show a splitter or listed splits in a line."""
    return " ".join((repr(cv) if hasattr(cv, "split") else reprlib.repr(cv)).split())


def with_both(pairs: list[tuple[IntArray, IntArray]]) -> list[tuple[IntArray, IntArray]]:
    """Return splits that have training rows and test rows; refuse others."""
    for train, test in pairs:
        if not len(train) or not len(test):
            what = "test" if len(train) else "training"
            raise InputError(f"cv gives a split without {what} rows; every split needs both.")
    return pairs


def within_rows(pair: Any, n_rows: int) -> tuple[IntArray, IntArray]:
    """Return the training and test rows of a split; refuse rows that are not there."""
    train, test = (np.asarray(rows) for rows in pair)
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
    problem.check_groups()
    cv = 5 if cv is None else cv
    single = np.unique(problem.row_groups, return_inverse=True)[1]
    if isinstance(cv, str):
        if cv != "loo":
            raise InputError(f"cv={cv!r} is not known; give a number of folds, 'loo' or a splitter.")
        return single
    if not isinstance(cv, int | np.integer):
        return _folds_of_splitter(problem, cv)
    if cv < 2:
        raise InputError(f"cv={cv}: at least 2 folds are needed.")
    if cv > single.max(initial=0):
        return single
    stratified = problem.task == "classification" and problem.n_outputs == 1
    if problem.groups is None:
        codes = problem.y if stratified else np.zeros(problem.n_samples, dtype=np.int64)
        return stratified_folds(codes, int(cv), rng)
    # Where every class has fewer rows than there are folds, none can be spread over all of them.
    kind = StratifiedGroupKFold if stratified and np.bincount(problem.y).max() >= cv else GroupKFold
    return _folds_of_splitter(problem, kind(int(cv), shuffle=True, random_state=int(rng.integers(2**31))))


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
            raise InputError(f"{_short(splitter)} tests some row twice; a partition into folds is needed here.")
        folds[test] = number
    if (folds < 0).any():
        raise InputError(f"{_short(splitter)} never tests row {int(np.argmin(folds))}; a partition is needed here.")
    return np.unique(folds, return_inverse=True)[1]  # scikit-learn's folds of whole groups may be empty


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


class TooFewTimes(InputError):
    """Rows cannot be split into earlier and later ones."""


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
        pairs = with_both(splits_of(_seeded(cv, rng), problem))
        splits = _number([Split(train, test) for train, test in pairs], problem.n_samples)
        for split in splits:
            _refuse_leak(problem, split, cv)
    if len(splits) < 2:
        raise InputError(f"cv={_short(cv)} gives {len(splits)} split(s); at least 2 are needed.")
    return splits


def forward_splits(problem: Problem, n_splits: int) -> list[Split]:
    """Split rows in time: each of `n_splits` later blocks is tested by the rows before it; equal times stay together.

    Training rows of a group that is tested are left out. Where the first block has too few rows of a second class for
    such splits inside it, it is made longer.

    Read more in the guide: :doc:`/guide/groups-and-time`.

    Parameters
    ----------
    problem : Problem
        With `time`.
    n_splits : int
        How many parts follow the first.

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
    blocks = _blocks(counts, n_splits + 1)
    if problem.task == "classification":
        others = np.sort(moment[problem.y != problem.y[moment.argmin()]])
        needed = min(max(n_splits, ENOUGH_OF_CLASS), (len(others) + 1) // 2)
        if np.count_nonzero(blocks[others] == 0) < needed:
            blocks = _blocks(np.where(np.arange(len(counts)) < others[needed - 1], 0, counts), n_splits + 1)
    block = blocks[moment]
    splits = []
    for number in range(1, int(block.max()) + 1):
        train, test = np.flatnonzero(block < number), np.flatnonzero(block == number)
        if problem.groups is not None:
            train = train[~np.isin(problem.groups[train], problem.groups[test])]
        if _can_train(problem, train):
            splits.append(Split(train, test, number - 1))
    if n_splits < 2 or len(splits) < 2:
        raise TooFewTimes(
            f"cv={n_splits}: rows at {len(moments)} different times cannot be split so often into earlier and later"
            f"{', the earlier ones of two classes' * (problem.task == 'classification')}"
            f"{', no group in both' * (problem.groups is not None)}."
        )
    return splits


def _blocks(counts: IntArray, n_blocks: int) -> IntArray:
    """Number the block of each moment: blocks are in order, with nearly as many rows each."""
    middle = np.cumsum(counts) - counts / 2.0
    return np.unique(np.floor(middle * n_blocks / max(counts.sum(), 1)), return_inverse=True)[1]


def _can_train(problem: Problem, rows: IntArray | BoolArray) -> bool:
    """Whether a model can learn from some rows: classes take two of them."""
    return len(np.unique(problem.y[rows])) > (problem.task == "classification")


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
    if getattr(splitter, "random_state", 0) is None and vars(splitter).get("shuffle", True):
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
        raise InputError(f"cv={_short(cv)} has row {both[0]} among its training and its test rows.")
    if problem.groups is not None:
        torn = np.intersect1d(problem.groups[split.train], problem.groups[split.test])
        if len(torn):
            raise InputError(f"cv={_short(cv)} has one group on both sides of a split; use GroupKFold or a number.")
    both_there = len(split.train) and len(split.test)
    if problem.time is not None and both_there and problem.time[split.train].max() >= problem.time[split.test].min():
        raise InputError(f"cv={_short(cv)} trains on rows that are not earlier than those it tests; give a number.")


@dataclass(frozen=True, eq=False)
class Layer:
    """Rows to learn from, rows held back from them, and the same again inside.

    Parameters
    ----------
    train, test : int arrays
        Row numbers of the whole problem.
    folds : int array of shape (len(train),)
        The training layer: the fold of each training row, for the cross-validation that scores subsets.
    inner : tuple of Layer
        The validation layer: splits of `train`, in row numbers of the whole problem.

    See Also
    --------
    LayeredFolds : Makes them.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((8, 1)), np.arange(8) % 2)
    >>> layer = next(LayeredFolds(n_test=2, n_validation=2, n_training=2).split(problem, np.random.default_rng(0)))
    >>> len(layer.train), len(layer.test), len(layer.inner)
    (4, 4, 2)
    """

    train: IntArray
    test: IntArray
    folds: IntArray
    inner: tuple[Layer, ...] = ()

    @property
    def cv(self) -> FixedFolds:
        """The training layer as a scikit-learn splitter, for the `cv` of a criterion bound to `train`."""
        return FixedFolds(self.folds)


@dataclass(frozen=True)
class LayeredFolds:
    """Folds within folds within folds, each stratified and none splitting a row group.

    Parameters
    ----------
    n_test, n_validation, n_training : int, default=10
        Folds of each layer. With ten each, a test fold has 10 % of the rows, a validation fold 9 % of all, and 81 %
        remain to search on.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((200, 1)), np.arange(200) % 2)
    >>> layers = list(LayeredFolds().split(problem, np.random.default_rng(0)))
    >>> outer, inner = layers[0], layers[0].inner[0]
    >>> len(layers), len(outer.train), len(outer.test), len(outer.inner), len(inner.train), len(inner.test)
    (10, 180, 20, 10, 162, 18)
    """

    n_test: int = 10
    n_validation: int = 10
    n_training: int = 10

    def split(self, problem: Problem, rng: np.random.Generator) -> Iterator[Layer]:
        """Return the layers of each test fold; the draws of one do not depend on whether others were used.

        Parameters
        ----------
        problem : Problem
            The rows.
        rng : Generator
            Shuffles them.

        Yields
        ------
        Layer
            One a test fold.
        """
        everything = np.arange(problem.n_samples)
        for train, test, draw_of_fold in _parts(problem, everything, self.n_test, rng):
            inner = tuple(
                Layer(part, held, assign_folds(problem.take(part), self.n_training, draw))
                for part, held, draw in _parts(problem, train, self.n_validation, draw_of_fold)
            )
            yield Layer(train, test, assign_folds(problem.take(train), self.n_training, draw_of_fold), inner)


def _parts(
    problem: Problem, rows: IntArray, n_folds: int, rng: np.random.Generator
) -> list[tuple[IntArray, IntArray, np.random.Generator]]:
    folds = assign_folds(problem.take(rows), n_folds, rng)
    seeds = rng.integers(2**63, size=folds.max() + 1)
    return [
        (rows[folds != number], rows[folds == number], np.random.default_rng(seed)) for number, seed in enumerate(seeds)
    ]


# Rows of a class that a sample keeps, or all of them where there are fewer.
KEPT_OF_A_CLASS = 20
# Groups that must fit as a whole into a sample of some size; else rows of all groups are drawn.
WHOLE = 10


def stratified_sample(problem: Problem, n_samples: int, rng: np.random.Generator) -> IntArray:
    """Draw rows in proportion to the classes; a rare class keeps up to 20 rows.

    Parameters
    ----------
    problem : Problem
        Row groups are drawn whole where ten of them fit, so that there may be fewer rows than asked for; otherwise
        there are exactly so many.
    n_samples : int
        How many rows are drawn.
    rng : Generator
        Draws all that is random.

    Returns
    -------
    int array
        Row numbers, in order; all rows if there are no more.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.arange(1000.0)[:, None], np.arange(1000) < 5)
    >>> rows = stratified_sample(problem, 100, np.random.default_rng(0))
    >>> len(rows), int((rows < 5).sum())
    (100, 5)
    """
    n = problem.n_samples
    if n <= n_samples:
        return np.arange(n)
    if problem.groups is not None:
        return _whole_groups(problem.groups, n_samples, rng)
    codes = problem.y if problem.task == "classification" and problem.y.ndim == 1 else np.zeros(n, dtype=np.int64)
    _, code, counts = np.unique(codes, return_inverse=True, return_counts=True)
    quota = _quotas(counts, n_samples)
    order = rng.permutation(n)
    order = order[np.argsort(code[order], kind="stable")]
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    kept = [order[start : start + share] for start, share in zip(first, quota, strict=True)]
    return np.sort(np.concatenate(kept)).astype(np.int64)


def _quotas(counts: IntArray, n_samples: int) -> IntArray:
    """Deal a number of rows out to classes: at least `KEPT_OF_A_CLASS` where there are so many, the rest by size."""
    floor = np.minimum(counts, min(KEPT_OF_A_CLASS, max(n_samples // len(counts), 1)))
    left = n_samples - int(floor.sum())
    if left <= 0:
        return floor
    wanted = np.maximum(counts * (n_samples / counts.sum()) - floor, 0.0)
    wanted *= left / max(wanted.sum(), 1e-300)
    share = np.minimum(floor + np.floor(wanted).astype(np.int64), counts)
    by_remainder = np.argsort(-(wanted - np.floor(wanted)), kind="stable")  # what rounding left, one by one
    while (missing := n_samples - int(share.sum())) > 0:
        share[[place for place in by_remainder if share[place] < counts[place]][:missing]] += 1
    return share


def _whole_groups(groups: IntArray, n_samples: int, rng: np.random.Generator) -> IntArray:
    names, counts = np.unique(groups, return_counts=True)
    order = rng.permutation(len(names))
    fits = np.cumsum(counts[order]) <= n_samples
    few = fits.sum() < min(WHOLE, len(names))
    if few and n_samples >= 10 * WHOLE:  # rows of all groups say more than all rows of a few
        return np.sort(rng.permutation(len(groups))[:n_samples])
    fits[0] = True
    return np.flatnonzero(np.isin(groups, names[order[fits]]))


def active_rows(problem: Any, n_rows: int, rng: Any = None, y: Any = None) -> IntArray:
    """Choose rows that stand for the others: one from each box of a tree that cuts across the widest spread.

    Parameters
    ----------
    problem : Problem, array or data frame of shape (n_samples, n_features)
        Numbers, standardized for the cuts; a missing cell counts as the mean. Nominal columns cut nothing. Classes keep
        their shares, rare ones up to 20 rows, as in `stratified_sample`.
    n_rows : int
        How many rows; all if there are no more.
    rng : Generator, int or None
        Draws the row of each box; or its seed.
    y : array of shape (n_samples,), optional
        The target of an array or a frame; without it no class has a share to keep.

    Returns
    -------
    int array of shape (n_rows,)
        Row numbers, in order.

    See Also
    --------
    stratified_sample : At random.

    Examples
    --------
    One row from each fifth of a line:

    >>> (active_rows(np.arange(100.0)[:, None], 5, 0) // 20).tolist()
    [0, 1, 2, 3, 4]
    """
    if not isinstance(n_rows, int | np.integer) or n_rows < 1:
        raise InputError(f"n_rows={n_rows!r}: give a whole number of at least 1.")
    if not isinstance(problem, Problem):
        target = np.arange(_num_samples(problem)) if y is None else y
        problem = to_problem(problem, target, task="regression" if y is None else None)
    if n_rows >= problem.n_samples:
        return np.arange(problem.n_samples)
    cells, rng = _standardized(problem.as_dense()), np.random.default_rng(rng)
    is_class = problem.task == "classification" and problem.y.ndim == 1
    codes = problem.y if is_class else np.zeros(problem.n_samples, dtype=np.int64)
    classes, counts = np.unique(codes, return_counts=True)
    chosen = [
        box[rng.integers(len(box))]
        for code, share in zip(classes, _quotas(counts, n_rows), strict=True)
        for box in boxes(cells, np.flatnonzero(codes == code), int(share))
    ]
    return np.sort(np.array(chosen, dtype=np.int64))


def boxes(cells: FloatArray, rows: IntArray, n_boxes: int) -> list[IntArray]:
    """Cut rows into boxes of nearly equal size, each time across the column that spreads most among them.

    Examples
    --------
    >>> [box.tolist() for box in boxes(np.array([[0.0], [9.0], [1.0], [8.0], [2.0]]), np.arange(5), 2)]
    [[0, 2], [4, 3, 1]]
    """
    if n_boxes <= 1:
        return [rows] if n_boxes == 1 else []
    inside = cells[rows]
    column = int(inside.var(axis=0).argmax()) if cells.shape[1] else 0
    order = rows[np.argsort(inside[:, column], kind="stable")] if cells.shape[1] else rows
    lower = n_boxes // 2
    cut = len(rows) * lower // n_boxes
    return [*boxes(cells, order[:cut], lower), *boxes(cells, order[cut:], n_boxes - lower)]


def _standardized(problem: Problem) -> FloatArray:
    X = problem.X[:, ~problem.nominal & ~problem.constant]
    present = ~np.isnan(X)
    n = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, X, 0.0).sum(axis=0) / n
    apart = np.where(present, X - mean, 0.0)
    spread = np.sqrt((apart**2).sum(axis=0) / n)
    return np.asarray(apart / np.where(spread > 0, spread, 1.0))


SEARCHED_COLUMNS, SEARCHED_ROWS, QUERIES = 30, 20_000, 400
COMPARED_NEIGHBORS = 16
# How much farther the next row must be for those before it to count as copies.
JUMP = 2.0
# Columns in which a smaller share of the cells is distinct are too coarse to tell copies from neighbors.
ROUNDED = 0.5


def near_copies(problem: Problem) -> float:
    """Return the share of rows that have near-copies: a few rows much closer to them than all others.

    Parameters
    ----------
    problem : Problem
        The rows.

    Returns
    -------
    float
        0 where the columns are too coarse, or too few, to tell.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(40, 6)), 5, axis=0) + rng.normal(scale=0.01, size=(200, 6))
    >>> near_copies(Problem.from_arrays(X, np.arange(200) % 2))
    1.0
    >>> near_copies(Problem.from_arrays(rng.normal(size=(200, 6)), np.arange(200) % 2)) < 0.1
    True
    """
    fine = []
    for i in np.flatnonzero(~problem.nominal & ~problem.constant):
        cells = problem.X[~np.isnan(problem.X[:, i]), i]
        if len(np.unique(np.round(cells, 12))) > ROUNDED * len(cells):
            fine.append(i)
    if len(fine) < 3 or problem.n_samples < 2 * COMPARED_NEIGHBORS:
        return 0.0
    step = max(len(fine) // SEARCHED_COLUMNS, 1)
    X = problem.X[:SEARCHED_ROWS, fine[::step][:SEARCHED_COLUMNS]]
    X = (X - np.nanmean(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-300)
    X = np.where(np.isnan(X), 0.0, X)
    distances = cKDTree(X).query(X[:: max(len(X) // QUERIES, 1)], k=COMPARED_NEIGHBORS)[0][:, 1:]
    ahead = distances[:, 1:] > JUMP * np.maximum(distances[:, :-1], 1e-12)
    return float(np.mean(ahead.any(axis=1)))
