"""Intervals against statsmodels, closed forms, and cross-validations whose true score is known."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from fewer.errors import InputError
from fewer.validate import corrected_resampled_t, fold_interval, wilson_interval


@pytest.mark.parametrize(("right", "rows"), [(0, 5), (3, 10), (40, 40), (57, 208)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_agrees_with_statsmodels(right, rows, level):
    low, high = proportion_confint(right, rows, alpha=1 - level, method="wilson")
    found = wilson_interval(right, rows, level=level)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_without_variances_it_is_the_corrected_resampled_t():
    scores = np.random.default_rng(0).normal(0.1, 0.1, size=10)
    found = fold_interval(scores)
    assert found.p_value == pytest.approx(corrected_resampled_t(scores, 90, 10).p_value)
    edge = fold_interval(scores - found.low)
    assert edge.p_value == pytest.approx(0.05)


def test_without_correlation_it_is_students_t():
    scores = np.array([0.7, 0.8, 0.9, 0.75, 0.85])
    found = fold_interval(scores, correlation=0.0)
    low, high = stats.t.interval(0.95, 4, scores.mean(), stats.sem(scores))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_variance_of_a_sum_of_correlated_scores():
    rng = np.random.default_rng(2)
    scores, variances, sizes = rng.random(4), rng.random(4), np.array([3.0, 1, 2, 2])
    matrix = np.full((4, 4), 0.3) + 0.7 * np.eye(4)
    covariance = np.sqrt(variances)[:, None] * matrix * np.sqrt(variances)
    share = sizes / sizes.sum()
    found = fold_interval(scores, variances, sizes=sizes, correlation=0.3)
    assert found.standard_error == pytest.approx(np.sqrt(share @ covariance @ share))
    assert found.estimate == pytest.approx(share @ scores)
    low, high = stats.norm.interval(0.95, found.estimate, found.standard_error)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_two_halves_that_train_each_other_tell_the_same():
    assert fold_interval([0.6, 0.7], [0.01, 0.01]).standard_error == pytest.approx(0.1)


def test_larger_folds_count_more():
    right, rows = np.array([3, 10, 9]), np.array([4, 10, 12])
    assert fold_interval(right / rows, sizes=rows).estimate == pytest.approx(22 / 26)


def test_perfect_scores_are_not_certainty():
    found = fold_interval(np.ones(5), np.zeros(5), resolution=1.5 / 40).within(0, 1)
    assert found.high == 1.0
    assert found.low == pytest.approx(1 - 3 / 40, abs=0.002)


def test_levels_and_p_value_belong_together():
    found = fold_interval([0.02, 0.05, 0.01, 0.04, 0.03])
    assert found.low > 0
    assert found.p_value < 0.05
    wide = found.at(0.99)
    assert wide.low < 0 < wide.high
    assert found.at(1 - found.p_value).low == pytest.approx(0, abs=1e-9)
    assert fold_interval([0.0, 0.0]).p_value == 1.0
    assert fold_interval([0.5, 0.5]).p_value == 0.0


def test_refusals():
    with pytest.raises(InputError, match="2 splits"):
        fold_interval([0.5])
    with pytest.raises(InputError, match="not a share"):
        wilson_interval(5, 4)


def cross_validate(X, y, folds, n_best):
    """Right or wrong for each row: the side of a weighted sum, weights the largest class differences elsewhere."""
    right = np.empty(len(y))
    for k in range(folds.max() + 1):
        train, test = folds != k, folds == k
        a, b = X[train & (y == 1)], X[train & (y == 0)]
        w = a.mean(axis=0) - b.mean(axis=0)
        w[np.argsort(-np.abs(w))[n_best:]] = 0.0
        right[test] = ((X[test] - (a.mean(axis=0) + b.mean(axis=0)) / 2) @ w > 0) == (y[test] == 1)
    return right


@pytest.mark.parametrize("n_best", [3, 30])
def test_correlation_of_folds_on_noise(n_best):
    # The true variance of the mean is known by simulation: twice that of independent rows, with and without selection.
    rng = np.random.default_rng(5)
    y, folds = np.repeat([0, 1], 20), np.tile(np.arange(5), 8)
    means, errors = [], []
    for _ in range(1500):
        right = cross_validate(rng.normal(size=(40, 30)), y, folds, n_best)
        scores = np.array([right[folds == k].mean() for k in range(5)])
        means.append(scores.mean())
        errors.append(fold_interval(scores, scores * (1 - scores) / 7).standard_error ** 2)
    assert np.mean(means) == pytest.approx(0.5, abs=0.01)
    independent = 0.25 / 40
    assert 1.6 * independent < np.var(means) < 2.2 * independent
    assert np.mean(errors) == pytest.approx(np.var(means), rel=0.25)


def test_nothing_right_begins_at_exactly_zero_and_all_right_ends_at_exactly_one():
    for n in range(1, 200):
        assert wilson_interval(0, n).low == 0.0
        assert wilson_interval(n, n).high == 1.0
        assert 0.0 < wilson_interval(1, n + 1).low < 1 / (n + 1)
