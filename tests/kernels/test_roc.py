import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.kernels import roc as kernels
from fewer.kernels.naive_bayes import Columns
from fewer.roc import RocCurve, roc_hull

SCORES = st.lists(st.tuples(st.integers(-(2**40), 2**40) | st.integers(-3, 3), st.booleans()), min_size=1, max_size=60)


def sorted_keys(scores, positive):
    keys, spare, counts = np.empty_like(scores), np.empty_like(scores), np.empty(kernels.N_BUCKETS, np.int64)
    highest = kernels.pack(scores, positive, keys)
    kernels.sort_keys(keys, spare, counts, 1)
    return keys, highest


@settings(deadline=None, max_examples=60)
@given(SCORES)
def test_sorting_and_pairs(rows):
    scores, positive = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    keys, highest = sorted_keys(scores, positive)
    np.testing.assert_array_equal(highest - (keys >> 1), np.sort(scores)[::-1])
    gaps = scores[positive == 1][:, None] - scores[positive == 0]
    assert kernels.pairs_won(keys) == int(np.sum(1 + np.sign(gaps)))


@settings(deadline=None, max_examples=60)
@given(st.lists(SCORES.filter(lambda rows: len({y for _, y in rows}) == 2), min_size=1, max_size=3), st.integers(0, 9))
def test_points_outside_a_hull(scorings, price):
    for rows in scorings:
        scores, positive = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
        curve = RocCurve.of(positive, scores.astype(float))
        own = curve.hull()
        fence = roc_hull([0.3], [0.5])
        n, m = curve.n_negative, curve.n_positive
        prices = np.array([price / 10])
        owner, fp, tp, threshold = kernels.outside_points(scores[None], positive, prices, fence.fpr * n, fence.tpr * m)
        inside = (own.fpr > 0) | (own.tpr > 0)
        inside &= (own.fpr < 1) | (own.tpr < 1)
        above = {
            (round(x * n), round(y * m), curve.thresholds[point]): (y - fence.tpr_at(x)) * m - prices[0]
            for x, y, point in zip(own.fpr[inside], own.tpr[inside], own.points[inside], strict=True)
        }
        kept = list(zip(fp, tp, threshold, strict=True))
        assert kept == [point for point in above if point in kept]
        # A point on the fence itself is on either side of it, by the last bit.
        assert {point for point in above if above[point] > 1e-9} <= set(kept)
        assert set(kept) <= {point for point in above if above[point] >= -1e-9}
        assert not owner.any()


def test_many_points_outgrow_the_first_space():
    n = 4000
    scores = np.arange(n, dtype=np.int64)[None]
    rng = np.random.default_rng(0)
    positive = (rng.random(n) < (np.arange(n) / n) ** 0.8).astype(np.int64)
    flat = np.array([0.0, (positive == 0).sum()]), np.array([0.0, positive.sum()])
    found = kernels.outside_points(np.repeat(scores, 9, axis=0), positive, np.zeros(9), *flat)
    assert len(found[0]) > 64
    assert np.bincount(found[0]).tolist() == [len(found[0]) // 9] * 9


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), price=st.integers(0, 3), sign=st.sampled_from([1, -1]))
def test_cells_give_what_rows_give(seed, price, sign):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    positive = rng.integers(2, size=n)
    positive[:2] = 0, 1
    base = rng.integers(-4, 4, size=n) * int(rng.integers(1, 2**30))
    levels = np.array([3, 5])
    codes = np.stack([rng.integers(size, size=n) for size in levels]).astype(np.int32)
    tables = rng.integers(-3, 3, size=(8, 1)) * int(rng.integers(1, 2**30))
    start = np.array([[0, 3]])
    features, signs = np.array([1, 0, 1]), np.array([sign, 1, -sign])
    prices = np.full(3, price / 4)
    fence = np.array([0.0, (positive == 0).sum()]), np.array([0.0, positive.sum()])
    order, ends, values, keys, spare = (np.empty(n, dtype=np.int64) for _ in range(5))
    counts = np.empty(kernels.N_BUCKETS, dtype=np.int64)
    n_groups = kernels.group_equal(base, order, ends, values, keys, spare, counts)
    ends, values = ends[:n_groups], values[:n_groups]
    np.testing.assert_array_equal(np.repeat(values, np.diff(ends, prepend=0)), base[order])
    np.testing.assert_array_equal(values, np.unique(base)[::-1])
    scores = np.stack([base + s * tables[start[0, f] + codes[f], 0] for f, s in zip(features, signs, strict=True)])
    by_rows = kernels.outside_points(scores, positive, prices, *fence)
    columns = Columns(codes, tables, start, np.array([0, n]), np.zeros((n, 1), dtype=np.int64))
    by_cells = kernels.outside_one_more(
        kernels.Groups(order, ends, values), features, signs, levels, columns, positive, prices, *fence
    )
    for ours, truth in zip(by_cells, by_rows, strict=True):
        np.testing.assert_array_equal(ours, truth)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30))
def test_the_chain_is_the_hull(points):
    table = np.array([(0, 0), *points, (12, 12)], dtype=float)
    table = table[np.lexsort([table[:, 1], table[:, 0]])]
    chain = kernels.upper_chain(table[:, 0], table[:, 1])
    hull = roc_hull(table[:, 0] / 12, table[:, 1] / 12)
    np.testing.assert_allclose(table[chain] / 12, np.column_stack([hull.fpr, hull.tpr]))
