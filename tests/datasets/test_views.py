import numpy as np
import polars as pl

from fewer.datasets._openml import VIEWS, WDBC1, columns, merged, rows

X = pl.DataFrame({"a": [1, 2, None], "b": [4, 5, 6], "c": [7, 8, 9]})
Y = np.array(["u", "v", "w"])


def test_columns_are_counted_from_one():
    assert columns([1, 3])(X, Y)[0].columns == ["a", "c"]


def test_classes_are_put_together():
    assert merged({"u": "one", "w": "one"}, "other")(X, Y)[1].tolist() == ["one", "other", "one"]


def test_rows_that_are_complete_stay():
    table, target = rows(lambda X, y: y != "u")(X, Y)
    assert (table["b"].to_list(), target.tolist()) == ([5, 6], ["v", "w"])
    table, target = VIEWS["cleve_complete"][1](X, Y)
    assert target.tolist() == ["u", "v"]


def test_the_two_halves_of_wdbc_are_the_whole():
    wide = pl.DataFrame({f"x{i}": [0.0] for i in range(1, 31)})
    halves = [VIEWS[name][1](wide, Y[:1])[0].columns for name in ("wdbc1", "wdbc2")]
    assert len(halves[0]) == len(WDBC1) == 15
    assert sorted(halves[0] + halves[1]) == sorted(wide.columns)
