import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.validate import folds_of, split_rows
from making import make_problem


def rng():
    return np.random.default_rng(0)


def test_repeated_stratified_folds():
    problem = make_problem(n_rows=40)
    splits = split_rows(problem, 4, rng(), n_repeats=3)
    assert [(split.repeat, split.fold) for split in splits] == [(r, f) for r in range(3) for f in range(4)]
    for split in splits:
        assert np.bincount(problem.y[split.test]).tolist() == [5, 5]
    tested = np.concatenate([split.test for split in splits if split.repeat == 1])
    assert sorted(tested) == list(range(40))
    assert not np.array_equal(splits[0].test, splits[4].test)


def test_repeats_of_a_splitter_are_told_apart():
    problem = make_problem(n_rows=40)
    splits = split_rows(problem, RepeatedStratifiedKFold(n_splits=4, n_repeats=2), rng())
    assert [split.repeat for split in splits] == [0] * 4 + [1] * 4
    again = split_rows(problem, RepeatedStratifiedKFold(n_splits=4, n_repeats=2), rng())
    assert all(np.array_equal(a.test, b.test) for a, b in zip(splits, again, strict=True))


def test_random_splits_are_one_repeat():
    splits = split_rows(make_problem(), ShuffleSplit(7, test_size=0.5), rng())
    assert [split.repeat for split in splits] == [0] * 7
    assert [split.fold for split in splits] == list(range(7))


def test_folds_of_tells_a_plain_cross_validation():
    problem = make_problem(n_rows=30)
    splits = split_rows(problem, StratifiedKFold(5), rng())
    folds = folds_of(splits, 30)
    assert all(np.array_equal(np.flatnonzero(folds == split.fold), split.test) for split in splits)
    assert folds_of(split_rows(problem, TimeSeriesSplit(4), rng()), 30) is None
    assert folds_of(split_rows(problem, ShuffleSplit(4), rng()), 30) is None
    purged = [(split.train[1:], split.test) for split in splits]
    assert folds_of(split_rows(problem, purged, rng()), 30) is None


def test_time_order_is_kept():
    for split in split_rows(make_problem(), TimeSeriesSplit(4), rng()):
        assert split.train.max() < split.test.min()


@pytest.mark.parametrize("n_alone", [0, 9, 10, 30, 40])
def test_forward_splits_begin_when_two_classes_were_seen(n_alone):
    y = np.r_[np.zeros(n_alone, int), (np.arange(60 - n_alone) + 1) % 2]
    time = np.arange(60) // 2
    splits = split_rows(Problem.from_arrays(np.zeros((60, 2)), y, time=time), 5, rng())
    assert len(splits) == 5
    for split in splits:
        assert time[split.train].max() < time[split.test].min()
        assert len(np.unique(y[split.train])) == 2
    if n_alone == 0:  # as where the target is a quantity: blocks of ten rows
        assert [len(split.train) for split in splits] == [10, 20, 30, 40, 50]


def test_forward_splits_by_groups_train_on_two_classes():
    y = np.array([1, *[0] * 11, *[1] * 12, *[0, 1] * 18])
    groups = np.arange(60) % 12
    for split in split_rows(Problem.from_arrays(np.zeros((60, 2)), y, groups=groups, time=np.arange(60)), 5, rng()):
        assert len(np.unique(y[split.train])) == 2


def test_groups_stay_together():
    groups = np.arange(60) // 5
    problem = Problem.from_arrays(np.zeros((60, 2)), np.arange(60) % 2, groups=groups)
    for cv in (4, GroupKFold(4), "loo"):
        for split in split_rows(problem, cv, rng()):
            assert not set(groups[split.train]) & set(groups[split.test])
    with pytest.raises(InputError, match="one group on both sides"):
        split_rows(problem, KFold(7), rng())


def test_refusals():
    with pytest.raises(InputError, match="training and its test"):
        split_rows(make_problem(), [([0, 1, 2], [2, 3]), ([3, 4], [5])], rng())
    with pytest.raises(InputError, match="at least 2"):
        split_rows(make_problem(), [([0, 1, 2], [3])], rng())
    with pytest.raises(InputError, match="splitter that repeats"):
        split_rows(make_problem(), KFold(3), rng(), n_repeats=2)


def test_five_folds_are_the_default():
    assert len(split_rows(make_problem(n_rows=40), None, rng())) == 5


def test_repeats_are_named():
    with pytest.raises(TypeError):
        split_rows(make_problem(n_rows=40), 4, rng(), 3)
    assert len(split_rows(problem=make_problem(n_rows=40), cv=4, rng=rng())) == 4


ALL = np.arange(40)


@pytest.mark.parametrize(
    ("cv", "why"),
    [
        ([(ALL, ALL)] * 2, "has row 0 among its training and its test rows"),
        ([(ALL, [])], "a split without test rows"),
        ([([], ALL)], "a split without training rows"),
        (["ab"], "cv lists 'ab'; each split is a pair"),
        (KFold, "cv is the class KFold, not an object; write KFold()"),
        (iter([]), "gives 0 split|can be read only once"),
        (GroupKFold(2), "needs groups; name them \\(groups=, --groups\\)"),
    ],
)
def test_odd_splits_are_refused_in_one_line(cv, why):
    problem = make_problem(n_rows=40)
    with pytest.raises(InputError, match=why) as found:
        split_rows(problem, cv, rng())
    assert "\n" not in str(found.value)
    if "among" not in why:  # a criterion may be given rows that overlap
        with pytest.raises(InputError, match=why) as found:
            CrossValidated(LogisticRegression(), cv=cv).bind(problem, rng(), Resources())
        assert "\n" not in str(found.value)


def test_a_splitter_that_cannot_split_the_rows_is_named():
    from sklearn.model_selection import StratifiedKFold

    problem = Problem.from_arrays(np.zeros((9, 1)), np.arange(9.0) / 7, task="regression")
    with pytest.raises(
        InputError, match=r"Splitting the rows by cv=StratifiedKFold\(n_splits=3, random_state=None, .* failed: S"
    ):
        split_rows(problem, StratifiedKFold(3), np.random.default_rng(0))
