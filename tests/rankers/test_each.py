import numpy as np
import pytest
from sklearn.datasets import load_wine

import fewer
from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import EACH


def slow(problem, order, step, tolerance, votes):
    """Loops over rows, neighbors and features, one cell at a time."""
    n, p = problem.X.shape
    low, high = np.nanmin(problem.X, axis=0), np.nanmax(problem.X, axis=0)
    weights = [1.0] * p

    def gap(i, j, f):
        a, b = problem.X[i, f], problem.X[j, f]
        if np.isnan(a) or np.isnan(b):
            return None
        return float(a != b) if problem.nominal[f] else abs(a - b) / ((high[f] - low[f]) or 1.0)

    for i in order:
        best, nearest = np.inf, None
        for j in range(n):
            both = [(w, g) for f, w in enumerate(weights) if (g := gap(i, j, f)) is not None]
            mass = sum(w for w, _ in both)
            if j != i and mass > 0 and (d := sum(w * g * g for w, g in both) / mass) < best - 1e-14:
                best, nearest = d, j
        if nearest is None:
            continue
        right = problem.y[i] == problem.y[nearest]
        for f in range(p):
            if (g := gap(i, nearest, f)) is not None:
                sign = 1.0 if (g <= tolerance) == right else -1.0
                weights[f] = max(0.0, weights[f] + sign * step * votes[i])
    return np.array(weights)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_slow_twin_with_levels_missing_cells_and_weights(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(25, 3)), rng.integers(3, size=25)])
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(3, size=25)
    weight = rng.uniform(0.5, 2.0, size=25)
    problem = Problem.from_arrays(X, y, kinds=["number"] * 3 + ["nominal"], sample_weight=weight)
    ranking = EACH(0.1, 0.15, n_passes=3).rank(problem, np.random.default_rng(7), Resources())
    draw = np.random.default_rng(7)
    votes = weight / weight.mean()
    passes = [slow(problem, draw.permutation(25), 0.1, 0.15, votes) for _ in range(3)]
    np.testing.assert_allclose(ranking.scores, np.mean(passes, axis=0), atol=1e-9)
    np.testing.assert_allclose(ranking.extra["spread"], np.std(passes, axis=0, ddof=1) / np.sqrt(3), atol=1e-9)


def test_real_features_come_before_noise():
    rng = np.random.default_rng(0)
    X, y = load_wine(return_X_y=True)
    wide = np.column_stack([rng.uniform(size=(len(y), 10)), X])
    order = EACH().rank(Problem.from_arrays(wide, y), np.random.default_rng(0), Resources()).order
    assert np.mean(order[:5] >= 10) == 1.0
    assert np.mean(order[-8:] < 10) > 0.8


def test_a_row_without_weight_takes_no_part_and_jobs_change_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    weight = np.r_[np.ones(30), np.zeros(10)]
    some = EACH().rank(Problem.from_arrays(X[:30], y[:30]), np.random.default_rng(0), Resources())
    all_rows = EACH().rank(Problem.from_arrays(X, y, sample_weight=weight), np.random.default_rng(0), Resources(2))
    np.testing.assert_array_equal(some.scores, all_rows.scores)


def test_wrong_values_are_named():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="step"):
        fewer.RankSelector(EACH(step=0.0)).fit(X, y)
