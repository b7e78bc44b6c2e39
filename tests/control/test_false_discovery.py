import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectFpr, f_classif
from statsmodels.stats.multitest import multipletests

import fewer
from fewer.control import FalseDiscovery
from fewer.control._shadow import discoveries
from fewer.rankers import FTest


@pytest.mark.parametrize("seed", range(5))
def test_what_passes_is_what_statsmodels_passes(seed):
    rng = np.random.default_rng(seed)
    p_values = np.r_[rng.random(30), rng.random(20) ** 4].round(3)
    for rate in (0.05, 0.1, 0.3):
        for ours, theirs in (("bh", "fdr_bh"), ("by", "fdr_by"), ("fwe", "holm")):
            assert (discoveries(p_values, rate, ours) == multipletests(p_values, rate, method=theirs)[0]).all()


@pytest.mark.parametrize(
    ("procedure", "promise"), [("fpr", "false-positive"), ("fwe", "family-wise"), ("by", "however")]
)
def test_each_procedure_is_promised_by_its_name(procedure, promise):
    X, y = load_breast_cancer(return_X_y=True)
    selector = fewer.RankSelector(FTest(), control=FalseDiscovery(0.01, procedure)).fit(X, y)
    assert promise in selector.promise_
    if procedure == "fpr":
        assert selector.support_.tolist() == SelectFpr(f_classif, alpha=0.01).fit(X, y).get_support().tolist()


def test_over_a_ranker_and_with_feature_groups():
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.c_[X[:, :3], rng.normal(size=(len(y), 5))]
    selector = fewer.RankSelector(FTest(), control=FalseDiscovery(0.05), feature_groups=[[2, 3]]).fit(X, y)
    p = selector.extra_["p_value"]
    units = np.array([p[0], p[1], min(1.0, 2 * p[2]), *p[4:]])
    truth = multipletests(units, 0.05, method="fdr_bh")[0]
    assert selector.support_.tolist() == [truth[0], truth[1], truth[2], truth[2], *truth[3:]]
    assert "false-discovery rate of 0.05" in selector.promise_
    groups = np.arange(len(y)) // 2
    assert (
        "assume independent rows"
        in fewer.RankSelector(FTest(), control=FalseDiscovery()).fit(X, y, groups=groups).notes_[-1]
    )
