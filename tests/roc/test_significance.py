import numpy as np
import pytest
from scipy.stats import norm

from fewer.problem import InputError
from fewer.roc import RocCurve, auroc, bootstrap_band, critical_ratio, delong_test, hanley_mcneil

# Forty-three ovarian cancer patients: albumin, total protein, K-G score, and whether surgery was of benefit.
# E. DeLong et al. 1988; the rows with all three tests, as in the documentation of SAS/STAT, PROC LOGISTIC.
PATIENTS = np.array(
    """3.0 5.8 10 0 3.2 6.3 5 1 3.9 6.8 3 1 2.8 4.8 6 0 3.2 5.8 3 1 0.9 4.0 5 0 2.5 5.7 8 0 1.6 5.6 5 1 3.8 5.7 5 1
    3.7 6.7 6 1 3.2 5.4 4 1 3.8 6.6 6 1 4.1 6.6 5 1 3.6 5.7 5 1 4.3 7.0 4 1 3.6 6.7 4 0 2.3 4.4 6 1 4.2 7.6 4 0
    4.0 6.6 6 0 3.5 5.8 6 1 3.8 6.8 7 1 3.0 4.7 8 0 4.5 7.4 5 1 3.7 7.4 5 1 3.1 6.6 6 1 4.1 8.2 6 1 4.3 7.0 5 1
    4.3 6.5 4 1 3.2 5.1 5 1 2.6 4.7 6 1 3.3 6.8 6 0 1.7 4.0 7 0 3.7 6.1 5 1 3.3 6.3 7 1 4.2 7.7 6 1 3.5 6.2 5 1
    2.9 5.7 9 0 2.1 4.8 7 1 2.8 6.2 8 0 4.0 7.0 7 1 3.3 5.7 6 1 3.7 6.9 5 1 3.6 6.6 5 1""".split(),
    dtype=float,
).reshape(-1, 4)


def test_delongs_own_patients():
    albumin, protein, score, benefit = PATIENTS.T
    first = delong_test(benefit, albumin, 10 - score)
    second = delong_test(benefit, protein, 10 - score)
    np.testing.assert_allclose(first.areas, [0.7366, 0.7258], atol=5e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(first.covariance)), [0.0927, 0.1028], atol=5e-5)
    np.testing.assert_allclose([first.difference, first.low, first.high], [0.0108, -0.1761, 0.1976], atol=5e-5)
    assert first.z**2 == pytest.approx(0.0127, abs=5e-5)
    assert first.p_value == pytest.approx(0.9102, abs=5e-5)
    np.testing.assert_allclose(second.areas[0], 0.6478, atol=5e-5)
    np.testing.assert_allclose([second.difference, second.p_value], [-0.0780, 0.4561], atol=5e-5)


def test_delong_against_a_bootstrap():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    shared = rng.normal(size=300)
    a, b = (shared + rng.normal(size=300) + 1.2 * y).round(1), (shared + rng.normal(size=300) + y).round(1)
    test = delong_test(y, a, b)
    draws = []
    for _ in range(2000):
        rows = np.concatenate([rng.choice(np.flatnonzero(side), side.sum()) for side in (y, ~y)])
        draws.append([auroc(y[rows], a[rows]), auroc(y[rows], b[rows])])
    np.testing.assert_allclose(np.cov(np.array(draws).T), test.covariance, rtol=0.12)
    np.testing.assert_allclose(test.areas, [auroc(y, a), auroc(y, b)])


def test_delong_keeps_its_level_when_nothing_differs():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    p = [delong_test(y, rng.normal(size=80) + y, rng.normal(size=80) + y).p_value for _ in range(1000)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.02)


def test_equal_scores_do_not_differ():
    y = np.arange(20) % 2
    test = delong_test(y, np.arange(20), np.arange(20) * 2)
    assert (test.difference, test.z, test.p_value) == (0.0, 0.0, 1.0)


def test_hanley_and_mcneils_standard_error():
    # Exact under the null: the variance of the Mann–Whitney statistic.
    for n, m in ((5, 9), (40, 300)):
        assert hanley_mcneil(0.5, n, m) == pytest.approx(np.sqrt((n + m + 1) / (12 * n * m)))
    assert hanley_mcneil(1.0, 10, 10) == 0.0
    # The specification's simulation: binormal data of area 0.87, 150 against 350 rows.
    assert hanley_mcneil(0.87, 150, 350) == pytest.approx(0.0196, abs=2e-4)
    rng = np.random.default_rng(0)
    gap = norm.ppf(0.87) * np.sqrt(2)
    y = np.arange(500) < 150
    areas = [auroc(y, rng.normal(size=500) + gap * y) for _ in range(400)]
    assert np.std(areas) == pytest.approx(0.0167, abs=0.0015)
    with pytest.raises(InputError, match="at least one of each"):
        hanley_mcneil(0.7, 0, 5)


@pytest.mark.parametrize(
    ("parcel", "other", "n_positive", "n_negative", "z"),
    [
        (0.9116, 0.9007, 11360, 3700, 3.2764), (0.9671, 0.9437, 461, 1539, 2.4338),
        (0.9151, 0.9022, 1691, 1701, 1.7407), (0.9694, 0.9461, 922, 1078, 3.4354),
        (0.9918, 0.9506, 297, 203, 4.0727), (0.9938, 0.9941, 250, 3163, -0.0612),
    ],
)  # fmt: skip
def test_the_reports_critical_ratios(parcel, other, n_positive, n_negative, z):
    assert critical_ratio(parcel, other, n_positive, n_negative) == pytest.approx(z, abs=5e-5)


def test_certain_areas():
    assert critical_ratio(1.0, 1.0, 5, 5) == 0.0
    assert critical_ratio(1.0, 0.5, 5, 5) > 0
    assert critical_ratio(0.8, 0.7, 50, 50, correlation=0.5) > critical_ratio(0.8, 0.7, 50, 50)


def test_the_band_covers_the_true_curve_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    grid = np.array([0.1, 0.3, 0.5])
    truth = norm.cdf(norm.ppf(grid) + 1.0)
    y = np.arange(300) % 2
    inside = []
    for seed in range(60):
        band = bootstrap_band(y, rng.normal(size=300) + y, fpr=grid, n_resamples=150, random_state=seed, level=0.9)
        inside.append((band.low <= truth) & (truth <= band.high))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.06)


def test_the_band_surrounds_its_curve():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    scores = (rng.normal(size=200) + y).round(1)
    band = bootstrap_band(y, scores, n_resamples=200)
    curve = RocCurve.of(y, scores)
    middle = np.interp(band.fpr[5:-5], curve.fpr, curve.tpr)
    assert np.mean((band.low[5:-5] <= middle) & (middle <= band.high[5:-5])) > 0.95
    assert np.mean(band.areas) == pytest.approx(curve.area, abs=0.01)
