import numpy as np
import pytest

from fewer.kernels import statistics as kernels

RNG = np.random.default_rng(0)
X = np.asfortranarray(RNG.normal(size=(60, 3)))
X[::7, 1] = np.nan
Y = np.arange(60) % 3
WEIGHTS = RNG.random(60) + 0.5


def class_sums():
    shift = RNG.normal(size=(3, 3))
    parts = [(f, c, (c == Y) & ~np.isnan(X[:, f])) for f in range(3) for c in range(3)]
    mass, first, second = np.zeros((3, 3, 3))
    for f, c, rows in parts:
        away, own = X[rows, f] - shift[f, c], WEIGHTS[rows]
        mass[f, c], first[f, c], second[f, c] = own.sum(), own @ away, own @ away**2
    return shift, (mass, first, second)


def test_class_moments_both_ways():
    shift, truth = class_sums()
    shares = np.ascontiguousarray((np.arange(3)[:, None] == Y) * WEIGHTS)
    for kernel, how in (
        (kernels.add_class_moments, (shares,)),
        (kernels.add_class_moments_by_code, (Y, WEIGHTS)),
    ):
        sums = np.zeros((3, 3, 3))
        kernel(X[:25], *(part[..., :25] for part in how), shift, *sums)
        kernel(X[25:], *(part[..., 25:] for part in how), shift, *sums)
        assert sums == pytest.approx(np.array(truth))


def test_target_moments_over_present_cells():
    y, sums = RNG.normal(size=60), np.zeros((3, 6))
    kernels.add_target_moments(X, y, WEIGHTS, np.full(3, 0.3), 0.1, sums)
    for f in range(3):
        rows = ~np.isnan(X[:, f])
        a, b, w = X[rows, f] - 0.3, y[rows] - 0.1, WEIGHTS[rows]
        assert sums[f] == pytest.approx([w.sum(), w @ a, w @ a**2, w @ b, w @ b**2, w @ (a * b)])


def test_levels_are_counted_up_to_a_limit():
    table = np.asfortranarray([[np.nan, 1.0, 5.0], [2.0, 1.0, 6.0], [2.0, 1.0, 7.0], [np.nan, 2.0, 5.0]])
    values, n_values = np.zeros((3, 2)), np.zeros(3, dtype=np.int64)
    kernels.add_levels(table, 2, values, n_values)
    assert n_values.tolist() == [1, 2, 3]
    assert values[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("n_edges", [3, 40])
def test_codes_count_the_edges_that_a_cell_reaches(n_edges):
    edges = np.tile(np.linspace(-1, 1, n_edges), (3, 1))
    codes = np.zeros((2, 60), dtype=np.uint16)
    levels = np.full(3, n_edges + 2)
    kernels.code_columns(X, np.array([1, 2]), edges, np.full(3, n_edges), np.zeros(3, bool), levels, codes)
    for place, f in enumerate((1, 2)):
        truth = np.where(np.isnan(X[:, f]), n_edges + 1, np.searchsorted(edges[0], X[:, f], side="right"))
        assert codes[place].tolist() == truth.tolist()


def test_counts_with_one_code_and_of_pairs():
    codes = RNG.integers(0, 3, size=(3, 60)).astype(np.uint16)
    levels, other = np.full(3, 3), RNG.integers(0, 2, 60)
    counts = np.zeros(18)
    kernels.count_with(codes, levels, np.array([0, 6, 12]), other, 2, WEIGHTS, counts)
    for f in range(3):
        truth = np.zeros((3, 2))
        np.add.at(truth, (codes[f], other), WEIGHTS)
        assert counts[6 * f : 6 * f + 6].reshape(3, 2) == pytest.approx(truth)
    pairs = np.zeros(54)
    kernels.count_pairs(codes, levels, np.array([0, 18, 36]), other, 2, WEIGHTS, pairs)
    truth = np.zeros((3, 2, 3))
    np.add.at(truth, (codes[2], other, codes[1]), WEIGHTS)
    assert pairs[36:].reshape(3, 2, 3) == pytest.approx(truth)


def test_mixed_row_numbers_do_not_depend_on_the_chunk():
    keys = np.arange(1000, dtype=np.uint64)
    whole = kernels.mix(keys, np.uint64(5))
    assert np.array_equal(whole[600:], kernels.mix(keys[600:], np.uint64(5)))
    assert len(np.unique(whole)) == 1000
    assert np.mean(whole / 2.0**64) == pytest.approx(0.5, abs=0.05)


def test_gathered_columns_are_shifted_and_their_gaps_filled():
    order, out = RNG.permutation(60), np.empty((60, 2), order="F")
    about, gaps = np.zeros((2, 4)), np.zeros(2, dtype=np.int64)
    about[:, 2], about[:, 3] = np.inf, -np.inf
    kernels.gather_shifted(X, order, np.array([1, 0]), np.array([0.5, -0.5]), out, about, gaps)
    assert out[:, 0] == pytest.approx(np.nan_to_num(X[order, 1] - 0.5))
    assert gaps.tolist() == [9, 0]
    assert about[1] == pytest.approx([60, (X[:, 0] + 0.5).sum(), X[:, 0].min(), X[:, 0].max()])
