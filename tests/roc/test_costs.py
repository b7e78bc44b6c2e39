import numpy as np
import pytest
from scipy.stats import beta

from fewer.roc._costs import Costs, cost_bound, cost_interval, predictive_value, smoothed
from fewer.validate import wilson_interval


def test_a_bound_is_made_of_two_exact_ones():
    costs = Costs(2.0, 5.0, 0.3)
    truth = 0.7 * 2.0 * beta.ppf(0.975, 4, 97) + 0.3 * 5.0 * beta.ppf(0.975, 3, 38)
    assert cost_bound((3, 2), (100, 40), costs, 0.95) == pytest.approx(truth)


@pytest.mark.parametrize(("fpr", "tpr"), [(0.1, 0.8), (0.02, 0.5), (0.4, 0.97)])
def test_intervals_cover(fpr, tpr):
    """Cost and predictive value lie in their intervals in about 95 % of draws."""
    rng = np.random.default_rng(0)
    costs, covered = Costs(1.0, 4.0, 0.25), np.zeros(2)
    truth = costs.of(fpr, tpr), 0.25 * tpr / (0.25 * tpr + 0.75 * fpr)
    for _ in range(800):
        false = wilson_interval(int(rng.binomial(120, fpr)), 120)
        true = wilson_interval(int(rng.binomial(60, tpr)), 60)
        bands = cost_interval(false, true, costs), predictive_value(false, true, 0.25)
        covered += [band.low <= value <= band.high for band, value in zip(bands, truth, strict=True)]
    assert np.all(covered / 800 > 0.925)
    assert np.all(covered / 800 < 0.99)


def test_predictive_values_at_the_edges():
    none, some, every = wilson_interval(0, 50), wilson_interval(20, 50), wilson_interval(50, 50)
    assert np.isnan(predictive_value(none, none, 0.3).estimate)
    sure = predictive_value(none, some, 0.3)
    assert (sure.estimate, sure.high) == (1.0, 1.0)
    assert 0 < sure.low < 1
    guess = predictive_value(every, every, 0.3)
    assert guess.estimate == pytest.approx(0.3)
    assert predictive_value(some, none, 0.3).estimate == 0.0


def test_the_corners_are_certain():
    fpr, tpr = smoothed(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0, 1.0]), (10, 10))
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert fpr[1] > 0.0
    assert tpr[2] < 1.0
