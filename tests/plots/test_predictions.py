"""Held-out predictions drawn."""

import pytest
from matplotlib.figure import Figure

from fewer.errors import InputError
from fewer.plots import PredictionsDisplay


@pytest.mark.parametrize("kind", ["roc", "confusion", "calibration"])
def test_every_kind_of_prediction(kind, selections):
    display = PredictionsDisplay.from_selection(selections["classification"], kind=kind, ax=Figure().subplots())
    assert display.kind == kind
    with pytest.raises(InputError, match="'points'"):
        PredictionsDisplay.from_selection(selections["regression"], kind=kind)
