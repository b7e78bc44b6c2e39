from dataclasses import replace

import numpy as np
import pytest

from fewer.errors import InputError
from fewer.problem import Problem
from fewer.statistics._folds import DealtFolds, row_folds, row_keys
from fewer.validate.splits import forward_splits


def test_a_row_has_its_fold_wherever_the_chunk_begins():
    whole = row_folds(2, 0, 1000, 4, seed=7)
    assert np.array_equal(whole[123:456], row_folds(2, 123, 333, 4, seed=7))


def test_parts_and_seeds_give_other_folds():
    assert not np.array_equal(row_folds(0, 0, 100, 5, seed=1), row_folds(1, 0, 100, 5, seed=1))
    assert not np.array_equal(row_folds(0, 0, 100, 5, seed=1), row_folds(0, 0, 100, 5, seed=2))
    assert len(np.unique(np.concatenate([row_keys(part, 0, 500, 3) for part in range(4)]))) == 2000


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_folds_are_of_about_one_size(n_folds):
    counts = np.bincount(row_folds(0, 0, 10_000, n_folds, seed=0), minlength=n_folds)
    assert counts == pytest.approx(np.full(n_folds, 10_000 / n_folds), rel=0.1)


class Known:
    """What `DealtFolds.of` asks a table."""

    def __init__(self, groups=None, n_groups=None, time=None, times=None):
        self.groups, self.n_groups, self.time, self.times = groups, n_groups, time, times


@pytest.mark.parametrize(("n_groups", "n_outer", "n_inner"), [(6, 5, 10), (5, 5, 2), (30, 5, 1), (150, 3, 4)])
def test_few_groups_fill_all_folds_and_no_inner_fold_has_all(n_groups, n_outer, n_inner):
    folds = DealtFolds.of(Known("g", n_groups), n_outer, n_inner, seed=3)
    groups = np.arange(n_groups)
    rows = Problem.from_arrays(np.zeros((n_groups, 1)), groups % 2, groups=groups)
    cells = folds.cells(rows, 0, 0)
    sizes = np.bincount(cells // n_inner, minlength=n_outer)
    assert sizes.max() - sizes.min() <= 1
    for fold in range(n_outer if n_outer > 1 else 0):
        trained = np.isin(cells, folds.trains(fold))
        assert np.array_equal(trained, ~np.isin(cells, folds.held[fold]))
        filled = [np.isin(cells, part).any() for part in folds.parts(fold)]
        assert sum(filled) >= min(n_inner, 2)


def test_too_few_groups_are_refused_with_a_way_out():
    with pytest.raises(InputError, match="'g' has 4 groups, too few for the folds; use 2 folds"):
        DealtFolds.of(Known("g", 4), 5, 3)
    DealtFolds.of(Known("g", 4), 2, 3)
    with pytest.raises(InputError, match="omit groups"):
        DealtFolds.of(Known("g", 3), 2, 3)
    with pytest.raises(InputError, match="omit groups"):
        DealtFolds.of(Known("g", 1), 1, 3)


@pytest.mark.parametrize("n_moments", [4, 7, 1000])
def test_what_trains_is_earlier_as_in_memory(n_moments):
    rng = np.random.default_rng(0)
    time = rng.integers(0, n_moments, 1000).astype(float)
    rows = Problem.from_arrays(np.zeros((1000, 1)), np.zeros(1000), task="regression", time=time)
    folds = DealtFolds.of(Known(time="t", times=rng.permutation(time)), 3, 1)
    cells = folds.cells(replace(rows, time=time), 0, 0)
    splits = forward_splits(rows, 3)
    assert len(folds.held) == len(splits)
    for fold, split in enumerate(splits):
        assert np.array_equal(np.flatnonzero(np.isin(cells, folds.trains(fold))), split.train)
        assert np.array_equal(np.flatnonzero(folds.judges(cells) == fold), split.test)


def test_spans_within_a_fold_go_forward_too():
    time = np.arange(1200.0)
    rows = replace(Problem.from_arrays(np.zeros((1200, 1)), np.zeros(1200), task="regression"), time=time)
    folds = DealtFolds.of(Known(time="t", times=time), 3, 4)
    cells = folds.cells(rows, 0, 0)
    assert folds.n_cells == 20
    for without, n_rows in ((None, 1200), (0, 300), (2, 900)):
        spans = [np.flatnonzero(np.isin(cells, part)) for part in folds.parts(without)]
        assert np.concatenate(spans).tolist() == list(range(n_rows))
        assert [len(span) for span in spans] == [n_rows // 5] * 5
    with pytest.raises(InputError, match="'t' has 2 different times, too few"):
        DealtFolds.of(Known(time="t", times=np.array([0.0, 1.0])), 3, 1)
