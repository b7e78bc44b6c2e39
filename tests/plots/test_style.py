import subprocess
import sys

import matplotlib as mpl
import numpy as np

from fewer.plots._style import COLORS, axes_or_new, legend_below, legend_beside, new_figure, style, wrapped


def test_the_style_ends_with_the_block():
    before = mpl.rcParams["axes.grid"], mpl.rcParams["svg.hashsalt"]
    with style():
        assert mpl.rcParams["axes.grid"]
        assert mpl.rcParams["svg.hashsalt"] == "fewer"
        assert mpl.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLORS)
    assert (mpl.rcParams["axes.grid"], mpl.rcParams["svg.hashsalt"]) == before


def test_size_is_that_of_one_panel():
    figure, axes = new_figure(2, 3, size=(2.0, 1.0))
    assert axes.shape == (2, 3)
    assert figure.get_size_inches().tolist() == [6.0, 2.0]
    _, alone = new_figure()
    assert not isinstance(alone, np.ndarray)
    assert axes_or_new(alone) is alone


def test_legends_stand_outside_the_data():
    for place in (legend_beside, legend_below):
        figure, axes = new_figure()
        axes.plot([0, 1], [0, 1], label="a line")
        place(axes)
        figure.draw_without_rendering()
        assert not axes.get_legend().get_window_extent().overlaps(axes.patch.get_window_extent())


def test_long_labels_are_broken_and_short_ones_not():
    assert wrapped("accuracy") == "accuracy"
    assert wrapped("") == ""
    assert max(map(len, wrapped("a word after a word " * 5, 20).splitlines())) <= 20


WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # as if it were not installed
import fewer
from sklearn.datasets import load_iris
from fewer.report import alternatives_report, selection_report
X, y = load_iris(return_X_y=True, as_frame=True)
selection = fewer.select(X, y, "knn-forward", cv=2, random_state=0)
selector = fewer.SubsetSelector(random_state=0).fit(X, y)
assert "More pictures here need matplotlib" in selection_report(selection, selector.trace_)
for page in (selection_report(selection), alternatives_report(fewer.alternatives(selection, X, y))):
    assert page.rstrip().endswith("</html>")
assert selection_report(selection).count("<svg") > 3
assert "More pictures here need matplotlib" in page
try:
    selection.plot()
except fewer.errors.InputError as error:
    print(error)
"""


def test_without_matplotlib_pages_are_written_and_plots_say_what_to_install():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout.strip() == "Pictures need matplotlib: pip install 'fewer[plots]'.", done.stderr
