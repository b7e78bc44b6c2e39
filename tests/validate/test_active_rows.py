import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from fewer.contracts import Resources
from fewer.problem import InputError, Problem
from fewer.rankers import ReliefF
from fewer.validate import active_rows, stratified_sample
from fewer.validate.splits import _standardized, boxes


def slow_boxes(cells, rows, n):
    """The same cuts with lists."""
    if n == 1:
        return [list(rows)]
    spreads = [np.var([cells[r][f] for r in rows]) for f in range(len(cells[0]))]
    f = spreads.index(max(spreads))
    order = sorted(rows, key=lambda r: cells[r][f])
    lower = n // 2
    cut = int(len(rows) * lower / n)
    return slow_boxes(cells, order[:cut], lower) + slow_boxes(cells, order[cut:], n - lower)


@pytest.mark.parametrize(("n", "n_boxes"), [(40, 7), (41, 41), (50, 1), (33, 16)])
def test_boxes_are_those_of_the_slow_twin(n, n_boxes):
    cells = np.random.default_rng(n).normal(size=(n, 3)) * [1.0, 2.0, 0.5]
    found = [box.tolist() for box in boxes(cells, np.arange(n), n_boxes)]
    assert found == slow_boxes(cells.tolist(), list(range(n)), n_boxes)
    assert sorted(row for box in found for row in box) == list(range(n))
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_as_many_rows_as_asked_each_from_a_box_of_its_class():
    X, y = load_breast_cancer(return_X_y=True)
    X = X.copy()
    X[::7, 3] = np.nan
    problem = Problem.from_arrays(X, y)
    rows = active_rows(problem, 100, np.random.default_rng(0))
    assert len(np.unique(rows)) == 100
    assert abs(y[rows].mean() - y.mean()) < 0.02
    assert active_rows(problem, 10_000, np.random.default_rng(0)).tolist() == list(range(len(y)))
    with pytest.raises(InputError, match="n_rows=0"):
        active_rows(problem, 0, np.random.default_rng(0))
    with pytest.raises(InputError, match="whole number"):
        active_rows(problem, 5.5, np.random.default_rng(0))


def test_they_cover_the_table_better_than_rows_at_random():
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem.from_arrays(X[:, :4], y)
    Z = (problem.X - problem.X.mean(axis=0)) / problem.X.std(axis=0)

    def furthest(rows):
        return np.sqrt(((Z[:, None] - Z[rows]) ** 2).sum(axis=2)).min(axis=1).mean()

    wins = 0
    for seed in range(10):
        own, drawn = (choose(problem, 40, np.random.default_rng(seed)) for choose in (active_rows, stratified_sample))
        wins += furthest(own) < furthest(drawn)
    assert wins >= 9


def test_a_ranking_of_such_rows_is_at_least_as_near_to_that_of_all():
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    truth = ReliefF(5).rank(problem, np.random.default_rng(0), Resources()).scores

    def agreement(choose):
        return np.mean([
            np.corrcoef(truth, ReliefF(5).rank(problem.take(choose(problem, 60, np.random.default_rng(seed))),
                        np.random.default_rng(0), Resources()).scores)[0, 1]
            for seed in range(15)
        ])  # fmt: skip

    assert agreement(active_rows) > agreement(stratified_sample) - 0.02


def test_missing_cells_stand_at_the_mean_of_the_others():
    X = np.array([[1.0, 5.0], [np.nan, 7.0], [3.0, 9.0], [8.0, 7.0]])
    problem = Problem.from_arrays(X, [0, 1, 0, 1])
    spread = np.nanstd(X, axis=0)
    assert _standardized(problem) == pytest.approx(np.nan_to_num((X - np.nanmean(X, axis=0)) / spread))


def test_arrays_and_frames_are_chosen_from_as_problems_are():
    X, y = load_iris(return_X_y=True, as_frame=True)
    truth = active_rows(Problem.from_arrays(X.to_numpy(), y.to_numpy()), 30, np.random.default_rng(1))
    for table in (X, X.to_numpy()):
        assert active_rows(table, 30, np.random.default_rng(1), y).tolist() == truth.tolist()
    blind = active_rows(X, 30, np.random.default_rng(1))
    assert len(set(blind.tolist())) == 30
    assert active_rows(X, 30, 1).tolist() == blind.tolist()
    assert len(set(active_rows(X, 30).tolist())) == 30
