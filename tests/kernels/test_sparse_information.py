import numpy as np
import pytest
from scipy import sparse
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from fewer.kernels.information import Other, Stored, information_with_sparse


def test_information_of_stored_cells_is_that_of_the_whole_column():
    rng = np.random.default_rng(0)
    table = rng.integers(1, 4, size=(200, 3)) * (rng.random((200, 3)) < 0.3)
    y = (table[:, 0] + rng.integers(0, 2, 200) > 1).astype(np.int64)
    cells = sparse.csc_array(table)
    stored = Stored(
        cells.indptr.astype(np.int64),
        cells.indices.astype(np.int64),
        cells.data.astype(np.uint16),
        np.zeros(3, dtype=np.int64),
        np.full(3, 4, dtype=np.int64),
    )
    weights = np.ones(200)
    told = Other(y, np.bincount(y, weights), weights)
    out, own = np.zeros(3), np.zeros(3)
    information_with_sparse(0, 3, stored, told, out, own)
    assert out == pytest.approx([mutual_info_score(table[:, f], y) for f in range(3)], abs=1e-12)
    assert own == pytest.approx([entropy(np.bincount(table[:, f])) for f in range(3)])
