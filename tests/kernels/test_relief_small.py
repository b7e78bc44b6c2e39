import numpy as np
import pytest

from fewer.kernels.relief import small_scores


def test_scores_of_four_rows_by_hand():
    """Two classes, one neighbor: row 0 is 0.1 from its hit and 0.4 from its miss, a missing cell is left out."""
    rows = np.array([[0.0, 0.0], [0.1, 1.0], [0.4, 0.0], [0.9, np.nan]])
    classes = np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4]), np.array([0.5, 0.5])
    scores, columns = np.zeros(2), np.ascontiguousarray(rows.T)
    small_scores(0, 4, classes, (columns, rows, np.array([0, 1], dtype=np.uint8), 1, np.arange(4)), 1, scores)
    misses = [0.4, 0.3, 0.4, 0.8], [0.0, 1.0, 0.0, 0.0]
    hits = [0.1, 0.1, 0.5, 0.5], [1.0, 1.0, 0.0, 0.0]
    assert scores == pytest.approx(np.sum(misses, axis=1) - np.sum(hits, axis=1))
