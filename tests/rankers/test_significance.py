import tracemalloc

import numpy as np
import pytest
import scipy
from scipy.special import chdtrc, fdtrc
from scipy.stats import chi2_contingency, f_oneway, norm
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import chi2, f_classif, f_regression
from sklearn.utils.fixes import parse_version

from fewer.contracts import IncompatibleError, Resources
from fewer.problem import Problem
from fewer.rankers import Chi2, Fisher, FTest
from fewer.rankers._by_moments import chi2_tests, f_tests


def ranked(ranker, X, y, **options):
    return ranker.rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources())


def agrees(ranking, truth):
    assert ranking.scores == pytest.approx(truth[0], rel=1e-9)
    assert ranking.extra["p_value"] == pytest.approx(truth[1], rel=1e-7, abs=1e-300)


def test_f_of_classes_and_quantities_equal_scikit_learn():
    X, y = load_wine(return_X_y=True)
    agrees(ranked(FTest(), X, y), f_classif(X, y))
    X, y = load_diabetes(return_X_y=True)
    agrees(ranked(FTest(), X, y, task="regression"), f_regression(X, y))


def test_chi2_of_counts_equals_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(3, (80, 4)), rng.integers(0, 3, 80)
    X[:, 1] += 2 * y
    agrees(ranked(Chi2(), X, y), chi2(X, y))


def test_levels_are_tested_against_classes_by_pearson():
    rng = np.random.default_rng(0)
    levels, y = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    table = np.array([[np.sum((levels == a) & (y == b)) for b in range(2)] for a in range(3)])
    truth = chi2_contingency(table, correction=False)
    ranking = ranked(Chi2(), levels[:, None], y, kinds=["nominal"])
    assert ranking.extra["statistic"] == pytest.approx([truth.statistic])
    agrees(ranking, ([-np.log10(truth.pvalue)], [truth.pvalue]))
    ranking = ranked(FTest(), np.column_stack([levels, np.arange(len(y))]), y, kinds=["nominal", "numeric"])
    assert ranking.scores[0] == pytest.approx(truth.statistic / truth.dof)
    assert ranking.extra["p_value"][0] == pytest.approx(truth.pvalue)


def test_a_nominal_feature_of_a_quantity_is_analysis_of_variance():
    rng = np.random.default_rng(0)
    levels, y = rng.integers(0, 3, 90), rng.normal(size=90)
    truth = f_oneway(*(y[levels == a] for a in range(3)))
    ranking = ranked(FTest(), levels[:, None], y, task="regression", kinds=["nominal"])
    agrees(ranking, ([truth.statistic], [truth.pvalue]))


@pytest.mark.parametrize("ranker", [FTest(), Chi2()])
def test_missing_cells_are_left_out_and_weights_are_shares(ranker):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(4, (50, 2)).astype(float), rng.integers(0, 2, 50)
    holed = X.copy()
    holed[:9, 0] = np.nan
    assert ranked(ranker, holed, y).scores[0] == pytest.approx(ranked(ranker, X[9:], y[9:]).scores[0])
    weights = np.r_[np.zeros(9), np.full(41, 3.0)]
    assert ranked(ranker, X, y, sample_weight=weights).scores == pytest.approx(ranked(ranker, X[9:], y[9:]).scores)


def test_what_does_not_vary_says_nothing_and_what_tells_all_is_endless():
    y = np.repeat([0, 1], 5)
    ranking = ranked(FTest(), np.c_[np.ones(10), y, np.arange(10) % 2], y)
    assert ranking.scores[0] == 0
    assert ranking.extra["p_value"][0] == 1
    assert ranking.scores[1] == np.inf
    assert ranking.extra["p_value"][1] == 0


def test_columns_of_different_kinds_are_compared_by_p_values():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    many = rng.integers(0, 60, 400)
    X = np.c_[many, (y + rng.integers(0, 3, 400)) % 3, rng.poisson(3 + y)].astype(float)
    kinds = ["nominal", "nominal", "numeric"]
    for ranker, number in ((Chi2(), chi2), (FTest(), f_classif)):
        ranking = ranked(ranker, X, y, kinds=kinds)
        tables = [np.array([np.bincount(X[y == c, f].astype(int), minlength=60) for c in range(2)]) for f in range(2)]
        p = [chi2_contingency(t[:, t.sum(axis=0) > 0], correction=False).pvalue for t in tables]
        p.append(number(X[:, 2:], y)[1][0])
        assert ranking.extra["p_value"] == pytest.approx(p)
    assert ranked(Chi2(), X, y, kinds=kinds).scores == pytest.approx(-np.log10([*p[:2], chi2(X[:, 2:], y)[1][0]]))
    statistic = ranked(Chi2(), X, y, kinds=kinds).extra["statistic"]
    assert statistic[0] > 40  # sixty levels, by chance alone
    assert p[0] > 0.01


@pytest.mark.parametrize("size", [1e2, 1e3, 1e4, 1e5])
def test_logarithms_of_p_values_go_on_where_floats_end(size):
    """In closed form: χ² of 1 is a squared normal, of 2 an exponential; F of 2 and n is a power."""
    found = chi2_tests(np.full(2, size), np.array([1, 2])).log_p
    assert found == pytest.approx([np.log(2.0) + norm.logsf(np.sqrt(size)), -size / 2.0], rel=1e-3)
    ones = np.ones(1, dtype=bool)
    tests = f_tests(np.array([size]), np.ones(1), np.array([2]), np.array([500]), ones, ~ones)
    assert tests.log_p[0] == pytest.approx(-250.0 * np.log1p(2.0 * size / 500.0), rel=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 3, 6, 20])
def test_tails_in_closed_form_are_those_of_the_incomplete_functions(freedom):
    values = 10.0 ** np.random.default_rng(0).uniform(-6, 2.8, 500)
    found = chi2_tests(np.append(values, 0.0), np.full(501, freedom)).p_value
    np.testing.assert_allclose(found, np.append(chdtrc(freedom, values), 1.0), rtol=1e-12)
    ones = np.ones(500, dtype=bool)
    many = 1000 * freedom**2  # rows
    tests = f_tests(values, np.ones(500), ones.astype(int), np.full(500, many), ones, ~ones)
    # Before 1.14 SciPy's own tail is off by up to 1e-8.
    near = 1e-12 if parse_version(scipy.__version__) >= parse_version("1.14") else 1e-7
    np.testing.assert_allclose(tests.p_value, fdtrc(1, many, values), rtol=near)


def test_many_levels_are_counted_and_not_spread_out():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 86_000, 200_000).astype(float)[:, None]
    y = rng.integers(0, 2, 200_000)
    for ranker in (Fisher(), FTest(), Chi2()):
        problem = Problem.from_arrays(levels, y, kinds=["nominal"])
        tracemalloc.start()
        ranker.rank(problem, rng, Resources())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * levels.nbytes / 8


def test_columns_that_cannot_be_tested_are_named():
    y = np.repeat([0, 1], 5)
    with pytest.raises(IncompatibleError, match="'x0' has negative numbers; use FTest"):
        ranked(Chi2(), -np.arange(10)[:, None], y)


@pytest.mark.parametrize(
    ("ranker", "test"), [(FTest(), f_classif), (FTest(), f_regression), (Chi2(), chi2)], ids=["classes", "y", "counts"]
)
def test_columns_are_tested_on_their_present_cells(ranker, test):
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(60, 11))
    y = rng.normal(size=60) + X[:, 4] if test is f_regression else (X[:, 4] > 1.5).astype(int)
    gaps = rng.random(60) < 0.2
    X[gaps, 7] = np.nan
    weights = np.where(np.arange(60) < 5, 0.0, 2.0)  # as if these rows were not there
    problem = Problem.from_arrays(
        X, y, task="regression" if test is f_regression else "classification", sample_weight=weights
    )
    ranking = ranker.rank(problem, rng, Resources())
    for column in range(11):
        rows = (weights > 0) & ~np.isnan(X[:, column])
        score, p_value = test(X[rows, column : column + 1], y[rows])
        assert ranking.scores[column] == pytest.approx(score[0], rel=1e-9)
        assert ranking.extra["p_value"][column] == pytest.approx(p_value[0], rel=1e-8)


def test_counts_and_levels_are_ranked_by_what_chance_would_do():
    """A nominal column of noise with many levels has a larger statistic than a count that follows the class."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.poisson(3 + 0.8 * y), rng.integers(0, 40, 200)])
    ranking = ranked(Chi2(), X, y, kinds=["numeric", "nominal"])
    assert ranking.extra["statistic"][1] > ranking.extra["statistic"][0]
    assert ranking.order.tolist() == [0, 1]
    assert ranking.scores == pytest.approx(-np.log10(ranking.extra["p_value"]))
