"""Class moments against long-hand sums, however the rows are cut."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from fewer.problem import Problem
from fewer.statistics import ClassMoments, Ranges, TargetMoments
from fewer.statistics._moments import shift_of


def table(task="classification", n_classes=3, weighted=False, offset=0.0):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 5)) * [1, 10, 0.1, 1, 1] + offset
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.where(rng.random(400) < 0.7, 0.0, np.round(X[:, 3] - offset))
    X[:, 4] = 7.0
    y = rng.integers(0, n_classes, 400) if task == "classification" else rng.normal(size=400) + 50
    weights = rng.integers(0, 4, 400).astype(float) if weighted else None
    return Problem.from_arrays(X, y, task=task, sample_weight=weights)


def cut_and_merged(problem, make, edges=(0, 7, 150, 151, 400)):
    parts = []
    for low, high in pairwise(edges):
        parts.append(make())
        middle = (low + high) // 2
        for a, b in ((low, middle), (middle, high)):
            if b > a:
                parts[-1].add(problem.take(np.arange(a, b)))
    for part in parts[1:]:
        parts[0].merge(part)
    return parts[0]


@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_class_moments_are_those_of_plain_sums(n_classes, weighted, offset):
    problem = table(n_classes=n_classes, weighted=weighted, offset=offset)
    moments = cut_and_merged(problem, lambda: ClassMoments(shift_of(problem.take(np.arange(50)))))
    w = problem.row_weights.astype(np.longdouble)
    for column in range(problem.n_features):
        for code in range(n_classes):
            rows = (problem.y == code) & ~np.isnan(problem.X[:, column])
            x, own = problem.X[rows, column].astype(np.longdouble), w[rows]
            assert moments.mass[column, code] == own.sum()
            assert moments.counts[column, code] == (own > 0).sum()
            if own.sum():
                mean = (own * x).sum() / own.sum()
                assert moments.mean[column, code] == pytest.approx(float(mean), rel=1e-12)
                deviation = float((own * (x - mean) ** 2).sum())
                assert moments.deviation[column, code] == pytest.approx(deviation, rel=1e-10, abs=1e-9)
    assert moments.constant.tolist() == problem.constant.tolist()


def test_joint_moments_with_a_quantity_give_the_correlation():
    problem = table("regression", weighted=True)
    moments = cut_and_merged(problem, lambda: TargetMoments(np.zeros(5), 50.0))
    for column in range(3):
        there = ~np.isnan(problem.X[:, column])
        spread = np.cov(problem.X[there, column], problem.y[there], aweights=problem.sample_weight[there])
        expected = spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1])
        assert moments.correlation[column] == pytest.approx(expected, rel=1e-10)
        assert moments.counts[column] == (there & (problem.sample_weight > 0)).sum()
    assert moments.correlation[4] == 0.0


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sparse_table_has_the_moments_of_a_dense_one(task, weighted):
    from fewer.io.sparse import SparseProblem

    problem = table(task, weighted=weighted)
    thin = SparseProblem.of(problem, sparse.csr_array(problem.X))
    for make in (
        lambda: ClassMoments(np.zeros((5, max(problem.n_classes, 1)))),
        lambda: TargetMoments(np.zeros(5), 3.0),
    ):
        dense, thinned = make(), make()
        dense.add(problem)
        thinned.add(thin)
        for name in ("mass", "counts", "constant", "sums"):
            np.testing.assert_allclose(getattr(thinned, name), getattr(dense, name), rtol=1e-12)
        if isinstance(dense, ClassMoments):
            np.testing.assert_allclose(thinned.deviation, dense.deviation, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_table_by_rows_has_the_moments_of_one_by_columns_to_the_bit(seed):
    from fewer.io.sparse import SparseProblem

    rng = np.random.default_rng(seed)
    n, p, n_classes = rng.integers(20, 60), 40_000 if seed == 0 else rng.integers(1, 30), rng.integers(2, 5)
    X = sparse.csr_array(np.where(rng.random((n, p)) < 0.3, rng.random((n, p)), 0.0))
    X.data = np.round(rng.normal(size=X.nnz), seed)
    full = np.column_stack([np.full(n, 2.0), rng.integers(1, 3, n), np.full(n, -1.0)])  # every row stores these
    X, p = sparse.hstack([X, sparse.csr_array(full)], format="csr"), p + 3
    like = Problem.from_arrays(np.zeros((n, 1)), np.arange(n) % n_classes, sample_weight=rng.uniform(0.5, 2.0, n))
    by_row, by_column = (ClassMoments(np.zeros((p, n_classes))) for _ in range(2))
    by_row.add(SparseProblem.of(like, X))
    by_column.add(SparseProblem.of(like, X.tocsc()))
    for name in ("mass", "sums", "deviation", "constant"):
        np.testing.assert_array_equal(getattr(by_row, name), getattr(by_column, name))
    low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    np.testing.assert_array_equal(by_row.ranges.low < 0, low < 0)
    np.testing.assert_array_equal(by_row.constant, low == high)


def test_ranges_merge():
    problem = table()
    ranges = cut_and_merged(problem, lambda: Ranges(5))
    np.testing.assert_array_equal(ranges.low, np.nanmin(problem.X, axis=0))
    np.testing.assert_array_equal(ranges.high, np.nanmax(problem.X, axis=0))
