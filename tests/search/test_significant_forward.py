import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel
from sklearn.datasets import load_diabetes, load_wine

import fewer
from fewer.contracts import IncompatibleError, Objective, PredictiveScorer, Resources, SearchSpace
from fewer.criteria import KNN, LeastSquares, Separability
from fewer.search import Forward, SignificantForward
from fewer.search._sequential import p_value_of_move


def slow(criterion, problem, alpha, correct):
    """Add the best feature while scipy's own test speaks for it; the first enters untested, as a selector needs one."""
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    mask = np.zeros(problem.n_features, dtype=bool)
    while not mask.all():
        tried = [mask | (np.arange(len(mask)) == f) for f in np.flatnonzero(~mask)]
        scores = np.round(scorer.score(np.array(tried)), 12)
        best = tried[int(np.argmax(scores))]
        if mask.any():
            if scores.max() <= np.round(scorer.score(mask[None])[0], 12):
                break
            old, new = scorer.outputs(mask), scorer.outputs(best)
            if problem.task == "classification":
                a, b = old.argmax(axis=1) == problem.y, new.argmax(axis=1) == problem.y
                n = int((a != b).sum())
                p = binomtest(int((b & ~a).sum()), n, alternative="greater").pvalue if n else 1.0
            else:
                p = ttest_rel((old - problem.y) ** 2, (new - problem.y) ** 2, alternative="greater").pvalue
            if p * (len(tried) if correct else 1) > alpha:
                break
        mask = best
    return mask


@pytest.mark.parametrize("correction", ["bonferroni", "none"])
@pytest.mark.parametrize(("load", "criterion"), [(load_wine, KNN(3, cv="loo")), (load_diabetes, LeastSquares())])
def test_it_is_the_slow_twin(load, criterion, correction):
    X, y = load(return_X_y=True)
    selector = fewer.SubsetSelector(criterion, SignificantForward(correction=correction), random_state=0).fit(X, y)
    problem = fewer.io.to_problem(X, y)
    np.testing.assert_array_equal(selector.support_, slow(criterion, problem, 0.05, correction == "bonferroni"))


def test_noise_is_not_taken_for_features():
    """Forward selection takes several columns of pure noise; the tested one nearly always only the one it must."""
    plain, tested = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 30)), np.arange(60) % 2
        for search, sizes in ((Forward(), plain), (SignificantForward(), tested)):
            sizes.append(int(fewer.SubsetSelector(KNN(1, cv="loo"), search, random_state=0).fit(X, y).support_.sum()))
    assert sum(size > 1 for size in plain) >= 6
    assert sum(size > 1 for size in tested) <= 2


def test_real_features_enter_and_the_end_is_told():
    rng = np.random.default_rng(3)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 10))
    X[:, 2] += 1.8 * y
    X[:, 7] += 1.8 * y
    selector = fewer.SubsetSelector(KNN(9), SignificantForward(), random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [2, 7]
    assert any(note.startswith("Stopped at 2 features: the best of 8 others") for note in selector.trace_.notes)


def test_sizes_asked_for_come_first():
    X, y = load_wine(return_X_y=True)
    selector = fewer.SubsetSelector(KNN(), SignificantForward(), n_features_to_select=6, random_state=0).fit(X, y)
    assert selector.support_.sum() == 6


def test_wrong_values_and_criteria_that_do_not_predict_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="alpha"):
        fewer.SubsetSelector(KNN(), SignificantForward(0.0), random_state=0).fit(X, y)
    with pytest.raises(IncompatibleError, match="SignificantForward"):
        fewer.SubsetSelector(Separability(), SignificantForward(), random_state=0).fit(X, y)


class Told(PredictiveScorer):
    """Predicts what it was told for each subset."""

    def __init__(self, answers):
        self.answers = answers

    def score(self, masks):
        return np.zeros(len(masks))

    def outputs(self, mask):
        return np.eye(2)[self.answers[int(mask.sum())]]

    def predict(self, mask, X):
        raise NotImplementedError


@pytest.mark.parametrize(("n_won", "n_lost"), [(1, 0), (5, 1), (3, 3), (0, 2), (0, 0)])
def test_the_p_value_of_classes_is_that_of_the_exact_sign_test(n_won, n_lost):
    y = np.arange(20) % 2
    old, new = y.copy(), y.copy()
    old[:n_won] = 1 - old[:n_won]
    new[n_won : n_won + n_lost] = 1 - new[n_won : n_won + n_lost]
    problem = fewer.problem.Problem.from_arrays(np.arange(40.0).reshape(20, 2), y)
    objective = Objective(Told({1: old, 2: new}), SearchSpace.of(2), problem)
    found = p_value_of_move(objective, np.array([True, False]), np.array([True, True]))
    n = n_won + n_lost
    assert found == pytest.approx(binomtest(n_won, n, alternative="greater").pvalue if n else 1.0)
