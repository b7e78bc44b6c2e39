import numpy as np
import pytest

from fewer.kernels.relief import (
    NO_DISTANCE,
    QUERIES,
    STEPS,
    Classes,
    Mixed,
    ReliefRoom,
    ReliefTable,
    bound_of_nearest,
    coarse_distances,
    list_nearest,
    relief_scores,
)


def table_of(rows, nominal, others):
    plain = np.setdiff1d(np.arange(rows.shape[1]), others)
    kinds = np.array(nominal, dtype=np.uint8)
    table = ReliefTable(
        rows=rows,
        steps=np.rint(STEPS * rows[:, plain].T).astype(np.int16),
        nominal=kinds,
        numbers=np.arange(len(rows)),
        places=np.arange(len(rows)),
        slack=np.float32(1e-3),
        groups=np.arange(len(rows)),
    )
    return table, Mixed(np.ascontiguousarray(rows[:, others].T, dtype=np.float32), kinds[others])


def test_coarse_distances_are_mean_differences_within_a_step():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 13))
    rows[:, 12] = rng.integers(0, 3, 50)
    rows[5, 11] = np.nan
    table, mixed = table_of(rows, [0] * 12 + [1], [11, 12])
    room = ReliefRoom.of(50, 3)
    coarse_distances(0, QUERIES, room, table, mixed)
    gaps = np.abs(rows[:QUERIES, None] - rows)
    gaps[:, :, 12] = gaps[:, :, 12] > 0
    assert room.d == pytest.approx(np.nanmean(gaps, axis=2), abs=2 / STEPS)


def test_scores_of_four_rows_by_hand():
    """Two classes, one neighbor: row 0 is 0.1 from its hit and 0.4 from its miss, a missing cell is left out."""
    rows = np.array([[0.0, 0.0], [0.1, 1.0], [0.4, 0.0], [0.9, np.nan]])
    classes = Classes(np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4]), np.array([0.5, 0.5]), False)
    scores, lists = np.zeros(2), np.empty((4, 2, 1), dtype=np.int32)
    table, mixed = table_of(rows, [0, 1], [1])
    list_nearest(0, 4, classes, table, mixed, ReliefRoom.of(4, 1), lists)
    relief_scores(0, 4, lists, classes, table, mixed, np.empty(2), scores)
    misses = [0.4, 0.3, 0.4, 0.8], [0.0, 1.0, 0.0, 0.0]
    hits = [0.1, 0.1, 0.5, 0.5], [1.0, 1.0, 0.0, 0.0]
    assert scores == pytest.approx(np.sum(misses, axis=1) - np.sum(hits, axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_leaves_the_k_nearest_and_few_others(seed):
    """Ties, rows out of reach and short spans included; fewer than k lanes in reach leave all rows."""
    rng = np.random.default_rng(seed)
    n, k, n_lanes = int(rng.integers(1, 600)), int(rng.integers(1, 20)), int(rng.integers(1, 90))
    d = rng.random((2, n), dtype=np.float32)
    d[rng.random(d.shape) < rng.choice([0.0, 0.9])] = NO_DISTANCE
    d = np.where(d < NO_DISTANCE, np.round(d, int(rng.choice([1, 7]))), NO_DISTANCE)
    low = int(rng.integers(0, n))
    minima = np.empty(n_lanes, np.float32)
    bound = bound_of_nearest(d, 1, low, n, minima, n_lanes, k)
    lanes = np.sort([d[1, low + lane : n : n_lanes].min(initial=NO_DISTANCE) for lane in range(n_lanes)])
    if k > n_lanes or lanes[k - 1] >= NO_DISTANCE:
        assert bound == 2.0
    else:
        assert bound >= lanes[k - 1] >= np.sort(d[1, low:])[k - 1]
        assert (lanes <= bound).sum() <= max(k + 1, (lanes <= lanes[k - 1] + 1 / STEPS).sum())
