"""Intervals against statsmodels, closed forms, and cross-validations whose true score is known."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from fewer.errors import InputError
from fewer.validate import corrected_resampled_t, fold_interval, mean_of_repeats, wilson_interval


@pytest.mark.parametrize(("right", "rows"), [(0, 5), (3, 10), (40, 40), (57, 208)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_agrees_with_statsmodels(right, rows, level):
    low, high = proportion_confint(right, rows, alpha=1 - level, method="wilson")
    found = wilson_interval(right, rows, level=level)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_without_pairs_it_is_the_corrected_resampled_t():
    scores = np.random.default_rng(0).normal(0.1, 0.1, size=10)
    found = fold_interval(scores)
    assert found.p_value == pytest.approx(corrected_resampled_t(scores, 90, 10).p_value)
    assert found.low < scores.mean() < found.high
    edge = fold_interval(scores - found.low)
    assert edge.p_value == pytest.approx(0.05)


def test_folds_that_change_each_other_by_nothing_are_independent():
    scores = np.array([0.7, 0.8, 0.9, 0.75, 0.85])
    found = fold_interval(scores, np.repeat(scores[:, None], 5, axis=1))
    low, high = stats.t.interval(0.95, 4, scores.mean(), stats.sem(scores))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_covariance_is_the_mean_product_of_changes():
    rng = np.random.default_rng(2)
    scores, pairs = rng.random(5), rng.random((5, 5))
    products = [(scores[i] - pairs[i, j]) * (scores[j] - pairs[j, i]) for i in range(5) for j in range(5) if i != j]
    expected = scores.var(ddof=1) / 5 + max(np.mean(products), 0)
    assert fold_interval(scores, pairs).standard_error == pytest.approx(np.sqrt(expected))


def test_larger_folds_count_more():
    right, rows = np.array([3, 10, 9]), np.array([4, 10, 12])
    assert fold_interval(right / rows, sizes=rows).estimate == pytest.approx(22 / 26)


def test_perfect_scores_are_not_certainty():
    found = fold_interval(np.ones(5), np.ones((5, 5)), resolution=1 / 40).within(0, 1)
    assert found.high == 1.0
    assert 0.9 < found.low < 0.95


def test_levels_and_p_value_belong_together():
    found = fold_interval([0.02, 0.05, 0.01, 0.04, 0.03])
    assert found.low > 0
    assert found.p_value < 0.05
    wide = found.at(0.99)
    assert wide.low < 0 < wide.high
    assert found.at(1 - found.p_value).low == pytest.approx(0, abs=1e-9)
    assert fold_interval([0.0, 0.0]).p_value == 1.0
    assert fold_interval([0.5, 0.5]).p_value == 0.0


def test_repeats_do_not_shrink_the_error():
    rng = np.random.default_rng(0)
    repeats = [fold_interval(rng.random(5)) for _ in range(20)]
    joined = mean_of_repeats(repeats)
    assert joined.estimate == pytest.approx(np.mean([interval.estimate for interval in repeats]))
    errors = [interval.standard_error for interval in repeats]
    assert min(errors) < joined.standard_error < max(errors)
    assert mean_of_repeats(repeats[:1]) is repeats[0]


def test_one_fold_is_refused():
    with pytest.raises(InputError, match="2 folds"):
        fold_interval([0.5])
    with pytest.raises(InputError, match="not a share"):
        wilson_interval(5, 4)


def cross_validate(X, y, folds, n_best, without):
    """Score of the sign of a weighted sum on the left-out folds; weights are the best class differences elsewhere."""
    train = ~np.isin(folds, without)
    a, b = X[train & (y == 1)], X[train & (y == 0)]
    w = a.mean(axis=0) - b.mean(axis=0)
    w[np.argsort(-np.abs(w))[n_best:]] = 0.0
    side = np.where(y == 1, 1.0, -1.0)
    middle = (a.mean(axis=0) + b.mean(axis=0)) / 2
    return [np.mean(((X - middle) @ w * side)[folds == k] > 0) for k in without]


def test_covariance_of_folds_is_found_on_noise():
    # The variance of the mean over many tables is known by simulation; naive and measured errors are set beside it.
    rng = np.random.default_rng(5)
    y, folds = np.repeat([0, 1], 20), np.tile(np.arange(5), 8)
    means, naive, measured = [], [], []
    for _ in range(600):
        X = rng.normal(size=(40, 30))
        scores = np.array([cross_validate(X, y, folds, 3, [k])[0] for k in range(5)])
        pairs = np.zeros((5, 5))
        for i in range(5):
            for j in range(i):
                pairs[i, j], pairs[j, i] = cross_validate(X, y, folds, 3, [i, j])
        means.append(scores.mean())
        naive.append(scores.var(ddof=1) / 5)
        measured.append(fold_interval(scores, pairs).standard_error ** 2)
    truth = np.var(means)
    assert np.mean(naive) < 0.6 * truth
    assert 0.9 * truth < np.mean(measured) < 1.4 * truth
