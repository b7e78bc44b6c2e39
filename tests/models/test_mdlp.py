import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.utils.estimator_checks import check_estimator

from fewer.models import MDLPDiscretizer
from fewer.models.mdlp import mdlp_cuts


def entropy(labels):
    return -sum(c / len(labels) * math.log2(c / len(labels)) for c in Counter(labels).values())


def slow_cuts(pairs):
    """Fayyad and Irani as they wrote it, on a list of (value, label)."""
    n, labels = len(pairs), [label for _, label in pairs]
    best = None
    values = sorted({value for value, _ in pairs})
    for low, high in pairwise(values):
        left = [label for value, label in pairs if value <= low]
        right = [label for value, label in pairs if value > low]
        split = (len(left) * entropy(left) + len(right) * entropy(right)) / n
        if best is None or split < best[0] - 1e-9 / n:
            best = (split, (low + high) / 2, left, right)
    if best is None:
        return []
    split, cut, left, right = best
    k, k1, k2 = len(set(labels)), len(set(left)), len(set(right))
    delta = math.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(labels) - split <= (math.log2(n - 1) + delta) / n:
        return []
    lower = [pair for pair in pairs if pair[0] <= cut]
    upper = [pair for pair in pairs if pair[0] > cut]
    return [*slow_cuts(lower), cut, *slow_cuts(upper)]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_cut_points_of_real_tables_equal_the_slow_twin(load):
    X, y = load(return_X_y=True)
    for column in X.T[:8]:
        assert mdlp_cuts(column, y).tolist() == pytest.approx(slow_cuts(list(zip(column, y, strict=True))))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=60), st.integers(1, 4))
def test_cut_points_equal_the_slow_twin_with_many_ties(pairs, copies):
    pairs = pairs * copies
    values = np.array([value for value, _ in pairs], dtype=float)
    labels = np.unique([label for _, label in pairs], return_inverse=True)[1]
    expected = slow_cuts(list(zip(values.tolist(), labels.tolist(), strict=True)))
    assert mdlp_cuts(values, labels).tolist() == pytest.approx(expected)


def test_estimator_checks():
    check_estimator(MDLPDiscretizer(), on_skip=None)


def test_codes_count_the_cuts_below():
    X, y = load_iris(return_X_y=True)
    bins = MDLPDiscretizer().fit(X, y)
    for feature, cuts in enumerate(bins.cut_points_):
        assert np.array_equal(bins.transform(X)[:, feature], (X[:, [feature]] > cuts).sum(axis=1))
    assert np.array_equal(bins.n_bins_, bins.transform(X).max(axis=0) + 1)


def test_missing_cells_take_no_part_and_get_the_last_code():
    X, y = load_iris(return_X_y=True)
    holey = X.copy()
    holey[::7] = np.nan
    bins = MDLPDiscretizer().fit(holey, y)
    present = ~np.isnan(holey[:, 0])
    alone = MDLPDiscretizer().fit(X[present], y[present])
    for cuts, expected in zip(bins.cut_points_, alone.cut_points_, strict=True):
        assert cuts.tolist() == expected.tolist()
    assert (bins.transform(holey)[::7] == bins.n_bins_).all()
    assert MDLPDiscretizer().fit(np.full((10, 1), np.nan), np.arange(10) % 2).cut_points_[0].size == 0


def test_noise_and_constants_are_one_bin_and_labels_may_be_words():
    rng = np.random.default_rng(0)
    y = np.array(["b", "a"])[np.arange(200) % 2]
    X = np.column_stack([rng.normal(size=200), np.ones(200), np.arange(200) % 2])
    bins = MDLPDiscretizer().fit(X, y)
    assert bins.n_bins_.tolist() == [1, 1, 2]


def test_neighboring_floats_and_large_ones_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2)
    y = np.repeat([0, 1], 20)
    bins = MDLPDiscretizer().fit(np.repeat([low, high], 20)[:, None], y)
    assert np.array_equal(bins.transform(np.repeat([low, high], 20)[:, None])[:, 0], y)
    assert np.isfinite(mdlp_cuts(np.repeat([1e308, 1.5e308], 20), y)).all()


def test_the_names_of_the_classes_do_not_move_the_cuts():
    X, y = load_wine(return_X_y=True)
    for column in X.T[:5]:
        assert mdlp_cuts(column, y).tolist() == mdlp_cuts(column, 2 - y).tolist()
