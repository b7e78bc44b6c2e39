import numpy as np
import pytest
from scipy.stats import beta, binom

from fewer.problem import InputError
from fewer.roc._curve import ChordPoint
from fewer.roc._rates import (
    Costs,
    Witnesses,
    cost_bound,
    cost_interval,
    last_point_kept,
    most_allowed,
    predictive_value,
    rows_needed,
    smoothed,
    upper_bound,
)
from fewer.validate import wilson_interval


def test_how_many_rows_are_needed():
    for limit in (0.01, 0.05, 0.1, 0.3):
        n = rows_needed(limit, 0.95)
        assert (1 - limit) ** n <= 0.05 < (1 - limit) ** (n - 1)
        assert most_allowed(n, limit, 0.95) == 0
        assert most_allowed(n - 1, limit, 0.95) == -1


def test_the_bound_is_exact():
    for n, k in ((50, 0), (50, 3), (400, 37)):
        bound = upper_bound(k, n, 0.95)
        assert binom.cdf(k, n, bound) == pytest.approx(0.05)
    assert upper_bound(5, 5, 0.95) == 1.0


def test_allowed_counts_are_those_whose_bound_is_below_the_limit():
    for n in (29, 60, 111):
        allowed = most_allowed(n, 0.1, 0.95)
        assert upper_bound(allowed, n, 0.95) <= 0.1 < upper_bound(allowed + 1, n, 0.95)


def each(draws):
    """Return the same numbers for every side of the hull."""
    return lambda low: draws


def test_for_nested_thresholds_it_is_the_order_statistic():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    cuts = np.append(np.inf, np.sort(rng.normal(size=400))[::-1])
    called = scores >= cuts[:, None]
    kept = last_point_kept(called, each(rng.random(200)), 0.1, 0.95)
    allowed = most_allowed(200, 0.1, 0.95)
    # The lowest threshold, up to a step of the choice between two, above the order statistic.
    order_statistic = np.sort(scores)[::-1][allowed]
    assert cuts[kept.low] > order_statistic >= cuts[kept.low + 1]
    assert kept.n_false <= allowed


def test_the_limit_is_kept_as_often_as_promised():
    # Classifiers with known rates that are not nested: independent coins.
    rng = np.random.default_rng(1)
    true = np.array([0.0, 0.03, 0.06, 0.09, 0.12, 0.2, 1.0])
    above = 0
    for _ in range(2000):
        called = rng.random((7, 150)) < true[:, None]
        kept = last_point_kept(called, each(rng.random(150)), 0.1, 0.9)
        step = true[min(kept.low + 1, 6)] - true[kept.low]
        above += true[kept.low] + kept.share * step > 0.1
    # At most one in ten, within four standard errors of sampling.
    assert above / 2000 < 0.1 + 4 * np.sqrt(0.1 * 0.9 / 2000)
    assert above > 0


def test_edges():
    called = np.array([[False] * 40, [True] * 40])
    even = each(np.linspace(0, 1, 40))
    assert last_point_kept(called, even, 0.0, 0.95).low == 0
    assert last_point_kept(called, even, 1.0, 0.95).low == 1
    assert last_point_kept(called, even, 0.1, 0.95).share < 0.1
    with pytest.raises(InputError, match=r"29 are needed"):
        last_point_kept(called[:, :20], each(np.linspace(0, 1, 20)), 0.1, 0.95)
    with pytest.raises(InputError, match="probability between 0 and 1"):
        last_point_kept(called, even, 0.1, 95)


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


POSITIVE = np.array([False] * 6 + [True] * 4)
CALLED = np.array([[0] * 10, [1, 0, 0, 0, 0, 0, 1, 1, 0, 0], [1] * 10], dtype=bool)


def witnesses(weight=None, digests=None):
    digests = np.arange(30, dtype=np.uint64).reshape(3, 10) if digests is None else digests
    return Witnesses(CALLED, POSITIVE, digests, weight, "calibration")


def chord(low, high, share):
    blank = dict.fromkeys(ChordPoint.__dataclass_fields__, 0.0)
    return ChordPoint(**{**blank, "low": low, "high": high, "share": share})


def test_rates_of_the_vertices_with_and_without_weights():
    fpr, tpr = witnesses().vertex_rates
    assert fpr.tolist() == pytest.approx([0, 1 / 6, 1])
    assert tpr.tolist() == pytest.approx([0, 1 / 2, 1])
    fpr, tpr = witnesses(np.array([2.0] * 1 + [1.0] * 5 + [3.0, 1.0, 1.0, 1.0])).vertex_rates
    assert fpr[1] == pytest.approx(2 / 7)
    assert tpr[1] == pytest.approx(4 / 6)


def test_between_two_vertices_rates_are_means_over_the_draw():
    rates = witnesses().rates(chord(1, 2, 0.25))
    assert rates.fpr.estimate == pytest.approx(0.75 / 6 + 0.25)
    assert rates.tpr.estimate == pytest.approx(0.75 / 2 + 0.25)
    assert rates.fpr.low == pytest.approx(wilson_interval(6 * rates.fpr.estimate, 6).low)
    assert rates.rows == "calibration"


def test_unequal_weights_tell_less():
    assert witnesses().sizes == (6.0, 4.0)
    assert witnesses(np.full(10, 5.0)).sizes == pytest.approx((6.0, 4.0))
    assert witnesses(np.r_[np.ones(9), 5.0]).sizes[1] == pytest.approx(64 / 28)


def test_rows_with_equal_cells_are_not_told_apart():
    assert witnesses().told_apart(0, 1) == 1.0
    assert witnesses(digests=np.zeros((3, 10), dtype=np.uint64)).told_apart(0, 1) == 0.1


def test_who_decides_is_drawn_from_the_cells_or_at_random():
    hashed = witnesses().draws(0, 1, "hash", 3)
    assert np.array_equal(hashed, witnesses().draws(0, 1, "hash", 3))
    assert not np.array_equal(hashed, witnesses().draws(0, 1, "hash", 4))
    drawn = witnesses().draws(0, 1, "random", None)
    assert np.array_equal(drawn, np.random.default_rng(0).random(10))
