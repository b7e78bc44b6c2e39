import numpy as np
import pytest

from fewer.kernels.relief import QUERIES, STEPS, Classes, ReliefRoom, ReliefTable, coarse_distances, relief_scores


def table_of(rows, nominal, others):
    plain = np.setdiff1d(np.arange(rows.shape[1]), others)
    return ReliefTable(
        rows=rows,
        steps=np.rint(STEPS * rows[:, plain].T).astype(np.int16),
        columns=np.ascontiguousarray(rows[:, others].T, dtype=np.float32),
        nominal=np.array(nominal, dtype=np.uint8),
        others=np.array(others),
        numbers=np.arange(len(rows)),
        places=np.arange(len(rows)),
        slack=np.float32(1e-3),
        groups=np.arange(len(rows)),
    )


def test_coarse_distances_are_mean_differences_within_a_step():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 13))
    rows[:, 12] = rng.integers(0, 3, 50)
    rows[5, 11] = np.nan
    table, room = table_of(rows, [0] * 12 + [1], [11, 12]), ReliefRoom.of(50, 13, 3)
    coarse_distances(0, QUERIES, room, table)
    gaps = np.abs(rows[:QUERIES, None] - rows)
    gaps[:, :, 12] = gaps[:, :, 12] > 0
    assert room.d == pytest.approx(np.nanmean(gaps, axis=2), abs=2 / STEPS)


def test_scores_of_four_rows_by_hand():
    """Two classes, one neighbor: row 0 is 0.1 from its hit and 0.4 from its miss, a missing cell is left out."""
    rows = np.array([[0.0, 0.0], [0.1, 1.0], [0.4, 0.0], [0.9, np.nan]])
    classes = Classes(np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4]), np.array([0.5, 0.5]), False)
    scores, nothing = np.zeros(2), np.empty((0, 0, 0), dtype=np.int32)
    relief_scores(0, 4, nothing, classes, table_of(rows, [0, 1], [1]), ReliefRoom.of(4, 2, 1), scores)
    misses = [0.4, 0.3, 0.4, 0.8], [0.0, 1.0, 0.0, 0.0]
    hits = [0.1, 0.1, 0.5, 0.5], [1.0, 1.0, 0.0, 0.0]
    assert scores == pytest.approx(np.sum(misses, axis=1) - np.sum(hits, axis=1))
