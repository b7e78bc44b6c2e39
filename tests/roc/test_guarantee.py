import numpy as np
import pytest
from scipy.stats import binom

from fewer.problem import InputError
from fewer.roc._guarantee import last_point_kept, most_allowed, rows_needed, upper_bound


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


def test_for_nested_thresholds_it_is_the_order_statistic():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    cuts = np.append(np.inf, np.sort(rng.normal(size=400))[::-1])
    called = scores >= cuts[:, None]
    kept = last_point_kept(called, rng.random(200), 0.1, 0.95)
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
        kept = last_point_kept(called, rng.random(150), 0.1, 0.9)
        step = true[min(kept.low + 1, 6)] - true[kept.low]
        above += true[kept.low] + kept.share * step > 0.1
    # At most one in ten, within four standard errors of sampling.
    assert above / 2000 < 0.1 + 4 * np.sqrt(0.1 * 0.9 / 2000)
    assert above > 0


def test_edges():
    called = np.array([[False] * 40, [True] * 40])
    even = np.linspace(0, 1, 40)
    assert last_point_kept(called, even, 0.0, 0.95).low == 0
    assert last_point_kept(called, even, 1.0, 0.95).low == 1
    assert last_point_kept(called, even, 0.1, 0.95).share < 0.1
    with pytest.raises(InputError, match=r"29 are needed"):
        last_point_kept(called[:, :20], even[:20], 0.1, 0.95)
    with pytest.raises(InputError, match="probability between 0 and 1"):
        last_point_kept(called, even, 0.1, 95)
