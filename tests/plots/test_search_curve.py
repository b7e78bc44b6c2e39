import matplotlib
import numpy as np
import pytest

from fewer.contracts.trace import Trace
from fewer.errors import InputError
from fewer.plots import SearchCurveDisplay

matplotlib.use("Agg")


def test_curves_and_stopping_point_are_those_of_the_trace():
    smoothed = np.array([np.nan, np.nan, 0.6, np.nan, np.nan])
    curves = {"training": np.linspace(0.5, 0.9, 5), "validation": np.array([0.5, 0.6, 0.7, 0.6, 0.6])}
    trace = Trace(extra={**curves, "smoothed": smoothed, "stop": np.array([2, 4])})
    display = SearchCurveDisplay.from_trace(trace, score_name="accuracy").plot()
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    assert np.array_equal(lines["training rows"].get_ydata(), curves["training"])
    assert np.array_equal(lines["held out"].get_ydata(), curves["validation"])
    assert lines["stop at 2"].get_xdata() == [2, 2]
    assert display.ax_.get_ylabel() == "accuracy"
    matplotlib.pyplot.close(display.figure_)


def test_a_run_without_validation_is_refused():
    with pytest.raises(InputError, match="no validation curve"):
        SearchCurveDisplay.from_trace(Trace())
