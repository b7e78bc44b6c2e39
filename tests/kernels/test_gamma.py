import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.kernels import _gamma as kernels


def call_select(d, low, high, k):
    n = len(d)
    near, near_d, found = np.empty(n, np.int64), np.empty(n), np.empty(n + 1, np.int64)
    bucket, start = np.empty(n, np.int64), np.empty(kernels.N_BUCKETS, np.int64)
    n_near = kernels.select(d, low, high, k, near, near_d, found, bucket, start)
    return near[:n_near], near_d[:n_near]


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_select_gives_the_nearest_in_order_and_all_ties_of_the_last(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    n = data.draw(st.integers(2, 80))
    d = rng.integers(0, 6, n) / 4.0 if data.draw(st.booleans()) else rng.exponential(size=n)
    d[data.draw(st.integers(0, n - 1))] = kernels.FAR
    k = data.draw(st.integers(1, n - 1))
    truth = np.argsort(d, kind="stable")
    low, high = kernels.span(d)
    if data.draw(st.booleans()):
        some = rng.permutation(np.flatnonzero(d < kernels.FAR))[:k]
        low, high = kernels.reach(d, k, some)
    near, near_d = call_select(d, low, high, k)
    assert np.array_equal(near[:k], truth[:k])
    assert np.array_equal(near_d, d[near])
    last = d[truth[k - 1]]
    assert (near_d == last).sum() == (d == last).sum()


def test_rows_of_weight_zero_ask_nothing():
    rng = np.random.default_rng(0)
    columns, n = rng.normal(size=(2, 20)), 20
    cells = (columns, np.zeros((2, n), np.uint8), np.zeros(2, np.uint8), np.ones(2), np.zeros(2), 2.0**-30)
    sums = np.zeros((2, 1, 2, 3))
    for place, weights in enumerate((np.ones(n), np.r_[np.ones(10), np.zeros(10)])):
        kernels.sum_masks(
            np.ones((1, 2)), *cells, np.arange(n), rng.normal(size=n), False, True, weights, 3, sums[place]
        )
    near, squares = np.empty((n, 3), np.int64), np.empty((n, 3))
    kernels.list_near(np.ones(2), *cells, np.arange(n), 3, near, squares)
    assert np.allclose(sums[0, 0, 0], squares.sum(axis=0))
    assert np.allclose(sums[1, 0, 0], squares[:10].sum(axis=0))
