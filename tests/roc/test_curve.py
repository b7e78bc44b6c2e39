import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

from fewer.problem import InputError
from fewer.roc import RocCurve, auroc


def scored(seed, n=60, decimals=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return y, (rng.normal(size=n) + y).round(decimals)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), decimals=st.integers(0, 3))
def test_the_area_is_the_mann_whitney_statistic_ties_included(seed, decimals):
    y, scores = scored(seed, decimals=decimals)
    statistic = mannwhitneyu(scores[y], scores[~y]).statistic / (y.sum() * (~y).sum())
    by_pairs = np.mean(np.sign(scores[y][:, None] - scores[~y]) / 2 + 0.5)
    assert RocCurve.of(y, scores).area == pytest.approx(statistic, abs=1e-12)
    assert auroc(y, scores) == pytest.approx(by_pairs, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), max_fpr=st.floats(0.05, 1.0))
def test_points_and_partial_area(seed, max_fpr):
    y, scores = scored(seed)
    curve = RocCurve.of(y, scores)
    for fpr, tpr, threshold in zip(curve.fpr, curve.tpr, curve.thresholds, strict=True):
        called = scores >= threshold
        assert (fpr, tpr) == pytest.approx((called[~y].mean(), called[y].mean()))
    # scikit-learn gives McClish's standardized area.
    lowest, highest = max_fpr**2 / 2, max_fpr
    raw = (2 * roc_auc_score(y, scores, max_fpr=max_fpr) - 1) * (highest - lowest) + lowest
    assert curve.partial_area(max_fpr) == pytest.approx(raw if max_fpr < 1 else roc_auc_score(y, scores), abs=1e-9)
    best = max(tpr for fpr, tpr in zip(curve.fpr, curve.tpr, strict=True) if fpr <= max_fpr)
    assert curve.tpr[curve.neyman_pearson(max_fpr)] == best


def test_the_positive_class_can_be_named():
    y, scores = scored(0)
    labels = np.where(y, "ill", "well")
    assert auroc(labels, scores, pos_label="ill") == pytest.approx(1 - auroc(labels, scores))


@pytest.mark.parametrize(
    ("y", "scores", "words"),
    [
        ([0, 1, 2], [1, 2, 3], "two classes, but there are 3"),
        ([0, 1], [1, 2, 3], "one score per row"),
        ([0, 1], [1, np.nan], "row 1 is undefined"),
    ],
)
def test_bad_input(y, scores, words):
    with pytest.raises(InputError, match=words):
        RocCurve.of(y, scores)


def test_an_unknown_positive_class():
    with pytest.raises(InputError, match="is no class"):
        auroc([0, 1], [1, 2], pos_label="x")
