"""Least squares by folds, from sums: against scikit-learn's fits on the rows themselves."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from fewer.contracts import Resources
from fewer.criteria import LeastSquares
from fewer.criteria.folded_least_squares import FoldedLeastSquaresScorer
from fewer.problem import Problem
from fewer.statistics import GramSums
from fewer.validate import FixedFolds


def table(task, n_classes=3, n=120):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 6))
    X[:, 4] = X[:, 0] + 0.1 * X[:, 4]
    X[:, 5] = X[:, 1]
    signal = X[:, 0] - X[:, 2]
    y = np.digitize(signal, [-1, 1])[:n] % n_classes if task == "classification" else signal + rng.normal(size=n)
    return Problem.from_arrays(X, y, task=task, sample_weight=rng.random(n) + 0.1)


def bound(problem, alpha=1e-3):
    folds = np.arange(problem.n_samples) % 5
    scorer = LeastSquares(alpha=alpha, cv=FixedFolds(folds)).bind(problem, np.random.default_rng(0), Resources())
    return scorer, folds


def by_hand(problem, mask, folds, alpha=1e-3):
    """Return R² and predictions of ridge fits, row after row."""
    low, high = problem.X.min(axis=0), problem.X.max(axis=0)
    X = 2 * (problem.X - low) / (high - low) - 1
    w = problem.sample_weight
    if problem.task == "regression":
        T = problem.y[:, None]
    elif problem.n_classes == 2:
        T = 2.0 * problem.y[:, None] - 1
    else:
        T = 2.0 * (problem.y[:, None] == np.arange(3)) - 1
    predicted = np.empty_like(T, dtype=float)
    for fold in range(5):
        train = folds != fold
        if not mask.any():
            predicted[~train] = np.average(T[train], axis=0, weights=w[train])
            continue
        model = Ridge(alpha=alpha * w[train].sum()).fit(X[train][:, mask], T[train], sample_weight=w[train])
        predicted[~train] = model.predict(X[~train][:, mask]).reshape(-1, T.shape[1])
    spread = (w[:, None] * (T - np.average(T, axis=0, weights=w)) ** 2).sum()
    return 1 - (w[:, None] * (T - predicted) ** 2).sum() / spread, predicted


@pytest.mark.parametrize(("task", "n_classes"), [("classification", 2), ("classification", 3), ("regression", 0)])
def test_scores_and_outputs_are_those_of_ridge_fits(task, n_classes):
    problem = table(task, n_classes)
    scorer, folds = bound(problem)
    masks = np.array([[0] * 6, [1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 1]], dtype=bool)
    for mask, score in zip(masks, scorer.score(masks), strict=True):
        expected, predicted = by_hand(problem, mask, folds)
        assert score == pytest.approx(expected, abs=1e-10)
        outputs = scorer.outputs(mask)
        if task == "regression":
            np.testing.assert_allclose(outputs, predicted[:, 0], atol=1e-9)
        else:
            np.testing.assert_allclose(outputs[:, -1], (predicted[:, -1] + 1) / 2, atol=1e-9)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_changes_score_as_the_whole_subset_does(task):
    problem = table(task)
    scorer, _ = bound(problem, alpha=1e-6)
    units = [np.array([i]) for i in range(6)] + [np.array([0, 3])]
    for mask in ([0] * 6, [1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0]):
        start = np.array(mask, dtype=bool)
        for values in (np.ones(7, dtype=bool), np.zeros(7, dtype=bool)):
            changed = np.repeat(start[None], 7, axis=0)
            for row, unit, value in zip(changed, units, values, strict=True):
                row[unit] = value
            np.testing.assert_allclose(scorer.flips(start, units, values), scorer.score(changed), atol=1e-9)


def test_new_rows_are_predicted_from_all_bound_rows():
    problem = table("regression")
    scorer, _ = bound(problem)
    mask = np.array([1, 0, 1, 0, 0, 0], dtype=bool)
    low, high = problem.X.min(axis=0), problem.X.max(axis=0)
    X = 2 * (problem.X - low) / (high - low) - 1
    w = problem.sample_weight
    model = Ridge(alpha=1e-3 * w.sum()).fit(X[:, mask], problem.y, sample_weight=w)
    np.testing.assert_allclose(scorer.predict(mask, problem.X[:9]), model.predict(X[:9, mask]), atol=1e-9)


def test_folds_of_sums_can_be_joined_and_left_out():
    problem = table("regression")
    folds = np.arange(problem.n_samples) % 6
    sums = GramSums(problem, folds)
    sums.add(problem)
    part = FoldedLeastSquaresScorer(sums, [np.array([1, 2]), np.array([4, 5])], 1e-3)
    kept = np.isin(folds, [1, 2, 4, 5])
    rows = problem.take(kept)
    alone = LeastSquares(alpha=1e-3, cv=FixedFolds((folds[kept] > 3).astype(int)))
    masks = np.eye(6, dtype=bool)
    expected = alone.bind(rows, np.random.default_rng(0), Resources()).score(masks)
    np.testing.assert_allclose(part.score(masks), expected, atol=1e-10)


def test_groups_stay_together_and_missing_cells_count_as_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    X[::7, 1] = np.nan
    groups = np.repeat(np.arange(12), 5)
    problem = Problem.from_arrays(X, y, task="regression", groups=groups)
    scorer = LeastSquares(cv=4).bind(problem, np.random.default_rng(1), Resources())
    assert all(len(np.unique(scorer._row_folds[groups == g])) == 1 for g in range(12))
    filled = Problem.from_arrays(np.where(np.isnan(X), np.nanmean(X, axis=0), X), y, task="regression", groups=groups)
    twin = LeastSquares(cv=FixedFolds(scorer._row_folds)).bind(filled, np.random.default_rng(1), Resources())
    masks = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    np.testing.assert_allclose(scorer.score(masks), twin.score(masks), atol=1e-10)
