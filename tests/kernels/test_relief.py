import numpy as np
import pytest

from fewer.kernels.relief import QUERIES, STEPS, ReliefTable, coarse_distances, scratch_for


def test_coarse_distances_are_mean_differences_within_a_step():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 4))
    rows[:, 3] = rng.integers(0, 3, 50)
    rows[5, 2] = np.nan
    others = np.array([2, 3])
    table = ReliefTable(
        rows,
        np.rint(STEPS * rows[:, :2].T).astype(np.int16),
        np.ascontiguousarray(rows[:, 2:].T, dtype=np.float32),
        np.array([0, 0, 0, 1], dtype=np.uint8),
        others,
        np.arange(50),
        np.float32(1e-3),
        np.arange(50),
    )
    scratch = scratch_for(50, 3)
    coarse_distances(scratch.d[:QUERIES], 0, scratch, table)
    gaps = np.abs(rows[:QUERIES, None] - rows)
    gaps[:, :, 3] = gaps[:, :, 3] > 0
    assert scratch.d[:QUERIES] == pytest.approx(np.nanmean(gaps, axis=2), abs=2 / STEPS)
