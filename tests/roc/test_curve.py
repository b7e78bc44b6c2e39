import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

from fewer.problem import InputError
from fewer.roc import RocCurve, auroc, chord_share, expected_cost, iso_cost_line, iso_cost_slope, roc_hull

COUNTS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=25)


def rates(points):
    table = np.array(points, dtype=float).reshape(-1, 2) / 20
    return table[:, 0], table[:, 1]


@settings(deadline=None, max_examples=100)
@given(COUNTS)
def test_the_hull_contains_every_point_and_is_that_of_scipy(points):
    fpr, tpr = rates(points)
    hull = roc_hull(fpr, tpr)
    assert np.all(hull.tpr_at(fpr) >= tpr - 1e-12)
    assert (hull.fpr[0], hull.tpr[0], hull.fpr[-1], hull.tpr[-1]) == (0, 0, 1, 1)
    slopes = np.diff(hull.tpr) / np.where(np.diff(hull.fpr) == 0, 1e-9, np.diff(hull.fpr))
    assert np.all(np.diff(slopes) < 1e-9)
    corners = np.column_stack([np.append(fpr, [0, 1, 1]), np.append(tpr, [0, 1, 0])])
    assert hull.area == pytest.approx(ConvexHull(corners).volume, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(COUNTS, st.tuples(st.integers(0, 20), st.integers(0, 20)))
def test_one_more_classifier_never_lowers_the_hull(points, another):
    before = roc_hull(*rates(points))
    after = roc_hull(*rates([*points, another]))
    grid = np.linspace(0, 1, 101)
    assert np.all(after.tpr_at(grid) >= before.tpr_at(grid) - 1e-12)
    assert after.area >= before.area - 1e-12


def test_it_is_never_below_the_pointwise_best_of_several_curves():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    curves = [RocCurve.of(y, (rng.normal(size=200) + y * s).round(1)) for s in (0.3, 0.8, 1.0)]
    hull = roc_hull(np.concatenate([c.fpr for c in curves]), np.concatenate([c.tpr for c in curves]))
    for curve in curves:
        assert np.all(hull.tpr_at(curve.fpr) >= curve.tpr - 1e-12)
        own = curve.hull()
        np.testing.assert_allclose(own.area, roc_hull(curve.fpr, curve.tpr).area)
        np.testing.assert_array_equal(curve.fpr[own.points], own.fpr)


@settings(deadline=None, max_examples=60)
@given(COUNTS, st.floats(0.01, 0.99), st.floats(0.1, 10), st.floats(0, 1))
def test_operating_points_are_the_best_there_are(points, prevalence, ratio, limit):
    hull = roc_hull(*rates(points))
    cheapest = hull.at_cost(ratio, 1.0, prevalence)
    cost = expected_cost(cheapest.fpr, cheapest.tpr, ratio, 1.0, prevalence)
    assert np.all(expected_cost(hull.fpr, hull.tpr, ratio, 1.0, prevalence) >= cost - 1e-9)
    point = hull.at_fpr(limit)
    assert point.fpr <= limit
    assert point.tpr == pytest.approx(hull.tpr_at(limit), abs=1e-9)
    for axis in ("fpr", "tpr"):
        ends = getattr(hull, axis)[[point.low, point.high]]
        assert (1 - point.share) * ends[0] + point.share * ends[1] == pytest.approx(getattr(point, axis), abs=1e-9)


def test_lines_of_equal_cost():
    hull = roc_hull([0.1, 0.4], [0.7, 0.9])
    costs = {"cost_fp": 2.0, "cost_fn": 3.0, "prevalence": 0.4}
    point = hull.at_cost(**costs)
    x, y = iso_cost_line(point, **costs)
    assert (y[1] - y[0]) / (x[1] - x[0]) == pytest.approx(iso_cost_slope(**costs))
    np.testing.assert_allclose(expected_cost(x, y, **costs), expected_cost(point.fpr, point.tpr, **costs))
    assert np.all(hull.tpr <= np.interp(hull.fpr, x, y) + 1e-9)


def test_of_equally_cheap_vertices_the_one_with_fewer_alarms():
    hull = roc_hull([0.0, 0.5], [0.5, 1.0])
    assert hull.at_cost(1, 1, 0.5).fpr == 0.0


def test_the_example_of_the_report():
    assert chord_share(0.3, 0.5, 0.4) == 0.5
    with pytest.raises(InputError, match="not on the chord"):
        chord_share(0.3, 0.5, 0.6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: roc_hull([0.1], [0.2, 0.3]), "one of each"),
        (lambda: roc_hull([1.1], [0.2]), "between 0 and 1"),
        (lambda: roc_hull([0.1], [0.2]).at_fpr(2), "between 0 and 1"),
        (lambda: roc_hull([0.1], [0.2]).at_cost(prevalence=1.0), "share of positive"),
        (lambda: roc_hull([0.1], [0.2]).at_cost(cost_fp=-1), "at least 0"),
    ],
)
def test_hulls_refuse_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()


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
def test_curves_refuse_bad_input(y, scores, words):
    with pytest.raises(InputError, match=words):
        RocCurve.of(y, scores)


def test_an_unknown_positive_class():
    with pytest.raises(InputError, match="is not a class"):
        auroc([0, 1], [1, 2], pos_label="x")
    with pytest.raises(InputError, match=r"^pos_label=array\(.*\) is not a class of the target, which has \[0, 1\].$"):
        auroc([0, 1], [1, 2], pos_label=np.arange(2000).reshape(40, 50))
