"""Weekday and month of dates."""

import numpy as np

from fewer.io import calendar_groups, read_table


def test_weekday_and_month_are_nominal_and_one_group(tmp_path):
    (tmp_path / "t.csv").write_text("a,day,y\n1,2026-01-31,0\n2,2026-02-02,1\n3,,1\n")
    problem = read_table(tmp_path / "t.csv", "y", calendar=True)
    assert problem.names == ("a", "day", "day: weekday", "day: month")
    assert problem.kinds == ("numeric", "numeric", "nominal", "nominal")
    assert problem.levels == {2: ("Mon", "Sat"), 3: ("Feb", "Jan")}
    np.testing.assert_array_equal(problem.X[:, 2], [1, 0, np.nan])
    assert calendar_groups(problem.names) == [["day: weekday", "day: month"]]
    assert calendar_groups(["a"]) == []
