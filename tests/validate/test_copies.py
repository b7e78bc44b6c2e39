import numpy as np
import pytest

from fewer.problem import Problem
from fewer.validate import near_copies
from fewer.validate.splits import COMPARED_NEIGHBORS


def share(X, **options):
    return near_copies(Problem.from_arrays(X, np.arange(len(X)) % 2, **options))


def copied(n, times, p=6, noise=0.01, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.normal(size=(n, p)), times, axis=0) + rng.normal(scale=noise, size=(n * times, p))


@pytest.mark.parametrize("times", [2, 5, 10])
def test_all_rows_have_copies(times):
    assert share(copied(40, times)) > 0.95


def test_half_of_the_rows_have_copies():
    rng = np.random.default_rng(1)
    X = np.vstack([copied(40, 5), 30 + rng.normal(size=(200, 6))])
    assert share(X) == pytest.approx(0.5, abs=0.06)


def test_rows_that_have_nothing_to_do_with_each_other():
    assert share(np.random.default_rng(0).normal(size=(300, 6))) < 0.05


def test_scales_do_not_matter_and_missing_cells_do_no_harm():
    X = copied(40, 5)
    assert share(X * np.array([1e6, 1, 1e-6, 1, 5, 1]) + 100) == share(X)
    X[::7, 0] = np.nan
    assert share(X) > 0.5


def test_too_few_columns_or_rows_tell_nothing():
    X = copied(40, 5)
    assert share(X[:, :2]) == 0.0
    assert share(X[:, :3]) > 0.9
    assert share(X[: 2 * COMPARED_NEIGHBORS - 1]) == 0.0
    assert share(X[: 2 * COMPARED_NEIGHBORS]) > 0.9


def test_coarse_nominal_and_constant_columns_are_not_looked_at():
    X = copied(40, 5)
    coarse = np.hstack([X[:, :2], np.round(X[:, 2:])])
    assert share(coarse) == 0.0
    assert share(X, kinds=["nominal"] * 4 + ["numeric"] * 2) == 0.0
    still = np.hstack([X[:, :2], np.ones((200, 4))])
    assert share(still) == 0.0


def test_a_column_is_fine_by_the_cells_that_are_there():
    X = copied(40, 5)
    assert share(np.hstack([X[:, :2], np.full((200, 4), np.nan)])) == 0.0
    assert share(np.hstack([X[:, :2], np.where(np.arange(200)[:, None] < 100, X[:, 2:3], np.nan)])) == share(X[:, :3])
