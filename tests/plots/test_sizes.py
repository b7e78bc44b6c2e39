import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer import SubsetSelector
from fewer.criteria import KNN
from fewer.plots import FrequencyDisplay, SizeDisplay
from fewer.search import Exhaustive
from making import make_problem


def test_sizes_show_the_best_of_each_size_and_the_choice():
    problem = make_problem()
    selector = SubsetSelector(KNN(), Exhaustive(), random_state=0).fit(problem.X, problem.y)
    display = SizeDisplay.from_estimator(selector, score_name="accuracy").plot(Figure().subplots())
    top = selector.trace_
    for size, score in zip(display.sizes, display.scores, strict=True):
        assert score == top.top_scores[top.top_masks.sum(axis=1) == size].max()
    line = display.ax_.lines[0]
    assert np.array_equal(line.get_xdata(), display.sizes)
    assert np.array_equal(line.get_ydata(), display.scores)
    assert display.ax_.lines[1].get_xdata() == [selector.support_.sum()]
    assert "accuracy" in display.ax_.get_ylabel()


def test_frequencies_are_the_lengths_of_the_bars():
    display = FrequencyDisplay(["a", "$b$", "c" * 99], [1.0, 0.4, 0.0], [True, False, True]).plot(Figure().subplots())
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([1.0, 0.4, 0.0])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[1] == "$b$"
    assert len(labels[2]) == 28
