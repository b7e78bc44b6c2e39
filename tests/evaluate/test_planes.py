"""Two directions that tell rows apart."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from fewer.criteria import KNN, LeastSquares
from fewer.evaluate import planes
from fewer.evaluate.planes import discriminant_plane, two_directions
from fewer.problem import Problem
from making import make_problem


def test_they_are_those_of_a_discriminant_analysis(monkeypatch):
    monkeypatch.setattr(planes, "WITHIN_RIDGE", 0.0)
    X, y = load_iris(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    truth = LinearDiscriminantAnalysis(solver="eigen").fit(Z, y).scalings_[:, :2]
    np.testing.assert_allclose(np.abs(two_directions(Z, y, np.ones(150))), np.abs(truth), rtol=1e-6)


def test_two_classes_have_a_second_direction_that_knows_nothing_of_the_first():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.normal(size=(300, 4)) * [1, 1, 1, 3]
    X[:, 0] += 3 * y
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    placed = Z @ two_directions(Z, y, np.ones(300))
    middles = np.array([placed[y == code].mean(axis=0) for code in (0, 1)])
    assert abs(middles[1, 0] - middles[0, 0]) > 2.5
    inside = placed - middles[y]
    assert abs(np.corrcoef(inside.T)[0, 1]) < 0.05


def test_a_quantity_rises_along_the_first_direction():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    problem = Problem.from_arrays(X, X @ [2.0, -1.0, 0.5, 0.0, 0.0] + 0.1 * rng.normal(size=200), task="regression")
    told = discriminant_plane(problem, LeastSquares(), 0)
    assert abs(np.corrcoef(told["x"], told["target"])[0, 1]) > 0.97
    assert [name for name, _ in told["weights"][0]] == ["x0", "x1", "x2"]


def test_levels_and_missing_cells_and_copies_do_no_harm():
    problem = make_problem(n_rows=80)
    X = np.column_stack([problem.X, problem.X[:, 0], np.arange(80) % 3])
    X[:7, 1] = np.nan
    kinds = ("numeric",) * 7 + ("nominal",)
    levelled = Problem.from_arrays(X, problem.y, kinds=kinds)
    told = discriminant_plane(levelled, KNN(5), 0)
    assert len(told["row"]) == 80
    assert np.isfinite(told["x"]).all()
    assert np.isfinite(told["y"]).all()


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_features_are_shown_as_they_are(n):
    assert discriminant_plane(make_problem(n_features=n), KNN(5), 0) == {}
