"""The curve of answers."""

import pytest
from matplotlib.figure import Figure

from fewer.plots import AnswersDisplay


def test_the_curve_marks_what_each_preference_takes(selections):
    selection = selections["classification"]
    ax = AnswersDisplay.from_selection(selection, ax=Figure().subplots()).ax_
    told = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    for prefer, size in selection.curve["chosen"].items():
        assert prefer in told
        assert str(size) in told
    line = ax.get_lines()[0]
    assert line.get_ydata() == pytest.approx(selection.curve["score"])
