import numpy as np

from fewer.roc._choice import row_digests
from fewer.roc._readers import CellReader, WholeRows

ROWS = np.array([[1.0, 5.0, 2.0], [1.0, 6.0, 2.0], [1.0, 5.0, 3.0]])


def test_cells_of_some_columns_tell_rows_apart():
    found = CellReader(None).digests(ROWS, (0, 2))
    assert found[0] == found[1] != found[2]
    assert CellReader(None).digests(ROWS, ()).tolist() == [0, 0, 0]


def test_whole_rows_are_handed_on_as_they_are():
    reader = WholeRows()
    assert reader.read_needed(None, ROWS, (0,)) is ROWS
    assert np.array_equal(reader.digests(ROWS, (0,)), row_digests(ROWS))
