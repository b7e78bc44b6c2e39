import numpy as np
import pytest

from fewer.statistics._folds import row_folds, row_keys


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
