import numpy as np
import pytest
from sklearn.neighbors import KDTree

from fewer.kernels.nearest import count_around, line_counts, nearest_on_line, plane_counts, split_by_class


@pytest.mark.parametrize("k", [1, 3, 9])
def test_nearest_on_a_line_is_the_k_th_smallest_difference(k):
    values = np.sort(np.random.default_rng(0).normal(size=40).round(1))
    out = np.empty(40)
    nearest_on_line(out, values, k)
    gaps = np.sort(np.abs(values[:, None] - values), axis=1)
    assert (out == gaps[:, k]).all()


def test_counts_on_a_line_are_those_of_a_tree():
    rng = np.random.default_rng(1)
    values, radii = np.sort(rng.normal(size=200)), rng.random(200)
    counts = np.empty(200, dtype=np.int64)
    line_counts(counts, values, radii)
    assert (counts == KDTree(values[:, None]).query_radius(values[:, None], radii, count_only=True)).all()
    assert [count_around(values, i, radii[i], False) for i in range(200)] == counts.tolist()


def test_rows_are_split_by_class_in_their_order():
    places = np.empty(5, dtype=np.int64)
    split_by_class(places, np.array([1, 0, 1, 0, 0]), np.array([0, 3, 5]))
    assert places.tolist() == [1, 3, 4, 0, 2]


@pytest.mark.parametrize("size", [8, 37, 500])
@pytest.mark.parametrize("k", [1, 4])
def test_counts_in_the_plane_are_those_of_all_pairs(size, k):
    rng = np.random.default_rng(2)
    x = np.sort(rng.normal(size=300))
    y = x**2 + 0.1 * rng.normal(size=300)
    gaps = np.maximum(np.abs(x[:, None] - x), np.abs(y[:, None] - y))
    radii = np.nextafter(np.sort(gaps, axis=1)[:, k], 0)
    near_x, near_y = np.empty(300, dtype=np.int64), np.empty(300, dtype=np.int64)
    plane_counts(near_x, near_y, x, np.sort(y), np.argsort(y), k, size)
    assert sorted(near_x) == sorted((np.abs(x[:, None] - x) <= radii[:, None]).sum(axis=1))
    assert sorted(near_y) == sorted((np.abs(y[:, None] - y) <= radii[:, None]).sum(axis=1))
