import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.kernels import gamma as kernels
from fewer.kernels.bundles import Exact, Units, changes_from_none

SHIFT = 8


def call_select(d, low, high, k):
    scratch = kernels.scratch_for(len(d))
    n_near = kernels.select(d, low, high, k, SHIFT, scratch)
    return scratch.near[:n_near]


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_select_gives_the_smallest_in_order_and_all_ties_of_the_last(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    n = data.draw(st.integers(2, 120))
    distance = {
        "tied": rng.integers(0, 6, n),
        "spread": (2.0**40 * rng.exponential(size=n)).astype(np.int64),
        "heavy": (2.0**20 * np.exp(np.clip(8 * rng.normal(size=n), -20, 20))).astype(np.int64),
    }[data.draw(st.sampled_from(["tied", "spread", "heavy"]))]
    d = (distance << SHIFT) + 2 * np.arange(n) + rng.integers(0, 2, n)
    d[data.draw(st.integers(0, n - 1))] = kernels.FAR_KEY
    k = data.draw(st.integers(1, n - 1))
    low, high = kernels.span(d)
    if data.draw(st.booleans()):
        some = rng.permutation(np.flatnonzero(d < kernels.FAR_KEY))[:k]
        low, high = kernels.reach(d, k, d[some], SHIFT)
        assert (low, high) == (d[some].min(), d[some].max())
    near = call_select(d, low, high, k)
    truth = np.sort(d)
    assert np.array_equal(near, truth[: len(near)])
    last = truth[k - 1] >> SHIFT
    assert (near >> SHIFT == last).sum() == (d >> SHIFT == last).sum()


def exact_of(columns):
    p, n = columns.shape
    nothing, fold = np.zeros((p, n), np.uint8), np.zeros(n, np.int64)
    none = np.zeros(p, np.uint8)
    return Exact(columns, nothing, none, none, np.ones((1, p)), np.zeros((1, p)), fold, 2.0**-30)


@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_any_range_of_subsets_gives_the_sums_of_its_masks(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    q, n, k = 9, 40, 5
    first = data.draw(st.integers(0, 500))
    last = data.draw(st.integers(first + 1, 512))
    columns = rng.integers(0, 5, (q + 1, n)) / 4.0 if data.draw(st.booleans()) else rng.uniform(size=(q + 1, n))
    groups, values = rng.integers(0, 30, n), rng.integers(0, 3, n).astype(float)
    targets = kernels.Targets(
        SHIFT, groups, values, data.draw(st.booleans()), data.draw(st.booleans()), rng.uniform(size=n)
    )
    units = rng.permutation(q)
    base = np.zeros(q + 1)
    base[q] = 1.0
    by_range, by_mask = np.zeros((2, last - first, 2, k))
    packed = Units(units, np.arange(q + 1))
    kernels.sum_gray(first, last, base, packed, rng.permutation(q), exact_of(columns), targets, k, by_range)
    numbers = np.arange(first, last)
    chosen = (numbers ^ numbers >> 1)[:, None] >> np.arange(q) & 1
    masks = np.ones((last - first, q + 1))
    masks[:, units] = chosen
    kernels.sum_changes(changes_from_none(masks), exact_of(columns), targets, k, by_mask)
    assert np.array_equal(by_range, by_mask)


def test_sums_are_those_of_sorted_distances():
    rng = np.random.default_rng(0)
    columns, values = rng.uniform(size=(3, 25)), rng.normal(size=25)
    targets = kernels.Targets(SHIFT, np.arange(25), values, False, False, np.ones(25))
    sums = np.zeros((1, 2, 4))
    kernels.sum_changes(changes_from_none(np.array([[1.0, 0.0, 1.0]])), exact_of(columns), targets, 4, sums)
    d = ((columns[::2, :, None] - columns[::2, None, :]) ** 2).sum(axis=0)
    near = np.argsort(d, axis=1)[:, 1:5]
    assert sums[0, 0] * 2.0**-30 == pytest.approx(np.take_along_axis(d, near, axis=1).sum(axis=0), abs=1e-7)
    assert sums[0, 1] == pytest.approx(((values[near] - values[:, None]) ** 2).sum(axis=0))


def test_rows_of_weight_zero_ask_nothing():
    rng = np.random.default_rng(0)
    n, values = 20, rng.normal(size=20)
    exact = exact_of(rng.uniform(size=(2, n)))
    sums = np.zeros((2, 1, 2, 3))
    for place, weights in enumerate((np.ones(n), np.r_[np.ones(10), np.zeros(10)])):
        targets = kernels.Targets(SHIFT, np.arange(n), values, False, True, weights)
        kernels.sum_changes(changes_from_none(np.ones((1, 2))), exact, targets, 3, sums[place])
    near, squares = np.empty((n, 3), np.int64), np.empty((n, 3))
    kernels.list_near(np.ones(2), exact, targets, 3, near, squares)
    assert np.array_equal(sums[0, 0, 0], squares.sum(axis=0))
    assert np.array_equal(sums[1, 0, 0], squares[:10].sum(axis=0))
