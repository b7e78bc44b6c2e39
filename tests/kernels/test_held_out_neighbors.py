import numpy as np
import pytest

from fewer.kernels._held_out_neighbors import add_squares


def test_squares_add_up_within_each_fold():
    rng = np.random.default_rng(0)
    tests = rng.normal(size=(4, 10)).astype(np.float32)
    trains = rng.normal(size=(2, 4, 6)).astype(np.float32)
    base = np.zeros((10, 6), dtype=np.float32)
    add_squares(base, np.array([1, 3]), tests, trains, np.array([6, 5]), np.array([0, 4, 10]))
    for fold, rows, size in ((0, slice(0, 4), 6), (1, slice(4, 10), 5)):
        gaps = tests[[1, 3], rows][:, :, None] - trains[fold, [1, 3]][:, None, :size]
        assert base[rows, :size] == pytest.approx((gaps**2).sum(axis=0), rel=1e-5)
    assert (base[4:, 5] == 0).all()
