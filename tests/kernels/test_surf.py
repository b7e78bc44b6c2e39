import numpy as np
import pytest

from fewer.kernels.relief import Whole, mixed_distance_sum, near_rows, radius_of, whole_distances


def test_whole_distances_are_sums_of_differences():
    steps = np.random.default_rng(0).integers(0, 1 << 20, (7, 50)).astype(np.int32)
    d = np.empty(50, dtype=np.int32)
    whole_distances(Whole(steps, 1.0, 0.0, d), 3)
    assert (d == np.abs(steps.astype(np.int64) - steps[:, [3]].astype(np.int64)).sum(axis=0)).all()


@pytest.mark.parametrize("bits", [3, 8, 24])
@pytest.mark.parametrize("radius", [0.25, np.nan])
def test_coarse_steps_leave_the_same_rows_near(bits, radius):
    rows = np.random.default_rng(1).random((80, 5))
    steps = np.rint(rows.T * 2.0**bits).astype(np.int32)
    slack = 2 * np.abs(steps.T - rows * 2.0**bits).sum(axis=1).max()
    near, d, whole = np.empty(80, dtype=np.int64), np.empty(80), Whole(steps, 2.0**-bits, slack, np.empty(80, np.int32))
    for i in range(80):
        size = near_rows(near, i, radius, d, rows, np.arange(80), whole)
        exact = np.abs(rows - rows[i]).mean(axis=1)
        limit = radius if radius == radius else radius_of(exact, i, np.arange(80))
        assert near[:size].tolist() == [j for j in range(80) if j != i and exact[j] < limit]


def test_known_distances_are_summed_and_counted():
    rows = np.array([[0.0, 1.0], [np.nan, 0.5], [0.5, np.nan]])
    total, count = mixed_distance_sum(0, 3, rows, np.zeros(2, dtype=np.uint8))
    assert (total, count) == pytest.approx((2.0, 7.0))  # rows 1 and 2 share no cell
