"""Against statsmodels, SciPy and the worked examples of Demšar (JMLR 7, 2006)."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from fewer.errors import InputError
from fewer.validate import corrected_resampled_t, friedman_nemenyi, holm, mcnemar, wilcoxon

# Demšar's table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. In the row before the last both
# 0.975 are printed alike but ranked 2 and 3.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def rows(both, only_a, only_b, neither):
    a = [True] * both + [True] * only_a + [False] * only_b + [False] * neither
    b = [True] * both + [False] * only_a + [True] * only_b + [False] * neither
    return a, b


@pytest.mark.parametrize("counts", [(50, 12, 3, 8), (3, 0, 7, 1), (100, 31, 19, 5), (0, 1, 0, 0)])
@pytest.mark.parametrize("method", ["corrected", "exact"])
def test_mcnemar_agrees_with_statsmodels(counts, method):
    both, only_a, only_b, neither = counts
    expected = statsmodels_mcnemar([[both, only_a], [only_b, neither]], exact=method == "exact", correction=True)
    found = mcnemar(*rows(*counts), method=method)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("method", ["corrected", "exact"])
@pytest.mark.parametrize("counts", [(5, 0, 0, 5), (5, 4, 4, 5)])
def test_mcnemar_without_any_difference_is_certain(counts, method):
    assert mcnemar(*rows(*counts), method=method).p_value == 1.0


def test_mcnemar_refuses_different_rows():
    with pytest.raises(InputError, match="same rows"):
        mcnemar([True, False], [True])


def test_resampled_t_is_the_paired_t_where_nothing_overlaps():
    a, b = np.random.default_rng(0).normal(size=(2, 12))
    expected = stats.ttest_rel(a, b)
    found = corrected_resampled_t(a - b, n_train=10**12, n_test=1)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


def test_resampled_t_by_hand():
    # Ten folds: 1/10 + 1/9 in place of 1/10 divides the plain statistic by √(19/9).
    d = np.random.default_rng(1).normal(0.3, 1, size=10)
    found = corrected_resampled_t(d, n_train=90, n_test=10)
    assert found.statistic == pytest.approx(stats.ttest_1samp(d, 0).statistic / np.sqrt(19 / 9))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.statistic), 9))


def test_resampled_t_of_equal_differences():
    assert corrected_resampled_t([0.0, 0.0], 9, 1).p_value == 1.0
    assert corrected_resampled_t([0.5, 0.5], 9, 1).p_value == 0.0


def test_wilcoxon_on_demsars_table_2():
    # R+ = 93, R− = 12, so T = 12; the critical value for 14 data sets at 0.05 is 21.
    found = wilcoxon(DEMSAR[:, 0], DEMSAR[:, 1])
    assert found.statistic == 12
    assert found.p_value < 0.05


@given(st.lists(st.integers(-300, 300).filter(bool), min_size=3, max_size=30, unique_by=abs))
@settings(deadline=None, max_examples=50)
def test_wilcoxon_agrees_with_scipy_without_ties(differences):
    d = np.array(differences) / 7
    expected = stats.wilcoxon(d, method="exact")
    found = wilcoxon(d, np.zeros(len(d)))
    assert found.statistic == expected.statistic
    assert found.p_value == pytest.approx(expected.pvalue)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
@settings(deadline=None, max_examples=40)
def test_wilcoxon_with_ties_counts_all_signs(differences):
    d = np.array(differences, dtype=float)
    ranks = stats.rankdata(np.abs(d))[d != 0]
    signs = np.array(list(product([0, 1], repeat=len(ranks))))
    sums = signs @ ranks if len(ranks) else np.zeros(1)
    smaller = min(ranks[d[d != 0] > 0].sum(), ranks[d[d != 0] < 0].sum())
    expected = min(1.0, 2 * np.mean(sums <= smaller + 1e-9))
    assert wilcoxon(d, np.zeros(len(d))).p_value == pytest.approx(expected)


def test_wilcoxon_of_many_data_sets_agrees_with_scipy():
    d = np.random.default_rng(0).normal(0.1, 1, 80)
    assert wilcoxon(d, 0 * d).p_value == pytest.approx(stats.wilcoxon(d, method="approx").pvalue)
    assert wilcoxon(0 * d, 0 * d).p_value == 1.0


def test_friedman_and_nemenyi_on_demsars_table_6():
    found = friedman_nemenyi(DEMSAR)
    assert found.mean_ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    # Demšar does not correct for ties; there are three pairs and one quadruple.
    tie_factor = 1 - (3 * (2**3 - 2) + (4**3 - 4)) / (14 * 4 * 15)
    assert found.friedman.statistic * tie_factor == pytest.approx(9.28, abs=0.005)
    # “the difference between C4.5 and C4.5+m+cf is 1.179: not significant at 0.05, but at 0.10 (CD 1.12)”
    assert 0.05 < found.p_values[0, 3] < 0.10
    assert friedman_nemenyi(DEMSAR, level=0.90).critical_difference == pytest.approx(1.12, abs=0.005)


def test_friedman_agrees_with_scipy():
    table = np.random.default_rng(3).integers(0, 4, size=(9, 5)).astype(float)
    expected = stats.friedmanchisquare(*table.T)
    found = friedman_nemenyi(table)
    assert found.friedman.statistic == pytest.approx(expected.statistic)
    assert found.friedman.p_value == pytest.approx(expected.pvalue)


def test_iman_davenport_by_its_formula():
    table = np.random.default_rng(4).normal(size=(14, 4))
    found = friedman_nemenyi(table)
    chi2 = stats.friedmanchisquare(*table.T).statistic
    f = 13 * chi2 / (14 * 3 - chi2)
    assert found.iman_davenport.statistic == pytest.approx(f)
    assert found.iman_davenport.p_value == pytest.approx(stats.f.sf(f, 3, 39))


def test_methods_that_never_differ():
    found = friedman_nemenyi(np.ones((5, 3)))
    assert found.friedman.p_value == 1.0
    assert np.allclose(found.p_values, 1.0)


def test_friedman_refuses_two_methods():
    with pytest.raises(InputError, match="3 methods"):
        friedman_nemenyi(np.ones((5, 2)))


def test_holm_agrees_with_statsmodels():
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 12):
        p_values = np.round(rng.random(size) ** 3, 2)
        assert np.allclose(holm(p_values), multipletests(p_values, method="holm")[1])
