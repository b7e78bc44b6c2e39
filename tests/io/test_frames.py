import numpy as np
import pandas as pd
import polars as pl
import pytest

from fewer.io import to_problem
from fewer.io._frames import label_of, schema_of

COLUMNS = {
    "size": [1, 2, 4],
    "share": [0.5, None, 1.5],
    "good": [True, False, True],
    "color": ["red", None, "blue"],
}


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_comes_back_as_it_was(library):
    frame = library.DataFrame(COLUMNS)
    problem = to_problem(frame, [0, 1, 0])
    again = problem.schema.frame(problem, problem.X)
    if library is pl:
        assert again.with_columns(pl.col("share").fill_nan(None)).equals(frame)
    else:
        pd.testing.assert_frame_equal(again, frame)


def test_categories_keep_their_order():
    kind = pd.CategoricalDtype(["small", "large", "unused"], ordered=True)
    frame = pd.DataFrame({"size": pd.Series(["large", "small", None], dtype=kind), "n": [1, 2, 3]})
    problem = to_problem(frame, [0, 1, 0])
    pd.testing.assert_frame_equal(problem.schema.frame(problem, problem.X), frame)


def test_which_columns_hold_text_and_whether_columns_are_still_those():
    schema = schema_of(pl.DataFrame(COLUMNS))
    assert schema.textual().tolist() == [False, False, False, True]
    problem = to_problem(pl.DataFrame(COLUMNS), [0, 1, 0])
    assert schema.fits(problem)
    assert not schema_of(pl.DataFrame({"a": [1]})).fits(problem)


@pytest.mark.parametrize(
    ("value", "label"), [(True, "true"), (np.False_, "false"), (3, "3"), (3.0, "3"), (2.5, "2.5"), ("x", "x")]
)
def test_cells_as_the_reader_writes_levels(value, label):
    assert label_of(value) == label
