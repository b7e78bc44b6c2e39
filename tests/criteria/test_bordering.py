import numpy as np
import pytest

from fewer.criteria._least_squares import FIRST, Bordering

RNG = np.random.default_rng(0)
N, P = 30, 50
X = RNG.normal(size=(N, P))
Y = (X[:, 3] - X[:, 7] + RNG.normal(size=N))[:, None]
RIDGE = 0.5


def fit():
    return Bordering(X, Y - Y.mean(), np.full(P, RIDGE), np.full(N, 1 / N))


def left_out(columns):
    """Leave one row out, one by one: the constant is not shrunk."""
    total = 0.0
    for i in range(N):
        rows = np.arange(N) != i
        A, b = X[rows][:, columns], Y[rows, 0]
        # shrinking acts on columns about the mean of all rows, as the closed form has it
        design = np.column_stack([np.ones(N - 1), A - X[:, columns].mean(axis=0)])
        penalty = np.diag([0.0, *[RIDGE] * len(columns)])
        theta = np.linalg.solve(design.T @ design + penalty, design.T @ b)
        total += (Y[i, 0] - theta @ [1.0, *(X[i, columns] - X[:, columns].mean(axis=0))]) ** 2
    return total


def test_errors_are_those_of_leaving_each_row_out():
    grown = fit()
    grown.move_to(np.array([3]))
    assert grown.lost(np.array([7, 11])) == pytest.approx([left_out([3, 7]), left_out([3, 11])])


def test_the_way_to_a_subset_does_not_matter():
    one, other = fit(), fit()
    one.move_to(np.array([3, 7, 9]))
    other.move_to(np.array([20, 21]))
    other.move_to(np.array([7, 9]))
    other.move_to(np.array([9, 3, 7]))
    assert one.lost(np.arange(10, 20)) == pytest.approx(other.lost(np.arange(10, 20)))


def test_more_columns_than_there_was_room_for():
    grown = fit()
    grown.move_to(np.arange(FIRST + 3))
    assert grown.lost(np.array([40])) == pytest.approx([left_out([*range(FIRST + 3), 40])])


def test_bounds_are_below_and_the_best_is_found_without_scoring_all():
    grown = fit()
    grown.move_to(np.array([3]))
    others = np.setdiff1d(np.arange(P), [3])
    lost = grown.lost(others)
    assert (grown.bounds()[others] <= lost * (1 + 1e-9)).all()
    places, scored = grown.best(others)
    assert places[np.argmin(scored)] == np.argmin(lost)
    assert scored == pytest.approx(lost[places])
    few, all_scored = grown.best(others[:5])
    assert few.tolist() == list(range(5))
    assert all_scored == pytest.approx(lost[:5])
