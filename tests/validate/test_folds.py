from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit

from fewer.errors import InputError
from fewer.problem import Problem
from fewer.validate import FixedFolds, assign_folds
from fewer.validate.splits import splits_of, stratified_folds
from making import make_problem


def rng(seed=0):
    return np.random.default_rng(seed)


def with_groups(task="classification", n=60, size=3):
    X = rng(1).normal(size=(n, 2))
    y = np.arange(n) // size % 2 if task == "classification" else X[:, 0]
    return Problem.from_arrays(X, y, groups=np.arange(n) // size, task=task)


def test_fixed_folds_are_a_splitter():
    folds = FixedFolds([2, 0, 2, 5])
    assert [(train.tolist(), test.tolist()) for train, test in folds.split()] == [
        ([0, 2, 3], [1]),
        ([1, 3], [0, 2]),
        ([0, 1, 2], [3]),
    ]
    assert folds.get_n_splits() == 3
    assert repr(folds) == "FixedFolds(<3 folds of 4 rows>)"


@pytest.mark.parametrize("counts", [[40, 20], [33, 18, 4], [50, 1]])
@pytest.mark.parametrize("n_folds", [2, 5, 7])
def test_dealing_out_keeps_sizes_and_shares_within_one_row(counts, n_folds):
    codes = rng(2).permutation(np.repeat(np.arange(len(counts)), counts))
    folds = stratified_folds(codes, n_folds, rng())
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for code in range(len(counts)):
        assert np.ptp(np.bincount(folds[codes == code], minlength=n_folds)) <= 1


def test_names_of_the_classes_do_not_matter():
    codes = rng(2).integers(0, 3, 50)
    assert np.array_equal(stratified_folds(codes, 4, rng()), stratified_folds(7 - 2 * codes, 4, rng()))
    assert not np.array_equal(stratified_folds(codes, 4, rng(0)), stratified_folds(codes, 4, rng(1)))


def test_a_number_of_folds():
    problem = make_problem(n_rows=40)
    folds = assign_folds(problem, 4, rng())
    assert [np.bincount(problem.y[folds == fold]).tolist() for fold in range(4)] == [[5, 5]] * 4
    quantity = assign_folds(make_problem(n_rows=41, task="regression"), np.int64(4), rng())
    assert sorted(np.bincount(quantity)) == [10, 10, 10, 11]
    with pytest.raises(InputError, match="cv=1: at least 2 folds are needed"):
        assign_folds(problem, 1, rng())
    assert len(np.unique(assign_folds(problem, 2, rng()))) == 2


def test_leave_one_out_by_name_or_by_number():
    problem = make_problem(n_rows=12)
    for cv in ("loo", 12, 13, 1000):
        assert assign_folds(problem, cv, rng()).tolist() == list(range(12))
    assert len(np.unique(assign_folds(problem, 11, rng()))) == 11
    grouped = with_groups(n=12)
    for cv in ("loo", 4, 5):
        assert assign_folds(grouped, cv, rng()).tolist() == np.repeat(range(4), 3).tolist()
    with pytest.raises(InputError, match="cv='lo' is not known"):
        assign_folds(problem, "lo", rng())


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_row_groups_stay_together(task):
    problem = with_groups(task)
    folds = assign_folds(problem, 5, rng())
    assert all(len(np.unique(folds[problem.groups == group])) == 1 for group in range(20))
    assert np.unique(folds).tolist() == [0, 1, 2, 3, 4]
    assert not np.array_equal(folds, assign_folds(problem, 5, rng(1)))
    if task == "classification":
        assert [np.bincount(problem.y[folds == fold]).tolist() for fold in range(5)] == [[6, 6]] * 5


def test_a_splitter_must_test_each_row_once():
    problem = make_problem(n_rows=20)
    assert assign_folds(problem, KFold(4), rng()).tolist() == np.repeat(range(4), 5).tolist()
    with pytest.raises(InputError, match="tests some row twice"):
        assign_folds(problem, ShuffleSplit(9, test_size=0.5, random_state=0), rng())
    with pytest.raises(InputError, match="never tests row 0; a partition"):
        assign_folds(problem, TimeSeriesSplit(3), rng())


def test_groups_reach_the_splitters_that_know_them():
    problem = with_groups()
    for train, test in splits_of(GroupKFold(4), problem):
        assert not set(problem.groups[train]) & set(problem.groups[test])
    assert len(splits_of(KFold(3), problem)) == 3  # a splitter that ignores groups says so, and we need not hear it


def test_rows_in_time_are_refused():
    problem = Problem.from_arrays(np.arange(10.0)[:, None], np.arange(10) % 2, time=np.arange(10.0))
    with pytest.raises(InputError, match="Rows in time have no folds"):
        assign_folds(problem, 5, rng())


def test_every_generator_deals_groups_out_anew():
    problem = with_groups(n=90)
    dealt = {assign_folds(problem, 5, rng(seed)).tobytes() for seed in range(60)}
    assert len(dealt) >= 58


@pytest.mark.parametrize("rows", [[0, 60], [0, 99], [-1, 3], [0.5, 1.0]])
@pytest.mark.parametrize("side", [0, 1])
def test_listed_rows_that_are_not_there_are_refused_on_either_side(rows, side):
    pair = [[4, 5], [6, 7]]
    pair[side] = rows
    with pytest.raises(InputError, match="cv lists rows that are not among the 60 rows here"):
        splits_of([tuple(pair)], with_groups())


def test_a_listed_side_may_be_empty():
    ((train, test),) = splits_of([([0, 1], [])], with_groups())
    assert (train.tolist(), test.tolist()) == ([0, 1], [])


def test_row_groups_of_classes_with_fewer_rows_than_folds_are_dealt_out_too():
    problem = Problem.from_arrays(np.zeros((12, 1)), np.arange(12) % 3, groups=np.arange(12))
    folds = assign_folds(problem, 10, np.random.default_rng(0))
    assert sorted(np.bincount(folds).tolist()) == [1] * 8 + [2] * 2


@pytest.mark.parametrize("cv", [2, 3, 5, "loo"])
def test_folds_of_some_of_the_groups_are_numbered_without_gaps(cv):
    whole = replace(make_problem(n_rows=42), groups=np.arange(42) // 7)
    part = whole.take(np.flatnonzero(np.isin(whole.groups, [0, 2, 3, 5])))
    folds = assign_folds(part, cv, rng())
    assert np.unique(folds).tolist() == list(range(4 if cv in (5, "loo") else cv))
    assert all(len(np.unique(folds[part.groups == group])) == 1 for group in (0, 2, 3, 5))
