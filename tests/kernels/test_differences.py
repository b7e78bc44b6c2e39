import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import njit

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.kernels import distances as kernels
from fewer.kernels.differences import CoarseRows, exact_rows, quantum_for
from fewer.problem import Problem


def layout_of(X, fold, scaling="training", kinds=None):
    problem = Problem.from_arrays(X, np.arange(len(X)) % 2, kinds=kinds)
    return exact_rows(problem, np.asarray(fold, dtype=np.int64), scaling)


def distances(layout, mask):
    n = layout.columns.shape[1]
    out = np.empty((n, n))
    for i in range(n):
        add_masks(out[i], i, np.asarray(mask, dtype=float), layout)
    return out


@njit
def add_masks(d, i, weights, exact):
    kernels.add_masks(d, i, weights, exact)  # has no entry for Python


@njit
def change_column(d, i, f, old, new, exact):
    kernels.change_column(d, i, f, old, new, exact)  # has no entry for Python


def test_ranges_come_from_the_casebase_alone():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    d = distances(layout_of(X, [0, 0, 1, 1]), [1.0])
    # Rows of fold 0 see a training rows with 2 and 10, rows of fold 1 one with 0 and 1.
    np.testing.assert_allclose(d[0, 2:], [(2 / 8) ** 2, (10 / 8) ** 2], atol=1e-10)
    np.testing.assert_allclose(d[2, :2], [4.0, 1.0], atol=1e-10)
    assert (d[0, :2] == kernels.FAR).all()
    together = distances(layout_of(X, [0, 0, 1, 1], "global"), [1.0])
    np.testing.assert_allclose(together[0, 2:], [0.04, 1.0], atol=1e-10)


def test_no_scaling_keeps_the_columns_proportions():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 1.0]])
    d = distances(layout_of(X, [0, 1, 2], "none"), [1.0, 1.0])
    assert d[0, 1] / d[0, 2] == pytest.approx(25 / 37)


def test_what_is_far_away_counts_as_eight_ranges():
    d = distances(layout_of(np.array([[0.0], [1.0], [1e9]]), [0, 0, 1]), [1.0])
    assert (d[2, :2] == 64.0).all()


@pytest.mark.parametrize("far", [1.0, 1e5, 1e99])
@pytest.mark.parametrize("narrow", [1e-320, 1e-163, 1e-155, 1e-150, 1e-120, 1e-30])
def test_a_cell_far_away_leaves_finite_distances(narrow, far):
    """One cell is beyond all reach of the others, so that one fold has a range that has no reciprocal square."""
    X = np.array([[0.0], [narrow], [3.0 * narrow], [far], [np.nan]])
    layout = layout_of(X, np.arange(5))
    coarse = CoarseRows.of(layout, np.array([0, 1, 0, 1, 0]), 2)
    for reach in (1e-12, 64.0):
        unit = coarse.unit_for(reach)
        assert np.isfinite(coarse.errors(unit)).all()
        assert np.isfinite(coarse.arrays(unit).factor).all()
        assert np.isfinite(coarse.arrays(unit).gap).all()
    d = distances(layout, [1.0])
    assert np.isfinite(d).all()
    assert (d[3, :3] == 64.0).all()
    # A missing cell is no farther from the others than half of their range, squared and doubled.
    assert (layout.gap <= 0.5).all()


def test_holes_are_as_far_as_cells_are_on_average():
    X = np.array([[0.0], [1.0], [3.0], [np.nan]])
    d = distances(layout_of(X, [0, 1, 2, 3]), [1.0])
    cells = X[:3, 0] / 3.0
    average = ((cells[:, None] - cells[None, :]) ** 2).mean()
    np.testing.assert_allclose(d[3, :3], average, atol=1e-10)
    levels = np.array([[0.0], [0.0], [1.0], [np.nan]])
    d = distances(layout_of(levels, [0, 1, 2, 3], kinds=["nominal"]), [1.0])
    np.testing.assert_allclose(d[3, :3], 4 / 9, atol=1e-10)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_sums_do_not_depend_on_the_path(seed):
    """Change weights in any order, back and forth: the same bits as summing afresh."""
    rng = np.random.default_rng(seed)
    n, p = 9, 6
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)
    X[rng.random((n, p)) < 0.1] = np.nan
    layout = layout_of(X, np.arange(n) % 3)
    mask = np.zeros(p)
    running = distances(layout, mask)
    for _ in range(40):
        new = mask.copy()
        members = rng.choice(p, 2, replace=False)
        new[members] = rng.integers(0, 5, 2) / 4.0
        for i in range(n):
            for f in members:
                change_column(running[i], i, f, mask[f], new[f], layout)
        mask = new
    np.testing.assert_array_equal(running, distances(layout, mask))
    one_by_one = distances(layout, np.zeros(p))
    for f in range(p):
        for i, j in np.argwhere(one_by_one < kernels.FAR):
            k = layout.fold[i]
            one_by_one[i, j] += kernels.term(
                layout.columns[f, i], layout.missing[f, i], layout.columns[f, j], layout.missing[f, j],
                layout.nominal[f],
                layout.scale[k, f], layout.gap[k, f], mask[f], layout.quantum,
            )  # fmt: skip
    np.testing.assert_array_equal(running, one_by_one)


@pytest.mark.parametrize("n_features", [1, 30, 1024, 5000, 10**6])
def test_the_largest_sum_is_exact(n_features):
    assert n_features * 64.0 / quantum_for(n_features) <= 2.0**52


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["training", "global", "none"]))
def test_coarse_distances_stay_within_their_error(seed, scaling):
    """The difference of two coarse distances is as far from the exact one as the bound says, and no farther."""
    rng = np.random.default_rng(seed)
    n, p = 12, 5
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 6, p) + 10.0 ** rng.integers(-6, 9)
    X[:, 4] = rng.integers(0, 3, n)
    if rng.random() < 0.5:
        X[rng.random((n, p)) < 0.1] = np.nan
    if rng.random() < 0.3:
        X[0, 0] *= 1e5
    kinds = ["numeric"] * 4 + ["nominal"]
    try:
        layout = layout_of(X, np.arange(n) % 4, scaling, kinds)
    except InputError:
        assume(scaling != "none")  # a column that drowns another is refused where nothing is scaled
        raise
    codes = rng.integers(0, 2, n)
    coarse = CoarseRows.of(layout, codes, 2)
    mask = rng.integers(0, 5, p) / 4.0
    unit = coarse.unit_for(float(coarse.largest.sum()))
    rows = coarse.arrays(unit)
    assert rows.starts.tolist() == [0, int((codes == 0).sum()), n]
    exact, part = distances(layout, mask)[np.ix_(coarse.order, coarse.order)], np.empty(n, np.int32)
    rough, steep = coarse.errors(unit)[mask > 0].sum(axis=0)
    used = np.count_nonzero(mask)
    for i in range(n):
        d = np.empty(n, np.int32)
        kernels.coarse_start(d, rows.fold[i], rows.fold)
        for f in np.flatnonzero(mask):
            kernels.add_column(d, part, i, f, np.float32(mask[f]), rows)
            with_f = d.copy()
            kernels.add_column(d, part, i, f, np.float32(0.75), rows)
            kernels.add_column(d, part, i, f, np.float32(-0.75), rows)
            np.testing.assert_array_equal(d, with_f)  # what is taken off again leaves nothing
        usable = exact[i] < kernels.FAR
        assert ((d >= kernels.FAR_32) == ~usable).all()
        near, true = d[usable].astype(float), exact[i][usable] / unit
        off = np.abs((near[:, None] - near[None, :]) - (true[:, None] - true[None, :]))
        far = np.maximum(near[:, None], near[None, :]) + rough
        fine = 2.0 * (2.0**-22 * np.sqrt(steep * far) + 3.0 * 2.0**-46 * steep + 2.0**-22 * far + used) + used
        assert (off <= np.minimum(rough, fine)).all()


def test_a_range_that_nearly_vanishes_in_a_casebase_overflows_nothing():
    X = np.zeros((8, 2))
    X[:, 0] = [0.0, 1e-30, 0.0, 1e-30, 0.0, 1e-30, 1e9, -1e9]
    X[:, 1] = np.arange(8)
    codes = np.arange(8) % 2
    layout = layout_of(X, np.array([0, 1, 0, 1, 0, 1, 2, 2]), "training", ["numeric"] * 2)
    coarse = CoarseRows.of(layout, codes, 2)
    factor = coarse.arrays(coarse.unit_for(float(coarse.largest.sum())))[2]
    assert np.isfinite(factor).all()


def test_constant_and_empty_columns_do_no_harm():
    X = np.column_stack([np.full(8, 3.0), np.full(8, np.nan), np.arange(8.0)])
    problem = Problem.from_arrays(X, [0, 0, 0, 0, 1, 1, 1, 1])
    scorer = KNN(cv="loo").bind(problem, np.random.default_rng(0), Resources())
    scores = scorer.score(np.array([[1, 1, 1], [0, 0, 1]], dtype=bool))
    assert scores[0] == scores[1]
