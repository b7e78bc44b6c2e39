import pytest

from fewer.errors import InputError
from fewer.plots import PredictionsDisplay
from fewer.plots._predictions import _kind

POINTS = {"points": {"truth": [1.0, 2.0, 3.0], "prediction": [1.5, 2.0, 4.0]}}


def test_what_can_be_drawn_is_drawn_and_the_rest_refused():
    assert _kind(POINTS, None) == "points"
    assert _kind({"confusion": [], "roc": {}}, "confusion") == "confusion"
    with pytest.raises(InputError, match="kind='roc' cannot be drawn here; choose 'points'"):
        _kind(POINTS, "roc")
    with pytest.raises(InputError, match="choose nothing"):
        _kind({}, None)


def test_counts_stand_in_their_cells():
    axes = PredictionsDisplay({"chosen": {"confusion": [[8, 2], [0, 1500]]}}, "confusion", ["a", "b"]).plot().ax_
    assert [text.get_text() for text in axes.texts] == ["8", "2", "0", "1,500"]
    assert axes.images[0].get_array().tolist() == [[0.8, 0.2], [0.0, 1.0]]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted", "is")


def test_points_of_both_parts_share_one_line_of_truth():
    axes = PredictionsDisplay({"3 chosen": POINTS, "all": POINTS}, "points").plot().ax_
    assert list(axes.lines[0].get_xdata()) == [1.0, 4.0]
    assert len(axes.collections) == 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["3 chosen", "all"]
