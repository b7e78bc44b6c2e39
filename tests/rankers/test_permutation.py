import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import Permutation
from fewer.rankers._model_based import correlated_groups, fit_model, shuffle_losses

FOLDS = KFold(3, shuffle=True, random_state=0)


def ranked(ranker, X, y, n_jobs=1, **options):
    return ranker.rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources(n_jobs))


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_each_fold_equals_scikit_learn(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    weights = np.random.default_rng(0).random(len(y))
    for train, test in StratifiedKFold(2).split(X, y):
        model = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
        options = {"scoring": scoring, "n_repeats": 3, "random_state": 7}
        truth = permutation_importance(model, X[test], y[test], sample_weight=weights[test], **options)
        rows = Problem.from_arrays(X[test], y[test], sample_weight=weights[test])
        ours = shuffle_losses(model, rows, np.arange(6), scoring, 3, 7)
        assert ours == pytest.approx(truth.importances_mean, abs=1e-15)


def test_folds_are_averaged():
    X, y = load_diabetes(return_X_y=True)
    ranking = ranked(Permutation(Ridge(alpha=0.01), cv=FOLDS, n_repeats=2), X, y, task="regression")
    rng = np.random.default_rng(0)
    rng.integers(2**31)
    seeds = rng.integers(2**31, size=3)
    truth = [
        permutation_importance(
            Ridge(alpha=0.01).fit(X[train], y[train]), X[test], y[test], n_repeats=2, random_state=int(seed)
        ).importances_mean
        for (train, test), seed in zip(FOLDS.split(X), seeds, strict=True)
    ]
    assert ranking.scores == pytest.approx(np.mean(truth, axis=0), rel=1e-9)
    assert ranking.extra["spread"] == pytest.approx(np.std(truth, axis=0, ddof=1), rel=1e-9)


def test_copies_are_shuffled_together():
    rng = np.random.default_rng(0)
    signal = rng.normal(size=200)
    X = np.c_[signal, signal + 0.01 * rng.normal(size=200), rng.normal(size=(200, 2))]
    y = (signal > 0).astype(int)
    apart = ranked(Permutation(), X, y)
    together = ranked(Permutation(group_above=0.9), X, y)
    assert together.extra["group"][0] == together.extra["group"][1]
    assert len(set(together.extra["group"].tolist())) == 3
    assert together.scores[0] == together.scores[1] > 1.3 * apart.scores.max()


def test_nominal_and_constant_columns_stand_alone():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 3, 50).astype(float)
    X = np.c_[column, column, np.ones(50), column + 0.0]
    X[3, 3] = np.nan
    problem = Problem.from_arrays(X, rng.integers(0, 2, 50), kinds=["nominal", "numeric", "numeric", "numeric"])
    groups = correlated_groups(problem, 0.8)
    assert groups[1] == groups[3]
    assert len({groups[0], groups[1], groups[2]}) == 3


def test_cells_are_shuffled_before_they_are_prepared():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    X = np.c_[2 * y + rng.integers(0, 2, 150), rng.normal(size=150)].astype(float)
    X[::9, 0] = np.nan
    problem = Problem.from_arrays(X, y, kinds=["nominal", "numeric"])
    model = fit_model(LogisticRegression(), problem, 0)
    losses = shuffle_losses(model, problem, np.arange(2), None, 4, 0)
    assert losses[0] > 0.3
    assert abs(losses[1]) < 0.1
    assert (ranked(Permutation(), X, y, kinds=["nominal", "numeric"]).order == [0, 1]).all()


def test_a_missing_cell_in_a_test_fold_alone_is_filled():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    X[4, 1] = np.nan
    problem = Problem.from_arrays(X, y)
    scores = Permutation(cv=5).rank(problem, np.random.default_rng(0), Resources()).scores
    assert np.isfinite(scores).all()


def test_a_fold_of_one_row_does_not_hide_what_the_others_say():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4))
    selector = fewer.RankSelector(Permutation(), n_features_to_select=1, random_state=0).fit(X, 5.0 * X[:, 1])
    assert selector.get_support().tolist() == [False, True, False, False]
