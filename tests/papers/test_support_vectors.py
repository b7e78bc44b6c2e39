"""The machines of a grid are those of scikit-learn's SVC, within its tolerance, whichever way they are solved."""

import numpy as np
import pytest
from sklearn.svm import SVC

from fewer_papers import _support_vectors
from fewer_papers._support_vectors import grid_scores

GRID = [(C, gamma) for C in (1.0, 10.0, 100.0) for gamma in (0.02, 0.2, 1.5)]


def drawn(seed, n=90, p=6, low=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, p)) + 0.6 * y[:, None]
    return X[:60], low + y[:60], X[60:]


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_svc(seed):
    X, y, X_new = drawn(seed, low=seed % 2)
    for (C, gamma), ours in zip(GRID, grid_scores(X, y, X_new, GRID), strict=True):
        np.testing.assert_allclose(ours, SVC(C=C, gamma=gamma).fit(X, y).decision_function(X_new), atol=5e-3)


def test_the_solver_is_used_here_and_svc_where_it_is_not_as_known(monkeypatch):
    X, y, X_new = drawn(9)
    assert _support_vectors._solver_agrees()
    straight = grid_scores(X, y, X_new, GRID)

    def changed(*args, **options):
        raise TypeError("another signature")

    monkeypatch.setattr("sklearn.svm._libsvm.fit", changed, raising=True)
    _support_vectors._solver_agrees.cache_clear()
    # SVC calls the same function, so that the small problem is solved by nobody: the check says no first.
    assert not _support_vectors._solver_agrees()
    monkeypatch.undo()
    around = grid_scores(X, y, X_new, GRID)
    _support_vectors._solver_agrees.cache_clear()
    np.testing.assert_allclose(straight, around, atol=5e-3)
    assert _support_vectors._solver_agrees()


def test_two_classes_are_solved_straight_and_more_by_svc(monkeypatch):
    asked = []
    assert _support_vectors._solver_agrees()
    monkeypatch.setattr(_support_vectors, "_solve", lambda Z, y, Z_new, grid: asked.append(len(np.unique(y))) or [])
    X, y, X_new = drawn(1)
    grid_scores(X, y, X_new, GRID[:1])
    three = grid_scores(X, np.arange(len(X)) % 3, X_new, GRID[:1])
    assert asked == [2]
    assert three[0].shape == (len(X_new), 3)
