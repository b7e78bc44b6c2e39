"""A table with some of its columns."""

import io

import polars as pl
import pytest

from fewer.errors import InputError
from fewer.io import frame_bytes, reduce_table


def test_columns_that_are_no_features_can_be_kept(tmp_path):
    rows = [f"{i:032x},{i % 3},{i % 2}" for i in range(40)]
    (tmp_path / "t.csv").write_text("code,a,y\n" + "\n".join(rows) + "\n")
    small = reduce_table(tmp_path / "t.csv", ["y", "code"])
    assert small.columns == ["y", "code"]
    assert small["code"][1] == f"{1:032x}"
    assert small["y"].dtype == pl.Float64


def test_formats_come_back(tmp_path):
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    assert pl.read_parquet(io.BytesIO(frame_bytes(frame, "t.parquet"))).equals(frame)
    assert pl.read_csv(io.BytesIO(frame_bytes(frame, "t.tsv")), separator="\t").equals(frame)
    with pytest.raises(InputError, match="names no format"):
        frame_bytes(frame, "t.xlsx")
