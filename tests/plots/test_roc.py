import matplotlib as mpl
import numpy as np
import pytest

from fewer.plots import RocHullDisplay
from fewer.plots._style import new_figure
from fewer.roc import Parcel


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "Agg"}):
        plt.switch_backend("Agg")
        yield
        plt.close("all")


def test_the_hull_with_other_rows_and_a_point():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 3)) + np.outer(y, [1.0, 0.8, 0.0])
    parcel = Parcel(random_state=0).fit(X[:400], y[:400])
    point = parcel.operating_point(max_fpr=0.2)
    figure, axes = new_figure()
    display = RocHullDisplay.from_estimator(parcel, X[400:], y[400:], point=point, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    lines = {line.get_label(): line for line in axes.lines}
    hull = lines[f"hull, area {parcel.hull_.area:.2f}"]
    np.testing.assert_array_equal(hull.get_xdata(), parcel.hull_.fpr)
    other = parcel.held_out(X[400:], y[400:])
    np.testing.assert_array_equal(lines[f"other rows, area {other.area:.2f}"].get_ydata(), other.tpr)
    assert lines["operating point"].get_xdata()[0] == point.promised_.fpr
    subsets = {vertex.names for vertex in parcel.vertices_ if vertex.names}
    assert sum(label.startswith("f") and ": " in label for label in lines) == len(subsets)
