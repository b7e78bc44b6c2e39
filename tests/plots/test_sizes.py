from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from fewer import RankSelector, SubsetSelector
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.plots import AlternativesDisplay, FrequencyDisplay, SizeDisplay
from fewer.search import Exhaustive, Forward
from making import make_problem


def test_sizes_show_the_best_of_each_size_and_the_choice():
    problem = make_problem()
    selector = SubsetSelector(KNN(), Exhaustive(), random_state=0).fit(problem.X, problem.y)
    display = SizeDisplay.from_estimator(selector, score_name="accuracy", ax=Figure().subplots())
    top = selector.trace_
    for size, score in zip(display.sizes, display.scores, strict=True):
        assert score == top.top_scores[top.top_masks.sum(axis=1) == size].max()
    line = display.ax_.lines[0]
    assert np.array_equal(line.get_xdata(), display.sizes)
    assert np.array_equal(line.get_ydata(), display.scores)
    assert display.ax_.lines[1].get_xdata() == [selector.support_.sum()]
    assert "accuracy" in display.ax_.get_ylabel()


def test_the_band_reaches_down_one_standard_error_and_the_fewest_within_are_marked():
    display = SizeDisplay(np.array([1, 2, 3, 5]), np.array([0.7, 0.88, 0.91, 0.9]), 3, 0.03, "accuracy")
    ax = display.plot(Figure().subplots()).ax_
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((0.88, 0.91))
    assert (corners[:, 0].min(), corners[:, 0].max()) == (1, 5)
    marked = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert marked["chosen: 3"] == [[3, 0.91]]
    assert marked["the fewest in it: 2"] == [[2, 0.88]]
    assert ax.get_ylabel() == "accuracy"


def test_a_band_of_its_own_for_each_size():
    curve = {"sizes": [1, 2, 3], "scores": [0.5, 0.85, 0.9], "standard_error": [0.1, 0.06, 0.0], "measured": "here"}
    display = SizeDisplay.from_curve(curve | {"name": "R²"}, 2)
    assert display.smallest == 2
    ax = display.plot(Figure().subplots()).ax_
    corners = ax.collections[0].get_paths()[0].vertices
    assert corners[corners[:, 0] == 2][:, 1].min() == pytest.approx(0.84)
    assert ax.get_ylabel() == "R², here"


def test_one_mark_serves_where_the_choice_is_the_fewest():
    ax = SizeDisplay(np.array([1, 2]), np.array([0.7, 0.9]), 2, 0.1).plot(Figure().subplots()).ax_
    assert [line.get_label() for line in ax.lines[1:]] == ["chosen: 2, the fewest in it"]


def test_without_rows_there_is_no_band():
    problem = make_problem()
    selector = SubsetSelector(KNN(), Forward(), random_state=0).fit(problem.X, problem.y)
    display = SizeDisplay.from_estimator(selector, ax=Figure().subplots())
    assert display.smallest is None
    assert not display.ax_.collections
    assert SizeDisplay.from_estimator(selector, problem.X, problem.y).standard_error > 0


def test_a_ranking_cut_at_a_number_has_no_curve():
    problem = make_problem()
    selector = RankSelector(n_features_to_select=2).fit(problem.X, problem.y)
    with pytest.raises(InputError, match="no curve"):
        SizeDisplay.from_estimator(selector, problem.X, problem.y)


def test_frequencies_are_the_lengths_of_the_bars():
    display = FrequencyDisplay(["a", "$b$", "c" * 99], [1.0, 0.4, 0.0], [True, False, True]).plot(Figure().subplots())
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([1.0, 0.4, 0.0])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[1] == "$b$"
    assert len(labels[2]) == 28


def test_good_subsets_of_one_size_stand_over_it():
    found = SimpleNamespace(masks=np.eye(4, 6, dtype=bool), scores=np.linspace(0.9, 0.8, 4))
    assert AlternativesDisplay(found).plot().ax_.get_xlim() == (0.4, 1.6)
