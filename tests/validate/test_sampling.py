import numpy as np
import pytest

from fewer.problem import Problem
from fewer.validate import stratified_sample
from fewer.validate.splits import _quotas


def problem_of(y, groups=None, task="classification"):
    rows = np.arange(len(y), dtype=float)[:, None]
    return Problem.from_arrays(rows, np.asarray(y), groups=groups, task=task)


def drawn(problem, n, seed=0):
    return stratified_sample(problem, n, np.random.default_rng(seed))


def test_a_small_table_stays_whole():
    problem = problem_of([0, 1] * 15)
    assert drawn(problem, 30).tolist() == list(range(30))
    assert len(drawn(problem, 29)) == 29


@pytest.mark.parametrize("n", [40, 61, 100, 333])
def test_exactly_so_many_rows_in_order_each_once(n):
    problem = problem_of(np.repeat([0, 1, 2], [700, 250, 50]))
    rows = drawn(problem, n)
    assert len(rows) == n
    assert (np.diff(rows) > 0).all()


def test_classes_keep_their_shares_and_rare_ones_twenty_rows():
    y = np.repeat([0, 1, 2, 3], [6000, 3000, 30, 7])
    counts = np.bincount(y[drawn(problem_of(y), 900)], minlength=4)
    assert counts.tolist()[2:] == [20, 7]
    assert counts.sum() == 900
    assert counts[0] / counts[1] == pytest.approx(2.0, abs=0.05)


def test_quotas_by_hand():
    assert _quotas(np.array([60, 30, 10]), 50).tolist() == [24, 16, 10]
    assert _quotas(np.array([100, 100]), 10).tolist() == [5, 5]
    assert _quotas(np.array([900, 100]), 100).tolist() == [80, 20]
    assert _quotas(np.array([5, 995]), 100).tolist() == [5, 95]
    assert _quotas(np.array([500, 300, 200]), 200).tolist() == [100, 60, 40]


def test_more_classes_than_rows_asked_for():
    assert _quotas(np.full(30, 4), 20).tolist() == [1] * 30


def test_which_rows_is_chance():
    problem = problem_of([0, 1] * 200)
    assert not np.array_equal(drawn(problem, 50, 0), drawn(problem, 50, 1))
    assert np.array_equal(drawn(problem, 50, 3), drawn(problem, 50, 3))
    often = np.bincount(np.concatenate([drawn(problem, 100, seed) for seed in range(200)]), minlength=400)
    assert often.min() > 20
    assert often.max() < 90


def test_a_quantity_has_no_classes():
    rows = drawn(problem_of(np.linspace(0.0, 1.0, 500), task="regression"), 123)
    assert len(np.unique(rows)) == 123


def test_row_groups_are_drawn_whole():
    groups = np.repeat(np.arange(50), 7)
    problem = problem_of(np.arange(350) % 2, groups=groups)
    rows = drawn(problem, 100)
    assert np.unique(groups[rows], return_counts=True)[1].tolist() == [7] * 14
    assert len(drawn(problem, 3)) == 7
    assert len(drawn(problem, 14)) == 14


def test_groups_are_drawn_whole_where_many_fit_and_else_rows_of_all():
    small = problem_of([0, 1] * 2000, groups=np.arange(4000) // 10)
    rows = drawn(small, 1000)
    assert len(rows) == 1000
    assert set(np.bincount(rows // 10).tolist()) == {0, 10}
    large = problem_of([0, 1] * 2000, groups=np.arange(4000) // 700)
    rows = drawn(large, 1000)
    assert len(rows) == 1000
    assert np.bincount(rows // 700).min() > 50
