from types import SimpleNamespace

import numpy as np
import pytest

from fewer.errors import InputError
from fewer.plots import AnswersDisplay

CURVE = {
    "size": [1, 2, 4],
    "score": [0.7, 0.8, 0.9],
    "standard_error": [0.05, np.nan, 0.0],
    "chosen": {"fewest": 1, "balanced": 2, "accuracy": 2},
    "score_name": "accuracy",
    "all": 2,
}


def selection(**changes):
    made = {"curve": CURVE, "features": ["a", "b"], "n_features": 4, "score_name": "accuracy"}
    return SimpleNamespace(**{**made, "score_heldout_all_features": 0.9, "sizes": None, **changes})


def test_the_band_and_the_marks_are_those_of_the_curve():
    display = AnswersDisplay.of(selection())
    assert display.marks == {1: ["fewest"], 2: ["balanced", "accuracy"]}
    assert display.all_ == (4, 0.9)
    assert (display.high - display.low)[1:].tolist() == [0.0, 0.0]
    assert display.high[0] - display.scores[0] == pytest.approx(display.scores[0] - display.low[0])
    assert display.high[0] > 0.75


def test_the_picture_names_its_axes_and_every_mark():
    axes = AnswersDisplay.from_selection(selection()).ax_
    assert axes.get_xlabel() == "number of features"
    assert "held-out accuracy" in axes.get_ylabel()
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "fewest: 1" in texts
    assert "balanced, accuracy: 2" in texts
    assert "all 4 features" in texts


def test_without_a_curve():
    with pytest.raises(InputError, match="no score for each number of features"):
        AnswersDisplay.from_selection(selection(curve={}, sizes={}))
    with pytest.raises(InputError, match="no curve of its answers"):
        AnswersDisplay.from_estimator(SimpleNamespace(curve_=None))
