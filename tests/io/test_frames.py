import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fewer.errors import InputError
from fewer.io import to_problem
from fewer.io.frames import FrameSchema, forced_kinds, label_of, refuse_repeated_names, row_number

WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "polars":
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import fewer
X, y = [[0.0, 3.0], [1.0, 9.0], [10.0, 4.0], [11.0, 8.0]] * 3, [0, 0, 1, 1] * 3
print(fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0).fit(X, y).support_)
print(fewer.RankSelector(fewer.rankers.ReliefF(2)).fit(X, y).ranking_)
"""


def test_selectors_on_arrays_need_no_polars():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[ True False]", "[1 2]"]


def test_rows_are_counted_from_zero():
    assert row_number(0) == "row 0"


def test_two_columns_of_one_name():
    refuse_repeated_names(["a", "b"])
    with pytest.raises(InputError, match="In x.csv, 2 columns are named 'a'"):
        refuse_repeated_names(["a", "b", "a"], "In x.csv, ")


def test_kinds_that_were_chosen():
    names = ["a", "b", "c"]
    assert forced_kinds(["a", -1], [1], names) == {0: "nominal", 2: "nominal", 1: "numeric"}
    assert forced_kinds([], [], names) == {}
    with pytest.raises(InputError, match="Column 'b' is both nominal and numeric; choose one"):
        forced_kinds(["b"], [1], names)
    with pytest.raises(InputError, match="nominal names 'd', not a feature"):
        forced_kinds(["d"], [], names)


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
    schema = FrameSchema(pl.DataFrame(COLUMNS).head(0))
    assert schema.textual().tolist() == [False, False, False, True]
    problem = to_problem(pl.DataFrame(COLUMNS), [0, 1, 0])
    assert schema.fits(problem)
    assert not FrameSchema(pl.DataFrame({"a": [1]}).head(0)).fits(problem)


@pytest.mark.parametrize(
    ("value", "label"), [(True, "true"), (np.False_, "false"), (3, "3"), (3.0, "3"), (2.5, "2.5"), ("x", "x")]
)
def test_cells_as_the_reader_writes_levels(value, label):
    assert label_of(value) == label
