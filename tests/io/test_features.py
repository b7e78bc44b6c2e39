"""Which columns of a frame are features."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fewer.io import features_of

N = 40
COLUMNS = {
    "a": [float(i % 7) for i in range(N)],
    "color": ["red", "blue"] * (N // 2),
    "code": [f"{i:08x}-{i * 7919:08x}" for i in range(N)],
    "note": [f"the customer called {i} times about the price of {i * 3} things" for i in range(N)],
    "list": [[i, i + 1] for i in range(N)],
}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, lambda c: pl.DataFrame(c).to_arrow()])
def test_what_is_no_feature_is_left_out_with_a_note(make):
    kept, notes = features_of(make(COLUMNS))
    names = kept.column_names if hasattr(kept, "column_names") else list(kept.columns)
    assert names == ["a", "color"]
    assert notes == [
        "Left out, being no features: 'code' (a code for nearly each row), 'note' (free text), 'list' (lists). "
        "Make one a category to keep it."
    ]


def test_what_was_meant_and_what_is_no_frame_stay():
    frame = pl.DataFrame(COLUMNS).select("a", pl.col("code").cast(pl.Categorical))
    assert features_of(frame)[0] is frame
    array = np.eye(3)
    assert features_of(array) == (array, [])
    only = pl.DataFrame({"code": COLUMNS["code"]})
    assert features_of(only)[0] is only
