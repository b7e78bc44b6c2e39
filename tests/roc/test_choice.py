import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from fewer.errors import InputError
from fewer.roc._choice import joint_digests, key_digests, row_digests, shares


def test_rows_are_known_in_any_container():
    X = np.array([[1.0, 0.0, np.nan], [2.0, -0.0, 5.0], [2.0, 0.0, 5.0]])
    digests = row_digests(X)
    assert digests[1] == digests[2] != digests[0]
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.DataFrame(columns, nan_to_null=True)):
        np.testing.assert_array_equal(row_digests(frame), digests)
    texts = pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 1, 1]})
    found = row_digests(texts)
    assert found[0] == found[2] != found[1]
    np.testing.assert_array_equal(found, row_digests(texts.to_pandas()))


def test_hashes_are_spread_evenly_and_do_not_follow_the_cells():
    grid = np.array([[i, j] for i in range(200) for j in range(200)], dtype=float)
    even = shares(row_digests(grid), 0)
    counts = np.bincount((even * 100).astype(int), minlength=100)
    # Chi-square with 99 degrees of freedom.
    assert 60 < np.sum((counts - 400) ** 2 / 400) < 150
    assert abs(np.corrcoef(even, grid[:, 0])[0, 1]) < 0.02
    assert abs(np.corrcoef(even[:-1], even[1:])[0, 1]) < 0.02


def test_the_order_of_columns_and_a_sparse_table():
    X = np.array([[0.0, 1.0], [1.0, 0.0]])
    digests = row_digests(X)
    assert digests[0] != digests[1]
    assert np.array_equal(row_digests(sparse.csr_array(X)), digests)
    with pytest.raises(InputError, match="X has 1 dimension"):
        row_digests(np.arange(3.0))


def test_keys_are_known_by_their_text():
    assert np.array_equal(key_digests([1, "a", 1]), key_digests(["1", "a", "1"]))
    assert len(set(key_digests(range(1000)).tolist())) == 1000


def test_who_is_asked_first_matters_and_so_does_the_seed():
    a, b = row_digests(np.array([[1.0], [2.0]]))[:, None]
    assert joint_digests(a, b) != joint_digests(b, a)
    many = row_digests(np.arange(1000.0)[:, None])
    assert abs(np.corrcoef(shares(many, 0), shares(many, 1))[0, 1]) < 0.1
    assert np.array_equal(shares(many, 5), shares(many, 5))
