import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from fewer.problem import InputError
from fewer.roc import RocCurve, chord_share, expected_cost, iso_cost_line, iso_cost_slope, roc_hull

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
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
